// Divide and conquer at waists (SERENITY, section 3.2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/induced_subgraph.hpp>
#include <memsched/structure/waists.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// A graph cut after every waist. Parts that run one after the other, in this order, lose nothing: every order can be made
/// to do so without a higher peak (see `hourglass`). A part cannot be divided again. The graph must outlive this.
class division {
 public:
  /// `order` is one of g: parts have their share of it at hand. O(nodes + edges).
  division(const schedule_graph& g, std::span<const node_id> order)
      : g_(&g), members_(parts(g)), places_(g.size()), local_(g.size(), none) {
    for (index_t i = 0; i < members_.size(); ++i)
      for (node_id k = 0; k < members_[i].size(); ++k) places_[members_[i][k]] = {i, k};
    orders_.resize(members_.size());
    for (node_id v : order) orders_[places_[v].part].push_back(v);
    measure();
    resources_ = resources_of(g, places_, members_.size());
  }

  std::size_t size() const { return members_.size(); }
  /// The highest level of part i in the order at hand, and that order in nodes of the whole. Bytes.
  bytes peak(std::size_t i) const { return costs_[i].peak; }
  const std::vector<node_id>& order(std::size_t i) const { return orders_[i]; }
  /// Part i as a graph of its own. O(its nodes and edges).
  schedule_graph graph(std::size_t i) {
    schedule_graph part = induced_subgraph(*g_, members_[i], costs_[i].base, local_);
    const auto inside = [&](node_id v) { return v != none && places_[v].part == i ? places_[v].local : none; };
    for (index_t k : resources_[i]) {
      const auto& r = g_->resources[k];
      part.resources.push_back({inside(r.from), inside(r.to), r.size});
    }
    return part;
  }
  /// Likewise, in nodes of the part.
  std::vector<node_id> local_order(std::size_t i) const { return order_within(*g_, members_[i], orders_[i]); }
  /// An order of part i in nodes of the whole.
  std::vector<node_id> expand(std::size_t i, std::span<const node_id> order) const {
    std::vector<node_id> nodes;
    nodes.reserve(order.size());
    for (node_id v : order) nodes.push_back(members_[i][v]);
    return nodes;
  }

  /// The nodes of each part, ascending. O(nodes + edges).
  static std::vector<std::vector<node_id>> parts(const schedule_graph& g) {
    const std::vector<node_id> order = base::topological_order(g.preds, g.succs);
    const plain_vector<std::size_t> part = part_of(g, order);
    std::vector<std::vector<node_id>> members;
    for (node_id v : order) {
      if (part[v] >= members.size()) members.resize(part[v] + 1);
      members[part[v]].push_back(v);
    }
    members.erase(std::remove_if(members.begin(), members.end(), [](const auto& m) { return m.empty(); }), members.end());
    for (auto& m : members) std::sort(m.begin(), m.end());
    return members;
  }

 private:
  /// A part in the order at hand.
  struct part_cost {
    bytes base, peak;  ///< level at its start, and the highest
  };
  /// The number of waists that come before each node: late nodes join the part that needs them, early ones the part
  /// that they are ready in.
  static plain_vector<std::size_t> part_of(const schedule_graph& g, const std::vector<node_id>& order) {
    const structure::hourglass glass(g);
    plain_vector<std::size_t> part(g.size(), 0);
    std::size_t last = 0;
    for (node_id v : order) {
      if (glass.drifting[v] != structure::drift::firm) continue;
      part[v] = last;
      if (last < glass.waists.size() && glass.waists[last] == v) ++last;
    }
    for (std::size_t i = order.size(); i-- > 0;) {
      const node_id v = order[i];
      if (glass.drifting[v] != structure::drift::late) continue;
      part[v] = last;
      for (node_id s : g.succs[v]) part[v] = std::min(part[v], part[s]);
    }
    for (node_id v : order)
      if (glass.drifting[v] == structure::drift::early)
        for (node_id u : g.preds[v]) part[v] = std::max(part[v], part[u]);
    return part;
  }

  /// Where each node stands in its part.
  struct place {
    index_t part;
    node_id local;
  };

  /// The resources of each part: those that one of its nodes makes or frees, without those that live throughout the part.
  static list_of<index_t> resources_of(const schedule_graph& g, const plain_vector<place>& places, std::size_t parts) {
    plain_vector<std::pair<index_t, index_t>> pairs;
    for (index_t i = 0; i < g.resources.size(); ++i) {
      const auto& r = g.resources[i];
      if (r.from != none) pairs.emplace_back(places[r.from].part, i);
      if (r.to != none && (r.from == none || places[r.to].part != places[r.from].part))
        pairs.emplace_back(places[r.to].part, i);
    }
    return list_of<index_t>::from_pairs(parts, pairs);
  }

  /// Levels of the parts in the orders at hand, each after the one before. O(nodes + edges).
  void measure() {
    order_walk w(*g_);
    auto level = static_cast<delta>(g_->base);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      delta peak = level;
      for (node_id v : orders_[i]) {
        peak = std::max(peak, w.level() + w.effect(v).peak);
        w.fire(v);
      }
      costs_.push_back({static_cast<bytes>(level), static_cast<bytes>(peak)});
      for (node_id v : members_[i]) level += g_->cost[v].impact;
    }
  }

  const schedule_graph* g_;
  std::vector<std::vector<node_id>> members_, orders_;
  plain_vector<place> places_;
  plain_vector<part_cost> costs_;
  list_of<index_t> resources_;
  std::vector<node_id> local_;  // scratch
};

}  // namespace detail

/// Schedules the parts of a `division` one by one. The bounds of finished parts are the target of the others: a part
/// need not go below another's peak. So the parts with the largest estimate come first, and one whose order stays
/// within the target needs no scheduler. After a limit is hit, parts keep that order.
struct divide {
  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution divide::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  if (!context.keep_going()) return {g.topological_order()};
  detail::division parts(g, g.topological_order());
  if (parts.size() <= 1) return inner(g, context);
  base::plain_vector<std::size_t> falling(parts.size());
  std::iota(falling.begin(), falling.end(), std::size_t{0});
  std::stable_sort(falling.begin(), falling.end(),
                   [&](std::size_t a, std::size_t b) { return parts.peak(a) > parts.peak(b); });
  std::vector<std::vector<node_id>> orders(parts.size());
  solution whole;
  bytes done = 0;  // the highest peak of the parts so far
  for (std::size_t k = 0; k < falling.size(); ++k) {
    const std::size_t i = falling[k];
    ++context.control().stats.parts;
    bytes peak = parts.peak(i);
    orders[i] = parts.order(i);
    if (peak > std::max(whole.lower_bound, context.asked().target) && context.keep_going()) {
      const schedule_graph part = parts.graph(i);
      const bytes beside = std::max(done, k + 1 < falling.size() ? parts.peak(falling[k + 1]) : 0);
      const auto solve = [&] { return inner(part, context); };
      solution s =
          context.ask(context.asked().from(whole.lower_bound), [&] { return context.control().with_rest(beside, solve); });
      if (s.error) return s;
      peak = peak_of(part, s.order);
      orders[i] = parts.expand(i, s.order);
      whole.lower_bound = std::max(whole.lower_bound, s.lower_bound);
    }
    done = std::max(done, peak);
  }
  for (const auto& order : orders) whole.order.insert(whole.order.end(), order.begin(), order.end());
  return whole;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
