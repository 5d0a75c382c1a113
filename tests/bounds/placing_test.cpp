// Placing: what it says about positions, edges and peaks holds for some best order.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/bounds/placing.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <string>

#include "support/small_graphs.hpp"

using namespace memsched;
using outcome = bounds::probing_outcome;

namespace {

constexpr auto always = [](std::uint64_t) { return true; };

/// A prober that is asked about a peak, and has solved one cut at most.
bounds::prober unprobed(const schedule_graph& g, bytes peak) {
  bounds::prober p(g);
  p.run(peak, [](auto) { return false; });
  return p;
}

}  // namespace

TEST_CASE("placing refutes no peak that an order has, and keeps such an order; so does it alone, without probing") {
  int refuted = 0, edges = 0, higher = 0;
  support::for_small_graphs(support::seeds(500), [&](const schedule_graph& g, search& context, bytes optimum) {
    for (const bool alone : {false, true})
      for (const bytes asked : {optimum, optimum + optimum / 4}) {
        bounds::prober p = unprobed(g, asked);
        if (!alone) REQUIRE(p.run(asked, always) == outcome::open);
        const std::size_t known = p.edges().size();
        bounds::placer places(p);
        REQUIRE(places.run(p, always) == outcome::open);
        edges += p.edges().size() > known;
        const schedule_graph kept = bounds::with_edges(g, p.edges());
        REQUIRE(exhaustive{}(kept, context).lower_bound <= asked);
      }
    for (bytes asked = optimum; asked-- > g.base && optimum - asked < 4;) {
      bounds::prober p = unprobed(g, asked);
      bounds::placer places(p);
      if (places.run(p, always) != outcome::refuted) continue;
      const bytes next = std::min(places.next(), p.next());
      REQUIRE(next > asked);
      REQUIRE(next <= optimum);
      ++refuted;
      higher += next > asked + 1;
    }
  });
  REQUIRE(refuted > 0);
  REQUIRE(edges > 0);
  REQUIRE(higher > 0);
}

TEST_CASE("placing that is stopped and goes on ends as it does without a stop") {
  int refuted = 0, open = 0;
  for (int seed = 1; seed <= 8; ++seed) {
    const problem p = make_problem(networks::make("windowed:60:40:" + std::to_string(seed)).value()).value();
    const schedule_graph g = make_schedule_graph(p);
    const bytes optimum = schedule(p).peak;
    for (const bytes asked : {optimum, optimum - 1, optimum - optimum / 8})
      for (const std::size_t slice : {std::size_t{1}, std::size_t{9}}) {
        INFO("seed " << seed << " peak " << asked << " slice " << slice);
        bounds::prober whole(g), sliced = unprobed(g, asked);
        if (whole.run(asked, always) != outcome::open) continue;
        sliced = whole;
        bounds::placer one(whole), several(sliced);
        const outcome found = one.run(whole, always);
        outcome o = outcome::stopped;
        for (int calls = 0; o == outcome::stopped; ++calls) {
          std::size_t cuts = slice;
          o = several.run(sliced, [&](auto) { return cuts-- > 0; });
          REQUIRE(calls < 100000);
        }
        REQUIRE(o == found);
        REQUIRE((found == outcome::open || asked < optimum));
        ++(found == outcome::refuted ? refuted : open);
        if (found == outcome::open) REQUIRE(several.run(sliced, [](auto) { return false; }) == found);
      }
  }
  REQUIRE(open > 0);
  REQUIRE(refuted > 0);
}
