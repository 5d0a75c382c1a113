// The graph as a proof changes it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/certificate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

using node_set = std::vector<bool>;

/// A schedule graph to which a proof adds edges and of which it merges nodes. A value; the given graph must outlive it.
class proof_graph {
 public:
  using lists = std::vector<std::vector<node_id>>;

  explicit proof_graph(const schedule_graph& g)
      : g_(&g),
        base_(static_cast<delta>(g.base)),
        cost_(g.cost),
        preds_(g.size()),
        succs_(g.size()),
        merged_(g.size()),
        in_credit_(g.size()) {
    for (node_id v = 0; v < g.size(); ++v) {
      for (node_id u : g.preds[v]) add_edge(u, v);
      for (const auto& k : g.credits[v]) {
        in_credit_[k.release] = true;
        for (node_id r : g.preds[k.release]) in_credit_[r] = true;
      }
    }
  }

  const schedule_graph& given() const { return *g_; }
  std::size_t size() const { return cost_.size(); }
  const node_cost& cost(node_id v) const { return cost_[v]; }
  const std::vector<node_id>& preds(node_id v) const { return preds_[v]; }
  const std::vector<node_id>& succs(node_id v) const { return succs_[v]; }
  bool in_credit(node_id v) const { return in_credit_[v]; }
  const node_set& merged() const { return merged_; }

  void add_edge(node_id from, node_id to) {
    preds_[to].push_back(from);
    succs_[from].push_back(to);
  }
  /// All that comes before v, or after it.
  node_set above(node_id v) const { return reached(v, preds_); }
  node_set below(node_id v) const { return reached(v, succs_); }

  /// Whether a node may run as soon as it is ready: it needs no room, adds none, and changes no credit.
  bool is_idle(node_id u) const {
    return merged_[u] || (cost_[u].peak == 0 && cost_[u].impact <= 0 && (g_->is_release(u) || !in_credit_[u]));
  }
  /// The level before the first node.
  delta base() const { return base_; }
  delta level_at_end() const {
    delta level = base_;
    for (const node_cost& c : cost_) level += c.impact;
    return level;
  }

  /// The graph read backwards: edges turn, and each node undoes its effect. Only if no node has a credit.
  proof_graph mirrored() const {
    proof_graph m = *this;
    m.base_ = level_at_end();
    std::swap(m.preds_, m.succs_);
    for (node_cost& c : m.cost_) c = {c.peak - c.impact, -c.impact};
    return m;
  }

  /// Applies some reductions; returns the place and the fault of one that is wrong.
  std::string apply(const std::vector<proof::reduction>& list) {
    for (std::size_t k = 0; k < list.size(); ++k)
      if (const std::string why = apply(list[k]); !why.empty()) return ".reductions[" + std::to_string(k) + "]: " + why;
    return {};
  }

  /// Reductions look past nodes that were merged into another node, cost nothing and may run anywhere, and, for
  /// predecessors, past idle nodes.
  std::string apply(const proof::reduction& r) {
    using rule = proof::reduction::rule;
    const auto [by, a, b] = r;
    if (a >= size() || b >= size() || a == b) return "names a node that does not exist, or one twice";
    if (merged_[a] || merged_[b]) return "names a node that was merged into another";
    if (in_credit_[a] || in_credit_[b]) return "names a node with a part in a credit";
    const node_cost ca = cost_[a], cb = cost_[b];
    const delta drop_a = ca.peak - ca.impact, drop_b = cb.peak - cb.impact;
    const auto applies = [&, a = a, b = b, by = by] {
      if (by == rule::c1) return ca.impact >= 0 && drop_a <= cb.peak && covers(b, a, true, true);
      if (by == rule::c2) return cb.impact <= 0 && cb.peak <= drop_a && covers(a, b, false, true);
      if (by == rule::s1) return ca.impact <= 0 && ca.peak <= cb.peak && covers(b, a, false, false);
      return cb.impact >= 0 && drop_b <= drop_a && covers(a, b, true, false);
    };
    if (!applies()) return "its rule does not apply";
    if (by == rule::s1 || by == rule::s2) return add_edge(a, b), "";
    const auto [kept, gone] = by == rule::c1 ? std::pair(b, a) : std::pair(a, b);
    cost_[kept] = {std::max(ca.peak, ca.impact + cb.peak), ca.impact + cb.impact};
    cost_[gone] = {};
    merged_[gone] = true;
    return {};
  }

 private:
  node_set reached(node_id v, const lists& next) const {
    node_set seen(size());
    std::vector<node_id> left{v};
    while (!left.empty()) {
      const node_id u = left.back();
      left.pop_back();
      for (node_id x : next[u])
        if (!seen[x]) seen[x] = true, left.push_back(x);
    }
    return seen;
  }
  /// Whether v reaches all that u reaches, but for v itself and nodes that may be looked past; u reaches v if they are to be
  /// `ordered`, and only there; and v does not reach u. Nodes after a node that v reaches, v reaches too, and v is not
  /// after such a node, as the graph has no cycle: so the walk from u ends at the first nodes that may not be looked past.
  bool covers(node_id v, node_id u, bool behind, bool ordered) const {
    const lists& next = behind ? succs_ : preds_;
    node_set seen(size());
    std::vector<node_id> past{u}, first;
    for (std::size_t i = 0; i < past.size(); ++i)
      for (node_id x : next[past[i]]) {
        if (seen[x]) continue;
        seen[x] = true;
        if (x != v) ((behind ? merged_[x] : is_idle(x)) ? past : first).push_back(x);
      }
    if (seen[v] != ordered) return false;
    if (ordered && first.empty()) return true;
    const node_set of_v = reached(v, next);
    return !of_v[u] && std::all_of(first.begin(), first.end(), [&](node_id x) { return of_v[x]; });
  }

  const schedule_graph* g_;
  delta base_;
  std::vector<node_cost> cost_;
  lists preds_, succs_;
  node_set merged_, in_credit_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
