// Rows in step: orders of grids of rows by layers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/passes/in_step.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Layers of rows of these sizes, the first the input; each row reads three of the layer before.
problem grid(int rows, const std::vector<bytes>& sizes) {
  problem_builder b;
  std::vector<tensor_id> before;
  for (int i = 0; i < rows; ++i) before.push_back(b.input(sizes.front()));
  for (std::size_t layer = 1; layer < sizes.size(); ++layer) {
    std::vector<tensor_id> now;
    for (int i = 0; i < rows; ++i) {
      std::vector<tensor_id> reads;
      for (int j = std::max(0, i - 1); j <= std::min(i + 1, rows - 1); ++j)
        reads.push_back(before[static_cast<std::size_t>(j)]);
      now.push_back(b.tensor(sizes[layer]));
      b.op({.reads = reads, .writes = {now.back()}});
    }
    before = now;
  }
  for (const tensor_id t : before) b.output(t);
  return b.build().value();
}

}  // namespace

TEST_CASE("rows in step are the best order of a grid, and all but one edge of each layer is found") {
  const problem p = grid(12, {5, 3, 12, 2, 9, 1});
  const schedule_graph g = make_schedule_graph(p);
  REQUIRE(in_step::edges(g).size() == 5 * 11);
  const best_first search{.commits = false, .backjumps = false};
  const auto rows = schedule(p, in_step{} | search), best = schedule(p, search);
  REQUIRE(best.verdict() == verdict::optimal);
  REQUIRE(rows.peak == best.peak);
  INFO(rows.stats.states << " states, without edges " << best.stats.states);
  REQUIRE(2 * rows.stats.states < best.stats.states);
}

TEST_CASE("rows are found whatever the numbers of operators are") {
  const problem p = grid(30, {5, 3, 12, 2, 9, 1, 7, 4});
  const options few{.state_limit = 2000};
  const bytes peak = schedule(p, automatic, few).peak;
  for (std::uint64_t seed = 0; seed < support::seeds(20); ++seed) {
    INFO("seed " << seed);
    const problem shuffled = make_problem(support::renumbered(p.draft(), seed)).value();
    REQUIRE(in_step::edges(make_schedule_graph(shuffled)).size() >= 7 * 29 * 9 / 10);
    REQUIRE(schedule(shuffled, automatic, few).peak <= peak + peak / 50);
  }
}

TEST_CASE("automatic runs the rows of a large grid in step before it tries much else") {
  for (const int rows : {20, 60}) {
    if (static_cast<std::uint64_t>(rows) > support::seeds(100)) continue;  // minutes under sanitizers
    INFO(rows << " rows");
    base::random_source r(7);
    std::vector<bytes> sizes;
    for (int layer = 0; layer < 40; ++layer) sizes.push_back(1 + r.below(20));
    const problem p = grid(rows, sizes);
    const options few{.state_limit = 500};
    const auto in_steps = schedule(p, in_step{} | automatic, few);
    REQUIRE(schedule(p, automatic, few).peak <= in_steps.peak);
    REQUIRE(in_steps.peak < schedule(p, best_first{}, {.state_limit = 20}).peak);  // a state takes long
  }
}

TEST_CASE("rows in step close no cycle and claim no bound above the optimum") {
  std::size_t edges = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed)
    for (const options& o : {options{}, options{.default_firing = firing::cbp}}) {
      INFO("seed " << seed);
      const problem p = support::random_problem(seed, {.operators = 9});
      const schedule_graph g = make_schedule_graph(p, o.model());
      edges += in_step::edges(g).size();
      REQUIRE(bounds::with_edges(g, in_step::edges(g)).topological_order().size() == g.active);
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      const auto r = schedule(p, in_step{} | best_first{}, o);
      REQUIRE(r.lower_bound <= optimum);
      REQUIRE(r.peak == evaluate(p, r.order, o.model()).value().peak);
    }
  REQUIRE(edges > 100);
}
