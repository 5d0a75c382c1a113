// The exact engine: bottleneck best-first search over sets of nodes that have run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/graph/walk.hpp>
#include <memsched/policy/policy.hpp>
#include <memsched/schedulers/downsets.hpp>
#include <memsched/schedulers/greedy.hpp>

namespace memsched {

/// Searches the downsets of a graph, cheapest peak first and deepest first among equals, from a start no cheaper than
/// the context's floor, for an order whose peak is below the incumbent's. One entry per downset.
///
/// `macros`: branch only over nodes that may free memory; nodes whose peak is their impact ("zero-drop") wait until one
/// of their descendants is chosen. Exact: the first other node of an order can be moved, with its ancestors, to the
/// front; the zero-drop nodes that it overtakes then run at no higher level.
/// `commits`: where a choice ends no higher than it starts and stays under the peak in force, take it and no other.
/// Exact: what it ran can be deleted from any completion, which then runs at no higher level (modularity of levels).
/// Both hold with credits, since nodes with credits and those that share a release with them are never zero-drop.
///
/// At a limit it answers with the incumbent and the cheapest peak that is still open.
struct best_first {
  bool macros = true;
  bool commits = true;
  std::size_t max_nodes = 1 << 14;  ///< larger graphs are answered with the incumbent; the closure takes n^2/4 bytes

  solution operator()(const schedule_graph& g, search& context) const;
  /// Starts from an order that is known.
  solution improve(const schedule_graph& g, search& context, solution incumbent) const;

  /// What a search between two peaks says.
  struct finding {
    std::optional<std::vector<node>> order;  ///< the cheapest at or above `from`, where there is one below `below`
    bytes bound = 0;                         ///< no order has a peak from `from` on that is below this; at most `below`
  };
  /// Looks for an order with a peak below `below`; peaks below `from` are not told apart.
  finding between(const schedule_graph& g, search& context, bytes from, bytes below) const;
};

namespace detail {

class best_first_search {
 public:
  best_first_search(const schedule_graph& g, search& context, const best_first& policy, bytes from, bytes below)
      : g_(g), context_(context), moves_(g, policy.macros, policy.commits), table_(g.active),
        floor_(static_cast<delta>(std::max(from, g.base))), ceiling_(static_cast<delta>(below)) {}

  best_first::finding run() {
    context_.stats.nodes = std::max<std::uint64_t>(context_.stats.nodes, g_.active);
    if (floor_ >= ceiling_) return done(ceiling_);
    const bit_set nothing(g_.active);
    add(nothing, {floor_, static_cast<delta>(g_.base), none, none});
    while (!open_.empty()) {
      const delta cost = open_.begin()->first;
      const index at = pop();
      if (closed_[at] || entries_[at].cost != cost) continue;
      closed_[at] = true;
      if (!context_.count_state() || !context_.fits(bytes_held())) return done(cost);
      if ((context_.stats.states & 0xfff) == 0) context_.report(static_cast<bytes>(ceiling_), static_cast<bytes>(cost));
      if (expand(at)) return done(cost);
    }
    return done(ceiling_);
  }

 private:
  struct entry {
    delta cost, level;
    index parent;
    node target;
  };

  /// True where the downset is everything: its path becomes the incumbent.
  bool expand(index at) {
    const entry e = entries_[at];
    moves_.stepper().start(table_[at], e.level);
    moves_.settle(e.cost, [](node) {});
    const delta level = moves_.stepper().level();
    settled_.assign(moves_.stepper().set().begin(), moves_.stepper().set().end());
    if (count(settled_) == g_.active) return rebuild(at), true;
    const auto [place, fresh] = table_.insert(settled_);
    if (place != at) {
      if (fresh) entries_.push_back({e.cost, level, at, none}), closed_.push_back(true);
      else if (closed_[place]) return false;
      else entries_[place] = {e.cost, level, at, none}, closed_[place] = true;
    }
    children_ = moves_.from(settled_, level);
    // Best last, so that it is on top of its bucket: the lowest end first, then the lowest way.
    std::sort(children_.begin(), children_.end(), [](const auto& a, const auto& b) {
      return a.level != b.level ? a.level > b.level : a.peak != b.peak ? a.peak > b.peak : a.target > b.target;
    });
    for (const auto& m : children_) {
      const delta cost = std::max(e.cost, m.peak);
      if (cost >= ceiling_) continue;
      moves_.stepper().start(settled_, level);
      moves_.run_to(m.target, settled_);
      add(moves_.stepper().set(), {cost, m.level, place, m.target});
    }
    return false;
  }

  void add(const_bit_row set, entry e) {
    const auto [place, fresh] = table_.insert(set);
    if (fresh) entries_.push_back(e), closed_.push_back(false);
    else if (closed_[place] || entries_[place].cost <= e.cost) return;
    else entries_[place] = e;
    open_[e.cost].push_back(place);
    ++queued_;
  }

  index pop() {
    auto& bucket = open_.begin()->second;
    const index at = bucket.back();
    bucket.pop_back();
    if (bucket.empty()) open_.erase(open_.begin());
    --queued_;
    return at;
  }

  /// Replays the path to a full downset; settling repeats itself, being a function of set, level and cost.
  void rebuild(index at) {
    std::vector<index> path;
    for (index i = at; i != none; i = entries_[i].parent) path.push_back(i);
    order_.emplace();
    const auto take = [&](node v) { order_->push_back(v); };
    for (std::size_t i = path.size(); i-- > 0;) {
      const entry& e = entries_[path[i]];
      if (e.target != none) {
        const entry& from = entries_[e.parent];
        moves_.stepper().start(table_[e.parent], from.level);
        moves_.run_to(e.target, table_[e.parent]);
        for (node v : moves_.path()) take(v);
      }
      moves_.stepper().start(table_[path[i]], e.level);
      moves_.settle(e.cost, take);
    }
  }

  best_first::finding done(delta bound) {
    return {std::move(order_), static_cast<bytes>(std::min(bound, ceiling_))};
  }

  std::uint64_t bytes_held() const {
    return table_.bytes_held() + entries_.capacity() * sizeof(entry) + closed_.capacity() / 8 + queued_ * sizeof(index);
  }

  const schedule_graph& g_;
  search& context_;
  downset_moves moves_;
  downset_table table_;
  std::vector<entry> entries_;
  std::vector<bool> closed_;
  std::map<delta, std::vector<index>> open_;
  std::uint64_t queued_ = 0;
  std::vector<word> settled_;
  std::vector<downset_moves::move> children_;
  std::optional<std::vector<node>> order_;
  delta floor_, ceiling_;
};

}  // namespace detail

inline best_first::finding best_first::between(const schedule_graph& g, search& context, bytes from, bytes below) const {
  if (g.active > max_nodes) return {std::nullopt, from};
  return detail::best_first_search(g, context, *this, from, below).run();
}

inline solution best_first::improve(const schedule_graph& g, search& context, solution incumbent) const {
  const bytes from = std::max(context.floor(), incumbent.lower_bound);
  finding f = between(g, context, from, peak_of(g, incumbent.order));
  if (f.order) incumbent.order = std::move(*f.order);
  incumbent.lower_bound = std::max(incumbent.lower_bound, f.bound);
  return incumbent;
}

inline solution best_first::operator()(const schedule_graph& g, search& context) const {
  return improve(g, context, greedy{}(g, context));
}

}  // namespace memsched
