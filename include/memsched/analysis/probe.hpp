// Probing: precedence that every order below a peak must keep, found by minimum cuts.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/analysis/closure.hpp>
#include <memsched/analysis/reachability.hpp>
#include <memsched/base/bitset.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {

/// g with more edges. An edge from a release is drawn from its readers, after the last of which it runs.
/// O(nodes + edges).
inline schedule_graph with_edges(const schedule_graph& g, std::span<const precedence> edges) {
  std::vector<std::pair<index, node>> all;  // (node, its predecessor)
  for (node v = 0; v < g.size(); ++v)
    for (node u : g.preds[v]) all.emplace_back(v, u);
  for (const precedence& e : edges) {
    if (!g.is_release(e.before)) all.emplace_back(e.after, e.before);
    else
      for (node reader : g.preds[e.before]) all.emplace_back(e.after, reader);
  }
  const adjacency repeated = adjacency::from_pairs(g.size(), all);
  schedule_graph h = g;
  h.preds = {};
  std::vector<node> last(g.size(), none);
  for (node v = 0; v < g.size(); ++v) {
    for (node u : repeated[v])
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

  explicit prober(const schedule_graph& g)
      : g_(&g), reach_(g), known_(g.active), preds_(g.size()), local_(g.size(), none) {
    for (node v = 0; v < g.size(); ++v) preds_[v].assign(g.preds[v].begin(), g.preds[v].end());
  }

  /// Asks `go_on` before each minimum cut; where that said no, another call goes on. Later calls must not raise b, since
  /// edges found for one peak hold for lower ones only.
  outcome run(bytes b, function_ref<bool()> go_on) {
    go_on_ = go_on;
    if (bound_ != static_cast<delta>(b)) next_ = std::numeric_limits<delta>::max();
    bound_ = static_cast<delta>(b);
    for (std::size_t before = no_edges; before != edges_.size();) {
      before = edges_.size();
      for (node v : by_slack())
        if (const outcome o = narrow(v); o != outcome::open) return o;
    }
    return outcome::open;
  }

  /// Edges derived so far; none is implied by the graph and those before it.
  const std::vector<precedence>& edges() const { return edges_; }
  /// After a refutation: no peak from b to below this is reached either. Bytes.
  bytes next() const { return static_cast<bytes>(next_); }

 private:
  struct witness {
    std::vector<word> set;
    delta height;  // level of the set plus the peak of the node that runs there
  };
  /// What is known of one node: sets in which it can run, legal under the first `edges` edges.
  struct knowledge {
    std::vector<witness> witnesses;
    std::size_t edges = 0;
    bool lowest_first = false;  ///< the first is a lowest one
    bool answered = false;      ///< every question about it is answered
  };

  /// Nodes with the least room under B first: they refute soonest.
  std::vector<node> by_slack() const {
    std::vector<std::pair<delta, node>> heights;
    for (node v = 0; v < g_->active; ++v) {
      delta lowest = std::numeric_limits<delta>::max();
      for (const witness& w : known_[v].witnesses) lowest = std::min(lowest, w.height);
      heights.emplace_back(known_[v].witnesses.empty() ? -g_->cost[v].peak : -lowest, v);
    }
    std::sort(heights.begin(), heights.end());
    std::vector<node> order;
    for (const auto& [height, v] : heights) order.push_back(v);
    return order;
  }

  /// Finds the edges of one node. Where all its witnesses stand, they still answer every question.
  outcome narrow(node v) {
    knowledge& k = known_[v];
    auto& ws = k.witnesses;
    const std::size_t before = ws.size();
    const auto stands = [&](const witness& w) { return w.height <= bound_ && still_legal(w, v); };
    k.lowest_first = k.lowest_first && stands(ws[0]);
    std::erase_if(ws, [&](const witness& w) { return !stands(w); });
    k.edges = edges_.size();
    if (k.lowest_first && ws.size() == before && k.answered) return outcome::open;
    k.answered = false;
    if (!k.lowest_first) {
      if (!go_on_()) return outcome::stopped;
      if (!solve_lowest(v)) return next_ = std::min(next_, failed_), outcome::refuted;
    }
    bit_set in(g_->size()), out(g_->size());
    const auto note = [&](const witness& w) {
      for (std::size_t i = 0; i < w.set.size(); ++i) bit_row(in)[i] |= w.set[i], bit_row(out)[i] |= ~w.set[i];
    };
    for (const witness& w : ws) note(w);
    for (node u = 0; u < g_->size(); ++u) {
      if (u == v) continue;
      for (const bool inside : {true, false}) {
        if (inside ? in[u] : out[u]) continue;
        if (test(reach_.ancestors[v], u) || test(reach_.descendants[v], u)) break;
        if (!go_on_()) return outcome::stopped;
        if (inside ? solve_with(v, u) : solve_without(v, u)) {
          note(ws.back());
          continue;
        }
        next_ = std::min(next_, failed_);
        if (inside) add_edge(v, u);
        else add_edge(u, v);
      }
    }
    k.answered = true;
    return outcome::open;
  }

  static constexpr std::size_t no_edges = static_cast<std::size_t>(-1);

  /// Whether a set that v could run in is still one under the edges found since.
  bool still_legal(const witness& w, node v) const {
    for (std::size_t i = known_[v].edges; i < edges_.size(); ++i) {
      const auto& [from, to] = edges_[i];
      if ((to == v || test(w.set, to)) && !test(w.set, from)) return false;
    }
    return true;
  }

  /// Room that v gains where `set` has run before it.
  delta gain(node v, const_bit_row set) const {
    delta amount = 0;
    for (const credit& c : g_->credits[v]) {
      const auto readers = g_->preds[c.release];
      if (std::all_of(readers.begin(), readers.end(), [&](node r) { return r == v || test(set, r); })) amount += c.amount;
    }
    return amount;
  }

  /// The lowest set in which v can run becomes the first witness; false where it is too high.
  bool solve_lowest(node v) {
    if (!solve(v, copy(reach_.ancestors[v]), undecided(v))) return false;
    auto& ws = known_[v].witnesses;
    std::swap(ws.front(), ws.back());
    known_[v].lowest_first = true;
    return true;
  }

  /// The lowest set with u. It may be taken to hold the lowest set of all with u and its ancestors (submodularity). Beyond
  /// that it holds only what an added node brings within reach: nodes that free memory, with what they rest on, and so on.
  /// (Credits tie nodes in ways that this does not see: then all.)
  bool solve_with(node v, node u) {
    const auto& lowest = known_[v].witnesses.front().set;
    bit_set set = copy(lowest);
    bit_set added = minus(with(copy(reach_.ancestors[u]), u), lowest);
    unite(set, added);
    if (accept(v, set)) return true;
    const bit_set possible = minus(undecided(v), set);
    if (!g_->credits[v].empty()) return solve(v, set, possible);
    return solve(v, set, within_reach(added, possible, reach_.descendants, reach_.ancestors, -1));
  }

  /// The lowest set without u: likewise part of the lowest set of all, less u and its descendants.
  bool solve_without(node v, node u) {
    const auto& lowest = known_[v].witnesses.front().set;
    const bit_set removed = intersection(with(copy(reach_.descendants[u]), u), lowest);
    const bit_set left = minus(copy(lowest), removed);
    if (accept(v, left)) return true;
    const bit_set possible = minus(left, reach_.ancestors[v]);
    const bit_set free = g_->credits[v].empty() ? within_reach(removed, possible, reach_.ancestors, reach_.descendants, 1) : possible;
    return solve(v, minus(left, free), free);
  }

  /// What may change among `possible` once `changed` has: nodes behind it whose impact has the given sign, with all nodes
  /// before those; then the same again from there.
  bit_set within_reach(bit_set changed, const bit_set& possible, const bit_matrix& behind, const bit_matrix& before, int sign) const {
    bit_set found(g_->size());
    for (bool more = true; more;) {
      more = false;
      bit_set reached(g_->size()), fresh(g_->size());
      for_each_bit(changed, [&](std::size_t c) { unite(reached, behind[c]); });
      for_each_bit(minus(intersection(std::move(reached), possible), found), [&](std::size_t r) {
        if (g_->cost[r].impact * sign > 0) fresh.insert(r), unite(fresh, before[r]);
      });
      changed = minus(intersection(std::move(fresh), possible), found);
      for_each_bit(changed, [&](std::size_t c) { found.insert(c), more = true; });
    }
    return found;
  }

  /// The lowest set that holds `set` and otherwise nothing but nodes of `free`; a new witness where it is low enough.
  bool solve(node v, bit_set set, const bit_set& free) {
    closure_.clear();
    free_.clear();
    for_each_bit(free, [&](std::size_t u) {
      local_[u] = closure_.add(g_->cost[u].impact);
      free_.push_back(static_cast<node>(u));
    });
    for (node u : free_)
      for (node p : preds_[u])
        if (free[p]) closure_.require(local_[p], local_[u]);
    for (const credit& c : g_->credits[v]) {
      const auto readers = g_->preds[c.release];
      if (!std::all_of(readers.begin(), readers.end(), [&](node r) { return r == v || set[r] || free[r]; })) continue;
      const index gain = closure_.add(-c.amount);
      for (node r : readers)
        if (r != v && free[r]) closure_.require(local_[r], gain);
    }
    closure_.solve();
    for (node u : free_)
      if (closure_.holds(local_[u])) set.insert(u);
    return accept(v, set);
  }

  /// Makes a set a witness where it is low enough.
  bool accept(node v, const bit_set& set) {
    delta h = static_cast<delta>(g_->base) + g_->cost[v].peak - gain(v, set);
    for_each_bit(set, [&](std::size_t u) { h += g_->cost[u].impact; });
    if (h > bound_) return failed_ = h, false;
    const const_bit_row row = set;
    known_[v].witnesses.push_back({{row.begin(), row.end()}, h});
    return true;
  }

  void add_edge(node from, node to) {
    edges_.push_back({from, to});
    preds_[to].push_back(from);
    const bit_set above = with(copy(reach_.ancestors[from]), from), below = with(copy(reach_.descendants[to]), to);
    for_each_bit(above, [&](std::size_t a) { unite(reach_.descendants[a], below); });
    for_each_bit(below, [&](std::size_t b) { unite(reach_.ancestors[b], above); });
  }

  // Sets over all nodes.
  bit_set undecided(node v) const {
    bit_set s(g_->size());
    for (node u = 0; u < g_->size(); ++u)
      if (u != v && !test(reach_.ancestors[v], u) && !test(reach_.descendants[v], u)) s.insert(u);
    return s;
  }
  bit_set copy(const_bit_row row) const {
    bit_set s(g_->size());
    unite(s, row);
    return s;
  }
  static bit_set with(bit_set s, node v) { return s.insert(v), s; }
  static bit_set minus(bit_set s, const_bit_row row) {
    for (std::size_t k = 0; k < row.size(); ++k) bit_row(s)[k] &= ~row[k];
    return s;
  }
  static bit_set intersection(bit_set s, const_bit_row row) {
    for (std::size_t k = 0; k < row.size(); ++k) bit_row(s)[k] &= row[k];
    return s;
  }

  const schedule_graph* g_;
  function_ref<bool()> go_on_;
  reachability reach_;
  std::vector<knowledge> known_;
  std::vector<std::vector<node>> preds_;
  std::vector<precedence> edges_;
  std::vector<index> local_;
  std::vector<node> free_;
  closure_problem closure_;
  delta bound_ = -1, next_ = 0;
  delta failed_ = 0;  // height of the last set that was no witness
};

/// Looks for the smallest peak that probing cannot refute, between a bound and a peak that is reached: a lower bound.
/// First asks for the peak less 1, since a good order is often the best; then gallops up from the bound, and bisects.
class destructive_search {
 public:
  /// Nothing below `low` is reached. g must outlive this.
  destructive_search(const schedule_graph& g, bytes low) : g_(&g), bound_(low) {}

  /// No order has a smaller peak. Bytes.
  bytes bound() const { return bound_; }
  /// The smallest peak that is not refuted, where one was probed; equal to the bound at the end.
  std::optional<bytes> unrefuted() const { return open_ ? std::optional(unrefuted_) : std::nullopt; }
  /// What every order with a peak of at most `unrefuted` keeps.
  const std::vector<precedence>& edges() const { return open_->edges(); }
  /// What every order below the peak that `run` was last called with keeps, as far as is known.
  std::vector<precedence> edges_below_peak() const { return first_ ? first_->edges() : std::vector<precedence>{}; }

  /// Goes on until the bound is settled for orders below `high`, a peak that is reached, or until `go_on`, asked before
  /// each cut, says no. What was derived is kept from call to call; `high` may fall between them.
  void run(bytes high, function_ref<bool()> go_on) {
    if (bound_ >= high) return;
    if (!open_ || unrefuted_ >= high) {
      if (!first_) first_.emplace(*g_);
      const auto outcome = first_->run(high - 1, go_on);
      if (outcome == prober::outcome::stopped) return;
      if (outcome == prober::outcome::refuted) return void(bound_ = high);
      unrefuted_ = high - 1;
      open_ = first_;
    }
    while (bound_ < unrefuted_) {
      if (!trial_ || trial_peak_ >= unrefuted_ || trial_peak_ < bound_) {
        trial_ = open_;
        trial_peak_ = std::min(bound_ + step_, unrefuted_ - 1);
      }
      const auto outcome = trial_->run(trial_peak_, go_on);
      if (outcome == prober::outcome::stopped) return;
      if (outcome == prober::outcome::refuted) {
        bound_ = std::min(unrefuted_, std::max(trial_peak_ + 1, trial_->next()));
        step_ = std::max<bytes>(2 * step_, (unrefuted_ - bound_) / 64);
      } else {
        unrefuted_ = trial_peak_;
        open_ = std::move(trial_);
        step_ = unrefuted_ - bound_;
      }
      step_ = std::min(step_, (unrefuted_ - bound_) / 2);
      trial_.reset();
    }
  }

 private:
  const schedule_graph* g_;
  bytes bound_, unrefuted_ = 0, trial_peak_ = 0, step_ = 0;
  std::optional<prober> first_, open_, trial_;  // for the peak less 1; for `unrefuted_`; for a peak between
};

}  // namespace memsched
