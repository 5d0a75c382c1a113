// Laws of what works where an order is highest: bisection, valleys, far moves, the whole of it; on graphs large enough to have
// stretches.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <memsched/base/backbone.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/memsched.hpp>
#include <memsched/passes/valleys.hpp>
#include <memsched/schedulers/falling_aims.hpp>
#include <memsched/schedulers/far_moves.hpp>
#include <memsched/structure/line.hpp>
#include <networks/networks.hpp>

#include "support/random_order.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

const auto always = [] { return true; };

}  // namespace

TEST_CASE("valleys and slices are blocks that can run one after the other") {
  for (std::uint64_t seed = 0; seed < support::seeds(400); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const schedule_graph g =
        make_schedule_graph(support::random_problem(seed, {.operators = 1 + r.below(120), .max_inputs = 3}));
    const structure::order_line l(g, support::random_order(g, r));
    const base::backbone bone(g.preds, g.succs, l.nodes(0, l.size()));
    const detail::valley_shape shape{1 + r.below(20), r.below(40), r.below(60)};
    std::size_t left = r.below(30);
    const auto some = [&] { return left-- > 0; };
    for (const auto& blocks : {detail::valley_blocks(l, bone, always, shape), detail::valley_blocks(l, bone, some, shape),
                               detail::slice_blocks(l, always, 1 + r.below(50))}) {
      std::vector<node_id> order;
      std::size_t nodes = 0;
      for (const auto& block : blocks) {
        nodes += block.size();
        std::copy_if(block.begin(), block.end(), std::back_inserter(order), [&](node_id v) { return !g.is_release(v); });
      }
      REQUIRE(nodes == g.size());
      REQUIRE(detail::is_order(g, order));
    }
  }
}

TEST_CASE("a valley is a lowest set among those between what must and what may have run") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12}));
    const structure::order_line l(g, support::random_order(g, r));
    const base::backbone bone(g.preds, g.succs, l.nodes(0, l.size()));
    const auto blocks = detail::valley_blocks(l, bone, always, {.every = 1, .reach = l.size(), .old = l.size()});
    // The first valley: the lowest set before the first node of the path that stands in position 1 or later.
    const auto first = std::find_if(bone.path().begin(), bone.path().end(),
                                    [&](node_id c) { return l.position(c) >= 1 && !g.is_release(c); });
    if (first == bone.path().end() || blocks.size() < 2) continue;
    const bytes lowest = bounds::cut_bound(g).at(*first) - static_cast<bytes>(g.cost[*first].peak);
    delta level = static_cast<delta>(g.base);
    for (node_id v : blocks[0]) level += g.cost[v].impact;
    if (g.credits[*first].empty() && std::find(blocks[0].begin(), blocks[0].end(), *first) == blocks[0].end())
      REQUIRE(level == static_cast<delta>(lowest));
  }
}

TEST_CASE("far moves give an order with a smaller peak, or none") {
  std::size_t moved = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const options o{.default_firing = r.chance(30) ? firing::cbp : firing::pbc, .in_place = r.chance(70)};
    search context(o);
    const schedule_graph g =
        make_schedule_graph(support::random_problem(seed, {.operators = 1 + r.below(60), .max_inputs = 3}), o.model());
    const structure::order_line l(g, support::random_order(g, r));
    const auto order = detail::moved_far(l, context);
    if (!order) continue;
    ++moved;
    REQUIRE(detail::is_order(g, *order));
    REQUIRE(peak_of(g, *order) < l.peak());
  }
  CHECK(moved > support::seeds(300));
}

TEST_CASE("far moves bring what frees memory before the peak, to where there is room for it") {
  // One operator that reads 64 bytes with a workspace of 900 stands at the end of a long chain; three of the chain's first have
  // room for it.
  problem_builder b;
  const tensor_id kept = b.tensor(64);
  b.op({.writes = {kept}});
  tensor_id last = kept;
  for (int i = 0; i < 500; ++i) {
    const tensor_id next = b.tensor(1);
    b.op({.reads = i == 0 ? std::vector<tensor_id>{} : std::vector{last},
          .writes = {next},
          .workspace = i < 3 ? 10U : 1000U});
    last = next;
  }
  b.op({.reads = {kept}, .workspace = 900});
  const schedule_graph g = make_schedule_graph(b.build().value());
  const options o{};
  search context(o);
  const structure::order_line l(g, as_given{}(g, context).order);
  const auto order = detail::moved_far(l, context);
  REQUIRE(order);
  CHECK(peak_of(g, *order) == l.peak() - 64);
}

TEST_CASE(
    "orders lowered to falling aims are orders, lowered at their peak no higher, and as low as was asked if it says so") {
  std::size_t lowered = 0, by_blocks = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(100); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const options o{.state_limit = 1 + r.below(20000)};
    search context(o);
    const schedule_graph g =
        make_schedule_graph(support::random_problem(seed, {.operators = 20 + r.below(100), .max_inputs = 3}));
    structure::order_line l(g, support::random_order(g, r));
    const bytes from = g.base + r.below(200), before = l.peak();
    detail::falling_aims aims(g, context, l, from, bounds::peak_unit(g));
    const bool reached = aims.lower_highest(r.below(3));
    const bytes after = l.peak();
    REQUIRE(detail::is_order(g, l.order()));
    REQUIRE(peak_of(g, l.order()) == after);
    REQUIRE(after <= before);
    REQUIRE(reached == (after <= from));
    aims.lower_blocks(base::backbone(g.preds, g.succs, l.nodes(0, l.size())));
    REQUIRE(detail::is_order(g, l.order()));
    REQUIRE(peak_of(g, l.order()) == l.peak());
    lowered += after < before, by_blocks += l.peak() < after;
  }
  CHECK(lowered > support::seeds(50));
  CHECK(by_blocks > 0);
}

TEST_CASE("bisection and the stages answer with orders that are no worse, and claim no more than holds") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const options o{.state_limit = 1 + r.below(4000),
                    .default_firing = r.chance(30) ? firing::cbp : firing::pbc,
                    .in_place = r.chance(70)};
    const schedule_graph g =
        make_schedule_graph(support::random_problem(seed, {.operators = 1 + r.below(r.chance(50) ? 14 : 40),
                                                           .max_inputs = 1 + r.below(4),
                                                           .unit = r.chance(50) ? bytes{1} : bytes{50}}),
                            o.model());
    const options unlimited{};
    search context(o), free(unlimited);
    const bytes optimum = peak_of(g, automatic(g, free).order);
    const solution s{support::random_order(g, r)};
    const bytes before = peak_of(g, s.order);
    const std::vector<node_id> halves = bisect{.max_exact = r.below(6)}.improve(g, free, s.order, 0);
    REQUIRE(detail::is_order(g, halves));
    REQUIRE(peak_of(g, halves) <= before);
    for (search* c : {&free, &context}) {
      // A floor is no bound, whether it rises or not: stages claim none of it, above the optimum and between two peaks that
      // there can be.
      const bytes floor = r.chance(50)   ? 0
                          : r.chance(50) ? optimum + r.below(60)
                                         : optimum / 2 + r.below(static_cast<std::uint32_t>(optimum + 2));
      const detail::staged_search stages{.unit = 1 + r.below(200), .rows = r.chance(30), .rise = r.below(60)};
      const solution t = c->ask({.target = floor}, [&] { return stages(g, *c); });
      REQUIRE(detail::is_order(g, t.order));
      REQUIRE(t.lower_bound <= optimum);
    }
  }
}

TEST_CASE("windows of long graphs, solved by stages of their own, bound no more than the whole needs") {
  std::size_t bounds_by_windows = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(60); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const std::uint32_t operators = 420 + r.below(60),
                        window = 10 + r.below(3);  // more than fit into a window, and few at once
    const problem p = make_problem(networks::windowed(operators, window, seed)).value();
    options o{.state_limit = 1500, .default_firing = r.chance(30) ? firing::cbp : firing::pbc, .in_place = r.chance(70)};
    o.on_progress = [&, before = bytes{0}](const progress& q) mutable {
      bounds_by_windows += q.bound_by == "windows" && q.lower_bound > before;
      before = q.lower_bound;
    };
    const auto exact =
        schedule(p, divide{} | compress{} | best_first{}, {.default_firing = o.default_firing, .in_place = o.in_place});
    REQUIRE(exact.verdict() == verdict::optimal);
    search context(o);
    const schedule_graph g = make_schedule_graph(p, o.model());
    const detail::staged_search stages{.active = 1000, .unit = 1 + r.below(8), .window = true};
    const bytes target = r.chance(50) ? 0 : exact.peak + r.below(60);  // which is no bound
    REQUIRE(context.ask({.target = target}, [&] { return stages(g, context); }).lower_bound <= exact.peak);
  }
  CHECK(bounds_by_windows > 0);
}

TEST_CASE("automatic proves graphs of thousands of operators, under a limit of states that repeats itself") {
  for (const char* name : {"layered:250:8:1", "windowed:1000:16:1"}) {
    INFO(name);
    const problem p = make_problem(networks::make(name).value()).value();
    const options o{.state_limit = 200000};
    const auto r = schedule(p, automatic, o), again = schedule(p, automatic, o);
    REQUIRE(r.verdict() == verdict::optimal);
    REQUIRE(r.order == again.order);
    REQUIRE(r.stats.states == again.stats.states);
    if (support::few_seeds) break;
  }
}

TEST_CASE("the stretch that forces a peak is a small part of a long graph, and proves no more than there is") {
  const problem p = make_problem(networks::make("windowed:1000:16:1").value()).value();
  const schedule_graph g = make_schedule_graph(p);
  const options o{.state_limit = 400000};
  search context(o);
  const solution s = automatic(g, context);
  REQUIRE(s.lower_bound == peak_of(g, s.order));
  const forcing_stretch found = find_forcing_stretch(g, context, s);
  REQUIRE(found.bound == s.lower_bound);
  REQUIRE(found.last - found.first < g.active / 2);

  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    INFO("seed " << seed);
    const schedule_graph h = make_schedule_graph(support::random_problem(seed, {.operators = 40}));
    search free{options{}};
    solution t = automatic(h, free);
    t.lower_bound += 1;  // what no stretch can prove
    const forcing_stretch none_such = find_forcing_stretch(h, free, t);
    REQUIRE(none_such.first == 0);
    REQUIRE(none_such.last == h.active);
  }
}
