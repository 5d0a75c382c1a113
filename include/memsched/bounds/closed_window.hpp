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
  bytes slack = 0;  ///< part of the lift; no bound is above the line's peak less this
  /// The bound of the whole graph that a bound of `graph` implies.
  bytes lowered(bytes bound) const { return bound - std::min(bound, lift); }
};

/// The closed window of a stretch [a, b) of a line with legal ends; nothing if it would not bound anything. If it would only
/// with slack, and `core` is one of its active nodes, the window has the slack that lets it bound `core`.
///
/// Let D0 and D1 be the nodes before a and before b, W those between, P the producers of the resources that are live at a, Q
/// the takers that free those live at b. `inside` are active nodes of W that come after all of P, `ending` those that come
/// before all of Q; a node that is both is needed. The graph has W's nodes and edges from level(D0) on, and two more
/// nodes: `open`, with peak and impact M, before all inside nodes; `close`, with peak 0 and impact -M, after all ending
/// ones. M is more than level(D0), level(D1), and all peaks and growth in W together. At the start of the whole there is no
/// `open` and M is in the base; at its end no `close`. The lift is M.
///
/// Lemma: the optimum of this graph is at most M above that of the whole. Proof. Take an order of the whole with peak B, its
/// sets E. Let t0 be when the last of P has run, t1 when the first of Q is about to; a node that is both inside and ending
/// runs between, so t0 < t1. Project: F = (E | D0) & D1, with `open` at t0 and `close` at t1. An inside node runs after t0
/// and an ending one before t1, so all edges hold. Between t0 and t1, E & D0 holds P, so all that is live at a is live
/// there and level(E & D0) >= level(D0); E holds none of Q, so level(E | D1) >= level(D1). Levels are modular, hence
/// level(F) <= level(E), and the nodes that run there take at most M + B. Before t0 and after t1 all is below M, or below
/// M + level(D0), by the choice of M. A release in W runs in the projection no later than in the order, and a node that is
/// the last reader of a tensor in the order is so in W. A release outside W on which a node of W has a credit is in Q: if
/// it runs in that node's own step, t1 is before that step, which is why such nodes are not ending. Releases that run in the
/// step of the last of P have run at t0, which is why releases are not inside. Missing members of `inside` and `ending` are
/// missing edges: the bound is weaker and still holds.
///
/// With slack, P are only those producers that come before `core`, and Q those takers that come after it. The slack is the
/// bytes that are live at a or at b because of the others; the lift is M and the slack. Lemma: the optimum is at most the lift
/// above that of the whole. Proof. As before, but E & D0 may miss bytes of the slack that are live at a, and E | D1 those that
/// are live at b, so that level(F) <= level(E) + slack. A node of W may have a credit on a release outside of W, which is
/// not in Q and runs in that node's own step. The bytes that it frees are live in E | D1 then, so that level(F) is lower than
/// that by as many, and no credit is more than its release frees.
///
/// O(nodes and edges of W, times the resources live at the ends / 64).
MEMSCHED_FUNCTION std::optional<closed_window> close_window(const order_line& l, const live_index& live,
                                                            const backbone& bone, std::size_t a, std::size_t b,
                                                            node_id core = none);

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/structure/induced_subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The nodes of a stretch [a, b) of a line that come after the producers of the resources live at a, or before the takers of
/// those live at b (see `close_window`).
class window_ends {
 public:
  window_ends(const order_line& l, const live_index& live, const backbone& bone, std::size_t a, std::size_t b)
      : line_(l), live_(live), bone_(bone), a_(a), b_(b), inside_(b - a), ending_(b - a) {
    live.for_each(a, [&](const schedule_graph::resource& r) {
      if (r.from != none) producers_.push_back(r.from);
    });
    live.for_each(b, [&](const schedule_graph::resource& r) {
      if (r.to != none) takers_.push_back(r.to);
    });
    for (auto* nodes : {&producers_, &takers_}) {
      std::sort(nodes->begin(), nodes->end());
      nodes->erase(std::unique(nodes->begin(), nodes->end()), nodes->end());
    }
  }

  /// Finds those nodes. Returns whether one is of both kinds, if need be without the producers that do not come before `core`
  /// and the takers that do not come after it.
  bool find(node_id core) {
    constexpr std::size_t most_marks = std::size_t{1} << 24;
    // Marks are followed through as many nodes on either side as the stretch has.
    const std::size_t n = b_ - a_, start = a_ - std::min(a_, n), end = std::min(line_.size(), b_ + n);
    if ((end - start) * (producers_.size() + takers_.size()) > most_marks) return false;
    mark_producers(start);
    mark_takers(end);
    bit_set first(producers_.size()), last(takers_.size());
    for (std::size_t m = 0; m < producers_.size(); ++m) first.insert(m);
    for (std::size_t m = 0; m < takers_.size(); ++m) last.insert(m);
    if (find_between(first, last)) return true;
    if (core == none) return false;
    first.clear(), last.clear();
    unite_bits(first, above_[line_.position(core) - above_from_]);
    unite_bits(last, below_[line_.position(core) - a_]);
    live_.for_each(a_, [&](const schedule_graph::resource& r) {
      if (r.from != none && !first[place_of(producers_, r.from)]) slack_ += r.size;
    });
    live_.for_each(b_, [&](const schedule_graph::resource& r) {
      if (r.to != none && !last[place_of(takers_, r.to)]) slack_ += r.size;
    });
    return find_between(first, last);
  }
  /// Whether the i-th node of the stretch comes after all producers, or before all takers.
  bool inside(std::size_t i) const { return inside_[i]; }
  bool ending(std::size_t i) const { return ending_[i]; }
  /// Bytes that are live at the ends because of producers and takers that were left out.
  bytes slack() const { return slack_; }

 private:
  static std::size_t place_of(const std::vector<node_id>& nodes, node_id v) {
    const auto it = std::lower_bound(nodes.begin(), nodes.end(), v);
    return it != nodes.end() && *it == v ? static_cast<std::size_t>(it - nodes.begin()) : nodes.size();
  }
  void mark_producers(std::size_t start) {
    const schedule_graph& g = line_.graph();
    above_from_ = start;
    above_ = bit_matrix(b_ - start, producers_.size());
    for (std::size_t i = start; i < b_; ++i) {
      const node_id v = line_.at(i);
      const bit_row marks = above_[i - start];
      if (const std::size_t m = place_of(producers_, v); m < producers_.size()) set_bit(marks, m);
      if (i >= a_)
        for (std::size_t m = 0; m < producers_.size(); ++m)
          if (bone_.proves_before(producers_[m], v)) set_bit(marks, m);
      for (node_id u : g.preds[v]) {
        if (line_.position(u) >= start) unite_bits(marks, above_[line_.position(u) - start]);
        else if (const std::size_t m = place_of(producers_, u); m < producers_.size()) set_bit(marks, m);
      }
    }
  }
  void mark_takers(std::size_t end) {
    const schedule_graph& g = line_.graph();
    below_ = bit_matrix(end - a_, takers_.size());
    for (std::size_t i = end; i-- > a_;) {
      const node_id v = line_.at(i);
      const bit_row marks = below_[i - a_];
      if (const std::size_t m = place_of(takers_, v); m < takers_.size()) set_bit(marks, m);
      if (i < b_)
        for (std::size_t m = 0; m < takers_.size(); ++m)
          if (bone_.proves_before(v, takers_[m])) set_bit(marks, m);
      for (node_id s : g.succs[v]) {
        if (line_.position(s) < end) unite_bits(marks, below_[line_.position(s) - a_]);
        else if (const std::size_t m = place_of(takers_, s); m < takers_.size()) set_bit(marks, m);
      }
    }
  }
  /// The nodes after all of `first`, some producers, and those before all of `last`, some takers.
  bool find_between(const_bit_row first, const_bit_row last) {
    bool found = false;
    for (std::size_t i = a_; i < b_; ++i) {
      const bool runs = !line_.graph().is_release(line_.at(i));
      inside_[i - a_] = runs && is_subset(first, above_[i - above_from_]);
      ending_[i - a_] = runs && is_subset(last, below_[i - a_]) && !has_credit_behind(line_.at(i));
      found |= inside_[i - a_] && ending_[i - a_];
    }
    return found;
  }
  bool has_credit_behind(node_id v) const {
    const auto credits = line_.graph().credits[v];
    return std::any_of(credits.begin(), credits.end(), [&](const auto& k) { return line_.position(k.release) >= b_; });
  }

  const order_line& line_;
  const live_index& live_;
  const backbone& bone_;
  std::size_t a_, b_, above_from_ = 0;
  std::vector<node_id> producers_, takers_;
  bit_matrix above_, below_;
  plain_vector<bool> inside_, ending_;  // of each node of the stretch
  bytes slack_ = 0;
};

}  // namespace detail
namespace bounds {

MEMSCHED_FUNCTION std::optional<closed_window> close_window(const order_line& l, const live_index& live,
                                                            const backbone& bone, std::size_t a, std::size_t b,
                                                            node_id core) {
  const schedule_graph& g = l.graph();
  detail::window_ends ends(l, live, bone, a, b);
  if (!ends.find(core)) return std::nullopt;
  const std::size_t n = b - a;

  // The nodes of W in their positions, the two others after them, then W's releases.
  const bool opens = a > 0, closes = b < l.size();
  closed_window c{.graph = {}, .slack = ends.slack()};
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
      behind_inside |= ends.inside(l.position(u) - a);
    }
    for (node_id s : g.succs[v]) before_ending |= l.position(s) < b && ends.ending(l.position(s) - a);
    if (opens && ends.inside(i) && !behind_inside) edges.emplace_back(place[i], open);
    if (closes && ends.ending(i) && !before_ending) edges.emplace_back(close, place[i]);
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
  const bytes m = (most / unit + 1) * unit;
  c.lift = m + c.slack;
  if (opens) h.cost[open] = {static_cast<delta>(m), static_cast<delta>(m)};
  else h.base += m;
  if (closes) h.cost[close] = {0, -static_cast<delta>(m)};
  return c;
}

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
