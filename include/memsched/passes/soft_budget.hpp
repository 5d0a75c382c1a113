// Adaptive soft budgeting (SERENITY, section 3.2, Algorithm 2).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Searches for a budget under which the inner scheduler prunes enough to be quick and not so much that no order is left.
/// The hard budget is the peak of Kahn's order. From there on, as printed: `timeout`, where a step of the inner search
/// meets its limit T, halves the budget; `no solution` takes the mean of the last two; `solution` ends the search.
///
/// The printed algorithm neither remembers answers nor ends where no budget is quick enough, so beyond it:
/// * A budget below the proven bound has no solution, and one no smaller than another that timed out times out too: such
///   answers are given without a search. The bound is that of `best_cut_bound` at first, and each `no solution` raises it.
/// * Where that leaves the two budgets equal, the next one is the smallest that is not answered, then others above it by
///   doubling steps, but none above the middle of those that are not: tight budgets are the quick ones. Where all are
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

namespace detail {

/// The budgets of Algorithm 2, and the answers so far.
class budget_search {
 public:
  /// Budgets from `target` to `hard` are open. Peaks above the target are a multiple of `unit` away from `peak`.
  budget_search(bytes target, bytes hard, bytes unit, bytes peak)
      : target_(target), unit_(unit), rest_(peak % unit), bound_(target), hard_(hard) {
    start_at(hard);
  }

  bytes budget() const { return now_; }
  bytes bound() const { return bound_; }
  /// Takes a bound and the peak of an order.
  void learn(bytes bound, bytes peak) {
    if (bound > target_) bound += (unit_ + rest_ - bound % unit_) % unit_;
    bound_ = std::max(bound_, bound);
    hard_ = std::min(hard_, peak);
  }

  /// Takes the answer for `budget()` and goes to the next budget that is not answered. False where all are.
  bool next(statistics::outcome answer) {
    if (answer == statistics::outcome::solution) {
      start_at(hard_ - 1);
    } else {
      if (answer == statistics::outcome::timeout) too_loose_ = std::min(too_loose_, now_);
      advance(answer);
    }
    while (answered() && now_ != before_)
      advance(now_ < bound_ ? statistics::outcome::no_solution : statistics::outcome::timeout);
    if (!answered()) return true;
    const bytes middle = (std::min(too_loose_, hard_) - bound_) / 2;
    start_at(bound_ + std::min(climb_, middle));
    climb_ += std::max(climb_, unit_);
    if (now_ < bound_) start_at(bound_);
    return !answered();
  }

  /// Forgets which budgets timed out.
  void start_again() {
    start_at(std::min(too_loose_, hard_));
    too_loose_ = no_limit;
    climb_ = 0;
  }

 private:
  void start_at(bytes budget) { before_ = now_ = peak_within(budget); }
  /// Lines 9 to 15.
  void advance(statistics::outcome answer) {
    const bytes old = before_;
    before_ = now_;
    now_ = peak_within(answer == statistics::outcome::timeout ? now_ / 2 : now_ / 2 + old / 2 + (now_ % 2 + old % 2) / 2);
  }
  /// The largest possible peak within a budget.
  bytes peak_within(bytes budget) const {
    if (budget <= target_) return budget;
    return std::max(target_, budget < rest_ ? 0 : budget - (budget - rest_) % unit_);
  }
  bool answered() const { return now_ < bound_ || now_ >= too_loose_ || now_ > hard_; }

  bytes target_, unit_, rest_, bound_, hard_, before_ = 0, now_ = 0, too_loose_ = no_limit, climb_ = 0;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution soft_budget::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  solution best{topological_order(g)};
  bytes peak = peak_of(g, best.order);
  best.lower_bound = std::max(context.asked().target, g.base);
  if (use_bounds) {
    const auto go_on = [&] { return context.count_cut(); };
    best.lower_bound = bounds::best_cut_bound(g, best.order, best.lower_bound, go_on).bound;
  }
  const bytes outer = context.asked().cutoff;  // of no use from there on
  if (outer <= best.lower_bound) return best;
  detail::budget_search budgets(best.lower_bound, std::min(peak, outer - 1), bounds::peak_unit(g), peak);
  detail::trial limits{.step_states = step_states, .step_time = step_time};
  while (best.lower_bound < std::min(peak, outer) && !context.stopped()) {
    const bytes budget = budgets.budget();
    statistics::trial log{.budget = budget, .step_states = limits.step_states};
    const std::uint64_t states = context.stats.states;
    const double start = context.seconds();
    auto [found, end] = context.with_trial(limits, [&] {
      return context.ask(context.asked().from(best.lower_bound).below(budget + 1), [&] { return inner(g, context); });
    });
    if (found.error) return std::move(found);
    log.states = context.stats.states - states;
    log.seconds = context.seconds() - start;

    const bytes found_peak = peak_of(g, found.order);
    if (found.lower_bound > budget) log.answer = statistics::outcome::no_solution;
    else if (end != detail::trial_end::finished || context.stopped()) log.answer = statistics::outcome::timeout;
    else if (found_peak <= budget) log.answer = statistics::outcome::solution;
    else return best;  // the inner scheduler has no more to say
    context.stats.trials.push_back(log);

    if (found_peak < peak) peak = found_peak, best.order = std::move(found.order);
    budgets.learn(found.lower_bound, peak);
    best.lower_bound = budgets.bound();
    context.report(peak, best.lower_bound);
    if (budgets.next(log.answer)) continue;
    if (end == detail::trial_end::memory) context.out_of_memory();
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
