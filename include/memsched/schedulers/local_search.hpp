// Local search on orders: exact re-optimization of windows around the peak.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <memsched/graph/subgraph.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/policy/policy.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/best_first.hpp>

namespace memsched {

/// Takes a stretch of an order around its first peak and looks for an order of the same nodes that stays below the
/// peak; where there is none, or none in reach, the stretch is moved and widened. Any improvement starts over. Claims no
/// bound of its own.
struct local_search {
  std::size_t min_window = 24, max_window = 400;
  std::uint64_t states = 400;  ///< for one window, at the smallest width

  solution operator()(const schedule_graph& g, search& context) const { return improve(g, context, greedy{}(g, context)); }

  /// A better order than `s`, or s.
  solution improve(const schedule_graph& g, search& context, solution s) const {
    std::vector<node> local(g.size(), none);
    std::uint64_t effort = states;
    for (std::size_t width = min_window; !context.stopped();) {
      const delta peak = static_cast<delta>(peak_of(g, s.order));
      if (peak <= static_cast<delta>(std::max(context.floor(), s.lower_bound))) break;
      if (try_windows(g, context, s.order, peak, width, effort, local)) continue;
      if (width >= std::min(max_window, g.active)) break;
      width += width / 2;
      effort += effort / 2;
    }
    return s;
  }

 private:
  /// Tries the windows of one width that hold the first peak; true where one of them was improved.
  bool try_windows(const schedule_graph& g, search& context, std::vector<node>& order, delta peak, std::size_t width,
                   std::uint64_t effort, std::vector<node>& local) const {
    walk w(g);
    std::size_t at = 0;
    while (at < order.size() && w.level() + w.effect(order[at]).peak < peak) w.fire(order[at++]);
    for (std::size_t quarter : {2u, 1u, 3u, 0u, 4u}) {
      const std::size_t before = width * quarter / 4;
      const std::size_t first = at > before ? at - before : 0;
      const std::size_t last = std::min(order.size(), first + width);
      if (improve_window(g, context, order, first, last, peak, effort, local)) return true;
      if (context.stopped()) return false;
    }
    return false;
  }

  bool improve_window(const schedule_graph& g, search& context, std::vector<node>& order, std::size_t first, std::size_t last,
                      delta peak, std::uint64_t effort, std::vector<node>& local) const {
    walk w(g);
    for (std::size_t i = 0; i < first; ++i) w.fire(order[i]);
    const bytes base = static_cast<bytes>(w.level());
    std::vector<node> members(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(last));
    std::vector<node> releases;
    bool at_peak = false;
    for (node v : members) {
      at_peak |= w.level() + w.effect(v).peak >= peak;
      for (node r : g.succs[v])
        if (g.is_release(r) && w.waits(r) == 1) releases.push_back(r);
      w.fire(v);
    }
    if (!at_peak) return false;
    std::sort(members.begin(), members.end());
    std::sort(releases.begin(), releases.end());
    members.insert(members.end(), releases.begin(), releases.end());
    const schedule_graph part = subgraph(g, members, base, local);

    const bytes goal = static_cast<bytes>(peak);
    const auto below_peak = [&](const schedule_graph& h, search&) {
      auto found = best_first{}.between_from_both_ends(h, context, goal - 1, goal, effort);
      return found.order ? solution{std::move(*found.order)} : as_given{}(h, context);
    };
    const solution found = context.aside([&] { return compress{}(part, context, below_peak); });
    if (peak_of(part, found.order) >= goal) return false;
    for (std::size_t i = first; i < last; ++i) order[i] = members[found.order[i - first]];
    return true;
  }
};

}  // namespace memsched
