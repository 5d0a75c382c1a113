// A longest path of an acyclic graph, and where it meets each vertex.
#pragma once

#include <algorithm>
#include <memsched/base/adjacency.hpp>
#include <span>
#include <vector>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

/// A longest path c0, c1, ... of an acyclic graph. For each vertex x it keeps `first(x)`, the least i such that x is c_i or
/// comes before it, and `last(x)`, the greatest i such that c_i is x or comes before x. If first(u) <= last(v), u is
/// c_i or before it and c_i is v or before it, with i = first(u): so u comes before v. The converse does not hold: vertices
/// may be ordered by paths that avoid this one. O(vertices + edges) to build, O(1) to ask.
class backbone {
 public:
  backbone() = default;
  /// `order` holds each vertex once, predecessors first.
  backbone(const adjacency& preds, const adjacency& succs, std::span<const index_t> order)
      : first_(order.size(), none), last_(order.size(), none) {
    std::vector<index_t> length(order.size(), 0), before(order.size(), none);
    index_t end = none;
    for (index_t v : order) {
      for (index_t u : preds[v])
        if (length[u] + 1 > length[v]) length[v] = length[u] + 1, before[v] = u;
      if (end == none || length[v] > length[end]) end = v;
    }
    for (; end != none; end = before[end]) path_.push_back(end);
    std::reverse(path_.begin(), path_.end());
    for (index_t i = 0; i < path_.size(); ++i) first_[path_[i]] = last_[path_[i]] = i;
    for (std::size_t i = order.size(); i-- > 0;)
      for (index_t s : succs[order[i]]) first_[order[i]] = std::min(first_[order[i]], first_[s]);
    for (index_t v : order)
      for (index_t u : preds[v])
        if (last_[u] != none && (last_[v] == none || last_[v] < last_[u])) last_[v] = last_[u];
  }

  const std::vector<index_t>& path() const { return path_; }
  /// `none`, the largest index, if x comes before no vertex of the path.
  index_t first(index_t x) const { return first_[x]; }
  /// `none` if no vertex of the path comes before x.
  index_t last(index_t x) const { return last_[x]; }
  /// Returns true only if u comes before v; false says nothing.
  bool proves_before(index_t u, index_t v) const { return u != v && last_[v] != none && first_[u] <= last_[v]; }

 private:
  std::vector<index_t> path_, first_, last_;
};

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
