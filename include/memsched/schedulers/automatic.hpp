// The default scheduler.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Proves an order optimal where it can: heuristics and minimum cuts first, which suffice for many networks; then the
/// parts of the graph one by one.
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
#include <memsched/schedulers/close_gap.hpp>

namespace memsched::inline MEMSCHED_ABI {

MEMSCHED_FUNCTION solution automatic_scheduler::operator()(const schedule_graph& g, search& context) const {
  solution s = cheap_bounds{}(g, context);
  if (s.lower_bound >= peak_of(g, s.order) || context.stopped()) return s;
  solution t = context.with_floor(s.lower_bound, [&] { return divide{}(g, context, compress{} | close_gap{}); });
  take_if_better(g, std::move(t.order), s);
  s.lower_bound = std::max(s.lower_bound, t.lower_bound);
  return s;
}

}  // namespace memsched

#endif
