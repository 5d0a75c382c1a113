// The law of what graphs of any costs free, against all sets of nodes.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memsched/bounds/negative_level.hpp>
#include <optional>

#include "support/random_graph.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// The highest level that any order has after v, by all sets that v may be the last of.
delta highest_after(const schedule_graph& g, node_id v) {
  std::optional<delta> highest;
  for (std::uint32_t set = 0; set < (std::uint32_t{1} << g.size()); ++set) {
    const auto in = [&](node_id u) { return (set >> u & 1) != 0; };
    bool legal = in(v);
    delta level = static_cast<delta>(g.base);
    for (node_id u = 0; u < g.size() && legal; ++u) {
      if (!in(u)) continue;
      level += g.cost[u].impact;
      for (node_id p : g.preds[u]) legal = legal && in(p) && p != v;
    }
    if (legal && (!highest || level > *highest)) highest = level;
  }
  return *highest;
}

}  // namespace

TEST_CASE("a graph has a negative level where some node leaves one in every order, and only there") {
  std::uint64_t faults = 0, none_such = 0;
  for (std::uint32_t seed = 0; seed < support::seeds(1500); ++seed) {
    cost_graph c = support::random_costs(seed, 8, 15 + seed % 30);
    c.base = seed % 9;
    const auto made = make_schedule_graph(c);
    if (!made) continue;
    const schedule_graph& g = made.value();
    bool negative = false;
    for (node_id v = 0; v < g.size(); ++v) negative = negative || highest_after(g, v) < 0;
    INFO("seed " << seed);
    const auto fault = bounds::negative_level(g);
    REQUIRE(fault.has_value() == negative);
    if (fault) REQUIRE(highest_after(g, fault->operators[0]) < 0);
    ++(negative ? faults : none_such);
  }
  CHECK(faults > support::seeds(50));
  CHECK(none_such > 50);
}
