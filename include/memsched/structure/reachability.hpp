// Ancestors and descendants of every node.
#pragma once

#include <optional>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// Rows of the transitive closure, without the node itself. 2 * size^2 / 8 bytes, O(size * edges / 64).
struct reachability {
  bit_matrix ancestors, descendants;

  explicit reachability(const schedule_graph& g) : ancestors(g.size(), g.size()), descendants(g.size(), g.size()) {
    const std::vector<node_id> order = base::topological_order(g.preds, g.succs);
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

/// The ancestors alone, for each node those that are active: size * active / 8 bytes. Nothing if `go_on()`, asked now and then,
/// is false.
inline std::optional<bit_matrix> active_ancestors(const schedule_graph& g, function_ref<bool()> go_on) {
  constexpr std::size_t between_looks = std::size_t{1} << 16;  // words
  auto ancestors = bit_matrix::make(g.size(), g.active, go_on);
  if (!ancestors) return ancestors;
  std::size_t words = 0;
  for (node_id v : base::topological_order(g.preds, g.succs)) {
    words += (1 + g.preds[v].size()) * words_for(g.active);
    if (words > between_looks && (words = 0, !go_on())) return std::nullopt;
    for (node_id u : g.preds[v]) {
      unite_bits((*ancestors)[v], (*ancestors)[u]);
      if (!g.is_release(u)) set_bit((*ancestors)[v], u);
    }
  }
  return ancestors;
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched
