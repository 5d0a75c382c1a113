// What makes a minimum-cut bound checkable, and the check, which shares no code with what finds the bound.
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
};

/// Why no order has a peak below `bound`: whatever has run when `v` runs, memory then takes at least `bound`. `ran` is a
/// cheapest such set. The flow proves that it is: it balances what nodes add against what their successors free. In it,
/// size + i stands for the i-th credit of v, a successor of the nodes that must have run for v to have it.
struct cut_certificate {
  bytes bound = 0;
  node v = none;
  std::vector<node> ran;  ///< ascending, releases included
  std::vector<flow_arc> flow;
};

namespace detail {

class certificate_checker {
 public:
  certificate_checker(const schedule_graph& g, const cut_certificate& c) : g_(g), c_(c) {}

  std::string run() {
    if (c_.v >= g_.active) return "its node does not exist";
    before_ = reached(g_.preds);
    after_ = reached(g_.succs);
    if (std::string why = check_ran(); !why.empty()) return why;
    if (std::string why = check_flow(); !why.empty()) return why;
    if (proven() < static_cast<delta>(c_.bound))
      return "the flow proves " + std::to_string(proven()) + ", less than the bound of " + std::to_string(c_.bound);
    return {};
  }

 private:
  std::vector<bool> reached(const adjacency& next) const {
    std::vector<bool> seen(g_.size(), false);
    std::vector<node> left{c_.v};
    while (!left.empty()) {
      const node u = left.back();
      left.pop_back();
      for (node x : next[u])
        if (!seen[x]) seen[x] = true, left.push_back(x);
    }
    return seen;
  }
  bool free(node u) const { return u != c_.v && !before_[u] && !after_[u]; }

  /// Whether v can have the i-th credit, and bytes of it.
  bool possible(std::size_t i) const {
    const auto readers = g_.preds[g_.credits[c_.v][i].release];
    return std::none_of(readers.begin(), readers.end(), [&](node r) { return after_[r]; });
  }

  /// `ran` is a set that can have run when v runs, and leads to the bound.
  std::string check_ran() const {
    std::vector<bool> ran(g_.size(), false);
    delta level = static_cast<delta>(g_.base) + g_.cost[c_.v].peak;
    for (node u : c_.ran) {
      if (u >= g_.size() || u == c_.v || ran[u]) return "its set names a node that does not exist, v, or one twice";
      ran[u] = true;
      level += g_.cost[u].impact;
    }
    const auto complete = [&](node u) {
      return std::all_of(g_.preds[u].begin(), g_.preds[u].end(), [&](node p) { return ran[p]; });
    };
    if (!complete(c_.v) || !std::all_of(c_.ran.begin(), c_.ran.end(), complete)) return "its set lacks a predecessor of a member";
    for (const credit& k : g_.credits[c_.v]) {
      const auto readers = g_.preds[k.release];
      if (std::all_of(readers.begin(), readers.end(), [&](node r) { return r == c_.v || ran[r]; })) level -= k.amount;
    }
    return std::max<delta>(level, 0) == static_cast<delta>(c_.bound) ? "" : "its set leads to " + std::to_string(level) + ", not to the bound";
  }

  /// The flow runs along edges among what may run before or after v, and no node sends more than it adds and receives.
  std::string check_flow() {
    const auto credits = g_.credits[c_.v];
    absorbed_.assign(g_.size() + credits.size(), 0);
    for (const flow_arc& a : c_.flow) {
      if (a.amount <= 0 || a.amount > static_cast<delta>(max_total)) return "the flow has an amount out of range";
      if (a.from >= g_.size() || !free(a.from) || a.to >= absorbed_.size()) return "the flow leaves the undecided nodes";
      if (a.to < g_.size() && !free(a.to)) return "the flow leaves the undecided nodes";
      const auto from = a.to < g_.size() ? g_.preds[a.to] : g_.preds[credits[a.to - g_.size()].release];
      if (std::find(from.begin(), from.end(), a.from) == from.end()) return "the flow runs where there is no edge";
      absorbed_[a.from] -= a.amount;
      absorbed_[a.to] += a.amount;
    }
    for (node u = 0; u < g_.size(); ++u)
      if (-absorbed_[u] > std::max<delta>(g_.cost[u].impact, 0)) return "node " + std::to_string(u) + " sends more than it adds";
    return {};
  }

  /// Bytes below which memory cannot be: what must have run, less what can be freed beyond what the flow balances.
  delta proven() const {
    delta level = static_cast<delta>(g_.base) + g_.cost[c_.v].peak;
    const auto free_up = [&](delta amount, std::size_t at) { level += std::min<delta>(0, absorbed_[at] - amount); };
    for (node u = 0; u < g_.size(); ++u) {
      if (before_[u]) level += g_.cost[u].impact;
      else if (free(u) && g_.cost[u].impact < 0) free_up(-g_.cost[u].impact, u);
    }
    const auto credits = g_.credits[c_.v];
    for (std::size_t i = 0; i < credits.size(); ++i)
      if (possible(i)) free_up(credits[i].amount, g_.size() + i);
    return std::max<delta>(level, 0);
  }

  const schedule_graph& g_;
  const cut_certificate& c_;
  std::vector<bool> before_, after_;
  std::vector<delta> absorbed_;
};

}  // namespace detail

/// Why c does not prove that every order of g has a peak of at least c.bound; empty where it does. Sound for any c: sets of
/// nodes that can have run are closed under predecessors, so no flow enters them, and their impacts sum to at least what
/// the flow leaves unmet. O(nodes + edges + arcs * predecessors).
inline std::string check_certificate(const schedule_graph& g, const cut_certificate& c) {
  return detail::certificate_checker(g, c).run();
}

}  // namespace memsched
