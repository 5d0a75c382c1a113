// Laws of recomputation by integer programming.
#include <memsched/ilp/reruns.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/ilp/solvers/cbc.hpp>
#include <memsched/measure/evaluate_executions.hpp>
#include <memsched/recompute.hpp>
#include <memsched/recompute/exact.hpp>

#include "../recompute/priced.hpp"
#include "../support/seeds.hpp"

using namespace recompute_test;
using namespace memsched::reruns::composition;

namespace {

/// Answers as it is told to.
struct answers {
  milp_answer answer;
  milp_answer operator()(const milp_model&, const milp_request&) const { return answer; }
};

options with_budget(bytes budget) {
  options o;
  o.budget = budget;
  return o;
}

}  // namespace

TEST_CASE(
    "law: the integer program of a kept order or of a path bounds the least extra cost, as well as the gap cover does") {
  std::size_t tight = 0, stronger = 0, loads = 0, refuted = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(60); ++seed) {
    const problem p = seed % 2 == 0 ? priced(seed, 6) : trained(seed, 2);
    const ids given = own_order(p);
    for (const offload& moves : kinds_of_moves) {
      const std::vector<bytes> list = budgets(p, moves);
      for (const bytes budget : {list.front(), list[list.size() / 4], list[list.size() / 2]})
        for (const bool keep : {false, true})
          for (const memory_model& model : {memory_model{}, memory_model{.default_firing = firing::cbp}}) {
            CAPTURE(seed, budget, keep, moves.read);
            options o = with_budget(budget);
            o.default_firing = model.default_firing;
            const auto solve = [&](const auto& policy) {
              return keep ? recompute(p, keep_order{given}, policy, o, moves) : recompute(p, policy, o, moves);
            };
            search context{options{}};
            const execution_table table(p, moves);
            const exact_executions least = cheapest_executions(
                table, model, budget, keep ? std::span<const op_id>(given) : std::span<const op_id>(), context);
            REQUIRE(least.complete);
            const auto covered = solve(reruns::cover{});
            for (const auto& r : {solve(reruns::ilp<cbc>{}), solve(reruns::repair{} | reruns::ilp<cbc>{})}) {
              INFO((r.error ? r.error->message : ""));
              REQUIRE(r);
              if (r.refuted) REQUIRE(!least.found);
              if (least.found) REQUIRE(r.lower_bound <= least.extra_cost);
              REQUIRE((covered.refuted ? r.refuted : r.refuted || r.lower_bound >= covered.lower_bound));
              if (r.fits()) REQUIRE((least.found && r.extra_cost >= least.extra_cost));
              refuted += r.refuted && !covered.refuted;
              if (!least.found) continue;
              tight += r.lower_bound == least.extra_cost && least.extra_cost > 0;
              stronger += r.lower_bound > covered.lower_bound;
              loads += r.found_by == reruns::ilp<cbc>::name && !r.loads.empty();
            }
          }
    }
  }
  INFO(tight << " tight, " << stronger << " stronger, " << loads << " with loads, " << refuted << " refuted");
  CHECK(tight > 15 * support::seeds(60));
  CHECK(stronger > 5 * support::seeds(60));
  CHECK(loads > support::seeds(60));
  CHECK(refuted > 0);
}

TEST_CASE("a solver's failure is an error, and an answer without a bound is no claim") {
  const problem p = trained(1, 3);
  const options o = with_budget(budgets(p)[budgets(p).size() / 4]);
  const auto failed = recompute(p, reruns::ilp{answers{{.message = "no licence"}}}, o);
  REQUIRE(failed.error);
  CHECK(failed.error->code == error_code::solver_failed);
  CHECK(failed.error->message == "the solver gave no answer: no licence");

  const auto covered = recompute(p, reruns::cover{}, o);
  const auto stopped = recompute(p, reruns::ilp{answers{{.status = milp_status::limit}}}, o);
  REQUIRE(stopped);
  CHECK(stopped.lower_bound == covered.lower_bound);
  const auto small = recompute(p, reruns::ilp<answers>{{}, 3}, o);  // more rows than it may have
  REQUIRE(small);
  CHECK(small.stopped == stop_reason::gave_up);
}
