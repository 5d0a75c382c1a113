// Topological orders of plain adjacency lists.
#pragma once

#include <vector>

#include <memsched/base/adjacency.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

/// An order of [0, preds.size()) in which predecessors come first, in breadth-first waves of ascending index (Kahn).
/// If there is a cycle, the nodes after it are left out. O(nodes + edges).
inline std::vector<index_t> topological_order(const adjacency& preds, const adjacency& succs) {
  std::vector<index_t> waits(preds.size()), order;
  order.reserve(preds.size());
  for (index_t v = 0; v < preds.size(); ++v)
    if ((waits[v] = static_cast<index_t>(preds[v].size())) == 0) order.push_back(v);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (index_t next : succs[order[i]])
      if (--waits[next] == 0) order.push_back(next);
  return order;
}

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
