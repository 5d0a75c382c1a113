// Laws that every scheduler keeps, on random problems.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>

#include "support/random_problem.hpp"

using namespace memsched;

namespace {

constexpr std::uint64_t cases = 3000;

std::vector<options> models() {
  return {options{}, options{.in_place = false}, options{.default_firing = firing::cbp}};
}

/// Calls f(graph, context, optimum) for random graphs of 10 operators under all models.
template <class F>
void for_small_graphs(std::uint64_t seeds, F&& f) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    for (const options& o : models()) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 10}), o.model());
      search context(o);
      INFO("seed " << seed);
      f(g, context, exhaustive{}(g, context).lower_bound);
    }
}

/// The number of orders with a peak of at most b.
double orders_within(const schedule_graph& g, bytes b) {
  std::map<std::vector<bit_word>, double> known;
  const auto from = [&](const auto& self, const bit_set& ran, delta level) -> double {
    const const_bit_row row = ran;
    if (count_bits(row) == g.active) return 1;
    std::vector<bit_word> key(row.begin(), row.end());
    if (const auto found = known.find(key); found != known.end()) return found->second;
    double sum = 0;
    for (node_id v = 0; v < g.active; ++v) {
      const auto before = g.preds[v];
      if (ran[v] || !std::all_of(before.begin(), before.end(), [&](node_id u) { return ran[u]; })) continue;
      detail::downset_stepper step(g);
      step.start(row, level);
      step.run(v);
      if (step.peak() > static_cast<delta>(b)) continue;
      bit_set next = ran;
      next.insert(v);
      sum += self(self, next, step.level());
    }
    return known[std::move(key)] = sum;
  };
  return g.base > b ? 0 : from(from, bit_set(g.active), static_cast<delta>(g.base));
}

/// The optimum by trying every order with the referee: shares nothing with the schedule graph.
bytes optimum_by_orders(const problem& p, const options& o) {
  std::vector<op_id> order;
  std::vector<bool> done(p.ops().size(), false);
  bytes best = no_limit;
  const auto go = [&](const auto& self) -> void {
    if (order.size() == done.size()) best = std::min(best, evaluate(p, order, o.model()).value().peak);
    for (op_id op : p.ops()) {
      const auto before = p.predecessors(op);
      if (done[op] || !std::all_of(before.begin(), before.end(), [&](op_id b) { return done[b]; })) continue;
      done[op] = true;
      order.push_back(op);
      self(self);
      order.pop_back();
      done[op] = false;
    }
  };
  go(go);
  return best;
}

}  // namespace

TEST_CASE("the schedule graph says of every order what the referee says") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 12});
      const schedule_graph g = make_schedule_graph(p, o.model());
      search context(o);
      for (const auto& order : {as_given{}(g, context).order, rpo{}(g, context).order, kahn{}(g, context).order,
                                greedy{}(g, context).order}) {
        INFO("seed " << seed);
        REQUIRE(peak_of(g, order) == evaluate(p, order, o.model()).value().peak);
      }
    }
}

TEST_CASE("exhaustive finds the optimum of all orders") {
  for (std::uint64_t seed = 0; seed < 400; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 6});
      INFO("seed " << seed);
      const auto r = schedule(p, exhaustive{}, o);
      REQUIRE(r.peak == optimum_by_orders(p, o));
      REQUIRE(r.verdict() == verdict::optimal);
    }
}

TEST_CASE("best_first agrees with exhaustive, whatever rules are on") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 10});
      const auto oracle = schedule(p, exhaustive{}, o);
      for (bool macros : {false, true})
        for (const auto& [commits, backjumps] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
          INFO("seed " << seed << " macros " << macros << " commits " << commits << " backjumps " << backjumps);
          for (bool witnesses : {false, true}) {
            const best_first policy{.macros = macros, .commits = commits, .backjumps = backjumps, .witnesses = witnesses};
            const auto r = schedule(p, policy, o);
            REQUIRE(r.peak == oracle.peak);
            REQUIRE(r.verdict() == verdict::optimal);
          }
        }
      const auto a = schedule(p, automatic, o);
      REQUIRE(a.peak == oracle.peak);
      REQUIRE(a.verdict() == verdict::optimal);
      const auto d = schedule(p, divide{} | best_first{}, o);
      REQUIRE(d.peak == oracle.peak);
      REQUIRE(d.verdict() == verdict::optimal);
    }
}

TEST_CASE("no bound exceeds the optimum") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 9});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      const schedule_graph g = make_schedule_graph(p, o.model());
      cut_bound cut(g);
      INFO("seed " << seed);
      REQUIRE(footprint_bound(p, o.model()) <= optimum);
      for (node_id v = 0; v < g.active; ++v) REQUIRE(cut.at(v) <= optimum);
    }
}

TEST_CASE("probing never refutes a peak that is reached, and its edges keep an order that reaches it") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 10});
      const schedule_graph g = make_schedule_graph(p, o.model());
      search context(o);
      const bytes optimum = exhaustive{}(g, context).lower_bound;
      const auto go_on = [] { return true; };
      prober at_optimum(g);
      INFO("seed " << seed);
      REQUIRE(at_optimum.run(optimum, go_on) == prober::outcome::open);
      const schedule_graph narrowed = with_edges(g, at_optimum.edges());
      REQUIRE(exhaustive{}(narrowed, context).lower_bound == optimum);
      destructive_search bound(g, g.base);
      for (bytes high : {2 * optimum, optimum + optimum / 4, optimum}) {
        std::size_t cuts = 5;
        bound.run(high, [&] { return cuts-- > 0; });
        REQUIRE(bound.bound() <= optimum);
        bound.run(high, go_on);
        REQUIRE(bound.bound() <= optimum);
        if (bound.unrefuted() && *bound.unrefuted() >= optimum)
          REQUIRE(exhaustive{}(with_edges(g, bound.known_up_to(*bound.unrefuted()).edges()), context).lower_bound ==
                  optimum);
      }
    }
}

TEST_CASE("every order within a peak keeps the edges that probing and shaving derive for it") {
  const auto go_on = [] { return true; };
  int shaved = 0;
  for_small_graphs(cases / 5, [&](const schedule_graph& g, search&, bytes optimum) {
    for (const bytes b : {optimum, optimum + 1, optimum + optimum / 8}) {
      prober p(g);
      REQUIRE(p.run(b, go_on) == prober::outcome::open);
      const double orders = orders_within(g, b);
      REQUIRE(orders_within(with_edges(g, p.edges()), b) == orders);
      const std::size_t probed = p.edges().size();
      REQUIRE(shaver(p).run(p, 4, go_on) == prober::outcome::open);
      REQUIRE(orders_within(with_edges(g, p.edges()), b) == orders);
      shaved += p.edges().size() > probed;
    }
    for (const bytes b : {optimum - 1, optimum - optimum / 16, optimum - optimum / 8}) {
      prober p(g);
      auto outcome = p.run(b, go_on);
      if (outcome == prober::outcome::open) outcome = shaver(p).run(p, 4, go_on);
      if (b < optimum && outcome == prober::outcome::refuted) REQUIRE(p.next() <= optimum);
    }
  });
  REQUIRE(shaved > 0);
}

TEST_CASE("probing without reuse of sets finds as much, with more cuts") {
  std::size_t with_reuse = 0, without = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12}));
    search context(options{});
    const bytes optimum = exhaustive{}(g, context).lower_bound;
    for (const bytes b : {optimum, optimum - 1}) {
      prober quick(g), plain(g, false);
      INFO("seed " << seed);
      REQUIRE(quick.run(b, [&] { return ++with_reuse > 0; }) == plain.run(b, [&] { return ++without > 0; }));
      if (b == optimum)
        REQUIRE(orders_within(with_edges(g, quick.edges()), no_limit) ==
                orders_within(with_edges(g, plain.edges()), no_limit));
    }
  }
  REQUIRE(with_reuse < without / 4);
}

TEST_CASE("shaving raises bounds") {
  bytes raised = 0;
  for (int seed = 1; seed <= 5; ++seed) {
    const problem p = check(networks::make("windowed:60:40:" + std::to_string(seed)).value()).value();
    const bytes probed = schedule(p, probe{.patience = 0} | greedy{}).lower_bound,
                shaved = schedule(p, probe{} | greedy{}).lower_bound;
    INFO("seed " << seed);
    REQUIRE(shaved >= probed);
    REQUIRE(shaved <= schedule(p).peak);
    raised += shaved - probed;
  }
  REQUIRE(raised > 0);
}

TEST_CASE("asking about the two edges of a pair together refutes more, with the same patience") {
  int one_way = 0, both_ways = 0;
  for (const char* name : {"windowed:200:60:2", "windowed:200:60:7"}) {
    const problem p = check(networks::make(name).value()).value();
    const bytes optimum = schedule(p).peak;
    const options o;
    search context(o);
    const schedule_graph g = compressed(make_schedule_graph(p), context).graph;
    for (const bool pairs : {false, true}) {
      const auto go_on = [] { return true; };
      prober q(g);
      REQUIRE(q.run(optimum - 1, go_on) == prober::outcome::open);
      (pairs ? both_ways : one_way) += shaver(q, pairs).run(q, 8, go_on) == prober::outcome::refuted;
    }
  }
  REQUIRE(both_ways > one_way);
}

TEST_CASE("a narrowed graph has an order within the peak where the graph has one") {
  for_small_graphs(cases / 3, [&](const schedule_graph& g, search& context, bytes optimum) {
    narrowing n(g, context);
    for (const bytes b : {optimum + optimum / 4, optimum + 1, optimum})
      for (std::size_t slice : {3u, 100000u}) {
        n.run(b, 2, [&] { return slice-- > 0; });
        const solution s = exhaustive{}(n.graph(), context);
        const bytes reached = peak_of(g, n.expand(s.order));
        REQUIRE(reached <= s.lower_bound);
        REQUIRE(reached == optimum);
      }
    if (n.run(optimum - 1, 2, [] { return true; }) == prober::outcome::refuted) REQUIRE(n.next() <= optimum);
  });
}

TEST_CASE("a destructive search that is stopped, or gets more patience, claims no more than the optimum") {
  support::random r(1);
  for_small_graphs(cases / 6, [&](const schedule_graph& g, search& context, bytes optimum) {
    destructive_search<narrowing> bound(g, g.base, narrowing(g, context));
    const auto keeps_an_order = [&](bytes high) {
      for (bytes b = optimum; b < high; b += std::max<bytes>((high - optimum) / 3, 1)) {
        const narrowing& n = bound.known_up_to(b);
        REQUIRE(peak_of(g, n.expand(exhaustive{}(n.graph(), context).order)) == optimum);
      }
    };
    bytes high = 2 * optimum;
    for (int call = 0; call < 8; ++call) {  // stopped, or not, while the peak that is reached falls
      std::size_t cuts = r.below(30);
      bound.run(high, r.below(3), [&] { return cuts-- > 0; });
      REQUIRE(bound.bound() <= optimum);
      keeps_an_order(high);
      if (r.chance(50)) high = optimum + r.below(static_cast<std::uint32_t>(high - optimum + 1));
    }
    for (const unsigned patience : {0u, 1u, 4u}) {
      REQUIRE(bound.run(high, patience, [] { return true; }));
      REQUIRE(bound.bound() <= optimum);
      REQUIRE((bound.settled() || bound.bound() == high));
      keeps_an_order(high);
    }
    REQUIRE(bound.run(optimum, 0u, [] { return true; }));
    bound.raise(optimum);
    REQUIRE(!bound.unrefuted());
  });
}

TEST_CASE("every peak is on the grid of peaks") {
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    for (const options& o : models()) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12}), o.model());
      search context(o);
      const peak_grid peaks(g);
      INFO("seed " << seed);
      for (const bytes peak : {peak_of(g, topological_order(g)), peak_of(g, greedy{}(g, context).order)}) {
        REQUIRE(peaks.down(peak) == peak);
        REQUIRE(peaks.up(peak) == peak);
        REQUIRE(peaks.down(peak - 1) < peak);
        REQUIRE(peaks.up(peak - 1) <= peak);
      }
    }
}

TEST_CASE("close_gap proves the optimum, however small its first step") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 10});
      INFO("seed " << seed);
      const auto r = schedule(p, close_gap{.short_search = 1 + seed % 40}, o);
      REQUIRE(r.peak == schedule(p, exhaustive{}, o).peak);
      REQUIRE(r.verdict() == verdict::optimal);
    }
}

TEST_CASE("probe keeps the optimum in front of any exact scheduler") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 10});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      INFO("seed " << seed);
      for (const auto& r : {schedule(p, probe{} | compress{} | dp{}, o), schedule(p, probe{} | best_first{}, o),
                            schedule(p, divide{} | probe{} | compress{} | branch_and_bound{}, o)}) {
        REQUIRE(r.peak == optimum);
        REQUIRE(r.verdict() == verdict::optimal);
      }
      REQUIRE(schedule(p, probe{} | greedy{}, o).lower_bound <= optimum);
    }
}

TEST_CASE("branching at either end keeps the optimum, and proves what the inner scheduler does not") {
  int proven = 0, proven_by_inner = 0;
  for (std::uint64_t seed = 0; seed < cases / 10; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 10});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      INFO("seed " << seed);
      const auto whole = schedule(p, branch_at_ends{.depth = 10} | greedy{}, o);
      REQUIRE(whole.peak == optimum);
      REQUIRE(whole.verdict() == verdict::optimal);
      const auto some = schedule(p, branch_at_ends{.depth = 1} | compress{} | cheap_bounds{}, o);
      REQUIRE(some.lower_bound <= optimum);
      proven += some.verdict() == verdict::optimal;
      proven_by_inner += schedule(p, compress{} | cheap_bounds{}, o).verdict() == verdict::optimal;
    }
  REQUIRE(proven > proven_by_inner);
}

TEST_CASE("probe saves states") {
  std::uint64_t plain = 0, probed = 0;  // signatures
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 24, .percent_inplace = 10});
    for (const step_statistics& s : schedule(p, compress{} | dp{}).stats.steps) plain += s.states;
    for (const step_statistics& s : schedule(p, probe{} | compress{} | dp{}).stats.steps) probed += s.states;
  }
  REQUIRE(probed < plain / 10);
}

TEST_CASE("beam and local search answer with valid orders") {
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 40});
      const bytes start = schedule(p, greedy{}, o).peak;
      INFO("seed " << seed);
      REQUIRE(schedule(p, local_search{}, o).peak <= start);
      REQUIRE(!schedule(p, beam{}, o).error);
    }
}

TEST_CASE("each rule of best_first saves states") {
  const auto states = [](const best_first& policy) {
    std::uint64_t sum = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const problem p = support::random_problem(seed, {.operators = 24, .percent_inplace = 10});
      sum += schedule(p, policy).stats.states;
    }
    return sum;
  };
  const std::uint64_t all = states({});
  REQUIRE(all < states({.macros = false}));
  REQUIRE(all < states({.commits = false}));
  REQUIRE(all > states({.witnesses = true}));

  const problem p = check(networks::make("randwire-stack:1").value()).value();  // read from its end it has valleys
  const options o;
  search context(o);
  const schedule_graph g = mirror_image(compressed(make_schedule_graph(p), context).graph);
  const auto states_there = [&](const best_first& policy) {
    search fresh(o);
    const bytes optimum = 4892160;
    REQUIRE(policy.between(g, fresh, optimum - 1, optimum).bound == optimum);
    return fresh.stats.states;
  };
  REQUIRE(states_there({}) < states_there({.backjumps = false}) / 10);
}

TEST_CASE("limits are kept, and leave an order no worse than the caller's and a true bound") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 60});
    const bytes given = schedule(p, as_given{}).peak;
    const bytes optimum = schedule(p, automatic).peak;
    std::stop_source stopped;
    stopped.request_stop();
    for (const options& o :
         {options{.time_limit = std::chrono::nanoseconds(0)}, options{.state_limit = 1}, options{.state_limit = 50},
          options{.memory_limit = 1000}, options{.stop = stopped.get_token()}}) {
      const auto r = schedule(p, automatic, o);
      INFO("seed " << seed);
      REQUIRE(r.order.size() == p.ops().size());
      REQUIRE(r.peak <= given);
      REQUIRE(r.lower_bound <= optimum);
      REQUIRE(optimum <= r.peak);
      REQUIRE(r.stats.states <= std::max<std::uint64_t>(o.state_limit, 1));
      if (r.peak != r.lower_bound) REQUIRE(r.stopped != stop_reason::finished);
    }
  }
}

TEST_CASE("two threads find what one finds") {
  for (const char* name : {"windowed:120:30:1", "windowed:120:30:2", "layered:12:12:1", "watts_strogatz:40:1"}) {
    const problem p = check(networks::make(name).value()).value();
    const auto one = schedule(p, automatic, {.state_limit = 300000}),
               two = schedule(p, automatic, {.state_limit = 300000, .threads = 2});
    INFO(name);
    REQUIRE(one.order == two.order);
    REQUIRE(one.lower_bound == two.lower_bound);
    REQUIRE(one.stats.states == two.stats.states);

    const options o{.threads = 2};
    search alone(o), beside(o);
    const schedule_graph g = make_schedule_graph(p);
    for (const bytes below : {one.peak, one.peak + 1}) {
      const auto a = best_first{.worth_a_thread = no_limit}.between_from_both_ends(g, alone, below - 1, below, 50000);
      const auto b = best_first{.worth_a_thread = 0}.between_from_both_ends(g, beside, below - 1, below, 50000);
      REQUIRE(a.order == b.order);
      REQUIRE(a.bound == b.bound);
      REQUIRE(alone.stats.states == beside.stats.states);
    }
  }
}

TEST_CASE("the same graph and options give the same order") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 80});
    REQUIRE(schedule(p, automatic, {.state_limit = 3000}).order == schedule(p, automatic, {.state_limit = 3000}).order);
  }
}

TEST_CASE("a budget decides the verdict") {
  const problem p = support::random_problem(3, {.operators = 20});
  const bytes optimum = schedule(p, automatic).peak;
  REQUIRE(schedule(p, automatic, {.budget = optimum}).verdict() == verdict::optimal);
  const auto over = schedule(p, automatic, {.budget = optimum - 1});
  REQUIRE(over.verdict() == verdict::infeasible);
  REQUIRE_FALSE(over.fits());
  REQUIRE(over.order.size() == p.ops().size());
}
