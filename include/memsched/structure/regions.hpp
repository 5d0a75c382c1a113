// Parts of a graph that are tied to the rest at one first and one last node only (Fradet et al., section 6).
#pragma once

#include <cstddef>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// Disjoint sets of nodes, each with one active node before and one after all the others, through which all edges from
/// and to the rest of the graph lead; with the releases that wait for members only. Largest first, each of at least 4
/// and at most `max_nodes` active nodes. Left out are chains, parts with a share in a credit, and parts beside which
/// nothing can run. Members ascend. Stops when `go_on` returns false. O(edges log nodes + nodes * max_nodes^2) at
/// worst, near linear in practice.
MEMSCHED_FUNCTION std::vector<std::vector<node_id>> regions(const schedule_graph& g, std::size_t max_nodes,
                                                            function_ref<bool()> go_on);

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

#include <memsched/base/dominators.hpp>
#include <memsched/structure/waists.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class region_finder {
 public:
  region_finder(const schedule_graph& g, std::size_t max_nodes) : region_finder(g, max_nodes, g.topological_order()) {}

  std::vector<std::vector<node_id>> run(function_ref<bool()> go_on) {
    std::vector<std::vector<node_id>> found;
    for (node_id s = 0; s < g_.active && (s % 256 != 0 || go_on()); ++s) {
      // Up to the first node with several after it there is a chain alone.
      std::size_t step = chain_[s].nodes;
      if (step >= max_nodes_) continue;
      size_ = 0;
      for (node_id t = behind_.parent(chain_[s].last); t != behind_.root() && step < max_nodes_ && size_ <= max_nodes_;
           ++step, t = behind_.parent(t))
        if (before_.dominates(s, t) && !(is_waist_[s] && is_waist_[t]) && collect(s, t)) found.push_back(members_);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::erase_if(found, [&](const std::vector<node_id>& r) {
      if (std::any_of(r.begin(), r.end(), [&](node_id v) { return taken_[v]; })) return true;
      for (node_id v : r) taken_[v] = true;
      return false;
    });
    return found;
  }

 private:
  region_finder(const schedule_graph& g, std::size_t max_nodes, std::vector<node_id> order)
      : g_(g),
        max_nodes_(max_nodes),
        mark_(g.size(), none),
        is_waist_(g.size(), false),
        taken_(g.size(), false),
        before_(g.preds, order),
        behind_(g.succs, (std::reverse(order.begin(), order.end()), order)),
        chain_(g.size()) {
    for (node_id v : waists(g)) is_waist_[v] = true;
    for (node_id v : order) {  // from the last on
      const node_id w = only_active(g, g.succs[v]);
      chain_[v] = w == none ? chain{v, 0} : chain{chain_[w].last, chain_[w].nodes + 1};
    }
    fixed_.assign(g.size(), false);
    for (node_id v = 0; v < g.active; ++v)
      for (const auto& c : g.credits[v]) {
        fixed_[c.release] = true;
        for (node_id reader : g.preds[c.release]) fixed_[reader] = true;
      }
  }

  /// The part from s to t into `members_`; false if it is too large, too simple or not closed.
  bool collect(node_id s, node_id t) {
    members_.assign(1, s);
    mark_[s] = ++now_;
    bool branches = false;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const node_id v = members_[i];
      if (fixed_[v] || (size_ = members_.size()) > max_nodes_) return false;
      if (v == t) continue;
      std::size_t next = 0;
      for (node_id w : g_.succs[v]) {
        if (g_.is_release(w)) continue;
        ++next;
        if (std::exchange(mark_[w], now_) != now_) members_.push_back(w);
        if ((size_ = members_.size()) > max_nodes_) return false;
      }
      branches |= next > 1;
    }
    return branches && members_.size() >= 4 && add_releases();
  }
  bool add_releases() {
    for (std::size_t i = 0, n = members_.size(); i < n; ++i)
      for (node_id r : g_.succs[members_[i]]) {
        if (!g_.is_release(r) || mark_[r] == now_) continue;
        for (node_id reader : g_.preds[r])
          if (mark_[reader] != now_) return false;
        mark_[r] = now_;
        members_.push_back(r);
      }
    std::sort(members_.begin(), members_.end());
    return true;
  }

  /// The nodes from one on that have a single active node after them, and the first that has not.
  struct chain {
    node_id last = none;
    std::size_t nodes = 0;
  };

  const schedule_graph& g_;
  std::size_t max_nodes_;
  std::vector<index_t> mark_;
  index_t now_ = 0;
  std::vector<bool> is_waist_, taken_, fixed_;
  dominator_tree before_, behind_;
  std::vector<chain> chain_;
  std::size_t size_ = 0;  // of the part that was collected last; those that end later are larger
  std::vector<node_id> members_;
};

}  // namespace detail
namespace structure {

MEMSCHED_FUNCTION std::vector<std::vector<node_id>> regions(const schedule_graph& g, std::size_t max_nodes,
                                                            function_ref<bool()> go_on) {
  return detail::region_finder(g, max_nodes).run(go_on);
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
