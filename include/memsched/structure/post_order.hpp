// Depth-first post-orders of a schedule graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// The active nodes from the graph's roots over predecessors in the order of `before`, which has a list of them for each active
/// node; then, likewise, from the other nodes that no active one waits for, by index. O(nodes + edges).
MEMSCHED_FUNCTION std::vector<node_id> post_order(const schedule_graph& g, const adjacency& before);

/// The same over predecessors in input order.
inline std::vector<node_id> post_order(const schedule_graph& g) { return post_order(g, g.preds); }

/// A post-order with the predecessors of each node by falling need of their subtrees above the bytes that these leave. On a
/// tree with edges towards the root no post-order has a smaller peak (Liu 1986, On the storage requirement in the out-of-core
/// multifrontal method for sparse factorization). On another graph, a node belongs to the subtree of the first one that waits
/// for it in `post_order`. O(nodes + edges log edges).
MEMSCHED_FUNCTION std::vector<node_id> best_post_order(const schedule_graph& g);

}  // namespace structure
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

MEMSCHED_FUNCTION std::vector<node_id> post_order(const schedule_graph& g, const adjacency& before) {
  std::vector<node_id> order;
  order.reserve(g.active);
  plain_vector<bool> seen(g.active, false);
  plain_vector<std::pair<node_id, std::size_t>> path;  // (node, next predecessor to visit)
  const auto visit = [&](node_id root) {
    if (seen[root]) return;
    seen[root] = true;
    path.emplace_back(root, 0);
    while (!path.empty()) {
      auto& [v, next] = path.back();
      if (next == before[v].size()) {
        order.push_back(v);
        path.pop_back();
      } else if (const node_id u = before[v][next++]; !seen[u]) {
        seen[u] = true;
        path.emplace_back(u, 0);
      }
    }
  };
  for (node_id root : g.roots) visit(root);
  for (node_id v = 0; v < g.active; ++v)
    if (std::all_of(g.succs[v].begin(), g.succs[v].end(), [&](node_id w) { return g.is_release(w); })) visit(v);
  return order;
}

MEMSCHED_FUNCTION std::vector<node_id> best_post_order(const schedule_graph& g) {
  struct subtree {
    delta need = 0, left = 0;
  };
  plain_vector<subtree> subtrees(g.active);
  const auto key = [&](node_id u) { return std::pair(subtrees[u].left - subtrees[u].need, u); };
  plain_vector<bool> belongs(g.active, false);
  std::vector<node_id> neediest_first;
  std::vector<std::pair<node_id, node_id>> edges;  // by node, its predecessors in the order in which they run
  edges.reserve(g.preds.items());
  for (node_id v : post_order(g)) {
    neediest_first.assign(g.preds[v].begin(), g.preds[v].end());
    std::sort(neediest_first.begin(), neediest_first.end(), [&](node_id a, node_id b) { return key(a) < key(b); });
    delta need = 0, level = 0;
    for (node_id u : neediest_first) {
      edges.emplace_back(v, u);
      if (belongs[u]) continue;
      belongs[u] = true;
      need = std::max(need, level + subtrees[u].need);
      level += subtrees[u].left;
    }
    subtrees[v] = {std::max(need, level + g.cost[v].peak), level + g.cost[v].impact};
  }
  return post_order(g, adjacency::from_pairs(g.active, edges));
}

}  // namespace structure
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
