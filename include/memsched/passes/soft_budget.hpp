// Adaptive soft budgeting (SERENITY, section 3.2, Algorithm 2).
#pragma once

#include <chrono>
#include <cstdint>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Searches for a budget under which the inner scheduler prunes enough to be quick and yet leaves an order.
/// The hard budget is the peak of Kahn's order. From there on, as printed: `timeout`, when a step of the inner search
/// meets its limit T, halves the budget; `no solution` takes the mean of the last two; `solution` ends the search.
///
/// The printed algorithm neither remembers answers nor ends if no budget is quick enough, so beyond it:
/// * A budget below the proven bound has no solution, and one no smaller than another that timed out times out too: such
///   answers are given without a search. The bound is that of `best_cut_bound` at first, and each `no solution` raises it.
/// * If that leaves the two budgets equal, the next one is the smallest that is not answered, then others above it by
///   doubling steps, but none above the middle of those that are not: tight budgets are the quick ones. If all are
///   answered, T is four times as large, and the search starts again at the smallest that timed out.
/// * A budget counts as the largest possible peak within it: peaks differ by multiples of the divisor of all sizes.
/// * A solution whose peak is above the bound is a new hard budget: the search goes on until the bound meets it. `dp`
///   answers with the optimum at once.
///
/// T in states makes the search deterministic; T by the clock is the paper's. Needs a scheduler that heeds the context's
/// cutoff and counts its states.
struct soft_budget {
  std::uint64_t step_states = std::uint64_t{1} << 14;
  std::chrono::nanoseconds step_time = std::chrono::nanoseconds::max();
  bool use_bounds = true;  ///< whether to start from minimum cuts, or from nothing

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/passes/budget_search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution soft_budget::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  solution best{g.topological_order()};
  bytes peak = peak_of(g, best.order);
  best.lower_bound = std::max(context.asked().target, g.base);
  if (use_bounds) {
    const auto go_on = [&] { return context.control().count_cut(); };
    best.lower_bound = bounds::best_cut_bound(g, best.order, best.lower_bound, go_on).bound;
  }
  const bytes outer = context.asked().cutoff;  // of no use from there on
  if (outer <= best.lower_bound) return best;
  detail::budget_search budgets(best.lower_bound, std::min(peak, outer - 1), bounds::peak_unit(g), peak);
  detail::trial limits{.step_states = step_states, .step_time = step_time};
  while (best.lower_bound < std::min(peak, outer) && !context.stopped()) {
    const bytes budget = budgets.budget();
    statistics::trial log{.budget = budget, .step_states = limits.step_states};
    const std::uint64_t states = context.control().stats.states;
    const double start = context.control().seconds();
    auto [found, end] = context.control().with_trial(limits, [&] {
      return context.ask(context.asked().from(best.lower_bound).below(budget + 1), [&] { return inner(g, context); });
    });
    if (found.error) return std::move(found);
    log.states = context.control().stats.states - states;
    log.seconds = context.control().seconds() - start;

    const bytes found_peak = peak_of(g, found.order);
    if (found.lower_bound > budget) log.answer = statistics::outcome::no_solution;
    else if (end != detail::trial_end::finished || context.stopped()) log.answer = statistics::outcome::timeout;
    else if (found_peak <= budget) log.answer = statistics::outcome::solution;
    else return best;  // the inner scheduler has no more to say
    context.control().stats.trials.push_back(log);

    if (found_peak < peak) peak = found_peak, best.order = std::move(found.order);
    budgets.learn(found.lower_bound, peak);
    best.lower_bound = budgets.bound();
    context.report(peak, best.lower_bound);
    if (budgets.next(log.answer)) continue;
    if (end == detail::trial_end::memory) context.control().out_of_memory();
    limits.step_states = limits.step_states <= no_limit / 4 ? 4 * limits.step_states : no_limit;
    limits.step_time = limits.step_time <= limits.step_time.max() / 4 ? 4 * limits.step_time : limits.step_time.max();
    budgets.start_again();
  }
  best.lower_bound = std::min(best.lower_bound, peak);
  return best;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
