// Dominator trees of acyclic graphs.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

/// The dominators of the vertices [0, n) of an acyclic graph: u dominates v if every path from a source to v holds u.
/// A virtual root, n, comes before all sources. Post-dominators: hand in successors and a reversed order.
///
/// In an acyclic graph the nearest dominator of v is the nearest common ancestor, in the tree so far, of v's
/// predecessors; jumps to far ancestors find it in O(log n) steps. O(edges log n), for any shape of graph.
class dominator_tree {
 public:
  /// `order` holds each vertex once, predecessors first; entries of `preds` at n or above are ignored.
  dominator_tree(const adjacency& preds, std::span<const index_t> order)
      : parent_(order.size() + 1, none),
        jump_(order.size() + 1),
        depth_(order.size() + 1, 0),
        first_(order.size() + 1, 0),
        size_(order.size() + 1, 1) {
    const index_t top = root();
    jump_[top] = top;
    for (index_t v : order) {
      index_t above = none;
      for (index_t u : preds[v])
        if (u < top) above = above == none ? u : nearest_common(above, u);
      hang(v, above == none ? top : above);
    }
    number(order);
  }

  index_t root() const { return static_cast<index_t>(parent_.size() - 1); }
  /// The nearest dominator of v other than v; none for the root.
  index_t parent(index_t v) const { return parent_[v]; }
  /// Whether u dominates v; each vertex dominates itself.
  bool dominates(index_t u, index_t v) const { return first_[v] - first_[u] < size_[u]; }
  /// The number of vertices that v dominates, itself included.
  index_t dominated(index_t v) const { return size_[v]; }

  /// The nearest vertex that dominates both.
  index_t nearest_common(index_t u, index_t v) const {
    if (depth_[u] < depth_[v]) std::swap(u, v);
    while (depth_[u] > depth_[v]) u = depth_[jump_[u]] >= depth_[v] ? jump_[u] : parent_[u];
    while (u != v) {
      const bool jumps = jump_[u] != jump_[v];
      u = jumps ? jump_[u] : parent_[u];
      v = jumps ? jump_[v] : parent_[v];
    }
    return u;
  }

 private:
  /// Jumps double if two jumps above have the same length (skew-binary numbers), so they depend on the depth alone.
  void hang(index_t v, index_t above) {
    parent_[v] = above;
    depth_[v] = depth_[above] + 1;
    const index_t jump = jump_[above];
    jump_[v] = depth_[above] - depth_[jump] == depth_[jump] - depth_[jump_[jump]] ? jump_[jump] : above;
  }

  /// Numbers vertices in pre-order, so that those that a vertex dominates form an interval.
  void number(std::span<const index_t> order) {
    for (std::size_t i = order.size(); i-- > 0;) size_[parent_[order[i]]] += size_[order[i]];
    std::vector<index_t> next(size_.size(), 1);
    for (index_t v : order) {
      first_[v] = first_[parent_[v]] + next[parent_[v]];
      next[parent_[v]] += size_[v];
    }
  }

  std::vector<index_t> parent_, jump_, depth_, first_, size_;
};

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
