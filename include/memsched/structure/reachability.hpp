// Ancestors and descendants of every node.
#pragma once

#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Rows of the transitive closure, without the node itself. 2 * size^2 / 8 bytes, O(size * edges / 64).
struct reachability {
  bit_matrix ancestors, descendants;

  explicit reachability(const schedule_graph& g) : ancestors(g.size(), g.size()), descendants(g.size(), g.size()) {
    const std::vector<node> order = topological_order(g.preds, g.succs);
    for (node v : order)
      for (node u : g.preds[v]) {
        unite(ancestors[v], ancestors[u]);
        set(ancestors[v], u);
      }
    for (std::size_t i = order.size(); i-- > 0;)
      for (node s : g.succs[order[i]]) {
        unite(descendants[order[i]], descendants[s]);
        set(descendants[order[i]], s);
      }
  }
};

}  // namespace memsched
