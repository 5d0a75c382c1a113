// Probing as a pass: the inner scheduler gets a graph with the precedence that a peak forces.
#pragma once

#include <cstddef>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Looks for the smallest peak that probing cannot refute (`destructive_search`), and asks the inner scheduler for an order
/// with at most that peak, on the graph that `narrowing` makes of it; if there is none, for a higher peak, in growing
/// steps. Exact if the inner scheduler is. For example probe{} | dp{}.
struct probe {
  unsigned patience = 8;         ///< questions asked in vain before shaving ends; 0: none (see `shaver`)
  std::size_t max_nodes = 8192;  ///< releases included; larger graphs are passed on as they are

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;

 private:
  /// An order with a peak of at most `asked`, found by the inner scheduler on the graph narrowed for that, or any order; its
  /// bound is above `asked` if there is none.
  solution up_to(bytes asked, const schedule_graph& g, search& context, inner_scheduler inner) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

#include <memsched/bounds/destructive_search.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/presolve/narrowing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution probe::up_to(bytes asked, const schedule_graph& g, search& context, inner_scheduler inner) const {
  presolve::narrowing narrowed(g, context);
  const auto go_on = [&](std::uint64_t visits) {
    return context.control().count_cut_as_state(narrowed.bytes_held(), visits);
  };
  if (narrowed.run(asked, patience, go_on) == bounds::prober::outcome::refuted)
    return {g.topological_order(), std::max(asked + 1, narrowed.next())};
  solution s = inner(narrowed.graph(), context);
  if (s.error) return s;
  s.order = narrowed.expand(std::move(s.order));
  // The derived edges hold for no order above `asked`: of those nothing is known.
  s.lower_bound = std::min(s.lower_bound, std::max(asked + 1, narrowed.next()));
  return s;
}

MEMSCHED_FUNCTION solution probe::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  if (g.size() > max_nodes) return inner(g, context);
  solution s{g.topological_order()};
  const bytes high = std::min(context.asked().cutoff, peak_of(g, s.order));  // of no use from there on
  s.lower_bound = std::min(std::max(context.asked().target, g.base), high);
  bounds::destructive_search smallest(g, s.lower_bound);
  const auto go_on = [&](std::uint64_t visits) {
    return context.control().count_cut_as_state(smallest.bytes_held(), visits);
  };
  smallest.run(high, go_on);
  s.lower_bound = std::min(smallest.bound(), high);
  for (bytes step = 0; s.lower_bound < high && !context.stopped();
       step = std::max(2 * step, (high - s.lower_bound) / 64 + 1)) {
    const bytes asked = std::min(high - 1, s.lower_bound + step);
    const auto ask = [&] { return context.control().aside([&] { return up_to(asked, g, context, inner); }); };
    solution found = context.ask({s.lower_bound, asked + 1}, ask);
    if (found.error) return found;
    const bytes peak = peak_of(g, found.order);
    detail::take_if_better(g, std::move(found.order), s);
    s.lower_bound = std::max(s.lower_bound, std::min(found.lower_bound, high));
    if (peak <= asked || s.lower_bound <= asked) break;  // found, or the inner scheduler has no more to say
  }
  return s;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
