// Lowers a plan of very many buffers where it sticks out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <memsched/allocation/placement.hpp>
#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Plans windows of time anew around the few buffers that stick out of a plan: buffers wholly inside a window are taken out
/// and placed again, the largest first, around those that cross its borders. A plan of many small buffers sticks out of its
/// bound in few places, so that this looks at few of them.
class peak_flattener {
 public:
  explicit peak_flattener(std::span<const buffer> buffers) : buffers_(buffers), meets_(buffers) {}

  /// Halves the distance of the plan to its bound, again and again, until less than one in 200 is left, windows
  /// become too large, or a limit of the context is met.
  void run(arena_plan& plan, search& context) {
    bytes failed = plan.lower_bound;
    while (plan.size - failed > plan.lower_bound / 200 && left_ > 0 && context.keep_going()) {
      const bytes target = failed + (plan.size - failed) / 2;
      if (!lower_to(target, plan, context)) failed = target;
      plan.size = arena_of(buffers_, plan.offset);
    }
  }

 private:
  bool lower_to(bytes target, arena_plan& plan, search& context) {
    for (index_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i].empty() || plan.offset[i] + buffers_[i].size <= target) continue;
      if (!context.keep_going()) return false;
      if (!lower_one(buffers_[i], target, plan)) return false;
    }
    return true;
  }

  /// Tries windows around one buffer, each twice as wide as the last.
  bool lower_one(const buffer& b, bytes target, arena_plan& plan) {
    using time = std::numeric_limits<std::int64_t>;
    constexpr std::uint64_t widest = std::uint64_t{1} << 62;
    for (std::uint64_t life = static_cast<std::uint64_t>(b.upper) - static_cast<std::uint64_t>(b.lower); life < widest;
         life *= 2) {
      const auto reach = static_cast<std::int64_t>(life);
      const std::int64_t from = b.lower > time::min() + reach ? b.lower - reach : time::min();
      const std::int64_t to = b.upper < time::max() - reach ? b.upper + reach : time::max();
      if (!collect(from, to, plan)) return false;
      if (members_.size() >= fewest && replan(target, plan)) return true;
    }
    return false;
  }

  /// Lists the buffers that meet a window. Returns false if there are too many.
  bool collect(std::int64_t from, std::int64_t to, const arena_plan& plan) {
    members_.clear(), window_.clear();
    meets_.for_each_in(from, to, [&](index_t i) {
      if (members_.size() <= most) members_.push_back(i);
    });
    if (members_.size() > std::min(most, left_)) return false;
    for (const index_t i : members_) {
      buffer b = buffers_[i];
      if (b.lower < from || b.upper > to) b.offset = plan.offset[i];
      window_.push_back(std::move(b));
    }
    return true;
  }

  bool replan(bytes target, arena_plan& plan) {
    left_ -= std::min<std::size_t>(left_, members_.size());
    const auto order = buffer_order(window_, [&](index_t a, index_t b) {
      return window_[a].size != window_[b].size ? window_[a].size > window_[b].size : a < b;
    });
    const std::vector<bytes> offset = place_in_turn(window_, order, gap_choice::lowest);
    for (std::size_t k = 0; k < members_.size(); ++k)
      if (window_[k].offset == no_offset && offset[k] + window_[k].size > target) return false;
    for (std::size_t k = 0; k < members_.size(); ++k) plan.offset[members_[k]] = offset[k];
    return true;
  }

  static constexpr std::size_t fewest = 200, most = 50'000;

  std::span<const buffer> buffers_;
  lifetime_index meets_;
  std::vector<index_t> members_;  ///< of the window at hand
  std::vector<buffer> window_;    ///< the same as buffers; those that cross its borders are fixed
  std::size_t left_ = 400'000;    ///< buffers that may still be placed anew
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
