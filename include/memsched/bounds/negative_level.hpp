// Finds schedule graphs that free more than there is, in any order.
#pragma once

#include <algorithm>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/closure.hpp>
#include <memsched/graph/task_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The highest level that any order has after v, releases as late as one likes. One minimum cut.
inline delta highest_level_after(const schedule_graph& g, node_id v) {
  std::vector<index_t> place(g.size(), none);
  std::vector<bool> before(g.size(), false), behind(g.size(), false);
  std::vector<node_id> stack;
  const auto spread = [&](const adjacency& next, std::vector<bool>& reached) {
    reached[v] = true;
    stack.assign(1, v);
    while (!stack.empty()) {
      const node_id u = stack.back();
      stack.pop_back();
      for (node_id w : next[u])
        if (!reached[w]) reached[w] = true, stack.push_back(w);
    }
  };
  spread(g.preds, before);
  spread(g.succs, behind);
  closure_problem closure;
  delta level = static_cast<delta>(g.base);
  for (node_id u = 0; u < g.size(); ++u) {
    if (before[u]) level += g.cost[u].impact;
    else if (!behind[u]) place[u] = closure.add(-g.cost[u].impact);
  }
  for (node_id u = 0; u < g.size(); ++u)
    for (node_id needed : g.preds[u])
      if (place[u] != none && place[needed] != none) closure.add_arc(place[needed], place[u]);
  return level - closure.solve();
}

/// Nodes after which an order that keeps levels high goes below 0.
inline std::vector<node_id> negative_steps(const schedule_graph& g) {
  std::vector<index_t> waits(g.size());
  std::priority_queue<std::pair<delta, node_id>> ready;
  for (node_id v = 0; v < g.size(); ++v)
    if ((waits[v] = static_cast<index_t>(g.preds[v].size())) == 0) ready.emplace(g.cost[v].impact, v);
  std::vector<node_id> found;
  delta level = static_cast<delta>(g.base);
  while (!ready.empty()) {
    const node_id v = ready.top().second;
    ready.pop();
    level += g.cost[v].impact;
    if (level < 0) found.push_back(v);
    for (node_id w : g.succs[v])
      if (--waits[w] == 0) ready.emplace(g.cost[w].impact, w);
  }
  return found;
}

}  // namespace detail
namespace bounds {

/// Reports a node that frees more than there can be, in any order; nothing if there is none.
/// Graphs of operators and tensors, and task graphs, never have one. O((nodes + edges) log nodes), and a minimum cut for
/// each of the first 1000 nodes after which a greedy order goes below 0. A fault beyond those goes unnoticed: this is a
/// help for authors of wrong costs, schedulers do without it, and a cut for each of a million nodes would take hours.
inline std::optional<graph_error> negative_level(const schedule_graph& g) {
  std::vector<node_id> suspects = detail::negative_steps(g);
  if (suspects.size() > 1000) suspects.resize(1000);
  for (node_id v : suspects)
    if (const delta level = detail::highest_level_after(g, v); level < 0)
      return graph_error{error_code::bad_size,
                         detail::node_name(v) + " leaves negative memory in every order: it and what it waits for consume " +
                             std::to_string(-level) + " bytes more than can exist by then",
                         {v},
                         {}};
  return std::nullopt;
}

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched
