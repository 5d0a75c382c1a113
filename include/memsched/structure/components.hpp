// Weakly connected components.
#pragma once

#include <span>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// The nodes of each weakly connected component, releases included, ascending; the component of the first node first.
/// Nodes that share a tensor are in one component: each reader has an edge to its release, or to the one reader that is always
/// last. So the level after a set of nodes is the base and a sum over components, and so is the peak of a
/// node beside the others. O(nodes + edges).
MEMSCHED_FUNCTION std::vector<std::vector<node_id>> components(const schedule_graph& g);

/// The component of each node of g, by its place among these. O(nodes).
MEMSCHED_FUNCTION std::vector<index_t> component_of(const schedule_graph& g,
                                                    std::span<const std::vector<node_id>> components);

/// An order of g as one of each component. O(nodes).
MEMSCHED_FUNCTION std::vector<std::vector<node_id>> by_component(const schedule_graph& g,
                                                                 std::span<const std::vector<node_id>> components,
                                                                 std::span<const node_id> order);

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

MEMSCHED_FUNCTION std::vector<index_t> component_of(const schedule_graph& g,
                                                    std::span<const std::vector<node_id>> components) {
  std::vector<index_t> of(g.size());
  for (index_t c = 0; c < components.size(); ++c)
    for (node_id v : components[c]) of[v] = c;
  return of;
}

MEMSCHED_FUNCTION std::vector<std::vector<node_id>> by_component(const schedule_graph& g,
                                                                 std::span<const std::vector<node_id>> components,
                                                                 std::span<const node_id> order) {
  const std::vector<index_t> of = component_of(g, components);
  std::vector<std::vector<node_id>> orders(components.size());
  for (node_id v : order) orders[of[v]].push_back(v);
  return orders;
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
