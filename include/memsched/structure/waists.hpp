// Waists: nodes comparable with every other node, ignoring nodes that can float.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <memsched/base/bytes.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// Whether a node has a place of its own that is always best, so that a waist may disregard it.
enum class drift : unsigned char {
  firm,   ///< no drift
  early,  ///< only frees memory: peak 0, impact <= 0, no credits, or a release. Best as soon as it is ready
  late,   ///< only takes memory: peak == impact >= 0, no credits, waits on nothing but nodes that do not drift early.
          ///< Best just before it is needed, or at the end
};

/// The drift of every node. O(nodes + edges).
///
/// Early: moved to the place where it becomes ready, it lowers every level that it passes, and the levels at both ends of
/// its own run are no higher than the one at which it became ready. Late, with the late nodes that wait for it: moved
/// past others, it lowers the levels of those; its own run then ends at a level that was reached there before, since all
/// that is moved takes memory. No release waits for a late node, so none is delayed; a reader that is moved to an
/// earlier place takes no credit from another.
inline plain_vector<drift> drifts(const schedule_graph& g) {
  plain_vector<drift> found(g.size(), drift::firm);
  const auto plain = [&](node_id v) { return g.credits[v].empty(); };
  for (node_id v = 0; v < g.size(); ++v) {
    const delta peak = std::max(g.cost[v].peak, g.cost[v].impact);
    if (g.is_release(v) || (plain(v) && peak <= 0)) found[v] = drift::early;
  }
  for (node_id v = 0; v < g.active; ++v) {
    const bool takes = found[v] == drift::firm && plain(v) && g.cost[v].peak <= g.cost[v].impact && g.cost[v].impact >= 0;
    const auto succs = g.succs[v];
    if (takes && std::none_of(succs.begin(), succs.end(), [&](node_id s) { return found[s] == drift::early; }))
      found[v] = drift::late;
  }
  return found;
}

/// The firm nodes that are comparable with every other firm node, in the one order in which they can run.
/// O(nodes + edges).
///
/// With the firm nodes in topological order: the one at place i comes before all later ones if it is the only source
/// among those from i on, and after all earlier ones if it is the only sink among those up to i. A node is such a source
/// from after its last predecessor to its own place, and such a sink from there to before its first successor; a path
/// through drifting nodes counts as an edge.
MEMSCHED_FUNCTION std::vector<node_id> waists(const schedule_graph& g, const plain_vector<drift>& drifting);

/// The active nodes that are comparable with every other active node, in the one order in which they can run: whatever the
/// order, the same nodes have run when such a node runs. O(nodes + edges).
inline std::vector<node_id> waists(const schedule_graph& g) {
  plain_vector<drift> releases(g.size(), drift::firm);
  for (std::size_t v = g.active; v < g.size(); ++v) releases[v] = drift::early;
  return waists(g, releases);
}

/// Where every order can be made to pass without a higher peak.
struct hourglass {
  std::vector<node_id> waists;   ///< in the one order in which they can run
  plain_vector<drift> drifting;  ///< the nodes that the waists disregard

  /// The waists as above and those that disregard all drifting nodes. Every order can be made to pass each of them with
  /// its ancestors and the early nodes that are ready then, and no other: run the early nodes as soon as they are ready;
  /// then, waist by waist, move the other nodes before it to after it. That is late nodes only, and with each the nodes that
  /// wait for it. O(nodes + edges).
  explicit hourglass(const schedule_graph& g) : drifting(drifts(g)) {
    for (node_id v : structure::waists(g)) drifting[v] = drift::firm;
    waists = structure::waists(g, drifting);
  }
};

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/base/topology.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

MEMSCHED_FUNCTION std::vector<node_id> waists(const schedule_graph& g, const plain_vector<drift>& drifting) {
  const std::vector<node_id> order = base::topological_order(g.preds, g.succs);
  const auto firm = [&](node_id v) { return drifting[v] == drift::firm; };
  std::vector<node_id> row;
  plain_vector<std::size_t> place(g.size(), 0);
  for (node_id v : order)
    if (firm(v)) place[v] = row.size(), row.push_back(v);

  plain_vector<std::size_t> behind(g.size(), 0), before(g.size(), row.size());  // last predecessor, first successor
  for (node_id v : order)
    for (node_id u : g.preds[v]) behind[v] = std::max(behind[v], firm(u) ? place[u] + 1 : behind[u]);
  for (std::size_t i = order.size(); i-- > 0;)
    for (node_id s : g.succs[order[i]]) before[order[i]] = std::min(before[order[i]], firm(s) ? place[s] : before[s]);

  // Places where a node starts and ends to be either.
  std::vector<index_t> opened(row.size() + 1, 0), closed(row.size() + 1, 0);
  for (node_id v : row) {
    ++opened[behind[v]], ++closed[place[v] + 1];
    ++opened[place[v]], ++closed[before[v]];
  }
  std::vector<node_id> found;
  index_t open = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    open += opened[i] - closed[i];
    if (open == 2) found.push_back(row[i]);  // as a source and as a sink
  }
  return found;
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
