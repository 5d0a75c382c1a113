// The default scheduler.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {

/// Proves an order optimal where it can: heuristics and minimum cuts first, which suffice for many networks; then the
/// parts of the graph one by one, compressed. A large part is first looked at where its order is highest (`bottleneck`), with
/// most of the time that is left; then as a whole (`close_gap`).
struct automatic_scheduler {
  solution operator()(const schedule_graph& g, search& context) const;
};

inline constexpr automatic_scheduler automatic{};

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

#include <memsched/passes/compress.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/schedulers/bottleneck.hpp>
#include <memsched/schedulers/close_gap.hpp>

namespace memsched {

namespace detail {

struct part_scheduler {
  static constexpr std::size_t large = 400;  // active nodes

  solution operator()(const schedule_graph& g, search& context) const {
    solution s = g.active > large ? best_heuristic{}(g, context) : cheap_bounds{}(g, context);
    s.lower_bound = std::max(s.lower_bound, context.floor());
    if (g.active > large && context.keep_going()) {
      const double share = g.active > 10 * large ? 0.9 : 0.6;
      s = context.with_share(share, [&] { return bottleneck{}.improve(g, context, std::move(s)); });
    }
    return close_gap{}.improve(g, context, std::move(s));
  }
};

}  // namespace detail

MEMSCHED_FUNCTION solution automatic_scheduler::operator()(const schedule_graph& g, search& context) const {
  solution s = cheap_bounds{}(g, context);
  if (s.lower_bound >= peak_of(g, s.order) || context.stopped()) return s;
  solution t = context.with_floor(s.lower_bound, [&] { return divide{}(g, context, compress{} | detail::part_scheduler{}); });
  take_if_better(g, std::move(t.order), s);
  s.lower_bound = std::max(s.lower_bound, t.lower_bound);
  return s;
}

}  // namespace memsched

#endif
