// Cutting at waists loses nothing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include <memsched/passes/divide.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/structure/reachability.hpp>

#include "support/random_hourglass.hpp"
#include "support/seeds.hpp"
#include "support/small_graphs.hpp"

using namespace memsched;
using support::models;

namespace {

/// Operators in a row, each reading what the one before writes.
tensor_id add_chain(problem_builder& b, tensor_id from, int length) {
  for (int i = 0; i < length; ++i) {
    const tensor_id t = b.tensor(4);
    b.op({.reads = {from}, .writes = {t}});
    from = t;
  }
  return from;
}

}  // namespace

TEST_CASE("divide keeps the optimum") {
  std::size_t wider = 0, strict = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(4000); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_hourglass(seed, 3);
      INFO("seed " << seed);
      const auto whole = schedule(p, exhaustive{}, o);
      const auto parts = schedule(p, divide{} | exhaustive{}, o);
      REQUIRE(parts.peak == whole.peak);
      REQUIRE(parts.verdict() == verdict::optimal);
      const schedule_graph g = make_schedule_graph(p, o.model());
      const std::size_t with_drift = structure::hourglass(g).waists.size(), without = structure::waists(g).size();
      REQUIRE(with_drift >= without);
      strict += without;
      wider += with_drift - without;
    }
  CHECK(strict > support::seeds(5000));
  CHECK(wider > support::seeds(1000));  // waists that only the drift of others allows are among what was tested
}

TEST_CASE("divide keeps the optimum of graphs of no special form") {
  for (std::uint64_t seed = 0; seed < support::seeds(2000); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 9, .percent_control = 60});
      INFO("seed " << seed);
      REQUIRE(schedule(p, divide{} | exhaustive{}, o).peak == schedule(p, exhaustive{}, o).peak);
    }
}

TEST_CASE("waists are the nodes comparable with all others") {
  for (std::uint64_t seed = 0; seed < support::seeds(2000); ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_hourglass(seed, 3));
    const structure::reachability reach(g);
    std::vector<node_id> expected;
    for (node_id v = 0; v < g.active; ++v) {
      std::size_t comparable = 1;
      for (node_id u = 0; u < g.active; ++u)
        comparable += base::test_bit(reach.ancestors[v], u) || base::test_bit(reach.descendants[v], u);
      if (comparable == g.active) expected.push_back(v);
    }
    std::vector<node_id> found = structure::waists(g);
    std::sort(found.begin(), found.end());
    INFO("seed " << seed);
    REQUIRE(found == expected);
  }
}

TEST_CASE("parts hold every node once, and no edge leads back") {
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_hourglass(seed, 6));
    const auto parts = detail::division::parts(g);
    std::vector<std::size_t> part(g.size(), parts.size());
    std::size_t nodes = 0;
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (node_id v : parts[i]) part[v] = i, ++nodes;
    REQUIRE(nodes == g.size());
    for (node_id v = 0; v < g.size(); ++v) {
      REQUIRE(part[v] < parts.size());
      for (node_id u : g.preds[v]) REQUIRE(part[u] <= part[v]);
    }
  }
}

TEST_CASE("a tensor that two operators read ends no row of waists") {
  problem_builder b;
  const tensor_id x = add_chain(b, b.input(4), 2);
  const tensor_id left = b.tensor(3), right = b.tensor(3), joined = b.tensor(3);
  b.op({.reads = {x}, .writes = {left}});
  b.op({.reads = {x}, .writes = {right}});
  b.op({.reads = {left, right}, .writes = {joined}});
  b.output(add_chain(b, joined, 3));
  const schedule_graph g = make_schedule_graph(b.build().value());
  REQUIRE(g.size() == g.active + 1);  // x is released by its last reader
  CHECK(structure::waists(g).size() == 6);
  CHECK(detail::division::parts(g).size() == 6);
}

TEST_CASE("an operator beside the row ends no row of waists") {
  problem_builder b;
  const tensor_id x = b.input(4);
  const tensor_id extra = b.tensor(2), sum = b.tensor(4), side = b.tensor(5);
  b.op({.writes = {extra}});  // runs best just before it is read
  b.op({.writes = {side}});   // runs best at the end
  b.output(side);
  const tensor_id y = add_chain(b, x, 3);
  b.op({.reads = {y, extra}, .writes = {sum}});
  b.output(add_chain(b, sum, 3));
  const problem p = b.build().value();
  const schedule_graph g = make_schedule_graph(p);
  CHECK(structure::waists(g).empty());
  CHECK(structure::hourglass(g).waists.size() == 7);
  const auto r = schedule(p, divide{} | exhaustive{});
  CHECK(r.peak == schedule(p, exhaustive{}).peak);
  CHECK(r.stats.states < schedule(p, exhaustive{}).stats.states);
}

TEST_CASE("divide hands on the error of its scheduler") {
  const problem p = support::random_hourglass(1, 6);
  const auto r = schedule(p, divide{} | exhaustive{.max_nodes = 1});
  REQUIRE(r.error);
  CHECK(r.error->code == error_code::too_large);
}
