// Solver programs agree with Cbc in process and with the oracle. They must be in PATH: see solvers.sh.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <memsched/ilp/ilp.hpp>
#include <memsched/ilp/solvers/cbc.hpp>
#include <memsched/ilp/solvers/external_solver.hpp>
#include <memsched/ilp/time_indexed.hpp>
#include <memsched/passes/fuse.hpp>
#include <memsched/passes/partition.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "networks/networks.hpp"
#include "support/random_problem.hpp"
#include "support/small_graphs.hpp"

using namespace memsched;
using support::models;

namespace {

std::vector<external_solver> programs() {
  return {external_solver::highs(), external_solver::glpk(), external_solver::cbc_program()};
}

}  // namespace

TEST_CASE("programs find the optimum of small graphs, with both formulations") {
  for (const external_solver& program : programs())
    for (std::uint64_t seed = 0; seed < 8; ++seed)
      for (const options& o : models()) {
        const problem p = support::random_problem(seed, {.operators = 8});
        const bytes optimum = schedule(p, exhaustive{}, o).peak;
        const auto check = [&](const auto& policy) {
          const auto r = schedule(p, policy, o).value();
          REQUIRE(r.peak == optimum);
          REQUIRE(r.lower_bound == optimum);
        };
        INFO(program.command[0] << " seed " << seed);
        check(ilp<external_solver>{.solver = program});
        check(ilp<external_solver>{.solver = program, .warm = false});
        if (seed < 2) check(fuse{} | ilp<external_solver, time_indexed>{.solver = program, .warm = false});
      }
}

TEST_CASE("programs say of one model what Cbc says") {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12}));
    const auto model = nested_sets{}(g, {g.base, peak_of(g, structure::post_order(g))}, no_limit)->model;
    const milp_answer known = cbc{}(model, {});
    REQUIRE(known.status == milp_status::optimal);
    milp_model unsolvable = model;
    for (std::size_t c = 0; c < unsolvable.variables(); ++c)
      if (unsolvable.columns[c] == "mem") unsolvable.lower[c] = 0, unsolvable.upper[c] = std::round(known.bound) - 1;
    for (const external_solver& program : programs()) {
      INFO(program.command[0] << " seed " << seed);
      const milp_answer a = program(model, {});
      INFO(a.message);
      REQUIRE(a.status == milp_status::optimal);
      REQUIRE(std::abs(a.bound - known.bound) < 1e-6);
      REQUIRE(program(unsolvable, {}).status == milp_status::infeasible);
    }
  }
}

TEST_CASE("programs prove networks optimal in one part") {
  const options o{.in_place = false};
  for (const char* name : {"randwire:3", "darts-cifar"}) {
    const problem p = make_problem(networks::make(name).value()).value();
    const bytes optimum = schedule(p, fuse{} | ilp<cbc>{}, o).value().lower_bound;
    for (const external_solver& program : programs()) {
      const auto r = schedule(p, fuse{} | ilp<external_solver>{.solver = program}, o).value();
      INFO(program.command[0] << " " << name);
      REQUIRE(r.peak == optimum);
      REQUIRE(r.lower_bound == optimum);
      REQUIRE(r.stats.nodes > 0);  // a program was asked
    }
  }
}

TEST_CASE("a program that is out of time claims nothing") {
  const problem p = make_problem(networks::make("amoebanet-imagenet").value()).value();
  for (const external_solver& program : programs()) {
    const options o{.time_limit = std::chrono::seconds(2), .in_place = false};
    const auto r = schedule(p, fuse{} | ilp<external_solver, time_indexed>{.solver = program, .warm = false}, o).value();
    INFO(program.command[0]);
    REQUIRE(r.lower_bound <= 4741632);  // the optimum
    REQUIRE(r.stopped == stop_reason::time_limit);
  }
}
