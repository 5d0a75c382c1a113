// Waists: nodes that come before or after every other node, whatever the order.
#pragma once

#include <algorithm>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>
#include <memsched/graph/topology.hpp>

namespace memsched {

/// The active nodes that are comparable with every other node, in the one order in which they can run. Every order has
/// run the same nodes when such a node runs, so cutting behind it loses nothing. O(nodes + edges).
///
/// In a topological order the node at position i is a waist where no edge passes over i. An edge from a start before the
/// sources and one to an end behind the sinks make sources and sinks elsewhere count as passing.
inline std::vector<node> waists(const schedule_graph& g) {
  const std::vector<node> order = topological_order(g.preds, g.succs);
  const std::size_t n = order.size();
  std::vector<std::size_t> position(n);
  for (std::size_t i = 0; i < n; ++i) position[order[i]] = i;
  std::size_t last_source = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (g.preds[order[i]].empty()) last_source = i;
  std::vector<node> found;
  std::size_t furthest = last_source;  // position that an edge from before i reaches; n behind a sink
  for (std::size_t i = 0; i < n; ++i) {
    if (furthest <= i && !g.is_release(order[i])) found.push_back(order[i]);
    if (g.succs[order[i]].empty()) furthest = n;
    for (node s : g.succs[order[i]]) furthest = std::max(furthest, position[s]);
  }
  return found;
}

}  // namespace memsched
