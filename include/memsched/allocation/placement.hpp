// Placement of buffers one by one, and the index of those that one meets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/allocation/buffers.hpp>
#include <memsched/allocation/plan.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Finds the buffers that meet a lifetime. A search tree in a sorted list: O(log n) and the number found.
class lifetime_index {
 public:
  explicit lifetime_index(std::span<const buffer> buffers) : buffers_(buffers) {
    for (index_t i = 0; i < buffers.size(); ++i)
      if (!buffers[i].empty()) order_.push_back(i);
    std::sort(order_.begin(), order_.end(),
              [&](index_t a, index_t b) { return std::tie(buffers[a].lower, a) < std::tie(buffers[b].lower, b); });
    latest_.resize(order_.size());
    build(0, order_.size());
  }

  /// Calls f with every buffer that is live at some moment of [lower, upper).
  template <class F>
  void for_each_in(std::int64_t lower, std::int64_t upper, F&& f) const {
    visit(0, order_.size(), lower, upper, f);
  }

 private:
  std::int64_t build(std::size_t from, std::size_t to) {
    if (from == to) return std::numeric_limits<std::int64_t>::min();
    const std::size_t middle = from + (to - from) / 2;
    const std::int64_t below = build(from, middle), above = build(middle + 1, to);
    return latest_[middle] = std::max({buffers_[order_[middle]].upper, below, above});
  }
  template <class F>
  void visit(std::size_t from, std::size_t to, std::int64_t lower, std::int64_t upper, F& f) const {
    if (from == to) return;
    const std::size_t middle = from + (to - from) / 2;
    if (latest_[middle] <= lower) return;
    visit(from, middle, lower, upper, f);
    const buffer& b = buffers_[order_[middle]];
    if (b.lower >= upper) return;
    if (b.upper > lower) f(order_[middle]);
    visit(middle + 1, to, lower, upper, f);
  }

  std::span<const buffer> buffers_;
  std::vector<index_t> order_;
  std::vector<std::int64_t> latest_;  // end among those of a subtree, at its root
};

/// The gap that a buffer takes if several are large enough.
enum class gap_choice : unsigned char { lowest, tightest };

/// Places the fixed buffers, then the others in `order`, each in a gap or above all that it meets.
inline std::vector<bytes> place_in_turn(std::span<const buffer> buffers, std::span<const index_t> order, gap_choice choice) {
  const lifetime_index meets(buffers);
  std::vector<bytes> offset(buffers.size(), no_offset);
  for (index_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].offset != no_offset) offset[i] = buffers[i].offset;
    else if (buffers[i].empty()) offset[i] = 0;
  }
  std::vector<std::pair<bytes, bytes>> taken;  // offset and end of buffers that are placed and meet this one
  for (const index_t i : order) {
    const buffer& b = buffers[i];
    if (offset[i] != no_offset) continue;
    taken.clear();
    meets.for_each_in(b.lower, b.upper, [&](index_t j) {
      if (offset[j] != no_offset)
        taken.emplace_back(offset[j], offset[j] + buffers[j].size_at(std::max(b.lower, buffers[j].lower)));
    });
    std::sort(taken.begin(), taken.end());
    bytes top = 0, best = no_offset, tightest = no_offset;
    for (const auto& [from, to] : taken) {
      const bytes at = round_up(top, b.alignment);
      if (at + b.size <= from && from - top < tightest) {
        best = at;
        if (choice == gap_choice::lowest) break;
        tightest = from - top;
      }
      top = std::max(top, to);
    }
    offset[i] = best != no_offset ? best : round_up(top, b.alignment);
  }
  return offset;
}

/// The buffers that are to be placed, in the order that `less` says.
template <class Less>
std::vector<index_t> buffer_order(std::span<const buffer> buffers, Less less) {
  std::vector<index_t> order;
  for (index_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].empty()) order.push_back(i);
  std::sort(order.begin(), order.end(), less);
  return order;
}

inline arena_plan make_plan(std::span<const buffer> buffers, std::vector<bytes> offset, bytes capacity, bytes lower_bound) {
  arena_plan plan;
  plan.size = arena_of(buffers, offset);
  plan.offset = std::move(offset);
  plan.lower_bound = lower_bound;
  plan.capacity = capacity;
  return plan;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
