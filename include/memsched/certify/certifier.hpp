// Steps of a certificate, made from rounds of reductions and edges.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/closure.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/bounds/position_ranges.hpp>
#include <memsched/certify/merge_costs.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/certificate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// A derived fact, in order: an edge that a cut shows, the consequence of either order of two nodes, or of positions.
struct derived {
  struct side {
    std::vector<derived> items;
    node_id refuted_at = none;     ///< none if the side is open, or a layer refutes it
    std::vector<node_id> layer{};  ///< if not empty, refutes the side: whichever of these nodes runs first, or last
    bool first = false;
    std::vector<proof::position_fact> positions{};  ///< if not empty, refute the side
  };
  std::vector<precedence> edges{};  ///< one, but for cases
  bool cases = false;
  precedence assumed{};  ///< the edge supposed by `kept`; `reversed` supposes the reverse
  side kept, reversed;
  std::vector<proof::position_fact> positions{};  ///< that show the edges; without flows
};

/// Reductions, then facts that hold below a peak, each under all those before it.
struct proof_round {
  std::vector<proof::reduction> reductions{};
  derived::side derived_side{};
};

/// Makes steps of a certificate from the facts that the last of some rounds derived.
class certifier {
 public:
  certifier(const schedule_graph& g, std::span<const proof_round> rounds)
      : g_(g),
        cost_(g.cost),
        last_(rounds.back().derived_side),
        hidden_(g.size()),
        place_(g.size()),
        preds_(g.size()),
        succs_(g.size()) {
    for (node_id v = 0; v < g.size(); ++v) {
      for (node_id u : g.preds[v]) link({u, v}, none);
      for (const auto& k : g.credits[v]) hidden_[k.release] = true;
    }
    for (const proof_round& r : rounds) {
      for (const proof::reduction& x : r.reductions) apply(x);
      if (&r == &rounds.back()) break;
      for (const derived& d : r.derived_side.items)
        for (const precedence& e : d.edges) link(e, none);
    }
  }

  /// Proves all that was derived. Returns no steps if that fails, or `go_on` said no.
  std::vector<proof::proof_step> run(bytes bound, function_ref<bool()> go_on) {
    bound_ = bound, go_on_ = go_on;
    link_all(last_.items);
    needed_.assign(needed_.size(), true);
    std::vector<proof::proof_step> steps;
    if (!prove_items(last_.items, steps)) return {};
    std::reverse(steps.begin(), steps.end());
    return steps;
  }
  /// Proves that no order has a peak below `bound`, and those edges on which that rests: backwards from its end. Returns no
  /// steps if the edges do not suffice for that.
  std::vector<proof::proof_step> refute(bytes bound, function_ref<bool()> go_on) {
    bound_ = bound, go_on_ = go_on;
    std::vector<proof::proof_step> steps;
    if (!prove_side(last_, {}, true, steps)) return {};
    return steps;
  }

 private:
  struct edge_end {
    node_id at;
    index_t edge;  // its place in `needed_`, or none if the graph has it
  };
  using links = std::vector<std::vector<edge_end>>;
  enum class where : unsigned char { undecided, before, after };  // when a node runs, seen from v

  void link(const precedence& e, index_t edge) {
    preds_[e.after].push_back({e.before, edge});
    succs_[e.before].push_back({e.after, edge});
  }
  /// Takes back the last edge, and returns its place in `needed_`.
  index_t unlink(const precedence& e) {
    const index_t edge = preds_[e.after].back().edge;
    preds_[e.after].pop_back();
    succs_[e.before].pop_back();
    return edge;
  }
  void link_all(const std::vector<derived>& items) {
    for (const derived& d : items) {
      for (const precedence& e : d.edges) implied_.push_back(implied(e));
      for (const precedence& e : d.edges) {
        link(e, static_cast<index_t>(needed_.size()));
        needed_.push_back(false);
      }
    }
  }
  /// Whether an edge need not be shown: edges at hand lead from its one end to the other. (It was found in a graph that lets
  /// releases run by themselves.) Flows do not use it.
  bool implied(const precedence& e) const {
    std::vector<bool> seen(g_.size());
    std::vector<node_id> met{e.before};
    for (std::size_t i = 0; i < met.size(); ++i)
      for (const edge_end& next : succs_[met[i]]) {
        if (next.at == e.after) return true;
        if (!seen[next.at]) seen[next.at] = true, met.push_back(next.at);
      }
    return false;
  }
  bool carries(const edge_end& e) const { return e.edge == none || !implied_[e.edge]; }

  void apply(const proof::reduction& r) {
    if (adds_edge(r)) link({r.first, r.second}, none);
    else merge_costs(cost_, r);
  }

  /// Steps that refute a side, or show the edges that it is to show; false if they cannot be found.
  bool prove_side(const derived::side& side, const std::vector<precedence>& shown, bool ends,
                  std::vector<proof::proof_step>& steps) {
    link_all(side.items);
    if (ends) {
      auto end = side.refuted_at != none   ? prove({.v = side.refuted_at})
                 : !side.layer.empty()     ? prove_layer(side)
                 : !side.positions.empty() ? prove_positions(side.positions, {})
                                           : std::nullopt;
      for (node_id v = 0; v < g_.size() && !end && go_on_(); ++v) end = prove({.v = v});
      if (!end) return false;
      steps.push_back(std::move(*end));
    } else {
      for (const precedence& e : shown) {
        const tree t = reach({e.before}, succs_);
        if (t[e.after].cost == none) return false;
        need(t, [&](node_id u) { return u == e.after; });
      }
    }
    if (!prove_items(side.items, steps)) return false;
    std::reverse(steps.begin(), steps.end());
    return true;
  }

  /// Unlinks derived facts, the last first, and appends to `steps` a step for each of those that are needed.
  bool prove_items(const std::vector<derived>& items, std::vector<proof::proof_step>& steps) {
    for (std::size_t i = items.size(); i-- > 0;) {
      std::vector<precedence> needed, instead;
      for (std::size_t k = items[i].edges.size(); k-- > 0;) {
        const index_t edge = unlink(items[i].edges[k]);
        if (needed_[edge]) (implied_[edge] ? instead : needed).push_back(items[i].edges[k]);
      }
      for (const precedence& e : instead) need(reach({e.before}, succs_), [&](node_id u) { return u == e.after; });
      if (needed.empty()) continue;
      if (!go_on_()) return false;
      auto step = items[i].cases                ? prove_cases(items[i], needed)
                  : !items[i].positions.empty() ? prove_positions(items[i].positions, needed)
                                                : prove_cut(needed.front());
      if (!step) return false;
      if (!step->positions.empty() && step->edges.empty()) steps.clear();  // the later ones are not needed
      steps.push_back(std::move(*step));
    }
    return true;
  }
  std::optional<proof::proof_step> prove_cut(const precedence& e) {
    auto step = prove({.v = e.before, .other = e.after, .v_first = true});
    return step ? std::move(step) : prove({.v = e.after, .other = e.before});
  }
  std::optional<proof::proof_step> prove_cases(const derived& d, const std::vector<precedence>& needed) {
    proof::proof_step s{.v = d.assumed.before, .other = d.assumed.after, .cases = true, .edges = needed};
    for (const bool kept : {true, false}) {
      const precedence assumed = kept ? d.assumed : precedence{d.assumed.after, d.assumed.before};
      link(assumed, none);
      const derived::side& side = kept ? d.kept : d.reversed;
      if (!prove_side(side, needed, side.refuted_at != none, kept ? s.then : s.otherwise)) return std::nullopt;
      unlink(assumed);
    }
    return s;
  }

  /// The step if the linked facts suffice for it; then counts those edges that it rests on as needed.
  std::optional<proof::proof_step> prove(proof::proof_step s) {
    const auto level = show(s.v, {s.v, s.v_first ? s.other : none}, {s.v, s.v_first ? none : s.other}, s.flow);
    if (!level) return std::nullopt;
    s.level = *level;
    return s;
  }
  std::optional<proof::proof_step> prove_layer(const derived::side& side) {
    proof::proof_step s{.v_first = side.first, .level = base::max_total};
    for (node_id v : side.layer) s.layer.push_back({v});
    for (auto& [v, flow] : s.layer) {
      const tree own = reach({v}, s.v_first ? preds_ : succs_);
      const auto is_own = [&, v = v](node_id u) { return u != v && own[u].cost != none; };
      const auto other = std::find_if(side.layer.begin(), side.layer.end(), is_own);
      if (other != side.layer.end()) {  // which runs before v, or after v
        need(own, [&](node_id u) { return u == *other; });
        continue;
      }
      const std::vector<node_id> alone{v};
      const auto level = s.v_first ? show(v, alone, side.layer, flow) : show(v, side.layer, alone, flow);
      if (!level) return std::nullopt;
      s.level = std::min(s.level, *level);
    }
    return s;
  }

  /// Facts with their flows, each under those before it, until these edges follow; without edges if the facts end the proof.
  /// Counts all edges so far as needed, since positions rest on most.
  std::optional<proof::proof_step> prove_positions(const std::vector<proof::position_fact>& facts,
                                                   const std::vector<precedence>& shown);
  bytes show(const position_ranges& positions, proof::position_fact& x);

  /// The least that v takes if some nodes have run, with all that is before them, and some have not, with all that is
  /// after them; v itself has not. None if that is below the bound. Else stores the flow and marks the edges that it rests
  /// on as needed: of nodes that must have run and add memory, of nodes that cannot have run and free it, and the flow's
  /// own.
  std::optional<bytes> show(node_id v, const std::vector<node_id>& ran, const std::vector<node_id>& waiting,
                            std::vector<proof::flow_arc>& flow) {
    if (hidden_[v]) return std::nullopt;
    std::fill(place_.begin(), place_.end(), where::undecided);
    const tree before = reach(ran, preds_), after = reach(waiting, succs_);
    mark(before, where::before);
    mark(after, where::after);
    place_[v] = where::after;
    const bytes level = static_cast<bytes>(std::max<delta>(solve(v), 0));
    if (level < bound_) return std::nullopt;
    flow = make_flow(impacts_at(v));
    need(before, [&](node_id u) { return cost_[u].impact > 0; });
    std::vector<bool> reads(g_.size());
    for (const auto& k : g_.credits[v])
      for (node_id r : g_.preds[k.release]) reads[r] = true;
    need(after, [&](node_id u) { return cost_[u].impact < 0 || reads[u]; });
    for (index_t e : on_edges_) needed_[e] = true;
    return level;
  }

  // A search from some nodes, but for `none`, by as few edges as it can that are not needed yet.

  struct reached_node {
    node_id from = none;
    index_t edge = none;
    index_t cost = none;  // edges that would become needed; none if it is not reached
  };
  using tree = std::vector<reached_node>;

  tree reach(const std::vector<node_id>& starts, const links& next) const;

  void mark(const tree& t, where w) {
    for (node_id u = 0; u < g_.size(); ++u)
      if (t[u].cost != none) place_[u] = w;
  }
  template <class F>
  void need(const tree& t, F&& matters) {
    for (node_id u = 0; u < g_.size(); ++u)
      if (t[u].cost != none && matters(u))
        for (node_id x = u; t[x].from != none; x = t[x].from)
          if (t[x].edge != none) needed_[t[x].edge] = true;
  }

  // The cut.

  delta solve(node_id v) {
    delta level = static_cast<delta>(g_.base) + cost_[v].peak;
    closure_.clear();
    members_.clear();
    edge_of_arc_.clear();
    std::vector<index_t> local(g_.size(), none);
    for (node_id u = 0; u < g_.size(); ++u) {
      if (place_[u] == where::before) level += cost_[u].impact;
      if (place_[u] != where::undecided) continue;
      local[u] = closure_.add(cost_[u].impact);
      members_.push_back(u);
    }
    const std::size_t undecided = members_.size();
    for (index_t i = 0; i < undecided; ++i)
      for (const edge_end& e : preds_[members_[i]]) {
        if (place_[e.at] != where::undecided || !carries(e)) continue;
        closure_.add_arc(local[e.at], i);
        edge_of_arc_.push_back(e.edge);
      }
    const auto credits = g_.credits[v];
    for (index_t i = 0; i < credits.size(); ++i) {
      const auto readers = g_.preds[credits[i].release];
      if (std::any_of(readers.begin(), readers.end(), [&](node_id r) { return r != v && place_[r] == where::after; }))
        continue;
      const index_t gain = closure_.add(-credits[i].amount);
      members_.push_back(static_cast<node_id>(g_.size() + i));
      for (node_id r : readers)
        if (r != v && place_[r] == where::undecided) closure_.add_arc(local[r], gain), edge_of_arc_.push_back(none);
    }
    return level + closure_.solve();
  }

  /// The flow of the last closure, the members of which add `kept`.
  std::vector<proof::flow_arc> make_flow(std::vector<delta> kept);
  std::vector<delta> impacts_at(node_id v) const {
    std::vector<delta> kept;
    for (node_id m : members_) kept.push_back(m < g_.size() ? cost_[m].impact : -g_.credits[v][m - g_.size()].amount);
    return kept;
  }

  const schedule_graph& g_;
  std::vector<node_cost> cost_;
  const derived::side& last_;
  bytes bound_ = 0;
  function_ref<bool()> go_on_;
  std::vector<bool> needed_, implied_;  // of each derived edge
  std::vector<bool> hidden_;            // releases that run within the step of another node
  std::vector<where> place_;
  links preds_, succs_;
  closure_problem closure_;
  std::vector<node_id> members_;  // of the closure: a node, or size + i for the i-th credit
  std::vector<index_t> edge_of_arc_, on_edges_;
};

inline certifier::tree certifier::reach(const std::vector<node_id>& starts, const links& next) const {
  tree t(g_.size());
  std::deque<std::pair<node_id, index_t>> queue;  // with cost, ascending
  for (node_id start : starts)
    if (start != none) t[start].cost = 0, queue.emplace_back(start, 0);
  while (!queue.empty()) {
    const auto [u, cost] = queue.front();
    queue.pop_front();
    if (t[u].cost != cost) continue;
    for (const auto& [x, edge] : next[u]) {
      const bool costs = edge != none && !needed_[edge];
      const index_t total = cost + (costs ? 1 : 0);
      if (total >= t[x].cost) continue;
      t[x] = {u, edge, total};
      if (costs) queue.emplace_back(x, total);
      else queue.emplace_front(x, total);
    }
  }
  return t;
}

/// Flow through a node that could send bytes of its own is replaced by those.
inline std::vector<proof::flow_arc> certifier::make_flow(std::vector<delta> kept) {
  auto arcs = closure_.arcs();
  std::vector<std::vector<index_t>> in(members_.size());
  std::vector<index_t> sends(members_.size(), 0), ready;  // a node comes after those that it sends to
  for (index_t e = 0; e < arcs.size(); ++e) {
    if (arcs[e].flow == 0) continue;
    kept[arcs[e].from] -= arcs[e].flow;
    kept[arcs[e].to] += arcs[e].flow;
    in[arcs[e].to].push_back(e);
    ++sends[arcs[e].from];
  }
  for (index_t m = 0; m < members_.size(); ++m)
    if (sends[m] == 0) ready.push_back(m);
  for (std::size_t i = 0; i < ready.size(); ++i)
    for (index_t e : in[ready[i]]) {
      const delta less = std::clamp<delta>(kept[ready[i]], 0, arcs[e].flow);
      arcs[e].flow -= less;
      kept[ready[i]] -= less;
      kept[arcs[e].from] += less;
      if (--sends[arcs[e].from] == 0) ready.push_back(arcs[e].from);
    }
  std::vector<proof::flow_arc> flow;
  on_edges_.clear();
  for (index_t e = 0; e < arcs.size(); ++e) {
    if (arcs[e].flow == 0) continue;
    flow.push_back({members_[arcs[e].from], members_[arcs[e].to], arcs[e].flow});
    if (edge_of_arc_[e] != none) on_edges_.push_back(edge_of_arc_[e]);
  }
  std::sort(flow.begin(), flow.end());
  return flow;
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
