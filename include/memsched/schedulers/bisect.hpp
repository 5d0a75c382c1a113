// Bisection at the bottleneck: good orders of graphs that are too large to search.
#pragma once

#include <cstdint>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Takes an order and its highest node v. If the lowest set that can have run before v is as high as v is, v cannot be
/// lowered, and the next highest node is taken; else orders the nodes of that set, v, and the rest, the two parts likewise.
/// Small parts are searched. Claims no bound. One minimum cut of the graph on each level of parts, of which there are
/// logarithmically many in practice and `max_depth` at most.
struct bisect {
  std::size_t max_exact = 120;  ///< active nodes of a part that is searched
  std::uint64_t states = 400;   ///< for such a search
  unsigned max_depth = 24;

  solution operator()(const schedule_graph& g, search& context) const;
  /// The order, or one with a smaller peak. A peak of at most `target`, bytes, is good enough.
  std::vector<node_id> improve(const schedule_graph& g, search& context, std::vector<node_id> order, bytes target) const;

 private:
  std::vector<node_id> improve(const schedule_graph& g, search& context, std::vector<node_id> best, bytes target,
                               unsigned depth) const;

  /// The nodes in `first`, which holds v's ancestors, then v, then the rest.
  std::vector<node_id> split(const schedule_graph& g, search& context, const std::vector<node_id>& order,
                             const std::vector<node_id>& first, node_id v, bytes target, unsigned depth) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/both_ends.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/structure/induced_subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution bisect::operator()(const schedule_graph& g, search& context) const {
  solution s = greedy{}(g, context);
  s.order = improve(g, context, std::move(s.order), context.asked().target);
  return s;
}

MEMSCHED_FUNCTION std::vector<node_id> bisect::improve(const schedule_graph& g, search& context, std::vector<node_id> order,
                                                       bytes target) const {
  return improve(g, context, std::move(order), target, max_depth);
}

MEMSCHED_FUNCTION std::vector<node_id> bisect::improve(const schedule_graph& g, search& context, std::vector<node_id> best,
                                                       bytes target, unsigned depth) const {
  const auto take = [&](std::vector<node_id> other) {
    if (peak_of(g, other) < peak_of(g, best)) best = std::move(other);
  };
  if (peak_of(g, best) <= target || depth == 0 || !context.keep_going()) return best;
  context.control().spend(g.size() / 16);  // the greedy order, and a graph for each half
  take(greedy{}(g, context).order);
  const bytes peak = peak_of(g, best);
  if (peak <= target) return best;
  if (g.active <= max_exact) {
    const bytes from = std::max(target, g.base);
    const auto search_below = [&](const schedule_graph& h, search&) {
      auto found = detail::both_ends{}.between(h, context, from, peak, states);
      if (found.bound >= peak) depth = 0;  // there is none
      return found.order ? solution{std::move(*found.order)} : as_given{}(h, context);
    };
    take(context.control().aside([&] { return compress{}(g, context, search_below); }).order);
    if (peak_of(g, best) < peak || depth == 0 || g.active < 16) return best;
  }

  bounds::cut_bound cut(g);
  for (const auto& [height, v] : bounds::by_height(g, best)) {
    if (static_cast<bytes>(height) <= target || !context.control().count_cut_as_state(0, 8 * g.size())) break;
    const bytes lowest = cut.at(v, 0, [&] { return context.keep_going(); });
    if (context.stopped()) break;
    if (lowest < static_cast<bytes>(height)) {
      take(split(g, context, best, cut.ran(), v, std::max(target, lowest), depth - 1));
      break;
    }
    target = std::max(target, lowest);
  }
  return best;
}

MEMSCHED_FUNCTION std::vector<node_id> bisect::split(const schedule_graph& g, search& context,
                                                     const std::vector<node_id>& order, const std::vector<node_id>& first,
                                                     node_id v, bytes target, unsigned depth) const {
  base::plain_vector<bool> ran(g.size(), false);
  for (node_id u : first) ran[u] = true;
  std::vector<node_id> members, begin, end;
  for (node_id u : order)
    if (u != v) (ran[u] ? begin : end).push_back(u);
  std::vector<node_id> local(g.size(), none), whole;
  base::plain_vector<bool> fired(g.size(), false);
  order_walk w(g);
  const auto run = [&](node_id u) { w.fire(u), whole.push_back(u), fired[u] = true; };
  const auto solve = [&](const std::vector<node_id>& part) {
    members = part;
    std::sort(members.begin(), members.end());
    for (node_id u : members) local[u] = 0;
    std::vector<node_id> seen, releases;  // those that wait for nothing but these and nodes that have run
    for (node_id u : members)
      for (node_id r : g.succs[u]) {
        if (!g.is_release(r) || local[r] != none) continue;
        local[r] = 0, seen.push_back(r);
        const auto readers = g.preds[r];
        const auto here = [&](node_id x) { return local[x] != none || fired[x]; };
        if (std::all_of(readers.begin(), readers.end(), here)) releases.push_back(r);
      }
    for (const auto* nodes : {&members, &seen})
      for (node_id u : *nodes) local[u] = none;
    std::sort(releases.begin(), releases.end());
    std::vector<node_id> place = structure::order_within(g, members, part);
    members.insert(members.end(), releases.begin(), releases.end());
    const schedule_graph h = structure::induced_subgraph(g, members, static_cast<bytes>(w.level()), local);
    for (node_id u : improve(h, context, std::move(place), target, depth)) run(members[u]);
  };
  if (!begin.empty()) solve(begin);
  run(v);
  if (!end.empty()) solve(end);
  return whole;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
