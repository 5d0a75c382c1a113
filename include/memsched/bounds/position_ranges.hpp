// Ranges of positions: the earliest and the latest at which each node can run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// The least that a counted node takes above the level at which it runs, with all its credits: bytes. `cost` may be another one
/// than that of g, for nodes that were merged.
inline delta least_rise(const schedule_graph& g, const std::vector<node_cost>& cost) {
  std::optional<delta> least;
  for (node_id v = 0; v < cost.size(); ++v) {
    if (cost[v].peak <= 0) continue;
    delta rise = cost[v].peak;
    for (const auto& c : g.credits[v]) rise -= c.amount;
    least = std::min(least.value_or(rise), rise);
  }
  return std::max<delta>(least.value_or(0), 0);
}

/// For each node the first k at which E(k) may hold it, and the k from which on it is due (see `placer`). Nodes with a peak are
/// counted. The costs must outlive it.
class position_ranges {
 public:
  using lists = std::vector<std::vector<node_id>>;
  struct surroundings {
    std::size_t before;                      ///< nodes that run before
    index_t counted_before, counted_behind;  ///< of those, and of those that run after
  };

  explicit position_ranges(const std::vector<node_cost>& cost)
      : cost_(&cost), first_(cost.size(), 0), due_(cost.size(), none) {
    for (node_id v = 0; v < cost.size(); ++v) counted_ += weight(v);
  }

  index_t counted() const { return counted_; }
  index_t weight(node_id v) const { return (*cost_)[v].peak > 0 ? 1 : 0; }
  bool may_hold(index_t k, node_id v) const { return first_[v] <= k; }
  bool is_due(index_t k, node_id v) const { return due_[v] <= k; }
  /// Whether u runs before v wherever both run.
  bool orders(node_id u, node_id v) const { return weight(u) != 0 && due_[u] <= first_[v]; }

  /// Narrows the ranges by an order of the nodes; `around(v)` returns the surroundings of v.
  template <class F>
  void follow(F&& around) {
    plain_vector<std::pair<std::size_t, node_id>> sorted;
    for (node_id v = 0; v < cost_->size(); ++v) {
      const surroundings s = around(v);
      first_[v] = std::max(first_[v], s.counted_before + weight(v));
      due_[v] = std::min(due_[v], counted_ - s.counted_behind - weight(v) + 1);
      sorted.emplace_back(s.before, v);
    }
    std::sort(sorted.begin(), sorted.end());
    topological_.clear();
    for (const auto& [before, v] : sorted) topological_.push_back(v);
  }
  /// Takes over that E(k) cannot hold v (`inside`), or cannot lack it.
  void narrow(index_t k, node_id v, bool inside) {
    if (inside) first_[v] = std::max(first_[v], k + 1);
    else due_[v] = std::min(due_[v], k);
  }
  /// Narrows the ranges of nodes by those of their neighbours. Returns false if some range is empty. O(nodes + edges).
  bool spread(const lists& preds) {
    for (node_id v : topological_)
      for (node_id u : preds[v]) first_[v] = std::max(first_[v], first_[u] + weight(v));
    for (std::size_t i = topological_.size(); i-- > 0;) {
      const node_id v = topological_[i];
      if (first_[v] > due_[v]) return false;
      for (node_id u : preds[v]) due_[u] = std::min(due_[u], due_[v] - weight(v));
    }
    return true;
  }

 private:
  const std::vector<node_cost>* cost_;
  index_t counted_ = 0;
  std::vector<index_t> first_, due_;
  std::vector<node_id> topological_;
};

}  // namespace bounds
}  // namespace MEMSCHED_ABI
}  // namespace memsched
