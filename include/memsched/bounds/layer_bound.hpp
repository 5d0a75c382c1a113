// Lower bounds from the first and the last node of a layer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/bounds/lowest_set.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// A bound of the peak from a layer: any set of active nodes, such as the rows that an operator was cut into. It is unknown
/// which of them runs first.
///
/// Lemma. Premise: K is a layer. Conclusion: no order has a peak below the least, over the members r of K with no other
/// member before them, of r's peak plus the lowest level of a set with r's ancestors and without K and the nodes after K.
/// Proof: some member r of K runs first in an order. The nodes that have run then form such a set: it holds r's ancestors,
/// and so none of these is in K; it holds no member of K, and so nothing that runs after one. Likewise for the last member
/// r: the set that has run then holds all other members with their ancestors, and neither r nor the nodes that run after r,
/// of which none is in K. A layer of one node gives the bound of `cut_bound`. A larger one gives more than any of its members
/// if each member could run cheaply after others: at the start of a grid of rows, when the first row of a deep layer
/// needs some rows of all those before it.
class layer_bound {
 public:
  explicit layer_bound(const schedule_graph& g) : g_(&g), lowest_(g), mark_(g.size(), free) {}

  /// The bound of the first member of a layer, which is not empty and names no node twice; bytes. If it is `least` or
  /// less, any number up to `least`: the members that take least right after their ancestors come first, and the first that
  /// shows this ends it. At most one minimum cut for each member; asks `go_on` before each, and whenever some millions of
  /// nodes and edges were visited. Gives no bound (0) if that said no.
  bytes of_first(std::span<const node_id> layer, bytes least, function_ref<bool()> go_on) {
    std::fill(mark_.begin(), mark_.end(), free);
    for (node_id r : layer) place(r, behind);
    spread(g_->succs, behind);
    const plain_vector<mark> around = mark_;
    return least_of(layer, least, go_on, around, [&](node_id r) {
      for (node_id u : g_->preds[r]) place(u, ran);
      return spread(g_->preds, ran);
    });
  }
  /// Likewise of the last member.
  bytes of_last(std::span<const node_id> layer, bytes least, function_ref<bool()> go_on) {
    std::fill(mark_.begin(), mark_.end(), free);
    for (node_id r : layer)
      for (node_id u : g_->preds[r]) place(u, ran);
    delta all = spread(g_->preds, ran);
    std::vector<node_id> last;
    for (node_id r : layer)
      if (mark_[r] == free) last.push_back(r);  // else it runs before another one
    for (node_id r : last) mark_[r] = ran, all += g_->cost[r].impact, ++work_;
    const plain_vector<mark> around = mark_;
    return least_of(last, least, go_on, around, [&](node_id r) {
      mark_[r] = free;
      place(r, behind);
      spread(g_->succs, behind);
      return all - g_->cost[r].impact;
    });
  }

  /// One of these.
  bytes of(std::span<const node_id> layer, bool first, bytes least, function_ref<bool()> go_on) {
    return first ? of_first(layer, least, go_on) : of_last(layer, least, go_on);
  }

  /// Nodes and edges visited by all calls so far.
  std::uint64_t work() const { return work_ + lowest_.work(); }

 private:
  enum mark : unsigned char { free, ran, behind };
  static constexpr delta never = std::numeric_limits<delta>::max();
  static constexpr std::uint64_t million = std::uint64_t{1} << 20;

  void place(node_id u, mark m) {
    if (mark_[u] == free) mark_[u] = m, stack_.push_back(u);
    else if (mark_[u] != m) clash_ = true;
  }
  /// Marks all nodes that the placed nodes lead to. Returns the sum of their impacts.
  delta spread(const adjacency& next, mark m) {
    delta impact = 0;
    while (!stack_.empty()) {
      const node_id u = stack_.back();
      stack_.pop_back();
      impact += g_->cost[u].impact;
      work_ += 1 + next[u].size();
      for (node_id x : next[u]) place(x, m);
    }
    return impact;
  }
  /// The least that some members take when they run. `begin` marks the nodes that have run by then, and those that have not,
  /// and returns the impact of the former.
  template <class Begin>
  bytes least_of(std::span<const node_id> members, bytes least, function_ref<bool()> go_on, const plain_vector<mark>& around,
                 Begin begin) {
    plain_vector<std::pair<delta, node_id>> alone;  // bytes of each if nothing else has run
    const auto start = [&](node_id r) {
      mark_ = around, clash_ = false;
      work_ += mark_.size() / 8;
      const delta level = static_cast<delta>(g_->base) + begin(r);
      return clash_ ? never : level + g_->cost[r].peak;
    };
    std::uint64_t asked = work_;
    for (node_id r : members) {
      if (work_ - asked > million && (asked = work_, !go_on())) return 0;
      if (const delta height = start(r); height != never) alone.emplace_back(height, r);
    }
    std::sort(alone.begin(), alone.end());
    bytes lowest = std::numeric_limits<bytes>::max();
    for (const auto& [height, r] : alone) {
      if (height <= static_cast<delta>(least)) return least;  // cuts only lower it
      if (!go_on()) return 0;
      start(r);
      lowest_.clear();
      for (node_id u = 0; u < g_->size(); ++u)
        if (mark_[u] == free) lowest_.add(u);
      work_ += g_->size();
      const delta lowered = height + lowest_.solve(
                                         g_->preds, r, [&](node_id u) { return mark_[u] == ran; }, go_on);
      lowest = std::min(lowest, static_cast<bytes>(std::max<delta>(lowered, 0)));
      if (lowest <= least) return lowest;
    }
    return lowest;
  }

  const schedule_graph* g_;
  lowest_set lowest_;
  plain_vector<mark> mark_;
  std::vector<node_id> stack_;
  bool clash_ = false;  // whether a node was to be on both sides
  std::uint64_t work_ = 0;
};

/// Sets of two nodes or more that are likely to give a bound as layers: nodes at the same distance from the sources, or from
/// the sinks, by longest paths; nodes of the same cost; nodes of the same cost and distance. Each ascending, and none twice.
/// O(nodes log nodes + edges). Asks `go_on` before each of these kinds when the graph has more than 65,536 nodes, and gives
/// none if that said no.
MEMSCHED_FUNCTION std::vector<std::vector<node_id>> likely_layers(const schedule_graph& g, function_ref<bool()> go_on);

/// A layer that gives a bound, by its first or its last members.
struct best_layer {
  bytes bound = 0;
  std::vector<node_id> members{};  ///< none if no layer gave more than was known
  bool first = false;
  bool gave_up = false;    ///< for lack of patience
  std::uint64_t work = 0;  ///< nodes and edges visited
};

/// Looks for the likely layer that gives the best bound.
class layer_search {
 public:
  /// g must outlive it.
  explicit layer_search(const schedule_graph& g) : g_(&g), bounds_(g) {}

  /// The best bound of the layers, no less than `start`; bytes. Layers are tried by the memory that `order` takes when it
  /// runs their first member, or their last. A layer is passed over if that memory, or its bound by an earlier call, is
  /// no more than the bound so far. Asks `go_on` before each cut and each kind of layers. Gives up if the bound has not
  /// risen for `patience` nodes and edges visited, which only large graphs take; within a layer for eight times as many, and
  /// at least twice as many as the last time. Another call goes on from there.
  MEMSCHED_FUNCTION best_layer run(std::span<const node_id> order, bytes start, function_ref<bool()> go_on,
                                   std::uint64_t patience = std::uint64_t{3} << 22);

 private:
  /// The bound of a layer by its first or its last members is no more than `most`.
  struct question {
    std::size_t layer;
    bool first;
    bytes most;
    std::uint64_t patience = 0;  ///< nodes and edges that the last attempt could visit
  };

  const schedule_graph* g_;
  layer_bound bounds_;
  std::vector<std::vector<node_id>> layers_{};
  std::vector<question> questions_{};  // of all layers
};

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <cstddef>

#include <memsched/graph/walk.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

MEMSCHED_FUNCTION std::vector<std::vector<node_id>> likely_layers(const schedule_graph& g, function_ref<bool()> go_on) {
  const std::vector<node_id> order = base::topological_order(g.preds, g.succs);
  std::vector<index_t> from_sources(g.size(), 0), to_sinks(g.size(), 0);
  for (node_id v : order)
    for (node_id u : g.preds[v]) from_sources[v] = std::max(from_sources[v], from_sources[u] + 1);
  for (std::size_t i = order.size(); i-- > 0;)
    for (node_id u : g.preds[order[i]]) to_sinks[u] = std::max(to_sinks[u], to_sinks[order[i]] + 1);
  constexpr std::size_t large = std::size_t{1} << 16;
  std::vector<std::vector<node_id>> layers;
  bool all = true;
  const auto add_alike = [&](auto key) {
    all = all && (g.active <= large || go_on());
    if (!all) return;
    plain_vector<std::pair<decltype(key(0)), node_id>> nodes;
    nodes.reserve(g.active);
    for (node_id v = 0; v < g.active; ++v) nodes.emplace_back(key(v), v);
    std::sort(nodes.begin(), nodes.end());
    for (auto i = nodes.begin(), j = i; i != nodes.end(); i = j) {
      while (j != nodes.end() && j->first == i->first) ++j;
      if (j - i < 2) continue;
      std::vector<node_id>& layer = layers.emplace_back();
      for (auto k = i; k != j; ++k) layer.push_back(k->second);
    }
  };
  const auto cost = [&](node_id v) { return std::pair(g.cost[v].peak, g.cost[v].impact); };
  add_alike([&](node_id v) { return from_sources[v]; });
  add_alike([&](node_id v) { return to_sinks[v]; });
  add_alike([&](node_id v) { return cost(v); });
  add_alike([&](node_id v) { return std::pair(cost(v), from_sources[v]); });
  add_alike([&](node_id v) { return std::pair(cost(v), to_sinks[v]); });
  if (!all) return {};
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  return layers;
}

MEMSCHED_FUNCTION best_layer layer_search::run(std::span<const node_id> order, bytes start, function_ref<bool()> go_on,
                                               std::uint64_t patience) {
  if (questions_.empty()) {
    layers_ = likely_layers(*g_, go_on);
    for (std::size_t i = 0; i < layers_.size(); ++i)
      for (const bool first : {true, false}) questions_.push_back({i, first, std::numeric_limits<bytes>::max()});
  }
  plain_vector<std::size_t> position(g_->size());
  plain_vector<bytes> height(g_->size());
  order_walk w(*g_);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const node_id v = order[i];
    position[v] = i;
    height[v] = static_cast<bytes>(w.level() + w.effect(v).peak);
    w.fire(v);
  }
  const auto earlier = [&](node_id a, node_id b) { return position[a] < position[b]; };
  plain_vector<std::pair<bytes, question*>> open;
  for (question& q : questions_) {
    if (q.most <= start) continue;
    const auto& layer = layers_[q.layer];
    const node_id v = q.first ? *std::min_element(layer.begin(), layer.end(), earlier)
                              : *std::max_element(layer.begin(), layer.end(), earlier);
    if (height[v] > start) open.emplace_back(height[v], &q);  // no bound exceeds the peak of the order
  }
  std::stable_sort(open.begin(), open.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  best_layer best{.bound = start};
  const question* by = nullptr;
  bool more = true;
  const std::uint64_t before = bounds_.work();
  std::uint64_t end = before + patience, end_of_layer = 0;
  const auto ask = [&] {
    best.gave_up = bounds_.work() > std::max(end, end_of_layer);
    return more = more && !best.gave_up && go_on();
  };
  for (const auto& [reached, q] : open) {
    if (reached <= best.bound || !ask()) break;
    if (q->most <= best.bound) continue;
    q->patience = std::max(8 * patience, 2 * q->patience);
    end_of_layer = bounds_.work() + q->patience;
    const bytes bound = bounds_.of(layers_[q->layer], q->first, best.bound, ask);
    if (!more) break;
    end_of_layer = 0;
    if (bound > best.bound) best.bound = bound, by = q, end = bounds_.work() + patience;
    q->most = best.bound;
  }
  best.work = bounds_.work() - before;
  if (by != nullptr) best.members = layers_[by->layer], best.first = by->first;
  return best;
}

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
