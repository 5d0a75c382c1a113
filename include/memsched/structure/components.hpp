// Weakly connected components.
#pragma once

#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// The nodes of each weakly connected component, releases included, ascending; the component of the first node first. What
/// ties nodes of different components to each other, such as a tensor that both read, is an edge: to its release, or to its
/// one reader that is always last. So the level after a set of nodes is the base and a sum over components, and so is what a
/// node takes beside the others. O(nodes + edges).
MEMSCHED_FUNCTION std::vector<std::vector<node_id>> components(const schedule_graph& g);

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

MEMSCHED_FUNCTION std::vector<std::vector<node_id>> components(const schedule_graph& g) {
  std::vector<index_t> component(g.size(), none);
  index_t found = 0;
  std::vector<node_id> stack;
  const auto reach = [&](node_id v) {
    if (component[v] == none) component[v] = found, stack.push_back(v);
  };
  for (node_id first = 0; first < g.size(); ++first) {
    if (component[first] != none) continue;
    reach(first);
    while (!stack.empty()) {
      const node_id v = stack.back();
      stack.pop_back();
      for (node_id u : g.preds[v]) reach(u);
      for (node_id s : g.succs[v]) reach(s);
    }
    ++found;
  }
  std::vector<std::vector<node_id>> members(found);
  for (node_id v = 0; v < g.size(); ++v) members[component[v]].push_back(v);
  return members;
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
