// Random orders of schedule graphs, for laws.
#pragma once

#include <utility>
#include <vector>

#include <memsched/graph/walk.hpp>

#include "support/random_problem.hpp"

namespace support {

/// Active nodes, each of those that are ready with the same probability.
inline std::vector<memsched::node_id> random_order(const memsched::schedule_graph& g, random& r) {
  using namespace memsched;
  std::vector<node_id> ready, order;
  order_walk w(g);
  for (node_id v = 0; v < g.active; ++v)
    if (w.ready(v)) ready.push_back(v);
  while (!ready.empty()) {
    std::swap(ready[r.below(static_cast<std::uint32_t>(ready.size()))], ready.back());
    const node_id v = ready.back();
    ready.pop_back();
    order.push_back(v);
    w.fire(v, [&](node_id u) { ready.push_back(u); });
  }
  return order;
}

}  // namespace support
