// The planner for the smallest arena, with proof.
#pragma once

#include <cstdint>
#include <span>

#include <memsched/allocation/fit_rules.hpp>
#include <memsched/allocation/plan.hpp>
#include <memsched/base/buffer.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The smallest arena: quick planners first, then the exact search at the lower bound, just below the best plan, and
/// between, in slices that grow, until bound and plan meet. With a capacity it asks for that alone, and ends at a plan
/// within it or a bound above it. More than 2,500 buffers get the quick planners and the bound that takes no search.
struct minimize {
  fit_rules rules{};
  std::uint64_t seed = 1;

  arena_plan operator()(std::span<const buffer> buffers, bytes capacity, search& context) const;

 private:
  void improve(std::span<const buffer> buffers, bytes capacity, arena_plan& best, base::function_ref<bool()> done,
               search& context) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <memory>
#include <vector>

#include <memsched/allocation/fit_restarts.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION void minimize::improve(std::span<const buffer> buffers, bytes capacity, arena_plan& best,
                                         base::function_ref<bool()> done, search& context) const {
  detail::packing p(buffers);
  if (!p.list_sections()) return;
  if (best.lower_bound > 0) best.lower_bound = p.next_size(best.lower_bound - 1);
  std::vector<std::unique_ptr<detail::fit_restarts>> open;  // by ascending capacity
  const auto at = [&](bytes size) -> detail::fit_restarts& {
    const auto place = std::find_if(open.begin(), open.end(), [&](const auto& r) { return r->capacity() >= size; });
    if (place != open.end() && (*place)->capacity() == size) return **place;
    return **open.insert(place, std::make_unique<detail::fit_restarts>(p, size, rules, seed));
  };
  std::uint64_t slice = 4 * p.items.size() + 4;
  while (!done() && context.keep_going()) {
    const bytes below = std::max(p.previous_size(best.size), best.lower_bound);
    const bytes between = best.lower_bound + (below - best.lower_bound) / 2;
    std::vector<bytes> targets{best.lower_bound, below, p.previous_size(between + 1)};
    if (capacity != no_limit) targets = {capacity};
    if (open.size() > 2) targets[2] = open[1]->capacity();  // the one between stands while it is between
    for (const bytes target : targets) {
      if (done() || target < best.lower_bound || target >= best.size) continue;
      detail::fit_restarts& restarts = at(target);
      const auto answer = restarts.run(slice, detail::in_items(p, best.offset), context);
      if (context.stopped() || restarts.too_deep()) return;
      if (answer == detail::fit_answer::fits) {
        best.offset = detail::in_bytes(buffers, p, restarts.offsets());
        best.size = arena_of(buffers, best.offset);
      } else if (answer == detail::fit_answer::never) {
        best.lower_bound = std::min(p.next_size(target), best.size);
      } else {
        continue;
      }
      std::erase_if(open, [&](const auto& r) { return r->capacity() < best.lower_bound || r->capacity() >= best.size; });
    }
    slice += slice / 3;
  }
}

MEMSCHED_FUNCTION arena_plan minimize::operator()(std::span<const buffer> buffers, bytes capacity, search& context) const {
  arena_plan best = detail::quick_plan(buffers, capacity, context);
  const auto done = [&] {
    return best.size == best.lower_bound || best.lower_bound > capacity || (capacity != no_limit && best.size <= capacity);
  };
  if (!done()) improve(buffers, capacity, best, done, context);
  best.stopped = context.control().reason();
  best.stats = context.control().stats;
  return best;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
