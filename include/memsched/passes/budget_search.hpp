// The sequence of budgets of adaptive soft budgeting.
#pragma once

#include <algorithm>

#include <memsched/base/bytes.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/search/options.hpp>
#include <memsched/search/statistics.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

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

  /// Takes the answer for `budget()` and goes to the next budget that is not answered. Returns false if all are.
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
