// Nodes that may wait until the one node that they feed is about to run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/structure/fed_node.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Low-drop nodes that feed another node, such as the products of a sum: to run them before it is about to run frees nothing.
///
/// Let v be a low-drop node, and w one of its successors, such that all others are releases: the *side releases* of v. Let
/// freed(v) be the bytes that these free. v *feeds* w if
/// 1. w is a release that frees something, or a node that is not low-drop and has no credits;
/// 2. freed(v) <= impact(v); and freed(x) <= impact(x) for each low-drop node x that a side release of v waits for, with
///    freed(x) for all releases after x that are side releases of any node;
/// 3. the nodes that feed w fit right before w: freed(u) + drop(u) <= peak(w) for each such u. Or they fit one before the
///    other, with w after the last: freed(u) + drop(u) <= peak(u') for any two, and w is a release, or impact(w) <= 0 and
///    peak(w) <= drop(u);
/// 4. there is room after w: freed(x) + drop(x) <= drop(w), for x as in 2. The drop of a release is the bytes that it frees
///    and the least drop of the nodes that feed it.
/// w is *due* at a downset D if it waits for nodes that feed it, and for no others.
///
/// Lemma (feeders). Premise: a completion of D. Exchange: for each w that is due, the nodes that feed it move right before w;
/// or right before the last of them, and w right after that. Conclusion: the peak is no higher.
/// Proof: while a node v waits, its impact is missing, and its side releases have not freed at most that (2). So the level is
/// no higher. Where v then runs, the level is above the one before w, or before the last node, by at most freed(v) -
/// impact(v); with v's peak, by freed(v) + drop(v). The peak was as high there (3). If w moves, it runs no higher than the
/// last node did, and the levels after it fall (3).
///
/// Lemma (moves). Premise: r is a side release that waits for a node that feeds a due w. Conclusion: `best_first` needs no
/// move from D to r, given the move to w.
/// Proof: take a completion as the lemma above leaves it. Let t come first in it of all nodes that are not low-drop and all
/// releases that free something. If t neither is a due w nor runs among the nodes that feed one, none of these has run before
/// t, and the lemma at `best_first` holds as it stands. Else all that ran before t is low-drop, and the move to w is open: w
/// and its ancestors move to the front. A side release that then waits for a node x that was overtaken is made up for by the
/// impact of x (2), so levels are no higher. And x runs no higher than the completion was when w ran, or the last node that
/// feeds it (4).
class feeders {
 public:
  /// `low_drop`: as `best_first` has it. O(nodes + edges).
  feeders(const schedule_graph& g, const bit_set& low_drop) : g_(g), fed_(g.size(), none), is_side_(g.size(), false) {
    plain_vector<delta> freed(g.size(), 0), room(g.size(), 0);
    for (node_id v = 0; v < g.active; ++v)
      if (low_drop[v]) find_fed(v, low_drop, freed[v]);
    for (node_id w = 0; w < g.size(); ++w)
      if (!may_be_fed(w, freed, room[w])) release_feeders(w);
    mark_side_releases();
    keep_feeders_with_room(low_drop, room);
    mark_side_releases();
  }

  /// The node that v feeds, or none.
  node_id fed_by(node_id v) const { return fed_[v]; }
  /// Whether r is a side release of some node.
  bool is_side(node_id r) const { return is_side_[r]; }
  /// Whether the move from the downset `ran` to r, a side release that waits for more, is left out.
  bool defer(node_id r, const_bit_row ran) const {
    return is_side_[r] && std::any_of(g_.preds[r].begin(), g_.preds[r].end(), [&](node_id v) {
             return !test_bit(ran, v) && fed_[v] != none && fed_[v] != r && is_due(fed_[v], ran);
           });
  }
  /// Moves the nodes that feed w to the end of a path from `ran` to w, if w is due; last the one that then has the lowest peak.
  /// `ancestors`: those of w. Returns how many nodes come before them.
  /// Lemma. Conclusion: no other order of them has a lower peak. Proof: together they add and free the same in any order. So
  /// the height of the last one depends on its drop and on its side releases that run then; the others run no higher (3).
  std::size_t run_last(node_id w, const_bit_row ran, const_bit_row ancestors, std::vector<node_id>& path) const {
    if (!is_due(w, ran)) return path.size();
    const auto first = std::stable_partition(path.begin(), path.end(), [&](node_id v) { return fed_[v] != w; });
    const auto runs = [&](node_id u) { return test_bit(ran, u) || test_bit(ancestors, u); };
    const auto height = [&](node_id v) {
      delta d = g_.cost[v].drop();
      for (node_id r : g_.succs[v])
        if (r != w && std::all_of(g_.preds[r].begin(), g_.preds[r].end(), runs)) d -= g_.cost[r].impact;
      return d;
    };
    auto last = first;
    delta lowest = std::numeric_limits<delta>::max();
    for (auto at = first; at != path.end(); ++at)
      if (const delta h = height(*at); h < lowest) lowest = h, last = at;
    if (last != path.end()) std::rotate(last, last + 1, path.end());
    return static_cast<std::size_t>(first - path.begin());
  }

 private:
  bool is_due(node_id w, const_bit_row ran) const {
    return std::all_of(g_.preds[w].begin(), g_.preds[w].end(), [&](node_id u) { return test_bit(ran, u) || fed_[u] == w; });
  }

  /// `freed`: bytes of the side releases.
  void find_fed(node_id v, const bit_set& low_drop, delta& freed) {
    const structure::fed_node fed(g_, v);
    if (fed.node == none || (!g_.is_release(fed.node) && low_drop[fed.node])) return;
    freed = fed.freed;
    if (freed <= g_.cost[v].impact) fed_[v] = fed.node;
  }

  /// `room`: how far above the level after w an order gets while w runs, or the last one that feeds w.
  bool may_be_fed(node_id w, const plain_vector<delta>& freed, delta& room) const {
    delta highest = 0, lowest_peak = std::numeric_limits<delta>::max(), lowest_drop = lowest_peak;
    for (node_id v : g_.preds[w]) {
      if (fed_[v] != w) continue;
      highest = std::max(highest, freed[v] + g_.cost[v].drop());
      lowest_peak = std::min(lowest_peak, g_.cost[v].peak);
      lowest_drop = std::min(lowest_drop, g_.cost[v].drop());
    }
    if (lowest_peak == std::numeric_limits<delta>::max()) return false;  // nothing feeds it
    const node_cost c = g_.cost[w];
    room = c.drop() + (g_.is_release(w) ? lowest_drop : 0);
    if (g_.is_release(w)) return highest <= lowest_peak;
    const bool follows = c.impact <= 0 && c.peak <= lowest_drop && highest <= lowest_peak;
    return g_.credits[w].empty() && (highest <= c.peak || follows);
  }
  void release_feeders(node_id w) {
    for (node_id v : g_.preds[w])
      if (fed_[v] == w) fed_[v] = none;
  }

  bool is_side_of(node_id r, node_id v) const { return g_.is_release(r) && fed_[v] != none && fed_[v] != r; }
  void mark_side_releases() {
    is_side_.assign(g_.size(), false);
    for (node_id v = 0; v < g_.active; ++v)
      for (node_id r : g_.succs[v])
        if (is_side_of(r, v)) is_side_[r] = true;
  }
  /// Leaves those for which all low-drop nodes of their side releases make up for these, and have room after the node that is
  /// fed.
  void keep_feeders_with_room(const bit_set& low_drop, const plain_vector<delta>& room) {
    plain_vector<delta> needed(g_.size(), 0);  // by the low-drop nodes that a release waits for
    for (node_id x = 0; x < g_.active; ++x) {
      if (!low_drop[x]) continue;
      delta freed = 0;
      for (node_id r : g_.succs[x]) freed -= is_side_[r] ? g_.cost[r].impact : 0;
      const delta need = freed <= g_.cost[x].impact ? freed + g_.cost[x].drop() : std::numeric_limits<delta>::max();
      for (node_id r : g_.succs[x]) needed[r] = std::max(needed[r], need);
    }
    for (node_id v = 0; v < g_.active; ++v)
      for (node_id r : g_.succs[v])
        if (is_side_of(r, v) && needed[r] > room[fed_[v]]) {
          fed_[v] = none;
          break;
        }
  }

  const schedule_graph& g_;
  std::vector<node_id> fed_;
  std::vector<bool> is_side_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
