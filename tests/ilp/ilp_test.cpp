// Integer programs agree with the oracle; limits, starts and text.
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <memsched/ilp/ilp.hpp>
#include <memsched/ilp/milp_text.hpp>
#include <memsched/ilp/solvers/cbc.hpp>
#include <memsched/ilp/solvers/external_solver.hpp>
#include <memsched/ilp/time_indexed.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/fuse.hpp>
#include <memsched/passes/partition.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <memsched/schedulers/rpo.hpp>

#include "networks/networks.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"
#include "support/small_graphs.hpp"

using namespace memsched;
using support::models;

namespace {

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
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed)
    for (const options& o : models()) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 15}), o.model());
      const auto tensors = tensors_of(g);
      search context(o);
      order_walk w(g);
      std::vector<bool> ran(g.active, false);
      for (node_id v : kahn{}(g, context).order) {
        w.fire(v);
        ran[v] = true;
        delta live = 0;
        for (const flowing_tensor& t : tensors) {
          const bool there = t.producer == none || ran[t.producer];
          const bool needed = t.stays || std::any_of(t.readers.begin(), t.readers.end(), [&](node_id u) { return !ran[u]; });
          if (there && needed) live += t.size;
        }
        INFO("seed " << seed);
        REQUIRE(live == w.level());
      }
    }
}

TEST_CASE("an order is a solution of every program, and comes back from it") {
  const auto check = [](const auto& formulate, const schedule_graph& g, const std::vector<node_id>& order) {
    const bytes peak = peak_of(g, order);
    const auto program = *formulate(g, peak_range{g.base, peak}, no_limit);
    const std::vector<double> x = program.solution_of(order);
    REQUIRE(violation(program.model, x) < 1e-9);
    REQUIRE(peak_of(g, program.order_of(x)) == peak);
  };
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed)
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

namespace {

/// Cbc, and how often it was asked and how often it found nothing.
struct counting_cbc {
  struct counts {
    std::size_t asked = 0, infeasible = 0;
  };
  counts* seen;
  milp_answer operator()(const milp_model& m, const milp_request& r) const {
    const milp_answer a = cbc{}(m, r);
    ++seen->asked;
    seen->infeasible += a.status == milp_status::infeasible;
    return a;
  }
};

template <class Policy>
void require_optimal(const problem& p, const Policy& policy, const options& o, bytes optimum) {
  const auto r = schedule(p, policy, o).value();
  REQUIRE(r.peak == optimum);
  REQUIRE(r.lower_bound == optimum);
}

}  // namespace

TEST_CASE("Cbc finds the optimum with both programs") {
  for (std::uint64_t seed = 0; seed < support::seeds(25); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 8});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      INFO("seed " << seed);
      require_optimal(p, ilp<cbc>{.probing = false}, o, optimum);
      require_optimal(p, ilp<cbc>{.warm = false}, o, optimum);
      if (seed >= support::seeds(6)) continue;
      const problem q = support::random_problem(seed, {.operators = 6});
      const bytes other = schedule(q, exhaustive{}, o).peak;
      require_optimal(q, ilp<cbc, time_indexed>{.probing = false}, o, other);
      require_optimal(q, ilp<cbc, time_indexed>{.warm = false}, o, other);
      require_optimal(q, fuse{} | ilp<cbc, time_indexed>{.formulate = {.pruning = false}, .warm = false}, o, other);
    }
}

TEST_CASE("climbing from the bound of probing finds the optimum, in one step or in several") {
  counting_cbc::counts seen;
  for (std::uint64_t seed = 0; seed < support::seeds(120); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 12});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      INFO("seed " << seed);
      require_optimal(p, ilp<counting_cbc>{.solver = {&seen}}, o, optimum);
      require_optimal(p, compress{} | fuse{} | ilp<counting_cbc>{.solver = {&seen}}, o, optimum);
      if (seed < 5) require_optimal(p, fuse{} | ilp<counting_cbc, time_indexed>{.solver = {&seen}}, o, optimum);
    }
  REQUIRE(seen.asked > support::seeds(100));
  REQUIRE(seen.infeasible > 0);
}

TEST_CASE("a program has no more rows than it may have") {
  for (std::uint64_t seed = 0; seed < support::seeds(100); ++seed)
    for (const options& o : models()) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 15}), o.model());
      const peak_range range{g.base, peak_of(g, structure::post_order(g))};
      const auto check = [&](const auto& formulate) {
        const std::size_t rows = formulate(g, range, no_limit)->model.rows.size();
        INFO("seed " << seed);
        if (rows > 0) REQUIRE(!formulate(g, range, rows - 1));
      };
      check(nested_sets{});
      check(time_indexed{});
    }
}

TEST_CASE("the composition of the paper, in parts") {
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 9});
    const bytes optimum = schedule(p, exhaustive{}).peak;
    INFO("seed " << seed);
    REQUIRE(schedule(p, fuse{} | partition{{.parts = 1}} | ilp<cbc>{}).value().lower_bound == optimum);
    const auto r = schedule(p, fuse{} | partition{{.parts = 3}} | ilp<cbc>{}).value();
    REQUIRE(r.lower_bound <= optimum);
    REQUIRE(r.peak >= optimum);
  }
}

TEST_CASE("the networks of the paper are proven optimal in one part") {
  const auto check_network = [](const char* name, const auto& policy, bytes optimum) {
    INFO(name);
    require_optimal(make_problem(networks::make(name).value()).value(), policy, {.in_place = false}, optimum);
  };
  const auto in_one_part = fuse{} | partition{{.parts = 1}} | ilp<cbc>{};
  check_network("hrnet-w18-small-v1", in_one_part, 6520832);
  check_network("hrnet-w18-small-v2", in_one_part, 6549504);
  check_network("hrnet-w32", in_one_part, 6750208);
  check_network("nasnet-imagenet", in_one_part, 4365312);
  check_network("darts-imagenet", in_one_part, 3842176);
  check_network("amoebanet-imagenet", compress{} | in_one_part, 4741632);
}

TEST_CASE("pruning removes variables and keeps the optimum") {
  const problem p = support::random_problem(7, {.operators = 8});
  const schedule_graph g = make_schedule_graph(p);
  const peak_range range{g.base, peak_of(g, structure::post_order(g))};
  const auto all = *time_indexed{.pruning = false}(g, range, no_limit), pruned = *time_indexed{}(g, range, no_limit);
  REQUIRE(all.model.variables() > 8 * 8);
  REQUIRE(pruned.model.variables() < all.model.variables());
  REQUIRE(pruned.model.rows.size() < all.model.rows.size());
  REQUIRE(std::abs(cbc{}(all.model, {}).bound - cbc{}(pruned.model, {}).bound) < 1e-6);
}

namespace {

/// Two operators in a chain, and one beside them.
problem tiny() {
  problem_builder b;
  const tensor_id x = b.tensor(4), y = b.tensor(2), z = b.tensor(6);
  b.op({.writes = {x}});
  b.op({.reads = {x}, .writes = {y}});
  b.op({.writes = {z}});
  b.output(y);
  b.output(z);
  return b.build().value();
}

const char* tiny_lp = R"(Minimize
 obj: + mem
Subject To
 during0: + 3 y2_0 - mem <= -2
 during1: + 3 y2_1 - mem <= -3
 c1_0_2: - y0_2 + y1_2 <= 0
 during2: + 2 y0_2 - y1_2 - mem <= -3
 n2_0_1: + y2_0 - y2_1 <= 0
 o0_2: + y2_0 + y0_2 = 1
 o1_2: + y2_1 + y1_2 = 1
 n1_2_0: + y2_0 + y1_2 <= 1
Bounds
 3 <= mem <= 6
Binaries
 y2_0
 y2_1
 y0_2
 y1_2
End
)";
const char* tiny_mps = R"(NAME memsched FREE
ROWS
 N obj
 L during0
 L during1
 L c1_0_2
 L during2
 L n2_0_1
 E o0_2
 E o1_2
 L n1_2_0
COLUMNS
 MARKER0 'MARKER' 'INTORG'
 y2_0 during0 3
 y2_0 n2_0_1 1
 y2_0 o0_2 1
 y2_0 n1_2_0 1
 y2_1 during1 3
 y2_1 n2_0_1 -1
 y2_1 o1_2 1
 y0_2 c1_0_2 -1
 y0_2 during2 2
 y0_2 o0_2 1
 y1_2 c1_0_2 1
 y1_2 during2 -1
 y1_2 o1_2 1
 y1_2 n1_2_0 1
 MARKER1 'MARKER' 'INTEND'
 mem obj 1
 mem during0 -1
 mem during1 -1
 mem during2 -1
RHS
 RHS during0 -2
 RHS during1 -3
 RHS during2 -3
 RHS o0_2 1
 RHS o1_2 1
 RHS n1_2_0 1
BOUNDS
 UP BND y2_0 1
 UP BND y2_1 1
 UP BND y0_2 1
 UP BND y1_2 1
 LO BND mem 3
 UP BND mem 6
ENDATA
)";

}  // namespace

TEST_CASE("the text of a tiny model") {
  const schedule_graph g = make_schedule_graph(tiny());
  const auto program = *nested_sets{}(g, {6, 12}, no_limit);
  REQUIRE(program.unit == 2);
  REQUIRE(to_lp(program.model) == tiny_lp);
  REQUIRE(to_mps(program.model) == tiny_mps);
}

TEST_CASE("Cbc reads its start, keeps its cut-off, its limits and its silence") {
  const schedule_graph g = make_schedule_graph(support::random_problem(3, {.operators = 10}));
  search context{options{}};
  const bytes optimum = exhaustive{}(g, context).lower_bound;
  const std::vector<node_id> order = exhaustive{}(g, context).order;
  const auto program = *nested_sets{}(g, {g.base, peak_of(g, kahn{}(g, context).order)}, no_limit);
  const double best = static_cast<double>(optimum / program.unit);

  const milp_answer free = cbc{}(program.model, {});
  REQUIRE(free.status == milp_status::optimal);
  REQUIRE(std::abs(free.bound - best) < 1e-6);
  REQUIRE(violation(program.model, free.x) < 1e-5);

  const milp_answer started = cbc{}(program.model, {.start = program.solution_of(order), .cutoff = best});
  REQUIRE(started.status == milp_status::optimal);
  REQUIRE(peak_of(g, program.order_of(started.x)) == optimum);

  REQUIRE(cbc{}(program.model, {.cutoff = best - 1}).status == milp_status::infeasible);

  const milp_answer late = cbc{}(program.model, {.start = program.solution_of(order), .seconds = 0});
  REQUIRE(late.status == milp_status::limit);
  REQUIRE(peak_of(g, program.order_of(late.x)) == optimum);
  std::stop_source source;
  source.request_stop();
  const milp_answer stopped = cbc{}(program.model, {.start = program.solution_of(order), .stop = source.get_token()});
  REQUIRE(stopped.status == milp_status::limit);
  REQUIRE(stopped.nodes == 0);
  REQUIRE(peak_of(g, program.order_of(stopped.x)) == optimum);
}

TEST_CASE("limits give the incumbent and an honest bound") {
  const problem p = make_problem(networks::make("windowed:60:12").value()).value();
  const bytes heuristic = schedule(p, best_heuristic{}).peak;
  const auto at_once = schedule(p, ilp<cbc>{.probing = false}, {.time_limit = std::chrono::nanoseconds(0)}).value();
  REQUIRE(at_once.peak <= heuristic);
  REQUIRE(at_once.stopped == stop_reason::time_limit);
  REQUIRE(at_once.lower_bound < at_once.peak);
  const auto too_large = schedule(p, ilp<cbc>{.probing = false, .most_rows = 10}).value();
  REQUIRE(too_large.peak <= heuristic);
  REQUIRE(too_large.stopped == stop_reason::gave_up);
  std::stop_source source;
  source.request_stop();
  REQUIRE(schedule(p, ilp<cbc>{.probing = false}, {.stop = source.get_token()}).value().stopped == stop_reason::cancelled);
}

TEST_CASE("a relaxation that takes longer than there is time for is ended and proves nothing") {
  const problem p = make_problem(networks::make("amoebanet-imagenet").value()).value();
  const options o{.time_limit = std::chrono::milliseconds(500), .in_place = false};
  const auto r = schedule(p, fuse{} | partition{{.parts = 4}} | ilp<cbc>{.warm = false}, o).value();
  REQUIRE(r.lower_bound <= 4741632);  // the optimum
  REQUIRE(r.stopped == stop_reason::time_limit);
}

TEST_CASE("a solver that is missing or fails is an error") {
  const problem p = make_problem(networks::make("randwire").value()).value();
  const auto message = [&](std::vector<std::string> command) {
    const auto r =
        schedule(p, partition{{.parts = 6}} | ilp<external_solver>{.solver = {std::move(command)}, .warm = false});
    REQUIRE(r.error);
    REQUIRE(r.error->code == error_code::solver_failed);
    return r.error->message;
  };
  REQUIRE(message({}).find("no command was given") != std::string::npos);
  REQUIRE(message({"no-such-solver-here", "{model}"}).find("cannot run 'no-such-solver-here'") != std::string::npos);
  REQUIRE(message({"false"}).find("'false' ended with status 1") != std::string::npos);
  REQUIRE(message({"true"}).find("'true' wrote no solution file") != std::string::npos);
  REQUIRE(message({"sh", "-c", "kill -9 $$"}).find("was ended by signal 9") != std::string::npos);
}

TEST_CASE("solution files of other solvers") {
  milp_builder b;
  b.column("x", 0, 1, true);
  b.column("mem", 0, 9, false, 1);
  const milp_model m = std::move(b).build();
  using form = external_solver::form;
  const auto read = [&](const char* text, form f) { return detail::read_solution(text, m, f); };
  const auto require_optimal = [](const milp_answer& a) {
    REQUIRE(a.status == milp_status::optimal);
    REQUIRE(a.x == std::vector<double>{1, 3});
    REQUIRE(a.bound == 3);
  };
  require_optimal(read("Model status\nOptimal\n\n# Primal solution values\nFeasible\nObjective 3\n# Columns 2\nx 1\nmem 3\n",
                       form::names));
  require_optimal(
      read("solution status: optimal solution found\nobjective value: 3\nx 1 \t(obj:0)\nmem 3 \t(obj:1)\n", form::names));
  require_optimal(read("c Status: INTEGER OPTIMAL\ns mip 1 2 o 3\ni 1 3\nj 1 1\nj 2 3\ne o f\n", form::numbers));
  require_optimal(read("c Status: OPTIMAL\ns bas 1 2 f f 3\ni 1 l 3 1\nj 1 l 1 0\nj 2 b 3 0\ne o f\n", form::numbers));
  require_optimal(read("Optimal - objective value 3.00000000\n      0 x 1 0\n      1 mem 3 1\n", form::table));
  // Gurobi's file says nothing of its status.
  REQUIRE(read("# Objective value = 3\nx 1\nmem 3\n", form::names).status == milp_status::limit);
  // HiGHS also says of a solution whether it is feasible, which proves nothing.
  REQUIRE(read("Model status\nTime limit reached\n\n# Primal solution values\nInfeasible\nx 1\n", form::names).status ==
          milp_status::limit);
  REQUIRE(read("Model status\nInfeasible\n", form::names).status == milp_status::infeasible);
  REQUIRE(read("s mip 1 2 n 0\n", form::numbers).status == milp_status::infeasible);
  const milp_answer nothing = read("", form::names);
  REQUIRE(nothing.status == milp_status::limit);
  REQUIRE(nothing.x.empty());
  REQUIRE(read("j 99999999999 1\nx nan\n", form::numbers).x.empty());
}

TEST_CASE("a program that solves with files is as good as any") {
  // Stands in for a solver: it copies a solution that was prepared to where it is asked for.
  const schedule_graph g = make_schedule_graph(tiny());
  const auto program = *nested_sets{}(g, {6, 12}, no_limit);
  const auto x = program.solution_of({0, 1, 2});
  std::string text = "Model status\nOptimal\n";
  for (std::size_t c = 0; c < x.size(); ++c) text += program.model.columns[c] + " " + detail::number(x[c]) + "\n";
  const external_solver stand_in{{"sh", "-c", "test -s {model} && printf '%s' \"$0\" > {solution}", text}};
  const milp_answer a = stand_in(program.model, {});
  INFO(a.message);
  REQUIRE(a.status == milp_status::optimal);
  REQUIRE(a.x == x);
  REQUIRE(a.bound == 4);
}
