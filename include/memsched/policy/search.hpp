// What schedulers and passes share during one call: limits, counts, and the peak that is good enough.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <tuple>
#include <utility>

#include <memsched/policy/options.hpp>

namespace memsched {

/// The context of one call of `schedule`. Not thread-safe.
class search {
 public:
  using clock = std::chrono::steady_clock;

  explicit search(const options& o) : options_(&o), start_(clock::now()), deadline_(clock::time_point::max()) {
    if (o.time_limit < clock::time_point::max() - start_) deadline_ = start_ + o.time_limit;
  }

  const options& opts() const { return *options_; }
  statistics stats;

  /// No order is better than this, as far as anybody knows: who reaches it may stop. Bytes.
  bytes floor() const { return floor_; }

  /// Runs f with the floor raised to `floor`.
  template <class F>
  auto with_floor(bytes floor, F&& f) {
    const bytes before = std::exchange(floor_, std::max(floor_, floor));
    auto value = f();
    floor_ = before;
    return value;
  }

  /// An order with this peak is known elsewhere: only a better one is of use. A scheduler may stop when it has proved
  /// that there is none, and then says so with this as its bound. `no_limit` where nothing is known.
  bytes ceiling() const { return ceiling_; }

  /// Runs f with this floor and this ceiling instead: for a pass that asks about another graph.
  template <class F>
  auto with_bounds(bytes floor, bytes ceiling, F&& f) {
    const auto before = std::pair(std::exchange(floor_, floor), std::exchange(ceiling_, ceiling));
    auto value = f();
    std::tie(floor_, ceiling_) = before;
    return value;
  }

  /// Counts a state. False once a limit is met; from then on always.
  bool count_state() {
    ++stats.states;
    if (stats.states >= options_->state_limit) stop_for(stop_reason::state_limit);
    else if ((++ticks_ & 255) == 0) look_at_clock();
    return !stopped();
  }
  /// Work that is no state but takes time; looks at the clock. False once a limit is met.
  bool keep_going() { return look_at_clock(), !stopped(); }

  /// Reports the bytes that a search's tables hold. False where that is more than the limit.
  bool fits(std::uint64_t table_bytes) {
    if (table_bytes <= options_->memory_limit) return true;
    stop_for(stop_reason::state_limit);
    return false;
  }

  bool stopped() const { return reason_ != stop_reason::finished; }
  stop_reason reason() const { return reason_; }
  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }
  double seconds_left() const { return std::chrono::duration<double>(deadline_ - clock::now()).count(); }

  void report(bytes peak, bytes lower_bound) const {
    if (options_->on_progress) options_->on_progress({peak, lower_bound, stats.states});
  }

 private:
  void stop_for(stop_reason r) {
    if (reason_ == stop_reason::finished) reason_ = r;
  }
  void look_at_clock() {
    if (options_->stop.stop_requested()) stop_for(stop_reason::cancelled);
    if (deadline_ != clock::time_point::max() && clock::now() >= deadline_) stop_for(stop_reason::time_limit);
  }

  const options* options_;
  clock::time_point start_, deadline_;
  std::uint64_t ticks_ = 0;
  stop_reason reason_ = stop_reason::finished;
  bytes floor_ = 0, ceiling_ = no_limit;
};

}  // namespace memsched
