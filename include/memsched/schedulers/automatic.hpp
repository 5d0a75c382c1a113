// The default scheduler.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Proves an order optimal where it can: heuristics and minimum cuts first, which suffice for many networks; then the
/// parts of the graph one by one, compressed. A large part is looked at where its order is highest (`bottleneck`) and as a
/// whole (`close_gap`), in turns; a very large one first there, with most of the time that is left. Graphs that are large
/// for the time there is get an order by local search before anything else.
struct automatic_scheduler {
  solution operator()(const schedule_graph& g, search& context) const;
};

inline constexpr automatic_scheduler automatic{};

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <utility>

#include <memsched/bounds/layer_bound.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/schedulers/bottleneck.hpp>
#include <memsched/schedulers/close_gap.hpp>
#include <memsched/schedulers/in_turns.hpp>

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

struct part_scheduler {
  static constexpr std::size_t large = 400;  // active nodes

  solution operator()(const schedule_graph& g, search& context) const {
    if (g.active <= large) return close_gap{}(g, context);
    solution s = near_peak(g, context, 0.7);
    if (g.size() <= close_gap{}.max_probed) {
      const auto go_on = [&] { return context.count_cut() && context.spend(1 + g.size() / 64); };
      const auto bound = [&] { return best_layer_bound(g, s.order, s.lower_bound, go_on); };
      if (s.lower_bound < peak_of(g, s.order)) s.lower_bound = context.with_share(0.1, bound);
      context.report(peak_of(g, s.order), s.lower_bound);
      return in_turns{}.improve(g, context, std::move(s));
    }
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
