// The planner that decides whether buffers fit into a capacity: restarts of the exact search.
#pragma once

#include <cstdint>
#include <span>

#include <memsched/allocation/fit_rules.hpp>
#include <memsched/allocation/plan.hpp>
#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Decides whether buffers fit into a capacity; without one, into the least that `simple_bound` allows. Exact if no limit
/// stops it and there are no more than 2,500 buffers; beyond, it is the best of the quick planners.
struct exact_fit {
  fit_rules rules{};
  std::uint64_t seed = 1;

  arena_plan operator()(std::span<const buffer> buffers, bytes capacity, search& context) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/allocation/fit_restarts.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION arena_plan exact_fit::operator()(std::span<const buffer> buffers, bytes capacity, search& context) const {
  arena_plan best = detail::quick_plan(buffers, capacity, context);
  detail::packing p(buffers);
  const bytes target = capacity == no_limit ? best.lower_bound : capacity;
  if (best.size > target && best.lower_bound <= target && p.list_sections()) {
    detail::fit_restarts restarts(p, target, rules, seed);
    const auto answer = restarts.run(no_limit, detail::in_items(p, best.offset), context);
    if (answer == detail::fit_answer::never) best.lower_bound = p.next_size(target);
    if (answer == detail::fit_answer::fits) {
      best.offset = detail::in_bytes(buffers, p, restarts.offsets());
      best.size = arena_of(buffers, best.offset);
    }
  }
  best.stopped = context.control().reason();
  best.stats = context.control().stats;
  return best;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
