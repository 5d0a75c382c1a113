// Probing as a pass: the inner scheduler gets a graph with the precedence that a peak forces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/analysis/probe.hpp>
#include <memsched/analysis/shave.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/policy/policy.hpp>

namespace memsched {

/// Looks for the smallest peak that probing cannot refute (`destructive_search`), and asks the inner scheduler for an order
/// with at most that peak, on the graph with the edges that all such orders keep; where there is none, for a higher peak,
/// in growing steps. Before it asks, it compresses that graph and probes again, as often as that helps; where it does not,
/// it shaves (see `shaver`). Exact where the inner scheduler is. For example probe{} | dp{}.
struct probe {
  unsigned rounds = 32;           ///< of compression and probing, at most
  unsigned patience = 8;          ///< edges tried in vain, one after the other, before shaving ends; 0: none (see `shaver`)
  std::size_t max_nodes = 8192;   ///< releases included; larger graphs are handed on as they are
  std::size_t max_shaved = 2048;  ///< nodes, likewise: shaving weighs all pairs of them
  std::uint64_t max_cuts = no_limit;  ///< for one peak; then the inner scheduler gets what is known by then

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
    if (g.size() > max_nodes) return inner(g, context);
    solution s{topological_order(g)};
    const bytes high = std::min(context.ceiling(), peak_of(g, s.order));  // of no use from there on
    s.lower_bound = std::min(std::max(context.floor(), g.base), high);
    destructive_search smallest(g, s.lower_bound);
    const auto go_on = [&] { return ++context.stats.cuts, context.count_state() && context.fits(smallest.bytes_held()); };
    smallest.run(high, go_on);
    s.lower_bound = smallest.bound();
    for (bytes step = 0; s.lower_bound < high && !context.stopped();
         step = std::max(2 * step, (high - s.lower_bound) / 64 + 1)) {
      const bytes asked = std::min(high - 1, s.lower_bound + step);
      const auto ask = [&] { return context.aside([&] { return up_to(asked, g, context, inner); }); };
      solution found = context.with_bounds(s.lower_bound, asked + 1, ask);
      if (found.error) return found;
      const bytes peak = peak_of(g, found.order);
      if (peak < peak_of(g, s.order)) s.order = std::move(found.order);
      s.lower_bound = std::max(s.lower_bound, std::min(found.lower_bound, high));
      if (peak <= asked || s.lower_bound <= asked) break;  // found, or the inner scheduler has no more to say
    }
    return s;
  }

  /// An order with a peak of at most `asked`, found by the inner scheduler on a graph that is probed for that, or any
  /// order; its bound is above `asked` where there is none. Asks the context before each cut.
  solution up_to(bytes asked, const schedule_graph& g, search& context, inner_scheduler inner) const {
    if (g.size() > max_nodes) return inner(g, context);
    prober found(g);
    std::uint64_t cuts = 0;
    const auto go_on = [&] {
      return ++context.stats.cuts, ++cuts <= max_cuts && context.count_state() && context.fits(found.bytes_held());
    };
    auto outcome = found.run(asked, go_on);
    if (outcome == prober::outcome::open && found.edges().empty() && patience > 0 && g.size() <= max_shaved)
      outcome = shaver(found, g, asked).run(patience, go_on);
    if (outcome == prober::outcome::refuted) return {topological_order(g), std::max(asked + 1, found.next())};
    if (found.edges().empty()) return inner(g, context);
    const bool last = rounds <= 1 || outcome == prober::outcome::stopped;
    probe rest = *this;
    --rest.rounds;
    rest.max_cuts -= cuts;
    const auto again = [&](const schedule_graph& h, search&) {
      return last ? inner(h, context) : rest.up_to(asked, h, context, inner);
    };
    solution s = compress{}(with_edges(g, found.edges()), context, again);
    // The edges hold for no order above `asked`: of those nothing is known.
    s.lower_bound = std::min(s.lower_bound, std::max(asked + 1, found.next()));
    return s;
  }
};

}  // namespace memsched
