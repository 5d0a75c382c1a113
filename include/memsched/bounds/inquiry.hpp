// The questions that probing asks about one node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/lowest_set.hpp>
#include <memsched/bounds/witness_sets.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// The outcome of asking for a peak of at most B.
enum class probing_outcome : unsigned char {
  refuted,  ///< no order has a peak of at most B
  open,     ///< there may be one, and it keeps the edges that were found
  stopped,  ///< it was told to stop; the edges so far hold
};

/// Told of each minimum cut once it is solved, and how many nodes and edges that took. Returns whether to go on.
using cut_counter = function_ref<bool(std::uint64_t visits)>;
/// Asks `go_on` after each cut.
template <class F>
auto at_each_cut(F go_on) {
  return [go_on](std::uint64_t) { return go_on(); };
}

}  // namespace bounds

namespace detail {

inline bit_set united(bit_set s, const_bit_row row) { return unite_bits(s, row), s; }
inline bit_set minus(bit_set s, const_bit_row row) {
  for (std::size_t k = 0; k < row.size(); ++k) bit_row(s)[k] &= ~row[k];
  return s;
}
inline bit_set intersection(bit_set s, const_bit_row row) {
  for (std::size_t k = 0; k < row.size(); ++k) bit_row(s)[k] &= row[k];
  return s;
}

/// The precedences of a graph and of added edges.
class known_order {
 public:
  /// `delays`: releases need not run with the last of their readers, as in a certificate (docs/proofs.md, section 1).
  explicit known_order(const schedule_graph& g, bool delays = false) : g_(&g), delays_(delays), reach_(g), preds_(g.size()) {
    for (node_id v = 0; v < g.size(); ++v) preds_[v].assign(g.preds[v].begin(), g.preds[v].end());
  }

  const schedule_graph& graph() const { return *g_; }
  const bit_matrix& ancestors() const { return reach_.ancestors; }
  const bit_matrix& descendants() const { return reach_.descendants; }
  /// The graph's predecessors and those by added edges, but for some that run before others of them.
  const std::vector<std::vector<node_id>>& preds() const { return preds_; }
  bool ordered(node_id u, node_id v) const { return test_bit(reach_.descendants[u], v); }
  bool delays() const { return delays_; }

  bit_set copy(const_bit_row row) const {
    bit_set s(g_->size());
    unite_bits(s, row);
    return s;
  }
  /// v with the nodes that run before it; v with the nodes that run after it.
  bit_set above(node_id v) const { return with(copy(reach_.ancestors[v]), v); }
  bit_set below(node_id v) const { return with(copy(reach_.descendants[v]), v); }

  /// Adds an edge.
  void add(const precedence& e) {
    link(e);
    order(copy(reach_.ancestors[e.before]), e.before, below(e.after));
  }
  /// Likewise, but leaves the consequences to `order`.
  void link(const precedence& e) { preds_[e.after].push_back(e.before); }
  /// Drops the predecessors of v that run before others of them. O(predecessors * nodes / 64).
  void keep_nearest(node_id v) {
    bit_set farther(g_->size());
    for (node_id u : preds_[v]) unite_bits(farther, reach_.ancestors[u]);
    preds_[v].erase(std::remove_if(preds_[v].begin(), preds_[v].end(), [&](node_id u) { return farther[u]; }),
                    preds_[v].end());
  }
  /// Orders all of one set before v, and v before all of the other; neither holds v. The first set must hold all nodes
  /// before its members, the second all nodes after its members.
  void order(const bit_set& earlier, node_id v, const bit_set& later) {
    unite_bits(reach_.ancestors[v], earlier);
    unite_bits(reach_.descendants[v], later);
    const bit_set until_v = with(earlier, v), from_v = with(later, v);
    for_each_bit(earlier, [&](std::size_t a) { unite_bits(reach_.descendants[a], from_v); });
    for_each_bit(later, [&](std::size_t b) { unite_bits(reach_.ancestors[b], until_v); });
  }

 private:
  static bit_set with(bit_set s, node_id v) { return s.insert(v), s; }

  const schedule_graph* g_;
  bool delays_;
  reachability reach_;
  std::vector<std::vector<node_id>> preds_;
};

/// Facts about one node: sets in which it can run, legal under the first `edges` edges that were added.
struct node_knowledge {
  witness_sets witnesses;
  bit_set lowest{};  ///< a lowest one of them
  static constexpr delta unknown = std::numeric_limits<delta>::max();
  delta least = unknown;  ///< its height, or that of the last one, which was no higher
  std::size_t edges = 0;
  delta below = unknown;  ///< no set is higher
  bool has_lowest = false;
  bool answered = false;  ///< every question about the node is answered

  /// Drops the sets that are higher than `bound`, or that `added` edges forbid.
  void keep_legal(node_id v, delta bound, const plain_vector<precedence>& added) {
    if (bound == below && edges == added.size()) return;
    const std::size_t before = witnesses.size();
    if (bound != below) witnesses.keep_below(bound);
    below = bound;
    has_lowest = has_lowest && least <= bound;
    for (; edges < added.size(); ++edges) {
      const precedence& e = added[edges];
      witnesses.keep_legal(e, e.after == v);
      has_lowest = has_lowest && ((e.after != v && !lowest[e.after]) || lowest[e.before]);
    }
    answered = answered && witnesses.size() == before;  // the lowest is one of them
  }
};

/// The questions about one node v: which other nodes must run before or after it, for a peak of at most B (see `prober`).
///
/// They concern nodes that are not ordered with v. Lemma: an edge between v and such a node u changes the ancestors and the
/// descendants of no node that is not ordered with v once the edge is there. Proof: the edge (v, u) adds ancestors to u and
/// the nodes after u, which v runs before, and descendants to v and the nodes before v; likewise (u, v). So of the order
/// that holds with the edges found on the way, v's own ancestors and descendants alone are kept, and the order that was
/// known stays as it is: inquiries about several nodes may share it.
class inquiry {
 public:
  /// A finding: an edge between v and another node, or else an order that the graph keeps by itself.
  struct finding {
    precedence edge;
    bool derived;
  };
  using outcome = probing_outcome;

  inquiry(const known_order& order, node_id v, delta bound, bool reuse = true)
      : order_(&order),
        g_(&order.graph()),
        v_(v),
        bound_(bound),
        reuse_(reuse),
        ancestors_(order.copy(order.ancestors()[v])),
        descendants_(order.copy(order.descendants()[v])) {}

  /// Finds the edges of v; adds other facts about v to `k`. The first inquiry about a node ends with its lowest set. `cut` is
  /// working memory. Tells `count` of each cut, and of each 64 answers without one as if they were a cut.
  outcome run(node_knowledge& k, lowest_set& cut, bounds::cut_counter count) {
    constexpr unsigned of_a_cut = 64;
    unsigned without_cut = 0;
    std::uint64_t before = cut.work();
    const auto go_on = [&] { return count(visits(cut, std::exchange(before, cut.work()))); };
    if (!k.has_lowest) {
      const bool is_first = k.least == k.unknown;
      k.lowest = lowest(cut, order_->copy(ancestors_), undecided());
      k.least = height_of(k.lowest);
      k.has_lowest = accept(k, k.lowest);
      if (!go_on()) return outcome::stopped;
      if (!k.has_lowest) return next_ = std::min(next_, failed_), outcome::refuted;
      if (is_first) return outcome::open;
    }
    for (node_id u = 0; u < g_->size(); ++u) {
      if (u == v_) continue;
      for (const bool inside : {true, false}) {
        if (ancestors_[u] || descendants_[u]) break;
        if (reuse_ && k.witnesses.has(u, inside)) continue;
        if (!inside && runs_by_itself(u)) {
          if (!order_->delays()) order({u, v_}, false);
          break;
        }
        if (reuse_ && accept(k, changed(k.lowest, u, inside))) {
          if (++without_cut % of_a_cut == 0 && !go_on()) return outcome::stopped;
          continue;
        }
        if (!accept(k, inside ? lowest_with(k, cut, u) : lowest_without(k, cut, u))) {
          next_ = std::min(next_, failed_);
          order(inside ? precedence{v_, u} : precedence{u, v_}, true);
        }
        if (!go_on()) return outcome::stopped;
      }
    }
    k.answered = true;
    return outcome::open;
  }

  /// The least that v takes if u has run before it, or has not (`inside` is false): level plus peak, bytes. u and v are
  /// not ordered, and v has been asked about. One minimum cut; nothing if `count` returns false.
  std::optional<delta> height(const node_knowledge& k, lowest_set& cut, node_id u, bool inside,
                              bounds::cut_counter count) const {
    const std::uint64_t before = cut.work();
    const delta h = height_of(inside ? lowest_with(k, cut, u) : lowest_without(k, cut, u));
    return count(visits(cut, before)) ? std::optional(h) : std::nullopt;
  }

  node_id node() const { return v_; }
  /// In the order in which it found them.
  const std::vector<finding>& findings() const { return findings_; }
  /// The least height of a set that was too high: findings hold for peaks below that.
  delta next() const { return next_; }

 private:
  /// The visits of a cut, before which `cut` had made `before`; the nodes of the graph, from which it was made, count too.
  std::uint64_t visits(const lowest_set& cut, std::uint64_t before) const { return cut.work() - before + g_->size(); }

  /// The lowest set, changed as little as u being in it or not asks for.
  bit_set changed(const bit_set& set, node_id u, bool inside) const {
    return inside ? united(set, order_->above(u)) : minus(set, order_->below(u));
  }
  /// Room that v gains if `set` has run before it.
  delta gain(const_bit_row set) const {
    delta amount = 0;
    for (const auto& c : g_->credits[v_]) {
      const auto readers = g_->preds[c.release];
      if (std::all_of(readers.begin(), readers.end(), [&](node_id r) { return r == v_ || test_bit(set, r); }))
        amount += c.amount;
    }
    return amount;
  }

  /// The lowest set with u. It may be taken to hold the lowest set of all with u and its ancestors (submodularity). Beyond
  /// that it holds only nodes that an added node brings within reach: nodes that free memory, with their predecessors, and
  /// so on. (Credits tie nodes in ways that this does not see: then all.)
  bit_set lowest_with(const node_knowledge& k, lowest_set& cut, node_id u) const {
    const bit_set added = minus(order_->above(u), k.lowest);
    bit_set set = united(k.lowest, added);
    bit_set free = minus(undecided(), set);
    if (g_->credits[v_].empty()) free = within_reach(added, free, order_->descendants(), order_->ancestors(), -1);
    return lowest(cut, std::move(set), free);
  }
  /// The lowest set without u: likewise part of the lowest set of all, less u and its descendants.
  bit_set lowest_without(const node_knowledge& k, lowest_set& cut, node_id u) const {
    const bit_set removed = intersection(order_->below(u), k.lowest);
    const bit_set left = minus(k.lowest, removed);
    bit_set free = minus(left, ancestors_);
    if (g_->credits[v_].empty()) free = within_reach(removed, free, order_->ancestors(), order_->descendants(), 1);
    return lowest(cut, minus(left, free), free);
  }
  /// The nodes of `possible` that may change once `changed` has: nodes after it whose impact has the given sign, with all
  /// nodes before those; then the same again from there. A node that is reached already is passed over: so is all that it
  /// reaches.
  bit_set within_reach(bit_set changed, const bit_set& possible, const bit_matrix& behind, const bit_matrix& before,
                       int sign) const {
    bit_set found(g_->size());
    for (bool more = true; more;) {
      more = false;
      bit_set reached(g_->size()), fresh(g_->size());
      for_each_bit(changed, [&](std::size_t c) {
        if (!reached[c]) unite_bits(reached, behind[c]);
      });
      for_each_bit(minus(intersection(std::move(reached), possible), found), [&](std::size_t r) {
        if (!fresh[r] && g_->cost[r].impact * sign > 0) fresh.insert(r), unite_bits(fresh, before[r]);
      });
      changed = minus(intersection(std::move(fresh), possible), found);
      for_each_bit(changed, [&](std::size_t c) { found.insert(c), more = true; });
    }
    return found;
  }
  /// The lowest set for v that holds `set` and otherwise nothing but nodes of `free`.
  bit_set lowest(lowest_set& cut, bit_set set, const bit_set& free) const {
    cut.clear();
    for_each_bit(free, [&](std::size_t u) { cut.add(static_cast<node_id>(u)); });
    cut.solve(order_->preds(), v_, [&](node_id u) { return set[u]; });
    for (node_id u : cut.free())
      if (cut.holds(u)) set.insert(u);
    return set;
  }

  /// The bytes that v takes if `set` has run before it: level plus peak.
  delta height_of(const bit_set& set) const {
    delta h = static_cast<delta>(g_->base) + g_->cost[v_].peak - gain(set);
    for_each_bit(set, [&](std::size_t u) { h += g_->cost[u].impact; });
    return h;
  }
  /// The same, by what sets it apart from the lowest set, which is known.
  delta height_of(const bit_set& set, const node_knowledge& k) const {
    delta h = k.least + gain(k.lowest) - gain(set);
    for_each_bit_beyond(k.lowest, set, [&](std::size_t u) { h += g_->cost[u].impact; });
    for_each_bit_beyond(set, k.lowest, [&](std::size_t u) { h -= g_->cost[u].impact; });
    return h;
  }
  /// Makes a set a witness if it is low enough.
  bool accept(node_knowledge& k, const bit_set& set) {
    const delta h = k.has_lowest ? height_of(set, k) : height_of(set);
    if (h > bound_) return failed_ = h, false;
    k.witnesses.add(set, h);
    return true;
  }
  /// Whether v is after all that release u waits for.
  bool runs_by_itself(node_id u) const {
    const auto readers = g_->preds[u];
    return g_->is_release(u) && std::all_of(readers.begin(), readers.end(), [&](node_id r) { return ancestors_[r]; });
  }
  void order(const precedence& e, bool derived) {
    findings_.push_back({e, derived});
    if (e.before == v_) unite_bits(descendants_, order_->below(e.after));
    else unite_bits(ancestors_, order_->above(e.before));
  }
  bit_set undecided() const {
    bit_set s(g_->size());
    for (node_id u = 0; u < g_->size(); ++u)
      if (u != v_ && !ancestors_[u] && !descendants_[u]) s.insert(u);
    return s;
  }

  const known_order* order_;
  const schedule_graph* g_;
  node_id v_;
  delta bound_;
  bool reuse_;
  bit_set ancestors_, descendants_;
  std::vector<finding> findings_;
  delta failed_ = 0;  // height of the last set that was no witness
  delta next_ = std::numeric_limits<delta>::max();
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
