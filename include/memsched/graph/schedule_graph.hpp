// The internal form of all graphs: a DAG whose nodes carry a peak and an impact (Fradet et al., section 3).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/bytes.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

using node_id = index_t;

/// The effect of running a node, in bytes relative to the level before it.
struct node_cost {
  delta peak = 0;    ///< highest level while it runs
  delta impact = 0;  ///< level after it

  /// From the peak to the level after it.
  constexpr delta drop() const { return peak - impact; }
};

/// An edge: one node must run before another.
struct precedence {
  node_id before = none, after = none;
  auto operator<=>(const precedence&) const = default;
};

/// Nodes [0, active) are ordered by schedulers. Nodes [active, size) are releases: one for each tensor that several
/// nodes read. A release runs by itself, in the step of its last predecessor, which is always optimal: its peak is 0
/// and its impact at most 0. So the level after a set of nodes does not depend on their order.
struct schedule_graph {
  /// Room that a node gains while it runs if it is the last one that `release` waits for.
  struct credit {
    node_id release = none;
    delta amount = 0;
  };
  /// A stretch of memory: live from where the node `from` has run until `to` has.
  struct resource {
    node_id from = none;  ///< none: live from the start
    node_id to = none;    ///< none: stays to the end
    bytes size = 0;
  };

  std::size_t active = 0;
  bytes base = 0;               ///< level before the first node
  std::vector<node_cost> cost;  ///< a peak may be negative if credits exist: the level after counts too
  adjacency preds, succs;       ///< preds keep the order of the operator's inputs
  list_of<credit> credits;      ///< per node
  std::vector<node_id> roots;   ///< where a depth-first order starts; may be empty
  /// The resources that make up the levels, if known; else empty. `from` comes before `to`. The level after a set of nodes
  /// that holds all predecessors of its members is that of the resources which are live then, and a constant.
  std::vector<resource> resources;
  std::vector<index_t> scope;  ///< the caller's cell of each active node, or none; empty if the caller gave none

  std::size_t size() const { return cost.size(); }
  bool is_release(node_id v) const { return v >= active; }
  /// The active nodes, predecessors first, in breadth-first waves. O(nodes + edges).
  std::vector<node_id> topological_order() const {
    std::vector<node_id> order = base::topological_order(preds, succs);
    std::erase_if(order, [&](node_id v) { return is_release(v); });
    return order;
  }
};

namespace detail {

/// The effect of running v, relative to the level before it, if the releases that happen with it change the level by
/// `released`, bytes. `last(r)` returns for a release r on which v has a credit whether it waits for nothing but v. O(credits)
/// calls.
template <class Last>
constexpr node_cost effect_of(const schedule_graph& g, node_id v, delta released, Last last) {
  node_cost c = g.cost[v];
  for (const auto& k : g.credits[v])
    if (last(k.release)) c.peak -= k.amount;
  c.impact += released;
  c.peak = std::max(c.peak, c.impact);
  return c;
}
/// The same; `last` says it of each release that waits for v. O(successors + credits) calls.
template <class Last>
constexpr node_cost effect_of(const schedule_graph& g, node_id v, Last last) {
  delta released = 0;
  for (node_id s : g.succs[v])
    if (g.is_release(s) && last(s)) released += g.cost[s].impact;
  return effect_of(g, v, released, last);
}

/// The one active node among `nodes`; none if there is none or several.
inline node_id only_active(const schedule_graph& g, std::span<const node_id> nodes) {
  node_id only = none;
  for (node_id v : nodes) {
    if (g.is_release(v)) continue;
    if (only != none) return none;
    only = v;
  }
  return only;
}

}  // namespace detail

/// The schedule graph of a problem: node i < ops is operator i. Peaks of orders agree with `evaluate` exactly, under
/// both firing rules and with overwritten inputs. O(operators + uses).
MEMSCHED_FUNCTION schedule_graph make_schedule_graph(const problem& p, memory_model model = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <utility>

#include <memsched/graph/last_reader.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION schedule_graph make_schedule_graph(const problem& p, memory_model model) {
  const std::size_t n = p.ops().size();
  schedule_graph g;
  g.active = n;
  g.base = p.live_at_start();
  g.cost.resize(n);
  base::plain_vector<std::pair<index_t, node_id>> edges;  // (node, its predecessor)
  base::plain_vector<std::pair<index_t, schedule_graph::credit>> credits;
  const auto rule = [&](op_id op) { return p.firing(op).value_or(model.default_firing); };
  const auto spared = [&](op_id op, tensor_id storage) {  // bytes of room when `op` is the last reader
    if (rule(op) == firing::cbp) return static_cast<delta>(p.size(storage));
    if (model.in_place)
      for (const problem::storage_reuse& r : p.reuses(op))
        if (r.input == storage) return static_cast<delta>(r.spared);
    return delta{0};
  };

  for (op_id op : p.ops()) {
    delta produced = 0, kept = 0;
    for (tensor_id t : p.creates(op)) {
      produced += static_cast<delta>(p.size(t));
      if (p.kept(t)) kept += static_cast<delta>(p.size(t));
    }
    g.cost[op] = {produced + static_cast<delta>(p.workspace(op)), kept};
    if (p.scope(op) != none) g.scope.resize(n, none), g.scope[op] = p.scope(op);
    for (op_id before : p.predecessors(op)) edges.emplace_back(op, before);
  }

  detail::last_reader_finder finder(p);
  base::plain_vector<bool> before_another;
  for (tensor_id s : p.tensors()) {
    const auto readers = p.readers(s);
    if (p.storage(s) != s || !p.kept(s) || p.size(s) == 0) continue;
    const node_id from = p.producer(s);
    if (p.stays(s)) {
      g.resources.push_back({from, none, p.size(s)});
      continue;
    }
    const op_id last = readers.size() == 1 ? readers[0] : finder.always_last(readers);
    const delta size = static_cast<delta>(p.size(s));
    if (last != none) {
      g.cost[last].peak -= spared(last, s);
      g.cost[last].impact -= size;
      g.resources.push_back({from, last, p.size(s)});
      continue;
    }
    const node_id release = static_cast<node_id>(g.cost.size());
    g.cost.push_back({0, -size});
    g.resources.push_back({from, release, p.size(s)});
    for (op_id reader : readers) edges.emplace_back(release, reader);
    if (std::none_of(readers.begin(), readers.end(), [&](op_id reader) { return spared(reader, s) > 0; })) continue;
    finder.mark(readers, before_another);
    for (std::size_t i = 0; i < readers.size(); ++i)
      if (const delta room = spared(readers[i], s); room > 0 && !before_another[i])
        credits.emplace_back(readers[i], schedule_graph::credit{release, room});
  }

  g.credits = list_of<schedule_graph::credit>::from_pairs(g.size(), credits);
  for (node_id v = 0; v < n; ++v)
    if (g.credits[v].empty()) g.cost[v].peak = std::max({g.cost[v].peak, g.cost[v].impact, delta{0}});
  g.preds = adjacency::from_pairs(g.size(), edges);
  g.succs = base::transpose(g.preds, g.size());
  for (tensor_id t : p.graph_outputs())
    if (const op_id writer = p.writer(t); writer != none) g.roots.push_back(writer);
  return g;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
