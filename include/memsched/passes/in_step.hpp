// Rows of layers in step: orders of graphs that are grids of rows by layers.
#pragma once

#include <cstddef>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Hands the inner scheduler the graph with edges that make rows of a layer run in the caller's order, which leaves little
/// to choose when tensors are cut in blocks of rows: how far each layer is. Good orders of such graphs mostly keep these
/// edges; not all do, so the inner bound is not taken over.
///
/// Two nodes that follow each other in a list count as rows if they are at the same distance from the sources, by longest
/// paths, and if the last of their predecessors follow each other closely in it, and so do the last of their successors.
/// The list is the caller's order. If that has few rows, as after a shuffle, it is one made of the graph: sources that
/// share a reader side by side, from one end to the other, and all others by distance, size, and the middle of their reads.
/// Edges between nodes at the same distance, in the order of one list, close no cycle: along a path the distance never
/// falls, and if it stays the same the list goes on.
struct in_step {
  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;

  /// Those edges. O(nodes log nodes + edges), and for sources the squares of the numbers of those with a reader in common.
  static base::plain_vector<precedence> edges(const schedule_graph& g);

  /// Whether `edges` edges make most nodes rows: of networks cut in rows three in four or more follow another in step, of
  /// grids with random edges at most one in two.
  static bool are_most(std::size_t edges, const schedule_graph& g) { return 3 * edges >= 2 * std::size_t{g.active}; }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include <memsched/bounds/probing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Finds rows of a graph.
class row_finder {
 public:
  explicit row_finder(const schedule_graph& g) : g_(g), distance_(g.size(), 0), rank_(g.active) {
    for (node_id v : base::topological_order(g.preds, g.succs))
      for (node_id u : g.preds[v]) distance_[v] = std::max(distance_[v], distance_[u] + 1);
  }

  /// Edges between nodes that follow each other in the list of all active nodes.
  plain_vector<precedence> edges(std::span<const node_id> list) {
    for (index_t i = 0; i < list.size(); ++i) rank_[list[i]] = i;
    plain_vector<precedence> found;
    for (std::size_t i = 1; i < list.size(); ++i) {
      const node_id u = list[i - 1], v = list[i];
      if (distance_[u] == distance_[v] && follows_closely(g_.preds[u], g_.preds[v]) &&
          follows_closely(g_.succs[u], g_.succs[v]))
        found.push_back({u, v});
    }
    return found;
  }

  /// All active nodes, row after row if there are rows, whatever their numbers.
  std::vector<node_id> list() const {
    std::vector<std::vector<node_id>> levels;
    for (node_id v = 0; v < g_.active; ++v) {
      if (distance_[v] >= levels.size()) levels.resize(distance_[v] + 1);
      levels[distance_[v]].push_back(v);
    }
    std::vector<node_id> list;
    plain_vector<double> place(g_.active, 0);  // among the nodes of its layer, from 0 to 1
    const auto layer = [&](node_id v) { return std::pair(g_.cost[v].peak, g_.cost[v].impact); };
    for (std::vector<node_id>& level : levels) {
      if (&level == &levels.front()) place_sources(level, place);
      else
        for (node_id v : level) place[v] = middle_of_reads(v, place);
      std::ranges::sort(level, {}, [&](node_id v) { return std::tuple(layer(v), place[v], v); });
      for (std::size_t from = 0, to = 0; from < level.size(); from = to) {
        while (to < level.size() && layer(level[to]) == layer(level[from])) ++to;
        for (std::size_t i = from; i < to; ++i)
          place[level[i]] = static_cast<double>(i - from) / static_cast<double>(std::max<std::size_t>(1, to - from - 1));
      }
      list.insert(list.end(), level.begin(), level.end());
    }
    return list;
  }

 private:
  /// Whether the last active node of `other` is that of `one` or one of those that come soon after it.
  bool follows_closely(std::span<const node_id> one, std::span<const node_id> other) const {
    constexpr index_t most = 8;
    const auto last = [&](std::span<const node_id> nodes) {
      index_t found = none;
      for (node_id u : nodes)
        if (!g_.is_release(u) && (found == none || rank_[u] > found)) found = rank_[u];
      return found;
    };
    const index_t a = last(one), b = last(other);
    return a == none || b == none ? a == b : a <= b && b - a <= most;
  }

  double middle_of_reads(node_id v, const plain_vector<double>& place) const {
    double low = 1, high = 0;
    for (node_id u : g_.preds[v])
      if (!g_.is_release(u)) low = std::min(low, place[u]), high = std::max(high, place[u]);
    return (low + high) / 2;
  }

  /// Sources that share readers as rows do form a chain of overlapping groups. Walked breadth first from an end of it, each
  /// step reaches the next stretch of rows, of which those with more neighbours ahead are farther on.
  void place_sources(const std::vector<node_id>& sources, plain_vector<double>& place) const {
    std::vector<index_t> step(g_.active, none);
    double next = 0;
    for (node_id s : sources) {
      if (step[s] != none) continue;
      std::vector<node_id> reached = walk(s, step);
      for (node_id v : reached) step[v] = none;
      reached = walk(reached.back(), step);
      const auto ahead = [&](node_id v) {
        std::int64_t sum = 0;
        for_each_neighbour(v, [&](node_id u) { sum += static_cast<std::int64_t>(step[u]) - step[v]; });
        return sum;
      };
      std::vector<std::tuple<index_t, std::int64_t, node_id>> keys;
      keys.reserve(reached.size());
      for (node_id v : reached) keys.push_back({step[v], ahead(v), v});
      std::ranges::sort(keys);
      for (const auto& [at, sum, v] : keys) place[v] = next++;
    }
  }
  std::vector<node_id> walk(node_id from, std::vector<index_t>& step) const {
    std::vector<node_id> reached{from};
    step[from] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i)
      for_each_neighbour(reached[i], [&](node_id u) {
        if (step[u] == none) step[u] = step[reached[i]] + 1, reached.push_back(u);
      });
    return reached;
  }
  /// Sources that share a reader with v; those of a reader of many are no rows.
  template <class F>
  void for_each_neighbour(node_id v, const F& f) const {
    constexpr std::size_t most = 16;
    for (node_id reader : g_.succs[v])
      if (!g_.is_release(reader) && g_.preds[reader].size() <= most)
        for (node_id u : g_.preds[reader])
          if (u != v && !g_.is_release(u) && distance_[u] == 0) f(u);
  }

  const schedule_graph& g_;
  std::vector<index_t> distance_, rank_;
};

}  // namespace detail

MEMSCHED_FUNCTION base::plain_vector<precedence> in_step::edges(const schedule_graph& g) {
  constexpr index_t most_listed = 50'000;
  detail::row_finder rows(g);
  std::vector<node_id> list(g.active);
  std::iota(list.begin(), list.end(), node_id{0});
  base::plain_vector<precedence> found = rows.edges(list);
  if (are_most(found.size(), g) || g.active > most_listed) return found;
  base::plain_vector<precedence> others = rows.edges(rows.list());
  return others.size() > found.size() ? others : found;
}

MEMSCHED_FUNCTION solution in_step::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  const base::plain_vector<precedence> kept = edges(g);
  if (!context.keep_going()) return {g.topological_order()};
  const schedule_graph h = bounds::with_edges(g, kept);
  solution s = context.control().aside([&] { return inner(h, context); });
  s.lower_bound = 0;
  return s;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
