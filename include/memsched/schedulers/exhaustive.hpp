// The oracle: every set of nodes that can have run, one by one.
#pragma once

#include <cstdint>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/topology.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The optimum by dynamic programming over all downsets, with no rule that could be wrong. Refuses graphs of more than
/// `max_nodes` active nodes (at most 32) and keeps no limits. O(2^nodes * nodes) in the worst case.
struct exhaustive {
  std::size_t max_nodes = 24;

  solution operator()(const schedule_graph& g, search& context) const;

 private:
  /// The members of a downset, predecessors first.
  static std::vector<node_id> in_order(const schedule_graph& g, std::uint32_t set) {
    std::vector<node_id> order;
    for (node_id v : g.topological_order())
      if ((set >> v & 1) != 0) order.push_back(v);
    return order;
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include <memsched/graph/walk.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution exhaustive::operator()(const schedule_graph& g, search& context) const {
  solution s;
  if (g.active > max_nodes) {
    s.error = graph_error{error_code::too_large,
                          "exhaustive search takes at most " + std::to_string(max_nodes) +
                              " operators, and this graph has " + std::to_string(g.active) + ": use another scheduler",
                          {},
                          {}};
    return s;
  }
  struct best {
    delta peak;
    node_id last;
  };
  std::vector<std::unordered_map<std::uint32_t, best>> levels(g.active + 1);
  levels[0][0] = {static_cast<delta>(g.base), none};
  for (std::size_t k = 0; k < g.active; ++k)
    for (const auto& [set, here] : levels[k]) {
      ++context.control().stats.states;
      order_walk w(g);
      for (node_id v : in_order(g, set)) w.fire(v);
      for (node_id v = 0; v < g.active; ++v) {
        if ((set >> v & 1) != 0 || !w.ready(v)) continue;
        const delta peak = std::max({here.peak, w.level() + w.effect(v).peak, w.level() + w.effect(v).impact});
        const auto [at, fresh] = levels[k + 1].try_emplace(set | std::uint32_t{1} << v, best{peak, v});
        if (!fresh && std::pair(peak, v) < std::pair(at->second.peak, at->second.last)) at->second = {peak, v};
      }
    }
  std::uint32_t set = g.active == 0 ? 0 : ~std::uint32_t{0} >> (32 - g.active);
  s.lower_bound = static_cast<bytes>(levels[g.active].at(set).peak);
  for (std::size_t k = g.active; k > 0; --k) {
    const node_id v = levels[k].at(set).last;
    s.order.push_back(v);
    set &= ~(std::uint32_t{1} << v);
  }
  std::reverse(s.order.begin(), s.order.end());
  return s;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
