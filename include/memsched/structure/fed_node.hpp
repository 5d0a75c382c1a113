// The one node that another one feeds.
#pragma once

#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// The node that v feeds: its one active successor or, if all are releases, the one that frees most. O(successors).
struct fed_node {
  node_id node = none;  ///< none if there are several active ones, or none that frees anything
  delta freed = 0;      ///< bytes that the others free: the *side releases* of v

  fed_node(const schedule_graph& g, node_id v) {
    const auto frees = [&](node_id s) { return g.is_release(s) ? -g.cost[s].impact : delta{0}; };
    node_id w = none;
    for (node_id s : g.succs[v]) {
      if (!g.is_release(s) && w != none && !g.is_release(w)) return;
      if (w == none || (g.is_release(w) && (!g.is_release(s) || frees(s) > frees(w)))) w = s;
      freed += frees(s);
    }
    if (w == none || (g.is_release(w) && frees(w) == 0)) return;
    freed -= frees(w);
    node = w;
  }
};

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched
