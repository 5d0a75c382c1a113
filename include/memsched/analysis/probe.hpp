// Probing: precedence that every order below a peak must keep, found by minimum cuts.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <vector>

#include <memsched/analysis/closure.hpp>
#include <memsched/analysis/reachability.hpp>
#include <memsched/base/bitset.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {

/// An edge that is not in the graph, from a node to one that must run later.
using precedence = std::pair<node, node>;

/// g with more edges. An edge from a release is drawn from its readers, after the last of which it runs.
inline schedule_graph with_edges(const schedule_graph& g, const std::vector<precedence>& edges) {
  std::vector<precedence> all;  // (node, its predecessor)
  for (node v = 0; v < g.size(); ++v)
    for (node u : g.preds[v]) all.emplace_back(v, u);
  for (const auto& [from, to] : edges) {
    if (!g.is_release(from)) all.emplace_back(to, from);
    else
      for (node reader : g.preds[from]) all.emplace_back(to, reader);
  }
  std::stable_sort(all.begin(), all.end(), [](const precedence& a, const precedence& b) { return a.first < b.first; });
  schedule_graph h = g;
  h.preds = {};
  std::vector<node> last(g.size(), none);
  for (std::size_t i = 0, v = 0; v < g.size(); ++v) {
    for (; i < all.size() && all[i].first == v; ++i)
      if (std::exchange(last[all[i].second], static_cast<node>(v)) != v) h.preds.push(all[i].second);
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
class probe {
 public:
  enum class outcome : unsigned char {
    refuted,  ///< no order has a peak of at most B
    open,     ///< there may be one, and it keeps `edges`
    stopped,  ///< `go_on` said no; the edges so far hold
  };

  /// `go_on` is asked before each minimum cut.
  probe(const schedule_graph& g, function_ref<bool()> go_on)
      : g_(g), go_on_(go_on), reach_(g), witnesses_(g.active), succs_(g.size()), preds_(g.size()), local_(g.size(), none) {
    for (node v = 0; v < g.size(); ++v) {
      preds_[v].assign(g.preds[v].begin(), g.preds[v].end());
      succs_[v].assign(g.succs[v].begin(), g.succs[v].end());
    }
  }

  /// May be called again with another B only where that is lower, since the edges then still hold.
  outcome run(bytes b) {
    bound_ = static_cast<delta>(b);
    next_ = std::numeric_limits<delta>::max();
    std::vector<bool> dirty(g_.active, true);
    for (bool again = true; again;) {
      again = false;
      for (node v : by_slack()) {
        if (!dirty[v]) continue;
        const std::size_t before = edges_.size();
        dirty[v] = false;
        if (const outcome o = narrow(v); o != outcome::open) return o;
        if (edges_.size() == before) continue;
        again = true;
        dirty.assign(g_.active, true);
      }
    }
    return outcome::open;
  }

  /// Edges derived so far; none is implied by the graph and those before it.
  const std::vector<precedence>& edges() const { return edges_; }
  /// After a refutation: no peak below this is reached either. Bytes.
  bytes next() const { return static_cast<bytes>(next_); }

 private:
  struct witness {
    std::vector<word> set;
    delta height;  // level of the set plus the peak of the node that runs there
  };

  /// Nodes with the least room under B first: they refute soonest.
  std::vector<node> by_slack() const {
    std::vector<std::pair<delta, node>> heights;
    for (node v = 0; v < g_.active; ++v) {
      delta lowest = std::numeric_limits<delta>::max();
      for (const witness& w : witnesses_[v]) lowest = std::min(lowest, w.height);
      heights.emplace_back(witnesses_[v].empty() ? -g_.cost[v].peak : -lowest, v);
    }
    std::sort(heights.begin(), heights.end());
    std::vector<node> order;
    for (const auto& [height, v] : heights) order.push_back(v);
    return order;
  }

  /// Finds the edges of one node.
  outcome narrow(node v) {
    auto& ws = witnesses_[v];
    std::erase_if(ws, [&](const witness& w) { return w.height > bound_ || !legal(w.set, v); });
    if (ws.empty()) {
      if (!go_on_()) return outcome::stopped;
      if (!solve(v, none, none)) return outcome::refuted;
    }
    bit_set in(g_.size()), out(g_.size());
    const auto note = [&](const witness& w) {
      for (std::size_t k = 0; k < w.set.size(); ++k) bit_row(in)[k] |= w.set[k], bit_row(out)[k] |= ~w.set[k];
    };
    for (const witness& w : ws) note(w);
    for (node u = 0; u < g_.size(); ++u) {
      if (u == v || test(reach_.ancestors[v], u) || test(reach_.descendants[v], u)) continue;
      for (const bool inside : {true, false}) {
        if (inside ? in[u] : out[u]) continue;
        if (patch(v, u, inside)) {
          note(ws.back());
          continue;
        }
        if (!go_on_()) return outcome::stopped;
        if (solve(v, inside ? u : none, inside ? none : u)) {
          note(ws.back());
          continue;
        }
        if (inside) add_edge(v, u);
        else if (test(reach_.descendants[v], u)) return outcome::refuted;  // neither before nor after v
        else add_edge(u, v);
        break;
      }
    }
    // Edges just found may have voided witnesses; the next round sees to it.
    return outcome::open;
  }

  /// Whether a set is still one that can have run when v runs.
  bool legal(const std::vector<word>& set, node v) const {
    if (!subset(reach_.ancestors[v], set)) return false;
    for (const auto& [from, to] : edges_)
      if (test(set, to) && !test(set, from)) return false;
    const auto later = reach_.descendants[v];
    for (std::size_t k = 0; k < set.size(); ++k)
      if ((set[k] & later[k]) != 0) return false;
    return true;
  }

  delta height(node v, const_bit_row set) const {
    delta h = static_cast<delta>(g_.base) + g_.cost[v].peak;
    for_each_bit(set, [&](std::size_t u) { h += g_.cost[u].impact; });
    for (const credit& c : g_.credits[v]) {
      const auto readers = g_.preds[c.release];
      if (std::all_of(readers.begin(), readers.end(), [&](node r) { return r == v || test(set, r); })) h -= c.amount;
    }
    return h;
  }

  /// Tries to make a witness with u (or without) from the lowest that there is.
  bool patch(node v, node u, bool inside) {
    auto& ws = witnesses_[v];
    const auto& from = *std::min_element(ws.begin(), ws.end(), [](const auto& a, const auto& b) { return a.height < b.height; });
    std::vector<word> set = from.set;
    const auto related = inside ? reach_.ancestors[u] : reach_.descendants[u];
    for (std::size_t k = 0; k < set.size(); ++k) inside ? set[k] |= related[k] : set[k] &= ~related[k];
    inside ? memsched::set(set, u) : reset(set, u);
    if (!legal(set, v)) return false;
    const delta h = height(v, set);
    if (h > bound_) return false;
    ws.push_back({std::move(set), h});
    return true;
  }

  /// The lowest set in which v can run with `in` having run and `out` not; a new witness where it is low enough.
  bool solve(node v, node in, node out) {
    std::vector<word> set(reach_.ancestors[v].begin(), reach_.ancestors[v].end());
    bit_set later(g_.size());
    unite(later, reach_.descendants[v]);
    later.insert(v);
    if (in != none) unite(set, reach_.ancestors[in]), memsched::set(set, in);
    if (out != none) unite(later, reach_.descendants[out]), later.insert(out);
    const const_bit_row never = later;
    closure_.clear();
    free_.clear();
    for (node u = 0; u < g_.size(); ++u)
      if (!test(set, u) && !test(never, u)) local_[u] = closure_.add(g_.cost[u].impact), free_.push_back(u);
    for (node u : free_)
      for (node p : preds_[u])
        if (!test(set, p)) closure_.require(local_[p], local_[u]);
    for (const credit& c : g_.credits[v]) {
      const auto readers = g_.preds[c.release];
      if (std::any_of(readers.begin(), readers.end(), [&](node r) { return r != v && test(never, r); })) continue;
      const index gain = closure_.add(-c.amount);
      for (node r : readers)
        if (r != v && !test(set, r)) closure_.require(local_[r], gain);
    }
    closure_.solve();
    for (node u : free_)
      if (closure_.holds(local_[u])) memsched::set(set, u);
    const delta h = height(v, set);
    if (h > bound_) return next_ = std::min(next_, h), false;
    witnesses_[v].push_back({std::move(set), h});
    return true;
  }

  void add_edge(node from, node to) {
    edges_.emplace_back(from, to);
    preds_[to].push_back(from);
    succs_[from].push_back(to);
    const auto above = bits_of(reach_.ancestors[from], from), below = bits_of(reach_.descendants[to], to);
    for_each_bit(above, [&](std::size_t a) { unite(reach_.descendants[a], below); });
    for_each_bit(below, [&](std::size_t b) { unite(reach_.ancestors[b], above); });
  }
  static std::vector<word> bits_of(const_bit_row row, node extra) {
    std::vector<word> bits(row.begin(), row.end());
    memsched::set(bits, extra);
    return bits;
  }

  const schedule_graph& g_;
  function_ref<bool()> go_on_;
  reachability reach_;
  std::vector<std::vector<witness>> witnesses_;
  std::vector<std::vector<node>> succs_, preds_;
  std::vector<precedence> edges_;
  std::vector<index> local_;
  std::vector<node> free_;
  closure_problem closure_;
  delta bound_ = 0, next_ = 0;
};

/// The smallest peak that probing cannot refute, between `low` (known to be a bound) and `high` (a peak that is
/// reached): a lower bound. Gallops up from `low`, then bisects. Stops where `go_on` says no.
inline bytes destructive_bound(const schedule_graph& g, bytes low, bytes high, function_ref<bool()> go_on) {
  bytes open = high;  // not refuted
  for (bytes step = 0; low < open;) {
    const bytes b = std::min(low + step, open - 1);
    probe p(g, go_on);
    const auto outcome = p.run(b);
    if (outcome == probe::outcome::stopped) break;
    if (outcome == probe::outcome::refuted) {
      low = std::max(b + 1, std::min(p.next(), high));
      step = std::max<bytes>(2 * step, (high - low) / 64);
    } else {
      open = b;
      step = (open - low) / 2;
    }
    if (open != high && low < open) step = std::min(step, (open - low) / 2);
  }
  return low;
}

}  // namespace memsched
