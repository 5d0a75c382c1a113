// The search of a graph component by component.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/layer_bound.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/passes/component_graphs.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/search/resumable.hpp>
#include <memsched/structure/components.hpp>
#include <memsched/structure/induced_subgraph.hpp>
#include <memsched/structure/interleaving.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The graphs that a search of components asks about.
enum class component_graph {
  alone,   ///< a component: its bound counts, and its order; asked without a target
  beside,  ///< a component and the hills of the others: its order alone counts
  with_x,  ///< a component and the node of the lemma at `components_search`: as `alone`
};

/// Begins a search of a graph from an order of it.
using component_searcher =
    base::function_ref<std::unique_ptr<resumable_search>(const schedule_graph&, component_graph, std::vector<node_id>)>;

/// The components of a graph, the highest in the best interleaving of their orders first. Copies of a component are searched
/// once. The graph, the context and the searcher must outlive it.
///
/// Lemma. Levels of a component are above its start; m(d) is the lowest that a set of d's nodes leaves. Premise: T is a peak
/// above the base, K a set of components, and d's orders of less than T - sum of m over the others have, for each d in K, a
/// height of B(d) or more, after the last of which no level is below W(d). Conclusion: no order of the graph has a peak below
/// T, and below the least over c in K of B(c) + sum of W over the others in K + sum of m over those not in K. Proof: let an
/// order have a peak below T, and let c be the one in K that is at B(c) or more last. Then all others in K were so before,
/// and stand at W or more. Likewise with the first such heights, and levels before them.
///
/// The premise about one component is one about the peaks of a graph: d with one node x more, tied to nothing, of the impact
/// X = T - sum of m over the others - B(d), or more, and the peak X + B(d) - W(d). If that has no order below X + B(d),
/// there is no order of d below T - sum of m, in which x could run at a level below W(d) with no height of B(d) or more later.
/// The start is such a level if W(d) is positive, so such a height there is. If the bound of the graph falls short of
/// X + B(d) by some bytes, the premise holds with B(d), W(d) and T lower by as many. For the first such heights x has the
/// impact -X, from a base higher by X, and the peak B(d) - W(d); then it is the end that is below W(d).
class components_search : public resumable_search {
 public:
  /// `members` are the components of g; `order` is one of g.
  components_search(const schedule_graph& g, search& context, component_searcher searcher,
                    std::vector<std::vector<node_id>> members, const std::vector<node_id>& order);

  /// Gives a round to the highest component, and one to each that the bound rests on. Returns false if the query is
  /// answered, or none of them has anything left to try, or a limit was hit. Goes on where it was.
  bool round(const query& q) override;

  bytes peak() const override { return best_.peak; }
  bytes bound() const override { return bound_; }
  std::vector<node_id> order() const override { return best_.order; }

 private:
  /// The search of a graph other than the caller's.
  struct inquiry {
    schedule_graph graph;
    std::unique_ptr<resumable_search> answer;
    bool ended = false;

    inquiry(schedule_graph h, component_graph what, component_searcher searcher, std::vector<node_id> order)
        : graph(std::move(h)), answer(searcher(graph, what, std::move(order))) {}
  };
  /// The premise of the lemma about a component.
  struct premise {
    bool falls = false;
    delta height = 0, valley = 0, beside = 0;  ///< B, W, X
    bool operator==(const premise&) const = default;
  };
  /// Components that are alike in the order of their numbers.
  struct kind {
    schedule_graph graph;                        ///< from the base of the whole on
    std::vector<index_t> copies{};               ///< components
    delta lowest = 0, end = 0;                   ///< levels above the start: the lowest of any set, and the last
    std::unique_ptr<inquiry> alone{}, with_x{};  ///< one of them; the same with the lemma's node
    std::optional<premise> first{};              ///< of the best interleaving
    premise asked{};                             ///< by `with_x`: that, or less if it was refuted
  };
  using orders = std::vector<std::vector<node_id>>;

  schedule_graph component(std::size_t c, const list_of<index_t>& resources);
  std::vector<node_id> expand(std::size_t c, const std::vector<node_id>& order) const;
  bool give_round(inquiry& i, const query& q);
  bool work_alone(kind& k);
  bool work_beside();
  void ask_beside(index_t of);
  bool work_with_x(index_t c);
  void ask_with_x(index_t c);
  void weaken(kind& k);
  bool take(orders changed);
  bool take(std::span<const index_t> components, const std::vector<node_id>& order);
  void take(const kind& k, const std::vector<node_id>& order);
  void raise(delta bound);
  void cut_at_hills();
  void conclude();

  /// The hill of a component that counts in the best interleaving.
  const structure::hill& hill_of(index_t c) const { return hills_[c][best_.at[c]]; }
  static bool positive(const kind& k, const premise& p) { return p.valley > (p.falls ? k.end : 0); }
  premise premise_of(index_t c) const;
  delta room_beside(const kind& k) const { return static_cast<delta>(best_.peak) - base() - (lowest_ - k.lowest); }
  delta above_base(bytes level) const { return static_cast<delta>(level) - base(); }
  delta base() const { return static_cast<delta>(g_.base); }

  const schedule_graph& g_;
  search& context_;
  component_searcher searcher_;
  orders members_, orders_;            // of each component
  std::vector<index_t> component_of_;  // each node
  std::vector<plain_vector<structure::hill>> hills_;
  std::vector<kind> kinds_;
  std::vector<index_t> kind_of_;
  structure::interleaving best_;
  std::unique_ptr<inquiry> beside_{};  // one component and the hills of the others
  index_t beside_of_ = none;           // that one
  std::size_t besides_ = 0;            // components that were asked about since the best interleaving was found
  bool cut_ = false;                   // whether the hills of the best interleaving have been cut
  bytes bound_;
  delta lowest_ = 0;  // sum of the lowest levels of all components
  std::vector<node_id> local_;
};

inline components_search::components_search(const schedule_graph& g, search& context, component_searcher searcher,
                                            orders members, const std::vector<node_id>& order)
    : g_(g),
      context_(context),
      searcher_(searcher),
      members_(std::move(members)),
      component_of_(structure::component_of(g, members_)),
      bound_(g.base),
      local_(g.size(), none) {
  plain_vector<std::pair<index_t, index_t>> pairs;
  for (index_t i = 0; i < g.resources.size(); ++i) {
    const auto& [from, to, size] = g.resources[i];
    if (from != none || to != none) pairs.emplace_back(component_of_[from != none ? from : to], i);
  }
  const auto resources = list_of<index_t>::from_pairs(members_.size(), pairs);
  orders_ = structure::by_component(g, members_, order);
  std::map<plain_vector<delta>, index_t> known;
  for (index_t c = 0; c < members_.size(); ++c) {
    schedule_graph h = component(c, resources);
    const auto [at, fresh] = known.emplace(description(h), static_cast<index_t>(kinds_.size()));
    if (fresh) {
      kind& k = kinds_.emplace_back(kind{std::move(h)});
      k.lowest = lowest_level_of(k.graph, context);
      for (const node_cost& cost : k.graph.cost) k.end += cost.impact;
    }
    kind& k = kinds_[at->second];
    k.copies.push_back(c);
    kind_of_.push_back(at->second);
    lowest_ += k.lowest;
  }
  hills_ = structure::hills(g, orders_);
  best_ = structure::interleave(g, orders_, hills_);
  orders alike = orders_;
  for (const kind& k : kinds_) {
    const std::vector<node_id> first = order_within(g, members_[k.copies.front()], orders_[k.copies.front()]);
    for (index_t c : k.copies) alike[c] = expand(c, first);
  }
  const detail::named_source name(context_, "components");
  context_.report(best_.peak, bound_);
  take(std::move(alike));
}

/// The nodes and resources of a component.
inline schedule_graph components_search::component(std::size_t c, const list_of<index_t>& resources) {
  const std::vector<node_id>& members = members_[c];
  schedule_graph h = induced_subgraph(g_, members, g_.base, local_);
  const auto inside = [&](node_id v) {
    return v == none ? none : static_cast<node_id>(std::lower_bound(members.begin(), members.end(), v) - members.begin());
  };
  for (index_t i : resources[c]) {
    const auto& r = g_.resources[i];
    h.resources.push_back({inside(r.from), inside(r.to), r.size});
  }
  return h;
}

/// An order of a component in nodes of the whole.
inline std::vector<node_id> components_search::expand(std::size_t c, const std::vector<node_id>& order) const {
  std::vector<node_id> nodes;
  nodes.reserve(order.size());
  for (node_id v : order) nodes.push_back(members_[c][v]);
  return nodes;
}

/// Gives some components of a kind another order, if the best interleaving with it has a smaller peak.
inline bool components_search::take(std::span<const index_t> components, const std::vector<node_id>& order) {
  orders changed = orders_;
  for (index_t c : components) changed[c] = expand(c, order);
  return take(std::move(changed));
}

/// Takes over other orders of the components, if their best interleaving has a smaller peak.
inline bool components_search::take(orders changed) {
  auto hills = structure::hills(g_, changed);
  auto found = structure::interleave(g_, changed, hills);
  if (found.peak >= best_.peak) return false;
  orders_ = std::move(changed), hills_ = std::move(hills), best_ = std::move(found);
  cut_ = false, beside_of_ = none, besides_ = 0;
  context_.report(best_.peak, bound_);
  return true;
}

/// Likewise all of a kind, or the first or the last of them.
inline void components_search::take(const kind& k, const std::vector<node_id>& order) {
  if (take(k.copies, order) || k.copies.size() == 1) return;
  for (const index_t c : {k.copies.front(), k.copies.back()})
    if (take(std::span(&c, 1), order)) return;
}

inline void components_search::raise(delta bound) {
  if (bound <= static_cast<delta>(bound_)) return;
  bound_ = static_cast<bytes>(bound);
  context_.report(best_.peak, bound_);
}

inline bool components_search::round(const query& q) {
  const detail::named_source name(context_, "components");
  if (closed(q) || !context_.keep_going() || static_cast<delta>(best_.peak) == base()) return false;
  cut_at_hills();
  kind& highest = kinds_[kind_of_[best_.highest]];
  bool more = !highest.alone && work_alone(highest);
  cut_at_hills();
  if (!closed(q) && context_.keep_going()) more = work_beside() || more;
  cut_at_hills();
  plain_vector<bool> seen(kinds_.size(), false);
  const auto highest_first = [&](std::size_t i) { return (best_.highest + i) % members_.size(); };
  for (std::size_t i = 0; i < members_.size() && cut_ && !closed(q) && context_.keep_going(); ++i) {
    const auto c = static_cast<index_t>(highest_first(i));
    if (best_.at[c] == none || seen[kind_of_[c]]) continue;
    seen[kind_of_[c]] = true;
    more = work_with_x(c) || more;
  }
  if (cut_) conclude();
  return (more || !cut_) && !closed(q) && !context_.stopped();
}

/// Cuts of the whole graph for the nodes at the tops of the hills that make the peak; once for each best interleaving.
inline void components_search::cut_at_hills() {
  if (std::exchange(cut_, true)) return;
  const std::vector<node_id> layer = structure::tops(best_, hills_);
  if (layer.empty()) return;
  bounds::layer_bound cuts(g_);
  const auto go_on = [&] { return context_.control().count_cut(); };
  const bytes bound = cuts.of(layer, best_.falls, bound_, go_on);
  context_.control().spend_visits(cuts.work());
  raise(static_cast<delta>(bound));
}

inline bool components_search::give_round(inquiry& i, const query& q) {
  if (i.ended) return false;
  const bool more = context_.control().aside([&] { return context_.ask(q, [&] { return i.answer->round(q); }); });
  i.ended = !more && !context_.stopped();
  return true;
}

/// Works on one component of a kind as if the others stood at their starts.
inline bool components_search::work_alone(kind& k) {
  if (!k.alone) {
    const index_t c = k.copies.front();
    k.alone =
        std::make_unique<inquiry>(k.graph, component_graph::alone, searcher_, order_within(g_, members_[c], orders_[c]));
  }
  const bool more = give_round(*k.alone, {});
  raise(static_cast<delta>(k.alone->answer->bound()) + lowest_ - k.lowest);
  take(k, k.alone->answer->order());
  return more;
}

/// Works on one component beside the others: the highest first, then the others with hills that count.
inline bool components_search::work_beside() {
  if (beside_of_ == none || beside_->ended) {
    const auto next_to = [&](index_t c) { return static_cast<index_t>((c + std::size_t{1}) % members_.size()); };
    index_t c = beside_of_ == none ? static_cast<index_t>(best_.highest) : next_to(beside_of_);
    for (; best_.at[c] == none; c = next_to(c)) ++besides_;
    if (++besides_ > members_.size()) return false;
    ask_beside(c);
  }
  const bool more = give_round(*beside_, {bound_, best_.peak});
  const index_t c = beside_of_;
  std::vector<node_id> order = beside_->answer->order();
  std::erase_if(order, [&](node_id v) { return v >= orders_[c].size(); });
  take(std::span(&c, 1), order);
  return more;
}

/// Asks for an order of one component, while the hills of the others run as nodes in the order of the best interleaving. Their
/// orders are kept, so that a smaller peak is one of the whole.
inline void components_search::ask_beside(index_t of) {
  const std::vector<node_id> own = order_within(g_, members_[of], orders_[of]);
  plain_vector<std::size_t> ran(members_.size(), 0), next(members_.size(), 0);  // nodes and hills of each
  plain_vector<node_cost> row;
  std::vector<node_id> order;
  for (node_id v : best_.order) {
    const index_t c = component_of_[v];
    const std::size_t at = ran[c]++;
    if (c == of) {
      order.push_back(own[at]);
    } else if (const structure::hill& h = hills_[c][next[c]]; ran[c] == h.end) {
      ++next[c];
      order.push_back(static_cast<node_id>(own.size() + row.size()));
      row.push_back({h.height - h.start, h.valley - h.start});
    }
  }
  beside_of_ = of;
  beside_ = std::make_unique<inquiry>(with_row(kinds_[kind_of_[of]].graph, row), component_graph::beside, searcher_,
                                      std::move(order));
}

inline components_search::premise components_search::premise_of(index_t c) const {
  const structure::hill& h = hill_of(c);
  return {h.falls, h.height, h.falls ? h.start : h.valley, std::max<delta>(room_beside(kinds_[kind_of_[c]]) - h.height, 0)};
}

/// Works on the premise of the lemma about the kind of this component.
inline bool components_search::work_with_x(index_t c) {
  kind& k = kinds_[kind_of_[c]];
  if (k.first != premise_of(c)) k.asked = *(k.first = premise_of(c)), k.with_x = nullptr;
  if (!positive(k, k.asked)) return positive(k, *k.first) ? false : work_alone(k);
  if (!k.with_x) ask_with_x(c);
  const bytes aim = static_cast<bytes>(base() + k.asked.beside + k.asked.height);
  const bool more = give_round(*k.with_x, {0, aim});
  std::vector<node_id> order = k.with_x->answer->order();
  std::erase(order, static_cast<node_id>(k.graph.active));
  take(k, order);
  if (k.with_x->answer->peak() >= aim) return more;
  weaken(k);
  return true;
}

/// Asks about d and x, from the best of some orders.
inline void components_search::ask_with_x(index_t c) {
  kind& k = kinds_[kind_of_[c]];
  const premise& p = k.asked;
  const auto x = static_cast<node_id>(k.graph.active);
  const node_cost cost{p.height - p.valley + (p.falls ? 0 : p.beside), p.falls ? -p.beside : p.beside};
  schedule_graph h = with_row(k.graph, std::span(&cost, 1));
  if (p.falls) h.base += static_cast<bytes>(p.beside);
  solution best;
  const auto consider = [&](std::vector<node_id> order, std::size_t at) {
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(at), x);
    if (best.order.empty()) best.order = std::move(order);
    else take_if_better(h, std::move(order), best);
  };
  const std::vector<node_id> own = order_within(g_, members_[c], orders_[c]);
  consider(own, p.falls ? hill_of(c).begin : hill_of(c).end);
  if (k.alone) consider(k.alone->answer->order(), p.falls ? own.size() : 0);
  k.with_x = std::make_unique<inquiry>(std::move(h), component_graph::with_x, searcher_, std::move(best.order));
}

/// Lowers a premise that an order refutes, by as little as that order says.
inline void components_search::weaken(kind& k) {
  const auto x = static_cast<node_id>(k.graph.active);
  order_walk w(k.graph);
  bool behind = false;
  delta level = 0, height = 0;  // of x, and the highest after it, or before it if it falls
  for (node_id v : k.with_x->answer->order()) {
    if (v == x) {
      behind = true, level = w.level() - base();
      continue;
    }
    if (behind != k.asked.falls) height = std::max(height, w.level() + w.effect(v).peak - base());
    w.fire(v);
  }
  if (height + k.asked.valley >= k.asked.height + level) k.asked.height = height;
  else k.asked.valley = level;
  k.asked.beside = std::max<delta>(room_beside(k) - k.asked.height, 0);
  k.with_x = nullptr;
}

/// The bound that follows by the lemma from its premises so far, which hold for all components of a kind.
inline void components_search::conclude() {
  delta all = lowest_, most = static_cast<delta>(best_.peak) - base();
  plain_vector<std::pair<delta, delta>> known;  // B and W of those in K
  for (index_t c = 0; c < members_.size(); ++c) {
    const kind& k = kinds_[kind_of_[c]];
    if (best_.at[c] == none) continue;
    if (k.with_x && k.asked.falls == best_.falls) {  // else of an earlier interleaving
      const delta less = std::max<delta>(k.asked.beside + k.asked.height - above_base(k.with_x->answer->bound()), 0);
      premise p = k.asked;
      p.height -= less, p.valley -= less;
      if (!positive(k, p)) continue;
      known.emplace_back(p.height, p.valley);
      all += p.valley - k.lowest;
      most = std::min(most, k.asked.beside + k.asked.height + lowest_ - k.lowest - less);
    } else if (k.alone) {
      known.emplace_back(above_base(k.alone->answer->bound()), k.lowest);
    }
  }
  for (const auto& [height, valley] : known) most = std::min(most, all - valley + height);
  if (!known.empty()) raise(most + base());
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
