// Offsets of the channels of a schedule in one block of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/sdf/graph.hpp>
#include <memsched/sdf/loops.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// Offsets in one block of memory.
struct layout {
  std::vector<bytes> offset;  ///< per channel
  bytes size = 0;             ///< of the block
};

/// One channel after the other, each with room for its largest fill.
inline layout separate_layout(const graph& g, const std::vector<bytes>& fills) {
  layout l;
  for (std::size_t i = 0; i < fills.size(); ++i) {
    l.offset.push_back(l.size);
    l.size += fills[i] * g.channels()[i].size;
  }
  return l;
}

/// The channels as buffers of a looped schedule (allocation/buffers.hpp): each with room for its largest fill, while it may
/// hold tokens. The time is the schedule's items, each of which begins and ends at moments of its own. A channel that is
/// empty at the start is empty before and after the items, of the innermost list that has all its firings, from the first
/// to the last of them: each run of that list restores it. O(channels * items) at most.
inline std::vector<buffer> channel_buffers(const graph& g, const loops& schedule, const std::vector<bytes>& fills) {
  const auto& items = schedule.items();
  std::vector<std::pair<std::size_t, std::size_t>> touched(g.channels().size(), {items.size(), 0});
  std::vector<std::vector<index_t>> around(g.actors());
  for (index_t i = 0; i < g.channels().size(); ++i) {
    around[g.channels()[i].from].push_back(i);
    around[g.channels()[i].to].push_back(i);
  }
  for (std::size_t at = 0; at < items.size(); ++at)
    if (items[at].actor != none)
      for (index_t i : around[items[at].actor])
        touched[i] = {std::min(touched[i].first, at), std::max(touched[i].second, at)};
  std::vector<buffer> buffers;
  for (index_t i = 0; i < touched.size(); ++i) {
    const auto [from, to] = touched[i];
    std::size_t first = 0, end = items.size();
    if (g.channels()[i].tokens == 0 && from < items.size()) {
      for (;;) {  // down to the list whose items hold both ends
        while (first + items[first].length <= from) first += items[first].length;
        if (first == from || to >= first + items[first].length) break;
        ++first;
      }
      for (end = first; end <= to;) end += items[end].length;
    }
    buffers.push_back({static_cast<std::int64_t>(first), static_cast<std::int64_t>(end), fills[i] * g.channels()[i].size});
  }
  return buffers;
}

/// Channels that never hold tokens at the same time may lie in the same place: offsets by a planner, checked by
/// `check_plan`. At least the schedule's peak, and at most the separate size. Errors: those of `plan_offsets` about the
/// planner.
template <planner P = minimize>
result<layout> shared_layout(const graph& g, const loops& schedule, const std::vector<bytes>& fills, const P& how = {},
                             const memsched::options& limits = {}) {
  arena_plan plan = plan_offsets(channel_buffers(g, schedule, fills), how, limits);
  if (plan.error) return *plan.error;
  return layout{std::move(plan.offset), plan.size};
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched
