// Laws of the bounds that a stretch of an order gives, on random problems with random stretches of random orders.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/base/backbone.hpp>
#include <memsched/bounds/closed_window.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/peak_cuts.hpp>
#include <memsched/bounds/windowed_cut.hpp>
#include <memsched/memsched.hpp>
#include <memsched/structure/line.hpp>

#include "support/random_order.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Counts what a law looked at, so that it can be seen to have looked at something.
struct tally {
  std::size_t cuts = 0, as_good_as_whole = 0, windows = 0, proofs = 0, true_windows = 0, with_slack = 0,
              proofs_with_slack = 0;
};

tally check_stretches(std::uint64_t first, std::uint64_t seeds) {
  tally t;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    support::random r(seed);
    const options o{.default_firing = r.chance(30) ? firing::cbp : firing::pbc, .in_place = r.chance(70)};
    const schedule_graph whole = make_schedule_graph(
        support::random_problem(seed, {.operators = 5 + r.below(9), .max_inputs = 2 + r.below(3)}), o.model());
    search context(o);
    const bool compresses = r.chance(40);
    const schedule_graph g = compresses ? presolve::compressed(whole, context, {.series_parallel = false}).graph : whole;
    if (g.active == 0) continue;
    const solution best = dp{}(g, context);
    const bytes optimum = peak_of(g, best.order);
    const std::vector<node_id> order = r.chance(30) ? best.order : support::random_order(g, r);
    const structure::order_line l(g, order);
    const bounds::live_index live(l);
    const base::backbone bone =
        r.chance(80) ? base::backbone(g.preds, g.succs, l.nodes(0, l.size())) : base::backbone({}, {}, {});
    if (bone.path().empty()) continue;
    bounds::windowed_cut cut(l, live, bone);
    bounds::cut_bound global(g);
    for (int k = 0; k < 6; ++k) {
      INFO("seed " << seed);
      const std::size_t a = l.legal_from(r.below(static_cast<std::uint32_t>(l.size())));
      const std::size_t b = l.legal_from(std::min(l.size(), a + 1 + r.below(static_cast<std::uint32_t>(l.size()))));
      if (a == b) continue;
      for (node_id v : l.nodes(a, b)) {
        if (g.is_release(v)) continue;
        const bytes bound = cut.at(v, a, b).bound, better = global.at(v);
        REQUIRE(bound <= optimum);
        if (g.credits[v].empty()) REQUIRE(bound <= std::max(better, g.base));
        ++t.cuts;
        t.as_good_as_whole += bound == better;
      }
      const node_id core = l.at(a + r.below(static_cast<std::uint32_t>(b - a)));
      const auto closed = bounds::close_window(l, live, bone, a, b, g.is_release(core) ? none : core);
      if (!closed) continue;
      const solution s = dp{}(closed->graph, context);
      ++t.windows;
      if (closed->slack > 0) {
        ++t.with_slack;
        t.proofs_with_slack += closed->lowered(s.lower_bound) == optimum;
      }
      t.true_windows += a > 0 && b < l.size();
      const bytes bound = closed->lowered(peak_of(closed->graph, s.order));
      REQUIRE(bound <= optimum);
      if (bound > 0) REQUIRE(bound + closed->slack <= l.peak());
      t.proofs += closed->lowered(s.lower_bound) == optimum;
    }
  }
  return t;
}

}  // namespace

TEST_CASE("cuts and closed windows of a stretch bound the whole") {
  const tally t = check_stretches(0, 3000);
  CHECK(t.cuts > 20000);
  CHECK(t.as_good_as_whole > t.cuts / 4);
  CHECK(t.windows > 3000);
  CHECK(t.true_windows > 100);
  CHECK(t.proofs > t.windows / 4);
  CHECK(t.with_slack > 3000);
  CHECK(t.proofs_with_slack > 100);
}

TEST_CASE("cuts around the highest positions of a short order bound as much as cuts of the whole") {
  std::size_t raised = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const options o{.default_firing = r.chance(30) ? firing::cbp : firing::pbc, .in_place = r.chance(70)};
    const schedule_graph g =
        make_schedule_graph(support::random_problem(seed, {.operators = 5 + r.below(9), .max_inputs = 3}), o.model());
    search context(o);
    const std::vector<node_id> order = support::random_order(g, r);
    const structure::order_line l(g, order);
    const base::backbone bone(g.preds, g.succs, l.nodes(0, l.size()));
    bytes bound = g.base;
    bounds::peak_cuts cuts(l, bone, {});
    std::size_t left = r.chance(20) ? r.below(4) : 1000;
    const bool all = cuts.run(
        r.below(3), [&] { return bound; }, [&] { return left-- > 0; },
        [&](bytes b, std::uint64_t) {
          const bool better = b > bound;
          bound = std::max(bound, b);
          return better;
        });
    REQUIRE(bound <= peak_of(g, dp{}(g, context).order));
    raised += bound > g.base;
    if (all && g.credits.items() == 0) REQUIRE(bound == bounds::best_cut_bound(g, order, g.base, [] { return true; }).bound);
  }
  CHECK(raised > support::seeds(500));
}
