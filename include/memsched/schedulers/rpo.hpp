// Reverse post-order: what a compiler gets from a depth-first walk of its graph.
#pragma once

#include <utility>
#include <vector>

#include <memsched/policy/policy.hpp>

namespace memsched {

/// Depth-first post-order from the graph's roots over predecessors in input order, as HMCOS has it (section 4.1).
/// Nodes that no root needs follow, by index. O(nodes + edges).
struct rpo {
  static constexpr bool is_baseline = true;

  solution operator()(const schedule_graph& g, search&) const {
    solution s;
    s.order.reserve(g.active);
    std::vector<bool> seen(g.active, false);
    std::vector<std::pair<node, std::size_t>> path;  // (node, next predecessor to visit)
    const auto visit = [&](node root) {
      if (seen[root]) return;
      seen[root] = true;
      path.emplace_back(root, 0);
      while (!path.empty()) {
        auto& [v, next] = path.back();
        if (next == g.preds[v].size()) {
          s.order.push_back(v);
          path.pop_back();
        } else if (const node u = g.preds[v][next++]; !seen[u]) {
          seen[u] = true;
          path.emplace_back(u, 0);
        }
      }
    };
    for (node root : g.roots) visit(root);
    for (node v = 0; v < g.active; ++v) visit(v);
    return s;
  }
};

}  // namespace memsched
