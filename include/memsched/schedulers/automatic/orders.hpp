// Stages that lower the peak of a part's order.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/schedulers/automatic/part_search.hpp>
#include <memsched/schedulers/bisect.hpp>
#include <memsched/schedulers/falling_aims.hpp>
#include <memsched/schedulers/greedy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Best-first search of the whole part; goes on where it was. It begins at the bound, where it finds orders soonest. If it has
/// not raised the bound for long, it begins anew as far below as the incumbent is above, to tell how its work grows. If it is
/// not expected to decide in reasonable time even so, it ends: search of narrowed graphs does more (`search_below`).
inline bool part_search::search_exactly() {
  constexpr std::uint64_t enough = 9 * unit;
  constexpr double reasonable = 10000;  // times the work so far
  const best_first policy;
  if (g_.active > policy.max_nodes) return false;
  if (!exact_) {
    const bytes lower = exact_begins_below_ ? std::min(from(), below() - from()) : 0;
    exact_.emplace(g_, context_, policy, from() - lower, below());
  }
  const bytes least = exact_->from();
  const auto before = std::pair(context_.control().work(), bound_);
  auto found = exact_->run(below());
  if (found.bound > least) raise(found.bound);
  if (found.order) take(std::move(*found.order));
  const std::uint64_t work = context_.control().work() - before.first;
  exact_in_vain_ = bound_ > before.second ? 0 : exact_in_vain_ + work;
  const double expected = exact_growth_.expected(static_cast<double>(work), found.bound, below(), grid_);
  again_ = expected < expected_soon;
  if (!has_room(exact_->bytes_held())) {
    exact_.reset();
    return false;
  }
  if (!context_.stopped()) return false;
  if (expected < reasonable || exact_in_vain_ < enough || facts_.size > most_probed) return true;
  if (std::exchange(exact_begins_below_, true)) return false;
  exact_.reset();
  exact_growth_ = {};
  exact_in_vain_ = 0;
  return true;
}

inline std::vector<node_id> part_search::lowered_locally(const local_search& policy, const std::vector<node_id>& order) {
  return context_.ask(context_.asked().from(from()), [&] { return policy.improve(g_, context_, {order, 0}); }).order;
}

/// Local search from the incumbent: windows at the peak, then all along the order.
inline bool part_search::search_locally() {
  constexpr unsigned most_effort = 8;
  take(lowered_locally({.states = std::uint64_t{400} << local_effort_}, order_));
  if (!context_.stopped()) ++local_effort_;
  return local_effort_ <= most_effort;
}

/// Local search from the greedy order, even if that is higher than the incumbent: it leads elsewhere. The order is first
/// bisected to falling aims, unless the part is closed. Begins once there is enough work for that. Returns false once nothing
/// lowers that order any more.
inline bool part_search::restart() {
  if (!restarted_) {
    if (slice_ < 4 * g_.active) return true;
    restarted_ = greedy{}(g_, context_).order;
    bytes before = no_limit;
    for (bytes peak = peak_of(g_, *restarted_); !facts_.closed && peak < before && !context_.stopped();) {
      restarted_ = bisect{}.improve(g_, context_, std::move(*restarted_), aim_between(from(), peak, grid_, 3, 4));
      before = std::exchange(peak, peak_of(g_, *restarted_));
    }
  }
  restarted_ = lowered_locally({}, *restarted_);
  take(*restarted_);
  return context_.stopped();
}

/// Lowers the highest position, then the next; windows get twice the states if one stays above its aim.
inline bool part_search::lower_highest() {
  const unsigned most_effort = facts_.orders ? 0 : 8;
  falling_aims aims(g_, context_, line(), from(), grid_);
  while (peak_effort_ <= most_effort && !aims.lower_highest(peak_effort_) && !context_.stopped()) ++peak_effort_;
  take_line();
  return peak_effort_ <= most_effort;
}

/// Cuts the graph along valleys, orders the blocks between them, and lowers the highest blocks.
inline bool part_search::order_blocks() {
  falling_aims aims(g_, context_, line(), from(), grid_);
  aims.lower_blocks(bone());
  take_line();
  return context_.stopped();
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
