// Moves from one downset to the next: to the nodes and releases between which a search chooses.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/search/downsets.hpp>
#include <memsched/search/feeders.hpp>
#include <memsched/search/search.hpp>
#include <memsched/search/step_counter.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Brings low-drop nodes, in a topological order, into the order of the lowest peak, by the highest drop of each and of those
/// of its descendants that are among them. `tails`: scratch of the graph's size, all 0, and left so.
/// Lemma. Premise: impacts are no less than 0. Conclusion: no order has a lower peak. Proof: a node runs with its drop above
/// the level after it. Give each node the highest drop of itself and of those after it. That raises no order's peak: the
/// levels after those are no lower. With these drops, neighbours of which the second has the higher one may change places: the
/// higher one then runs from a lower level, and the other ends where the pair did, with less above it.
inline void sort_by_tails(const schedule_graph& g, std::span<node_id> nodes, plain_vector<delta>& tails) {
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const node_id v = nodes[i];
    tails[v] = g.cost[v].drop();
    for (node_id s : g.succs[v]) tails[v] = std::max(tails[v], tails[s]);
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](node_id a, node_id b) { return tails[a] > tails[b]; });
  for (node_id v : nodes) tails[v] = 0;
}

/// Whether a move from a downset D is safe: whether it leads to a lowest downset D' of all between the two. The move ran
/// some nodes P at levels under the peak in force, each with all that it waits for: low-drop ones, the impact of which is no
/// less than 0, and at most one other node t, for which all the low-drop ones run. `releases_wait()` says whether all of P runs
/// before each release that freed memory on the way, side releases aside (see `feeders`); it is asked when the levels leave it
/// open.
///
/// Lemma (lowest). If level(D') <= level(D), and all of P runs before each of those releases, no downset E between D and D'
/// is lower than D'. Proof: let E be neither of the two. It lacks some node of P, so none of the releases is in it but side
/// releases, and t is not, which all the rest of P runs before. So E is D, low-drop nodes, and side releases of these, which
/// free no more than their impacts: level(E) >= level(D) >= level(D').
///
/// Lemma (R1, safe commit). If D' is reached from D under a peak B and lowest between them, D has a completion that stays
/// under B if and only if D' has. Proof: the one way is clear. The other: delete P from a completion of D. A state E becomes
/// the union of E and D'; since level(E) + level(D') is the level of that union plus the level of the intersection, which is
/// between D and D' and so no lower than D', the state becomes no higher. A node finds at least those run that it found
/// before, so it has each credit that it had, and runs at no higher level; nor is the level after it higher.
template <class ReleasesWait>
bool is_safe(delta level_before, delta level_after, ReleasesWait&& releases_wait) {
  return level_after <= level_before && releases_wait();
}

/// Finds the moves that lead on from a downset. Its own work counts in the search that it belongs to, and ends with that: moves
/// that are asked for after a limit was hit are incomplete.
class downset_moves {
 public:
  downset_moves(const schedule_graph& g, search& context, bool macros)
      : g_(g),
        context_(context),
        steps_(context),
        ancestors_(active_ancestors(g, [&] { return !context.control().over(); })),
        all_(words_for(g.active)),
        changed_(words_for(g.active)),
        reached_(words_for(g.active)),
        low_drop_(g.active),
        position_(g.size()),
        watched_(g.active),
        step_(g) {
    for (node_id v = 0; v < g.active; ++v) set_bit(all_, v);
    const auto order = base::topological_order(g.preds, g.succs);
    for (index_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
    if (macros) find_low_drop();
    feeders_.emplace(g, low_drop_);
    for (node_id v = 0; v < g.size(); ++v)
      if (g.is_release(v) ? g.cost[v].impact != 0 && has_low_drop_pred(v) : !low_drop_[v]) targets_.push_back(v);
    known_.resize(targets_.size());
    found_.resize(targets_.size());
    blocker_.resize(targets_.size(), none);
    last_.resize(targets_.size(), none);
    find_around(order);
  }

  /// Whether there was time to find the ancestors of all nodes. If not, nothing else may be called.
  bool usable() const { return ancestors_.has_value(); }

  struct move {
    node_id target;
    delta peak, level;  // highest level on the way, and level at the end
  };

  /// The target that stands for all nodes that are left.
  static constexpr node_id rest = none - 1;

  /// The moves from a downset at `level`; every completion of it is matched by one that starts with one of them.
  const plain_vector<move>& from(const_bit_row ran, delta level) {
    moves_.clear();
    stand_at(ran);
    for (std::size_t i = 0; i < targets_.size() && !context_.stopped(); ++i)
      if (opens(i, ran)) moves_.push_back(move_to(i, level));
    if (moves_.empty() && !context_.stopped()) moves_.push_back(run_from(ran, level, rest));  // nothing but low-drop nodes
    return moves_;
  }
  /// One of them that is safe (see `is_safe`) and stays under `peak`; nothing if there is none, or a limit is hit.
  std::optional<move> safe_from(const_bit_row ran, delta level, delta peak) {
    stand_at(ran);
    for (std::size_t i = 0; i < targets_.size() && !context_.stopped(); ++i)
      if (opens(i, ran) && found_[i].safe && level + found_[i].above.peak <= peak) return move_to(i, level);
    return std::nullopt;
  }

  /// Fills `reached` with the downset to which target t leads from `ran`.
  void reach(node_id t, const_bit_row ran, bit_row reached) {
    const const_bit_row more = t == rest ? const_bit_row(all_) : ancestors(t);
    for (std::size_t k = 0; k < ran.size(); ++k) reached[k] = ran[k] | more[k];
    if (t != rest && !g_.is_release(t)) set_bit(reached, t);
    count(ran.size());
  }

  /// Target t with its ancestors outside `ran`, in the order of the lowest peak.
  const std::vector<node_id>& path_to(node_id t, const_bit_row ran) {
    path_.clear();
    const auto add = [&](std::size_t v) { path_.push_back(static_cast<node_id>(v)); };
    for_each_bit_beyond(ran, t == rest ? const_bit_row(all_) : ancestors(t), add);
    std::sort(path_.begin(), path_.end(), [&](node_id a, node_id b) { return position_[a] < position_[b]; });
    const std::size_t first = t == rest ? path_.size() : feeders_->run_last(t, ran, ancestors(t), path_);
    if (!tail_.empty()) sort_by_tails(g_, {path_.data(), first}, tail_);
    if (t != rest && !g_.is_release(t)) path_.push_back(t);
    return path_;
  }

  /// Counts steps of about a nanosecond.
  void count(std::size_t steps) { steps_.count(steps); }

  downset_stepper& stepper() { return step_; }

 private:
  /// Of a target: it has run or happened; there is no move to it; there may be one; the move is in `found_`.
  enum class knowledge : unsigned char { reached, closed, open, found };
  struct found_move {
    move above;  ///< the level of the downset
    bool safe;
  };

  /// Runs target t with its ancestors from `ran`, at `level`, on the stepper.
  move run_from(const_bit_row ran, delta level, node_id t) {
    step_.start(ran, level);
    std::size_t steps = ran.size();
    for (node_id v : path_to(t, ran)) {
      step_.run(v);
      steps += 32 + 8 * g_.succs[v].size();
    }
    count(steps);
    return {t, step_.peak(), step_.level()};
  }
  /// The move to t, which is open at `ran`.
  found_move run_to(node_id t, const_bit_row ran) {
    const move m = run_from(ran, 0, t);
    const auto waits_for_all = [&](node_id r) { return feeders_->is_side(r) || runs_after(r, path_); };
    return {m, is_safe(0, m.level, [&] { return step_.all_released(path_, waits_for_all); })};
  }

  /// Makes `ran` the downset at hand: looks anew at the targets for which that may matter.
  void stand_at(const_bit_row ran) {
    const bool first_time = here_.empty(), grew = !first_time && is_subset(here_, ran);
    here_.resize(ran.size());
    std::size_t first = ran.size(), end = 0, looks = 0;  // words that change: mostly few
    for (std::size_t k = 0; k < ran.size(); ++k) {
      changed_[k] = std::exchange(here_[k], ran[k]) ^ ran[k];
      if (changed_[k] != 0) first = std::min(first, k), end = k + 1;
    }
    if (first >= end && !first_time) return;
    const auto part = [&](const_bit_row row) { return row.subspan(first, end - first); };
    for (node_id v : watched_at_) watched_[v].clear();
    watched_at_.clear();
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const node_id t = targets_[i];
      if (blocker_[i] != none ? !test_bit(ran, blocker_[i]) : grew && known_[i] == knowledge::reached) continue;
      ++looks;
      if (first_time || !around_ || intersects(part((*around_)[t]), part(changed_))) look_at(i, ran);
      if (last_[i] != none) watch(t, last_[i]);
    }
    count(2 * targets_.size() + looks * (4 + 2 * ran.size()));
  }
  /// Says whether the i-th target is open, and if not, which node blocks it. A release is watched at the last node that it
  /// waits for, if all of these are low-drop.
  void look_at(std::size_t i, const_bit_row ran) {
    const node_id t = targets_[i];
    known_[i] = knowledge::reached;
    last_[i] = blocker_[i] = none;
    if (!g_.is_release(t) && test_bit(ran, t)) return;
    node_id last = none;  // of the ancestors that have not run
    const auto anc = ancestors(t);
    const const_bit_row low = low_drop_;
    for (std::size_t k = 0; k < ran.size(); ++k) {
      const bit_word missing = anc[k] & ~ran[k], blocks = missing & ~low[k];
      if (blocks != 0) {
        blocker_[i] = static_cast<node_id>(last_member(k, blocks));
        known_[i] = knowledge::closed;
        return;
      }
      if (missing != 0) last = static_cast<node_id>(last_member(k, missing));
    }
    if (g_.is_release(t) && last == none) return;
    if (g_.is_release(t)) last_[i] = last;
    known_[i] = g_.is_release(t) && feeders_->defer(t, ran) ? knowledge::closed : knowledge::open;
  }

  void watch(node_id release, node_id at) {
    if (watched_[at].empty()) watched_at_.push_back(at);
    watched_[at].push_back(release);
  }

  /// Whether there is a move to the i-th target from the downset at hand, `ran`; finds it.
  bool opens(std::size_t i, const_bit_row ran) {
    if (known_[i] == knowledge::open && tail_.empty()) known_[i] = sum_up(targets_[i], ran, found_[i]);
    if (known_[i] == knowledge::open) found_[i] = run_to(targets_[i], ran), known_[i] = knowledge::found;
    return known_[i] == knowledge::found;
  }
  /// The move to the i-th target, which is found.
  move move_to(std::size_t i, delta level) const {
    const move& m = found_[i].above;
    return {m.target, level + m.peak, level + m.level};
  }

  /// Finds the move to t, which is open at `ran`, without running it, if no low-drop node has a drop. Returns `closed` if the
  /// move is not needed, and `open` if a side release happens before its end.
  /// Lemma (passed over). Premise: a release r that is no side release happens on the way to t, and before all of the way has
  /// run. Conclusion: `best_first` needs no move to t, given those to other targets. Proof: its lemma needs the move to the
  /// target t that comes first in a completion; of several that come with the same node, to one for which the fewest nodes run.
  /// Where t comes first, r comes with it, and is a target, since a low-drop node runs for it; but fewer nodes run for r. If t
  /// is a due node (`feeders`), r waits for none that feeds it, and so has come before the first of these runs.
  /// Conclusion, if no release is passed over: the level rises until the last node runs, the peak of which is its impact or,
  /// if it is t, that of t. Of these nodes t alone may have credits.
  knowledge sum_up(node_id t, const_bit_row ran, found_move& found) {
    reach(t, ran, reached_);
    delta before = 0, freed = 0;  // impacts ahead of t, and of releases
    bool passes_side = false, passes = false;
    std::size_t nodes = 0, looks = 0;
    const auto look_at_release = [&](node_id r) {
      ++looks;
      if (!is_subset(ancestors(r), reached_)) return;
      freed += g_.cost[r].impact;
      if (!is_covered(reached_, ran, ancestors(r))) (feeders_->is_side(r) ? passes_side : passes) = true;
    };
    for_each_bit_beyond(ran, ancestors(t), [&](std::size_t v) {
      ++nodes;
      before += g_.cost[v].impact;
      std::for_each(watched_[v].begin(), watched_[v].end(), look_at_release);
    });
    move m{t, before, before};
    if (!g_.is_release(t)) {
      delta peak = g_.cost[t].peak;
      for (const auto& c : g_.credits[t])
        if (is_subset(ancestors(c.release), reached_)) peak -= c.amount;
      m.peak = std::max(before, before + peak);
      m.level += g_.cost[t].impact;
      for (node_id r : g_.succs[t])
        if (g_.is_release(r)) look_at_release(r);
    }
    m.level += freed;
    found = {m, is_safe(0, m.level, [] { return true; })};
    count(16 + 4 * ran.size() + 4 * nodes + looks * (8 + ran.size()));
    return passes_side ? knowledge::open : passes ? knowledge::closed : knowledge::found;
  }

  /// Finds the nodes around each node: it and its ancestors, and all that is read by a release that waits for one of these, or
  /// for which one of these may have a credit; and those that a node waits for that one of these feeds (`feeders`).
  /// Lemma. Premise: two downsets agree on the nodes around t. Conclusion: the move to t is open from both or from neither, and
  /// its peak and its end are as far above the level of either. Proof: the same ancestors are left to run, in the same order,
  /// and the effect of each depends on which readers of such releases have run. Whether t is deferred depends on the last ones.
  void find_around(const std::vector<node_id>& order) {
    constexpr std::size_t most = 4096;
    if (g_.size() > most || !ancestors_) return;
    around_.emplace(g_.size(), g_.active);
    for (node_id v : order) {
      const bit_row around = (*around_)[v];
      for (node_id u : g_.preds[v]) unite_bits(around, (*around_)[u]);
      count((1 + g_.preds[v].size()) * around.size());
      if (g_.is_release(v)) continue;
      set_bit(around, v);
      for (node_id s : g_.succs[v])
        if (g_.is_release(s) || feeders_->fed_by(v) == s) add_readers(s, around);
      for (const auto& c : g_.credits[v]) add_readers(c.release, around);
    }
  }
  void add_readers(node_id release, bit_row around) const {
    for (node_id u : g_.preds[release])
      if (!g_.is_release(u)) set_bit(around, u);
  }

  const_bit_row ancestors(node_id v) const { return (*ancestors_)[v]; }

  bool runs_after(node_id release, const std::vector<node_id>& nodes) const {
    return std::all_of(nodes.begin(), nodes.end(), [&](node_id v) { return test_bit(ancestors(release), v); });
  }

  /// Finds the low-drop nodes, see `best_first`.
  void find_low_drop() {
    bit_set credited(g_.active);
    delta least = std::numeric_limits<delta>::max();  // drop of the others
    for (node_id v = 0; v < g_.active; ++v)
      for (const auto& c : g_.credits[v])
        for (node_id reader : g_.preds[c.release]) credited.insert(reader);
    const auto may_wait = [&](node_id v) {
      const node_cost c = g_.cost[v];
      return !credited[v] && c.drop() >= 0 && (c.impact > 0 || (c.impact == 0 && c.drop() == 0));
    };
    for (node_id v = 0; v < g_.active; ++v) {
      if (may_wait(v)) continue;
      delta spared = 0;
      for (const auto& c : g_.credits[v]) spared += c.amount;
      least = std::min(least, g_.cost[v].drop() - spared);
    }
    for (node_id r = static_cast<node_id>(g_.active); r < g_.size(); ++r)
      for (node_id reader : g_.preds[r])
        if (g_.cost[r].impact != 0) least = std::min(least, g_.cost[r].drop() + g_.cost[reader].drop());
    std::size_t uneven = 0;
    for (node_id v = 0; v < g_.active; ++v) uneven += may_wait(v) && g_.cost[v].drop() > 0 && g_.cost[v].drop() <= least;
    if (uneven < g_.active / 4) least = 0;  // longer moves pay only if they leave few targets
    for (node_id v = 0; v < g_.active; ++v)
      if (may_wait(v) && g_.cost[v].drop() <= std::max<delta>(least, 0)) low_drop_.insert(v);
    if (least > 0) tail_.resize(g_.size());
  }
  bool has_low_drop_pred(node_id release) const {
    const auto readers = g_.preds[release];
    return std::any_of(readers.begin(), readers.end(), [&](node_id v) { return low_drop_[v]; });
  }

  const schedule_graph& g_;
  search& context_;
  step_counter steps_;
  std::optional<bit_matrix> ancestors_;
  std::optional<feeders> feeders_;
  plain_vector<bit_word> all_, here_, changed_, reached_;  // `here_`: the downset at hand
  bit_set low_drop_;
  std::vector<index_t> position_;
  plain_vector<delta> tail_;  // of nodes in `path_`: the highest drop from there on; empty if all drops are 0
  std::vector<node_id> targets_, path_;
  plain_vector<move> moves_;
  plain_vector<knowledge> known_;              // per target, at the downset at hand
  plain_vector<found_move> found_;             // per target, the move that was found
  plain_vector<node_id> blocker_;              // per target, a node that has to run before it is open, or none
  plain_vector<node_id> last_;                 // per target, the node at which it is watched, or none
  std::optional<bit_matrix> around_;           // per node, those on which a move to it depends; none if the graph is large
  std::vector<std::vector<node_id>> watched_;  // per node, the releases for which it is the last one that has to run
  std::vector<node_id> watched_at_;            // nodes with such releases
  downset_stepper step_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
