// The schedules of single groups of a hierarchical graph, kept by context.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/beam.hpp>
#include <memsched/schedulers/hierarchical/policy.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/hierarchy.hpp>
#include <memsched/structure/induced_subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

inline constexpr delta unlimited = std::numeric_limits<delta>::max();

/// One way to run a unit in one go, in bytes relative to the level before it.
struct unit_way : node_cost {
  index_t order = none;  ///< of a group: where its order is kept
};

/// The schedules of groups. A group's context says which of the values that others read too are used there for the last
/// time; nothing else outside matters to it.
class group_library {
 public:
  group_library(const hierarchical_graph& h, const hierarchical& policy, search& context)
      : h_(h), policy_(policy), context_(context), memo_(h.groups.size()), local_(h.graph.size(), none) {
    for (index_t group = 0; group < h.groups.size(); ++group) {
      std::vector<node_id> shared, inner;
      for (node_id v : h.groups[group])
        for (node_id r : h.graph.succs[v])
          if (h.graph.is_release(r)) (within(r, group) ? inner : shared).push_back(r);
      for (auto [from, to] : {std::pair{&shared, &shared_}, std::pair{&inner, &inner_}}) {
        std::sort(from->begin(), from->end());
        from->erase(std::unique(from->begin(), from->end()), from->end());
        for (node_id r : *from) to->push(r);
        to->close();
      }
    }
  }

  /// Releases that wait for nodes of the group and for others; ascending.
  std::span<const node_id> shared(index_t group) const { return shared_[group]; }
  const std::vector<node_id>& order(index_t place) const { return orders_[place]; }
  /// About, for the memory limit.
  std::uint64_t bytes_held() const { return held_; }

  /// The best way to run a group from `level` on; nothing if each exceeds `cutoff`. `last` tells of each shared
  /// release whether it waits for the group alone. Up to `cost`, no way is better than another.
  std::optional<unit_way> way(index_t group, const std::vector<bool>& last, delta level, delta cost, delta cutoff) {
    answer fresh;
    answer& a = policy_.memoize ? memo_[group][last] : fresh;
    if (a.part.size() == 0) prepare(a, group, last);
    if (policy_.simple_schedules && level + a.simple.peak <= cost) return keep(a, a.simple, a.simple_order);
    if (!a.solved) solve(a, policy_.adaptive_budget && cutoff != unlimited ? cutoff - level : unlimited);
    if (!a.solved) return std::nullopt;
    return keep(a, a.best, a.best_order);
  }

 private:
  struct answer {
    schedule_graph part;           // with the releases that run inside
    std::vector<node_id> members;  // part's node i is members[i]
    std::vector<node_id> simple_order, best_order;
    unit_way simple, best;
    delta target = -1;  // no order of the part has a lower peak; not computed yet if negative
    bool solved = false;
    delta refused = -1;  // no order of the part has a peak as low as this
  };

  bool within(node_id release, index_t group) const {
    const auto readers = h_.graph.preds[release];
    return std::all_of(readers.begin(), readers.end(), [&](node_id v) { return h_.group[v] == group; });
  }

  void prepare(answer& a, index_t group, const std::vector<bool>& last) {
    a.members.assign(h_.groups[group].begin(), h_.groups[group].end());
    const auto releases = static_cast<std::ptrdiff_t>(a.members.size());
    a.members.insert(a.members.end(), inner_[group].begin(), inner_[group].end());
    for (std::size_t i = 0; i < last.size(); ++i)
      if (last[i]) a.members.push_back(shared_[group][i]);
    std::sort(a.members.begin() + releases, a.members.end());
    a.part = induced_subgraph(h_.graph, a.members, 0, local_);
    a.part.roots.clear();
    for (node_id v = 0; v < a.part.active; ++v) {
      const auto next = a.part.succs[v];
      if (std::all_of(next.begin(), next.end(), [&](node_id s) { return a.part.is_release(s); })) a.part.roots.push_back(v);
    }
    if (policy_.memoize) held_ += a.part.size() * (sizeof(node_cost) + 6 * sizeof(std::size_t)) + 4 * a.part.preds.items();
    a.simple_order = rpo{}(a.part, context_).order;
    order_walk w(a.part);
    for (node_id v : a.simple_order) w.fire(v);
    a.simple = {{w.peak(), w.level()}};
  }

  void solve(answer& a, delta room);

  /// Hands out a way, its order kept in terms of the whole graph.
  unit_way keep(const answer& a, unit_way& way, const std::vector<node_id>& order) {
    if (way.order == none) {
      way.order = static_cast<index_t>(orders_.size());
      orders_.emplace_back();
      for (node_id v : order) orders_.back().push_back(a.members[v]);
      held_ += order.size() * sizeof(node_id);
    }
    return way;
  }

  const hierarchical_graph& h_;
  const hierarchical& policy_;
  search& context_;
  list_of<node_id> shared_, inner_;
  std::vector<std::map<std::vector<bool>, answer>> memo_;
  std::vector<std::vector<node_id>> orders_;
  std::uint64_t held_ = 0;
  std::vector<node_id> local_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
