// The default: cheap orders first, then the bound, then the exact engine on what is left.
#pragma once

#include <algorithm>
#include <utility>

#include <memsched/analysis/bounds.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/schedulers/beam.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/local_search.hpp>

namespace memsched {

/// Proves an order optimal where it can: heuristics, minimum cuts, a short best-first search; where that does not end,
/// beam and local search bring the peak down before a long one.
struct automatic_scheduler {
  std::uint64_t short_search = 20000;  ///< states

  solution operator()(const schedule_graph& g, search& context) const {
    solution s = best_heuristic{}(g, context);
    const auto peak = [&] { return peak_of(g, s.order); };
    context.report(peak(), 0);
    const auto go_on = [&] { return ++context.stats.cuts, context.keep_going(); };
    s.lower_bound = best_cut_bound(g, s.order, std::max(context.floor(), g.base), go_on).bound;
    const auto done = [&] { return s.lower_bound >= peak() || context.stopped(); };
    if (done()) return s;
    s = context.with_states(short_search, [&] { return best_first{}.improve(g, context, std::move(s)); });
    if (done()) return s;
    if (solution b = beam{}(g, context); peak_of(g, b.order) < peak()) s.order = std::move(b.order);
    s = local_search{}.improve(g, context, std::move(s));
    if (done()) return s;
    return best_first{}.improve(g, context, std::move(s));
  }
};

inline constexpr automatic_scheduler automatic{};

}  // namespace memsched
