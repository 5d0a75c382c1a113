// Two searches of one graph that take turns.
#pragma once

#include <cstdint>

#include <memsched/base/linkage.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// For graphs of some hundred to some thousand nodes, of which nobody knows whether the search of their bottleneck
/// (`bottleneck`) or that of the whole (`close_gap`) will do. Both go on in turns of doubling work, and share what they find
/// after each: so both together take a few times what the better of them would take alone. The whole gets most of the work
/// in graphs of fewer than 1500 active nodes, the bottleneck in larger ones. With two threads the turns of one number run
/// side by side, and find the same: where the search of the bottleneck closes the gap, the other's turn does not count. A
/// thread that is done with its turn helps the other.
struct in_turns {
  std::uint64_t first_turn = 5000;  ///< work of the one that gets less (see `search::work`); a quarter below 1500 nodes

  solution operator()(const schedule_graph& g, search& context) const { return improve(g, context, greedy{}(g, context)); }
  /// A better order or a better bound than those of `s`, or s.
  solution improve(const schedule_graph& g, search& context, solution s) const;
};

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <stop_token>
#include <utility>

#include <memsched/schedulers/bottleneck.hpp>
#include <memsched/schedulers/close_gap.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

class search_in_turns {
 public:
  search_in_turns(const schedule_graph& g, search& context, solution s, std::uint64_t first_turn)
      : g_(g),
        context_(context),
        turn_(is_small() ? (first_turn + 3) / 4 : first_turn),
        policy_{.short_search = turn_},
        pass_on_(context.opts().stop, request{&end_}),
        apart_(context.branch(end_.get_token())),
        near_(bottleneck{}, g, context, s),
        far_(policy_, g, apart_, std::move(s)) {}

  solution run() {
    while ((near_goes_on_ || far_goes_on_) && !context_.stopped()) {
      if (context_.states_left() < 2) context_.count_state();
      else if (take_turns()) return near_.best();
    }
    if (apart_.reason() == stop_reason::memory_limit) context_.out_of_memory();
    else if (!far_.closed() && !context_.stopped()) context_.give_up();
    return far_.best();
  }

 private:
  /// True where the search of the bottleneck has closed the gap.
  bool take_turns() {
    const std::uint64_t states = context_.states_left() / 2;
    // What still stops a search behind its turn stops it for good: a limit on memory, or the end of a trial.
    const unsigned threads = near_goes_on_ ? 1 : context_.opts().threads;
    const auto far_turn = [&] {
      const auto run = [&] { return run_for(apart_, states, turn_ * far_share(), far_); };
      far_goes_on_ = apart_.with_threads(threads, run) && !apart_.stopped();
    };
    const bool far_has_a_turn = far_goes_on_;
    const auto near_turn = [&] {
      if (near_goes_on_) near_goes_on_ = run_for(context_, states, turn_ * near_share(), near_);
      if (near_.closed()) end_.request_stop();
      return far_has_a_turn && !near_.closed();
    };
    run_beside(near_goes_on_ && far_goes_on_ ? context_.team() : nullptr, near_turn, far_turn);
    if (near_.closed()) return true;
    context_.absorb(apart_);
    far_.take(near_.best());
    near_.take(far_.best());
    context_.report(peak_of(g_, far_.best().order), far_.best().lower_bound);
    turn_ *= 2;
    return false;
  }
  /// Shares of the work, as measured on graphs of 1000 to 4000 active nodes.
  bool is_small() const { return g_.active < 1500; }
  std::uint64_t near_share() const { return is_small() ? 1 : 1 + g_.active / 1000; }
  std::uint64_t far_share() const { return is_small() ? 8 : 1; }

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
  std::uint64_t turn_;
  close_gap policy_;
  std::stop_source end_;
  std::stop_callback<request> pass_on_;
  search apart_;
  bottleneck_search near_;
  gap_closer far_;
  bool near_goes_on_ = true, far_goes_on_ = true;
};

}  // namespace detail

MEMSCHED_FUNCTION solution in_turns::improve(const schedule_graph& g, search& context, solution s) const {
  if (g.active == 0 || !context.keep_going()) return s;
  return detail::search_in_turns(g, context, std::move(s), first_turn).run();
}

}  // namespace memsched

#endif
