// Width: the number of nodes that can be ready together.
#pragma once

#include <optional>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// The size of the largest set of active nodes none of which comes before another: the active nodes less a maximum
/// matching of each to a later one (Dilworth). Nothing for graphs of more than `max_nodes` nodes, since it takes
/// O(nodes^3 / 64) in the worst case and nodes^2 / 4 bytes.
MEMSCHED_FUNCTION std::optional<std::size_t> width(const schedule_graph& g, std::size_t max_nodes = 4096);

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <vector>

#include <memsched/structure/reachability.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

MEMSCHED_FUNCTION std::optional<std::size_t> width(const schedule_graph& g, std::size_t max_nodes) {
  if (g.size() > max_nodes) return std::nullopt;
  const reachability reach(g);
  std::vector<node_id> matched(g.size(), none);  // the earlier node that a later one is matched to
  bit_set open(g.size());
  std::vector<std::pair<node_id, node_id>> path;  // (earlier node, the later one it tries)
  std::size_t pairs = 0;
  const auto first_open = [&](node_id v) {
    const auto later = reach.descendants[v];
    const const_bit_row unseen = open;
    for (std::size_t k = 0; k < later.size(); ++k)
      if (const bit_word w = later[k] & unseen[k]; w != 0)
        return static_cast<node_id>(k * 64 + static_cast<std::size_t>(std::countr_zero(w)));
    return none;
  };
  for (node_id root = 0; root < g.active; ++root) {
    open.clear();
    for (node_id v = 0; v < g.active; ++v) open.insert(v);
    path.assign(1, {root, none});
    while (!path.empty()) {
      auto& [v, tried] = path.back();
      tried = first_open(v);
      if (tried == none) {
        path.pop_back();
        continue;
      }
      open.erase(tried);
      if (matched[tried] != none) {
        path.emplace_back(matched[tried], none);
        continue;
      }
      for (const auto& [earlier, later] : path) matched[later] = earlier;
      ++pairs;
      break;
    }
  }
  return g.active - pairs;
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
