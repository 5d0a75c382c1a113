// Compositional analysis: replaces parts of a graph by orders that suit everything that may run beside them (Fradet et al.,
// section 6).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Finds parts that are tied to the rest at one first and one last node (`regions`), fixes in each an order that is no
/// worse than any other beside any interleaving (its dominant order), and passes on the graph with those orders. Keeps the
/// optimum. A part that the inner scheduler does not prove stays as it is.
struct compose {
  /// Parts with more active nodes are not looked at: a part takes up to as many exact searches as it has nodes, each of
  /// which may be exponential and gains nothing if it meets a limit, and finding parts takes the square of this. The
  /// paper's parts have 32. Larger ones are left to the search of the whole.
  std::size_t max_nodes = 64;

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;
};

/// An order of all nodes of g, releases included, that dominates every other: under any interleaving, no
/// other order of g gives a lower peak. g must be without credits. At most one call of `exact` per node, on the rest;
/// nothing if one of its answers is not proven.
///
/// From the lowest downset D on: an optimal order of the rest, up to the first node that reaches its peak; then the
/// lowest downset that holds D and that prefix; its nodes beyond D come next, in that order. The nodes before the lowest
/// downset of all are found the same way from the end.
MEMSCHED_FUNCTION std::optional<std::vector<node_id>> dominant_order(const schedule_graph& g, search& context,
                                                                     inner_scheduler exact);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

#include <memsched/bounds/lowest_set.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/structure/induced_subgraph.hpp>
#include <memsched/structure/mirror.hpp>
#include <memsched/structure/regions.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The largest of the lowest downsets of g that hold `in`, itself a downset, as flags.
inline std::vector<bool> lowest_downset(const schedule_graph& g, std::vector<bool> in) {
  lowest_set lowest(g);
  for (node_id v = 0; v < g.size(); ++v)
    if (!in[v]) lowest.add(v);
  lowest.solve(g.preds);
  lowest.widen();
  for (node_id v : lowest.free())
    if (lowest.holds(v)) in[v] = true;
  return in;
}

/// g with its releases as nodes like all others, without scopes, and a level at the start that no order uses up.
inline schedule_graph all_active(schedule_graph g) {
  g.active = g.size();
  g.scope.clear();
  g.base = 0;
  for (const node_cost& c : g.cost) g.base += static_cast<bytes>(std::max<delta>(-c.impact, 0));
  return g;
}

inline schedule_graph part_of(const schedule_graph& g, const std::vector<node_id>& members) {
  std::vector<node_id> local(g.size(), none);
  return all_active(induced_subgraph(g, members, 0, local));
}

inline std::vector<node_id> where(const std::vector<bool>& in, bool value) {
  std::vector<node_id> members;
  for (node_id v = 0; v < in.size(); ++v)
    if (in[v] == value) members.push_back(v);
  return members;
}

/// The dominant order of a graph whose lowest downset is the empty one.
inline std::optional<std::vector<node_id>> dominant_rise(const schedule_graph& g, search& context, inner_scheduler exact) {
  std::vector<node_id> order;
  std::vector<bool> done(g.size(), false);
  while (order.size() < g.size()) {
    const std::vector<node_id> rest = where(done, false);
    const schedule_graph h = part_of(g, rest);
    const solution s = exact(h, context);
    if (s.error) return std::nullopt;
    const bytes peak = peak_of(h, s.order);
    if (s.lower_bound < peak) return std::nullopt;
    std::vector<bool> in = done;
    order_walk w(h);
    for (node_id v : s.order) {
      w.fire(v);
      in[rest[v]] = true;
      if (w.peak() == static_cast<delta>(peak)) break;
    }
    in = lowest_downset(g, std::move(in));
    for (node_id v : s.order)
      if (in[rest[v]]) order.push_back(rest[v]);
    done = std::move(in);
  }
  return order;
}

/// g with an order fixed in each of some disjoint parts.
class chained_parts {
 public:
  explicit chained_parts(const schedule_graph& g) : g_(g), part_(g.size(), none) {}

  void fix(const std::vector<node_id>& order) {
    for (node_id v : order) part_[v] = parts_;
    ++parts_;
    node_id last = none;
    for (node_id v : order) {
      if (g_.is_release(v)) continue;  // runs by itself
      if (last != none) edges_.emplace_back(v, last);
      last = v;
    }
  }

  schedule_graph graph() {
    schedule_graph h = g_;
    for (node_id v = 0; v < g_.size(); ++v)
      for (node_id u : g_.preds[v])
        if (part_[v] == none || part_[u] != part_[v] || g_.is_release(v)) edges_.emplace_back(v, u);
    h.preds = adjacency::from_pairs(g_.size(), edges_);
    h.succs = base::transpose(h.preds, g_.size());
    return h;
  }

 private:
  const schedule_graph& g_;
  std::vector<index_t> part_;
  index_t parts_ = 0;
  std::vector<std::pair<index_t, index_t>> edges_;  // (node, its predecessor)
};

}  // namespace detail

MEMSCHED_FUNCTION std::optional<std::vector<node_id>> dominant_order(const schedule_graph& g, search& context,
                                                                     inner_scheduler exact) {
  const std::vector<bool> low = detail::lowest_downset(g, std::vector<bool>(g.size(), false));
  const std::vector<node_id> before = detail::where(low, true), behind = detail::where(low, false);
  const auto fall = detail::dominant_rise(structure::mirror_image(detail::part_of(g, before)), context, exact);
  if (!fall) return std::nullopt;
  const auto rise = detail::dominant_rise(detail::part_of(g, behind), context, exact);
  if (!rise) return std::nullopt;
  std::vector<node_id> order;
  for (auto it = fall->rbegin(); it != fall->rend(); ++it) order.push_back(before[*it]);
  for (node_id v : *rise) order.push_back(behind[v]);
  return order;
}

MEMSCHED_FUNCTION solution compose::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  const auto go_on = [&] { return context.keep_going(); };
  if (!go_on()) return inner(g, context);
  detail::chained_parts parts(g);
  bool any = false;
  for (const std::vector<node_id>& members : structure::regions(g, max_nodes, go_on)) {
    if (!go_on()) break;
    ++context.control().stats.parts;
    const schedule_graph part = detail::part_of(g, members);
    const auto solve = [&] { return context.control().aside([&] { return dominant_order(part, context, inner); }); };
    auto order = context.ask({}, solve);
    if (!order) continue;
    for (node_id& v : *order) v = members[v];
    parts.fix(*order);
    any = true;
  }
  return inner(any ? parts.graph() : g, context);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
