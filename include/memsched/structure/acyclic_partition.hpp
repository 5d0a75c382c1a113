// Acyclic k-way partitioning: parts that can run one after the other with little memory between them.
#pragma once

#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

struct partition_shape {
  index_t parts = 4;
  double imbalance = 0.5;  ///< no part has more than 1 + imbalance times its share of the active nodes
  bool naive = false;      ///< equal shares of the breadth-first order, by number and not by size (Zhong et al., Table V)
};

/// The part of every node: parts count up from 0, and no edge leads to an earlier one. A release is in the part of its
/// last reader.
using node_parts = std::vector<index_t>;

/// The levels between the parts, summed over the borders: level after the first part, after the first two, and so on.
/// So a tensor counts once at each border between its producer and its last reader, for any number of readers. At most
/// 2^63 - 2.
MEMSCHED_FUNCTION bytes cut_bytes(const schedule_graph& g, const node_parts& part, index_t parts);

/// Splits g into shape.parts parts, or as many as it has nodes; as well as can be before `go_on()`, asked between passes
/// over the graph, is false. Near linear.
MEMSCHED_FUNCTION node_parts acyclic_partition(const schedule_graph& g, const partition_shape& shape,
                                               function_ref<bool()> go_on);
inline node_parts acyclic_partition(const schedule_graph& g, const partition_shape& shape = {}) {
  return acyclic_partition(g, shape, [] { return true; });
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <limits>
#include <queue>
#include <span>
#include <utility>

#include <memsched/base/closure.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/graph/contract.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/structure/post_order.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The sum of two levels, or the largest number short of `max` if that is more: sums over borders may exceed what a graph
/// can hold.
constexpr delta capped_sum(delta a, delta b) {
  constexpr delta most = std::numeric_limits<delta>::max() - 1;
  return a > most - b ? most : a + b;
}

/// Multilevel, as dagP (Herrmann et al.) has it. Coarsening merges an edge if it is its end's only way in or its
/// start's only way out, which closes no circle however many such disjoint pairs are merged; if such edges run out,
/// neighbours in a topological order. Initial partition: for some topological orders, the best places to cut by
/// dynamic programming. Refinement, on each level: a minimum cut in a corridor around each border, as wide as the
/// balance allows.
class partitioner {
 public:
  partitioner(const schedule_graph& g, const partition_shape& shape, function_ref<bool()> go_on)
      : g_(g),
        go_on_(go_on),
        parts_(std::max<index_t>(1, std::min(shape.parts, static_cast<index_t>(g.active)))),
        part_(g.size(), 0) {
    const double room = 1 + std::max(shape.imbalance, 0.0);
    cap_ = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(room * static_cast<double>(g.active) / parts_)));
  }

  node_parts run(bool naive) {
    if (parts_ > 1) naive ? cut_evenly() : cut_well();
    place_releases();
    return std::move(part_);
  }

 private:
  static constexpr std::size_t coarse_per_part = 64, max_corridor = 200;

  void cut_evenly() {
    std::size_t i = 0;
    for (node_id v : base::topological_order(g_.preds, g_.succs))
      if (!g_.is_release(v)) part_[v] = static_cast<index_t>(i++ * parts_ / g_.active);
  }

  void cut_well() {
    std::vector<fused_graph> levels{unfused(g_)};
    while (levels.back().graph.active > coarse_per_part * parts_) {
      if (!go_on_()) return cut_evenly();
      auto groups = pairs(levels.back());
      if (groups.empty()) break;
      levels.push_back(contract(levels.back(), groups));
    }
    while (!cut_first(levels.back(), std::numeric_limits<delta>::max())) cap_ += cap_ / 4 + 1;  // too lumpy for the balance
    for (std::size_t i = levels.size(); i-- > 0 && go_on_();) refine(levels[i]);
    if (!go_on_()) return;
    place_releases();
    if (cut_first(levels[0], static_cast<delta>(cut_bytes(g_, part_, parts_)))) refine(levels[0]);
  }

  /// Pairs of nodes to merge: if few edges allow it, neighbours in a depth-first order.
  std::vector<node_group> pairs(const fused_graph& f) const {
    const schedule_graph& g = f.graph;
    const std::size_t largest = std::max<std::size_t>(2, g_.active / (std::size_t{8} * parts_));
    std::vector<bool> merged(g.active, false);
    std::vector<node_group> groups;
    const auto fits = [&](node_id u, node_id v) {
      return !merged[u] && !merged[v] && f.members[u].size() + f.members[v].size() <= largest;
    };
    const auto merge = [&](node_id u, node_id v) {
      merged[u] = merged[v] = true;
      delta impact = g.cost[u].impact + g.cost[v].impact;
      const auto vanishes = [&](node_id r, node_id last) {
        const auto readers = g.preds[r];
        return g.is_release(r) && std::all_of(readers.begin(), readers.end(), [&](node_id x) { return x == u || x == v; }) &&
               std::find(readers.begin(), readers.end(), last) == readers.end();
      };
      for (node_id r : g.succs[v]) impact += vanishes(r, none) ? g.cost[r].impact : 0;
      for (node_id r : g.succs[u]) impact += vanishes(r, v) ? g.cost[r].impact : 0;
      groups.push_back({{u, v}, {0, impact}});
    };
    const auto ways_out = [&](node_id u) {
      return std::count_if(g.succs[u].begin(), g.succs[u].end(), [&](node_id s) { return !g.is_release(s); });
    };
    for (node_id v : g.topological_order()) {
      node_id best = none;
      for (node_id u : g.preds[v])
        if (fits(u, v) && (g.preds[v].size() == 1 || ways_out(u) == 1) &&
            (best == none || g.cost[u].impact > g.cost[best].impact))
          best = u;
      if (best != none) merge(best, v);
    }
    if (10 * groups.size() >= g.active) return groups;
    groups.clear();
    merged.assign(g.active, false);
    const std::vector<node_id> order = post_order(g);
    for (std::size_t i = 1; i < order.size(); ++i)
      if (fits(order[i - 1], order[i])) merge(order[i - 1], order[i]);
    return groups;
  }

  /// Always the ready node that leaves least behind.
  static std::vector<node_id> lowest_first(const schedule_graph& g) {
    std::vector<node_id> order;
    order_walk w(g);
    using entry = std::pair<delta, node_id>;
    std::priority_queue<entry, std::vector<entry>, std::greater<>> ready;
    const auto push = [&](node_id v) { ready.emplace(w.effect(v).impact, v); };
    for (node_id v = 0; v < g.active; ++v)
      if (w.ready(v)) push(v);
    while (!ready.empty()) {
      const node_id v = ready.top().second;
      ready.pop();
      order.push_back(v);
      w.fire(v, push);
    }
    return order;
  }

  /// The best cut of the best of some orders, if that costs less than `best`. Returns false if none does.
  bool cut_first(const fused_graph& f, delta best) {
    const delta before = best;
    for (const auto& order : {post_order(f.graph), lowest_first(f.graph), f.graph.topological_order()})
      best = std::min(best, cut_order(f, order, best));
    return best < before;
  }

  /// Cuts one order if that costs less than `best`. O(parts * nodes).
  delta cut_order(const fused_graph& f, const std::vector<node_id>& order, delta best) {
    constexpr delta never = std::numeric_limits<delta>::max();
    const std::size_t n = order.size();
    std::vector<std::size_t> weight(n + 1, 0);  // of the first i nodes
    std::vector<delta> level(n + 1, 0);
    order_walk w(f.graph);
    for (std::size_t i = 0; i < n; ++i) {
      w.fire(order[i]);
      weight[i + 1] = weight[i] + f.members[order[i]].size();
      level[i + 1] = w.level();
    }
    std::vector<delta> cost(n + 1, never);
    std::vector<std::vector<index_t>> from(parts_, std::vector<index_t>(n + 1, none));
    cost[0] = 0;
    for (index_t k = 0; k < parts_; ++k) {
      std::vector<delta> next(n + 1, never);
      std::deque<index_t> window;  // starts of part k, cheapest first
      for (index_t i = 1; i <= n; ++i) {
        if (cost[i - 1] != never) {
          while (!window.empty() && cost[window.back()] >= cost[i - 1]) window.pop_back();
          window.push_back(i - 1);
        }
        while (!window.empty() && weight[i] - weight[window.front()] > cap_) window.pop_front();
        if (window.empty()) continue;
        next[i] = capped_sum(cost[window.front()], i < n ? level[i] : 0);
        from[k][i] = window.front();
      }
      cost = std::move(next);
    }
    if (cost[n] >= best) return never;
    std::size_t end = n;
    for (index_t k = parts_; k-- > 0;) {
      const std::size_t begin = from[k][end];
      for (std::size_t i = begin; i < end; ++i)
        for (node_id u : f.members[order[i]]) part_[u] = k;
      end = begin;
    }
    return cost[n];
  }

  void refine(const fused_graph& f) {
    const schedule_graph& g = f.graph;
    std::vector<index_t> part(g.active);
    std::vector<std::size_t> weight(parts_, 0);
    for (node_id v = 0; v < g.active; ++v) {
      part[v] = part_[f.members[v][0]];
      weight[part[v]] += f.members[v].size();
    }
    const auto order = base::topological_order(g.preds, g.succs);
    constexpr int rounds = 3;
    bool better = true;
    for (int round = 0; round < rounds && better; ++round) {
      better = false;
      for (index_t first : {0u, 1u}) {  // every other border: they do not share a part
        std::vector<std::vector<node_id>> by_part(parts_);
        for (node_id v : order)
          if (!g.is_release(v)) by_part[part[v]].push_back(v);
        for (index_t i = first; i + 1 < parts_; i += 2) better |= refine_border(f, i, by_part, part, weight);
      }
    }
    for (node_id v = 0; v < g.active; ++v)
      for (node_id u : f.members[v]) part_[u] = part[v];
  }

  /// Moves nodes near the border between parts i and i + 1 so that least lives across it. Returns true if less does.
  bool refine_border(const fused_graph& f, index_t i, const std::vector<std::vector<node_id>>& by_part,
                     std::vector<index_t>& part, std::vector<std::size_t>& weight) {
    const schedule_graph& g = f.graph;
    // An upper end of part i and a lower end of part i + 1, each no heavier than the other part can take.
    std::vector<node_id> corridor;
    const auto collect = [&](const auto& nodes, std::size_t room, std::size_t own) {
      room = std::min(room, own > 0 ? own - 1 : 0);
      const std::size_t widest = corridor.size() + max_corridor;
      for (node_id v : nodes) {
        const std::size_t w = f.members[v].size();
        if (w > room || corridor.size() == widest) break;
        room -= w;
        corridor.push_back(v);
      }
    };
    const auto room = [&](index_t k) { return cap_ > weight[k] ? cap_ - weight[k] : 0; };
    std::vector<node_id> upper(by_part[i].rbegin(), by_part[i].rend());
    collect(upper, room(i + 1), weight[i]);
    collect(by_part[i + 1], room(i), weight[i + 1]);
    if (corridor.empty()) return false;

    local_.assign(g.size(), none);
    closure_.clear();
    for (node_id v : corridor) local_[v] = closure_.add(g.cost[v].impact);
    delta before = 0;
    for (node_id v : corridor) {
      if (part[v] == i) before += g.cost[v].impact;
      for (node_id p : g.preds[v])
        if (local_[p] != none) closure_.add_arc(local_[p], local_[v]);
      for (node_id r : g.succs[v]) {
        if (!g.is_release(r) || local_[r] != none) continue;
        bool can_run = true, ran = true;
        for (node_id u : g.preds[r]) {
          can_run &= local_[u] != none || part[u] <= i;
          ran &= part[u] <= i;
        }
        if (!can_run) continue;
        local_[r] = closure_.add(g.cost[r].impact);
        if (ran) before += g.cost[r].impact;
        for (node_id u : g.preds[r])
          if (local_[u] != none) closure_.add_arc(local_[u], local_[r]);
      }
    }
    if (closure_.solve() >= before) return false;
    for (node_id v : corridor) {
      const index_t to = closure_.holds(local_[v]) ? i : i + 1;
      weight[part[v]] -= f.members[v].size();
      weight[to] += f.members[v].size();
      part[v] = to;
    }
    return true;
  }

  void place_releases() {
    for (node_id r = static_cast<node_id>(g_.active); r < g_.size(); ++r) part_[r] = 0;
    for (node_id r = static_cast<node_id>(g_.active); r < g_.size(); ++r)
      for (node_id reader : g_.preds[r]) part_[r] = std::max(part_[r], part_[reader]);
  }

  const schedule_graph& g_;
  function_ref<bool()> go_on_;
  index_t parts_;
  std::size_t cap_ = 0;
  node_parts part_;
  std::vector<index_t> local_;
  closure_problem closure_;
};

}  // namespace detail

namespace structure {

MEMSCHED_FUNCTION bytes cut_bytes(const schedule_graph& g, const node_parts& part, index_t parts) {
  std::vector<delta> change(parts, 0);
  for (node_id v = 0; v < g.size(); ++v) change[part[v]] += g.cost[v].impact;
  delta sum = 0, level = static_cast<delta>(g.base);
  for (index_t i = 0; i + 1 < parts; ++i) sum = detail::capped_sum(sum, level += change[i]);
  return static_cast<bytes>(sum);
}

MEMSCHED_FUNCTION node_parts acyclic_partition(const schedule_graph& g, const partition_shape& shape,
                                               function_ref<bool()> go_on) {
  return detail::partitioner(g, shape, go_on).run(shape.naive);
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
