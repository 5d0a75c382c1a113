// Limits, counters and the query of one call of `schedule`, as the library's own policies need them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/search/options.hpp>
#include <memsched/search/statistics.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {
class crew;
}

namespace detail {

/// Limits of one attempt within a search, which may be followed by others.
struct trial {
  std::uint64_t step_states = no_limit;                                  ///< states that one step of the attempt may have
  std::chrono::nanoseconds step_time = std::chrono::nanoseconds::max();  ///< likewise, by the clock
};

/// The end of a trial.
enum class trial_end : unsigned char {
  finished,  ///< the trial itself, or a limit of the whole search
  step,      ///< a step met its limit
  memory,    ///< the tables did
};

}  // namespace detail

/// The orders of a graph that are of use, by their peak in bytes.
struct query {
  bytes target = 0;         ///< an order with at most this peak is good enough; this is no proven bound
  bytes cutoff = no_limit;  ///< an order with at least this peak is of no use: a policy that proved that there is none below
                            ///< may stop, and gives this as its bound

  /// With a target of at least `least`.
  query from(bytes least) const { return {std::max(target, least), cutoff}; }
  /// With another cutoff.
  query below(bytes peak) const { return {target, peak}; }
};

class search;

namespace detail {

/// The limits, counters and query of one call of `schedule`, as the library's own policies need them: slices of limits,
/// attempts, branches, and sources of results. Part of a `search`, see `search::control`.
class search_control {
 public:
  using clock = std::chrono::steady_clock;

  statistics stats;

  // See `search`. In a trial, the limits are those of the trial.

  const options& opts() const { return options_; }
  const query& asked() const { return query_; }
  template <class F>
  auto ask(query q, F&& f) {
    return with(query_, q, f);
  }
  bool count_state() {
    if (stopped()) return false;
    if (trial_ && ++step_states_ > trial_->step_states) end_trial(trial_end::step);
    ++stats.states, ++work_;
    if (stats.states >= std::min(options_.state_limit, slice_end_) || work_ >= work_end_) stop_for(stop_reason::state_limit);
    else look_now_and_then(1);
    return !stopped();
  }
  bool keep_going() { return look_at_clock(), !stopped(); }
  bool fits(std::uint64_t table_bytes) {
    stats.memory = std::max(stats.memory, std::min(table_bytes, options_.memory_limit));
    if (table_bytes <= options_.memory_limit) return true;
    if (trial_) end_trial(trial_end::memory);
    else stop_for(stop_reason::memory_limit);
    return false;
  }
  bool stopped() const { return trial_end_ != trial_end::finished || reason_ != stop_reason::finished || answered_; }
  void report(bytes peak, bytes lower_bound) {
    if (!aside_) {
      if (const bytes whole = std::max(peak, rest_); whole < known_.peak) known_.peak = whole, known_.order_by = source_;
      if (lower_bound > known_.lower_bound) known_.lower_bound = lower_bound, known_.bound_by = source_;
    }
    known_.states = stats.states;
    if (known_.peak == no_limit) return;
    if (options_.on_progress) options_.on_progress(known_);
    answered_ = answered_ || answers(options_, known_.peak, known_.lower_bound);
  }

  /// Runs f under the limits of t. Returns its value and its end.
  template <class F>
  auto with_trial(trial t, F&& f) {
    const restored outer(trial_, std::optional(t));
    const restored outer_end(trial_end_, trial_end::finished);
    begin_step();
    auto value = f();
    return std::pair(std::move(value), trial_end_);
  }
  /// Starts a step of the trial: a scheduler with steps calls it before each; one without is a single step.
  void begin_step() {
    if (!trial_) return;
    step_states_ = 0;
    if (trial_->step_time != std::chrono::nanoseconds::max()) step_start_ = clock::now();
  }

  /// Runs f with at most `states` more states. If only that ends f, the search goes on after it.
  template <class F>
  auto with_states(std::uint64_t states, F&& f) {
    return with_slice(states, no_limit, f);
  }

  /// Work so far: a state is 1, and so are 512 nodes and edges that minimum cuts visit, and 8 nodes of a graph that is
  /// compressed. It goes about as the time goes, and repeats itself.
  std::uint64_t work() const { return work_; }
  /// Runs f with at most `work` more work. If only that ends f, the search goes on after it.
  template <class F>
  auto with_work(std::uint64_t work, F&& f) {
    return with_slice(no_limit, work, f);
  }

  /// Runs f with at most this share, from 0 to 1, of the time that is left; all of it if there is no time limit. If
  /// only that ends f, the search goes on after it.
  template <class F>
  auto with_share(double share, F&& f) {
    const slice whole(*this);
    if (deadline_ != clock::time_point::max()) {
      const auto left = std::chrono::duration<double>(deadline_ - clock::now());
      deadline_ = std::min(deadline_, clock::now() + std::chrono::duration_cast<clock::duration>(share * left));
    }
    return f();
  }

  /// The threads of this search, for work that is split in tasks; none if there is one only. The system may have fewer than
  /// were asked for.
  base::crew* team();
  /// Whether the time is over, or the caller said stop: for tasks in any thread, while the search itself waits for them.
  bool over() const {
    return options_.stop.stop_requested() || (deadline_ != clock::time_point::max() && clock::now() >= deadline_);
  }

  /// Work that is left of the slice.
  std::uint64_t work_left() const { return work_end_ - std::min(work_end_, work_); }
  /// States that are left before a limit on them.
  std::uint64_t states_left() const {
    const std::uint64_t end = std::min(options_.state_limit, slice_end_);
    return end - std::min(end, stats.states);
  }

  /// Runs `here` on this context and then, unless that returned true (it decides) or a limit ended it, `there` on a context of
  /// its own, under the limits that are left by then. With two threads they run side by side: if `there` went beyond those
  /// limits it runs again within them, so that the answer is the same. `there` starts afresh at each call. Returns whether
  /// `there` counts.
  bool beside(base::function_ref<bool(search&)> here, base::function_ref<void(search&)> there);

  /// A context for a search beside this one, in another thread or in turns with it: with the same limits and query, stopped by
  /// `stop`, with one thread. It does not report; `absorb` takes over its counts.
  search branch(std::stop_token stop) const;
  /// Adds the counts of a branch since the last call to those of this context.
  void absorb(search_control& branch) {
    const statistics s = std::exchange(branch.stats, {});
    branch.stats.memory = s.memory;
    stats.states += s.states, stats.cuts += s.cuts, stats.parts += s.parts;
    stats.nodes = std::max(stats.nodes, s.nodes), stats.memory = std::max(stats.memory, s.memory);
    stats.rules += s.rules;
    work_ += std::exchange(branch.work_, 0);
    gave_up_ = gave_up_ || branch.gave_up_;
    branch.options_.state_limit -= std::min(branch.options_.state_limit, s.states);
    branch.work_end_ = work_left();
    if (states_left() == 0 || work_ >= work_end_) stop_for(stop_reason::state_limit);
  }

  /// Counts work that is no state. False once a limit is met.
  bool spend(std::uint64_t work) {
    work_ += work;
    if (work_ >= work_end_) stop_for(stop_reason::state_limit);
    look_now_and_then(work);
    return !stopped();
  }
  /// Counts a minimum cut that is about to be solved. False once a limit is met.
  bool count_cut() { return ++stats.cuts, keep_going(); }
  /// Nodes and edges that minimum cuts visit in a unit of work.
  static constexpr std::uint64_t visits_of_a_unit = 512;
  /// Counts the visits of minimum cuts that were solved. Returns false once a limit is hit.
  bool spend_visits(std::uint64_t visits) { return spend(visits / visits_of_a_unit); }
  /// Counts a minimum cut that visits so many nodes and edges as a state of a search with tables of `table_bytes` bytes. Of
  /// a large graph each takes milliseconds.
  bool count_cut_as_state(std::uint64_t table_bytes, std::uint64_t visits) {
    ++stats.cuts, work_ += visits / visits_of_a_unit;
    return count_state() && keep_going() && fits(table_bytes);
  }

  /// Ends the whole search as a memory limit does. Call it when no attempt can fit. A deadline that has passed is the reason
  /// before that.
  void out_of_memory() {
    look_at_clock();
    stop_for(stop_reason::memory_limit);
  }

  /// Notes that the policy leaves a gap open, here or in a part of the graph, which no more effort of its kind would close. The
  /// search goes on.
  void give_up() { gave_up_ = true; }

  /// Whether an order and a bound answer the question of `o` about a budget or a gap.
  static bool answers(const options& o, bytes peak, bytes lower_bound) {
    if (o.budget != no_limit && (peak <= o.budget || lower_bound > o.budget)) return true;
    return o.gap > 0 && static_cast<double>(peak) <= (1 + o.gap) * static_cast<double>(lower_bound);
  }
  /// Whether the reports so far answer the caller's question about a budget or a gap.
  bool answered() const { return answered_; }
  /// The reason why the search ends or ended; `gave_up` if no limit was hit and a gap was left open.
  stop_reason reason() const { return reason_ == stop_reason::finished && gave_up_ ? stop_reason::gave_up : reason_; }
  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }
  /// The time until the deadline, at least 0. Without one, the largest duration.
  std::chrono::nanoseconds time_left() const {
    if (deadline_ == clock::time_point::max()) return std::chrono::nanoseconds::max();
    return std::max<std::chrono::nanoseconds>(deadline_ - clock::now(), std::chrono::nanoseconds(0));
  }

  /// The name of the stage that runs; empty if none is named.
  std::string_view source() const { return source_; }
  /// The best peak and bound reported for the caller's graph.
  const progress& known() const { return known_; }
  /// An order with this peak is good enough, whatever part of the caller's graph is asked about: the best bound that was
  /// reported, or the target. Bytes.
  bytes good_enough() const { return aside_ ? query_.target : std::max(query_.target, known_.lower_bound); }

  /// Runs f on one of several parts that run one after the other, of which the others take `rest`. Bytes.
  template <class F>
  auto with_rest(bytes rest, F&& f) {
    return with(rest_, std::max(rest_, rest), f);
  }

  /// Runs f without reporting its results: it works on another question, so they do not answer the caller's.
  template <class F>
  auto aside(F&& f) {
    return with(aside_, true, f);
  }

 protected:
  explicit search_control(options o) : options_(std::move(o)), start_(clock::now()), deadline_(clock::time_point::max()) {
    if (options_.time_limit < clock::time_point::max() - start_) deadline_ = start_ + options_.time_limit;
  }

 private:
  friend class named_source;

  /// Gives a member another value until the end of the scope, whatever ends that.
  template <class T>
  class restored {
   public:
    restored(T& member, T during) : member_(member), before_(std::exchange(member, std::move(during))) {}
    ~restored() { member_ = std::move(before_); }
    restored(const restored&) = delete;
    restored& operator=(const restored&) = delete;

   private:
    T& member_;
    T before_;
  };
  template <class T, class F>
  static auto with(T& member, T during, F& f) {
    const restored outer(member, std::move(during));
    return f();
  }
  /// Gives back, at the end of the scope, the limits that are made narrower within it. If only those ended the search, it
  /// goes on.
  class slice {
   public:
    explicit slice(search_control& s) : search_(s), states_(s.slice_end_), work_(s.work_end_), deadline_(s.deadline_) {}
    ~slice() {
      search_control& s = search_;
      const bool less_time = s.deadline_ < deadline_;
      s.slice_end_ = states_, s.work_end_ = work_, s.deadline_ = deadline_;
      const bool states_were_over = s.reason_ == stop_reason::state_limit && s.states_left() > 0 && s.work_ < s.work_end_;
      const bool time_was_over = less_time && s.reason_ == stop_reason::time_limit && clock::now() < deadline_;
      if (states_were_over || time_was_over) s.reason_ = stop_reason::finished;
    }
    slice(const slice&) = delete;
    slice& operator=(const slice&) = delete;

   private:
    search_control& search_;
    std::uint64_t states_, work_;
    clock::time_point deadline_;
  };
  template <class F>
  auto with_slice(std::uint64_t states, std::uint64_t work, F&& f) {
    const slice whole(*this);
    slice_end_ = std::min(slice_end_, stats.states + std::min(states, no_limit - stats.states));
    work_end_ = std::min(work_end_, work_ + std::min(work, no_limit - work_));
    return f();
  }
  void stop_for(stop_reason r) {
    if (reason_ == stop_reason::finished) reason_ = r;
  }
  void end_trial(trial_end e) {
    if (trial_end_ == trial_end::finished) trial_end_ = e;
  }
  /// Adds `work`, and looks at the clock each time that `enough` has been done: some tens of microseconds.
  void look_now_and_then(std::uint64_t work) {
    constexpr std::uint64_t enough = 16;
    ticks_ += work;
    if (ticks_ < enough) return;
    ticks_ = 0;
    look_at_clock();
  }
  void look_at_clock() {
    if (options_.stop.stop_requested()) stop_for(stop_reason::cancelled);
    else if (over()) stop_for(stop_reason::time_limit);
    if (trial_ && trial_->step_time != std::chrono::nanoseconds::max() && clock::now() - step_start_ >= trial_->step_time)
      end_trial(trial_end::step);
  }

  options options_;
  clock::time_point start_, deadline_;
  std::shared_ptr<base::crew> crew_;
  unsigned crew_size_ = 0;  // that was asked for
  std::uint64_t slice_end_ = no_limit, work_ = 0, work_end_ = no_limit;
  std::uint64_t ticks_ = 0;
  stop_reason reason_ = stop_reason::finished;
  query query_{};
  bytes rest_ = 0;
  progress known_{.peak = no_limit};
  std::string_view source_{};
  bool aside_ = false, answered_ = false, gave_up_ = false;
  std::optional<trial> trial_;
  trial_end trial_end_ = trial_end::finished;
  std::uint64_t step_states_ = 0;
  clock::time_point step_start_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
