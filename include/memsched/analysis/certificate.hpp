// What makes a lower bound checkable, and the check, which shares no code with what finds the bound.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>

namespace memsched {

/// Bytes that a flow carries from a node to one of its successors.
struct flow_arc {
  node from = none, to = none;
  delta amount = 0;
  auto operator<=>(const flow_arc&) const = default;
};

/// A rule of compression (Fradet et al., section 4): some order with the smallest peak runs `first` right before `second`
/// (C1, C2: one node from then on, `second` or `first`; the other stays as one that costs nothing) or somewhere before it
/// (S1, S2).
struct reduction {
  enum class rule : unsigned char { c1, c2, s1, s2 };
  rule by = rule::c1;
  node first = none, second = none;
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
  node v = none, other = none;
  bool v_first = false;
  bytes level = 0;
  std::vector<flow_arc> flow{};  ///< ascending
  bool operator==(const cut_step&) const = default;
};

/// Why no order has a peak below `bound`, the lowest level of the steps. Each step holds in the graph with the reductions
/// and the order of the steps before it; the last one has no `other`. Without steps: what is live at the start or the end.
struct certificate {
  bytes bound = 0;
  std::vector<reduction> reductions{};
  std::vector<cut_step> steps{};
  bool operator==(const certificate&) const = default;
};

namespace detail {

class certificate_checker {
  using node_set = std::vector<bool>;

 public:
  explicit certificate_checker(const schedule_graph& g)
      : g_(g), cost_(g.cost), preds_(g.size()), succs_(g.size()), merged_(g.size()), in_credit_(g.size()) {
    for (node v = 0; v < g.size(); ++v) {
      for (node u : g.preds[v]) add_edge(u, v);
      for (const credit& k : g.credits[v]) {
        in_credit_[k.release] = true;
        for (node r : g.preds[k.release]) in_credit_[r] = true;
      }
    }
  }

  std::string run(const certificate& c) {
    for (std::size_t i = 0; i < c.reductions.size(); ++i)
      if (std::string why = check(c.reductions[i]); !why.empty()) return "reductions[" + std::to_string(i) + "]: " + why;
    bytes bound = std::max(g_.base, level_at_end());
    for (std::size_t i = 0; i < c.steps.size(); ++i) {
      std::string why = check(c.steps[i]);
      if (why.empty() && (c.steps[i].other == none) != (i + 1 == c.steps.size())) why = "the last step alone must derive no order";
      if (!why.empty()) return "steps[" + std::to_string(i) + "]: " + why;
      bound = i == 0 ? c.steps[i].level : std::min(bound, c.steps[i].level);
    }
    if (bound == c.bound) return {};
    return "bound: is " + std::to_string(c.bound) + ", but " + std::to_string(bound) + " is what is proven";
  }

 private:
  // Compression.

  /// Some order of any that keep below a peak still does under the rule. What was merged away costs nothing, so that it may
  /// run anywhere, and conditions on neighbours look past it.
  std::string check(const reduction& r) {
    using rule = reduction::rule;
    const auto [by, a, b] = r;
    if (a >= g_.size() || b >= g_.size() || a == b) return "names a node that does not exist, or one twice";
    if (merged_[a] || merged_[b]) return "names a node that was merged away";
    if (in_credit_[a] || in_credit_[b]) return "names a node with a part in a credit";
    const node_cost ca = cost_[a], cb = cost_[b];
    const delta drop_a = ca.peak - ca.impact, drop_b = cb.peak - cb.impact;
    const bool merges = by == rule::c1 || by == rule::c2, forward = by == rule::c1 || by == rule::s2;
    const node_set of_a = reached({a}, forward ? succs_ : preds_), of_b = reached({b}, forward ? succs_ : preds_);
    if (merges != (forward ? of_a[b] : of_b[a])) return merges ? "second does not wait for first" : "they are ordered already";
    const bool fits = by == rule::c1   ? ca.impact >= 0 && drop_a <= cb.peak && covers(of_b, b, of_a)
                      : by == rule::c2 ? cb.impact <= 0 && cb.peak <= drop_a && covers(of_a, a, of_b)
                      : by == rule::s1 ? ca.impact <= 0 && ca.peak <= cb.peak && covers(of_b, none, of_a)
                                       : cb.impact >= 0 && drop_b <= drop_a && covers(of_a, none, of_b);
    if (!fits) return "its rule does not apply";
    if (!merges) return add_edge(a, b), "";
    const node gone = by == rule::c1 ? a : b;
    cost_[by == rule::c1 ? b : a] = {std::max(ca.peak, ca.impact + cb.peak), ca.impact + cb.impact};
    cost_[gone] = {};
    merged_[gone] = true;
    return {};
  }

  /// Whether `larger` has all of `smaller` but for v, where there is one, and for what was merged away.
  bool covers(const node_set& larger, node v, const node_set& smaller) const {
    for (node u = 0; u < g_.size(); ++u)
      if (smaller[u] && !larger[u] && u != v && !merged_[u]) return false;
    return true;
  }

  // Cuts.

  std::string check(const cut_step& s) {
    if (s.v >= g_.size() || s.other == s.v || (s.other >= g_.size() && s.other != none)) return "names a node that does not exist, or one twice";
    if (g_.is_release(s.v) && in_credit_[s.v]) return "v runs within the step of another node";
    const bool inside = s.other != none && s.v_first, outside = s.other != none && !s.v_first;
    before_ = reached({s.v}, preds_);
    after_ = reached({s.v}, succs_);
    if (s.other != none && (before_[s.other] || after_[s.other])) return "they are ordered already";
    after_[s.v] = true;
    if (inside) join(before_, s.other, preds_);
    if (outside) join(after_, s.other, succs_);
    if (std::string why = check_flow(s); !why.empty()) return why;
    if (inside) add_edge(s.v, s.other);
    if (outside) add_edge(s.other, s.v);
    return {};
  }

  void join(node_set& set, node u, const std::vector<std::vector<node>>& next) const {
    const node_set more = reached({u}, next);
    for (node x = 0; x < g_.size(); ++x)
      if (more[x] || x == u) set[x] = true;
  }

  /// Sets that can have run are closed under predecessors, so that no flow enters them from outside. What such a set of
  /// undecided nodes adds is therefore what its nodes keep, each what it adds and receives less what it sends, and what
  /// leaves the set; no less than the sum over all undecided nodes that keep less than nothing.
  std::string check_flow(const cut_step& s) {
    const auto credits = g_.credits[s.v];
    kept_.assign(g_.size() + credits.size(), 0);
    node_set sends(kept_.size()), receives(kept_.size());
    delta level = static_cast<delta>(g_.base) + cost_[s.v].peak;
    for (node u = 0; u < g_.size(); ++u) (before_[u] ? level : kept_[u]) += after_[u] ? 0 : cost_[u].impact;
    for (std::size_t i = 0; i < credits.size(); ++i)
      if (possible(s.v, credits[i])) kept_[g_.size() + i] = -credits[i].amount;
    for (std::size_t i = 0; i < s.flow.size(); ++i) {
      const auto& [from, to, amount] = s.flow[i];
      if (i > 0 && std::pair(s.flow[i - 1].from, s.flow[i - 1].to) >= std::pair(from, to)) return "the flow is not sorted";
      if (amount <= 0 || amount > static_cast<delta>(max_total)) return "the flow has an amount out of range";
      if (from >= g_.size() || to >= kept_.size()) return "the flow names a node that does not exist";
      const bool to_credit = to >= g_.size();
      if (!undecided(from) || !(to_credit ? possible(s.v, credits[to - g_.size()]) : undecided(to))) return "the flow leaves the undecided nodes";
      const auto& tails = preds_[to_credit ? credits[to - g_.size()].release : to];
      if (std::find(tails.begin(), tails.end(), from) == tails.end()) return "the flow runs where there is no edge";
      kept_[from] -= amount, kept_[to] += amount;
      sends[from] = receives[to] = true;
      if (std::max(-kept_[from], kept_[to]) > limit) return "the flow has sums out of range";
    }
    // This makes a flow nearly the only one of its kind, so that hardly a change goes unnoticed.
    for (node u = 0; u < kept_.size(); ++u)
      if ((sends[u] && kept_[u] < 0) || (receives[u] && kept_[u] > 0)) return "node " + std::to_string(u) + " passes on too much or too little";
    for (delta kept : kept_) level += std::min<delta>(kept, 0);
    if (std::max<delta>(level, 0) == static_cast<delta>(s.level)) return {};
    return "level: is " + std::to_string(s.level) + ", but " + std::to_string(level) + " is what the flow proves";
  }

  bool undecided(node u) const { return !before_[u] && !after_[u]; }
  /// Whether v may be the last reader that frees a credit.
  bool possible(node v, const credit& k) const {
    const auto readers = g_.preds[k.release];
    return std::none_of(readers.begin(), readers.end(), [&](node r) { return r != v && after_[r]; });
  }

  // The graph.

  void add_edge(node from, node to) {
    preds_[to].push_back(from);
    succs_[from].push_back(to);
  }

  /// All that is reached from some nodes, themselves left out.
  node_set reached(std::vector<node> from, const std::vector<std::vector<node>>& next) const {
    node_set seen(g_.size());
    while (!from.empty()) {
      const node u = from.back();
      from.pop_back();
      for (node x : next[u])
        if (!seen[x]) seen[x] = true, from.push_back(x);
    }
    return seen;
  }

  bytes level_at_end() const {
    delta level = static_cast<delta>(g_.base);
    for (const node_cost& c : g_.cost) level += c.impact;
    return static_cast<bytes>(level);
  }

  static constexpr delta limit = 2 * static_cast<delta>(max_total);
  const schedule_graph& g_;
  std::vector<node_cost> cost_;
  std::vector<std::vector<node>> preds_, succs_;
  node_set merged_, in_credit_, before_, after_;
  std::vector<delta> kept_;
};

}  // namespace detail

/// Why c does not prove that every order of g has a peak of at least c.bound; empty where it does. Sound for any c.
/// O((reductions + steps) * (nodes + edges) + arcs * predecessors).
inline std::string check_certificate(const schedule_graph& g, const certificate& c) {
  return detail::certificate_checker(g).run(c);
}

}  // namespace memsched
