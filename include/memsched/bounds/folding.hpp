// A relaxation: nodes that feed one other node, such as the products of a sum, run together with it.
#pragma once

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/structure/fed_node.hpp>
#include <memsched/structure/list_schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// A graph with nodes folded into others. No order of the graph that it was made of has a smaller peak than its own optimum.
struct folding {
  schedule_graph graph;
  std::vector<node_id> place;    ///< per node of the graph that was folded: its node here
  std::vector<node_id> members;  ///< per node here: the one that was not folded into another
  std::size_t folded = 0;        ///< nodes that were folded into another one

  /// An order of g, the graph that was folded, that runs the nodes of each node here at once, in the order of these.
  /// O((nodes + edges) log nodes).
  std::vector<node_id> expand(const schedule_graph& g, const std::vector<node_id>& order) const {
    std::vector<index_t> position(graph.size(), none);
    for (index_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    return list_schedule(
        g, [&](const order_walk& w, node_id v, index_t) { return std::tuple(position[place[v]], w.effect(v).impact, v); });
  }
};

/// Into which nodes others may fold: all, or no releases that wait for nodes that do not fold into them.
enum class fold_into : unsigned char { all, closed };

/// Folds nodes of a graph.
///
/// A node v may *fold* into w if its impact is at least 0; w is its one active successor or, if all are releases, the one that
/// frees most; and the others, v's *side releases*, free no more than v's impact. It does so unless w may fold itself, or is a
/// side release of some node that may.
///
/// Let F(w) be the nodes that fold into w. w takes in their edges and their impacts. If w is active, it runs at its own peak
/// above their impacts. If it is a release, it becomes active, and runs at the lowest peak that one of F(w) has above the
/// impacts of the others; if w waits for other nodes, too, only the level after it counts. A side release of F(w) waits for w
/// instead, and w has a credit on it of all that it frees.
///
/// Lemma. Premise: an order of the graph. Exchange: the folded nodes are left out. Conclusion: the peak, of the folded graph,
/// is no higher. Proof: let X be the nodes that have run, and Y the same in the folded graph: a node w runs in both at once. X
/// holds F(w) if it holds w. A release that has freed memory in X, not in Y, waits in Y for some w that has not run: it is a
/// side release of a node of F(w) that has run in X. The impact of that node is missing in Y, and is no less than all its side
/// releases free. So the level of X is no lower than that of Y. When w runs, X holds F(w); if w is a release, all of it but the
/// last node. Count as before, but leave out the side releases of F(w) that wait in Y for nothing but w: then the impacts of
/// those nodes are on top of the level of Y. These side releases are the credits.
class folder {
 public:
  /// O(nodes + edges). In graphs with credits none folds.
  folder(const schedule_graph& g, fold_into hosts)
      : g_(g),
        hosts_(hosts),
        into_(g.size(), none),
        impacts_(g.size(), 0),
        least_drop_(g.size(), std::numeric_limits<delta>::max()) {
    if (g.credits.items() == 0) find_folded();
    place_nodes();
    for (index_t i = 0; i < f_.members.size(); ++i) add(i);
    f_.graph.base = g.base;
    f_.graph.credits = list_of<schedule_graph::credit>::from_pairs(f_.graph.size(), credits_);
    f_.graph.succs = base::transpose(f_.graph.preds, f_.graph.size());
  }

  folding result() && { return std::move(f_); }

 private:
  void find_folded() {
    base::plain_vector<bool> is_closed(g_.size(), false);  // to nodes that would fold into it
    for (node_id v = 0; v < g_.active; ++v) {
      into_[v] = may_fold_into(v);
      if (into_[v] == none) continue;
      is_closed[v] = true;
      for (node_id s : g_.succs[v])
        if (s != into_[v]) is_closed[s] = true;
    }
    for (node_id v = 0; v < g_.active; ++v)
      if (into_[v] != none && is_closed[into_[v]]) into_[v] = none;
    if (hosts_ == fold_into::closed) keep_closed_releases();
    for (node_id v = 0; v < g_.active; ++v) {
      const node_id w = into_[v];
      if (w == none) continue;
      ++f_.folded;
      impacts_[w] += g_.cost[v].impact;
      least_drop_[w] = std::min(least_drop_[w], g_.cost[v].drop());
    }
  }
  /// Returns none if v may not fold.
  node_id may_fold_into(node_id v) const {
    const structure::fed_node fed(g_, v);
    return fed.freed <= g_.cost[v].impact ? fed.node : none;
  }
  void keep_closed_releases() {
    for (node_id r = static_cast<node_id>(g_.active); r < g_.size(); ++r)
      if (std::any_of(g_.preds[r].begin(), g_.preds[r].end(), [&](node_id v) { return into_[v] != r; }))
        for (node_id v : g_.preds[r])
          if (into_[v] == r) into_[v] = none;
  }
  bool takes_in(node_id w) const { return least_drop_[w] != std::numeric_limits<delta>::max(); }

  /// Active nodes first.
  void place_nodes() {
    for (node_id v = 0; v < g_.size(); ++v)
      if (into_[v] == none && (!g_.is_release(v) || takes_in(v))) f_.members.push_back(v);
    f_.graph.active = f_.members.size();
    for (node_id r = static_cast<node_id>(g_.active); r < g_.size(); ++r)
      if (!takes_in(r)) f_.members.push_back(r);
    f_.place.resize(g_.size());
    for (index_t i = 0; i < f_.members.size(); ++i) f_.place[f_.members[i]] = i;
    for (node_id v = 0; v < g_.size(); ++v)
      if (into_[v] != none) f_.place[v] = f_.place[into_[v]];
  }

  void add(index_t i) {
    const node_id w = f_.members[i];
    std::vector<node_id> before, side;
    bool alone = true;  // whether w waits for nodes alone that fold into it
    for (node_id u : g_.preds[w]) {
      if (into_[u] != w) {
        before.push_back(f_.place[u]);
        alone = false;
        continue;
      }
      for (node_id v : g_.preds[u]) before.push_back(f_.place[v]);
      for (node_id r : g_.succs[u])
        if (r != w && g_.cost[r].impact < 0) side.push_back(r);
    }
    for (std::vector<node_id>* nodes : {&before, &side}) {
      std::sort(nodes->begin(), nodes->end());
      nodes->erase(std::unique(nodes->begin(), nodes->end()), nodes->end());
    }
    for (node_id u : before) f_.graph.preds.push(u);
    f_.graph.preds.close();
    for (const auto& c : g_.credits[w]) credits_.emplace_back(i, schedule_graph::credit{f_.place[c.release], c.amount});
    for (node_id r : side) credits_.emplace_back(i, schedule_graph::credit{f_.place[r], -g_.cost[r].impact});
    f_.graph.cost.push_back(cost_of(w, alone));
  }
  node_cost cost_of(node_id w, bool alone) const {
    const node_cost c = g_.cost[w];
    if (!takes_in(w)) return c;
    const delta impact = impacts_[w] + c.impact;
    if (!g_.is_release(w)) return {impacts_[w] + c.peak, impact};
    return {alone ? impacts_[w] + least_drop_[w] : 0, impact};
  }

  const schedule_graph& g_;
  fold_into hosts_;
  folding f_;
  std::vector<node_id> into_;             // per node, the one that it folds into
  base::plain_vector<delta> impacts_;     // of the nodes that fold into each
  base::plain_vector<delta> least_drop_;  // likewise; the largest number if none do
  std::vector<std::pair<index_t, schedule_graph::credit>> credits_;
};

inline folding fold(const schedule_graph& g, fold_into hosts = fold_into::all) { return folder(g, hosts).result(); }

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched
