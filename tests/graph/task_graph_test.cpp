// Schedule graphs written down as costs or tokens: what they become, and what is wrong with bad ones.
#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/structure/mirror.hpp>

#include "support/random_graph.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

std::string error_of(cost_graph c) {
  const auto g = make_schedule_graph(std::move(c));
  return g ? "" : g.error().message;
}

/// The same tasks as operators and tensors.
problem as_problem(const task_graph& t) {
  problem_builder b;
  std::vector<operator_spec> ops(t.tasks);
  for (const task_channel& c : t.channels) {
    const tensor_id tensor = b.tensor(c.size);
    ops[c.from].writes.push_back(tensor);
    ops[c.to].reads.push_back(tensor);
  }
  for (const operator_spec& op : ops) b.op(op);
  return b.build().value();
}

}  // namespace

TEST_CASE("a task graph costs what its operators and tensors cost") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed)
    for (firing rule : {firing::pbc, firing::cbp}) {
      const task_graph t = support::random_series_parallel(seed, 1 + static_cast<std::uint32_t>(seed % 20));
      const schedule_graph g = make_schedule_graph(t, rule).value();
      const schedule_graph same = make_schedule_graph(as_problem(t), {.default_firing = rule});
      const options o;
      search context(o);
      const std::vector<node_id> order = as_given{}(g, context).order;
      INFO("seed " << seed);
      REQUIRE(order == as_given{}(same, context).order);
      REQUIRE(peak_of(g, order) == peak_of(same, order));
    }
}

TEST_CASE("a reversed order of the mirror image has the same peak") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_costs(seed, 12)).value();
    const options o;
    search context(o);
    const schedule_graph m = structure::mirror_image(g);
    std::vector<node_id> order = as_given{}(m, context).order;
    const bytes peak = peak_of(m, order);
    INFO("seed " << seed);
    REQUIRE(peak_of(g, structure::reflected(g, std::move(order))) == peak);
    REQUIRE(structure::mirror_image(m).base == g.base);
  }
}

TEST_CASE("what is wrong with costs and edges") {
  REQUIRE(error_of({{{1, 1}}, {{0, 1}}}) == "an edge names node 1, and there are 1");
  REQUIRE(error_of({{{1, 1}, {1, 1}, {1, 1}}, {{2, 0}, {0, 1}, {1, 2}}})
              .rfind("the nodes wait for each other in a circle: node ", 0) == 0);
  REQUIRE(error_of({{{1, 1}}, {{0, 0}}}) == "the nodes wait for each other in a circle: node 0 -> node 0");
  REQUIRE(error_of({{{-1, -2}}, {}}) == "node 0 has a negative peak (-1)");
  REQUIRE(error_of({{{1, 1}, {1, 2}}, {}}) == "node 1 has an impact (2) above its peak (1)");
  REQUIRE(error_of({{{std::numeric_limits<delta>::max(), 0}}, {}}) == "node 0 has a cost of more than 2^61 bytes");
  const delta large = static_cast<delta>(base::max_total / 2);
  REQUIRE(error_of({{{large, 0}, {large, 0}, {1, 0}}, {}}) == "costs up to node 2 sum to more than 2^61 bytes");
  REQUIRE(error_of({{}, {}, base::max_total + 1}) == "the level at the start is more than 2^61 bytes");
  REQUIRE(error_of({{{2, 2}, {0, -5}}, {}, 1}) ==
          "every order ends with negative memory: the impacts sum to 2 bytes less than the start has");
  REQUIRE(error_of({{{2, 2}, {0, -1}}, {}, 0, 3}) == "the impacts leave 1 bytes, and the outputs are declared with 3");
  REQUIRE(error_of({{{2, 2}, {0, -1}}, {}, 0, 1}).empty());
}

TEST_CASE("what is wrong with tasks and channels") {
  for (const task_channel& channel : {task_channel{0, 2, 1}, {2, 0, 1}}) {
    const auto unknown = make_schedule_graph(task_graph{2, {channel}});
    REQUIRE_FALSE(unknown);
    REQUIRE(unknown.error().message == "a channel names task 2, and there are 2");
  }
  const auto large = make_schedule_graph(task_graph{2, {{0, 1, base::max_total}, {0, 1, 1}}});
  REQUIRE_FALSE(large);
  REQUIRE(large.error().code == error_code::overflow);
}
