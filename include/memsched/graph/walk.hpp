// Running a schedule graph step by step: which nodes are ready, and what memory does.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>

namespace memsched {

/// A position in some order of a schedule graph: what has run, and the level. `fire` is O(successors + credits).
class walk {
 public:
  explicit walk(const schedule_graph& g) : g_(&g), waits_(g.size()), level_(static_cast<delta>(g.base)), peak_(level_) {
    for (node v = 0; v < g.size(); ++v) waits_[v] = static_cast<index>(g.preds[v].size());
  }

  /// Whether every predecessor of v has run.
  bool ready(node v) const { return waits_[v] == 0; }
  /// Predecessors of v that have not run.
  index waits(node v) const { return waits_[v]; }
  /// Level now, in bytes.
  delta level() const { return level_; }
  /// Highest level so far.
  delta peak() const { return peak_; }

  /// What running v now would do, releases included, relative to the level now.
  node_cost effect(node v) const {
    node_cost c = g_->cost[v];
    for (const credit& k : g_->credits[v])
      if (waits_[k.release] == 1) c.peak -= k.amount;
    for (node s : g_->succs[v])
      if (g_->is_release(s) && waits_[s] == 1) c.impact += g_->cost[s].impact;
    c.peak = std::max(c.peak, c.impact);
    return c;
  }

  /// Runs v, which must be ready, and the releases that become ready; calls newly_ready(u) for each other node that does.
  template <class F>
  void fire(node v, F&& newly_ready) {
    const node_cost c = effect(v);
    peak_ = std::max(peak_, level_ + c.peak);
    level_ += c.impact;
    for (node s : g_->succs[v])
      if (--waits_[s] == 0 && !g_->is_release(s)) newly_ready(s);
  }
  void fire(node v) {
    fire(v, [](node) {});
  }

 private:
  const schedule_graph* g_;
  std::vector<index> waits_;
  delta level_, peak_;
};

/// The peak of an order of all active nodes, in bytes. O(nodes + edges).
inline bytes peak_of(const schedule_graph& g, std::span<const node> order) {
  walk w(g);
  for (node v : order) w.fire(v);
  return static_cast<bytes>(w.peak());
}

}  // namespace memsched
