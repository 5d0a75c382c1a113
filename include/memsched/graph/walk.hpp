// Runs a schedule graph step by step, keeping track of ready nodes and memory.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// A position in some order of a schedule graph: the nodes that have run, and the level. Steps are O(successors + credits).
class retractable_walk {
 public:
  explicit retractable_walk(const schedule_graph& g) : g_(&g), waits_(g.size()), level_(static_cast<delta>(g.base)) {
    for (node_id v = 0; v < g.size(); ++v) waits_[v] = static_cast<index_t>(g.preds[v].size());
  }

  /// Whether every predecessor of v has run.
  bool ready(node_id v) const { return waits_[v] == 0; }
  /// Predecessors of v that have not run.
  index_t waits(node_id v) const { return waits_[v]; }
  /// Level now, in bytes.
  delta level() const { return level_; }
  /// The effect of running v now, releases included, relative to the level now.
  node_cost effect(node_id v) const {
    return effect_of(*g_, v, [this](node_id release) { return waits_[release] == 1; });
  }

  /// Runs v, which must be ready, and the releases that become ready; calls newly_ready(u) for each other node that does.
  /// Returns the effect.
  template <class F>
  node_cost fire(node_id v, F&& newly_ready) {
    const node_cost c = effect(v);
    level_ += c.impact;
    for (node_id s : g_->succs[v])
      if (--waits_[s] == 0 && !g_->is_release(s)) newly_ready(s);
    return c;
  }
  /// Undoes `fire(v)`, the last that was not undone.
  void take_back(node_id v) {
    for (node_id s : g_->succs[v]) ++waits_[s];
    level_ -= effect(v).impact;
  }

 private:
  const schedule_graph* g_;
  std::vector<index_t> waits_;
  delta level_;
};

}  // namespace detail

/// The same with the highest level so far; it only goes on.
class order_walk : detail::retractable_walk {
 public:
  explicit order_walk(const schedule_graph& g) : retractable_walk(g), peak_(level()) {}
  using retractable_walk::effect, retractable_walk::level, retractable_walk::ready, retractable_walk::waits;

  /// Highest level so far.
  delta peak() const { return peak_; }

  template <class F>
  void fire(node_id v, F&& newly_ready) {
    const delta before = level();
    peak_ = std::max(peak_, before + retractable_walk::fire(v, newly_ready).peak);
  }
  void fire(node_id v) {
    fire(v, [](node_id) {});
  }

 private:
  delta peak_;
};

/// The peak of an order of all active nodes, in bytes. O(nodes + edges).
inline bytes peak_of(const schedule_graph& g, std::span<const node_id> order) {
  order_walk w(g);
  for (node_id v : order) w.fire(v);
  return static_cast<bytes>(w.peak());
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
