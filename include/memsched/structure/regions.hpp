// Parts of a graph that are tied to the rest at one first and one last node only (Fradet et al., section 6).
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>
#include <memsched/structure/waists.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Disjoint sets of nodes, each with one active node before and one behind all the others, through which all edges from
/// and to the rest of the graph lead; with the releases that wait for members only. Largest first, each of at least 4
/// and at most `max_nodes` active nodes. Left out are chains, parts with a share in a credit, and parts beside which
/// nothing can run. Members ascend. O(nodes * max_nodes^2) at worst, near linear in practice.
std::vector<std::vector<node>> regions(const schedule_graph& g, std::size_t max_nodes);

namespace detail {

class region_finder {
 public:
  region_finder(const schedule_graph& g, std::size_t max_nodes)
      : g_(g), max_nodes_(max_nodes), mark_(g.size(), none), is_waist_(g.size(), false), taken_(g.size(), false) {
    for (node v : waists(g)) is_waist_[v] = true;
    const std::vector<node> order = topological_order(g.preds, g.succs);
    before_ = tree(order.begin(), order.end(), g.preds);
    behind_ = tree(order.rbegin(), order.rend(), g.succs);
    fixed_.assign(g.size(), false);
    for (node v = 0; v < g.active; ++v)
      for (const credit& c : g.credits[v]) {
        fixed_[c.release] = true;
        for (node reader : g.preds[c.release]) fixed_[reader] = true;
      }
  }

  std::vector<std::vector<node>> run() {
    std::vector<std::vector<node>> found;
    for (node s = 0; s < g_.active; ++s) {
      node t = behind_.parent[s];
      for (std::size_t step = 0; t != none && step < max_nodes_; ++step, t = behind_.parent[t])
        if (comes_before(s, t) && !(is_waist_[s] && is_waist_[t]) && collect(s, t)) found.push_back(members_);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::erase_if(found, [&](const std::vector<node>& r) {
      if (std::any_of(r.begin(), r.end(), [&](node v) { return taken_[v]; })) return true;
      for (node v : r) taken_[v] = true;
      return false;
    });
    return found;
  }

 private:
  /// For each active node the nearest other that is on all ways from the start (or to the end) to it; none: the start.
  struct dominators {
    std::vector<node> parent;
    std::vector<index> depth;
  };

  template <class It>
  dominators tree(It first, It last, const adjacency& sources) const {
    dominators d{std::vector<node>(g_.size(), none), std::vector<index>(g_.size(), 0)};
    for (; first != last; ++first) {
      const node v = *first;
      if (g_.is_release(v)) continue;
      node common = none;
      bool fresh = true;
      for (node u : sources[v]) {
        if (g_.is_release(u)) continue;
        common = std::exchange(fresh, false) ? u : meet(d, common, u);
      }
      d.parent[v] = common;
      d.depth[v] = common == none ? 1 : d.depth[common] + 1;
    }
    return d;
  }
  static node meet(const dominators& d, node a, node b) {
    const auto depth = [&](node v) { return v == none ? 0 : d.depth[v]; };
    while (a != b) (depth(a) >= depth(b) ? a : b) = d.parent[depth(a) >= depth(b) ? a : b];
    return a;
  }

  bool comes_before(node s, node t) const {
    for (std::size_t step = 0; t != none && before_.depth[t] > before_.depth[s] && step < max_nodes_; ++step)
      t = before_.parent[t];
    return s == t;
  }

  /// The part from s to t into `members_`; false where it is too large, too simple or not closed.
  bool collect(node s, node t) {
    members_.assign(1, s);
    mark_[s] = ++now_;
    bool branches = false;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const node v = members_[i];
      if (fixed_[v] || members_.size() > max_nodes_) return false;
      if (v == t) continue;
      std::size_t next = 0;
      for (node w : g_.succs[v]) {
        if (g_.is_release(w)) continue;
        ++next;
        if (std::exchange(mark_[w], now_) != now_) members_.push_back(w);
      }
      branches |= next > 1;
    }
    return branches && members_.size() >= 4 && add_releases();
  }
  bool add_releases() {
    for (std::size_t i = 0, n = members_.size(); i < n; ++i)
      for (node r : g_.succs[members_[i]]) {
        if (!g_.is_release(r) || mark_[r] == now_) continue;
        for (node reader : g_.preds[r])
          if (mark_[reader] != now_) return false;
        mark_[r] = now_;
        members_.push_back(r);
      }
    std::sort(members_.begin(), members_.end());
    return true;
  }

  const schedule_graph& g_;
  std::size_t max_nodes_;
  std::vector<index> mark_;
  index now_ = 0;
  std::vector<bool> is_waist_, taken_, fixed_;
  dominators before_, behind_;
  std::vector<node> members_;
};

}  // namespace detail

inline std::vector<std::vector<node>> regions(const schedule_graph& g, std::size_t max_nodes) {
  return detail::region_finder(g, max_nodes).run();
}

}  // namespace memsched
