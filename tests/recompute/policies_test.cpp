// Laws that every rerun policy keeps, and how the front door treats policies of others.
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/measure/evaluate_executions.hpp>
#include <memsched/proof/check_recompute.hpp>
#include <memsched/recompute.hpp>
#include <memsched/recompute/exact.hpp>
#include <memsched/schedulers/dp.hpp>

#include "../support/seeds.hpp"
#include "priced.hpp"

using namespace recompute_test;
using namespace memsched::reruns::composition;

namespace {

/// The list of all policies; a new one is under the laws at once.
const auto all_policies = std::tuple{
    reruns::automatic,
    reruns::exact{},
    reruns::repair{},
    reruns::cover{},
    reruns::order_first{},
    reruns::order_first{dp{}} | reruns::repair{},
    reruns::repair{} | reruns::improve{},
    reruns::repair_by_prices{} | reruns::improve{},
    reruns::cover{} | reruns::cover_with_needs{},
    reruns::repair{} | reruns::cover{} | reruns::cover_with_needs{} | reruns::improve{},
    reruns::weights{} | reruns::repair{},
};

template <class F>
void for_each_policy(const F& f) {
  std::apply([&](const auto&... policy) { (f(policy), ...); }, all_policies);
}

/// Answers with executions that it was given.
struct answers_with {
  ids executions;
  void operator()(rerun_incumbent& best, search&) const { best.offer(executions); }
};
/// Claims a lower bound.
struct claims {
  std::uint64_t bound;
  static constexpr std::string_view name = "claims";
  void operator()(rerun_incumbent& best, search&) const { best.raise(bound); }
};
struct refutes {
  void operator()(rerun_incumbent& best, search&) const { best.refute(); }
};

/// A problem, and a budget at which the least extra cost is above 0, with executions of that cost.
struct costly {
  problem graph;
  bytes budget;
  ids executions;
  std::uint64_t extra_cost;
};
costly a_costly_problem() {
  for (std::uint64_t seed = 0;; ++seed) {
    problem p = trained(seed, 3);
    for (const bytes budget : budgets(p)) {
      search context{options{}};
      const exact_executions e = cheapest_executions(execution_table(p), {}, budget, {}, context);
      if (e.found && e.extra_cost > 0) return {std::move(p), budget, e.executions, e.extra_cost};
    }
  }
}

options with_budget(bytes budget) {
  options o;
  o.budget = budget;
  return o;
}

}  // namespace

TEST_CASE("law: every rerun policy answers with a schedule and a bound that hold, and is the same each time") {
  std::size_t cost_something = 0, bounded = 0, refuted = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(15); ++seed) {
    const problem p = seed % 2 == 0 ? priced(seed, 6) : trained(seed, 2);
    for (const offload& moves : kinds_of_moves) {
      const execution_table table(p, moves);
      for (const bool keep : {false, true}) {
        for (const bytes budget : {budgets(p, moves).front(), budgets(p)[budgets(p).size() / 2]}) {
          search context{options{}};
          const ids given = own_order(p);
          const exact_executions least = cheapest_executions(
              table, {}, budget, keep ? std::span<const op_id>(given) : std::span<const op_id>(), context);
          REQUIRE(least.complete);
          const auto covered = keep ? recompute(p, keep_order{given}, reruns::cover{}, with_budget(budget), moves)
                                    : recompute(p, reruns::cover{}, with_budget(budget), moves);
          for_each_policy([&](const auto& policy) {
            const auto solve = [&] {
              return keep ? recompute(p, keep_order{given}, policy, with_budget(budget), moves)
                          : recompute(p, policy, with_budget(budget), moves);
            };
            const auto r = solve(), again = solve();
            REQUIRE(r);
            REQUIRE(r.executions == again.executions);
            REQUIRE(r.lower_bound == again.lower_bound);
            const auto played = evaluate_executions(p, r.executions, {}, r.loads, moves).value();
            REQUIRE(played.peak == r.peak);
            REQUIRE(played.extra_cost == r.extra_cost);
            REQUIRE(!r.found_by.empty());
            if (r.fits()) REQUIRE((least.found && r.extra_cost >= least.extra_cost));
            if (r.refuted) REQUIRE(!least.found);
            if (r.refuted && covered.refuted) REQUIRE(!r.proof.cases.empty());  // no later policy takes the proof away
            if (least.found) REQUIRE(r.lower_bound <= least.extra_cost);
            REQUIRE((r.lower_bound > 0 || r.refuted) == !r.bound_by.empty());
            if (!r.proof.cases.empty()) REQUIRE(check_recompute(p, {}, budget, r.proof, moves).empty());
            cost_something += r.fits() && r.extra_cost > 0;
            bounded += r.lower_bound > 0;
            refuted += r.refuted && covered.refuted;
          });
        }
      }
    }
  }
  REQUIRE(cost_something > 0);
  REQUIRE(bounded > 0);
  REQUIRE(refuted > 0);
}

TEST_CASE("law: a policy after others is no worse than these") {
  for (std::uint64_t seed = 0; seed < support::seeds(40); ++seed) {
    const problem p = trained(seed, 4);
    for (const bytes budget : budgets(p)) {
      const auto repaired = recompute(p, reruns::repair{}, with_budget(budget));
      const auto improved = recompute(p, reruns::repair{} | reruns::improve{}, with_budget(budget));
      REQUIRE(improved.fits() == repaired.fits());
      if (repaired.fits()) REQUIRE(improved.extra_cost <= repaired.extra_cost);
      const auto covered = recompute(p, reruns::cover{}, with_budget(budget));
      const auto with_needs = recompute(p, reruns::cover{} | reruns::cover_with_needs{}, with_budget(budget));
      REQUIRE(with_needs.lower_bound >= covered.lower_bound);
    }
  }
}

TEST_CASE("results name the policies that found them") {
  const costly c = a_costly_problem();
  const auto exact = recompute(c.graph, reruns::exact{}, with_budget(c.budget));
  REQUIRE(exact.verdict() == verdict::optimal);
  REQUIRE(exact.found_by == "exact");
  const auto given = recompute(c.graph, reruns::cover{}, with_budget(c.budget));
  REQUIRE(given.found_by == "given");
  REQUIRE(given.bound_by == "cover");
  const auto theirs = recompute(c.graph, answers_with{c.executions}, with_budget(c.budget));
  REQUIRE(theirs.found_by.find("answers_with") != std::string_view::npos);
  REQUIRE(theirs.extra_cost == c.extra_cost);
}

TEST_CASE("law: reports fall in cost and rise in bound, and the last one is the answer") {
  std::size_t several = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(20); ++seed) {
    const problem p = trained(seed, 6);
    for (const bytes budget : budgets(p)) {
      options o = with_budget(budget);
      std::vector<progress::costs> told;
      o.on_progress = [&](const progress& now) { told.push_back(now.cost.value()); };
      const auto r = recompute(p, o);
      for (std::size_t i = 1; i < told.size(); ++i) {
        REQUIRE(told[i].extra_cost <= told[i - 1].extra_cost);
        REQUIRE(told[i].lower_bound >= told[i - 1].lower_bound);
      }
      REQUIRE(!told.empty());
      REQUIRE(told.back().lower_bound == r.lower_bound);
      REQUIRE(told.back().extra_cost == (r.fits() ? r.extra_cost : no_limit));
      several += told.size() > 2;
    }
  }
  REQUIRE(several > 0);
}

TEST_CASE("executions of others are improved as the library's own") {
  const costly c = a_costly_problem();
  ids wasteful;  // runs an operator twice where it may, between first runs
  std::vector<bool> ran(c.graph.ops().size(), false);
  for (std::size_t i = 0; i < c.executions.size(); ++i) {
    const op_id e = c.executions[i];
    const bool last = i + 1 == c.executions.size();
    wasteful.push_back(e);
    if (!ran[e] && c.graph.pure(e) && !last && !ran[c.executions[i + 1]]) wasteful.push_back(e);
    ran[e] = true;
  }
  const auto start = recompute(c.graph, answers_with{wasteful}, with_budget(c.budget));
  const auto improved = recompute(c.graph, answers_with{wasteful} | reruns::improve{}, with_budget(c.budget));
  REQUIRE(start.fits());
  REQUIRE(improved.extra_cost < start.extra_cost);
}

TEST_CASE("a policy that answers with no schedule, or claims too much, is an error that names it") {
  const costly c = a_costly_problem();
  const auto fails_with = [&](const auto& policy, std::string_view words, bool keep = false) {
    const auto r = keep ? recompute(c.graph, keep_order{own_order(c.graph)}, policy, with_budget(c.budget))
                        : recompute(c.graph, policy, with_budget(c.budget));
    REQUIRE(!r);
    REQUIRE(r.error->code == error_code::bad_policy);
    REQUIRE(r.error->message.find(words) != std::string::npos);
    REQUIRE(r.executions.empty());
  };
  ids short_of_one = c.executions;
  short_of_one.pop_back();
  fails_with(answers_with{short_of_one}, "answers_with");
  fails_with(answers_with{{0, 1, 1'000'000}}, "answers_with");
  fails_with(answers_with{c.executions} | claims{c.extra_cost + 1}, "claims");
  fails_with(claims{c.extra_cost + 1} | answers_with{c.executions}, "claims");
  fails_with(answers_with{c.executions} | refutes{}, "refutes");
  REQUIRE(recompute(c.graph, answers_with{c.executions} | claims{c.extra_cost}, with_budget(c.budget)).verdict() ==
          verdict::optimal);
}
