// The whole method: exact, and the paper's own numbers.
#include <catch2/catch.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/schedulers/fradet.hpp>
#include <memsched/sdf/composites.hpp>
#include <networks/task_graphs.hpp>

#include "support/random_graph.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

solution solve(const schedule_graph& g) {
  const options o;
  search context(o);
  return fradet(g, context);
}

}  // namespace

TEST_CASE("fradet is optimal") {
  for (std::uint64_t seed = 0; seed < support::seeds(2000); ++seed)
    for (const options& o : {options{}, options{.in_place = false}, options{.default_firing = firing::cbp}}) {
      const problem p = support::random_problem(seed, {.operators = 11});
      const auto oracle = schedule(p, exhaustive{}, o);
      const auto r = schedule(p, fradet, o);
      INFO("seed " << seed);
      REQUIRE(r.peak == oracle.peak);
      REQUIRE(r.verdict() == verdict::optimal);
    }
}

TEST_CASE("fradet at a limit") {
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed)
    for (std::uint64_t limit : {1U, 10U, 100U}) {
      const schedule_graph g = make_schedule_graph(support::random_costs(seed, 14, 15, 20)).value();
      const options o{.state_limit = limit}, free;
      search context(o), unlimited(free);
      const solution s = fradet(g, context);
      const bytes optimum = exhaustive{}(g, unlimited).lower_bound;
      REQUIRE(s.order.size() == g.active);
      REQUIRE(peak_of(g, s.order) >= optimum);
      REQUIRE(s.lower_bound <= optimum);
    }
}

TEST_CASE("figure 1") {
  const std::vector<node_id> published{0, 4, 1, 2, 3};  // A; E; B; C; D
  for (auto [rule, peak] : {std::pair(firing::cbp, bytes{8}), std::pair(firing::pbc, bytes{10})}) {
    const schedule_graph g = make_schedule_graph(task_graphs::figure_1(), rule).value();
    REQUIRE(peak_of(g, published) == peak);
    const solution s = solve(g);
    REQUIRE(s.order == published);
    REQUIRE(s.lower_bound == peak);
  }
}

TEST_CASE("tables 1 and 2: the peaks, by compression alone") {
  const auto one_node = [](const schedule_graph& g, std::size_t tasks, bytes peak) {
    REQUIRE(g.size() == tasks);
    const options o;
    search context(o);
    const presolve::compressed_graph c = presolve::compressed(g, context);
    REQUIRE(c.graph.size() == 1);
    REQUIRE(peak_of(g, c.expand({0})) == peak);
  };
  const auto firings = [](const sdf::graph& g) { return make_schedule_graph(sdf::expand(g).value()).value(); };
  one_node(make_schedule_graph(task_graphs::whole_batches(task_graphs::satellite())).value(), 22, 1680);
  one_node(firings(task_graphs::satellite()), 4515, 960);
  struct row {
    std::uint32_t low, high, depth;
    std::size_t tasks;
    bytes peak;
  };
  for (const row& r : {row{2, 1, 2, 78, 13},
                       {2, 1, 3, 324, 31},
                       {2, 1, 5, 4536, 247},
                       {1, 1, 2, 40, 7},
                       {1, 1, 3, 112, 11},
                       {1, 1, 5, 704, 35},
                       {2, 3, 2, 190, 22},
                       {2, 3, 3, 1300, 47},
                       {2, 3, 5, 50000, 272}})
    one_node(firings(task_graphs::filterbank(r.low, r.high, r.depth).graph()), r.tasks, r.peak);
}

TEST_CASE("a graph that frees more than there is") {
  // Node 1 needs 5 and node 0 makes 3; node 2 makes 9, but only afterwards.
  const schedule_graph g = make_schedule_graph(cost_graph{{{3, 3}, {0, -5}, {9, 9}}, {{0, 1}, {1, 2}}}).value();
  const solution s = solve(g);
  REQUIRE(s.error);
  REQUIRE(s.error->message ==
          "node 1 leaves negative memory in every order: it and what it waits for consume 2 bytes more than can exist by "
          "then");
  REQUIRE(s.error->operators == std::vector<index_t>{1});
  // With node 2 free to run first there is an order.
  REQUIRE_FALSE(solve(make_schedule_graph(cost_graph{{{3, 3}, {0, -5}, {9, 9}}, {{0, 1}}}).value()).error);
}
