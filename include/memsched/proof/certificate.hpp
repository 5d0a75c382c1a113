// What makes a lower bound checkable, and the check, which shares no code with what finds the bound.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Bytes that a flow carries from a node to one of its successors.
struct flow_arc {
  node_id from = none, to = none;
  delta amount = 0;
  auto operator<=>(const flow_arc&) const = default;
};

/// A rule of compression (Fradet et al., section 4): some order with the smallest peak runs `first` right before `second`
/// (C1, C2: one node from then on, `second` or `first`; the other stays as one that costs nothing) or somewhere before it
/// (S1, S2).
struct reduction {
  enum class rule : unsigned char { c1, c2, s1, s2 };
  rule by = rule::c1;
  node_id first = none, second = none;
  auto operator<=>(const reduction&) const = default;
};

/// What memory must take when v runs, were it not for the order that this step derives. What has run then is a set E with
/// all that v waits for and nothing that waits for v. Any E takes `level` at least if, moreover,
/// * it holds `other`, which shows that every order with a smaller peak runs v before `other` (`v_first`), or
/// * it lacks `other`, which shows that every order with a smaller peak runs `other` before v, or
/// * there is no `other`, which shows that no order has a smaller peak.
/// The flow proves it: it balances what nodes add against what their successors free. In it, size + i stands for the i-th
/// credit of v, a successor of the nodes that must have run for v to have it.
struct cut_step {
  node_id v = none, other = none;
  bool v_first = false;
  bytes level = 0;
  std::vector<flow_arc> flow{};         ///< ascending
  std::vector<reduction> reductions{};  ///< that come before the step
  bool operator==(const cut_step&) const = default;
};

/// Sets of nodes that no order with a peak below `level` leaves: such an order would run through one of them, and from each
/// of them through a larger one, but none holds all nodes. A set is grown: what has run before it, one more node, and then
/// all idle nodes that are ready, again and again (what idle nodes are, and why they may: docs/proofs.md, sections 5 and 6).
/// The first set, number 0, is grown from nothing; `sets` are the others, numbered from 1.
struct set_family {
  struct grown_set {
    index_t from = 0;  ///< the number of a set before it
    node_id by = none;
    auto operator<=>(const grown_set&) const = default;
  };
  bytes level = 0;
  std::vector<reduction> reductions{};  ///< that come before it
  std::vector<grown_set> sets{};
  bool operator==(const set_family&) const = default;
};

/// Why no order has a peak below `bound`, the lowest level of the steps and the family. Each step holds in the graph with
/// the reductions and the order of those before it, and so does the family, which ends the proof. Where there is none, the
/// last step does, which has no `other`. Without either: what is live at the start or the end.
struct certificate {
  bytes bound = 0;
  std::vector<cut_step> steps{};
  std::optional<set_family> family{};
  bool operator==(const certificate&) const = default;
};

namespace detail {

class certificate_checker {
  using node_set = std::vector<bool>;
  using lists = std::vector<std::vector<node_id>>;

 public:
  explicit certificate_checker(const schedule_graph& g)
      : g_(g), cost_(g.cost), preds_(g.size()), succs_(g.size()), merged_(g.size()), in_credit_(g.size()) {
    for (node_id v = 0; v < g.size(); ++v) {
      for (node_id u : g.preds[v]) add_edge(u, v);
      for (const credit& k : g.credits[v]) {
        in_credit_[k.release] = true;
        for (node_id r : g.preds[k.release]) in_credit_[r] = true;
      }
    }
  }

  std::string run(const certificate& c) {
    bytes bound = c.family ? c.family->level : c.steps.empty() ? std::max(g_.base, level_at_end()) : c.steps[0].level;
    for (std::size_t i = 0; i < c.steps.size(); ++i) {
      const cut_step& s = c.steps[i];
      const std::string place = "steps[" + std::to_string(i) + "]";
      if (const std::string why = apply(s.reductions); !why.empty()) return place + why;
      if ((s.other == none) != (!c.family && i + 1 == c.steps.size()))
        return place + ": must give an order, and what ends the proof none";
      if (const std::string why = apply(s); !why.empty()) return place + ": " + why;
      bound = std::min(bound, s.level);
    }
    if (c.family) {
      if (const std::string why = apply(c.family->reductions); !why.empty()) return "family" + why;
      if (const std::string why = check_family(*c.family); !why.empty()) return "family" + why;
    }
    if (bound == c.bound) return {};
    return "bound: is " + std::to_string(c.bound) + ", but what is proven is " + std::to_string(bound);
  }

  std::string apply(const std::vector<reduction>& list) {
    for (std::size_t k = 0; k < list.size(); ++k)
      if (const std::string why = apply(list[k]); !why.empty()) return ".reductions[" + std::to_string(k) + "]: " + why;
    return {};
  }

  // Reductions. They look past what was merged into another node, costs nothing and may run anywhere, and, where they look
  // at what must run before, past nodes that only free memory and may run as soon as they are ready.

  std::string apply(const reduction& r) {
    using rule = reduction::rule;
    const auto [by, a, b] = r;
    if (a >= g_.size() || b >= g_.size() || a == b) return "names a node that does not exist, or one twice";
    if (merged_[a] || merged_[b]) return "names a node that was merged into another";
    if (in_credit_[a] || in_credit_[b]) return "names a node with a part in a credit";
    const node_cost ca = cost_[a], cb = cost_[b];
    const delta drop_a = ca.peak - ca.impact, drop_b = cb.peak - cb.impact;
    const node_set before_a = reached(a, preds_), before_b = reached(b, preds_);
    const node_set after_a = reached(a, succs_), after_b = reached(b, succs_);
    const node_set idle = idle_nodes();
    const bool ordered = after_a[b];
    const auto applies = [&, a = a, b = b, by = by] {
      if (by == rule::c1) return ordered && ca.impact >= 0 && drop_a <= cb.peak && covers(after_b, b, after_a, merged_);
      if (by == rule::c2) return ordered && cb.impact <= 0 && cb.peak <= drop_a && covers(before_a, a, before_b, idle);
      if (by == rule::s1) return !ordered && ca.impact <= 0 && ca.peak <= cb.peak && covers(before_b, none, before_a, idle);
      return !ordered && cb.impact >= 0 && drop_b <= drop_a && covers(after_a, none, after_b, merged_);
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
  /// Whether `larger`, with v where there is one, holds all of `smaller` but for what may be looked past.
  bool covers(const node_set& larger, node_id v, const node_set& smaller, const node_set& past) const {
    for (node_id u = 0; u < g_.size(); ++u)
      if (smaller[u] && !larger[u] && u != v && !past[u]) return false;
    return true;
  }

  /// Nodes that may run as soon as they are ready: they need no room, add none, and change no credit.
  node_set idle_nodes() const {
    node_set idle = merged_;
    for (node_id u = 0; u < g_.size(); ++u)
      if (cost_[u].peak == 0 && cost_[u].impact <= 0 && (g_.is_release(u) || !in_credit_[u])) idle[u] = true;
    return idle;
  }

  // Sets.

  std::string check_family(const set_family& f) const {
    const node_set idle = idle_nodes();
    std::vector<node_set> sets{with_idle(node_set(g_.size()), idle)};
    for (std::size_t i = 0; i < f.sets.size(); ++i) {
      const auto [from, by] = f.sets[i];
      if (from > i || by >= g_.size() || !is_ready(by, sets[from]))
        return ".sets[" + std::to_string(i) + "]: grows from no set before it by a node that is ready there";
      node_set grown = sets[from];
      grown[by] = true;
      sets.push_back(with_idle(std::move(grown), idle));
    }
    const std::set<node_set> known(sets.begin(), sets.end());
    for (std::size_t i = 0; i < sets.size(); ++i)
      if (const std::string why = check_set(sets[i], known, idle, f.level); !why.empty())
        return ": set " + std::to_string(i) + why;
    return {};
  }

  /// Whether an order below the level can only go on, or may go on, into a larger set.
  std::string check_set(const node_set& ran, const std::set<node_set>& known, const node_set& idle, bytes level) const {
    if (std::find(ran.begin(), ran.end(), false) == ran.end()) return " holds all nodes";
    delta here = static_cast<delta>(g_.base);
    for (node_id u = 0; u < g_.size(); ++u)
      if (ran[u]) here += cost_[u].impact;
    std::string left;
    for (node_id v = 0; v < g_.size(); ++v) {
      if (!is_ready(v, ran) || here + peak_behind(v, ran) >= static_cast<delta>(level)) continue;
      node_set grown = ran;
      grown[v] = true;
      const bool leads = known.contains(with_idle(std::move(grown), idle));
      if (leads && cost_[v].impact <= 0) return {};
      if (!leads && left.empty()) left = ": node " + std::to_string(v) + " leads out of the family";
    }
    return left;
  }

  bool is_ready(node_id v, const node_set& ran) const {
    return !ran[v] && std::all_of(preds_[v].begin(), preds_[v].end(), [&](node_id u) { return ran[u]; });
  }
  /// v's peak, less its credits whose other readers have run.
  delta peak_behind(node_id v, const node_set& ran) const {
    delta peak = cost_[v].peak;
    for (const credit& k : g_.credits[v]) {
      const auto readers = g_.preds[k.release];
      if (std::all_of(readers.begin(), readers.end(), [&](node_id r) { return r == v || ran[r]; })) peak -= k.amount;
    }
    return peak;
  }
  node_set with_idle(node_set ran, const node_set& idle) const {
    for (bool more = true; more;) {
      more = false;
      for (node_id u = 0; u < g_.size(); ++u)
        if (idle[u] && is_ready(u, ran)) ran[u] = more = true;
    }
    return ran;
  }

  // Steps.

  std::string apply(const cut_step& s) {
    const auto [v, u] = std::pair(s.v, s.other);
    if (v >= g_.size() || u == v || (u >= g_.size() && u != none)) return "names a node that does not exist, or one twice";
    if (g_.is_release(v) && in_credit_[v]) return "v runs within the step of another node";
    before_ = reached(v, preds_);
    after_ = reached(v, succs_);
    if (u != none) {
      if (before_[u] || after_[u]) return "they are ordered already";
      join(s.v_first ? before_ : after_, u, reached(u, s.v_first ? preds_ : succs_));
    }
    after_[v] = true;
    if (std::string why = check_flow(s); !why.empty()) return why;
    if (u != none) s.v_first ? add_edge(v, u) : add_edge(u, v);
    return {};
  }

  /// Sets that can have run are closed under predecessors, so that no flow enters them. What the undecided nodes in such a
  /// set add to memory is therefore what they keep (what they add and receive, less what they send) plus what leaves the
  /// set: no less than the sum over all undecided nodes that keep less than nothing.
  std::string check_flow(const cut_step& s) {
    const auto credits = g_.credits[s.v];
    delta level = static_cast<delta>(g_.base) + cost_[s.v].peak;
    std::vector<delta> keeps(g_.size() + credits.size(), 0);
    for (node_id u = 0; u < g_.size(); ++u) {
      if (before_[u]) level += cost_[u].impact;
      else if (!after_[u]) keeps[u] = cost_[u].impact;
    }
    for (std::size_t i = 0; i < credits.size(); ++i)
      if (possible(s.v, credits[i])) keeps[g_.size() + i] = -credits[i].amount;

    node_set sends(keeps.size()), receives(keeps.size());
    for (std::size_t i = 0; i < s.flow.size(); ++i) {
      const auto& [from, to, amount] = s.flow[i];
      if (i > 0 && std::pair(s.flow[i - 1].from, s.flow[i - 1].to) >= std::pair(from, to)) return "the flow is not sorted";
      if (amount <= 0 || amount > limit) return "the flow has an amount out of range";
      if (!has_arc(s.v, from, to)) return "the flow leaves the edges between undecided nodes";
      keeps[from] -= amount, keeps[to] += amount;
      sends[from] = receives[to] = true;
      if (keeps[from] < -limit || keeps[to] > limit) return "the flow has sums out of range";
    }
    for (std::size_t u = 0; u < keeps.size(); ++u) {  // the first two only so that a changed flow is noticed
      if (receives[u] && keeps[u] > 0) return "node " + std::to_string(u) + " receives what it does not need";
      if (sends[u] && keeps[u] < 0) return "node " + std::to_string(u) + " sends what it needs";
      level += std::min<delta>(keeps[u], 0);
    }
    if (std::max<delta>(level, 0) == static_cast<delta>(s.level)) return {};
    return "level: is " + std::to_string(s.level) + ", but what the flow proves is " + std::to_string(level);
  }

  /// Whether an edge between undecided nodes, or from one to a credit that v may have, leads from `from` to `to`.
  bool has_arc(node_id v, node_id from, node_id to) const {
    if (from >= g_.size() || !undecided(from)) return false;
    if (to < g_.size()) return undecided(to) && contains(preds_[to], from);
    const auto credits = g_.credits[v];
    const std::size_t i = to - g_.size();
    return i < credits.size() && possible(v, credits[i]) && contains(g_.preds[credits[i].release], from);
  }
  bool undecided(node_id u) const { return !before_[u] && !after_[u]; }
  /// Whether all other readers can have run before v.
  bool possible(node_id v, const credit& k) const {
    const auto readers = g_.preds[k.release];
    return std::none_of(readers.begin(), readers.end(), [&](node_id r) { return r != v && after_[r]; });
  }

  // The graph and sets of its nodes.

  void add_edge(node_id from, node_id to) {
    preds_[to].push_back(from);
    succs_[from].push_back(to);
  }
  /// All that is reached from v, which is not.
  node_set reached(node_id v, const lists& next) const {
    node_set seen(g_.size());
    std::vector<node_id> left{v};
    while (!left.empty()) {
      const node_id u = left.back();
      left.pop_back();
      for (node_id x : next[u])
        if (!seen[x]) seen[x] = true, left.push_back(x);
    }
    return seen;
  }
  static void join(node_set& into, node_id v, const node_set& more) {
    for (std::size_t u = 0; u < into.size(); ++u)
      if (more[u] || u == v) into[u] = true;
  }
  template <class List>
  static bool contains(const List& list, node_id v) {
    return std::find(list.begin(), list.end(), v) != list.end();
  }
  bytes level_at_end() const {
    delta level = static_cast<delta>(g_.base);
    for (const node_cost& c : g_.cost) level += c.impact;
    return static_cast<bytes>(std::max<delta>(level, 0));
  }

  static constexpr delta limit = static_cast<delta>(max_total);
  const schedule_graph& g_;
  std::vector<node_cost> cost_;
  lists preds_, succs_;
  node_set merged_, in_credit_;
  node_set before_, after_;  // of a step: what must have run when v runs, and what cannot
};

}  // namespace detail

/// Why c does not prove that every order of g has a peak of at least c.bound; empty where it does. Sound for any c.
/// O((reductions + steps) * (nodes + edges) + arcs * predecessors + sets * nodes * (nodes + edges)).
inline std::string check_certificate(const schedule_graph& g, const certificate& c) {
  return detail::certificate_checker(g).run(c);
}

}  // namespace memsched
