// The rules of compression, applied until none applies (Fradet et al., section 4, Algorithm 1).
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/plain_vector.hpp>
#include <memsched/presolve/complete_rules.hpp>
#include <memsched/presolve/compression_graph.hpp>
#include <memsched/presolve/compression_rules.hpp>
#include <memsched/search/search.hpp>
#include <memsched/structure/induced_subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

class compressor {
 public:
  compressor(const compression_rules& rules, const schedule_graph& g, search& context)
      : rules_(rules),
        g_(g),
        context_(context),
        counts_(context.control().stats.rules),
        queued_(g_.size(), 0),
        mark_(g_.size()),
        allowance_(64 * (g.preds.items() + g.size())),
        rank_(g_.size()) {
    for (auto& flags : is_waiting_) flags.resize(g_.size());
  }

  /// Returns nothing once the time is over: a graph that is compressed in part is of no use then.
  std::optional<compressed_graph> run() {
    counts_.before += g_.size() - 2;
    if (rules_.local_reduction) reduce_everywhere();
    do {
      ++counts_.rounds;
      do {
        cluster();
        if (g_.size() > cached && g_.alive_count() < g_.size() / 2) pack();
      } while (context_.keep_going() && (order_equals() || reduce_suspects()));
    } while (context_.keep_going() && apply_general_rules());
    if (context_.control().over()) return std::nullopt;
    fold_chain();
    compressed_graph c = std::move(g_).finish([&](const std::vector<node_id>& changed) { reduce(changed); });
    counts_.after += c.graph.size();
    return c;
  }

 private:
  enum task : unsigned char { test_node = 1, wake_neighbours = 2 };

  // A change mostly makes the next one possible nearby. So the latest is followed first, as far as it leads, while its
  // neighbours are in the cache; hubs alone wait until nothing else is to do, and are then looked at once for all changes
  // around them.

  bool is_hub(node_id v) const { return std::max(g_.degree(v, side::later), g_.degree(v, side::earlier)) > few; }

  /// Moves the remaining nodes together, so that neighbours in memory are alive. All changes must have been taken.
  void pack() {
    const std::vector<node_id> place = g_.pack();
    for (node_id v = 0; v < place.size(); ++v) {
      if (place[v] == none) continue;
      rank_[place[v]] = rank_[v];
      queued_[place[v]] = queued_[v];
      for (auto& flags : is_waiting_) flags[place[v]] = flags[v];
    }
    for (auto* nodes : {&queued_hubs_, &waiting_[0], &waiting_[1], &crowded_[0], &crowded_[1], &suspects_, &looked_at_}) {
      std::erase_if(*nodes, [&](node_id v) { return place[v] == none; });
      for (node_id& v : *nodes) v = place[v];
    }
  }

  // Clustering. C2 is C1 seen from the mirror image.

  void cluster() {
    for (take_changes(); !queue_.empty(); take_changes()) {
      const node_id v = queue_.back();
      queue_.pop_back();
      const unsigned char tasks = std::exchange(queued_[v], 0);
      if (!g_.alive(v) || g_.fixed(v)) continue;
      if ((tasks & wake_neighbours) != 0)
        for (side s : both_sides)
          g_.for_each(v, mirror(s), [&](index_t, node_id w) {
            if (g_.degree(w, s) == 1) enqueue(w, test_node);
          });
      for (side s : both_sides)
        if (g_.alive(v) && (s == side::later ? rules_.c1 : rules_.c2)) merge_with_only_neighbour(v, s);
    }
  }

  void merge_with_only_neighbour(node_id v, side s) {
    if (g_.degree(v, s) != 1) return;
    const node_id w = g_.front(v, s);
    const node_cost a = g_.cost(v, s), b = g_.cost(w, s);
    if (g_.fixed(w) || a.impact < 0 || a.drop() > b.peak) return;
    ++(s == side::later ? counts_.c1 : counts_.c2);
    if (s == side::later) g_.note(proof::reduction::rule::c1, v, w);
    else g_.note(proof::reduction::rule::c2, w, v);
    const node_id x = s == side::later ? g_.merge(v, w, w) : g_.merge(w, v, w);
    if (rules_.local_reduction) reduce_around(x);
    suspect(x);
    enqueue(x, wake_neighbours);
  }

  void enqueue(node_id v, task t) {
    if (g_.fixed(v)) return;
    if (queued_[v] == 0) (is_hub(v) ? queued_hubs_ : queue_).push_back(v);
    queued_[v] = static_cast<unsigned char>(queued_[v] | t);
  }

  void take_changes() {
    for (side s : both_sides) {
      g_.take_changed(s, changed_);
      for (node_id v : changed_) {
        if (!g_.alive(v) || g_.fixed(v)) continue;
        if (!is_waiting_[index_of(s)][v] && (s == side::earlier ? rules_.s1 : rules_.s2)) {
          (is_hub(v) ? crowded_ : waiting_)[index_of(s)].push_back(v);
          is_waiting_[index_of(s)][v] = true;
        }
        if (g_.degree(v, s) == 1) enqueue(v, test_node);
      }
    }
  }

  // Nodes with equal neighbours. S1 for equal predecessors; S2 is S1 seen from the mirror image.

  struct peer {
    std::uint64_t hash;
    bool grows;
    delta peak;
    node_id v;
    auto operator<=>(const peer&) const = default;
  };

  bool order_equals() {
    for (side s : both_sides)
      if (order_waiting(s)) return true;
    if (!queued_hubs_.empty()) return queue_.swap(queued_hubs_), true;
    bool any = false;
    for (side s : both_sides) any |= order_crowded(s);
    return any;
  }

  /// Until some nodes are ordered.
  bool order_waiting(side s) {
    for (std::vector<node_id>& waiting = waiting_[index_of(s)]; !waiting.empty();) {
      const node_id v = waiting.back(), hub = hub_of_waiting(v, s);
      waiting.pop_back();
      if (hub == none) continue;
      if (is_hub(hub)) crowded_[index_of(s)].push_back(v);
      else if (order_around(hub, s)) return true;
    }
    return false;
  }
  bool order_crowded(side s) {
    bool any = false;
    for (node_id v : std::exchange(crowded_[index_of(s)], {}))
      if (const node_id hub = hub_of_waiting(v, s); hub != none) any |= order_around(hub, s);
    return any;
  }
  /// None if v has been looked at since it was put on a list.
  node_id hub_of_waiting(node_id v, side s) const {
    return g_.alive(v) && is_waiting_[index_of(s)][v] ? narrowest(v, s) : none;
  }

  /// The neighbour of v with the fewest neighbours of its own: nodes with equal lists agree on it.
  node_id narrowest(node_id v, side s) const {
    std::pair best(none, none);
    g_.for_each(v, s, [&](index_t, node_id u) { best = std::min(best, {g_.degree(u, mirror(s)), u}); });
    return best.second;
  }

  bool order_around(node_id hub, side s) {
    peers_.clear();
    g_.for_each(hub, mirror(s), [&](index_t, node_id v) {
      const node_cost c = g_.cost(v, mirror(s));
      is_waiting_[index_of(s)][v] = false;  // its list is here
      if (!g_.fixed(v)) peers_.push_back({g_.hash(v, s), c.impact > 0, c.peak, v});
    });
    std::sort(peers_.begin(), peers_.end());
    peers_.erase(std::unique(peers_.begin(), peers_.end()), peers_.end());  // two edges to one
    bool any = false;
    for (std::size_t i = 0, j = 0; i < peers_.size(); i = j) {
      while (j < peers_.size() && peers_[j].hash == peers_[i].hash) ++j;
      if (j - i < 2 || peers_[i].grows) continue;
      group_.clear();
      for (std::size_t k = i; k < j; ++k)  // ordering another group may have shortened a list
        if (g_.hash(peers_[k].v, s) == peers_[k].hash) group_.push_back(peers_[k]);
      if (group_.size() > 1 && !group_[0].grows) any |= order_peers(group_, s);
    }
    return any;
  }

  /// Peers with equal lists at side s: first those that do not grow, lowest peak first, which become a chain; then the
  /// others, each of which goes after the last of the chain whose peak is no higher.
  bool order_peers(std::span<const peer> peers, side s) {
    std::size_t chain = 1, behind = 0, added = 0;
    node_id front = none;
    index_t front_stamp = 0;  // marks of the nodes after `front`: disjoint from those before its peers
    while (chain < peers.size() && !peers[chain].grows) ++chain;
    for (std::size_t i = 1; i < peers.size(); ++i) {
      if (i < chain) behind = i - 1;
      if (i == chain) behind = 0;
      if (peers[i].peak < peers[behind].peak) continue;
      while (i >= chain && behind + 1 < chain && peers[behind + 1].peak <= peers[i].peak) ++behind;
      if (!has_list_of(peers[i].v, peers[0].v, s)) break;  // equal hashes of unequal lists
      if (rules_.local_reduction && std::exchange(front, peers[behind].v) != peers[behind].v) {
        mark_list(front, mirror(s));
        front_stamp = stamp_;
      }
      put_behind(peers[behind].v, peers[i].v, s, front_stamp);
      ordered_.emplace_back(peers[behind].v, peers[i].v);
      ++added;
    }
    for (; !ordered_.empty(); ordered_.pop_back()) {  // last first, so that both have equal lists when the rule is applied
      const auto [ahead, v] = ordered_.back();
      if (s == side::earlier) g_.note(proof::reduction::rule::s1, ahead, v);
      else g_.note(proof::reduction::rule::s2, v, ahead);
    }
    (s == side::earlier ? counts_.s1 : counts_.s2) += added;
    return added > 0;
  }

  bool has_list_of(node_id v, node_id model, side s) {
    if (g_.degree(v, s) != g_.degree(model, s)) return false;
    new_marks();
    g_.for_each(v, s, [&](index_t e, node_id u) { mark_[u] = {stamp_, e}; });
    bool all = true;
    g_.for_each(model, s, [&](index_t, node_id u) { all &= marked(u); });
    return all;
  }

  /// Makes v wait for `front` instead of the nodes that both of them wait for.
  void put_behind(node_id front, node_id v, side s, index_t front_stamp) {
    if (rules_.local_reduction) {
      g_.for_each(v, s, [&](index_t e, node_id) { unlink(e); });
      g_.for_each(v, mirror(s), [&](index_t, node_id w) {
        if (mark_[w].stamp == front_stamp) unlink(std::exchange(mark_[w], {}).edge);
      });
    }
    g_.link(front, v, mirror(s));
    suspect(front);
  }

  // Transitive reduction: at once the edges that a path of two edges replaces; and when nothing else is left to do, those that
  // any path replaces, or, in large graphs, a longer path nearby, first everywhere, then around changes.

  void reduce_everywhere() {
    for (node_id v = 0; v < g_.size() && goes_on(context_, v); ++v) reduce_list(v, side::earlier, max_steps * max_steps);
  }

  /// Collects edges that may have become a bypass when x came to be.
  void reduce_around(node_id x) {
    for (side s : both_sides) reduce_list(x, s, max_steps);
    if (g_.degree(x, side::later) > max_steps || g_.degree(x, side::earlier) > max_steps) return;
    mark_list(x, side::later);
    index_t left = max_steps;
    g_.for_each(x, side::earlier, [&](index_t, node_id u) {
      if (left < g_.degree(u, side::later)) return;
      left -= g_.degree(u, side::later);
      g_.for_each(u, side::later, [&](index_t e, node_id w) {
        if (marked(w)) unlink(e);
      });
    });
  }

  /// Drops the edges of v at side s to neighbours of its neighbours. Looks at no more than `steps` edges.
  void reduce_list(node_id v, side s, index_t steps) {
    if (g_.degree(v, s) < 2 || g_.degree(v, s) > steps) return;
    mark_list(v, s);
    bypassed_.clear();
    g_.for_each(v, s, [&](index_t, node_id u) {
      if (steps < g_.degree(u, s) || !affords(g_.degree(u, s))) return;
      steps -= g_.degree(u, s);
      g_.for_each(u, s, [&](index_t, node_id w) {
        if (!marked(w)) return;
        bypassed_.push_back(mark_[w].edge);
        mark_[w].stamp = 0;
      });
    });
    for (index_t e : bypassed_) unlink(e);
  }

  void suspect(node_id v) {
    if (!all_suspect_) suspects_.push_back(v);
  }

  /// A look at the suspects, then a longer one at all changes since the last such; neither if the full reduction comes.
  bool reduce_suspects() {
    if (!rules_.local_reduction || (rules_.global_reduction && g_.alive_count() <= rules_.max_closure)) return false;
    if (!all_suspect_ && reduce_far(std::exchange(suspects_, {}), max_steps)) return true;
    const std::vector<node_id> order = g_.order();
    for (side s : both_sides) {
      index_t next = 0;
      for (node_id v : s == side::later ? order : g_.order(s)) rank_[v][index_of(s)] = next++;
    }
    std::vector<node_id> long_look = std::exchange(all_suspect_, false) ? order : std::exchange(looked_at_, {});
    return reduce_far(std::move(long_look), 4 * max_steps);
  }

  bool reduce_far(std::vector<node_id> suspects, index_t steps) {
    std::sort(suspects.begin(), suspects.end());
    suspects.erase(std::unique(suspects.begin(), suspects.end()), suspects.end());
    const std::uint64_t before = counts_.local;
    for (std::size_t i = 0; i < suspects.size() && goes_on(context_, i); ++i)
      for (side s : both_sides)
        if (g_.alive(suspects[i])) reduce_far(suspects[i], s, steps);
    if (steps == max_steps) looked_at_.insert(looked_at_.end(), suspects.begin(), suspects.end());
    return counts_.local > before;
  }

  /// Drops the edges of v at side s to nodes that a walk from its other neighbours reaches within `steps` steps.
  /// Goes no further than the furthest of them, neither from the start nor from the end; changes since ranks were
  /// taken may escape it.
  void reduce_far(node_id v, side s, index_t steps) {
    if (g_.degree(v, s) < 2 || g_.degree(v, s) > max_steps) return;
    mark_list(v, s);
    const index_t listed = stamp_;
    std::array<index_t, 2> furthest{0, none};  // towards s; the part left to the last node at that side
    bypassed_.clear();
    reached_.clear();
    const auto rank = [&](node_id w, side from) { return rank_[w][index_of(from)]; };
    g_.for_each(v, s, [&](index_t, node_id u) {
      reached_.push_back(u);
      furthest = {std::max(furthest[0], rank(u, s)), std::min(furthest[1], rank(u, mirror(s)))};
    });
    const auto beyond = [&](node_id w) { return rank(w, s) > furthest[0] || rank(w, mirror(s)) < furthest[1]; };
    for (std::size_t i = 0; i < reached_.size() && steps > 0; ++i) {
      if (!affords(g_.degree(reached_[i], s))) continue;
      g_.for_each(reached_[i], s, [&](index_t, node_id w) {
        if (mark_[w].stamp == stamp_ + 1 || steps == 0 || beyond(w)) return;
        --steps;
        if (mark_[w].stamp == listed) bypassed_.push_back(mark_[w].edge);
        else reached_.push_back(w);
        mark_[w].stamp = stamp_ + 1;
      });
    }
    ++stamp_;
    for (index_t e : bypassed_) unlink(e);
  }

  /// Whether a list may be looked at: short ones always, long ones (many nodes may lead there) while an allowance lasts.
  bool affords(index_t degree) {
    if (degree > max_steps && degree > allowance_) return false;
    if (degree > max_steps) allowance_ -= degree;
    return true;
  }

  void unlink(index_t e) {
    g_.unlink(e);
    ++counts_.local;
  }

  void new_marks() { ++stamp_; }
  void mark_list(node_id v, side s) {
    new_marks();
    g_.for_each(v, s, [&](index_t e, node_id w) { mark_[w] = {stamp_, e}; });
  }
  bool marked(node_id v) const { return mark_[v].stamp == stamp_; }

  bool apply_general_rules() {
    if (g_.alive_count() > rules_.max_closure) return false;
    general_rules rest(g_, context_);
    if (rules_.global_reduction && rest.reduce()) return true;  // cheaper rules may apply now
    bool any = false;
    if (rules_.general && rules_.s1) any |= rest.order(side::earlier);
    if (rules_.general && rules_.s2) any |= rest.order(side::later);
    if (any && rules_.global_reduction) rest.reduce();
    return any;
  }

  /// Drops edges to some nodes that other edges imply.
  void reduce(const std::vector<node_id>& nodes) {
    if (nodes.empty()) return;
    if (rules_.global_reduction && g_.alive_count() <= rules_.max_closure) general_rules(g_, context_).reduce();
    else if (rules_.local_reduction)
      for (node_id v : nodes) reduce_list(v, side::earlier, max_steps * max_steps);
  }

  /// One node if only one order is left.
  void fold_chain() {
    const std::vector<node_id> chain = g_.order();
    if (chain.size() < 4) return;
    for (std::size_t i = 1; i < chain.size(); ++i) {
      bool next = false;
      g_.for_each(chain[i - 1], side::later, [&](index_t, node_id w) { next |= w == chain[i]; });
      if (!next || (g_.fixed(chain[i]) && chain[i] != g_.end())) return;
    }
    node_id whole = chain[1];
    for (std::size_t i = 2; i + 1 < chain.size(); ++i) whole = g_.merge(whole, chain[i], chain[i]);
  }

  static constexpr std::size_t index_of(side s) { return static_cast<std::size_t>(s); }
  static constexpr index_t max_steps = 256, few = 64;
  static constexpr std::size_t cached = 4096;  // nodes that, with their edges, are near each other however they lie

  struct edge_mark {
    index_t stamp = 0, edge = none;
  };
  const compression_rules& rules_;
  compression_graph g_;
  search& context_;
  statistics::rule_counts& counts_;
  std::vector<node_id> queue_, queued_hubs_, changed_;
  plain_vector<unsigned char> queued_;  // tasks of a node in a queue
  // Nodes with a changed list at that side since it was looked at; those that a hub is or may be looked at for.
  std::array<std::vector<node_id>, 2> waiting_, crowded_;
  std::array<plain_vector<bool>, 2> is_waiting_;
  plain_vector<peer> peers_, group_;
  plain_vector<std::pair<node_id, node_id>> ordered_;
  plain_vector<edge_mark> mark_;
  index_t stamp_ = 0;
  std::vector<index_t> bypassed_;
  std::uint64_t allowance_;  // edges of long lists that are still to be looked at
  std::vector<node_id> reached_, suspects_, looked_at_;
  bool all_suspect_ = true;
  plain_vector<std::array<index_t, 2>> rank_;  // in the topological order from the start, and in that from the end
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
