// Minimum cuts of a stretch of an order, which bound the whole graph.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <memsched/base/backbone.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/lowest_set.hpp>
#include <memsched/structure/line.hpp>
#include <utility>
#include <vector>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// The resources that are live between two positions of a line. Each is kept once, in a list of those of about its length
/// that begin near it, so that memory is that of the resources and a question takes time in proportion to the resources live
/// there. O(resources) to build. Valid until the line changes.
class live_index {
 public:
  explicit live_index(const order_line& l) : line_(&l), first_(levels + 1, 0) {
    const std::size_t n = l.size();
    plain_vector<std::pair<index_t, index_t>> pairs;
    for (std::size_t k = 0; k < levels; ++k) first_[k + 1] = first_[k] + (n >> k) + 1;
    const auto& resources = l.graph().resources;
    for (index_t i = 0; i < resources.size(); ++i) {
      const auto [begin, end] = extent(i);
      const auto k = static_cast<std::size_t>(std::bit_width((end - begin) | 1) - 1);
      pairs.emplace_back(static_cast<index_t>(first_[k] + (begin >> k)), i);
    }
    lists_ = list_of<index_t>::from_pairs(first_[levels], pairs);
  }

  /// Calls f(resource) for each that is live before position i: its `from` is in front of i and its `to` is not.
  template <class F>
  void for_each(std::size_t i, F&& f) const {
    for (std::size_t k = 0; k < levels; ++k) {
      const std::size_t block = i >> k;
      for (std::size_t b = block - std::min<std::size_t>(block, 2); b <= block && first_[k] + b < first_[k + 1]; ++b)
        for (index_t r : lists_[first_[k] + b])
          if (const auto [begin, end] = extent(r); begin <= i && i <= end) f(line_->graph().resources[r]);
    }
  }

 private:
  static constexpr std::size_t levels = 32;

  /// The first and the last position before which resource r is live.
  std::pair<std::size_t, std::size_t> extent(index_t r) const {
    const auto& x = line_->graph().resources[r];
    return {x.from == none ? 0 : line_->position(x.from) + std::size_t{1},
            x.to == none ? line_->size() : line_->position(x.to)};
  }

  const order_line* line_;
  plain_vector<std::size_t> first_;  // list of each level
  list_of<index_t> lists_;
};

/// The bound that one node gives, from a minimum cut over a stretch [a, b) of a line alone.
///
/// Let D0 and D1 be the nodes before a and before b, v a node between them. slack0 is the bytes of the resources that are live
/// at a and have a producer that need not run before v, slack1 the bytes of those that are live at b and have a taker, which
/// frees them, that need not run after v. Lemma: if v runs with D having run, level(D) >= level(F) - slack0 - slack1 for F =
/// (D | D0) & D1, which holds v's ancestors in the stretch and neither v nor its descendants; so the lowest such F bounds
/// level(D).
/// Proof. level is modular: level(D | D0) = level(D) + level(D0) - level(D & D0). D & D0 holds the ancestors of v in D0, so
/// a resource that is live at a and has an ancestor as its producer is live there, as its taker is not in D0: level(D & D0) >=
/// level(D0) - slack0. Likewise at the other end, with D | D0 | D1 = D | D1, where the resources that a descendant of v frees
/// are live: level(D | D1) >= level(D1) - slack1. Add up.
/// Ancestors may be missed, which adds to the slack. v's credits are taken off its peak, all of them.
class windowed_cut {
 public:
  windowed_cut(const order_line& l, const live_index& live, const backbone& bone)
      : g_(&l.graph()), line_(&l), live_(&live), bone_(&bone), lowest_(l.graph()), side_(l.size()), stamp_(l.size(), 0) {}

  struct result {
    bytes bound = 0;  ///< no order of the graph has a smaller peak
    bytes slack_before = 0, slack_behind = 0;
  };
  /// a and b are legal and v, an active node, stands between them. O(nodes and edges of the stretch, resources live at its
  /// ends), and one minimum cut.
  result at(node_id v, std::size_t a, std::size_t b) {
    ++now_;
    const auto known_before = [&](node_id u, node_id w) { return bone_->proves_before(u, w); };
    place(v, after);
    spread(g_->succs, after, [&](node_id u) { return line_->position(u) < b; });
    for (node_id u : g_->preds[v]) place(u, before), work_ += 1;
    const delta ancestors = spread(g_->preds, before, [&](node_id u) { return line_->position(u) >= a; });
    lowest_.clear();
    for (node_id u : line_->nodes(a, b))
      if (side(u) == undecided) lowest_.add(u);
    delta level = line_->level(a) + ancestors + lowest_.solve(g_->preds);
    result r;
    live_->for_each(a, [&](const schedule_graph::resource& x) {
      ++work_;
      if (x.from != none && side(x.from) != before && !known_before(x.from, v)) r.slack_before += x.size;
    });
    live_->for_each(b, [&](const schedule_graph::resource& x) {
      ++work_;
      if (x.to != none && x.to != v && side(x.to) != after && !known_before(v, x.to)) r.slack_behind += x.size;
    });
    work_ += b - a;
    delta peak = g_->cost[v].peak;
    for (const auto& c : g_->credits[v]) peak -= c.amount;
    level += std::max<delta>(peak, 0) - static_cast<delta>(r.slack_before + r.slack_behind);
    r.bound = static_cast<bytes>(std::max<delta>(level, 0));
    return r;
  }

  /// The ends of a stretch around position i, an active node's, that leave the least slack for a cut there, of some that
  /// reach about so far. Asks `go_on` before each cut, and tells `found` of its bound.
  template <class GoOn, class Found>
  std::pair<std::size_t, std::size_t> best_ends(std::size_t i, std::size_t reach, GoOn&& go_on, Found&& found) {
    auto best = line_->around(i, reach);
    constexpr bytes unknown = std::numeric_limits<bytes>::max();
    std::pair<bytes, bytes> least{unknown, unknown};
    for (std::size_t k = 0; k < 4 && go_on(); ++k) {
      const auto [a, b] = line_->around(i, reach + k * reach / 4);
      const result r = at(line_->at(i), a, b);
      found(r.bound);
      if (r.slack_before < least.first) least.first = r.slack_before, best.first = a;
      if (r.slack_behind < least.second) least.second = r.slack_behind, best.second = b;
    }
    return best;
  }

  /// Nodes and edges visited by all calls so far.
  std::uint64_t work() const { return work_ + lowest_.work(); }

 private:
  enum where : unsigned char { undecided, before, after };
  where side(node_id u) const { return stamp_[u] == now_ ? side_[u] : undecided; }
  void place(node_id u, where w) {
    if (side(u) == undecided) side_[u] = w, stamp_[u] = now_, stack_.push_back(u);
  }

  /// Places all that the placed nodes lead to; goes on from those that are `inside` alone. Returns the impact of these, but
  /// for nodes that were placed on the other side.
  template <class Inside>
  delta spread(const adjacency& next, where w, Inside inside) {
    delta impact = 0;
    while (!stack_.empty()) {
      const node_id u = stack_.back();
      stack_.pop_back();
      if (!inside(u)) continue;
      impact += g_->cost[u].impact;
      work_ += next[u].size();
      for (node_id x : next[u]) place(x, w);
    }
    return impact;
  }

  const schedule_graph* g_;
  const order_line* line_;
  const live_index* live_;
  const backbone* bone_;
  lowest_set lowest_;
  plain_vector<where> side_;
  std::vector<index_t> stamp_;
  std::vector<node_id> stack_;
  index_t now_ = 0;
  std::uint64_t work_ = 0;
};

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched
