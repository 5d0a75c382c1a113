// The window of an order that forces its peak.
#pragma once

#include <cstddef>
#include <cstdint>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A window [first, last) of the positions of an order, and the bound that it alone proves: for any order of the rest and
/// its own, no order of the whole graph has a peak below `bound` (see `closed_window`). Bytes.
struct forcing_stretch {
  std::size_t first = 0, last = 0;
  bytes bound = 0;
};

/// A stretch around the highest node of `s.order` that proves as much as `s.lower_bound`: the shortest of those with 16, 32,
/// ... nodes; or else the whole order. Asks `automatic` about the windows, with `states` states for each. Graphs that do not
/// know their resources have no windows.
forcing_stretch find_forcing_stretch(const schedule_graph& g, search& context, const solution& s,
                                     std::uint64_t states = 20000);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <vector>

#include <memsched/base/backbone.hpp>
#include <memsched/bounds/closed_window.hpp>
#include <memsched/bounds/windowed_cut.hpp>
#include <memsched/schedulers/automatic.hpp>
#include <memsched/structure/line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION forcing_stretch find_forcing_stretch(const schedule_graph& g, search& context, const solution& s,
                                                       std::uint64_t states) {
  const forcing_stretch whole{0, s.order.size(), s.lower_bound};
  if (g.resources.empty() || g.active == 0 || !context.keep_going()) return whole;
  const structure::order_line line(g, s.order);
  const bounds::live_index live(line);
  const base::backbone bone(g.preds, g.succs, line.nodes(0, line.size()));
  const std::size_t at = line.highest();
  for (std::size_t reach = 8; reach < line.size() && context.keep_going(); reach *= 2) {
    const auto [a, b] = line.around(at, reach);
    const auto window = close_window(line, live, bone, a, b);
    if (!window || (a == 0 && b == line.size())) continue;
    const bytes asked = s.lower_bound + window->lift;
    const auto solve = [&] { return automatic(window->graph, context); };
    const auto limited = [&] { return context.control().with_states(states, solve); };
    const solution t = context.control().aside([&] {
      return context.ask({std::min(window->graph.base, asked), asked}, limited);
    });
    if (t.lower_bound < asked) continue;
    const auto operators = [&](std::size_t from, std::size_t to) {
      const auto nodes = line.nodes(from, to);
      return static_cast<std::size_t>(
          std::count_if(nodes.begin(), nodes.end(), [&](node_id v) { return !g.is_release(v); }));
    };
    const std::size_t first = operators(0, a);
    return {first, first + operators(a, b), s.lower_bound};
  }
  return whole;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
