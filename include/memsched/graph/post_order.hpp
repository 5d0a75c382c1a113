// Depth-first post-order of a schedule graph.
#pragma once

#include <utility>
#include <vector>

#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The active nodes from the graph's roots over predecessors in input order; nodes that no root needs follow, by index.
/// O(nodes + edges).
inline std::vector<node_id> post_order(const schedule_graph& g) {
  std::vector<node_id> order;
  order.reserve(g.active);
  base::plain_vector<bool> seen(g.active, false);
  base::plain_vector<std::pair<node_id, std::size_t>> path;  // (node, next predecessor to visit)
  const auto visit = [&](node_id root) {
    if (seen[root]) return;
    seen[root] = true;
    path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [v, next] = path.back();
      if (next == g.preds[v].size()) {
        order.push_back(v);
        path.pop_back();
      } else if (const node_id u = g.preds[v][next++]; !seen[u]) {
        seen[u] = true;
        path.emplace_back(u, 0);
      }
    }
  };
  for (node_id root : g.roots) visit(root);
  for (node_id v = 0; v < g.active; ++v) visit(v);
  return order;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
