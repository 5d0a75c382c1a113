// What schedulers and passes share during one call: limits, counts, and the peak that is good enough.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include <memsched/base/crew.hpp>
#include <memsched/search/options.hpp>
#include <memsched/search/statistics.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Limits of one attempt within a search, which may be followed by others.
struct trial {
  std::uint64_t step_states = no_limit;                                  ///< states that one step of the attempt may have
  std::chrono::nanoseconds step_time = std::chrono::nanoseconds::max();  ///< likewise, by the clock
};

/// What ended a trial.
enum class trial_end : unsigned char {
  finished,  ///< the trial itself, or a limit of the whole search
  step,      ///< a step met its limit
  memory,    ///< the tables did
};

/// The context of one call of `schedule`. Not thread-safe.
class search {
 public:
  using clock = std::chrono::steady_clock;

  explicit search(options o) : options_(std::move(o)), start_(clock::now()), deadline_(clock::time_point::max()) {
    if (options_.time_limit < clock::time_point::max() - start_) deadline_ = start_ + options_.time_limit;
  }

  const options& opts() const { return options_; }
  statistics stats;

  /// No order is better than this, as far as anybody knows: who reaches it may stop. Bytes.
  bytes floor() const { return floor_; }

  /// Runs f with the floor raised to `floor`.
  template <class F>
  auto with_floor(bytes floor, F&& f) {
    return with(floor_, std::max(floor_, floor), f);
  }

  /// An order with this peak is known elsewhere: only a better one is of use. A scheduler may stop when it has proved
  /// that there is none, and then says so with this as its bound. `no_limit` where nothing is known.
  bytes ceiling() const { return ceiling_; }

  /// Runs f with this floor and this ceiling instead: for a pass that asks about another graph.
  template <class F>
  auto with_bounds(bytes floor, bytes ceiling, F&& f) {
    const auto below = [&] { return with_ceiling(ceiling, f); };
    return with(floor_, floor, below);
  }

  /// Runs f with another ceiling: for a pass that hands on another question.
  template <class F>
  auto with_ceiling(bytes ceiling, F&& f) {
    return with(ceiling_, ceiling, f);
  }

  /// Runs f under the limits of t; says beside its value what ended it.
  template <class F>
  auto with_trial(trial t, F&& f) {
    const auto outer = std::exchange(trial_, t);
    const trial_end outer_end = std::exchange(trial_end_, trial_end::finished);
    begin_step();
    auto value = f();
    trial_ = outer;
    return std::pair(std::move(value), std::exchange(trial_end_, outer_end));
  }
  /// Starts a step of the trial: a scheduler with steps calls it before each; one without is a single step.
  void begin_step() {
    if (!trial_) return;
    step_states_ = 0;
    if (trial_->step_time != std::chrono::nanoseconds::max()) step_start_ = clock::now();
  }

  /// Runs f with at most `states` more states. Where only that ends f, the search goes on behind it.
  template <class F>
  auto with_states(std::uint64_t states, F&& f) {
    return with_slice(states, no_limit, f);
  }

  /// Work so far: a state is 1, and so are 64 nodes of a graph of which a minimum cut is asked, and 8 of one that is
  /// compressed. It goes about as the time goes, and repeats itself.
  std::uint64_t work() const { return work_; }
  /// Runs f with at most so much more work. Where only that ends f, the search goes on behind it.
  template <class F>
  auto with_work(std::uint64_t work, F&& f) {
    return with_slice(no_limit, work, f);
  }

  /// Runs f with at most this share, from 0 to 1, of the time that is left; all of it where there is no time limit. Where
  /// only that ends f, the search goes on behind it.
  template <class F>
  auto with_share(double share, F&& f) {
    const clock::time_point before = deadline_;
    if (before != clock::time_point::max()) {
      const auto left = std::chrono::duration<double>(before - clock::now());
      deadline_ = std::min(before, clock::now() + std::chrono::duration_cast<clock::duration>(share * left));
    }
    auto value = f();
    deadline_ = before;
    if (reason_ == stop_reason::time_limit && clock::now() < before) reason_ = stop_reason::finished;
    return value;
  }

  /// Runs f with so many threads.
  template <class F>
  auto with_threads(unsigned threads, F&& f) {
    return with(options_.threads, threads, f);
  }
  /// The threads of this search, for work that is split in tasks; none where there is one only. The system may have fewer than
  /// were asked for.
  crew* team() {
    constexpr unsigned most = 16;
    const unsigned size = std::min(options_.threads, most);
    if (size < 2) return nullptr;
    if (crew_ == nullptr || crew_size_ != size) crew_ = std::make_shared<crew>(size), crew_size_ = size;
    return crew_->size() < 2 ? nullptr : crew_.get();
  }
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
  /// its own, under the limits that are left by then. With two threads they run side by side: what `there` did beyond those
  /// limits is done anew within them, so that the answer is the same. `there` starts afresh at each call. Returns whether
  /// `there` counts.
  template <class Here, class There>
  bool beside(Here&& here, There&& there) {
    std::stop_source end;
    const std::stop_callback pass_on(options_.stop, [&] { end.request_stop(); });
    search other = branch(end.get_token());
    bool alone = true;
    const auto first = [&] {
      caught_exception exception;
      exception.watch([&] { alone = here(*this) || stopped(); });
      if (alone) end.request_stop();
      exception.rethrow();
      return !alone;
    };
    run_beside(team(), first, [&] { there(other); });
    if (alone) return false;
    if (other.stats.states >= states_left() || other.work_ >= work_left()) {
      other = branch(options_.stop);
      there(other);
    }
    absorb(other);
    if (other.reason_ == stop_reason::memory_limit) out_of_memory();
    keep_going();
    return true;
  }

  /// A context for what goes on beside this one, in another thread or in turns with it: under the same limits, floor and
  /// ceiling, stopped by `stop`, with one thread. It reports to nobody; what it counts, `absorb` takes over.
  search branch(std::stop_token stop) const {
    search other(*this);
    other.stats = {};
    other.crew_ = nullptr;
    other.work_ = 0;
    other.options_.on_progress = {};
    other.options_.stop = std::move(stop);
    other.options_.threads = 1;
    other.options_.state_limit = states_left();
    other.slice_end_ = no_limit;
    other.work_end_ = work_left();
    other.aside_ = true;
    return other;
  }
  /// Takes over what a branch has counted since it was last asked.
  void absorb(search& branch) {
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

  /// Counts a state. False once a limit is met; from then on always, or until the trial ends.
  bool count_state() {
    if (stopped()) return false;
    if (trial_ && ++step_states_ > trial_->step_states) end_trial(trial_end::step);
    ++stats.states, ++work_;
    if (stats.states >= std::min(options_.state_limit, slice_end_) || work_ >= work_end_) stop_for(stop_reason::state_limit);
    else if ((++ticks_ & 15) == 0) look_at_clock();
    return !stopped();
  }
  /// Work that is no state but takes time; looks at the clock. False once a limit is met.
  bool keep_going() { return look_at_clock(), !stopped(); }

  /// Counts work that is no state. False once a limit is met.
  bool spend(std::uint64_t work) {
    work_ += work;
    if (work_ >= work_end_) stop_for(stop_reason::state_limit);
    return keep_going();
  }
  /// Counts a minimum cut that is about to be solved. False once a limit is met.
  bool count_cut() { return ++stats.cuts, keep_going(); }
  /// Likewise for one of many, of a graph of so many nodes, which is a state of a search whose tables hold so many bytes. Of
  /// a large graph each takes milliseconds.
  bool count_cut_as_state(std::uint64_t table_bytes, std::size_t nodes) {
    ++stats.cuts, work_ += nodes / 64;
    return count_state() && keep_going() && fits(table_bytes);
  }

  /// Reports the bytes that a search's tables hold. False where that is more than the limit, which ends the trial if
  /// there is one: the next may need less.
  bool fits(std::uint64_t table_bytes) {
    stats.memory = std::max(stats.memory, std::min(table_bytes, options_.memory_limit));
    if (table_bytes <= options_.memory_limit) return true;
    if (trial_) end_trial(trial_end::memory);
    else stop_for(stop_reason::memory_limit);
    return false;
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

  /// Whether a limit is met, or the caller's question is answered.
  bool stopped() const { return trial_end_ != trial_end::finished || reason_ != stop_reason::finished || answered_; }
  /// Whether an order and a bound answer the question of `o` about a budget or a gap.
  static bool answers(const options& o, bytes peak, bytes lower_bound) {
    if (o.budget != no_limit && (peak <= o.budget || lower_bound > o.budget)) return true;
    return o.gap > 0 && static_cast<double>(peak) <= (1 + o.gap) * static_cast<double>(lower_bound);
  }
  /// Whether what was reported answers the caller's question about a budget or a gap.
  bool answered() const { return answered_; }
  /// What ends or ended the search; `gave_up` where no limit did and a gap was left open.
  stop_reason reason() const { return reason_ == stop_reason::finished && gave_up_ ? stop_reason::gave_up : reason_; }
  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }
  double seconds_left() const { return std::chrono::duration<double>(deadline_ - clock::now()).count(); }

  /// Names what runs until the end of the scope: it is credited with what is reported meanwhile. The name must outlive the
  /// search.
  class named {
   public:
    named(search& context, std::string_view name) : context_(context), before_(std::exchange(context.source_, name)) {}
    ~named() { context_.source_ = before_; }
    named(const named&) = delete;
    named& operator=(const named&) = delete;

   private:
    search& context_;
    std::string_view before_;
  };
  /// The best of what was reported of the caller's graph.
  const progress& known() const { return known_; }
  /// An order with this peak is good enough, whatever part of the caller's graph is asked about: the best bound that was
  /// reported, or the floor. Bytes.
  bytes good_enough() const { return aside_ ? floor_ : std::max(floor_, known_.lower_bound); }

  /// Tells the caller what is known of the graph: the peak of an order at hand (`no_limit` for none) and a bound. The best
  /// of what was told before stands. Ends the search where that answers the caller's question.
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

  /// Runs f on one of several parts that run one after the other, of which the others take `rest`. Bytes.
  template <class F>
  auto with_rest(bytes rest, F&& f) {
    return with(rest_, std::max(rest_, rest), f);
  }

  /// Runs f, which asks another question than what order is best: what it reports is no answer to that.
  template <class F>
  auto aside(F&& f) {
    return with(aside_, true, f);
  }

 private:
  /// Runs f while a member has another value.
  template <class T, class F>
  static auto with(T& member, T during, F& f) {
    const T before = std::exchange(member, during);
    auto value = f();
    member = before;
    return value;
  }
  template <class F>
  auto with_slice(std::uint64_t states, std::uint64_t work, F&& f) {
    const std::uint64_t states_before = slice_end_, work_before = work_end_;
    slice_end_ = std::min(slice_end_, stats.states + std::min(states, no_limit - stats.states));
    work_end_ = std::min(work_end_, work_ + std::min(work, no_limit - work_));
    auto value = f();
    slice_end_ = states_before, work_end_ = work_before;
    if (reason_ == stop_reason::state_limit && states_left() > 0 && work_ < work_end_) reason_ = stop_reason::finished;
    return value;
  }
  void stop_for(stop_reason r) {
    if (reason_ == stop_reason::finished) reason_ = r;
  }
  void end_trial(trial_end e) {
    if (trial_end_ == trial_end::finished) trial_end_ = e;
  }
  void look_at_clock() {
    if (options_.stop.stop_requested()) stop_for(stop_reason::cancelled);
    else if (over()) stop_for(stop_reason::time_limit);
    if (trial_ && trial_->step_time != std::chrono::nanoseconds::max() && clock::now() - step_start_ >= trial_->step_time)
      end_trial(trial_end::step);
  }

  options options_;
  clock::time_point start_, deadline_;
  std::shared_ptr<crew> crew_;
  unsigned crew_size_ = 0;  // that was asked for
  std::uint64_t slice_end_ = no_limit, work_ = 0, work_end_ = no_limit;
  std::uint64_t ticks_ = 0;
  stop_reason reason_ = stop_reason::finished;
  bytes floor_ = 0, ceiling_ = no_limit;
  bytes rest_ = 0;
  progress known_{.peak = no_limit};
  std::string_view source_{};
  bool aside_ = false, answered_ = false, gave_up_ = false;
  std::optional<trial> trial_;
  trial_end trial_end_ = trial_end::finished;
  std::uint64_t step_states_ = 0;
  clock::time_point step_start_;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
