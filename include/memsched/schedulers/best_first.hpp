// The exact engine: bottleneck best-first search over sets of nodes that have run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Searches the downsets of a graph, cheapest peak first and deepest first among equals, from a start no cheaper than
/// the context's target, for an order whose peak is below the incumbent's. One entry per downset.
///
/// Three rules leave out steps that no order needs. Each is exact by itself and together with the others.
///
/// `macros`: it branches only over nodes that may free memory. The *drop* of a node is its peak less its impact, that of a
/// release the bytes that it frees and the least drop of the nodes that it waits for. Nodes of a positive impact, and those
/// that take nothing, are *low-drop* if their drop is no more than that of any other node, without its credits, and of any
/// release that frees something; but none that has a credit or shares a release with one. A low-drop node waits until a
/// descendant is chosen.
/// Lemma. Premise: D is a downset, and t comes first in a completion of D of all nodes that are not low-drop and all
/// releases that free something. Exchange: t's ancestors outside D, all low-drop, and then t move to the front, in the order
/// of the lowest peak. Conclusion: the peak is no higher.
/// Proof: a node that moves overtakes low-drop nodes only, so it runs at no higher level. A node that is overtaken runs with
/// some of the nodes that had run when t did, and t: the level after it is no higher than that after t was, above which
/// the completion was by t's drop; if t is a release, as a low-drop node ran right before it.
/// If a low-drop node feeds another one, fewer moves are needed (lemma at `feeders` in search/feeders.hpp); and none to a
/// target that some release comes before (lemma at `downset_moves::sum_up`).
///
/// `commits`: if a move is safe and stays under the peak in force, it takes that move and no other (lemma R1, at
/// `is_safe` in search/downset_moves.hpp).
///
/// `backjumps`: let S be before D on a path of cost c, with no downset from S on lower than D, and L the largest lowest
/// downset between S and D (one minimum cut). L takes the place of S, D and all between; their other moves are dropped.
/// Lemma. Premise: L is reached from S's parent under c, which a replay tests, since a credit may be lost on the way.
/// Exchange: in a completion of a downset M from S to D each state E becomes the union of E and L. Conclusion: L has a
/// completion with no higher peak. Proof: level(E + L) + level(E * L) = level(E) + level(L), with + the union and * the
/// intersection. E * L lies between S and D, so it is no lower than L, and E + L is no higher than E.
/// A node finds at least those run that it found before, so it keeps its credits. (The path to L exists, but for credits, by
/// the same equation: E becomes E * L, and E + L is no lower than L.)
///
/// At a limit it answers with the incumbent and the cheapest peak that is still open.
struct best_first {
  bool macros = true;
  bool commits = true;
  bool backjumps = true;
  std::size_t max_nodes =
      1 << 14;  ///< larger graphs are answered with the incumbent; the ancestors of n take up to n^2/4 bytes

  solution operator()(const schedule_graph& g, search& context) const;
  /// Starts from an order that is known.
  solution improve(const schedule_graph& g, search& context, solution incumbent) const;

  /// The result of a search between two peaks.
  struct finding {
    std::optional<std::vector<node_id>> order;  ///< the cheapest at or above `from`, if there is one below `below`
    bytes bound = 0;                            ///< no order has a peak from `from` on that is below this; at most `below`
  };
  /// Looks for an order with a peak below `below`; peaks below `from` are not told apart.
  finding between(const schedule_graph& g, search& context, bytes from, bytes below) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <limits>
#include <utility>

#include <memsched/base/bucket_queue.hpp>
#include <memsched/bounds/lowest_set.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/search/downset_moves.hpp>
#include <memsched/search/downsets.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class best_first_search {
 public:
  best_first_search(const schedule_graph& g, search& context, const best_first& policy, bytes from, bytes below)
      : g_(g),
        context_(context),
        commits_(policy.commits),
        backjumps_(policy.backjumps),
        moves_(g, context, policy.macros),
        table_(g.active),
        lowest_(g),
        reached_(words_for(g.active)),
        floor_(static_cast<delta>(std::max(from, g.base))),
        ceiling_(static_cast<delta>(below)) {}

  /// Searches until it is decided or a limit is hit; another call goes on. An order that is found must be below `below`,
  /// which may have fallen since.
  best_first::finding run(bytes below = no_limit) {
    context_.control().stats.nodes = std::max<std::uint64_t>(context_.control().stats.nodes, g_.active);
    if (!moves_.usable()) return context_.keep_going(), done(floor_);
    if (below < static_cast<bytes>(ceiling_)) ceiling_ = static_cast<delta>(below);
    if (floor_ >= ceiling_) return done(ceiling_);
    if (entries_.empty()) close(left_ = insert(bit_set(g_.active), static_cast<delta>(g_.base)), floor_, {none, none});
    if (left_ != none) {
      if (entries_[left_].cost >= ceiling_) return done(ceiling_);
      const index_t at = std::exchange(left_, none);
      if (visit(at) || left_ != none) return done(entries_[at].cost);
    }
    while (!open_.empty() && open_.key() < ceiling_ && !context_.stopped()) {
      const delta cost = open_.key();
      const claim c = open_.pop();
      if (c.by.parent != none && dropped_[c.by.parent]) continue;
      const index_t at = c.at != none ? c.at : place_of(c);
      if (closed_[at]) continue;
      close(at, cost, c.by);
      if (visit(at) || left_ != none) return done(cost);
    }
    return done(open_.empty() ? ceiling_ : open_.key());
  }
  /// Peaks below this are not told apart. Bytes.
  bytes from() const { return static_cast<bytes>(floor_); }
  /// Bytes that its tables hold.
  std::uint64_t bytes_held() const {
    return table_.bytes_held() + entries_.capacity() * sizeof(entry) + closed_.capacity() / 4 + open_.bytes_held() +
           detour_bytes_;
  }

 private:
  struct way {
    index_t parent;         ///< none for the start
    node_id target;         ///< none for a detour
    index_t detour = none;  ///< in `detours_`
  };
  struct entry {
    delta level, cost;  ///< cost: of the path to it
    way by;
  };
  /// A way to a downset, void if its parent is dropped. The downset itself is in the table once a claim to it is taken: most
  /// never are.
  struct claim {
    delta level;
    way by;
    index_t at = none;  ///< of a detour: its place
  };

  /// Goes on from a closed downset. Returns true if that finds an order. At a limit the downset is left for the next call of
  /// `run`.
  bool visit(index_t at) {
    const bool counted = context_.count_state() && context_.fits(bytes_held());
    if (!counted) return left_ = at, false;
    if ((context_.control().stats.states & 0xfff) == 0) context_.report(no_limit, static_cast<bytes>(entries_[at].cost));
    return expand(at);
  }
  /// Takes safe moves, then opens the downsets to which others lead. Returns true if the downset is everything: its path
  /// becomes the incumbent.
  bool expand(const index_t at) {
    index_t place = at;
    const delta cost = entries_[at].cost;
    while (commits_) {
      const auto m = moves_.safe_from(table_[place], entries_[place].level, cost);
      if (context_.stopped()) return left_ = place, false;
      if (!m) break;
      const index_t next = place_of({m->level, {place, m->target}});
      if (closed_[next]) return false;
      close(next, cost, {place, m->target});
      place = next;
    }
    if (count_bits(table_[place]) == g_.active) {
      append_path(none, place, order_.emplace());
      return true;
    }
    children_ = moves_.from(table_[place], entries_[place].level);
    if (context_.stopped()) return left_ = place, false;
    if (!backjumps_ || !backjump(at, place)) open_children(place);
    return false;
  }

  /// Opens where the moves in `children_` from a downset lead.
  void open_children(index_t at) {
    const delta cost_here = entries_[at].cost;
    // Best last, so that it is on top of its bucket: the lowest end first, then the lowest way.
    std::sort(children_.begin(), children_.end(), [](const auto& a, const auto& b) {
      return a.level != b.level ? a.level > b.level : a.peak != b.peak ? a.peak > b.peak : a.target > b.target;
    });
    for (const auto& m : children_)
      if (const delta cost = std::max(cost_here, m.peak); cost < ceiling_) open_.push(cost, {m.level, {at, m.target}});
  }

  /// The place of the downset to which a move leads.
  index_t place_of(const claim& c) {
    moves_.reach(c.by.target, table_[c.by.parent], reached_);
    return insert(reached_, c.level);
  }
  index_t insert(const_bit_row set, delta level) {
    const auto [place, fresh] = table_.insert(set);
    if (fresh) {
      entries_.push_back({level, std::numeric_limits<delta>::max(), {none, none}});
      closed_.push_back(false);
      dropped_.push_back(false);
    }
    return place;
  }
  void close(index_t at, delta cost, way by) {
    entries_[at].cost = cost;
    entries_[at].by = by;
    closed_[at] = true;
    dropped_[at] = false;
  }

  /// Returns true if another downset takes the place of `at` and of those before it, which are open again: that one may lead to
  /// them. `unsettled` is `at` before its safe moves. Only downsets of one cost: their other claims still wait.
  bool backjump(index_t unsettled, index_t at) {
    const entry e = entries_[at];
    const index_t parent = entries_[unsettled].by.parent;
    index_t first = none;
    const auto no_lower = [&](index_t i) { return entries_[i].level >= e.level && entries_[i].cost == e.cost; };
    for (index_t i = parent; i != none && no_lower(i); i = entries_[i].by.parent) first = i;
    if (first == none) return false;
    const bit_set best = lowest_between(table_[first], table_[at]);
    const bool stays = std::ranges::equal(const_bit_row(best), table_[at]);
    const index_t before = entries_[first].by.parent;
    std::vector<node_id> path;
    if (!stays) {
      append_path(before, at, path);
      std::erase_if(path, [&](node_id v) { return !best[v]; });
      if (before == none) moves_.stepper().start(bit_set(g_.active), static_cast<delta>(g_.base));
      else moves_.stepper().start(table_[before], entries_[before].level);
      for (node_id v : path) moves_.stepper().run(v);
      if (moves_.stepper().peak() > e.cost) return false;  // a credit is lost on the way
    }
    for (index_t i = stays ? parent : at; i != before; i = entries_[i].by.parent) dropped_[i] = true, closed_[i] = false;
    if (stays) return false;
    detour_bytes_ += sizeof(std::vector<node_id>) + path.capacity() * sizeof(node_id);
    detours_.push_back(std::move(path));
    const delta level = moves_.stepper().level();
    open_.push(e.cost, {level, {before, none, static_cast<index_t>(detours_.size() - 1)}, insert(best, level)});
    return true;
  }

  /// The largest of the lowest downsets from `inner` to `outer`.
  bit_set lowest_between(const_bit_row inner, const_bit_row outer) {
    lowest_.clear();
    for_each_bit_beyond(inner, outer, [&](std::size_t v) { lowest_.add(static_cast<node_id>(v)); });
    const std::size_t nodes = lowest_.free().size();
    for (std::size_t i = 0; i < nodes; ++i)
      for (node_id r : g_.succs[lowest_.free()[i]]) {
        const auto readers = g_.preds[r];
        const auto ran = [&](node_id u) { return test_bit(outer, u); };
        if (g_.is_release(r) && !lowest_.is_free(r) && std::all_of(readers.begin(), readers.end(), ran)) lowest_.add(r);
      }
    moves_.count(32 * lowest_.free().size());
    lowest_.solve(g_.preds);
    lowest_.widen();
    bit_set set(g_.active);
    unite_bits(set, inner);
    for (std::size_t i = 0; i < nodes; ++i)
      if (const node_id v = lowest_.free()[i]; lowest_.holds(v)) set.insert(v);
    return set;
  }

  /// The path from one downset to another.
  void append_path(index_t from, index_t to, std::vector<node_id>& nodes) {
    std::vector<index_t> path;
    for (index_t i = to; i != from; i = entries_[i].by.parent) path.push_back(i);
    for (std::size_t i = path.size(); i-- > 0;) {
      const way& by = entries_[path[i]].by;
      if (by.parent == none && by.detour == none) continue;  // the start
      const auto& some = by.detour != none ? detours_[by.detour] : moves_.path_to(by.target, table_[by.parent]);
      nodes.insert(nodes.end(), some.begin(), some.end());
    }
  }

  best_first::finding done(delta bound) {
    return {std::exchange(order_, std::nullopt), static_cast<bytes>(std::min(bound, ceiling_))};
  }

  const schedule_graph& g_;
  search& context_;
  bool commits_, backjumps_;
  downset_moves moves_;
  downset_table table_;
  plain_vector<entry> entries_;
  std::vector<bool> closed_, dropped_;
  bucket_queue<claim> open_;
  std::vector<std::vector<node_id>> detours_;
  std::uint64_t detour_bytes_ = 0;
  lowest_set lowest_;
  plain_vector<bit_word> reached_;
  plain_vector<downset_moves::move> children_;
  index_t left_ = none;  // a closed downset from which to go on
  std::optional<std::vector<node_id>> order_;
  delta floor_, ceiling_;
};

}  // namespace detail

MEMSCHED_FUNCTION best_first::finding best_first::between(const schedule_graph& g, search& context, bytes from,
                                                          bytes below) const {
  if (g.active > max_nodes) return context.control().give_up(), finding{std::nullopt, from};
  return detail::best_first_search(g, context, *this, from, below).run();
}

MEMSCHED_FUNCTION solution best_first::improve(const schedule_graph& g, search& context, solution incumbent) const {
  const bytes from = std::max(context.asked().target, incumbent.lower_bound), peak = peak_of(g, incumbent.order);
  context.report(peak, from);
  finding f = between(g, context, from, std::min(peak, context.asked().cutoff));
  if (f.order) incumbent.order = std::move(*f.order);
  incumbent.lower_bound = std::max(incumbent.lower_bound, f.bound);
  return incumbent;
}

MEMSCHED_FUNCTION solution best_first::operator()(const schedule_graph& g, search& context) const {
  return improve(g, context, greedy{}(g, context));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
