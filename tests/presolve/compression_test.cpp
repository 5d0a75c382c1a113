// Laws of compression: it keeps the optimum whatever rules are on, and takes series-parallel graphs to one node.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <stop_token>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/graph/task_graph.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/structure/mirror.hpp>

#include "support/random_graph.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

std::vector<options> models() { return {options{}, options{.in_place = false}, options{.default_firing = firing::cbp}}; }

/// Every combination of rules.
presolve::compression_rules rules(unsigned mask) {
  const auto on = [&](unsigned bit) { return (mask >> bit & 1) != 0; };
  return {.c1 = on(0),
          .c2 = on(1),
          .s1 = on(2),
          .s2 = on(3),
          .series_parallel = on(7),
          .general = on(4),
          .local_reduction = on(5),
          .global_reduction = on(6)};
}
constexpr unsigned all_rules = 256;

void require_order(const schedule_graph& g, const std::vector<node_id>& order) {
  REQUIRE(order.size() == g.active);
  order_walk w(g);
  std::vector<bool> ran(g.active, false);
  for (node_id v : order) {
    REQUIRE(w.ready(v));
    REQUIRE_FALSE(ran[v]);
    ran[v] = true;
    w.fire(v);
  }
}

/// Compression and then the oracle must find what the oracle finds alone.
void require_same_optimum(const schedule_graph& g, bytes optimum, const presolve::compression_rules& rules) {
  const options o;
  search context(o);
  const solution s = (compress{rules} | exhaustive{})(g, context);
  REQUIRE_FALSE(s.error);
  require_order(g, s.order);
  REQUIRE(peak_of(g, s.order) == optimum);
  REQUIRE(s.lower_bound == optimum);
}

bytes optimum_of(const schedule_graph& g) {
  const options o;
  search context(o);
  return exhaustive{}(g, context).lower_bound;
}

}  // namespace

TEST_CASE("compression keeps the optimum of problems, whatever rules are on") {
  for (std::uint64_t seed = 0; seed < support::seeds(1500); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 3 + static_cast<std::uint32_t>(seed % 8)});
      const schedule_graph g = make_schedule_graph(p, o.model());
      const bytes optimum = optimum_of(g);
      for (unsigned i = 0; i < 6; ++i) {
        const unsigned mask = i == 0 ? all_rules - 1 : static_cast<unsigned>(seed * 5 + i) % all_rules;
        INFO("seed " << seed << " rules " << mask);
        require_same_optimum(g, optimum, rules(mask));
      }
    }
}

TEST_CASE("compression keeps the optimum of graphs with impacts of any sign") {
  for (std::uint64_t seed = 0; seed < support::seeds(6000); ++seed) {
    const auto n = 2 + static_cast<std::uint32_t>(seed % 10), percent = 10 + static_cast<std::uint32_t>(seed / 10 % 5) * 10;
    const schedule_graph g =
        make_schedule_graph(support::random_costs(seed, n, percent, 1 + static_cast<std::uint32_t>(seed % 13))).value();
    const bytes optimum = optimum_of(g);
    for (unsigned i = 0; i < 6; ++i) {
      const unsigned mask = i == 0 ? all_rules - 1 : static_cast<unsigned>(seed * 5 + i) % all_rules;
      INFO("seed " << seed << " rules " << mask);
      require_same_optimum(g, optimum, rules(mask));
    }
  }
}

TEST_CASE("compress | best_first is optimal through the front door") {
  for (std::uint64_t seed = 0; seed < support::seeds(3000); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 11});
      INFO("seed " << seed);
      const auto oracle = schedule(p, exhaustive{}, o);
      const auto r = schedule(p, compress{} | best_first{}, o);
      REQUIRE(r.peak == oracle.peak);
      REQUIRE(r.verdict() == verdict::optimal);
      const auto d = schedule(p, compress{} | divide{} | best_first{}, o);
      REQUIRE(d.peak == oracle.peak);
      REQUIRE(d.verdict() == verdict::optimal);
    }
}

TEST_CASE("a series-parallel graph becomes one node") {
  for (std::uint64_t seed = 0; seed < support::seeds(4000); ++seed)
    for (firing rule : {firing::pbc, firing::cbp}) {
      const auto n = 1 + static_cast<std::uint32_t>(seed % 60);
      const schedule_graph g =
          make_schedule_graph(support::random_series_parallel(seed, n, 2 + static_cast<std::uint32_t>(seed % 20)), rule)
              .value();
      const options o;
      search context(o);
      for (bool direct : {false, true}) {
        const presolve::compressed_graph c = presolve::compressed(g, context, {.series_parallel = direct});
        INFO("seed " << seed << " direct " << direct);
        REQUIRE(c.graph.active == 1);
        REQUIRE(c.graph.size() == 1);
        const std::vector<node_id> order = c.expand({0});
        require_order(g, order);
        REQUIRE(peak_of(g, order) == peak_of(c.graph, std::vector<node_id>{0}));
        if (g.size() <= 14) REQUIRE(peak_of(g, order) == optimum_of(g));
      }
    }
}

TEST_CASE("each rule says what it did, and does nothing where it is off") {
  statistics::rule_counts sum;
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_costs(seed, 30)).value();
    const options o;
    search on(o), off(o);
    const presolve::compressed_graph c = presolve::compressed(g, on, {.series_parallel = false});
    statistics::rule_counts r = on.control().stats.rules;
    REQUIRE(r.before == g.size());
    REQUIRE(r.after == c.graph.size());
    sum.c1 += r.c1, sum.c2 += r.c2, sum.s1 += r.s1, sum.s2 += r.s2;
    sum.s1_general += r.s1_general, sum.s2_general += r.s2_general, sum.local += r.local, sum.global += r.global;
    const presolve::compressed_graph same = presolve::compressed(g, off, rules(0));
    REQUIRE(same.graph.size() == g.size());
    REQUIRE(same.graph.preds.items() <= g.preds.items() * g.size());
    r = off.control().stats.rules;
    REQUIRE(r.c1 + r.c2 + r.s1 + r.s2 + r.s1_general + r.s2_general + r.local + r.global == 0);
  }
  for (std::uint64_t count : {sum.c1, sum.c2, sum.s1, sum.s2, sum.s1_general, sum.s2_general, sum.local, sum.global})
    REQUIRE(count > 0);
}

TEST_CASE("compression stops at a limit with a graph that is still right") {
  const schedule_graph g = make_schedule_graph(support::random_costs(1, 12)).value();
  const options o{.time_limit = std::chrono::nanoseconds{0}};
  search context(o);
  const solution s = (compress{} | exhaustive{})(g, context);
  require_order(g, s.order);
  REQUIRE(peak_of(g, s.order) == optimum_of(g));
  REQUIRE(context.control().reason() == stop_reason::time_limit);
}

TEST_CASE("compression that is to stop does not begin another round, nor order what is equal") {
  std::stop_source stopped;
  stopped.request_stop();
  std::uint64_t equal = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 14}));
    const auto counts_of = [&](const options& o) {
      search context(o);
      detail::compressor({}, g, context).run();
      return context.control().stats.rules;
    };
    const statistics::rule_counts free = counts_of({}), ended = counts_of({.stop = stopped.get_token()});
    INFO("seed " << seed);
    REQUIRE(ended.rounds == 1);
    REQUIRE(ended.s1 + ended.s2 + ended.s1_general + ended.s2_general + ended.global == 0);
    REQUIRE(ended.c1 + ended.c2 <= free.c1 + free.c2);
    equal += free.s1 + free.s2;
  }
  REQUIRE(equal > 100);
}

TEST_CASE("graphs with hubs: orders stay valid, and the mirror image has the same optimum") {
  std::size_t solved = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    support::random r(seed);
    cost_graph c = support::random_costs(seed, 6000, 0, 500);
    const node_id hubs = 1 + static_cast<node_id>(seed % 4) * 3;
    for (node_id v = 1; v < c.cost.size(); ++v) {
      for (node_id u : {r.below(hubs), v - 1 - r.below(std::min(v, 50U))})
        if (u < v && r.chance(80)) c.edges.push_back({u, v});
    }
    const schedule_graph g = make_schedule_graph(std::move(c)).value();
    const schedule_graph m = structure::mirror_image(g);
    const options o;
    search context(o);
    const presolve::compression_rules rules{.series_parallel = false,
                                            .max_closure = seed % 2 == 0 ? std::size_t{4096} : std::size_t{0}};
    const presolve::compressed_graph forward = presolve::compressed(g, context, rules),
                                     backward = presolve::compressed(m, context, rules);
    INFO("seed " << seed);
    const std::vector<node_id> order = forward.expand(as_given{}(forward.graph, context).order);
    require_order(g, order);
    require_order(m, backward.expand(as_given{}(backward.graph, context).order));
    if (forward.graph.active > 1 || backward.graph.active > 1) continue;
    ++solved;
    REQUIRE(peak_of(g, order) == peak_of(m, backward.expand({0})));
  }
  REQUIRE(solved > 3);
}

TEST_CASE("an order of what is left has the peak of the order that it stands for, in graphs of any size") {
  std::size_t kept = 0, had = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const options& o : models()) {
      const bool large = seed % 10 == 0;
      const problem p = support::random_problem(seed, {.operators = large ? 8000U : 100U, .max_inputs = large ? 1U : 3U});
      const schedule_graph g = make_schedule_graph(p, o.model());
      search context(o);
      const presolve::compressed_graph c = presolve::compressed(g, context, {.max_closure = 0});
      const std::vector<node_id> order = c.graph.topological_order();
      INFO("seed " << seed);
      const std::vector<node_id> whole = c.expand(order);
      require_order(g, whole);
      REQUIRE(peak_of(g, whole) == peak_of(c.graph, order));
      if (large) kept += c.graph.size(), had += g.size();
    }
  REQUIRE(2 * kept < had);  // so that nodes have got new ids on the way
}

TEST_CASE("a graph without nodes") {
  const schedule_graph g = make_schedule_graph(cost_graph{{}, {}, 7}).value();
  const options o;
  search context(o);
  const solution s = (compress{} | exhaustive{})(g, context);
  REQUIRE(s.order.empty());
  REQUIRE(s.lower_bound == 7);
}

namespace {

/// Two disjoint sets of nodes below 1024, each of 16, whose keys have the same sum (Wagner, A generalized birthday problem,
/// 2002): differences of neighbours in sorted lists, and differences of those, until one is 0.
std::pair<std::vector<node_id>, std::vector<node_id>> nodes_of_equal_sums() {
  struct term {
    std::uint64_t sum;
    std::vector<node_id> plus, minus;  // ascending
  };
  const auto by_sum = [](const term& a, const term& b) { return a.sum < b.sum; };
  const auto joined = [](const std::vector<node_id>& a, const std::vector<node_id>& b) {
    std::vector<node_id> all;
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
  };
  std::vector<term> terms;
  for (node_id v = 0; v < 1024; ++v) terms.push_back({base::random_source::at(v), {v}, {}});
  while (!terms.empty() && terms[0].sum != 0) {
    std::sort(terms.begin(), terms.end(), by_sum);
    std::vector<term> differences;
    for (std::size_t apart = 1; apart <= 4; ++apart)
      for (std::size_t i = 0; i + apart < terms.size(); ++i) {
        const term &low = terms[i], &high = terms[i + apart];
        term d{high.sum - low.sum, joined(high.plus, low.minus), joined(high.minus, low.plus)};
        const auto all = joined(d.plus, d.minus);
        if (std::adjacent_find(all.begin(), all.end()) == all.end()) differences.push_back(std::move(d));
      }
    std::sort(differences.begin(), differences.end(), by_sum);
    differences.resize(std::min<std::size_t>(differences.size(), 4096));
    terms = std::move(differences);
  }
  REQUIRE(!terms.empty());
  return {terms[0].plus, terms[0].minus};
}

}  // namespace

TEST_CASE("nodes are ordered where their neighbours are equal, not where only the hashes of their lists are") {
  const auto [first, second] = nodes_of_equal_sums();
  REQUIRE(first.size() == second.size());
  std::uint64_t sums = 0;
  for (node_id v : first) sums += base::random_source::at(v);
  for (node_id v : second) sums -= base::random_source::at(v);
  REQUIRE(sums == 0);

  // Both `early` and `late` wait for the hub, `late` for the first nodes and `early` for the second. `early` frees nothing
  // and needs little room, so that S1 would put it ahead of the other, were their lists equal. But a node of `second`
  // waits for `late`. Four readers of each node make the hub the one around which S1 looks.
  const auto is_in = [](const std::vector<node_id>& list, node_id v) {
    return std::binary_search(list.begin(), list.end(), v);
  };
  constexpr node_id hub = 1024, early = 1025, late = 1026, size = 1031;
  std::vector<std::pair<index_t, node_id>> edges{{early, hub}, {late, hub}, {second[0], late}};
  schedule_graph g;
  g.active = size;
  for (node_id v = 0; v < size; ++v) {
    g.cost.push_back(v == early ? node_cost{5, 0} : v == late ? node_cost{10, 0} : node_cost{1, 1});
    g.credits.close();
    if (!is_in(first, v) && !is_in(second, v)) continue;
    edges.emplace_back(is_in(first, v) ? late : early, v);
    for (node_id reader = late + 1; reader < size; ++reader) edges.emplace_back(reader, v);
  }
  g.preds = adjacency::from_pairs(size, edges);
  g.succs = base::transpose(g.preds, size);
  REQUIRE(g.topological_order().size() == size);

  const options o;
  search context(o);
  const presolve::compressed_graph c = presolve::compressed(g, context,
                                                            {.c1 = false,
                                                             .c2 = false,
                                                             .s1 = true,
                                                             .s2 = false,
                                                             .series_parallel = false,
                                                             .general = false,
                                                             .local_reduction = false,
                                                             .global_reduction = false});
  REQUIRE(c.graph.topological_order().size() == c.graph.active);
}
