// Divide and conquer at waists (SERENITY, section 3.2).
#pragma once

#include <algorithm>
#include <vector>

#include <memsched/analysis/bounds.hpp>
#include <memsched/analysis/waists.hpp>
#include <memsched/graph/subgraph.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/policy/policy.hpp>

namespace memsched {

/// Cuts the graph behind every waist and schedules the parts one by one. Keeps the optimum, since every order runs the
/// parts one after the other. The bounds of all parts are the floor of each: a part need not go below what another
/// part takes anyway.
struct divide {
  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
    const std::vector<std::vector<node>> members = parts(g);
    if (members.size() <= 1) return inner(g, context);
    solution whole;
    std::vector<node> local(g.size(), none);
    delta level = static_cast<delta>(g.base);
    for (const auto& part : members) {
      const schedule_graph h = subgraph(g, part, static_cast<bytes>(level), local);
      ++context.stats.parts;
      const solution s = context.with_floor(whole.lower_bound, [&] { return inner(h, context); });
      for (node v : s.order) whole.order.push_back(part[v]);
      whole.lower_bound = std::max(whole.lower_bound, s.lower_bound);
      for (node v : part) level += g.cost[v].impact;
    }
    return whole;
  }

  /// The nodes of each part, ascending. O(nodes + edges).
  static std::vector<std::vector<node>> parts(const schedule_graph& g) {
    const std::vector<node> cuts = waists(g);
    std::vector<bool> is_cut(g.size(), false);
    for (node v : cuts) is_cut[v] = true;
    std::vector<std::vector<node>> members(1);
    for (node v : topological_order(g.preds, g.succs)) {
      members.back().push_back(v);
      if (is_cut[v]) members.emplace_back();
    }
    if (members.back().empty()) members.pop_back();
    for (auto& part : members) std::sort(part.begin(), part.end());
    return members;
  }
};

}  // namespace memsched
