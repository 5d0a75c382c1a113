// What `automatic` does with a part of a graph: cheap orders first, then bounds, then exact search on what is left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include <memsched/analysis/bounds.hpp>
#include <memsched/analysis/probe.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/probe.hpp>
#include <memsched/schedulers/beam.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/local_search.hpp>

namespace memsched {

/// The order of `best_heuristic` with the bound of minimum cuts, no less than the context's floor.
struct cheap_bounds {
  solution operator()(const schedule_graph& g, search& context) const {
    solution s = best_heuristic{}(g, context);
    context.report(peak_of(g, s.order), context.floor());
    const auto go_on = [&] { return ++context.stats.cuts, context.keep_going(); };
    s.lower_bound = best_cut_bound(g, s.order, std::max(context.floor(), g.base), go_on).bound;
    return s;
  }
};

/// Closes the gap between an order and a bound on a graph that is no longer divided, in rounds of growing effort:
/// probing (see `prober`), which proves a bound or narrows the graph, then a search of the narrowed graph for an order just
/// below the best so far, then local search.
struct close_gap {
  std::uint64_t short_search = 20000;  ///< states before anything else is tried
  std::size_t max_probed = 8192;       ///< nodes, releases included; larger graphs are searched without probing

  solution operator()(const schedule_graph& g, search& context) const {
    solution s = cheap_bounds{}(g, context);
    const auto peak = [&] { return peak_of(g, s.order); };
    const auto done = [&] { return s.lower_bound >= peak() || context.stopped(); };
    if (!done()) s = context.with_states(short_search, [&] { return best_first{}.improve(g, context, std::move(s)); });
    if (done()) return s;
    if (solution b = beam{}(g, context); peak_of(g, b.order) < peak()) s.order = std::move(b.order);
    if (!done()) s = context.with_states(short_search, [&] { return local_search{}.improve(g, context, std::move(s)); });
    destructive_search bound(g, s.lower_bound);
    bytes step = 0;  // from the bound to the next peak to refute
    for (std::uint64_t effort = short_search; !done(); effort *= 2) {
      const auto before = std::pair(peak(), s.lower_bound);
      context.report(peak(), s.lower_bound);
      round(g, context, s, bound, step, effort);
      // More effort helps no more where the graph, or what a search remembers, is too large.
      const bool full = g.active > best_first{}.max_nodes || context.stats.memory >= context.opts().memory_limit;
      if (full && !done() && before == std::pair(peak(), s.lower_bound)) context.out_of_memory();
    }
    return s;
  }

 private:
  void round(const schedule_graph& g, search& context, solution& s, destructive_search& bound, bytes& step,
             std::uint64_t effort) const {
    const auto peak = [&] { return peak_of(g, s.order); };
    const auto done = [&] { return s.lower_bound >= peak() || context.stopped(); };
    /// Looks for an order with a peak of at most b among those that keep `edges`, as all such orders do. False where it
    /// gave up.
    const auto look_up_to = [&](bytes b, std::span<const precedence> edges, unsigned patience) {
      const auto decide = [&](const schedule_graph& h, search&) {
        auto found = best_first{}.between_from_both_ends(h, context, b, b + 1, effort);
        return found.order ? solution{std::move(*found.order), b} : solution{as_given{}(h, context).order, found.bound};
      };
      const auto narrow = [&](const schedule_graph& h, search&) {
        if (h.size() > max_probed) return decide(h, context);
        return probe{.patience = patience, .max_cuts = 2 * effort}.up_to(b, h, context, decide);
      };
      solution t = context.aside([&] { return compress{}(with_edges(g, edges), context, narrow); });
      const bytes found = peak_of(g, t.order);
      if (found < peak()) s.order = std::move(t.order);
      if (t.lower_bound > b) s.lower_bound = std::max(s.lower_bound, next_possible_peak(g, b + 1));
      return found <= b || t.lower_bound > b;
    };
    if (g.size() <= max_probed) {
      const auto go_on = [&] { return ++context.stats.cuts, context.count_state() && context.fits(bound.bytes_held()); };
      context.with_states(effort, [&] { return bound.run(peak(), go_on), 0; });
      s.lower_bound = std::max(s.lower_bound, next_possible_peak(g, bound.bound()));
      const unsigned patience = static_cast<unsigned>(4 * effort / short_search);
      while (!done() && bound.unrefuted()) {
        const bytes asked = std::min(peak() - 1, s.lower_bound + step);
        const bool answered =
            look_up_to(asked, asked <= *bound.unrefuted() ? bound.edges() : bound.edges_below_peak(), patience);
        step = answered ? std::max(2 * step, (peak() - s.lower_bound) / 4) : step / 4;
        if (!answered) break;
      }
    }
    const local_search windows{.states = effort / 32};
    if (!done()) s = context.with_states(2 * effort, [&] { return windows.improve(g, context, std::move(s)); });
    if (!done()) look_up_to(peak() - 1, bound.edges_below_peak(), 0);
  }
};

}  // namespace memsched
