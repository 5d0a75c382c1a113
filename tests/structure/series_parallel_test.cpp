// Series-parallel graphs: what is recognized, and that the direct order is as good as that of compression.
#include <catch2/catch.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/structure/series_parallel.hpp>

#include "support/random_graph.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

schedule_graph of_unit_cost(std::uint32_t n, std::vector<precedence> edges) {
  return make_schedule_graph(cost_graph{std::vector<node_cost>(n, {1, 1}), std::move(edges)}).value();
}

void require_order(const schedule_graph& g, const std::vector<node_id>& order) {
  REQUIRE(order.size() == g.active);
  order_walk w(g);
  for (node_id v : order) {
    REQUIRE(w.ready(v));
    w.fire(v);
  }
}

}  // namespace

TEST_CASE("what is series-parallel") {
  REQUIRE(structure::series_parallel_order(of_unit_cost(0, {})));
  REQUIRE(structure::series_parallel_order(of_unit_cost(1, {})));
  REQUIRE(structure::series_parallel_order(of_unit_cost(3, {})));  // side by side
  REQUIRE(structure::series_parallel_order(
      of_unit_cost(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}})));  // a diamond with a chord
  REQUIRE_FALSE(structure::series_parallel_order(of_unit_cost(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {1, 2}})));  // a bridge
  REQUIRE_FALSE(structure::series_parallel_order(of_unit_cost(4, {{0, 2}, {0, 3}, {1, 3}})));                  // an N
}

TEST_CASE("the direct order of a series-parallel graph is optimal") {
  for (std::uint64_t seed = 0; seed < support::seeds(3000); ++seed)
    for (firing rule : {firing::pbc, firing::cbp}) {
      const auto n = 1 + static_cast<std::uint32_t>(seed % 70);
      const schedule_graph g = make_schedule_graph(support::random_series_parallel(seed, n), rule).value();
      const options o;
      search context(o);
      INFO("seed " << seed);
      const auto order = structure::series_parallel_order(g);
      REQUIRE(order);
      require_order(g, *order);
      const presolve::compressed_graph c = presolve::compressed(g, context, {.series_parallel = false});
      REQUIRE(c.graph.active == 1);
      REQUIRE(peak_of(g, *order) == peak_of(g, c.expand({0})));
      if (g.size() <= 14) REQUIRE(peak_of(g, *order) == exhaustive{}(g, context).lower_bound);
    }
}

TEST_CASE("the direct order is optimal with impacts of any sign") {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(20000); ++seed) {
    const auto n = 1 + static_cast<std::uint32_t>(seed % 9);
    const schedule_graph g = make_schedule_graph(support::random_costs(seed, n, 30)).value();
    const auto order = structure::series_parallel_order(g);
    if (!order) continue;
    ++found;
    const options o;
    search context(o);
    INFO("seed " << seed);
    require_order(g, *order);
    REQUIRE(peak_of(g, *order) == exhaustive{}(g, context).lower_bound);
  }
  REQUIRE(found > 1000);
}
