// Probing as a pass: the inner scheduler gets a graph with the precedence that a peak forces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <memsched/analysis/probe.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/policy/policy.hpp>

namespace memsched {

/// Looks for the smallest peak that probing cannot refute (`destructive_search`), and asks the inner scheduler for an order
/// with at most that peak, on the graph with the edges that all such orders keep; where there is none, for a higher peak,
/// in growing steps. The edges hold for no order above the peak asked for, so that peak is the ceiling. Exact where the
/// inner scheduler is. Compression behind it profits from the edges: probe{} | compress{} | dp{}.
struct probe {
  std::size_t max_nodes = 8192;  ///< releases included; larger graphs are handed on as they are

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
    if (g.size() > max_nodes) return inner(g, context);
    solution s;
    for (node v : topological_order(g.preds, g.succs))
      if (!g.is_release(v)) s.order.push_back(v);
    const auto go_on = [&] { return ++context.stats.cuts, context.keep_going(); };
    bytes high = std::min(context.ceiling(), peak_of(g, s.order));  // of no use from there on
    s.lower_bound = std::min(std::max(context.floor(), g.base), high);
    destructive_search smallest(g, s.lower_bound);
    smallest.run(high, go_on);
    s.lower_bound = smallest.bound();
    for (bytes step = 0; s.lower_bound < high && !context.stopped(); step = std::max(2 * step, (high - s.lower_bound) / 64 + 1)) {
      const bytes asked = std::min(high - 1, s.lower_bound + step);
      prober edges(g);
      const auto outcome = edges.run(asked, go_on);
      if (outcome == prober::outcome::stopped) break;
      if (outcome == prober::outcome::refuted) {
        s.lower_bound = std::min(high, std::max(asked + 1, edges.next()));
        continue;
      }
      const schedule_graph narrowed = with_edges(g, edges.edges());
      const auto ask = [&] { return context.aside([&] { return inner(narrowed, context); }); };
      solution found = context.with_bounds(s.lower_bound, asked + 1, ask);
      if (found.error) return found;
      const bytes peak = peak_of(g, found.order);
      if (peak < peak_of(g, s.order)) s.order = std::move(found.order);
      s.lower_bound = std::max(s.lower_bound, std::min({found.lower_bound, asked + 1, high}));
      if (peak <= asked || s.lower_bound <= asked) break;  // found, or the inner scheduler has no more to say
    }
    return s;
  }
};

}  // namespace memsched
