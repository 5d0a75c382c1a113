// HMCOS: iterative scheduling of hierarchical graphs (Wang et al., DAC 2022, section 3.2).
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/schedulers/hierarchical/policy.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/hierarchical/level_search.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/hierarchy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Takes groups apart that have to do with values live at a peak of the order: values of nodes that have run while one
/// that needs them has not. First the groups that such values come from; if there is none, and `readers` says so,
/// those that need them. Returns how many sequences that frees.
inline std::size_t disassemble(const schedule_graph& h, const std::vector<node_id>& order, const list_of<node_id>& groups,
                               bool readers, std::vector<index_t>& group) {
  std::vector<delta> height;
  std::vector<std::size_t> position(h.active);
  order_walk w(h);
  for (node_id v : order) {
    position[v] = height.size();
    height.push_back(w.level() + w.effect(v).peak);
    w.fire(v);
  }
  std::vector<std::size_t> next_peak(order.size() + 1, order.size());
  for (std::size_t i = order.size(); i-- > 0;) next_peak[i] = height[i] == w.peak() ? i : next_peak[i + 1];

  std::size_t freed = 0;
  const auto free = [&](node_id v) {
    if (group[v] == none) return;
    const auto members = groups[group[v]];
    freed += members.size();
    for (node_id member : members) group[member] = none;
  };
  const auto live_at_peak = [&](node_id v) {
    std::size_t until = position[v];
    for (node_id s : h.succs[v])
      if (!h.is_release(s)) until = std::max(until, position[s]);
    return next_peak[position[v]] <= until;
  };
  for (node_id v = 0; v < h.active; ++v)
    if (group[v] != none && live_at_peak(v)) free(v);
  if (freed > 0 || !readers) return freed;
  for (node_id v = 0; v < h.active; ++v)
    if (live_at_peak(v))
      for (node_id s : h.succs[v])
        if (!h.is_release(s)) free(s);
  return freed;
}

}  // namespace detail

MEMSCHED_FUNCTION solution hierarchical::run(const schedule_graph& g, search& context,
                                             base::function_ref<void(const iteration&)> each) const {
  solution s = rpo{}(g, context);
  bytes best = peak_of(g, s.order);
  s.lower_bound = std::max(context.asked().target, g.base);
  if (s.lower_bound >= best || !context.keep_going()) return s;

  const structure::hierarchical_graph h = hierarchize(g, level, max_cell);
  std::vector<index_t> group = h.group;
  detail::group_library library(h, *this, context);
  const auto go_on = [&] { return context.control().count_cut(); };
  iteration round{.sequences = h.graph.active};
  for (delta cutoff = detail::unlimited;;) {
    const std::uint64_t states = context.control().stats.states;
    detail::level_search search_level(h.graph, group, &library, *this, context);
    context.control().stats.nodes = std::max<std::uint64_t>(context.control().stats.nodes, search_level.units());
    std::optional<std::vector<node_id>> found;
    if (search_level.units() <= max_units)
      found = context.control().with_states(round_states,
                                            [&] { return search_level.run(static_cast<delta>(s.lower_bound), cutoff); });
    const std::vector<node_id> order = found               ? *found
                                       : context.stopped() ? greedy{}(h.graph, context).order
                                                           : beam{}(h.graph, context).order;
    round.peak = peak_of(h.graph, order);
    if (!found && static_cast<delta>(round.peak) > cutoff) break;
    round.states = context.control().stats.states - states;
    if (round.peak < best) {
      best = round.peak;
      s.order.clear();
      for (node_id i : order) s.order.insert(s.order.end(), h.sequences[i].begin(), h.sequences[i].end());
    }
    const bool exact = found && search_level.units() == h.graph.active;
    if (exact) s.lower_bound = best;
    else if (bounds && search_level.units() <= max_units)
      s.lower_bound = bounds::best_cut_bound(h.graph, order, s.lower_bound, go_on).bound;
    each(round);
    context.report(best, s.lower_bound);
    if (s.lower_bound >= best || !found || context.stopped()) break;
    const std::size_t freed = detail::disassemble(h.graph, order, h.groups, readers, group);
    if (freed == 0) break;
    round.freed += freed;
    if (adaptive_budget) cutoff = static_cast<delta>(round.peak);
  }
  return s;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
