// Integer programs agree with the oracle; limits, starts and text.
#include <catch2/catch.hpp>
#include <memsched/adapters/cbc.hpp>
#include <memsched/ilp/ilp.hpp>
#include <memsched/ilp/milp_text.hpp>
#include <memsched/ilp/time_indexed.hpp>
#include <memsched/passes/fuse.hpp>
#include <memsched/passes/partition.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "networks/networks.hpp"
#include "support/random_problem.hpp"

using namespace memsched;

namespace {

std::vector<options> models() {
  return {options{}, options{.in_place = false}, options{.default_firing = firing::cbp}};
}

/// Largest violation of any row or bound.
double violation(const milp_model& m, const std::vector<double>& x) {
  double worst = 0;
  std::vector<double> sum(m.rows.size(), 0);
  for (int c = 0; c < m.matrix.cols(); ++c)
    for (Eigen::SparseMatrix<double>::InnerIterator it(m.matrix, c); it; ++it)
      sum[static_cast<std::size_t>(it.row())] += it.value() * x[static_cast<std::size_t>(c)];
  for (std::size_t r = 0; r < sum.size(); ++r) worst = std::max({worst, m.row_lower[r] - sum[r], sum[r] - m.row_upper[r]});
  for (std::size_t c = 0; c < x.size(); ++c) worst = std::max({worst, m.lower[c] - x[c], x[c] - m.upper[c]});
  return worst;
}

}  // namespace

TEST_CASE("tensors add up to the levels of the schedule graph") {
  for (std::uint64_t seed = 0; seed < 500; ++seed)
    for (const options& o : models()) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 15}), o.model());
      const auto tensors = tensors_of(g);
      search context(o);
      walk w(g);
      std::vector<bool> ran(g.active, false);
      for (node v : kahn{}(g, context).order) {
        w.fire(v);
        ran[v] = true;
        delta live = 0;
        for (const flowing_tensor& t : tensors) {
          const bool there = t.producer == none || ran[t.producer];
          const bool needed = t.stays || std::any_of(t.readers.begin(), t.readers.end(), [&](node u) { return !ran[u]; });
          if (there && needed) live += t.size;
        }
        INFO("seed " << seed);
        REQUIRE(live == w.level());
      }
    }
}

TEST_CASE("an order is a solution of every program, and comes back from it") {
  const auto check = [](const auto& formulate, const schedule_graph& g, const std::vector<node>& order) {
    const bytes peak = peak_of(g, order);
    const auto program = *formulate(g, peak_range{g.base, peak}, no_limit);
    const std::vector<double> x = program.solution_of(order);
    REQUIRE(violation(program.model, x) < 1e-9);
    REQUIRE(peak_of(g, program.order_of(x)) == peak);
  };
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    for (const options& o : models()) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12}), o.model());
      search context(o);
      INFO("seed " << seed);
      for (const auto& order : {kahn{}(g, context).order, rpo{}(g, context).order}) {
        check(time_indexed{}, g, order);
        check(time_indexed{.pruning = false}, g, order);
        check(nested_sets{}, g, order);
      }
    }
}

TEST_CASE("Cbc finds the optimum with both programs") {
  const auto check = [](const auto& policy, const problem& p, const options& o, bytes optimum) {
    const auto r = schedule(p, policy, o).value();
    REQUIRE(r.peak == optimum);
    REQUIRE(r.lower_bound == optimum);
  };
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 8});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      INFO("seed " << seed);
      check(ilp<cbc>{}, p, o, optimum);
      check(ilp<cbc>{.probing = false}, p, o, optimum);
      check(ilp<cbc>{.warm = false}, p, o, optimum);
      if (seed >= 15) continue;
      check(ilp<cbc, time_indexed>{.probing = false}, p, o, optimum);
      check(ilp<cbc, time_indexed>{.warm = false}, p, o, optimum);
      check(fuse{} | ilp<cbc, time_indexed>{.formulate = {.pruning = false}, .warm = false}, p, o, optimum);
    }
}
