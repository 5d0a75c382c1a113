// Lowering of an order to falling aims, at its peak or block by block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <memsched/base/backbone.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// A peak at this share of the gap between `from` and `peak`, and below `peak` by `unit` if there is room. Bytes.
inline bytes aim_between(bytes from, bytes peak, bytes unit, bytes numerator, bytes denominator) {
  const bytes gap = peak - std::min(from, peak);
  return from +
         std::min(gap / denominator * numerator + gap % denominator * numerator / denominator, gap - std::min(gap, unit));
}

/// Lowers the peak of a line step by step: each aim is nearer to the bound, and windows or blocks above it are lowered to it,
/// not further. The graph, the context and the line must outlive it.
class falling_aims {
 public:
  /// Peaks below `from` are not told apart, and peaks differ by multiples of `unit` (`peak_unit`). Bytes.
  falling_aims(const schedule_graph& g, search& context, order_line& line, bytes from, bytes unit)
      : g_(g),
        context_(context),
        line_(line),
        from_(std::max(from, g.base)),
        unit_(unit),
        local_(1, std::vector<node_id>(g.size(), none)) {}

  /// Lowers a window around the highest position, then around the next one; a window may take 400 states times two to the
  /// effort. Returns whether all positions reached the lowest aim.
  bool lower_highest(unsigned effort);
  /// Cuts the graph along valleys, orders the blocks between them, and lowers the highest blocks.
  void lower_blocks(const backbone& bone) {
    const std::vector<index_t> ends = lay_out_blocks(bone);
    if (!context_.stopped()) lower_blocks(ends);
  }

 private:
  bytes gap() const { return line_.peak() - std::min(from_, line_.peak()); }
  bytes aim(bytes numerator, bytes denominator) const {
    return aim_between(from_, line_.peak(), unit_, numerator, denominator);
  }
  bool lower_around(std::size_t at, bytes goal, unsigned effort);
  bool move_far();
  std::optional<std::vector<node_id>> bisected(std::size_t first, std::size_t last, bytes goal, search& c,
                                               std::vector<node_id>& local) const;
  std::vector<index_t> lay_out_blocks(const backbone& bone);
  std::vector<node_id> in_blocks(const std::vector<std::vector<node_id>>& chain);
  void lower_blocks(const std::vector<index_t>& ends);

  const schedule_graph& g_;
  search& context_;
  order_line& line_;
  bytes from_, unit_;
  node_id asked_ = none;                     // the highest when far moves were asked for
  std::vector<std::vector<node_id>> local_;  // scratch of each thread
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <cstdint>
#include <utility>

#include <memsched/base/crew.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/passes/valleys.hpp>
#include <memsched/schedulers/bisect.hpp>
#include <memsched/schedulers/far_moves.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/lower_stretch.hpp>
#include <memsched/structure/induced_subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

MEMSCHED_FUNCTION bool falling_aims::lower_highest(unsigned effort) {
  while (gap() > 0 && !context_.stopped()) {
    const bytes goal = aim(3, 4);
    while (line_.peak() > goal) {
      if (!context_.keep_going()) return false;
      if (!lower_around(line_.highest(), goal, effort) && !move_far()) return false;
      context_.report(line_.peak(), 0);
    }
  }
  return gap() == 0;
}

MEMSCHED_FUNCTION bool falling_aims::lower_around(std::size_t at, bytes goal, unsigned effort) {
  const std::uint64_t states = std::uint64_t{400} << effort;
  for (std::size_t width : {40U, 80U, 160U, 320U})
    for (std::size_t quarter : {2U, 1U, 3U}) {
      if (!context_.count_state()) return false;  // a stretch is work, also if presolve leaves nothing to search
      const std::size_t first = at - std::min(at, width * quarter / 4);
      const auto order = lower_stretch(g_, line_, first, first + width, goal, states, context_, local_.front());
      if (order) return line_.replace(line_.legal_from(first), *order), true;
      if (context_.stopped()) return false;
    }
  for (std::size_t width = 640; width <= std::size_t{640} << std::min(effort, 3U); width *= 2) {
    const std::size_t first = at - std::min(at, width / 2);
    const auto order = bisected(first, at + width / 2, goal, context_, local_.front());
    if (order) return line_.replace(line_.legal_from(first), *order), true;
  }
  return false;
}

/// Moves nodes far along the line, which lowers its highest position; asked once for each.
MEMSCHED_FUNCTION bool falling_aims::move_far() {
  const node_id highest = line_.at(line_.highest());
  if (std::exchange(asked_, highest) == highest) return false;
  const auto order = moved_far(line_, context_);
  if (order) line_ = order_line(g_, *order);
  return order.has_value();
}

/// Another order of a stretch that bisection lowers to the aim, or towards it.
MEMSCHED_FUNCTION std::optional<std::vector<node_id>> falling_aims::bisected(std::size_t first, std::size_t last, bytes goal,
                                                                             search& c, std::vector<node_id>& local) const {
  const auto improve = [&](const schedule_graph& part, const std::vector<node_id>& order, bytes) {
    return bisect{}.improve(part, c, order, goal);
  };
  return change_stretch(g_, line_, first, last, c, local, improve);
}

/// Lays the line out block by block, if that is better; returns the positions where blocks end.
MEMSCHED_FUNCTION std::vector<index_t> falling_aims::lay_out_blocks(const backbone& bone) {
  using blocks = std::vector<std::vector<node_id>>;
  const auto go_on = [&] { return context_.keep_going(); };
  blocks best = valley_blocks(line_, bone, go_on);
  std::vector<node_id> order = in_blocks(best);
  const bool several_strands = std::any_of(best.begin(), best.end(), [](const auto& b) { return b.size() > 1000; });
  if (several_strands && go_on()) {
    blocks slices = slice_blocks(line_, go_on);
    std::vector<node_id> other = in_blocks(slices);
    if (peak_of(g_, other) < peak_of(g_, order)) best = std::move(slices), order = std::move(other);
  }
  std::vector<index_t> ends;
  const bool in_one = std::any_of(best.begin(), best.end(), [&](const auto& b) { return b.size() > g_.size() / 2; });
  if (in_one && peak_of(g_, order) > line_.peak()) return ends;
  line_ = order_line(g_, order);
  index_t end = 0;
  for (const auto& block : best) {
    for (node_id v : block)
      if (!g_.is_release(v)) end = std::max(end, line_.position(v));
    const auto legal = static_cast<index_t>(line_.legal_from(end + std::size_t{1}));
    if (ends.empty() || legal > ends.back()) ends.push_back(legal);
  }
  return ends;
}

/// Each block in the line's order or a greedy one.
MEMSCHED_FUNCTION std::vector<node_id> falling_aims::in_blocks(const std::vector<std::vector<node_id>>& chain) {
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
MEMSCHED_FUNCTION void falling_aims::lower_blocks(const std::vector<index_t>& ends) {
  constexpr std::size_t group = 16;
  constexpr std::uint64_t most_states = std::uint64_t{1} << 16;  // far more than a block takes
  const auto start_of = [&](std::size_t i) -> std::size_t { return i == 0 ? 0 : ends[i - 1]; };
  const auto height_of = [&](std::size_t i) { return line_.highest_in(start_of(i), ends[i]); };
  crew* const team = context_.control().team();
  local_.resize(std::max(local_.size(), threads_of(team)), std::vector<node_id>(g_.size(), none));
  const auto over = [&] { return context_.control().over(); };
  struct lowered {
    std::optional<std::vector<node_id>> order{};
    std::optional<search> context{};
    std::uint64_t states = 0, work = 0;  // that it might have
  };
  while (!context_.stopped() && gap() > 0) {
    const bytes goal = aim(3, 5);
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
        auto found = lower_stretch(g_, line_, first, last, goal, 400, c, local_[member]);
        return found ? found : bisected(first, last, goal, c, local_[member]);
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
      if (found.order) line_.replace(line_.legal_from(start_of(i)), *found.order);
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
