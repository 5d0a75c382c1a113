// The tensors of a schedule graph: the input of Zhong et al.'s integer program.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <memsched/base/closure.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Bytes that one node leaves and that live until all `readers` have run; for ever if it stays.
struct flowing_tensor {
  node_id producer = none;  ///< none: live from the start
  delta size = 0;
  std::vector<node_id> readers;
  bool stays = false;
};

/// A decomposition of all impacts into tensors: the tensors live after any set of nodes add up to its level. A fused
/// node has no tensors of its own any more, and a folded one no size, so they are found as a flow from the nodes that
/// add memory to those that free it; a tensor with several readers is found again from its release.
inline std::vector<flowing_tensor> tensors_of(const schedule_graph& g) {
  const index_t start = static_cast<index_t>(g.size());  // stands for the bytes live at first
  base::closure_problem flow;
  std::vector<delta> left;
  for (node_id v = 0; v < g.size(); ++v) left.push_back(g.cost[v].impact);
  left.push_back(static_cast<delta>(g.base));
  for (delta impact : left) flow.add(impact);
  for (node_id v = 0; v < g.size(); ++v) {
    for (node_id u : g.preds[v])
      if (!g.is_release(v)) flow.add_arc(u, v);
    if (g.preds[v].empty()) flow.add_arc(start, v);
  }
  for (node_id r = static_cast<node_id>(g.active); r < g.size(); ++r) {
    // From the producer, if all readers have one in common, which the flow takes first; else through a reader.
    const auto readers = g.preds[r];
    const auto is_common = [&](node_id p) {
      return std::all_of(readers.begin(), readers.end(), [&](node_id u) {
        const auto preds = g.preds[u];
        return std::find(preds.begin(), preds.end(), p) != preds.end();
      });
    };
    for (node_id p : g.preds[readers[0]])
      if (is_common(p)) flow.add_arc(p, r);
    if (std::all_of(readers.begin(), readers.end(), [&](node_id u) { return g.preds[u].empty(); })) flow.add_arc(start, r);
    for (node_id u : readers) flow.add_arc(u, r);
  }
  flow.solve();

  std::vector<flowing_tensor> tensors;
  for (const auto& arc : flow.arcs()) {
    if (arc.flow == 0) continue;
    flowing_tensor t{arc.from == start ? none : arc.from, arc.flow, {}};
    if (!g.is_release(arc.to)) t.readers.push_back(arc.to);
    else
      for (node_id u : g.preds[arc.to])
        if (u != arc.from) t.readers.push_back(u);
    tensors.push_back(std::move(t));
    left[arc.from] -= arc.flow;
    left[arc.to] += arc.flow;
  }
  for (index_t v = 0; v < left.size(); ++v)
    if (left[v] > 0) tensors.push_back({v == start ? none : v, left[v], {}, true});
  return tensors;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
