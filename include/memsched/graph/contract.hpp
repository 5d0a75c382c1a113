// Groups of nodes as single nodes.
#pragma once

#include <vector>

#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A graph whose nodes stand for sequences of nodes of another one.
struct fused_graph {
  schedule_graph graph;
  list_of<node_id> members;  ///< per active node of `graph`: the nodes that it runs, in this order
};

/// Active nodes that are to become one, in the order in which it runs them, and their cost together.
struct node_group {
  std::vector<node_id> order;
  node_cost cost;
};

/// g, each of its nodes for itself.
inline fused_graph unfused(const schedule_graph& g) {
  fused_graph f{g, {}};
  for (node_id v = 0; v < g.active; ++v) f.members.push(v), f.members.close();
  return f;
}

/// f with each group as one node. Groups are disjoint and close no circle. A release that only one group reads vanishes
/// in it with the credits on it, so that its impact must be part of the group's. O(nodes + edges).
MEMSCHED_FUNCTION fused_graph contract(const fused_graph& f, const std::vector<node_group>& groups);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <span>
#include <utility>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION fused_graph contract(const fused_graph& f, const std::vector<node_group>& groups) {
  const schedule_graph& g = f.graph;
  std::vector<index_t> group_of(g.active, none);
  for (index_t i = 0; i < groups.size(); ++i)
    for (node_id v : groups[i].order) group_of[v] = i;

  std::vector<node_id> group_id(groups.size(), none), id(g.size(), none), first;  // first: one old node of each new one
  for (node_id v = 0; v < g.active; ++v) {
    const index_t i = group_of[v];
    if (i != none && group_id[i] != none) {
      id[v] = group_id[i];
      continue;
    }
    id[v] = static_cast<node_id>(first.size());
    if (i != none) group_id[i] = id[v];
    first.push_back(v);
  }
  fused_graph out;
  schedule_graph& h = out.graph;
  h.base = g.base;
  h.active = first.size();
  for (node_id r = static_cast<node_id>(g.active); r < g.size(); ++r) {
    const auto readers = g.preds[r];
    const index_t i = group_of[readers[0]];
    if (i == none || std::any_of(readers.begin(), readers.end(), [&](node_id v) { return group_of[v] != i; })) {
      id[r] = static_cast<node_id>(first.size());
      first.push_back(r);
    }
  }

  std::vector<node_id> seen(first.size(), none);
  for (node_id v = 0; v < first.size(); ++v) {
    const index_t i = first[v] < g.active ? group_of[first[v]] : none;
    const std::span<const node_id> old =
        i == none ? std::span<const node_id>(&first[v], 1) : std::span<const node_id>(groups[i].order);
    h.cost.push_back(i == none ? g.cost[first[v]] : groups[i].cost);
    seen[v] = v;
    for (node_id u : old)
      for (node_id p : g.preds[u])
        if (std::exchange(seen[id[p]], v) != v) h.preds.push(id[p]);
    h.preds.close();
    for (node_id u : old) {
      for (const auto& c : g.credits[u])
        if (id[c.release] != none) h.credits.push({id[c.release], c.amount});
      if (v < h.active)
        for (node_id m : f.members[u]) out.members.push(m);
    }
    h.credits.close();
    if (v < h.active) out.members.close();
  }
  h.succs = base::transpose(h.preds, h.size());
  for (node_id v : g.roots) h.roots.push_back(id[v]);
  return out;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
