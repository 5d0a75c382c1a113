// Probing: precedence that every order below a peak must keep, found by minimum cuts.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/bounds/lowest_set.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// g with more edges. An edge from a release is drawn from its readers, after the last of which it runs.
/// O(nodes + edges).
inline schedule_graph with_edges(const schedule_graph& g, std::span<const precedence> edges) {
  std::vector<std::pair<index_t, node_id>> all;  // (node, its predecessor)
  for (node_id v = 0; v < g.size(); ++v)
    for (node_id u : g.preds[v]) all.emplace_back(v, u);
  for (const precedence& e : edges) {
    if (!g.is_release(e.before)) all.emplace_back(e.after, e.before);
    else
      for (node_id reader : g.preds[e.before]) all.emplace_back(e.after, reader);
  }
  const adjacency repeated = adjacency::from_pairs(g.size(), all);
  schedule_graph h = g;
  h.preds = {};
  std::vector<node_id> last(g.size(), none);
  for (node_id v = 0; v < g.size(); ++v) {
    for (node_id u : repeated[v])
      if (std::exchange(last[u], v) != v) h.preds.push(u);
    h.preds.close();
  }
  h.succs = transpose(h.preds, g.size());
  return h;
}

/// Derives, for a peak B, edges that all orders with a peak of at most B keep, or that there is no such order.
///
/// When v runs, what has run is a set E with v's ancestors and without v and its descendants, and level(E) plus v's
/// peak is at most B. Where every such E that holds u is too high, v runs before u; where every such E without u is, u
/// runs before v. Sets that are low enough (witnesses) answer both questions for many u at once, so that few minimum
/// cuts are needed. Polynomial; edges narrow further sets, until nothing changes.
class prober {
 public:
  enum class outcome : unsigned char {
    refuted,  ///< no order has a peak of at most B
    open,     ///< there may be one, and it keeps `edges`
    stopped,  ///< `go_on` said no; the edges so far hold
  };

  /// `reuse`: sets answer further questions, as they are and changed a little, before a cut does.
  explicit prober(const schedule_graph& g, bool reuse = true)
      : g_(&g),
        reuse_(reuse),
        reach_(g),
        known_(g.active, knowledge{witness_sets(g.size()), {}}),
        preds_(g.size()),
        lowest_(g) {
    for (node_id v = 0; v < g.size(); ++v) preds_[v].assign(g.preds[v].begin(), g.preds[v].end());
  }

  /// Asks `go_on` before each minimum cut; where that said no, another call goes on. Later calls must not raise b, since
  /// edges found for one peak hold for lower ones only.
  outcome run(bytes b, function_ref<bool()> go_on) {
    go_on_ = go_on;
    if (bound_ != static_cast<delta>(b)) next_ = std::numeric_limits<delta>::max();
    bound_ = static_cast<delta>(b);
    for (std::size_t before = no_edges; before != edges_.size();) {
      before = edges_.size();
      for (node_id v : by_slack())
        if (const outcome o = narrow(v); o != outcome::open) return o;
    }
    return outcome::open;
  }

  /// Whether the graph and the edges so far run u before v.
  bool ordered(node_id u, node_id v) const { return test_bit(reach_.descendants[u], v); }
  /// Takes an edge between nodes that are not ordered for granted: what is derived from there on holds for orders that keep
  /// it.
  void assume(const precedence& e) { add_edge(e.before, e.after); }
  /// Adds an edge between nodes that are not ordered, which all orders with a peak below `next` keep.
  void learn(const precedence& e, bytes next) {
    next_ = std::min(next_, static_cast<delta>(next));
    add_edge(e.before, e.after);
  }
  /// Adds the order that two probers share, one of which took an edge for granted, the other its reverse. O(nodes^2).
  void learn_common(const prober& one, const prober& other) {
    for (node_id u = 0; u < g_->size(); ++u) {
      const bit_set shared = minus(intersection(one.copy(one.reach_.descendants[u]), other.reach_.descendants[u]),
                                   reach_.descendants[u]);
      for_each_bit(shared, [&](std::size_t v) {
        const precedence e{u, static_cast<node_id>(v)};
        if ((u < g_->active || v < g_->active) && !ordered(u, e.after)) learn(e, std::min(one.next(), other.next()));
      });
    }
  }
  /// What the nodes of an edge take at least where it is kept, under the edges so far: level plus peak, bytes. They are not
  /// ordered, one at least is no release, and they have been probed. At most two minimum cuts.
  delta height(const precedence& e) {
    delta most = 0;
    if (e.after < g_->active) most = height_of(e.after, lowest_with(e.after, e.before));
    if (e.before < g_->active) most = std::max(most, height_of(e.before, lowest_without(e.before, e.after)));
    return most;
  }
  /// What is known of that: it is no more than this.
  delta known_height(const precedence& e) const {
    delta most = 0;
    if (e.after < g_->active) most = known_[e.after].witnesses.lowest(e.before, true).value_or(0);
    if (e.before < g_->active) most = std::max(most, known_[e.before].witnesses.lowest(e.after, false).value_or(0));
    return most;
  }

  const schedule_graph& graph() const { return *g_; }
  /// The peak that `run` was last called with. Bytes.
  bytes bound() const { return static_cast<bytes>(bound_); }
  /// Edges derived so far; none is implied by the graph and those before it.
  const std::vector<precedence>& edges() const { return edges_; }
  /// After a refutation: no peak from b to below this is reached either. Bytes.
  bytes next() const { return static_cast<bytes>(next_); }
  /// After a refutation: the node that every set in which it can run is too high for.
  node_id refuted_at() const { return failed_at_; }
  /// Memory of its sets.
  std::uint64_t bytes_held() const {
    std::uint64_t held = 0;
    for (const knowledge& k : known_) held += k.witnesses.bytes_held();
    return held;
  }

 private:
  /// Sets in which a node can run, with their heights: level plus the node's peak. As columns of bits, 64 sets a word, so
  /// that all of them are tested at once.
  class witness_sets {
   public:
    explicit witness_sets(std::size_t nodes) : nodes_(nodes) {}

    void add(const_bit_row set, delta height) {
      std::size_t block = 0;
      while (block < valid_.size() && ~valid_[block] == 0) ++block;
      if (block == valid_.size()) {
        valid_.push_back(0);
        words_.resize(words_.size() + nodes_);
        heights_.resize(heights_.size() + 64);
      }
      const auto slot = static_cast<std::size_t>(std::countr_one(valid_[block]));
      valid_[block] |= bit_word{1} << slot;
      heights_[block * 64 + slot] = height;
      for (std::size_t u = 0; u < nodes_; ++u) {
        bit_word& column = words_[block * nodes_ + u];
        column = (column & ~(bit_word{1} << slot)) | bit_word{test_bit(set, u)} << slot;
      }
    }
    /// Drops the sets that are higher than `bound`.
    void keep_below(delta bound) {
      for_each([&](std::size_t block, std::size_t slot) {
        if (heights_[block * 64 + slot] > bound) valid_[block] &= ~(bit_word{1} << slot);
      });
    }
    /// Drops the sets that hold `to`, or all where that is the node itself, and not `from`.
    void keep_legal(const precedence& e, bool all) {
      for (std::size_t block = 0; block < valid_.size(); ++block) {
        const bit_word* columns = words_.data() + block * nodes_;
        valid_[block] &= (all ? 0 : ~columns[e.after]) | columns[e.before];
      }
    }
    std::size_t size() const { return count_bits(valid_); }
    std::uint64_t bytes_held() const { return words_.capacity() * sizeof(bit_word); }
    bool has(node_id u, bool inside) const {
      for (std::size_t block = 0; block < valid_.size(); ++block) {
        const bit_word column = words_[block * nodes_ + u];
        if ((valid_[block] & (inside ? column : ~column)) != 0) return true;
      }
      return false;
    }
    /// The least height of a set with u, or without.
    std::optional<delta> lowest(node_id u, bool inside) const {
      std::optional<delta> least;
      for_each([&](std::size_t block, std::size_t slot) {
        const delta height = heights_[block * 64 + slot];
        if ((words_[block * nodes_ + u] >> slot & 1) == inside && (!least || height < *least)) least = height;
      });
      return least;
    }

   private:
    template <class F>
    void for_each(F&& f) const {
      for (std::size_t block = 0; block < valid_.size(); ++block)
        for (bit_word w = valid_[block]; w != 0; w &= w - 1) f(block, static_cast<std::size_t>(std::countr_zero(w)));
    }

    std::size_t nodes_;
    std::vector<bit_word> words_, valid_;  // per block and node; per block
    std::vector<delta> heights_;
  };
  /// What is known of one node: sets in which it can run, legal under the first `edges` edges.
  struct knowledge {
    witness_sets witnesses;
    bit_set lowest;  ///< a lowest one of them
    delta least = 0;  ///< its height
    std::size_t edges = 0;
    bool has_lowest = false;
    bool answered = false;  ///< every question about the node is answered
  };

  /// Nodes with the least room under B first: they refute soonest.
  std::vector<node_id> by_slack() const {
    std::vector<std::pair<delta, node_id>> heights;
    for (node_id v = 0; v < g_->active; ++v)
      heights.emplace_back(known_[v].has_lowest ? -known_[v].least : -g_->cost[v].peak, v);
    std::sort(heights.begin(), heights.end());
    std::vector<node_id> order;
    for (const auto& [height, v] : heights) order.push_back(v);
    return order;
  }

  /// Drops what is no witness any more, and sees to it that the lowest is known.
  outcome find_lowest(node_id v) {
    knowledge& k = known_[v];
    const std::size_t before = k.witnesses.size();
    k.witnesses.keep_below(bound_);
    k.has_lowest = k.has_lowest && k.least <= bound_;
    for (; k.edges < edges_.size(); ++k.edges) {
      const precedence& e = edges_[k.edges];
      k.witnesses.keep_legal(e, e.after == v);
      k.has_lowest = k.has_lowest && ((e.after != v && !k.lowest[e.after]) || k.lowest[e.before]);
    }
    k.answered = k.answered && k.witnesses.size() == before;  // the lowest is one of them
    if (k.has_lowest) return outcome::open;
    if (!go_on_()) return outcome::stopped;
    if (solve_lowest(v)) return outcome::open;
    next_ = std::min(next_, failed_);
    failed_at_ = v;
    return outcome::refuted;
  }

  /// Finds the edges of one node. Where all its witnesses stand, they still answer every question.
  outcome narrow(node_id v) {
    if (const outcome o = find_lowest(v); o != outcome::open || known_[v].answered) return o;
    knowledge& k = known_[v];
    for (node_id u = 0; u < g_->size(); ++u) {
      if (u == v) continue;
      for (const bool inside : {true, false}) {
        if (ordered(u, v) || ordered(v, u)) break;
        if (reuse_ && k.witnesses.has(u, inside)) continue;
        if (!inside && runs_by_itself(u, v)) {
          order(u, v);
          break;
        }
        if (reuse_ && accept(v, inside ? united(copy(k.lowest), above(u)) : minus(copy(k.lowest), below(u)))) continue;
        if (!go_on_()) return outcome::stopped;
        if (accept(v, inside ? lowest_with(v, u) : lowest_without(v, u))) continue;
        next_ = std::min(next_, failed_);
        if (inside) add_edge(v, u);
        else add_edge(u, v);
      }
    }
    k.answered = true;
    return outcome::open;
  }

  static constexpr std::size_t no_edges = static_cast<std::size_t>(-1);

  /// Room that v gains where `set` has run before it.
  delta gain(node_id v, const_bit_row set) const {
    delta amount = 0;
    for (const credit& c : g_->credits[v]) {
      const auto readers = g_->preds[c.release];
      if (std::all_of(readers.begin(), readers.end(), [&](node_id r) { return r == v || test_bit(set, r); }))
        amount += c.amount;
    }
    return amount;
  }

  /// Finds the lowest set in which v can run; false where it is too high.
  bool solve_lowest(node_id v) {
    knowledge& k = known_[v];
    k.lowest = lowest(v, copy(reach_.ancestors[v]), undecided(v));
    k.least = height_of(v, k.lowest);
    return k.has_lowest = accept(v, k.lowest);
  }
  /// The lowest set with u. It may be taken to hold the lowest set of all with u and its ancestors (submodularity). Beyond
  /// that it holds only what an added node brings within reach: nodes that free memory, with what they rest on, and so on.
  /// (Credits tie nodes in ways that this does not see: then all.)
  bit_set lowest_with(node_id v, node_id u) {
    const bit_set& first = known_[v].lowest;
    const bit_set added = minus(above(u), first);
    bit_set set = united(copy(first), added);
    bit_set free = minus(undecided(v), set);
    if (g_->credits[v].empty()) free = within_reach(added, free, reach_.descendants, reach_.ancestors, -1);
    return lowest(v, std::move(set), free);
  }

  /// The lowest set without u: likewise part of the lowest set of all, less u and its descendants.
  bit_set lowest_without(node_id v, node_id u) {
    const bit_set& first = known_[v].lowest;
    const bit_set removed = intersection(below(u), first);
    const bit_set left = minus(copy(first), removed);
    bit_set free = minus(left, reach_.ancestors[v]);
    if (g_->credits[v].empty()) free = within_reach(removed, free, reach_.ancestors, reach_.descendants, 1);
    return lowest(v, minus(left, free), free);
  }

  /// What may change among `possible` once `changed` has: nodes behind it whose impact has the given sign, with all nodes
  /// before those; then the same again from there.
  bit_set within_reach(bit_set changed, const bit_set& possible, const bit_matrix& behind, const bit_matrix& before,
                       int sign) const {
    bit_set found(g_->size());
    for (bool more = true; more;) {
      more = false;
      bit_set reached(g_->size()), fresh(g_->size());
      for_each_bit(changed, [&](std::size_t c) { unite_bits(reached, behind[c]); });
      for_each_bit(minus(intersection(std::move(reached), possible), found), [&](std::size_t r) {
        if (g_->cost[r].impact * sign > 0) fresh.insert(r), unite_bits(fresh, before[r]);
      });
      changed = minus(intersection(std::move(fresh), possible), found);
      for_each_bit(changed, [&](std::size_t c) { found.insert(c), more = true; });
    }
    return found;
  }

  /// The lowest set for v that holds `set` and otherwise nothing but nodes of `free`.
  bit_set lowest(node_id v, bit_set set, const bit_set& free) {
    lowest_.clear();
    for_each_bit(free, [&](std::size_t u) { lowest_.add(static_cast<node_id>(u)); });
    lowest_.solve(preds_, v, [&](node_id u) { return set[u]; });
    for (node_id u : lowest_.free())
      if (lowest_.holds(u)) set.insert(u);
    return set;
  }

  /// What v takes where `set` has run before it: level plus peak.
  delta height_of(node_id v, const bit_set& set) const {
    delta h = static_cast<delta>(g_->base) + g_->cost[v].peak - gain(v, set);
    for_each_bit(set, [&](std::size_t u) { h += g_->cost[u].impact; });
    return h;
  }

  /// Makes a set a witness where it is low enough.
  bool accept(node_id v, const bit_set& set) {
    const delta h = height_of(v, set);
    if (h > bound_) return failed_ = h, false;
    known_[v].witnesses.add(set, h);
    return true;
  }

  /// Whether v is behind all that release u waits for.
  bool runs_by_itself(node_id u, node_id v) const {
    const auto readers = g_->preds[u];
    return g_->is_release(u) && std::all_of(readers.begin(), readers.end(), [&](node_id r) { return ordered(r, v); });
  }

  void add_edge(node_id from, node_id to) {
    edges_.push_back({from, to});
    preds_[to].push_back(from);
    order(from, to);
  }
  void order(node_id from, node_id to) {
    const bit_set earlier = above(from), later = below(to);
    for_each_bit(earlier, [&](std::size_t a) { unite_bits(reach_.descendants[a], later); });
    for_each_bit(later, [&](std::size_t b) { unite_bits(reach_.ancestors[b], earlier); });
  }

  // Sets over all nodes.
  bit_set undecided(node_id v) const {
    bit_set s(g_->size());
    for (node_id u = 0; u < g_->size(); ++u)
      if (u != v && !test_bit(reach_.ancestors[v], u) && !test_bit(reach_.descendants[v], u)) s.insert(u);
    return s;
  }
  bit_set copy(const_bit_row row) const {
    bit_set s(g_->size());
    unite_bits(s, row);
    return s;
  }
  /// v with what runs before it; v with what runs after it.
  bit_set above(node_id v) const { return with(copy(reach_.ancestors[v]), v); }
  bit_set below(node_id v) const { return with(copy(reach_.descendants[v]), v); }
  static bit_set with(bit_set s, node_id v) { return s.insert(v), s; }
  static bit_set united(bit_set s, const_bit_row row) { return unite_bits(s, row), s; }
  static bit_set minus(bit_set s, const_bit_row row) {
    for (std::size_t k = 0; k < row.size(); ++k) bit_row(s)[k] &= ~row[k];
    return s;
  }
  static bit_set intersection(bit_set s, const_bit_row row) {
    for (std::size_t k = 0; k < row.size(); ++k) bit_row(s)[k] &= row[k];
    return s;
  }

  const schedule_graph* g_;
  bool reuse_;
  function_ref<bool()> go_on_;
  reachability reach_;
  std::vector<knowledge> known_;
  std::vector<std::vector<node_id>> preds_;
  std::vector<precedence> edges_;
  lowest_set lowest_;
  delta bound_ = -1, next_ = 0;
  delta failed_ = 0;  // height of the last set that was no witness
  node_id failed_at_ = none;
};

}  // namespace memsched
