// Memory-aware partitioning (Zhong et al., Algorithm 2).
#pragma once

#include <cstddef>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/acyclic_partition.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Cuts the graph into parts with little memory between them and runs them one after the other. Each part is first in
/// depth-first post-order, as the paper has it for parts without a peak operator; then the part with the highest peak
/// is given to the inner scheduler, and again, until that part has had it already. With one part the inner scheduler
/// gets the graph as it is, and its bound counts; with more, the bound is that of minimum cuts in the whole graph.
struct partition {
  structure::partition_shape shape{};
  std::size_t max_cut_nodes = 1 << 14;  ///< larger graphs get no bound

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;

 private:
  struct piece;
  std::vector<piece> cut(const schedule_graph& g, search& context) const;
  bytes cut_floor(const schedule_graph& g, search& context, const std::vector<piece>& pieces) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/structure/induced_subgraph.hpp>
#include <memsched/structure/post_order.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

struct partition::piece {
  std::vector<node_id> members;
  schedule_graph graph;
  std::vector<node_id> order;
  bytes peak = no_limit, bound = 0;
  bool solved = false;

  void take(std::vector<node_id> other) {
    if (const bytes p = peak_of(graph, other); p < peak) peak = p, order = std::move(other);
  }
};

/// The parts, each in post-order.
MEMSCHED_FUNCTION std::vector<partition::piece> partition::cut(const schedule_graph& g, search& context) const {
  const structure::node_parts part = acyclic_partition(g, shape, [&] { return context.keep_going(); });
  std::vector<piece> pieces(1 + *std::max_element(part.begin(), part.end()));
  for (node_id v = 0; v < g.size(); ++v) pieces[part[v]].members.push_back(v);
  std::vector<node_id> local(g.size(), none);
  delta level = static_cast<delta>(g.base);
  for (piece& p : pieces) {
    p.graph = structure::induced_subgraph(g, p.members, static_cast<bytes>(level), local);
    p.take(structure::post_order(p.graph));
    for (node_id v : p.members) level += g.cost[v].impact;
  }
  return pieces;
}

MEMSCHED_FUNCTION bytes partition::cut_floor(const schedule_graph& g, search& context,
                                             const std::vector<piece>& pieces) const {
  if (g.active > max_cut_nodes) return context.asked().target;
  std::vector<node_id> order;
  for (const piece& p : pieces)
    for (node_id v : p.order) order.push_back(p.members[v]);
  const auto go_on = [&] { return context.control().count_cut(); };
  return bounds::best_cut_bound(g, order, std::max(context.asked().target, g.base), go_on).bound;
}

MEMSCHED_FUNCTION solution partition::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  if (shape.parts <= 1 || g.active <= 1) return inner(g, context);
  std::vector<piece> pieces = cut(g, context);
  const bytes bound = cut_floor(g, context, pieces);
  while (!context.stopped()) {
    piece& worst =
        *std::max_element(pieces.begin(), pieces.end(), [](const piece& a, const piece& b) { return a.peak < b.peak; });
    if (worst.solved || worst.peak <= bound) break;
    worst.solved = true;
    ++context.control().stats.parts;
    // Parts that have been solved as well as can be are the target of those that have not.
    bytes target = std::max(bound, g.base);
    for (const piece& p : pieces)
      if (p.solved && &p != &worst) target = std::max(target, p.bound);
    solution s = context.ask(context.asked().from(target),
                             [&] { return context.control().aside([&] { return inner(worst.graph, context); }); });
    if (s.error) return s;
    worst.bound = s.lower_bound;
    worst.take(std::move(s.order));
  }
  solution whole;
  whole.lower_bound = bound;
  for (const piece& p : pieces)
    for (node_id v : p.order) whole.order.push_back(p.members[v]);
  return whole;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
