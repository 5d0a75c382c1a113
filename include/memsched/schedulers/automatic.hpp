// The default scheduler.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Proves an order optimal where it can: heuristics and minimum cuts first, which suffice for many networks; then the
/// parts of the graph one by one, compressed. A large part is first looked at where its order is highest (`bottleneck`),
/// with most of the time that is left; then as a whole (`close_gap`). Graphs that are large for the time there is get an
/// order by local search before anything else.
struct automatic_scheduler {
  solution operator()(const schedule_graph& g, search& context) const;
};

inline constexpr automatic_scheduler automatic{};

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <thread>
#include <utility>

#include <memsched/passes/compress.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/schedulers/bottleneck.hpp>
#include <memsched/schedulers/close_gap.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

/// The better of two orders, lowered near its peak for this share of the time that is left.
inline solution near_peak(const schedule_graph& g, search& context, double share) {
  constexpr std::uint64_t states = 6000;
  solution s = as_given{}(g, context);
  s.lower_bound = std::max(context.floor(), g.base);
  if (!context.keep_going()) return s;
  take_if_better(g, greedy{}(g, context).order, s);
  const auto lower = [&] { return local_search{.flatten = false}.improve(g, context, std::move(s)); };
  s = context.with_share(share, [&] { return context.with_states(states, lower); });
  context.report(peak_of(g, s.order), s.lower_bound);
  return s;
}

/// Whether the time that is left will hardly do for compression and cuts: some passes over the graph take longer.
inline bool is_pressed(const schedule_graph& g, const search& context) {
  constexpr double seconds_a_node = 100e-6;
  return g.active > 400 && context.seconds_left() < seconds_a_node * static_cast<double>(g.active);
}

/// Two searches of one graph, that of its bottleneck and that of the whole, of which nobody knows which will do: they go on
/// in turns of growing work, those at the bottleneck longer the larger the graph is, and share what they find after each. So
/// both together take a few times what the better of them would take alone. With two threads the turns of one number run
/// side by side, and find the same: where the search of the bottleneck closes the gap, the other's turn does not count.
class search_in_turns {
 public:
  search_in_turns(const schedule_graph& g, search& context, solution s)
      : g_(g),
        context_(context),
        pass_on_(context.opts().stop, request{&end_}),
        apart_(context.branch(end_.get_token(), std::max(1U, context.opts().threads / 2))),
        near_(g, context, s, bottleneck{}.efforts),
        far_(policy_, g, apart_, std::move(s)) {}

  solution run() {
    while ((near_goes_on_ || far_goes_on_) && !context_.stopped()) {
      if (context_.states_left() < 2) context_.count_state();
      else if (take_turns()) return near_.best();
    }
    if (!far_.closed() && !context_.stopped()) context_.out_of_memory();
    return far_.best();
  }

 private:
  static constexpr std::uint64_t first_turn = 5000;

  /// True where the search of the bottleneck has closed the gap.
  bool take_turns() {
    const std::uint64_t states = context_.states_left() / 2;
    const auto far_turn = [&] { far_goes_on_ = run_for(apart_, states, turn_, far_); };
    std::thread beside;
    if (context_.opts().threads > 1 && near_goes_on_ && far_goes_on_) beside = std::thread(far_turn);
    const unsigned threads = beside.joinable() ? context_.opts().threads - apart_.opts().threads : context_.opts().threads;
    if (near_goes_on_)
      near_goes_on_ = context_.with_threads(
          threads, [&] { return run_for(context_, states, turn_ * (1 + g_.active / 1000), near_); });
    const bool closed = near_.closed();
    if (beside.joinable()) {
      if (closed) end_.request_stop();
      beside.join();
    } else if (!closed && far_goes_on_) {
      far_turn();
    }
    if (closed) return true;
    context_.absorb(apart_);
    far_.take(near_.best());
    near_.take(far_.best());
    context_.report(peak_of(g_, far_.best().order), far_.best().lower_bound);
    turn_ *= 2;
    return false;
  }
  template <class Search>
  static bool run_for(search& context, std::uint64_t states, std::uint64_t work, Search& s) {
    return context.with_states(states, [&] { return context.with_work(work, [&] { return s.run(); }); });
  }

  struct request {
    std::stop_source* end;
    void operator()() const { end->request_stop(); }
  };

  const schedule_graph& g_;
  search& context_;
  close_gap policy_{.short_search = first_turn};
  std::stop_source end_;
  std::stop_callback<request> pass_on_;
  search apart_;
  bottleneck_search near_;
  gap_closer far_;
  bool near_goes_on_ = true, far_goes_on_ = true;
  std::uint64_t turn_ = first_turn;
};

struct part_scheduler {
  static constexpr std::size_t large = 400;  // active nodes

  solution operator()(const schedule_graph& g, search& context) const {
    if (g.active <= large) return close_gap{}(g, context);
    solution s = near_peak(g, context, 0.7);
    if (g.size() <= close_gap{}.max_probed) return search_in_turns(g, context, std::move(s)).run();
    s = context.with_share(0.9, [&] { return bottleneck{}.improve(g, context, std::move(s)); });
    return close_gap{}.improve(g, context, std::move(s));
  }
};

}  // namespace detail

MEMSCHED_FUNCTION solution automatic_scheduler::operator()(const schedule_graph& g, search& context) const {
  solution s = detail::is_pressed(g, context) ? detail::near_peak(g, context, 0.9) : cheap_bounds{}(g, context);
  if (s.lower_bound >= peak_of(g, s.order) || context.stopped()) return s;
  const auto in_parts = compress{.share = 0.15} | detail::part_scheduler{};
  solution t = context.with_floor(s.lower_bound, [&] { return divide{}(g, context, in_parts); });
  take_if_better(g, std::move(t.order), s);
  s.lower_bound = std::max(s.lower_bound, t.lower_bound);
  return s;
}

}  // namespace memsched

#endif
