// A schedule graph read from its end (Fradet et al., section 3).
#pragma once

#include <algorithm>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// The graph whose orders are those of g, releases included, reversed: edges turned, peaks and drops exchanged, impacts
/// negated, the level at the end in front. All its nodes are active. A reversed order has the same peak; with credits,
/// which have no mirror image and are left out, the peak in the image may be higher. O(nodes + edges).
inline schedule_graph mirror_image(const schedule_graph& g) {
  schedule_graph m;
  m.active = g.size();
  m.preds = g.succs;
  m.succs = g.preds;
  delta level = static_cast<delta>(g.base);
  for (const node_cost& c : g.cost) {
    const delta peak = std::max({c.peak, c.impact, delta{0}});
    m.cost.push_back({peak - c.impact, -c.impact});
    m.credits.close();
    level += c.impact;
  }
  m.base = static_cast<bytes>(std::max<delta>(level, 0));
  return m;
}

/// The order of g that is the mirror image of an order of `mirror_image(g)`: reversed, without releases.
inline std::vector<node_id> reflected(const schedule_graph& g, std::vector<node_id> order) {
  std::reverse(order.begin(), order.end());
  std::erase_if(order, [&](node_id v) { return g.is_release(v); });
  return order;
}

}  // namespace structure
}  // namespace MEMSCHED_ABI
}  // namespace memsched
