// Moves of nodes far along an order, found by one minimum cut.
#pragma once

#include <optional>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Another order of a line's nodes with a smaller peak, if far moves lead to one. Let v be the active node at the highest
/// position, and L a lowest set that can have run before it. Nodes of L that run after v are moved to where the level is
/// lowest between their predecessors and v, and nodes outside of L that run before v to where it is lowest between v and
/// their successors, each together with those among them that it is tied to. A move that raises the peak is left out. One
/// minimum cut of the graph, for an eighth of the work that is left at most, and O(nodes + edges) for each of at most 16 moves.
MEMSCHED_FUNCTION std::optional<std::vector<node_id>> moved_far(const order_line& line, search& context);

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/walk.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The nodes that a lowest set before one node asks to move, in groups of tied ones that have room in their new place.
class far_moves {
 public:
  /// `low` is the set, v not in it. At most 16 groups, those that lower the level before v most.
  far_moves(const order_line& line, node_id v, const std::vector<node_id>& low)
      : line_(line), g_(line.graph()), middle_(line.position(v)), in_(g_.size(), false), group_(g_.size(), none) {
    constexpr std::size_t most_groups = 16;
    for (node_id u : low) in_[u] = true;
    std::vector<std::vector<node_id>> groups;
    plain_vector<std::pair<delta, std::size_t>> gains;
    for (std::size_t i = 0; i < line.size(); ++i)
      if (const node_id u = line.at(i); !g_.is_release(u) && moves(u) && group_[u] == none) {
        groups.push_back(tied_to(u));
        gains.emplace_back(-gain(groups.back()), gains.size());
      }
    std::sort(gains.begin(), gains.end());
    for (std::size_t i = 0; i < std::min(gains.size(), most_groups); ++i) add(std::move(groups[gains[i].second]));
  }

  struct move {
    std::vector<node_id> nodes;  ///< in the line's order
    std::size_t to;              ///< the position before which they run
  };
  const std::vector<move>& all() const { return moves_; }

  /// The line's order with some of the moves made.
  std::vector<node_id> order_with(const plain_vector<bool>& made) const {
    plain_vector<std::pair<std::size_t, std::size_t>> places;
    plain_vector<bool> away(g_.size(), false);
    for (std::size_t m = 0; m < moves_.size(); ++m) {
      if (!made[m]) continue;
      places.emplace_back(moves_[m].to, m);
      for (node_id u : moves_[m].nodes) away[u] = true;
    }
    std::sort(places.begin(), places.end());
    std::vector<node_id> order;
    order.reserve(g_.active);
    std::size_t next = 0;
    for (std::size_t i = 0; i <= line_.size(); ++i) {
      for (; next < places.size() && places[next].first == i; ++next)
        for (node_id u : moves_[places[next].second].nodes) order.push_back(u);
      if (i < line_.size() && !g_.is_release(line_.at(i)) && !away[line_.at(i)]) order.push_back(line_.at(i));
    }
    return order;
  }

 private:
  /// Whether a node stands on the wrong side of v.
  bool moves(node_id u) const {
    const std::size_t at = line_.position(u);
    return at != middle_ && in_[u] == (at > middle_);
  }

  /// By how much the level before v falls if these move. Bytes.
  delta gain(const std::vector<node_id>& members) const {
    delta sum = 0;
    for (node_id x : members)
      if (moves(x)) sum += in_[x] ? -g_.cost[x].impact : g_.cost[x].impact;
    return sum;
  }
  void add(std::vector<node_id> members) {
    const std::size_t to = place_of(members);
    if (height(members, to) >= static_cast<delta>(line_.peak())) return;
    std::erase_if(members, [&](node_id x) { return g_.is_release(x); });
    moves_.push_back({std::move(members), to});
  }
  /// The nodes that move in u's direction and are tied to u by edges, or by releases that wait for both, and such releases; in
  /// the line's order.
  std::vector<node_id> tied_to(node_id u) {
    std::vector<node_id> members, stack{u};
    group_[u] = u;
    while (!stack.empty()) {
      const node_id x = stack.back();
      stack.pop_back();
      members.push_back(x);
      const auto visit = [&](node_id y) {
        if (group_[y] != none || (!g_.is_release(y) && (!moves(y) || in_[y] != in_[u]))) return;
        group_[y] = u;
        stack.push_back(y);
      };
      for (node_id y : g_.preds[x]) visit(y);
      for (node_id y : g_.succs[x]) visit(y);
    }
    std::sort(members.begin(), members.end(), [&](node_id a, node_id b) { return line_.position(a) < line_.position(b); });
    return members;
  }
  /// The position of the lowest level, the first of several, between a group's predecessors and v if it is to run earlier, or
  /// between v and its successors.
  std::size_t place_of(const std::vector<node_id>& members) const {
    const bool earlier = in_[group_[members.front()]];
    std::size_t first = earlier ? 0 : middle_ + 1, last = earlier ? middle_ : line_.size();
    for (node_id x : members)
      for (node_id y : earlier ? g_.preds[x] : g_.succs[x]) {
        if (g_.is_release(x) || g_.is_release(y) || group_[y] == group_[x]) continue;
        if (earlier) first = std::max(first, line_.position(y) + std::size_t{1});
        else last = std::min(last, std::size_t{line_.position(y)});
      }
    std::size_t best = last;
    for (std::size_t i = last; i-- > first;)
      if (line_.legal(i) && line_.level(i) <= line_.level(best)) best = i;
    return best;
  }
  /// The height of a group that runs before position `to`, its credits spared.
  delta height(const std::vector<node_id>& members, std::size_t to) const {
    delta level = line_.level(to), top = level;
    for (node_id x : members)
      if (line_.position(x) < to) level -= g_.cost[x].impact;
    std::vector<index_t> waits(g_.size(), none);  // per release: how many of its nodes run later
    const auto runs_later = [&](node_id y) { return group_[y] == group_[members.front()] || line_.position(y) >= to; };
    for (node_id x : members) {
      if (g_.is_release(x)) continue;
      delta peak = g_.cost[x].peak;
      for (const auto& c : g_.credits[x]) peak -= c.amount;
      top = std::max(top, level + peak);
      level += g_.cost[x].impact;
      for (node_id r : g_.succs[x]) {
        if (!g_.is_release(r)) continue;
        if (waits[r] == none)
          waits[r] = static_cast<index_t>(std::count_if(g_.preds[r].begin(), g_.preds[r].end(), runs_later));
        if (--waits[r] == 0) level += g_.cost[r].impact;
      }
    }
    return top;
  }

  const order_line& line_;
  const schedule_graph& g_;
  std::size_t middle_;
  plain_vector<bool> in_;
  std::vector<node_id> group_;  // a node of the group of each, or none
  std::vector<move> moves_;
};

MEMSCHED_FUNCTION std::optional<std::vector<node_id>> moved_far(const order_line& line, search& context) {
  const schedule_graph& g = line.graph();
  const std::size_t at = line.around(line.highest(), 0).first;
  if (line.size() == 0 || !context.control().count_cut()) return std::nullopt;
  const node_id v = line.at(at);
  cut_bound cut(g);
  constexpr std::uint64_t of_a_unit = search_control::visits_of_a_unit;
  const std::uint64_t most_visits = std::min(context.control().work_left() / 8, no_limit / of_a_unit) * of_a_unit;
  const bytes lowest = cut.at(v, 0, [&] { return cut.work() <= most_visits && context.keep_going(); });
  const bool solved = cut.work() <= most_visits;
  context.control().spend_visits(cut.work());
  if (!solved || context.stopped() || static_cast<delta>(lowest) >= line.height(at)) return std::nullopt;
  const far_moves moves(line, v, cut.ran());
  plain_vector<bool> made(moves.all().size(), false);
  std::vector<node_id> best;
  bytes peak = line.peak();
  for (std::size_t m = 0; m < made.size() && context.keep_going(); ++m) {
    context.control().spend(g.size() / 256);
    made[m] = true;
    std::vector<node_id> order = moves.order_with(made);
    const bytes other = peak_of(g, order);
    made[m] = other <= peak;
    if (made[m]) peak = other, best = std::move(order);
  }
  if (peak >= line.peak()) return std::nullopt;
  return best;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
