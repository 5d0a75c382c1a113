// Stages that lower the peak of a part's order.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/base/crew.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/induced_subgraph.hpp>
#include <memsched/passes/valleys.hpp>
#include <memsched/schedulers/automatic/part_search.hpp>
#include <memsched/schedulers/bisect.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/lower_stretch.hpp>

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
      restarted_ = bisect{}.improve(g_, context_, std::move(*restarted_), aim(peak, 3, 4));
      before = std::exchange(peak, peak_of(g_, *restarted_));
    }
  }
  restarted_ = lowered_locally({}, *restarted_);
  take(*restarted_);
  return context_.stopped();
}

inline bytes part_search::aim(bytes peak, bytes numerator, bytes denominator) const {
  const bytes gap = peak - std::min(from(), peak);
  return from() +
         std::min(gap / denominator * numerator + gap % denominator * numerator / denominator, gap - std::min(gap, grid_));
}

/// Lowers the highest position, then the next; windows get twice the states if one stays above its aim.
inline bool part_search::lower_highest() {
  const unsigned most_effort = facts_.orders ? 0 : 8;
  line();
  while (peak_effort_ <= most_effort && !lower_to_falling_aims() && !context_.stopped()) ++peak_effort_;
  take_line();
  return peak_effort_ <= most_effort;
}

/// Returns whether all positions reached the lowest aim.
inline bool part_search::lower_to_falling_aims() {
  while (gap() > 0 && !context_.stopped()) {
    const bytes goal = aim(line_->peak(), 3, 4);
    while (line_->peak() > goal) {
      if (!context_.keep_going()) return false;
      if (!lower_around(line_->highest(), goal, std::uint64_t{400} << peak_effort_)) return false;
      context_.report(line_->peak(), bound_);
    }
  }
  return gap() == 0;
}

inline bool part_search::lower_around(std::size_t at, bytes goal, std::uint64_t states) {
  for (std::size_t width : {40U, 80U, 160U, 320U})
    for (std::size_t quarter : {2U, 1U, 3U}) {
      if (!context_.count_state()) return false;  // a stretch is work, also if presolve leaves nothing to search
      const std::size_t first = at - std::min(at, width * quarter / 4);
      const auto order = lower_stretch(g_, *line_, first, first + width, goal, states, context_, local_.front());
      if (order) return line_->replace(line_->legal_from(first), *order), true;
      if (context_.stopped()) return false;
    }
  for (std::size_t width = 640; width <= std::size_t{640} << std::min(peak_effort_, 3U); width *= 2)
    if (bisect_between(at - std::min(at, width / 2), at + width / 2, goal)) return true;
  return false;
}

inline std::optional<std::vector<node_id>> bisected(const schedule_graph& g, const order_line& line, std::size_t first,
                                                    std::size_t last, bytes goal, search& c, std::vector<node_id>& local) {
  return change_stretch(g, line, first, last, c, local,
                        [&](const schedule_graph& part, const std::vector<node_id>& order, bytes) {
                          return bisect{}.improve(part, c, order, goal);
                        });
}

inline bool part_search::bisect_between(std::size_t first, std::size_t last, bytes goal) {
  const auto order = bisected(g_, *line_, first, last, goal, context_, local_.front());
  if (order) line_->replace(line_->legal_from(first), *order);
  return order.has_value();
}

/// Cuts the graph along valleys, orders the blocks between them, and lowers the highest blocks.
inline bool part_search::order_blocks() {
  line();
  const std::vector<index_t> ends = lay_out_blocks();
  if (!done()) lower_blocks(ends);
  take_line();
  return context_.stopped();
}

/// Lays the line out block by block, if that is better; returns the positions where blocks end.
inline std::vector<index_t> part_search::lay_out_blocks() {
  using blocks = std::vector<std::vector<node_id>>;
  const auto go_on = [&] { return context_.keep_going(); };
  blocks best = valley_blocks(*line_, bone(), go_on);
  std::vector<node_id> order = in_blocks(best);
  const bool several_strands = std::any_of(best.begin(), best.end(), [](const auto& b) { return b.size() > 1000; });
  if (several_strands && go_on()) {
    blocks slices = slice_blocks(*line_, go_on);
    std::vector<node_id> other = in_blocks(slices);
    if (peak_of(g_, other) < peak_of(g_, order)) best = std::move(slices), order = std::move(other);
  }
  std::vector<index_t> ends;
  const bool in_one = std::any_of(best.begin(), best.end(), [&](const auto& b) { return b.size() > g_.size() / 2; });
  if (in_one && peak_of(g_, order) > line_->peak()) return ends;
  line_.emplace(g_, order);
  index_t end = 0;
  for (const auto& block : best) {
    for (node_id v : block)
      if (!g_.is_release(v)) end = std::max(end, line_->position(v));
    const auto legal = static_cast<index_t>(line_->legal_from(end + std::size_t{1}));
    if (ends.empty() || legal > ends.back()) ends.push_back(legal);
  }
  return ends;
}

/// Each block in the line's order or a greedy one.
inline std::vector<node_id> part_search::in_blocks(const std::vector<std::vector<node_id>>& chain) {
  std::vector<node_id> order;
  order.reserve(g_.active);
  delta level = static_cast<delta>(g_.base);
  for (const std::vector<node_id>& block : chain) {
    std::vector<node_id> members = block;
    std::sort(members.begin(), members.end());
    const schedule_graph part = induced_subgraph(g_, members, static_cast<bytes>(level), local_.front());
    solution s{order_within(g_, members, block)};
    if (context_.keep_going()) take_if_better(part, greedy{}(part, context_).order, s);
    for (node_id v : s.order) order.push_back(members[v]);
    for (node_id v : block) level += g_.cost[v].impact;
  }
  return order;
}

/// Lowers the blocks to falling aims, highest first, until one stays above. Blocks do not depend on each other: threads share
/// those above an aim.
inline void part_search::lower_blocks(const std::vector<index_t>& ends) {
  constexpr std::size_t group = 16;
  constexpr std::uint64_t most_states = std::uint64_t{1} << 16;  // far more than a block takes
  const auto start_of = [&](std::size_t i) -> std::size_t { return i == 0 ? 0 : ends[i - 1]; };
  const auto height_of = [&](std::size_t i) { return line_->highest_in(start_of(i), ends[i]); };
  crew* const team = context_.control().team();
  local_.resize(std::max(local_.size(), threads_of(team)), std::vector<node_id>(g_.size(), none));
  const auto over = [&] { return context_.control().over(); };
  struct lowered {
    std::optional<std::vector<node_id>> order{};
    std::optional<search> context{};
    std::uint64_t states = 0, work = 0;  // that it might have
  };
  while (!done() && gap() > 0) {
    const bytes goal = aim(line_->peak(), 3, 5);
    plain_vector<std::pair<delta, std::size_t>> high;
    for (std::size_t i = 0; i < ends.size(); ++i)
      if (const delta height = height_of(i); static_cast<bytes>(height) > goal) high.emplace_back(height, i);
    std::sort(high.rbegin(), high.rend());
    std::size_t begin = 0;
    const auto ask = [&](std::size_t k, std::size_t member) {
      const std::size_t first = start_of(high[begin + k].second), last = ends[high[begin + k].second];
      search c = context_.control().branch(context_.opts().stop);
      const std::uint64_t states = c.control().states_left(), work = c.control().work_left();
      auto order = c.control().with_states(most_states, [&] {
        auto found = lower_stretch(g_, *line_, first, last, goal, 400, c, local_[member]);
        return found ? found : bisected(g_, *line_, first, last, goal, c, local_[member]);
      });
      return lowered{std::move(order), std::move(c), states, work};
    };
    const auto use = [&](std::size_t k, auto&& asked) {
      if (!context_.keep_going()) return false;
      lowered found = asked();
      // Done by another thread under limits that are met by now: done anew under those that are left.
      if (!found.context ||
          (found.states != context_.control().states_left() &&
           found.context->control().stats.states >= context_.control().states_left()) ||
          (found.work != context_.control().work_left() &&
           found.context->control().work() >= context_.control().work_left()))
        found = ask(k, 0);
      const std::size_t i = high[begin + k].second;
      if (found.order) line_->replace(line_->legal_from(start_of(i)), *found.order);
      context_.control().absorb(found.context->control());
      if (found.context->control().reason() == stop_reason::memory_limit) context_.control().out_of_memory();
      return static_cast<bytes>(height_of(i)) <= goal;
    };
    if (high.empty()) return;
    for (; begin < high.size(); begin += group)
      if (!ask_ahead({team, over}, std::min(group, high.size() - begin), ask, use)) return;
  }
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
