// A part of a schedule graph as a schedule graph of its own.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// The nodes of `members` (ascending, releases last) with the edges among them, from level `base` on. Node i of the part
/// is members[i]. All nodes that ran before must be in place; a release whose readers do not all run by then must be left
/// out, and credits on it are void. `local` is scratch of g's size, all none, and is left so. O(members + their edges).
MEMSCHED_FUNCTION schedule_graph induced_subgraph(const schedule_graph& g, std::span<const node_id> members, bytes base,
                                                  std::vector<node_id>& local);

/// Those of some members that are no releases, in the same order, as nodes of that part.
inline std::vector<node_id> order_within(const schedule_graph& g, std::span<const node_id> members,
                                         std::span<const node_id> order) {
  std::vector<node_id> part;
  for (node_id v : order)
    if (!g.is_release(v))
      part.push_back(static_cast<node_id>(std::lower_bound(members.begin(), members.end(), v) - members.begin()));
  return part;
}

}  // namespace structure
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

MEMSCHED_FUNCTION schedule_graph induced_subgraph(const schedule_graph& g, std::span<const node_id> members, bytes base,
                                                  std::vector<node_id>& local) {
  schedule_graph part;
  part.base = base;
  for (node_id i = 0; i < members.size(); ++i) local[members[i]] = i;
  for (node_id v : members) {
    if (!g.is_release(v)) ++part.active;
    if (!g.is_release(v) && !g.scope.empty()) part.scope.push_back(g.scope[v]);
    part.cost.push_back(g.cost[v]);
    for (node_id u : g.preds[v])
      if (local[u] != none) part.preds.push(local[u]);
    part.preds.close();
    for (node_id s : g.succs[v])
      if (local[s] != none) part.succs.push(local[s]);
    part.succs.close();
    for (const auto& c : g.credits[v])
      if (local[c.release] != none) part.credits.push({local[c.release], c.amount});
    part.credits.close();
  }
  for (node_id v : g.roots)
    if (local[v] != none) part.roots.push_back(local[v]);
  for (node_id v : members) local[v] = none;
  return part;
}

}  // namespace structure
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
