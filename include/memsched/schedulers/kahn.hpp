// Kahn's order: breadth-first waves of ready operators.
#pragma once

#include <vector>

#include <memsched/graph/walk.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// First ready, first run; at the start by index. O(nodes + edges).
struct kahn {
  static constexpr bool is_baseline = true;

  solution operator()(const schedule_graph& g, search&) const {
    solution s;
    s.order.reserve(g.active);
    order_walk w(g);
    for (node_id v = 0; v < g.active; ++v)
      if (w.ready(v)) s.order.push_back(v);
    for (std::size_t i = 0; i < s.order.size(); ++i) w.fire(s.order[i], [&](node_id u) { s.order.push_back(u); });
    return s;
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
