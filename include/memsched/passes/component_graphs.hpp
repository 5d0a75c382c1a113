// Graphs that the search of components asks about.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <span>

#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/lowest_set.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// All that an order of a graph depends on: equal for components that are alike in the order of their numbers. O(nodes +
/// edges).
inline plain_vector<delta> description(const schedule_graph& g) {
  plain_vector<delta> all{static_cast<delta>(g.active)};
  for (node_id v = 0; v < g.size(); ++v) {
    all.insert(all.end(), {g.cost[v].peak, g.cost[v].impact, static_cast<delta>(g.preds[v].size())});
    all.insert(all.end(), g.preds[v].begin(), g.preds[v].end());
    for (const auto& c : g.credits[v]) all.insert(all.end(), {static_cast<delta>(c.release), c.amount});
  }
  return all;
}

/// g with some active nodes more, after its own: in a row, tied to none of the others.
inline schedule_graph with_row(const schedule_graph& g, std::span<const node_cost> row) {
  schedule_graph h;
  const auto first = static_cast<node_id>(g.active), more = static_cast<node_id>(row.size());
  const auto renamed = [&](node_id v) { return v == none || v < first ? v : v + more; };
  const auto copy = [&](node_id v) {
    h.cost.push_back(g.cost[v]);
    for (node_id u : g.preds[v]) h.preds.push(renamed(u));
    for (node_id s : g.succs[v]) h.succs.push(renamed(s));
    for (const auto& c : g.credits[v]) h.credits.push({renamed(c.release), c.amount});
    h.preds.close(), h.succs.close(), h.credits.close();
  };
  h.active = g.active + row.size();
  h.base = g.base;
  h.roots = g.roots;
  for (const auto& r : g.resources) h.resources.push_back({renamed(r.from), renamed(r.to), r.size});
  for (node_id v = 0; v < first; ++v) copy(v);
  for (node_id i = 0; i < more; ++i) {
    h.cost.push_back(row[i]);
    if (i > 0) h.preds.push(first + i - 1);
    if (i + 1 < more) h.succs.push(first + i + 1);
    h.preds.close(), h.succs.close(), h.credits.close();
    if (g.resources.empty() || row[i].impact == 0) continue;
    if (row[i].impact > 0) h.resources.push_back({first + i, none, static_cast<bytes>(row[i].impact)});
    else h.resources.push_back({none, first + i, static_cast<bytes>(-row[i].impact)});
  }
  for (node_id v = first; v < g.size(); ++v) copy(v);
  return h;
}

/// The lowest level that a set of nodes leaves, above the start; a lower one if the search is over. One minimum cut.
inline delta lowest_level_of(const schedule_graph& g, search& context) {
  bounds::lowest_set lowest(g);
  for (node_id v = 0; v < g.size(); ++v) lowest.add(v);
  const delta level = lowest.solve(g.preds, [&] { return !context.control().over(); });
  context.control().spend_visits(lowest.work());
  return level;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
