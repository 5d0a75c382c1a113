// A window of an order as a graph of its own; a bound of its optimum is one for the whole graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include <memsched/base/backbone.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/windowed_cut.hpp>
#include <memsched/structure/line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// A graph such that no order of the whole has a smaller peak than its own optimum, less `lift`.
struct closed_window {
  schedule_graph graph;
  bytes lift = 0;
  /// The bound of the whole graph that a bound of `graph` implies.
  bytes lowered(bytes bound) const { return bound - std::min(bound, lift); }
};

/// The closed window of a stretch [a, b) of a line with legal ends; nothing if it would not bound anything.
///
/// Let D0 and D1 be what stands before a and before b, W what stands between, P what produces the resources that are live at
/// a, Q what frees those that are live at b. `inside` are active nodes of W that come after all of P, `ending` those that
/// come before all of Q; a node that is both is needed. The graph has W's nodes and edges from level(D0) on, and two more
/// nodes: `open`, with peak and impact M, before all inside nodes; `close`, with peak 0 and impact -M, after all ending
/// ones. M is more than level(D0), level(D1), and all peaks and growth in W together. At the start of the whole there is no
/// `open` and M is in the base; at its end no `close`.
///
/// Lemma: the optimum of this graph is at most M above that of the whole. Proof. Take an order of the whole with peak B, its
/// sets E. Let t0 be when the last of P has run, t1 when the first of Q is about to; a node that is both inside and ending
/// runs between, so t0 < t1. Project: F = (E | D0) & D1, with `open` at t0 and `close` at t1. An inside node runs after t0
/// and an ending one before t1, so all edges hold. Between t0 and t1, E & D0 holds P, so all that is live at a is live
/// there and level(E & D0) >= level(D0); E holds none of Q, so level(E | D1) >= level(D1). Levels are modular, hence
/// level(F) <= level(E), and what runs there takes at most M + B. Before t0 and after t1 all is below M, or below
/// M + level(D0), by the choice of M. A release in W runs in the projection no later than in the order, and a node that is
/// the last reader of a tensor in the order is so in W. A release outside W on which a node of W has a credit is in Q: if
/// it runs in that node's own step, t1 is before that step, which is why such nodes are not ending. Releases that run in the
/// step of the last of P have run at t0, which is why releases are not inside. Missing members of `inside` and `ending` are
/// missing edges: the bound is weaker and still holds.
///
/// O(nodes and edges of W, times the resources live at the ends / 64).
MEMSCHED_FUNCTION std::optional<closed_window> close_window(const order_line& l, const live_index& live,
                                                            const backbone& bone, std::size_t a, std::size_t b);

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/induced_subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// For the nodes of a stretch, which of some marks come before them (or after them, along the other edges).
class mark_sets {
 public:
  mark_sets(std::size_t nodes, std::size_t marks) : marks_(marks), sets_(nodes, marks) {}
  void set(std::size_t i, std::size_t mark) { base::set_bit(sets_[i], mark); }
  void add(std::size_t i, std::size_t from) { unite_bits(sets_[i], sets_[from]); }
  bool all(std::size_t i) const { return count_bits(sets_[i]) == marks_; }

 private:
  std::size_t marks_;
  bit_matrix sets_;
};

/// Nodes times marks that a window may take.
inline constexpr std::size_t most_marks = std::size_t{1} << 24;

}  // namespace detail
namespace bounds {

MEMSCHED_FUNCTION std::optional<closed_window> close_window(const order_line& l, const live_index& live,
                                                            const backbone& bone, std::size_t a, std::size_t b) {
  const schedule_graph& g = l.graph();
  std::vector<node_id> producers, takers;  // P and Q
  live.for_each(a, [&](const schedule_graph::resource& r) {
    if (r.from != none) producers.push_back(r.from);
  });
  live.for_each(b, [&](const schedule_graph::resource& r) {
    if (r.to != none) takers.push_back(r.to);
  });
  for (auto* nodes : {&producers, &takers}) {
    std::sort(nodes->begin(), nodes->end());
    nodes->erase(std::unique(nodes->begin(), nodes->end()), nodes->end());
  }
  const auto place_of = [](const std::vector<node_id>& nodes, node_id v) {
    const auto it = std::lower_bound(nodes.begin(), nodes.end(), v);
    return it != nodes.end() && *it == v ? static_cast<std::size_t>(it - nodes.begin()) : nodes.size();
  };

  // Marks are followed through as many nodes on either side as the stretch has.
  const std::size_t n = b - a, start = a - std::min(a, n), end = std::min(l.size(), b + n);
  if ((end - start) * (producers.size() + takers.size()) > detail::most_marks) return std::nullopt;
  detail::mark_sets above(b - start, producers.size()), below(end - a, takers.size());
  plain_vector<bool> inside(n), ending(n);
  for (std::size_t i = start; i < b; ++i) {
    const node_id v = l.at(i);
    if (const std::size_t m = place_of(producers, v); m < producers.size()) above.set(i - start, m);
    if (i >= a)
      for (std::size_t m = 0; m < producers.size(); ++m)
        if (bone.proves_before(producers[m], v)) above.set(i - start, m);
    for (node_id u : g.preds[v]) {
      if (l.position(u) >= start) above.add(i - start, l.position(u) - start);
      else if (const std::size_t m = place_of(producers, u); m < producers.size()) above.set(i - start, m);
    }
    if (i >= a) inside[i - a] = !g.is_release(v) && above.all(i - start);
  }
  const auto has_credit_outside = [&](node_id v) {
    const auto credits = g.credits[v];
    return std::any_of(credits.begin(), credits.end(), [&](const auto& k) { return l.position(k.release) >= b; });
  };
  bool has_core = false;
  for (std::size_t i = end; i-- > a;) {
    const node_id v = l.at(i);
    if (const std::size_t m = place_of(takers, v); m < takers.size()) below.set(i - a, m);
    if (i < b)
      for (std::size_t m = 0; m < takers.size(); ++m)
        if (bone.proves_before(v, takers[m])) below.set(i - a, m);
    for (node_id s : g.succs[v]) {
      if (l.position(s) < end) below.add(i - a, l.position(s) - a);
      else if (const std::size_t m = place_of(takers, s); m < takers.size()) below.set(i - a, m);
    }
    if (i >= b) continue;
    ending[i - a] = !g.is_release(v) && below.all(i - a) && !has_credit_outside(v);
    has_core |= ending[i - a] && inside[i - a];
  }
  if (!has_core) return std::nullopt;

  // The nodes of W in their positions, the two others after them, then W's releases.
  const bool opens = a > 0, closes = b < l.size();
  closed_window c;
  schedule_graph& h = c.graph;
  std::vector<index_t> place(n);
  for (std::size_t i = 0; i < n; ++i)
    if (!g.is_release(l.at(a + i))) place[i] = static_cast<index_t>(h.active++);
  const index_t open = static_cast<index_t>(h.active), close = static_cast<index_t>(h.active + opens);
  h.active += opens;
  h.active += closes;
  index_t size = static_cast<index_t>(h.active);
  for (std::size_t i = 0; i < n; ++i)
    if (g.is_release(l.at(a + i))) place[i] = size++;

  h.base = static_cast<bytes>(l.level(a));
  h.cost.resize(size);
  plain_vector<std::pair<index_t, index_t>> edges;
  plain_vector<std::pair<index_t, schedule_graph::credit>> credits;
  bytes most = static_cast<bytes>(l.level(a)) + static_cast<bytes>(l.level(b));
  for (std::size_t i = 0; i < n; ++i) {
    const node_id v = l.at(a + i);
    const node_cost cost = g.cost[v];
    h.cost[place[i]] = cost;
    most += static_cast<bytes>(std::max<delta>(cost.peak, 0)) + static_cast<bytes>(std::max<delta>(cost.impact, 0));
    bool behind_inside = false, before_ending = false;
    for (node_id u : g.preds[v]) {
      if (l.position(u) < a) continue;
      edges.emplace_back(place[i], place[l.position(u) - a]);
      behind_inside |= inside[l.position(u) - a];
    }
    for (node_id s : g.succs[v]) before_ending |= l.position(s) < b && ending[l.position(s) - a];
    if (opens && inside[i] && !behind_inside) edges.emplace_back(place[i], open);
    if (closes && ending[i] && !before_ending) edges.emplace_back(close, place[i]);
    for (const auto& k : g.credits[v])
      if (const index_t r = l.position(k.release); r < b)
        credits.emplace_back(place[i], schedule_graph::credit{place[r - a], k.amount});
  }
  h.preds = adjacency::from_pairs(size, edges);
  h.succs = base::transpose(h.preds, size);
  h.credits = list_of<schedule_graph::credit>::from_pairs(size, credits);
  if (!opens && !closes) return c;
  const bytes unit = peak_unit(h);
  if (most > base::max_total) return std::nullopt;
  c.lift = (most / unit + 1) * unit;
  const auto m = static_cast<delta>(c.lift);
  if (opens) h.cost[open] = {m, m};
  else h.base += c.lift;
  if (closes) h.cost[close] = {0, -m};
  return c;
}

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
