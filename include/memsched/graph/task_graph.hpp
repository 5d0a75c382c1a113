// Task graphs with tokens on edges, and schedule graphs written down as costs and edges (Fradet et al., sections 2, 3).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A schedule graph as its author describes it: the effect of each node on memory, and the required order.
struct cost_graph {
  std::vector<node_cost> cost;
  std::vector<precedence> edges;  ///< repetitions are allowed
  bytes base = 0;                 ///< level before the first node
  std::optional<bytes> left{};    ///< level after the last node, if the author knows it; checked
};

/// An edge of a task graph: `from` writes `size` bytes (or tokens) and `to` takes them. 0 orders two tasks only.
struct task_channel {
  node_id from, to;
  bytes size = 0;
};

/// Tasks and the data between them. Several channels between two tasks are allowed.
struct task_graph {
  std::size_t tasks = 0;
  std::vector<task_channel> channels;
};

namespace detail {

inline std::string node_name(node_id v) { return "node " + std::to_string(v); }

/// Says why the cost of a node makes no sense; empty if it does.
inline std::string cost_fault(node_cost c) {
  constexpr auto limit = static_cast<delta>(base::max_total);
  if (c.peak < 0) return "a negative peak (" + std::to_string(c.peak) + ")";
  if (c.impact > c.peak)
    return "an impact (" + std::to_string(c.impact) + ") above its peak (" + std::to_string(c.peak) + ")";
  if (c.peak > limit || c.impact < -limit) return "a cost of more than 2^61 bytes";
  return {};
}

inline graph_error cycle_error(const schedule_graph& g) {
  std::vector<bool> ordered(g.size(), false);
  for (node_id v : base::topological_order(g.preds, g.succs)) ordered[v] = true;
  node_id v = static_cast<node_id>(std::find(ordered.begin(), ordered.end(), false) - ordered.begin());
  std::vector<bool> seen(g.size(), false);
  while (!seen[v]) {  // back over nodes that wait, until one comes again
    seen[v] = true;
    v = *std::find_if(g.preds[v].begin(), g.preds[v].end(), [&](node_id u) { return !ordered[u]; });
  }
  std::vector<index_t> cycle;
  for (node_id u = v; cycle.empty() || u != v;) {
    cycle.push_back(u);
    u = *std::find_if(g.preds[u].begin(), g.preds[u].end(), [&](node_id w) { return !ordered[w]; });
  }
  std::reverse(cycle.begin(), cycle.end());
  std::string path;
  for (node_id u : cycle) path += node_name(u) + " -> ";
  return {error_code::cycle, "the nodes wait for each other in a circle: " + path + node_name(cycle.front()), cycle, {}};
}

inline schedule_graph from_edges(std::vector<node_cost> cost, std::vector<precedence>& edges, bytes base) {
  const auto key = [](const precedence& e) { return std::pair(e.after, e.before); };
  std::sort(edges.begin(), edges.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  schedule_graph g;
  g.base = base;
  g.cost = std::move(cost);
  g.active = g.cost.size();
  std::size_t i = 0;
  for (node_id v = 0; v < g.size(); ++v) {
    for (node_id last = none; i < edges.size() && edges[i].after == v; ++i)
      if (edges[i].before != last) g.preds.push(last = edges[i].before);
    g.preds.close();
    g.credits.close();
  }
  g.succs = base::transpose(g.preds, g.size());
  for (node_id v = 0; v < g.size(); ++v)
    if (g.succs[v].empty()) g.roots.push_back(v);
  return g;
}

}  // namespace detail

/// The schedule graph of costs and edges, all nodes active. Fails for an edge of a node that does not
/// exist, a cycle, a peak below 0 or below the impact, costs that sum to more than 2^61, or impacts that do not lead from
/// `base` to `left`. Whether memory can stay above 0 is `negative_level`'s to say. O(nodes + edges log edges).
inline result<schedule_graph> make_schedule_graph(cost_graph c) {
  const std::size_t n = c.cost.size();
  if (n >= none) return graph_error{error_code::too_large, "the graph has more than 2^32 - 2 nodes", {}, {}};
  const auto fault = [](error_code code, std::string message, std::vector<index_t> nodes) {
    return graph_error{code, std::move(message), std::move(nodes), {}};
  };
  bytes total = c.base;
  delta level = 0;
  if (total > base::max_total) return fault(error_code::overflow, "the level at the start is more than 2^61 bytes", {});
  for (node_id v = 0; v < n; ++v) {
    if (const std::string why = detail::cost_fault(c.cost[v]); !why.empty())
      return fault(error_code::bad_size, detail::node_name(v) + " has " + why, {v});
    total += static_cast<bytes>(c.cost[v].peak - std::min<delta>(c.cost[v].impact, 0));
    level += c.cost[v].impact;
    if (total > base::max_total)
      return fault(error_code::overflow, "costs up to " + detail::node_name(v) + " sum to more than 2^61 bytes", {v});
  }
  for (const precedence& e : c.edges) {
    const node_id unknown = e.before >= n ? e.before : e.after;
    if (unknown >= n)
      return fault(error_code::unknown_operator,
                   "an edge names " + detail::node_name(unknown) + ", and there are " + std::to_string(n), {unknown});
  }
  level += static_cast<delta>(c.base);
  if (level < 0)
    return fault(error_code::bad_size,
                 "every order ends with negative memory: the impacts sum to " + std::to_string(-level) +
                     " bytes less than the start has",
                 {});
  if (c.left && static_cast<bytes>(level) != *c.left)
    return fault(error_code::bad_size,
                 "the impacts leave " + std::to_string(level) + " bytes, and the outputs are declared with " +
                     std::to_string(*c.left),
                 {});
  schedule_graph g = detail::from_edges(std::move(c.cost), c.edges, c.base);
  if (base::topological_order(g.preds, g.succs).size() < n) return detail::cycle_error(g);
  return g;
}

/// The schedule graph of a task graph: a task that takes s and writes r bytes has impact r - s and, under `pbc`, peak r,
/// under `cbp`, peak max(0, r - s). Errors as above. O(tasks + channels log channels).
inline result<schedule_graph> make_schedule_graph(const task_graph& t, firing rule = firing::pbc) {
  cost_graph c;
  c.cost.resize(t.tasks);
  c.left = 0;
  bytes total = 0;
  for (const task_channel& e : t.channels) {
    if (const node_id unknown = e.from >= t.tasks ? e.from : e.to; unknown >= t.tasks)
      return graph_error{error_code::unknown_operator,
                         "a channel names task " + std::to_string(unknown) + ", and there are " + std::to_string(t.tasks),
                         {unknown},
                         {}};
    if (e.size > base::max_total || (total += e.size) > base::max_total)
      return graph_error{error_code::overflow, "channel sizes sum to more than 2^61 bytes", {e.from, e.to}, {}};
    c.cost[e.from].peak += static_cast<delta>(e.size);
    c.cost[e.from].impact += static_cast<delta>(e.size);
    c.cost[e.to].impact -= static_cast<delta>(e.size);
    c.edges.push_back({e.from, e.to});
  }
  if (rule == firing::cbp)
    for (node_cost& n : c.cost) n.peak = std::max<delta>(0, n.impact);
  return make_schedule_graph(std::move(c));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
