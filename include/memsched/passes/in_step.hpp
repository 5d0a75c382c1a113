// Rows of layers in step: orders of graphs that are grids of rows by layers.
#pragma once

#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Hands the inner scheduler the graph with edges that make rows of a layer run in the caller's order, which leaves little
/// to choose where tensors are cut in blocks of rows: how far each layer is. Good orders of such graphs mostly keep these
/// edges; not all do, so the inner bound is not taken over.
///
/// Two nodes that follow each other in the caller's order count as rows where they are at the same distance from the
/// sources, by longest paths, and where the last of their predecessors follow each other closely, and so do the last of
/// their successors. Edges between nodes at the same distance, in the caller's order, close no cycle: along a path the
/// distance never falls, and where it stays the same the order goes on.
struct in_step {
  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;

  /// Those edges. O(nodes + edges).
  static std::vector<precedence> edges(const schedule_graph& g);
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <span>

#include <memsched/bounds/probing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Whether the last active node of `other` is that of `one` or one of those that come soon behind it.
inline bool follows_closely(const schedule_graph& g, std::span<const node_id> one, std::span<const node_id> other) {
  constexpr node_id most = 8;
  const auto last = [&](std::span<const node_id> nodes) {
    node_id found = none;
    for (node_id u : nodes)
      if (!g.is_release(u) && (found == none || u > found)) found = u;
    return found;
  };
  const node_id a = last(one), b = last(other);
  return a == none || b == none ? a == b : a <= b && b - a <= most;
}

}  // namespace detail

MEMSCHED_FUNCTION std::vector<precedence> in_step::edges(const schedule_graph& g) {
  std::vector<index_t> distance(g.size(), 0);
  for (node_id v : base::topological_order(g.preds, g.succs))
    for (node_id u : g.preds[v]) distance[v] = std::max(distance[v], distance[u] + 1);
  std::vector<precedence> found;
  for (node_id v = 1; v < g.active; ++v)
    if (distance[v - 1] == distance[v] && detail::follows_closely(g, g.preds[v - 1], g.preds[v]) &&
        detail::follows_closely(g, g.succs[v - 1], g.succs[v]))
      found.push_back({v - 1, v});
  return found;
}

MEMSCHED_FUNCTION solution in_step::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  const std::vector<precedence> kept = edges(g);
  if (!context.keep_going()) return {topological_order(g)};
  const schedule_graph h = bounds::with_edges(g, kept);
  solution s = context.aside([&] { return inner(h, context); });
  s.lower_bound = 0;
  return s;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
