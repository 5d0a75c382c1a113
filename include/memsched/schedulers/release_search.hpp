// A relaxed search: most nodes have no peak of their own, only the moments at which memory is freed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/bitset.hpp>
#include <memsched/base/bucket_queue.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/search/downset_moves.hpp>
#include <memsched/search/downsets.hpp>
#include <memsched/search/step_counter.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Searches the sets of *events* that have happened, cheapest charge first. Its answer is a bound; without light nodes, the
/// optimum.
///
/// Let the *room* of a node u be its drop, less the bytes by which its credits exceed their releases: u runs at least so far
/// above the level after it. A node is *light* if its impact is at least 0 and its room at most `most_light`. Events are the
/// releases that free memory, and the nodes that are not light. A light node has no peak of its own: it runs when an event
/// waits for it.
///
/// The state after some events holds their ancestors, and those of the events that are nodes. The *charge* of the event t,
/// which leads from a state S to S', is the least that the step can cost in which it happens. If the node u runs last before
/// it, that is the level of S', and above it u's room and the bytes that u frees from S to S' without a credit. u is t
/// itself, or any node that the release t waits for. Other releases may free memory in the same step: those on which u has a
/// credit, and for which S' lacks light nodes only. So the level is the lowest that S' may have with all nodes that some of
/// these wait for, and without the bytes that they free.
///
/// Lemma (charges). Premise: an order of the graph. Conclusion: some path over states has no charge above the order's peak.
/// Proof: take the steps of the order in which events happen: u runs, and with it the releases T. The path takes u first, if it
/// is an event, then T one by one. Let X be all nodes that have run by then, and S' a state within the step. The nodes of X
/// without S' are light, with impacts of at least 0, and of the releases that free memory X has only some of T more. So the
/// level of X is no lower than that of S' with all nodes that those of T wait for on which u has a credit, less the bytes of
/// the others that are not in S' yet. The order's peak is no lower than the level of X, u's room, and all that u frees without
/// a credit, which the others are part of.
///
/// An event is taken at once if its charge is no more than the cost so far, S' is no higher than S, and each release that frees
/// memory between waits for all of S' without S. Lemma (at once). Premise: a path from S. Exchange: S' is added to each of its
/// states.
/// Conclusion: it costs no more. Proof: let Z be such a state, with or without the nodes that some releases wait for, and E the
/// nodes that it shares with S'. E is S', or lacks all that frees memory from S to S', so that it is no lower than S and S'.
/// The level of Z and S' together is that of Z, plus that of S', less that of E, and less the bytes that are freed where both
/// have run, but in neither: so it is no higher than Z, also if a charge counts those bytes.
class release_search {
 public:
  release_search(const schedule_graph& g, search& context, delta most_light, bytes from, bytes below)
      : g_(g),
        context_(context),
        steps_(context),
        ancestors_(structure::active_ancestors(g, [&] { return !context.control().over(); })),
        light_(g.active),
        room_(g.active),
        is_freed_(g.size() - g.active, false),
        watched_(g.active),
        table_(g.active),
        here_(words_for(g.active)),
        reached_(words_for(g.active)),
        joined_(words_for(g.active)),
        floor_(static_cast<delta>(std::max(from, g.base))),
        ceiling_(static_cast<delta>(below)) {
    for (node_id v = 0; v < g.active; ++v) {
      room_[v] = g.cost[v].drop();
      for (const auto& c : g.credits[v]) room_[v] -= std::max<delta>(0, c.amount + g.cost[c.release].impact);
      if (g.cost[v].impact >= 0 && room_[v] <= most_light) light_.insert(v);
    }
    std::vector<std::pair<index_t, node_id>> releases;
    for (node_id v = 0; v < g.size(); ++v) {
      if (g.is_release(v) ? g.cost[v].impact < 0 : !light_[v]) events_.push_back(v);
      if (g.is_release(v) && g.cost[v].impact < 0)
        for (node_id u : g.preds[v]) releases.emplace_back(u, v);
    }
    releases_ = adjacency::from_pairs(g.active, releases);
  }

  /// As `best_first_search::run`; the order need not keep the peak that was found, which is no more than a bound.
  best_first::finding run(bytes below) {
    ceiling_ = std::min(ceiling_, static_cast<delta>(below));
    if (!ancestors_ || !context_.keep_going()) return done(floor_);
    if (entries_.empty()) left_ = insert(here_, {static_cast<delta>(g_.base), floor_, none, none});
    while (left_ != none || next_claim()) {
      const delta cost = entries_[left_].cost;
      if (cost >= ceiling_) break;
      if (!context_.count_state() || !context_.fits(bytes_held())) return done(cost);
      const index_t at = std::exchange(left_, none);
      if (!expand(at)) continue;
      order_ = order_to(at);
      return done(cost);
    }
    return done(open_.empty() ? ceiling_ : open_.key());
  }

  /// Peaks below this are not told apart. Bytes.
  bytes from() const { return static_cast<bytes>(floor_); }
  /// Bytes that its tables hold.
  std::uint64_t bytes_held() const { return table_.bytes_held() + entries_.capacity() * sizeof(entry) + open_.bytes_held(); }
  /// The states that were expanded, but for the start: each as the place of an earlier one, the start being 0, and the event
  /// that leads from there.
  std::vector<std::pair<index_t, node_id>> expanded() const {
    std::vector<index_t> place(entries_.size(), none), path;
    std::vector<std::pair<index_t, node_id>> states;
    index_t count = 0;
    for (index_t i = 0; i < entries_.size(); ++i) {
      if (i == left_) continue;
      for (index_t at = i; at != none && place[at] == none; at = entries_[at].parent) path.push_back(at);
      for (; !path.empty(); path.pop_back()) {
        const entry& e = entries_[path.back()];
        place[path.back()] = count++;
        if (e.parent != none) states.emplace_back(place[e.parent], e.event);
      }
    }
    return states;
  }

  /// The next `most_light`, after one at which `run` returned this order and bound: below the room of a light node that runs
  /// above the bound, or else of any. Nothing if no node runs above it, or none is light.
  std::optional<delta> next_most_light(const std::vector<node_id>& order, bytes bound) const {
    std::optional<delta> highest, any;
    bool is_above = false;
    order_walk walk(g_);
    for (node_id v : order) {
      const bool high = walk.level() + walk.effect(v).peak > static_cast<delta>(bound);
      walk.fire(v);
      is_above = is_above || high;
      if (!light_[v]) continue;
      any = std::max(any, std::optional(room_[v]));
      if (high) highest = std::max(highest, std::optional(room_[v]));
    }
    if (!is_above || !any) return std::nullopt;
    return highest.value_or(*any) - 1;
  }

 private:
  struct entry {
    delta level, cost;
    index_t parent;  ///< none for the start
    node_id event;
  };
  /// An event that leads from a state. The state after it is in the table once the claim is taken: most never are.
  struct claim {
    delta level;
    index_t parent;
    node_id event;
  };

  /// Takes the cheapest claim to a new state, which is left to be expanded. Returns false if none is below the ceiling, or a
  /// limit was hit.
  bool next_claim() {
    while (left_ == none && !open_.empty() && open_.key() < ceiling_ && !context_.stopped()) {
      const delta cost = open_.key();
      const claim c = open_.pop();
      reach(c.event, table_[c.parent]);
      steps_.count(4 * reached_.size());
      left_ = insert(reached_, {c.level, cost, c.parent, c.event});
    }
    return left_ != none;
  }
  /// The place of a new state; none if it is known.
  index_t insert(const_bit_row state, const entry& e) {
    const auto [place, fresh] = table_.insert(state);
    if (!fresh) return none;
    entries_.push_back(e);
    return place;
  }

  /// Opens the states to which events lead. Returns true if all have happened.
  bool expand(index_t at) {
    const entry e = entries_[at];
    stand_at(table_[at]);
    children_.clear();
    for (node_id t : next_) {
      const delta rise = take(t), level = e.level + rise;
      const delta cost = std::max(e.cost, charge(t, level, e.cost));
      if (cost >= ceiling_) continue;
      const bool at_once = cost == e.cost && rise <= 0 && frees_at_the_end();
      if (at_once) children_.clear();
      children_.push_back({level, cost, at, t});
      if (at_once) break;
    }
    // Best last, so that it is on top of its bucket.
    std::stable_sort(children_.begin(), children_.end(), [](const entry& a, const entry& b) { return a.level > b.level; });
    for (const entry& c : children_) open_.push(c.cost, {c.level, c.parent, c.event});
    return next_.empty();
  }
  /// Goes to a state: fills `next_` with the events that can happen there. Of these, a release is watched at the last node that
  /// it waits for: if that does not run, nor does the release.
  void stand_at(const_bit_row state) {
    for (node_id t : next_)
      if (g_.is_release(t)) watched_[last_missing(t)].clear();
    std::copy(state.begin(), state.end(), here_.begin());
    next_.clear();
    std::copy_if(events_.begin(), events_.end(), std::back_inserter(next_), [&](node_id t) { return opens(t); });
    for (node_id t : next_)
      if (g_.is_release(t)) watched_[last_missing(t)].push_back(t);
    steps_.count(events_.size() * (4 + 2 * here_.size()));
  }

  /// The last of the nodes that t waits for which have not run; there is one.
  node_id last_missing(node_id t) const {
    const auto anc = (*ancestors_)[t];
    std::size_t k = here_.size() - 1;
    while ((anc[k] & ~here_[k]) == 0) --k;
    return static_cast<node_id>(last_member(k, anc[k] & ~here_[k]));
  }
  /// Whether t has not happened and waits for light nodes only.
  bool opens(node_id t) const {
    if (!g_.is_release(t) && test_bit(here_, t)) return false;
    return waits_for_light(t, here_) && (!g_.is_release(t) || !is_subset((*ancestors_)[t], here_));
  }
  bool waits_for_light(node_id t, const_bit_row set) const { return is_covered((*ancestors_)[t], set, light_); }
  /// Fills `reached_` with the state to which t leads.
  void reach(node_id t, const_bit_row from) {
    const auto anc = (*ancestors_)[t];
    for (std::size_t k = 0; k < from.size(); ++k) reached_[k] = from[k] | anc[k];
    if (!g_.is_release(t)) set_bit(reached_, t);
  }
  /// Goes to the state after t: fills `reached_`, and `freed_` with the releases that free memory on the way. Returns how
  /// far the level rises.
  ///
  /// Lemma: such a release r is one of `next_`, or t is a node that reads what r frees. Proof: the nodes that run between the
  /// states are light, except t if it is a node. If r does not wait for t, it waits for light nodes only. If it does, t is one
  /// of its readers, since nothing after t has run.
  delta take(node_id t) {
    reach(t, here_);
    for (node_id r : freed_) is_freed_[r - g_.active] = false;
    freed_.clear();
    delta rise = 0;
    const auto look_at = [&](node_id r) {
      if (!is_subset((*ancestors_)[r], reached_)) return;
      freed_.push_back(r);
      is_freed_[r - g_.active] = true;
      rise += g_.cost[r].impact;
    };
    if (!g_.is_release(t)) std::for_each(releases_[t].begin(), releases_[t].end(), look_at);
    for_each_bit_beyond(here_, reached_, [&](std::size_t v) {
      rise += g_.cost[v].impact;
      std::for_each(watched_[v].begin(), watched_[v].end(), look_at);
    });
    steps_.count(16 + (6 + 2 * next_.size()) * here_.size());
    return rise;
  }
  /// Whether all of `freed_` waits for all that is between `here_` and `reached_`.
  bool frees_at_the_end() const {
    return std::all_of(freed_.begin(), freed_.end(),
                       [&](node_id r) { return is_covered(reached_, here_, (*ancestors_)[r]); });
  }

  /// The charge of t, which leads to `reached_`, at `level`; or some higher value that is not above `enough`.
  delta charge(node_id t, delta level, delta enough) {
    const std::span<const node_id> last = g_.is_release(t) ? g_.preds[t] : std::span<const node_id>(&t, 1);
    delta least = std::numeric_limits<delta>::max();
    rooms_.clear();
    for (node_id u : last) {
      rooms_.push_back(std::max<delta>(0, room_[u] + not_spared(u)));
      least = std::min(least, level + rooms_.back());
    }
    for (std::size_t i = 0; i < last.size() && least > enough; ++i)
      least = std::min(least, level + rooms_[i] + deepest_fall(last[i], least - level - rooms_[i]));
    return least;
  }
  /// The bytes that u frees with those of `freed_`, less its credits on them.
  delta not_spared(node_id u) const {
    delta sum = 0;
    for (node_id r : releases_[u]) {
      if (!is_freed_[r - g_.active]) continue;
      delta left = -g_.cost[r].impact;
      for (const auto& c : g_.credits[u])
        if (c.release == r) left -= c.amount;
      sum += std::max<delta>(0, left);
    }
    return sum;
  }
  /// The lowest level above that of `reached_`, at most 0, with all nodes that some releases wait for on which u has a credit,
  /// and without the bytes that they free. Or 0 if it is not below `useful`. Of many releases some lower level.
  delta deepest_fall(node_id u, delta useful) {
    constexpr std::size_t most = 4;
    joint_.clear();
    delta all = 0, least_rise = std::numeric_limits<delta>::max();
    for (const auto& c : g_.credits[u]) {
      const auto anc = (*ancestors_)[c.release];
      if (is_subset(anc, reached_) || !waits_for_light(c.release, reached_)) continue;
      joint_.push_back(c.release);
      all += g_.cost[c.release].impact;
      least_rise = std::min(least_rise, impact_of(anc, reached_));
    }
    if (joint_.empty() || all + least_rise >= useful) return 0;
    if (joint_.size() > most) return all + least_rise;
    delta deepest = 0;
    steps_.count((std::size_t{8} << joint_.size()) * reached_.size());
    for (std::size_t chosen = 1; chosen < std::size_t{1} << joint_.size(); ++chosen) {
      std::copy(reached_.begin(), reached_.end(), joined_.begin());
      delta fall = 0;
      for (std::size_t i = 0; i < joint_.size(); ++i)
        if ((chosen >> i & 1) != 0) {
          unite_bits(joined_, (*ancestors_)[joint_[i]]);
          fall += g_.cost[joint_[i]].impact;
        }
      deepest = std::min(deepest, fall + impact_of(joined_, reached_));
    }
    return deepest;
  }
  /// The impacts of the nodes of `set` that have not run in `ran`.
  delta impact_of(const_bit_row set, const_bit_row ran) const {
    delta sum = 0;
    for_each_bit_beyond(ran, set, [&](std::size_t v) { sum += g_.cost[v].impact; });
    return sum;
  }

  /// All nodes: those that each event adds, and the rest. Of those that an event adds, the ones with most room come first,
  /// where the level is lower.
  std::vector<node_id> order_to(index_t at) {
    std::vector<index_t> path;
    for (index_t i = at; i != none; i = entries_[i].parent) path.push_back(i);
    std::vector<index_t> position(g_.size());
    const auto sorted = base::topological_order(g_.preds, g_.succs);
    for (index_t i = 0; i < sorted.size(); ++i) position[sorted[i]] = i;
    std::vector<node_id> order, added;
    plain_vector<delta> tails(g_.size(), 0);
    bit_set ran(g_.active);
    const auto append = [&](const_bit_row set) {
      added.clear();
      for_each_bit(set, [&](std::size_t v) {
        if (!ran[v]) added.push_back(static_cast<node_id>(v)), ran.insert(v);
      });
      std::sort(added.begin(), added.end(), [&](node_id a, node_id b) { return position[a] < position[b]; });
      sort_by_tails(g_, added, tails);
      order.insert(order.end(), added.begin(), added.end());
    };
    for (std::size_t i = path.size(); i-- > 0;) append(table_[path[i]]);
    for (node_id v : sorted)
      if (!g_.is_release(v) && !ran[v]) order.push_back(v);
    return order;
  }

  best_first::finding done(delta bound) {
    return {std::exchange(order_, {}), static_cast<bytes>(std::min(bound, ceiling_))};
  }

  const schedule_graph& g_;
  search& context_;
  step_counter steps_;
  std::optional<bit_matrix> ancestors_;
  bit_set light_;
  plain_vector<delta> room_;
  std::vector<node_id> events_, next_, freed_, joint_;
  plain_vector<bool> is_freed_;                // per release
  std::vector<std::vector<node_id>> watched_;  // per node, the releases of `next_` that are watched there
  adjacency releases_;                         // per node, those that wait for it and free memory
  plain_vector<delta> rooms_;
  downset_table table_;
  std::vector<entry> entries_, children_;
  bucket_queue<claim> open_;
  index_t left_ = none;  // a state that is yet to be expanded
  plain_vector<bit_word> here_, reached_, joined_;
  std::optional<std::vector<node_id>> order_;
  delta floor_, ceiling_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
