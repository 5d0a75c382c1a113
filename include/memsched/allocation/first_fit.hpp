// Planners that place buffers one by one into gaps between those placed before, as runtimes do.
#pragma once

#include <span>

#include <memsched/allocation/plan.hpp>
#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {
/// A bound that takes O(n log n): the load; if offsets are multiples of g, at each moment the sum of the sizes, each but
/// one rounded up to a multiple of g (only the topmost may end off the grid); and the ends of fixed buffers.
MEMSCHED_FUNCTION bytes simple_bound(std::span<const buffer> buffers);
}  // namespace detail

/// In order of birth, then of death, each in the tightest gap: TensorFlow Lite (SimpleMemoryArena). O(n times the buffers
/// that one meets).
struct by_birth {
  arena_plan operator()(std::span<const buffer> buffers, bytes capacity, search&) const;
};

/// Largest first, of equals the later in the list first, each in the lowest gap: TensorFlow Lite for Microcontrollers
/// (GreedyMemoryPlanner), which rounds sizes up to its alignment beforehand. O(n times the buffers that one meets).
struct by_size {
  arena_plan operator()(std::span<const buffer> buffers, bytes capacity, search&) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <memsched/allocation/placement.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

MEMSCHED_FUNCTION bytes simple_bound(std::span<const buffer> buffers) {
  bytes g = 0, bound = 0;
  for (const buffer& b : buffers)
    if (!b.empty()) g = std::gcd(g, b.offset == no_offset ? b.alignment : b.offset);
  for (const buffer& b : buffers)
    if (b.offset != no_offset && !b.empty()) bound = std::max(bound, b.offset + b.size);
  if (g <= 1) return std::max(bound, load_of(buffers));
  bytes sum = 0;
  std::map<bytes, std::size_t> spared;  // bytes that rounding adds, over the live buffers
  for (const auto& change : moments(buffers)) {
    if (change.before > 0) {
      sum -= round_up(change.before, g);
      const auto at = spared.find(round_up(change.before, g) - change.before);
      if (--at->second == 0) spared.erase(at);
    }
    if (change.after > 0) {
      sum += round_up(change.after, g);
      ++spared[round_up(change.after, g) - change.after];
    }
    if (!spared.empty()) bound = std::max(bound, sum - spared.rbegin()->first);
  }
  return bound;
}

}  // namespace detail

MEMSCHED_FUNCTION arena_plan by_birth::operator()(std::span<const buffer> buffers, bytes capacity, search&) const {
  const auto order = detail::buffer_order(buffers, [&](index_t a, index_t b) {
    return std::tie(buffers[a].lower, buffers[a].upper, a) < std::tie(buffers[b].lower, buffers[b].upper, b);
  });
  return detail::make_plan(buffers, detail::place_in_turn(buffers, order, detail::gap_choice::tightest), capacity,
                           detail::simple_bound(buffers));
}

MEMSCHED_FUNCTION arena_plan by_size::operator()(std::span<const buffer> buffers, bytes capacity, search&) const {
  const auto order = detail::buffer_order(
      buffers, [&](index_t a, index_t b) { return std::pair(buffers[a].size, a) > std::pair(buffers[b].size, b); });
  return detail::make_plan(buffers, detail::place_in_turn(buffers, order, detail::gap_choice::lowest), capacity,
                           detail::simple_bound(buffers));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
