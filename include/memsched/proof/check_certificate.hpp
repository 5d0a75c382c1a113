// The check of a certificate, which shares no code with searches for bounds.
#pragma once

#include <string>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/certificate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Checks that c proves that every order of g has a peak of at least c.bound. Returns the reason if it does not, else an empty
/// string. Sound for any c. O((reductions + steps, a layer's nodes one by one) * (nodes + edges) + arcs * predecessors + sets *
/// (nodes + edges), of events: sets * events * (nodes + edges)), in the window's graph if there is a window; that one O(nodes +
/// edges, times the resources live at its ends / 64).
MEMSCHED_FUNCTION std::string check_certificate(const schedule_graph& g, const certificate& c);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <memsched/proof/check_events.hpp>
#include <memsched/proof/check_family.hpp>
#include <memsched/proof/check_flow.hpp>
#include <memsched/proof/check_positions.hpp>
#include <memsched/proof/check_window.hpp>
#include <memsched/proof/proof_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Checks steps and the family after them, on one graph.
class certificate_checker {
 public:
  explicit certificate_checker(const schedule_graph& g) : given_(g), g_(g) {}

  std::string run(const certificate& c) {
    if (c.steps.empty() && !c.family)
      lowest_ = std::max(given_.base, static_cast<bytes>(std::max<delta>(g_.level_at_end(), 0)));
    if (std::string why = run(c.steps, "", 0); !why.empty()) return why;
    if (refuted_ == (c.family || c.steps.empty())) return ends_wrongly(c.steps, "");
    if (c.family) {
      if (const std::string why = g_.apply(c.family->reductions); !why.empty()) return "family" + why;
      if (c.family->mirrored && given_.credits.items() > 0) return "family: is mirrored, but there are credits";
      const proof_graph seen = c.family->mirrored ? g_.mirrored() : g_;
      if (const std::string why = fault_of(*c.family, seen); !why.empty()) return "family" + why;
      lowest_ = std::min(lowest_, c.family->level);
    }
    return {};
  }
  /// The proven bound.
  bytes bound() const { return lowest_; }

 private:
  static constexpr std::size_t deepest = 64;

  std::string fault_of(const proof::set_family& f, const proof_graph& seen) const {
    if (!f.events) return family_checker(seen).run(f);
    if (given_.credits.items() > 0) return ": is of events, but there are credits";
    return event_checker(seen).run(f);
  }
  static std::string ends_wrongly(const std::vector<proof::proof_step>& steps, const std::string& place) {
    return place + "steps[" + std::to_string(steps.empty() ? 0 : steps.size() - 1) +
           "]: must give an order, and what ends the proof none";
  }

  /// Does some steps. Then `refuted_` says whether the last of them ends the proof.
  std::string run(const std::vector<proof::proof_step>& steps, const std::string& outer, std::size_t depth) {
    refuted_ = false;
    if (depth > deepest) return outer + ": cases are nested too deeply";
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const proof::proof_step& s = steps[i];
      const std::string place = outer + "steps[" + std::to_string(i) + "]";
      if (refuted_) return place + ": the proof has ended";
      if (const std::string why = g_.apply(s.reductions); !why.empty()) return place + why;
      const std::string why = s.cases                ? split(s, place, depth)
                              : !s.layer.empty()     ? apply_layer(s)
                              : !s.positions.empty() ? apply_positions(s)
                                                     : apply(s);
      if (!why.empty()) return s.cases ? why : place + ": " + why;
    }
    return {};
  }

  // Cases.

  std::string split(const proof::proof_step& s, const std::string& place, std::size_t depth) {
    if (const std::string why = check_names(s); !why.empty()) return place + ": " + why;
    if (s.other == none || s.v_first || s.level != 0 || !s.flow.empty() || !s.layer.empty() || !s.positions.empty())
      return place + ": two cases have two nodes, and no flow";
    if (g_.above(s.v)[s.other] || g_.below(s.v)[s.other]) return place + ": they are ordered already";
    const proof_graph outside = g_;
    bool refuted_both = true;
    for (const bool first : {true, false}) {
      const auto [a, b] = first ? std::pair(s.v, s.other) : std::pair(s.other, s.v);
      g_.add_edge(a, b);
      const auto& steps = first ? s.then : s.otherwise;
      const std::string within = place + (first ? ".then." : ".else.");
      if (std::string why = run(steps, within, depth + 1); !why.empty()) return why;
      if (!refuted_) {
        refuted_both = false;
        if (g_.merged() != outside.merged()) return within + "steps: merge nodes, and do not end the proof";
        for (const precedence& e : s.edges)
          if (e.before >= g_.size() || e.after >= g_.size() || !g_.below(e.before)[e.after])
            return place + ".edges: one does not follow";
      }
      g_ = outside;
    }
    if (refuted_both && !s.edges.empty()) return place + ".edges: the proof has ended";
    if (!refuted_both && s.edges.empty()) return place + ".edges: nothing follows";
    for (const precedence& e : s.edges) {
      if (e.before >= g_.size() || e.after >= g_.size() || e.before == e.after)
        return place + ".edges: names a node that does not exist, or one twice";
      g_.add_edge(e.before, e.after);
    }
    refuted_ = refuted_both;
    return {};
  }

  // Cuts.

  std::string check_names(const proof::proof_step& s) const {
    const auto [v, u] = std::pair(s.v, s.other);
    if (v >= g_.size() || u == v || (u >= g_.size() && u != none)) return "names a node that does not exist, or one twice";
    return {};
  }

  std::string apply(const proof::proof_step& s) {
    const auto [v, u] = std::pair(s.v, s.other);
    if (!s.then.empty() || !s.otherwise.empty() || !s.edges.empty()) return "a cut has no cases";
    if (std::string why = check_names(s); !why.empty()) return why;
    before_ = g_.above(v);
    after_ = g_.below(v);
    if (u != none) {
      if (before_[u] || after_[u]) return "they are ordered already";
      join(s.v_first ? before_ : after_, u, s.v_first ? g_.above(u) : g_.below(u));
    }
    after_[v] = true;
    delta level = 0;
    if (std::string why = check_flow(v, s.flow, level); !why.empty()) return why;
    if (std::string why = check_level(s, level); !why.empty()) return why;
    if (u != none) s.v_first ? g_.add_edge(v, u) : g_.add_edge(u, v);
    refuted_ = u == none;
    return {};
  }

  // Layers: some member runs first, with none before it, or last, with none after it.

  std::string apply_layer(const proof::proof_step& s) {
    if (s.v != none || s.other != none || !s.flow.empty() || !s.then.empty() || !s.otherwise.empty() || !s.edges.empty() ||
        !s.positions.empty())
      return "a layer has members, and nothing else";
    node_set around(g_.size());  // the members and all nodes after one; or before one, for the last
    for (std::size_t i = 0; i < s.layer.size(); ++i) {
      const node_id v = s.layer[i].v;
      if (v >= g_.size() || (i > 0 && s.layer[i - 1].v >= v)) return "names a node that does not exist, or not in order";
      join(around, v, s.v_first ? g_.below(v) : g_.above(v));
    }
    delta least = std::numeric_limits<delta>::max();
    for (const auto& [v, flow] : s.layer) {
      before_ = s.v_first ? g_.above(v) : around;
      after_ = s.v_first ? around : g_.below(v);
      if (overlap(before_, after_)) {  // another one comes before it, or after it
        if (flow.empty()) continue;
        return "node " + std::to_string(v) + " has a flow, but is not the one that it is about";
      }
      before_[v] = false, after_[v] = true;
      delta level = 0;
      if (std::string why = check_flow(v, flow, level); !why.empty()) return "node " + std::to_string(v) + ": " + why;
      least = std::min(least, level);
    }
    refuted_ = true;
    return check_level(s, least);
  }

  std::string apply_positions(const proof::proof_step& s) {
    delta level = 0;
    if (std::string why = position_checker(g_).run(s, level, refuted_); !why.empty()) return why;
    for (const precedence& e : s.edges) g_.add_edge(e.before, e.after);
    return check_level(s, level);
  }

  /// Sets that can have run are closed under predecessors, so that no flow enters them. The bytes that the undecided nodes
  /// in such a set add to memory are therefore those that they keep (add and receive, less those sent) plus those that leave
  /// the set: no less than the sum over all undecided nodes that keep less than nothing.
  std::string check_flow(node_id v, const std::vector<proof::flow_arc>& flow, delta& level) {
    if (given_.is_release(v) && g_.in_credit(v)) return "v runs within the step of another node";
    const auto credits = given_.credits[v];
    level = static_cast<delta>(given_.base) + g_.cost(v).peak;
    std::vector<delta> keeps(g_.size() + credits.size(), 0);
    for (node_id u = 0; u < g_.size(); ++u) {
      if (before_[u]) level += g_.cost(u).impact;
      else if (!after_[u]) keeps[u] = g_.cost(u).impact;
    }
    for (std::size_t i = 0; i < credits.size(); ++i)
      if (possible(v, credits[i])) keeps[g_.size() + i] = -credits[i].amount;
    return detail::check_flow(
        flow, std::move(keeps), limit, [&](node_id from, node_id to) { return has_arc(v, from, to); }, level);
  }

  /// Whether that is the step's level, which counts from then on.
  std::string check_level(const proof::proof_step& s, delta proven) {
    lowest_ = std::min(lowest_, s.level);
    if (std::max<delta>(proven, 0) == static_cast<delta>(s.level)) return {};
    return "level: is " + std::to_string(s.level) + ", but what the flow proves is " + std::to_string(proven);
  }

  /// Whether an edge between undecided nodes, or from one to a credit that v may have, leads from `from` to `to`.
  bool has_arc(node_id v, node_id from, node_id to) const {
    if (from >= g_.size() || !undecided(from)) return false;
    if (to < g_.size()) return undecided(to) && contains(g_.preds(to), from);
    const auto credits = given_.credits[v];
    const std::size_t i = to - g_.size();
    return i < credits.size() && possible(v, credits[i]) && contains(given_.preds[credits[i].release], from);
  }
  bool undecided(node_id u) const { return !before_[u] && !after_[u]; }
  /// Whether all other readers can have run before v.
  bool possible(node_id v, const schedule_graph::credit& k) const {
    const auto readers = given_.preds[k.release];
    return std::none_of(readers.begin(), readers.end(), [&](node_id r) { return r != v && after_[r]; });
  }
  static void join(node_set& into, node_id v, const node_set& more) {
    for (std::size_t u = 0; u < into.size(); ++u)
      if (more[u] || u == v) into[u] = true;
  }
  static bool overlap(const node_set& a, const node_set& b) {
    for (std::size_t u = 0; u < a.size(); ++u)
      if (a[u] && b[u]) return true;
    return false;
  }
  template <class List>
  static bool contains(const List& list, node_id v) {
    return std::find(list.begin(), list.end(), v) != list.end();
  }

  static constexpr delta limit = static_cast<delta>(base::max_total);
  const schedule_graph& given_;
  proof_graph g_;
  node_set before_, after_;  // of a cut: nodes that must have run when v runs, and those that cannot
  bytes lowest_ = static_cast<bytes>(-1);
  bool refuted_ = false;
};

}  // namespace detail

MEMSCHED_FUNCTION std::string check_certificate(const schedule_graph& g, const certificate& c) {
  const auto compared = [&](bytes bound) -> std::string {
    if (bound == c.bound) return {};
    return "bound: is " + std::to_string(c.bound) + ", but what is proven is " + std::to_string(bound);
  };
  if (!c.window) {
    detail::certificate_checker checker(g);
    if (std::string why = checker.run(c); !why.empty()) return why;
    return compared(checker.bound());
  }
  detail::window_checker window(g, *c.window);
  if (const std::string why = window.run(); !why.empty()) return "window: " + why;
  detail::certificate_checker checker(window.graph());
  if (std::string why = checker.run(c); !why.empty()) return why;
  return compared(checker.bound() - std::min(checker.bound(), c.window->lift + c.window->slack));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
