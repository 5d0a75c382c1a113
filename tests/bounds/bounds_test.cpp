// Laws of bounds: none exceeds the optimum, and what is derived keeps the orders that it must.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/bounds/layer_bound.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/bounds/shaving.hpp>
#include <memsched/memsched.hpp>
#include <memsched/presolve/narrowing.hpp>
#include <networks/networks.hpp>
#include <span>
#include <tuple>
#include <vector>

#include "support/random_order.hpp"
#include "support/seeds.hpp"
#include "support/small_graphs.hpp"

using namespace memsched;
using namespace support;

TEST_CASE("no bound exceeds the optimum") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 9});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      const schedule_graph g = make_schedule_graph(p, o.model());
      bounds::cut_bound cut(g);
      INFO("seed " << seed);
      REQUIRE(bounds::footprint_bound(p, o.model()) <= optimum);
      bytes highest = g.base;
      for (node_id v = 0; v < g.active; ++v) {
        REQUIRE(cut.at(v) <= optimum);
        highest = std::max(highest, cut.at(v));
      }
      REQUIRE(bounds::best_cut_bound(
                  g, g.topological_order(), g.base, [] { return true; }, no_limit)
                  .bound == highest);
    }
}

TEST_CASE("threads that share cuts find what one finds, and ask as often") {
  base::crew team(3);
  const auto never = [] { return false; };
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const std::uint64_t patience : {std::uint64_t{0}, std::uint64_t{500}, no_limit})
      for (const int limit : {5, 1000}) {
        const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 60}));
        const auto run = [&](base::crew* c) {
          int asked = 0;
          const auto go_on = [&] { return ++asked <= limit; };
          const bounds::node_bound b = bounds::best_cut_bound(g, g.topological_order(), g.base, go_on, patience, {c, never});
          return std::tuple(b.bound, b.v, asked);
        };
        INFO("seed " << seed << ", patience " << patience << ", limit " << limit);
        REQUIRE(run(nullptr) == run(&team));
      }
}

namespace {

bool within(std::span<const node_id> nodes, std::uint32_t set) {
  return std::all_of(nodes.begin(), nodes.end(), [&](node_id u) { return set >> u & 1; });
}

/// The least that the first member of a layer takes, or the last, by trying all sets of active nodes that may have run.
delta least_by_sets(const schedule_graph& g, std::uint32_t layer, bool first) {
  delta least = std::numeric_limits<delta>::max();
  for (std::uint32_t set = 0; set < std::uint32_t{1} << g.active; ++set) {
    const std::uint32_t waiting = layer & ~set;
    if (first ? waiting != layer : (waiting == 0 || (waiting & (waiting - 1)) != 0)) continue;
    delta level = static_cast<delta>(g.base);
    bool legal = true;
    for (node_id v = 0; v < g.size(); ++v) {
      const bool ran = g.is_release(v) ? within(g.preds[v], set) : set >> v & 1;
      if (ran) legal = legal && within(g.preds[v], set), level += g.cost[v].impact;
    }
    for (node_id r = 0; legal && r < g.active; ++r) {
      if (!(waiting >> r & 1) || !within(g.preds[r], set)) continue;
      delta gain = 0;
      for (const auto& c : g.credits[r])
        if (within(g.preds[c.release], set | std::uint32_t{1} << r)) gain += c.amount;
      least = std::min(least, level + g.cost[r].peak - gain);
    }
  }
  return std::max<delta>(least, 0);
}

}  // namespace

TEST_CASE("a layer bounds as the lowest sets do in which its first or its last member may run") {
  support::random r(7);
  const auto go_on = [] { return true; };
  for (std::uint64_t seed = 0; seed < cases / 3; ++seed)
    for (const options& o : models()) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 8}), o.model());
      search context(o);
      const bytes optimum = exhaustive{}(g, context).lower_bound;
      std::uint32_t layer = 0;
      std::vector<node_id> members;
      for (node_id v = 0; v < g.active; ++v)
        if (r.chance(40) || v + 1 == g.active) layer |= std::uint32_t{1} << v, members.push_back(v);
      INFO("seed " << seed);
      bounds::layer_bound bounds(g);
      for (const bool first : {true, false}) {
        const auto bound = [&](bytes least) {
          return first ? bounds.of_first(members, least, go_on) : bounds.of_last(members, least, go_on);
        };
        const bytes tight = bound(0);
        REQUIRE(static_cast<delta>(tight) == least_by_sets(g, layer, first));
        REQUIRE(tight <= optimum);
        REQUIRE(bound(tight) <= tight);
        if (tight > 0) REQUIRE(bound(tight - 1) == tight);
      }
      for (const bytes start : {bytes{0}, optimum / 2})
        REQUIRE(bounds::layer_search(g).run(g.topological_order(), start, go_on).bound <= optimum);
    }
}

TEST_CASE("a search of layers that stops and goes on finds what one without a stop finds") {
  std::uint32_t stopped = 0;
  const auto go_on = [] { return true; };
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 14});
    const schedule_graph g = make_schedule_graph(p, {});
    support::random r(seed);
    const std::vector<node_id> one = g.topological_order(),
                               other = structure::list_schedule(g, [](const order_walk&, node_id v, index_t) { return ~v; });
    const bounds::best_layer all = bounds::layer_search(g).run(one, 0, go_on);
    REQUIRE(!all.gave_up);
    bounds::layer_search layers(g);
    bounds::best_layer part{.gave_up = true};
    INFO("seed " << seed);
    for (int turns = 0; part.gave_up; ++turns) {
      REQUIRE(turns < 1000);
      const bytes target =
          r.chance(30) ? r.below(static_cast<std::uint32_t>(all.bound) + 2) : 0;  // it may fall from turn to turn
      int cuts = static_cast<int>(r.below(4));
      const auto go_on_for_a_while = [&] { return cuts-- > 0; };
      if (r.chance(30)) (void)layers.run(other, target, go_on_for_a_while);
      part = layers.run(turns % 2 == 0 ? one : other, part.bound, go_on, r.below(60));
      stopped += part.gave_up ? 1 : 0;
    }
    REQUIRE(part.bound == all.bound);
    (void)layers.run(one, part.bound, go_on);
    REQUIRE(layers.run(one, part.bound, go_on).work == 0);
  }
  REQUIRE(stopped > cases);
}

TEST_CASE("a search of layers ends soon after its patience, also within one large layer") {
  problem_builder b;
  std::vector<tensor_id> all;
  for (int i = 0; i < 3000; ++i) b.op({.writes = {all.emplace_back(b.tensor(1))}});
  for (tensor_id t : all) b.op({.reads = {t}});
  const schedule_graph g = make_schedule_graph(b.build().value());
  const auto go_on = [] { return true; };
  const std::vector<node_id> order = g.topological_order();  // all sources first: far higher than any bound
  const bounds::best_layer whole = bounds::layer_search(g).run(order, 0, go_on, std::uint64_t{1} << 40);
  bounds::layer_search layers(g);
  bounds::best_layer part{.gave_up = true};
  std::size_t calls = 0;
  for (; part.gave_up; ++calls) {
    const std::uint64_t patience = std::uint64_t{1000} << std::min<std::size_t>(calls, 12);
    part = layers.run(order, part.bound, go_on, patience);
    if (calls == 0) CHECK(part.work < 4 * (std::uint64_t{1} << 20));  // a layer asks once for each million
  }
  CHECK(calls > 3);
  CHECK(whole.work > 16 * (std::uint64_t{1} << 20));
  CHECK(part.bound == whole.bound);
}

TEST_CASE("probing never refutes a peak that is reached, and its edges keep an order that reaches it") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 10});
      const schedule_graph g = make_schedule_graph(p, o.model());
      search context(o);
      const bytes optimum = exhaustive{}(g, context).lower_bound;
      const auto go_on = [](auto) { return true; };
      bounds::prober at_optimum(g);
      INFO("seed " << seed);
      REQUIRE(at_optimum.run(optimum, go_on) == bounds::prober::outcome::open);
      const schedule_graph narrowed = bounds::with_edges(g, at_optimum.edges());
      REQUIRE(exhaustive{}(narrowed, context).lower_bound == optimum);
      bounds::destructive_search bound(g, g.base);
      for (bytes high : {2 * optimum, optimum + optimum / 4, optimum}) {
        std::size_t cuts = 5;
        bound.run(high, [&](auto) { return cuts-- > 0; });
        REQUIRE(bound.bound() <= optimum);
        bound.run(high, go_on);
        REQUIRE(bound.bound() <= optimum);
        if (bound.unrefuted() && *bound.unrefuted() >= optimum)
          REQUIRE(exhaustive{}(bounds::with_edges(g, bound.known_up_to(*bound.unrefuted()).edges()), context).lower_bound ==
                  optimum);
      }
    }
}

TEST_CASE("every order within a peak keeps the edges that probing and shaving derive for it") {
  const auto go_on = [](auto) { return true; };
  int shaved = 0;
  for_small_graphs(cases / 5, [&](const schedule_graph& g, search&, bytes optimum) {
    for (const bytes b : {optimum, optimum + 1, optimum + optimum / 8}) {
      bounds::prober p(g);
      REQUIRE(p.run(b, go_on) == bounds::prober::outcome::open);
      const double orders = orders_within(g, b);
      REQUIRE(orders_within(bounds::with_edges(g, p.edges()), b) == orders);
      const std::size_t probed = p.edges().size();
      REQUIRE(bounds::shaver().run(p, 4, go_on) == bounds::prober::outcome::open);
      REQUIRE(orders_within(bounds::with_edges(g, p.edges()), b) == orders);
      shaved += p.edges().size() > probed;
    }
    for (const bytes b : {optimum - 1, optimum - optimum / 16, optimum - optimum / 8}) {
      bounds::prober p(g);
      auto outcome = p.run(b, go_on);
      if (outcome == bounds::prober::outcome::open) outcome = bounds::shaver().run(p, 4, go_on);
      if (b < optimum && outcome == bounds::prober::outcome::refuted) REQUIRE(p.next() <= optimum);
    }
  });
  REQUIRE(shaved > 0);
}

TEST_CASE("probing without reuse of sets finds as much, with more cuts") {
  std::size_t with_reuse = 0, without = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12}));
    search context(options{});
    const bytes optimum = exhaustive{}(g, context).lower_bound;
    for (const bytes b : {optimum, optimum - 1}) {
      bounds::prober quick(g), plain(g, false);
      INFO("seed " << seed);
      REQUIRE(quick.run(b, [&](auto) { return ++with_reuse > 0; }) == plain.run(b, [&](auto) { return ++without > 0; }));
      if (b == optimum)
        REQUIRE(orders_within(bounds::with_edges(g, quick.edges()), no_limit) ==
                orders_within(bounds::with_edges(g, plain.edges()), no_limit));
    }
  }
  REQUIRE(with_reuse < without / 4);
}

TEST_CASE("shaving raises bounds") {
  bytes raised = 0;
  for (int seed = 1; seed <= 5; ++seed) {
    const problem p = make_problem(networks::make("windowed:60:40:" + std::to_string(seed)).value()).value();
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
    const problem p = make_problem(networks::make(name).value()).value();
    const bytes optimum = schedule(p).peak;
    const options o;
    search context(o);
    const schedule_graph g = presolve::compressed(make_schedule_graph(p), context).graph;
    for (const bool pairs : {false, true}) {
      const auto go_on = [](auto) { return true; };
      bounds::prober q(g);
      REQUIRE(q.run(optimum - 1, go_on) == bounds::prober::outcome::open);
      (pairs ? both_ways : one_way) += bounds::shaver(pairs).run(q, 8, go_on) == bounds::prober::outcome::refuted;
    }
  }
  REQUIRE(both_ways > one_way);
}

TEST_CASE("the work of cuts counts visits of nodes and edges") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 40}));
    bounds::cut_bound cut(g);
    std::uint64_t size = g.size(), before = 0;
    for (node_id v = 0; v < g.size(); ++v) size += g.preds[v].size();
    for (node_id v = 0; v < g.active; ++v) {
      cut.at(v);
      REQUIRE(cut.work() > before);
      before = cut.work();
    }
    REQUIRE(before < g.active * size * 100);
  }
}

TEST_CASE("a destructive search that is stopped, or gets more patience, claims no more than the optimum") {
  support::random r(1);
  for_small_graphs(cases / 6, [&](const schedule_graph& g, search& context, bytes optimum) {
    bounds::destructive_search<presolve::narrowing> bound(g, g.base, presolve::narrowing(g, context));
    const auto keeps_an_order = [&](bytes high) {
      for (bytes b = optimum; b < high; b += std::max<bytes>((high - optimum) / 3, 1)) {
        const presolve::narrowing& n = bound.known_up_to(b);
        REQUIRE(peak_of(g, n.expand(exhaustive{}(n.graph(), context).order)) == optimum);
      }
    };
    bytes high = 2 * optimum;
    for (int call = 0; call < 8; ++call) {  // stopped, or not, while the peak that is reached falls
      std::size_t cuts = r.below(30);
      bound.run(high, r.below(3), [&](auto) { return cuts-- > 0; });
      REQUIRE(bound.bound() <= optimum);
      keeps_an_order(high);
      if (r.chance(50)) high = optimum + r.below(static_cast<std::uint32_t>(high - optimum + 1));
    }
    for (const unsigned patience : {0u, 1u, 4u}) {
      REQUIRE(bound.run(high, patience, [](auto) { return true; }));
      REQUIRE(bound.bound() <= optimum);
      REQUIRE((bound.settled() || bound.bound() == high));
      keeps_an_order(high);
    }
    REQUIRE(bound.run(optimum, 0u, [](auto) { return true; }));
    bound.raise(optimum);
    REQUIRE(!bound.unrefuted());
  });
}

namespace {

/// The graph with its bytes in units of 6, but for credits, which are in units of 4.
schedule_graph in_other_units(schedule_graph g) {
  g.base *= 6;
  for (node_cost& c : g.cost) c.peak *= 6, c.impact *= 6;
  list_of<schedule_graph::credit> credits;
  for (node_id v = 0; v < g.size(); ++v) {
    for (const auto& c : g.credits[v]) credits.push({c.release, 4 * c.amount});
    credits.close();
  }
  g.credits = std::move(credits);
  return g;
}

}  // namespace

TEST_CASE("every peak is on the grid of peaks, and none is between a bound and the next possible peak") {
  int with_credits = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 12, .percent_inplace = 60});
      const schedule_graph g = in_other_units(make_schedule_graph(p, o.model()));
      const bounds::peak_grid peaks(g);
      support::random r(seed);
      INFO("seed " << seed);
      with_credits += peaks.step() % 6 != 0;
      for (int i = 0; i < 5; ++i) {
        const bytes peak = peak_of(g, random_order(g, r));
        REQUIRE(peaks.down(peak) == peak);
        REQUIRE(peaks.up(peak) == peak);
        REQUIRE(peaks.down(peak - 1) < peak);
        REQUIRE(peaks.up(peak - 1) <= peak);
        for (const bytes less : {bytes{0}, bytes{1}, bytes{3}, bytes{10}})
          REQUIRE(bounds::next_possible_peak(g, peak - std::min(peak, less)) <= peak);
      }
    }
  REQUIRE(with_credits > 100);
}
