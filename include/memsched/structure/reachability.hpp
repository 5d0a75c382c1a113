// Ancestors and descendants of every node.
#pragma once

#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Rows of the transitive closure, without the node itself. 2 * size^2 / 8 bytes, O(size * edges / 64).
struct reachability {
  bit_matrix ancestors, descendants;

  explicit reachability(const schedule_graph& g) : ancestors(g.size(), g.size()), descendants(g.size(), g.size()) {
    const std::vector<node_id> order = topological_order(g.preds, g.succs);
    for (node_id v : order)
      for (node_id u : g.preds[v]) {
        unite_bits(ancestors[v], ancestors[u]);
        set_bit(ancestors[v], u);
      }
    for (std::size_t i = order.size(); i-- > 0;)
      for (node_id s : g.succs[order[i]]) {
        unite_bits(descendants[order[i]], descendants[s]);
        set_bit(descendants[order[i]], s);
      }
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
