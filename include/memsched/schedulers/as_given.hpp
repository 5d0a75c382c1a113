// The order that the caller's graph came in.
#pragma once

#include <functional>
#include <queue>
#include <vector>

#include <memsched/graph/walk.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {

/// Always the lowest index that is ready: the caller's own order wherever that is a valid one.
/// O((nodes + edges) log nodes).
struct as_given {
  static constexpr bool is_baseline = true;

  solution operator()(const schedule_graph& g, search&) const {
    solution s;
    s.order.reserve(g.active);
    walk w(g);
    std::priority_queue<node, std::vector<node>, std::greater<>> ready;
    for (node v = 0; v < g.active; ++v)
      if (w.ready(v)) ready.push(v);
    while (!ready.empty()) {
      const node v = ready.top();
      ready.pop();
      s.order.push_back(v);
      w.fire(v, [&](node u) { ready.push(u); });
    }
    return s;
  }
};

}  // namespace memsched
