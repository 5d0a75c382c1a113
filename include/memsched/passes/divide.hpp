// Divide and conquer at waists (SERENITY, section 3.2).
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/subgraph.hpp>
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
  struct task {
    std::size_t part;
    schedule_graph graph;
    std::vector<node_id> order;  ///< some order, until the scheduler finds one
    bytes peak;               ///< of that order
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

  static bytes peak_beside(const std::vector<task>& tasks, const task& one) {
    bytes peak = 0;
    for (const task& t : tasks)
      if (&t != &one) peak = std::max(peak, t.peak);
    return peak;
  }

  /// A resource is one of the parts that its ends are in; what is live throughout a part is none of it.
  static void share_resources(const schedule_graph& g, const std::vector<std::vector<node_id>>& members,
                              std::vector<task>& tasks) {
    if (g.resources.empty()) return;
    std::vector<std::pair<index_t, node_id>> place(g.size());
    for (index_t i = 0; i < members.size(); ++i)
      for (node_id k = 0; k < members[i].size(); ++k) place[members[i][k]] = {i, k};
    for (const resource& r : g.resources) {
      const auto [from_part, from] = r.from == none ? std::pair(none, none) : place[r.from];
      const auto [to_part, to] = r.to == none ? std::pair(none, none) : place[r.to];
      const bool within = from_part == to_part;
      if (from_part != none) tasks[from_part].graph.resources.push_back({from, within ? to : none, r.size});
      if (to_part != none && !within) tasks[to_part].graph.resources.push_back({none, to, r.size});
    }
  }

  static std::vector<task> prepare(const schedule_graph& g, const std::vector<std::vector<node_id>>& members) {
    std::vector<task> tasks;
    tasks.reserve(members.size());
    std::vector<node_id> local(g.size(), none);
    delta level = static_cast<delta>(g.base);
    for (std::size_t i = 0; i < members.size(); ++i) {
      task t{i, subgraph(g, members[i], static_cast<bytes>(level), local), {}, 0};
      t.order = topological_order(t.graph);
      t.peak = peak_of(t.graph, t.order);
      tasks.push_back(std::move(t));
      for (node_id v : members[i]) level += g.cost[v].impact;
    }
    share_resources(g, members, tasks);
    return tasks;
  }
};

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched::inline MEMSCHED_ABI {

MEMSCHED_FUNCTION solution divide::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  const std::vector<std::vector<node_id>> members = parts(g);
  if (members.size() <= 1) return inner(g, context);
  std::vector<task> tasks = prepare(g, members);
  std::stable_sort(tasks.begin(), tasks.end(), [](const task& a, const task& b) { return a.peak > b.peak; });
  solution whole;
  std::vector<std::vector<node_id>> orders(members.size());
  for (task& t : tasks) {
    ++context.stats.parts;
    orders[t.part] = std::move(t.order);
    if (t.peak <= std::max(whole.lower_bound, context.floor()) || !context.keep_going()) continue;
    const auto solve = [&] { return inner(t.graph, context); };
    solution s = context.with_floor(whole.lower_bound, [&] { return context.with_rest(peak_beside(tasks, t), solve); });
    if (s.error) return s;
    t.peak = peak_of(t.graph, s.order);
    orders[t.part] = std::move(s.order);
    whole.lower_bound = std::max(whole.lower_bound, s.lower_bound);
  }
  for (std::size_t i = 0; i < members.size(); ++i)
    for (node_id v : orders[i]) whole.order.push_back(members[i][v]);
  return whole;
}

}  // namespace memsched

#endif
