// Downsets, the sets of nodes that can have run: how to step from one to the next, and how to remember them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/search/feeders.hpp>
#include <memsched/search/release_watch.hpp>
#include <memsched/search/search.hpp>
#include <memsched/search/step_counter.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Runs nodes on a set that is a row of bits.
class downset_stepper {
 public:
  explicit downset_stepper(const schedule_graph& g) : g_(g), ran_(g) {}

  void start(const_bit_row ran, delta level) {
    ran_.start(ran);
    level_ = peak_ = level;
    released_ = false;
  }
  const_bit_row set() const { return ran_.set(); }
  delta level() const { return level_; }
  delta peak() const { return peak_; }
  /// Whether f(r) holds for each release r that freed memory while `path` ran: all that has run since `start`.
  template <class F>
  bool all_released(const std::vector<node_id>& path, F&& f) const {
    const auto holds = [&](node_id s, node_id v) {
      return !g_.is_release(s) || g_.cost[s].impact == 0 || !last_for(s, v) || f(s);
    };
    return !released_ || std::all_of(path.begin(), path.end(), [&](node_id v) {
      return std::all_of(g_.succs[v].begin(), g_.succs[v].end(), [&](node_id s) { return holds(s, v); });
    });
  }

  void run(node_id v) {
    delta released = 0;
    ran_.run(v, [&](node_id release) { released += g_.cost[release].impact; });
    const node_cost c = effect_of(g_, v, released, [this, v](node_id release) { return last_for(release, v); });
    peak_ = std::max(peak_, level_ + c.peak);
    level_ += c.impact;
    released_ |= released < 0;
  }

 private:
  bool last_for(node_id release, node_id v) const {
    for (node_id u : g_.preds[release])
      if (u != v && !test_bit(set(), u)) return false;
    return true;
  }

  const schedule_graph& g_;
  release_watch ran_;
  delta level_ = 0, peak_ = 0;
  bool released_ = false;  // whether a release freed memory since `start`
};

/// An open-addressing table from downsets to their places in an arena.
class downset_table {
 public:
  explicit downset_table(std::size_t bits) : width_(words_for(bits)), slots_(1024, none) {}

  std::size_t size() const { return count_; }
  const_bit_row operator[](index_t i) const { return {words_.data() + i * width_, width_}; }
  std::uint64_t bytes_held() const { return words_.capacity() * sizeof(bit_word) + slots_.capacity() * sizeof(index_t); }

  /// The place of `row`, and whether it is new.
  std::pair<index_t, bool> insert(const_bit_row row) {
    if (2 * count_ >= slots_.size()) grow();
    for (std::size_t at = hash(row) & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == none) {
        slots_[at] = static_cast<index_t>(count_);
        words_.insert(words_.end(), row.begin(), row.end());
        return {static_cast<index_t>(count_++), true};
      }
      if (std::equal(row.begin(), row.end(), (*this)[slots_[at]].begin())) return {slots_[at], false};
    }
  }

 private:
  static std::uint64_t hash(const_bit_row row) {
    std::uint64_t h = 0x9e3779b97f4a7c15;
    for (bit_word w : row) {
      h = (h ^ w) * 0xff51afd7ed558ccd;
      h ^= h >> 32;
    }
    return h;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), none);
    for (index_t i = 0; i < count_; ++i) {
      std::size_t at = hash((*this)[i]) & (slots_.size() - 1);
      while (slots_[at] != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = i;
    }
  }

  std::size_t width_, count_ = 0;
  plain_vector<bit_word> words_;
  std::vector<index_t> slots_;
};

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
  downset_moves(const schedule_graph& g, search& context, bool macros, bool commits)
      : g_(g),
        context_(context),
        steps_(context),
        ancestors_(active_ancestors(g, [&] { return !context.control().over(); })),
        commits_(commits),
        all_(words_for(g.active)),
        here_(words_for(g.active)),
        changed_(words_for(g.active)),
        low_drop_(g.active),
        position_(g.size()),
        step_(g) {
    for (node_id v = 0; v < g.active; ++v) set_bit(all_, v);
    const auto order = base::topological_order(g.preds, g.succs);
    for (index_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
    if (macros) find_low_drop();
    feeders_.emplace(g, low_drop_);
    for (node_id v = 0; v < g.size(); ++v)
      if (g.is_release(v) ? g.cost[v].impact != 0 && has_low_drop_pred(v) : !low_drop_[v]) targets_.push_back(v);
    known_.resize(targets_.size());
    rises_.resize(targets_.size());
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
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (opens(i, ran)) {
        moves_.push_back(move_to(i, level));
        if (context_.stopped()) return moves_;
      }
    if (moves_.empty()) moves_.push_back(run_from(ran, level, rest));  // nothing but low-drop nodes
    return moves_;
  }

  /// The same from the downset at which `settle` came to an end, where the stepper still stands.
  const plain_vector<move>& from_settled() {
    if (commits_ && !moves_.empty()) return moves_;
    note_settled();
    return from(settled_, step_.level());
  }

  /// Fills `reached` with the downset to which target t leads from `ran`.
  void reach(node_id t, const_bit_row ran, bit_row reached) {
    const const_bit_row more = t == rest ? const_bit_row(all_) : ancestors(t);
    for (std::size_t k = 0; k < ran.size(); ++k) reached[k] = ran[k] | more[k];
    if (t != rest && !g_.is_release(t)) set_bit(reached, t);
    count(ran.size());
  }

  /// Runs target t with its ancestors on the stepper, which stands at `ran`.
  void run_to(node_id t, const_bit_row ran) {
    path_.clear();
    const auto add = [&](std::size_t v) { path_.push_back(static_cast<node_id>(v)); };
    for_each_bit_beyond(ran, t == rest ? const_bit_row(all_) : ancestors(t), add);
    std::sort(path_.begin(), path_.end(), [&](node_id a, node_id b) { return position_[a] < position_[b]; });
    const std::size_t first = t == rest ? path_.size() : feeders_->run_last(t, ran, ancestors(t), path_);
    if (!tail_.empty()) sort_by_tails(g_, {path_.data(), first}, tail_);
    if (t != rest && !g_.is_release(t)) path_.push_back(t);
    std::size_t steps = ran.size();
    for (node_id v : path_) {
      step_.run(v);
      steps += 32 + 8 * g_.succs[v].size();
    }
    count(steps);
  }

  /// Takes moves that are safe (see `is_safe`) and stay under `peak`, until there is none or a limit is hit.
  template <class F>
  void settle(delta peak, F&& ran_node) {
    settle(peak, ran_node, [this] { return !context_.stopped(); });
  }
  /// The same moves again, limit or not.
  template <class F>
  void settle_again(delta peak, F&& ran_node) {
    settle(peak, ran_node, [] { return true; });
  }

  /// Counts steps of about a nanosecond.
  void count(std::size_t steps) { steps_.count(steps); }

  downset_stepper& stepper() { return step_; }
  const std::vector<node_id>& path() const { return path_; }

 private:
  template <class F, class GoOn>
  void settle(delta peak, F& ran_node, GoOn go_on) {
    if (!commits_) return;
    for (bool moved = true; moved;) {
      moved = false;
      moves_.clear();
      note_settled();
      delta level = step_.level();
      stand_at(settled_);
      for (std::size_t i = 0; i < targets_.size(); ++i) {
        if (!go_on()) return;
        if (!opens(i, settled_)) continue;
        const move m = move_to(i, level);
        if (m.peak <= peak && m.level <= level && is_safe_move(m.target, level)) {
          for (node_id v : path_) ran_node(v);
          note_settled();
          level = step_.level();
          stand_at(settled_);
          moved = true;
        } else {
          moves_.push_back(m);
        }
      }
      step_.start(settled_, level);
    }
  }

  void note_settled() { settled_.assign(step_.set().begin(), step_.set().end()); }

  /// Runs target t with its ancestors from `ran`, at `level`, on the stepper.
  move run_from(const_bit_row ran, delta level, node_id t) {
    step_.start(ran, level);
    run_to(t, ran);
    return {t, step_.peak(), step_.level()};
  }

  /// Whether it is safe to run target t with its ancestors from `settled_`, where they run on the stepper.
  bool is_safe_move(node_id t, delta level) {
    run_from(settled_, level, t);
    const auto waits_for_all = [&](node_id r) { return feeders_->is_side(r) || runs_after(r, path_); };
    return is_safe(level, step_.level(), [&] { return step_.all_released(path_, waits_for_all); });
  }

  /// Makes `ran` the downset at hand: forgets the moves that may be other ones there.
  void stand_at(const_bit_row ran) {
    count(targets_.size() * (8 + 2 * ran.size()));
    if (!around_) return std::fill(known_.begin(), known_.end(), knowledge::none);
    std::size_t first = ran.size(), end = 0;  // words that change: mostly few
    for (std::size_t k = 0; k < ran.size(); ++k) {
      changed_[k] = std::exchange(here_[k], ran[k]) ^ ran[k];
      if (changed_[k] != 0) first = std::min(first, k), end = k + 1;
    }
    if (first >= end) return;
    const auto part = [&](const_bit_row row) { return row.subspan(first, end - first); };
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (intersects(part((*around_)[targets_[i]]), part(changed_))) known_[i] = knowledge::none;
  }

  /// Whether the i-th target is open at the downset at hand, `ran`.
  bool opens(std::size_t i, const_bit_row ran) {
    if (known_[i] == knowledge::none) {
      const node_id t = targets_[i];
      known_[i] = open(t, ran) ? knowledge::open : knowledge::closed;
      if (known_[i] == knowledge::open) rises_[i] = run_from(ran, 0, t);
    }
    return known_[i] == knowledge::open;
  }
  /// The move to the i-th target, which is open at the downset at hand.
  move move_to(std::size_t i, delta level) const {
    return {rises_[i].target, level + rises_[i].peak, level + rises_[i].level};
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

  /// Whether t has not run and all its ancestors that have not are low-drop.
  bool open(node_id t, const_bit_row ran) const {
    if (!g_.is_release(t) && test_bit(ran, t)) return false;
    const auto anc = ancestors(t);
    const const_bit_row low = low_drop_;
    bit_word missing = 0;
    for (std::size_t k = 0; k < ran.size(); ++k) {
      const bit_word open = anc[k] & ~ran[k];
      if ((open & ~low[k]) != 0) return false;
      missing |= open;
    }
    return !g_.is_release(t) || (missing != 0 && !feeders_->defer(t, ran));
  }

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
  bool commits_;
  plain_vector<bit_word> all_, settled_, here_, changed_;  // `here_`: the downset at hand
  bit_set low_drop_;
  std::vector<index_t> position_;
  plain_vector<delta> tail_;  // of nodes in `path_`: the highest drop from there on; empty if all drops are 0
  std::vector<node_id> targets_, path_;
  plain_vector<move> moves_;
  std::optional<bit_matrix> around_;  // per node, those on which a move to it depends; none if the graph is large
  enum class knowledge : unsigned char { none, closed, open };
  plain_vector<knowledge> known_;  // per target, whether it is open at the downset at hand
  plain_vector<move> rises_;       // per open target, the move to it, above the level of that downset
  downset_stepper step_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
