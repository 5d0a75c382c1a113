// Lower bounds of the peak.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/crew.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/lowest_set.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// The nodes of an order with their heights, level plus peak in bytes, the highest first.
MEMSCHED_FUNCTION plain_vector<std::pair<delta, node_id>> by_height(const schedule_graph& g, std::span<const node_id> order);

/// The bytes that must be live while some operator runs, whatever the order; also at the start and at the end.
/// O(operators + uses).
MEMSCHED_FUNCTION bytes footprint_bound(const problem& p, memory_model model = {});

/// For one node v of a schedule graph: the lowest level at which v can run, plus its peak.
class cut_bound {
 public:
  explicit cut_bound(const schedule_graph& g) : g_(&g), lowest_(g), side_(g.size()), stamp_(g.size(), 0) {}

  /// The bound that v gives; bytes. One minimum cut over the nodes that may run before or after v. If it is `least` or
  /// less, any number from it to `least`: that needs no cut if v takes no more right after its ancestors, since a cut
  /// only lowers that.
  bytes at(node_id v, bytes least = 0) {
    return at(v, least, [] { return true; });
  }
  /// The same; a smaller bound if `go_on`, which is asked now and then in a long cut, says no. `ran` then says nothing.
  bytes at(node_id v, bytes least, function_ref<bool()> go_on) {
    const delta level = static_cast<delta>(g_->base) + ancestors(v), alone = level + g_->cost[v].peak;
    if (least > 0 && alone <= static_cast<delta>(least)) return static_cast<bytes>(std::max<delta>(alone, 0));
    collect_free(v);
    const delta lowered = lowest_.solve(
        g_->preds, v, [&](node_id u) { return side(u) == before; }, go_on);
    return static_cast<bytes>(std::max<delta>(alone + lowered, 0));
  }

  /// Nodes and edges visited by all calls so far.
  std::uint64_t work() const { return work_ + lowest_.work(); }

  /// The nodes that have run in a cheapest case of the last `at`, releases included; ascending.
  std::vector<node_id> ran() const {
    std::vector<node_id> nodes;
    for (node_id u = 0; u < g_->size(); ++u)
      if (side(u) == before || lowest_.holds(u)) nodes.push_back(u);
    return nodes;
  }

 private:
  enum where : unsigned char { undecided, before, after };  // when a node runs, seen from v
  where side(node_id u) const { return stamp_[u] == now_ ? side_[u] : undecided; }
  void place(node_id u, where w) { side_[u] = w, stamp_[u] = now_, stack_.push_back(u); }

  /// Finds the nodes that run before v in every order. Returns their impact.
  delta ancestors(node_id v) {
    ++now_;
    for (node_id u : g_->preds[v])
      if (side(u) == undecided) place(u, before);
    return spread(g_->preds, before);
  }
  /// Finds those that run after v, and the free ones.
  void collect_free(node_id v) {
    work_ += g_->size();
    place(v, after);
    spread(g_->succs, after);
    lowest_.clear();
    for (node_id u = 0; u < g_->size(); ++u)
      if (side(u) == undecided) lowest_.add(u);
  }
  delta spread(const adjacency& next, where w) {
    delta impact = 0;
    while (!stack_.empty()) {
      const node_id u = stack_.back();
      stack_.pop_back();
      impact += g_->cost[u].impact;
      work_ += 1 + next[u].size();
      for (node_id x : next[u])
        if (side(x) == undecided) place(x, w);
    }
    return impact;
  }

  const schedule_graph* g_;
  lowest_set lowest_;
  plain_vector<where> side_;
  std::vector<index_t> stamp_;
  std::vector<node_id> stack_;
  index_t now_ = 0;
  std::uint64_t work_ = 0;
};

/// The best bound that single nodes give, and the node; none if `start` was not exceeded. Nodes are tried by the
/// memory that `order` takes when it runs them, in groups, and not at all if that is no more than the bound so far. Asks
/// `go_on` before each cut, and in a long one now and then the helpers' `over`, or `go_on` if there is none.
/// Gives up when the bound has not risen for `patience` nodes and edges visited, which only large graphs take. Helpers
/// affect neither the answer nor how often `go_on` is asked.
struct node_bound {
  bytes bound = 0;
  node_id v = none;
  bool gave_up = false;    ///< for lack of patience
  std::uint64_t work = 0;  ///< nodes and edges visited
};
MEMSCHED_FUNCTION node_bound best_cut_bound(const schedule_graph& g, std::span<const node_id> order, bytes start,
                                            function_ref<bool()> go_on, std::uint64_t patience = std::uint64_t{3} << 22,
                                            const helpers& who = {});

/// A size such that the peaks of all orders differ by multiples of it; bytes. O(nodes + credits).
inline bytes peak_unit(const schedule_graph& g) {
  delta unit = 0;
  for (node_id v = 0; v < g.size(); ++v) {
    unit = std::gcd(unit, std::gcd(g.cost[v].peak, g.cost[v].impact));
    for (const auto& c : g.credits[v]) unit = std::gcd(unit, c.amount);
  }
  return static_cast<bytes>(std::max<delta>(unit, 1));
}

/// The peaks that the sizes allow: when v runs, v's ancestors and some of the nodes beside it have run, so the peaks
/// at v differ by multiples of the divisor of their impacts. O(nodes^2) once. Asks `go_on` now and then; once that returns
/// false, any peak counts as possible.
class possible_peaks {
 public:
  possible_peaks(const schedule_graph& g, function_ref<bool()> go_on) : base_(g.base) {
    const reachability reach(g);
    for (node_id v = 0; v < g.active; ++v) {
      if (v % 256 == 0 && !go_on()) {
        peaks_.assign(1, {0, 1});
        return;
      }
      delta level = static_cast<delta>(g.base), step = 0;
      const const_bit_row ran = reach.ancestors[v], later = reach.descendants[v];
      for (node_id u = 0; u < g.size(); ++u) {
        const auto readers = g.preds[u];
        const bool release = g.is_release(u);
        if (release ? std::all_of(readers.begin(), readers.end(), [&](node_id r) { return test_bit(ran, r); })
                    : test_bit(ran, u))
          level += g.cost[u].impact;
        else if (step != 1 && u != v && !test_bit(later, u)) step = std::gcd(step, g.cost[u].impact);
      }
      if (g.credits[v].empty()) {
        peaks_.push_back({level + std::max(g.cost[v].peak, g.cost[v].impact), step});
        continue;
      }
      delta spared = step, freed = step;
      for (const auto& c : g.credits[v]) spared = std::gcd(spared, c.amount);
      for (node_id r : g.succs[v])
        if (g.is_release(r)) freed = std::gcd(freed, g.cost[r].impact);
      peaks_.push_back({level + g.cost[v].peak, spared});
      peaks_.push_back({level + g.cost[v].impact, freed});
    }
  }

  /// The smallest from `least` on; the largest number if there is none. Lifts a bound that is nearly a peak to that
  /// peak. Bytes. O(nodes).
  bytes next(bytes least) const {
    const delta low = static_cast<delta>(least);
    bytes next = base_ >= least ? base_ : std::numeric_limits<bytes>::max();
    for (const auto& [some, step] : peaks_) {
      if (some < low && step == 0) continue;
      const delta peak = step == 0 ? some : low + ((some - low) % step + step) % step;
      next = std::min(next, static_cast<bytes>(peak));
    }
    return next;
  }

 private:
  struct progression {
    delta some, step;  ///< `some`, and all values that differ from it by multiples of `step`
  };
  bytes base_;
  plain_vector<progression> peaks_;
};

/// Likewise, of a graph that is asked about once.
inline bytes next_possible_peak(const schedule_graph& g, bytes least) {
  return possible_peaks(g, [] { return true; }).next(least);
}

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/graph/walk.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

MEMSCHED_FUNCTION bytes footprint_bound(const problem& p, memory_model model) {
  bytes bound = p.live_at_start(), at_end = 0;
  for (tensor_id t : p.tensors())
    if (p.storage(t) == t && p.stays(t)) at_end += p.size(t);
  for (op_id op : p.ops()) {
    detail::firing_effect e{.workspace = p.workspace(op)};
    bytes read = 0;
    for (tensor_id t : p.reads(op)) {
      read += p.size(t);
      if (!p.stays(t)) e.freed += p.size(t);
    }
    for (tensor_id t : p.creates(op)) e.produced += p.size(t);
    if (model.in_place)
      for (const problem::storage_reuse& r : p.reuses(op)) e.overwritten += r.spared;
    bound = std::max({bound, read, fire(p.firing(op).value_or(model.default_firing), read, e).during});
  }
  return std::max(bound, at_end);
}

MEMSCHED_FUNCTION plain_vector<std::pair<delta, node_id>> by_height(const schedule_graph& g,
                                                                    std::span<const node_id> order) {
  plain_vector<std::pair<delta, node_id>> heights;
  order_walk w(g);
  for (node_id v : order) {
    heights.emplace_back(w.level() + w.effect(v).peak, v);
    w.fire(v);
  }
  std::sort(heights.begin(), heights.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return heights;
}

MEMSCHED_FUNCTION node_bound best_cut_bound(const schedule_graph& g, std::span<const node_id> order, bytes start,
                                            function_ref<bool()> go_on, std::uint64_t patience, const helpers& who) {
  constexpr std::size_t group = 8;
  struct answer {
    bytes bound = 0;
    std::uint64_t work = 0;
  };
  node_bound best{start, none};
  std::vector<cut_bound> cuts(threads_of(who.team), cut_bound(g));
  const auto heights = by_height(g, order);
  const auto goes_on = [&] { return who.over ? !who.over() : go_on(); };
  std::uint64_t in_vain = 0;  // work since the bound rose
  for (std::size_t first = 0, end = 0; first < heights.size(); first = end) {
    end = std::min(heights.size(), first + group);
    const auto ask = [&, least = best.bound](std::size_t i, std::size_t member) {
      cut_bound& cut = cuts[member];
      const std::uint64_t before = cut.work();
      const bytes bound = cut.at(heights[first + i].second, least, goes_on);
      return answer{bound, cut.work() - before};
    };
    const auto use = [&](std::size_t i, auto&& asked) {
      const auto& [height, v] = heights[first + i];
      if (height <= static_cast<delta>(best.bound) || !go_on()) return false;
      if (in_vain > patience) return best.gave_up = true, false;
      const auto [bound, work] = asked();
      in_vain += work, best.work += work;
      if (bound > best.bound) best.bound = bound, best.v = v, in_vain = 0;
      return true;
    };
    if (!ask_ahead(who, end - first, ask, use)) break;
  }
  return best;
}

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
