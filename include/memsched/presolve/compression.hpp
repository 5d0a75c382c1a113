// Compression of a schedule graph by rules that keep the smallest peak (Fradet et al., section 4, Algorithm 1).
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/presolve/compressor.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace presolve {

/// Merges nodes between which no other need run (C1, C2) and orders nodes whose order costs nothing (S1, S2), until neither
/// is possible. The smaller graph has the same optimum, for any schedule graph: nodes with a part in a credit are left
/// alone.
/// Series-parallel graphs are ordered directly and always become one node.
///
/// Near linear in practice: equal neighbour lists are found by their hashes, nodes with the same neighbours become a chain
/// at once, and work stays where the last change was. The general conditions of S1 and S2 and the full transitive
/// reduction need n^2/4 bytes and so wait until at most `max_closure` nodes are left. A limit on work or states ends the
/// compression early; if the time is over, g stays as it is. So do large graphs that the rules do not seem to suit.
compressed_graph compressed(const schedule_graph& g, search& context, const compression_rules& rules = {});

}  // namespace presolve

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <numeric>
#include <vector>

#include <memsched/graph/walk.hpp>
#include <memsched/structure/induced_subgraph.hpp>
#include <memsched/structure/series_parallel.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// All of g as one node that runs `order`.
inline compressed_graph single_node(const schedule_graph& g, const std::vector<node_id>& order) {
  compressed_graph c;
  c.active = g.active;
  c.next.assign(g.size(), none);
  node_cost whole;
  order_walk w(g);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const node_cost e = w.effect(order[i]);
    whole = {std::max(whole.peak, whole.impact + e.peak), whole.impact + e.impact};
    if (i > 0) c.next[order[i - 1]] = order[i];
    w.fire(order[i]);
  }
  c.first.push_back(order.front());
  c.name.push_back(order.front());
  c.graph.active = 1;
  c.graph.base = g.base;
  c.graph.cost.push_back(whole);
  for (adjacency* lists : {&c.graph.preds, &c.graph.succs}) lists->close();
  c.graph.credits.close();
  c.graph.roots.push_back(0);
  return c;
}

/// g itself, each node standing for itself.
inline compressed_graph uncompressed(const schedule_graph& g) {
  compressed_graph c;
  c.graph = g;
  c.first.resize(g.size());
  std::iota(c.first.begin(), c.first.end(), node_id{0});
  c.name = c.first;
  c.next.assign(g.size(), none);
  c.active = g.active;
  return c;
}

/// Whether some of four samples, nodes that follow each other in the caller's order, lose a tenth of their nodes. The edges
/// that samples lack let them compress better than the whole would.
inline bool seems_compressible(const schedule_graph& g, search& context, compression_rules rules) {
  rules.general = rules.global_reduction = false;  // which are for small graphs
  constexpr std::size_t samples = 4, size = 2048;
  std::vector<node_id> local(g.size(), none);
  const statistics::rule_counts counts = context.control().stats.rules;
  bool any = false;
  for (std::size_t i = 0; i < samples && !any; ++i) {
    const std::size_t first = (g.active - size) / samples * i;
    std::vector<node_id> members;
    for (std::size_t v = first; v < first + size; ++v) members.push_back(static_cast<node_id>(v));
    const auto here = [&](node_id v) { return v >= first && v < first + size; };
    for (std::size_t v = first; v < first + size; ++v)
      for (node_id r : g.succs[v]) {
        if (!g.is_release(r)) continue;
        const auto readers = g.preds[r];
        if (readers.back() == v && std::all_of(readers.begin(), readers.end(), here)) members.push_back(r);
      }
    std::sort(members.begin(), members.end());
    const schedule_graph sample = induced_subgraph(g, members, g.base, local);
    const auto c = compressor(rules, sample, context).run();
    any = c && 10 * c->graph.size() < 9 * sample.size();
  }
  context.control().stats.rules = counts;
  return any;
}

}  // namespace detail
namespace presolve {

MEMSCHED_FUNCTION compressed_graph compressed(const schedule_graph& g, search& context, const compression_rules& rules) {
  const bool large = g.active > rules.max_unsampled;
  const auto go_on = [&] { return !large || context.keep_going(); };
  if (rules.series_parallel && g.active > 0 && go_on())
    if (const auto order = series_parallel_order(g, go_on)) {
      context.control().stats.rules.before += g.size();
      context.control().stats.rules.after += 1;
      return detail::single_node(g, *order);
    }
  if (!context.keep_going() || (large && !detail::seems_compressible(g, context, rules))) return detail::uncompressed(g);
  const statistics::rule_counts counts = context.control().stats.rules;
  if (auto c = detail::compressor(rules, g, context).run()) return *std::move(c);
  context.control().stats.rules = counts;
  return detail::uncompressed(g);
}

}  // namespace presolve

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
