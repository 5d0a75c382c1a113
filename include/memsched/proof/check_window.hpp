// The check that a window of an order bounds the whole, and the window's graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/proof/proof_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Makes a window's graph (docs/proofs.md, section 7). O(nodes + edges, times the resources live at its ends / 64).
class window_checker {
 public:
  window_checker(const schedule_graph& g, const proof::proof_window& w)
      : g_(g), w_(w), side_(g.size(), behind), place_(g.size(), none) {}

  /// The fault of the window; if there is none, `graph()` is its graph.
  std::string run() {
    if (std::string why = check_sets(); !why.empty()) return why;
    if (std::string why = check_resources(); !why.empty()) return why;
    if (std::string why = check_ends(); !why.empty()) return why;
    make();
    return check_made();
  }
  const schedule_graph& graph() const { return h_; }

 private:
  enum where : unsigned char { before, within, behind };
  /// A node that makes or frees storages which live at an end of the window, and their bytes.
  struct end {
    node_id node;
    bytes size;
  };

  std::string check_sets() {
    node_id next = 0;
    for (const auto& [first, last] : w_.before) {
      if (first < next || last <= first || last > g_.size()) return "before: not ascending ranges of nodes";
      for (node_id v = first; v < last; ++v) side_[v] = before;
      next = last;
    }
    opens_ = !w_.before.empty();
    std::size_t left = 0;
    for (index_t i = 0; i < w_.nodes.size(); ++i) {
      const node_id v = w_.nodes[i];
      if (v >= g_.size() || side_[v] != behind) return "nodes: one does not exist, or stands twice";
      side_[v] = within;
      if (g_.is_release(v)) continue;
      if (operators_ < i) return "nodes: an operator comes after a release";
      ++operators_;
    }
    for (node_id v = 0; v < g_.size(); ++v) {
      left += side_[v] == behind;
      for (node_id u : g_.preds[v])
        if (side_[u] > side_[v]) return "node " + std::to_string(v) + " waits for one that runs later";
    }
    closes_ = left > 0;
    return {};
  }

  /// Checks that levels are those of the resources: a node adds those from it, less those to it. Finds those that live at
  /// the ends.
  std::string check_resources() {
    std::vector<delta> impact(g_.size(), 0);
    delta start = 0;
    for (const auto& r : g_.resources) {
      if (r.size > base::max_total || (r.from != none && r.from >= g_.size()) || (r.to != none && r.to >= g_.size()))
        return "resources: out of range";
      const auto size = static_cast<delta>(r.size);
      (r.from == none ? start : impact[r.from]) += size;
      if (r.to != none) impact[r.to] -= size;
      if (r.from != none && r.to != none && !follows(r.from, r.to)) return "resources: one is freed before it is made";
      const where made = r.from == none ? before : side_[r.from], freed = r.to == none ? behind : side_[r.to];
      if (made == before && freed != before && r.from != none) producers_.push_back({r.from, r.size});
      if (made != behind && freed == behind && r.to != none) takers_.push_back({r.to, r.size});
    }
    if (start != static_cast<delta>(g_.base)) return "resources: are not what is live at the start";
    for (node_id v = 0; v < g_.size(); ++v)
      if (impact[v] != g_.cost[v].impact) return "resources: are not what node " + std::to_string(v) + " adds";
    for (auto* ends : {&producers_, &takers_}) {
      std::sort(ends->begin(), ends->end(), [](const end& a, const end& b) { return a.node < b.node; });
      std::vector<end> joined;
      for (const end& e : *ends)
        if (joined.empty() || joined.back().node != e.node) joined.push_back(e);
        else joined.back().size += e.size;
      *ends = std::move(joined);
    }
    return {};
  }
  /// Whether `from` is found among the nodes before `to`, by a short search.
  bool follows(node_id from, node_id to) const {
    constexpr std::size_t most = 256;
    std::vector<node_id> found{to};
    for (std::size_t i = 0; i < found.size() && found.size() < most; ++i)
      for (node_id u : g_.preds[found[i]]) {
        if (u == from) return true;
        if (found.size() < most) found.push_back(u);
      }
    return false;
  }

  /// Checks that the `behind` nodes come after all producers of resources that live at the start, and the `ahead` nodes before
  /// all that free resources which live at the end, but for `slack` bytes of these.
  std::string check_ends() const {
    const std::vector<node_id> order = base::topological_order(g_.preds, g_.succs);
    if (order.size() != g_.size()) return "the graph has a cycle";
    if (!opens_ && !w_.behind.empty()) return "behind: nothing runs before";
    if (!closes_ && !w_.ahead.empty()) return "ahead: nothing runs after";
    if (w_.slack > base::max_total) return "slack: is too large";
    const auto exists = [&](index_t i) { return i < operators_; };
    if (!std::all_of(w_.behind.begin(), w_.behind.end(), exists)) return "behind: is no operator of the window";
    if (!std::all_of(w_.ahead.begin(), w_.ahead.end(), exists)) return "ahead: is no operator of the window";
    const bytes early = missed(w_.behind, producers_, g_.preds, order);
    if (early > w_.slack) return "behind: a node may run before what is live at the start";
    if (missed(w_.ahead, takers_, g_.succs, {order.rbegin(), order.rend()}) > w_.slack - early)
      return "ahead: a node may run after what frees what is live at the end";
    for (index_t i : w_.ahead)
      for (const auto& k : g_.credits[w_.nodes[i]])
        if (side_[k.release] != within) return "ahead: a node has a credit of a release that is not in the window";
    return {};
  }
  /// Bytes of the ends to which ways along `next` do not lead from each listed node. `order`: nodes after those in `next`.
  bytes missed(const std::vector<index_t>& list, const std::vector<end>& ends, const adjacency& next,
               const std::vector<node_id>& order) const {
    bit_matrix marks(g_.size(), ends.size());
    for (std::size_t m = 0; m < ends.size(); ++m) set_bit(marks[ends[m].node], m);
    for (node_id v : order)
      for (node_id u : next[v]) unite_bits(marks[v], marks[u]);
    bytes sum = 0;
    for (std::size_t m = 0; m < ends.size(); ++m)
      if (std::any_of(list.begin(), list.end(), [&](index_t i) { return !test_bit(marks[w_.nodes[i]], m); }))
        sum += ends[m].size;
    return sum;
  }

  void make() {
    const auto more = static_cast<index_t>(opens_ + closes_), size = static_cast<index_t>(w_.nodes.size() + more);
    h_.active = operators_ + more;
    for (index_t i = 0; i < w_.nodes.size(); ++i) place_[w_.nodes[i]] = i < operators_ ? i : i + more;
    open_ = static_cast<index_t>(operators_), close_ = static_cast<index_t>(operators_ + opens_);
    delta start = static_cast<delta>(g_.base);
    for (node_id v = 0; v < g_.size(); ++v)
      if (side_[v] == before) start += g_.cost[v].impact;
    h_.base = static_cast<bytes>(std::max<delta>(start, 0));
    h_.cost.resize(size);
    least_lift_ = start;
    std::vector<std::pair<index_t, index_t>> edges;
    std::vector<std::pair<index_t, schedule_graph::credit>> credits;
    for (node_id v : w_.nodes) {
      h_.cost[place_[v]] = g_.cost[v];
      start += g_.cost[v].impact;
      least_lift_ += std::max<delta>(g_.cost[v].peak, 0) + std::max<delta>(g_.cost[v].impact, 0);
      for (node_id u : g_.preds[v])
        if (side_[u] == within) edges.emplace_back(place_[v], place_[u]);
      for (const auto& k : g_.credits[v])
        if (side_[k.release] == within) credits.emplace_back(place_[v], schedule_graph::credit{place_[k.release], k.amount});
    }
    least_lift_ += start;
    for (index_t i : w_.behind) edges.emplace_back(i, open_);
    for (index_t i : w_.ahead) edges.emplace_back(close_, i);
    h_.preds = adjacency::from_pairs(size, edges);
    h_.succs = base::transpose(h_.preds, size);
    h_.credits = list_of<schedule_graph::credit>::from_pairs(size, credits);
  }

  std::string check_made() {
    const auto lift = static_cast<delta>(w_.lift);
    if (w_.lift > base::max_total || (lift <= least_lift_ && (opens_ || closes_))) return "lift: is too small, or too large";
    if (opens_) h_.cost[open_] = {lift, lift};
    else h_.base += w_.lift;
    if (closes_) h_.cost[close_] = {0, -lift};
    if (!opens_ && !closes_) return "is the whole graph";
    if (opens_ && closes_ && !proof_graph(h_).below(open_)[close_]) return "its end need not come after its start";
    return {};
  }

  const schedule_graph& g_;
  const proof::proof_window& w_;
  std::vector<where> side_;
  std::vector<index_t> place_;           // in the window's graph
  std::vector<end> producers_, takers_;  // of resources live at the start; of those live at the end
  std::size_t operators_ = 0;
  bool opens_ = false, closes_ = false;
  index_t open_ = none, close_ = none;
  delta least_lift_ = 0;
  schedule_graph h_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
