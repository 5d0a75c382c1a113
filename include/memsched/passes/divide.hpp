// Divide and conquer at waists (SERENITY, section 3.2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/waists.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Cuts the graph behind every waist and schedules the parts one by one. Keeps the optimum, since every order can be made
/// to run the parts one after the other without a higher peak (see `hourglass`). There is nothing left to divide in a
/// part; a pass behind this one that changes it may be followed by another `divide`.
///
/// The bounds of the parts that are done are the floor of the others: a part need not go below what another takes
/// anyway. So the parts that seem to need most come first, and one whose plain topological order stays within the floor
/// needs no scheduler. After a limit is met, parts keep that order.
struct divide {
  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;

  /// The nodes of each part, ascending. O(nodes + edges).
  static std::vector<std::vector<node_id>> parts(const schedule_graph& g) {
    const std::vector<node_id> order = topological_order(g.preds, g.succs);
    const std::vector<std::size_t> part = part_of(g, order);
    std::vector<std::vector<node_id>> members;
    for (node_id v : order) {
      if (part[v] >= members.size()) members.resize(part[v] + 1);
      members[part[v]].push_back(v);
    }
    members.erase(std::remove_if(members.begin(), members.end(), [](const auto& m) { return m.empty(); }), members.end());
    for (auto& m : members) std::sort(m.begin(), m.end());
    return members;
  }

 private:
  /// A part in a plain order.
  struct task {
    index_t part;
    bytes base, peak;  ///< level at its start, and the highest
  };

  /// The number of waists that come before each node: late nodes join the part that needs them, early ones the part
  /// that they are ready in.
  static std::vector<std::size_t> part_of(const schedule_graph& g, const std::vector<node_id>& order) {
    const hourglass glass(g);
    std::vector<std::size_t> part(g.size(), 0);
    std::size_t last = 0;
    for (node_id v : order) {
      if (glass.drifting[v] != drift::firm) continue;
      part[v] = last;
      if (last < glass.waists.size() && glass.waists[last] == v) ++last;
    }
    for (std::size_t i = order.size(); i-- > 0;) {
      const node_id v = order[i];
      if (glass.drifting[v] != drift::late) continue;
      part[v] = last;
      for (node_id s : g.succs[v]) part[v] = std::min(part[v], part[s]);
    }
    for (node_id v : order)
      if (glass.drifting[v] == drift::early)
        for (node_id u : g.preds[v]) part[v] = std::max(part[v], part[u]);
    return part;
  }

  /// Where each node stands in its part.
  struct place {
    index_t part;
    node_id local;
  };

  /// The resources of each part: those that one of its nodes makes or frees. What is live throughout a part is none of it.
  static list_of<index_t> resources_of(const schedule_graph& g, const std::vector<place>& places, std::size_t parts) {
    std::vector<std::pair<index_t, index_t>> pairs;
    for (index_t i = 0; i < g.resources.size(); ++i) {
      const resource& r = g.resources[i];
      if (r.from != none) pairs.emplace_back(places[r.from].part, i);
      if (r.to != none && (r.from == none || places[r.to].part != places[r.from].part))
        pairs.emplace_back(places[r.to].part, i);
    }
    return list_of<index_t>::from_pairs(parts, pairs);
  }

  /// The parts in the order `plain`, each behind the one before. O(nodes + edges).
  static std::vector<task> tasks_of(const schedule_graph& g, const std::vector<std::vector<node_id>>& members,
                                    const std::vector<std::vector<node_id>>& plain) {
    std::vector<task> tasks;
    tasks.reserve(members.size());
    order_walk w(g);
    auto level = static_cast<delta>(g.base);
    for (index_t i = 0; i < members.size(); ++i) {
      delta peak = level;
      for (node_id v : plain[i]) {
        peak = std::max(peak, w.level() + w.effect(v).peak);
        w.fire(v);
      }
      tasks.push_back({i, static_cast<bytes>(level), static_cast<bytes>(peak)});
      for (node_id v : members[i]) level += g.cost[v].impact;
    }
    return tasks;
  }
};

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/graph/induced_subgraph.hpp>

namespace memsched::inline MEMSCHED_ABI {

MEMSCHED_FUNCTION solution divide::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  if (!context.keep_going()) return {topological_order(g)};
  const std::vector<std::vector<node_id>> members = parts(g);
  if (members.size() <= 1) return inner(g, context);
  std::vector<place> places(g.size());
  for (index_t i = 0; i < members.size(); ++i)
    for (node_id k = 0; k < members[i].size(); ++k) places[members[i][k]] = {i, k};
  std::vector<std::vector<node_id>> orders(members.size());  // of each part, in nodes of g
  for (node_id v : topological_order(g)) orders[places[v].part].push_back(v);
  std::vector<task> tasks = tasks_of(g, members, orders);
  std::stable_sort(tasks.begin(), tasks.end(), [](const task& a, const task& b) { return a.peak > b.peak; });
  const list_of<index_t> resources = resources_of(g, places, members.size());

  solution whole;
  std::vector<node_id> local(g.size(), none);
  bytes done = 0;  // the highest peak of the parts so far
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const task& t = tasks[i];
    ++context.stats.parts;
    bytes peak = t.peak;
    if (t.peak > std::max(whole.lower_bound, context.floor()) && context.keep_going()) {
      const auto& nodes = members[t.part];
      schedule_graph part = induced_subgraph(g, nodes, t.base, local);
      for (index_t k : resources[t.part]) {
        const auto inside = [&](node_id v) { return v != none && places[v].part == t.part ? places[v].local : none; };
        const resource& r = g.resources[k];
        part.resources.push_back({inside(r.from), inside(r.to), r.size});
      }
      const bytes beside = std::max(done, i + 1 < tasks.size() ? tasks[i + 1].peak : 0);
      const auto solve = [&] { return inner(part, context); };
      solution s = context.with_floor(whole.lower_bound, [&] { return context.with_rest(beside, solve); });
      if (s.error) return s;
      peak = peak_of(part, s.order);
      orders[t.part].clear();
      for (node_id v : s.order) orders[t.part].push_back(nodes[v]);
      whole.lower_bound = std::max(whole.lower_bound, s.lower_bound);
    }
    done = std::max(done, peak);
  }
  for (const auto& order : orders) whole.order.insert(whole.order.end(), order.begin(), order.end());
  return whole;
}

}  // namespace memsched

#endif
