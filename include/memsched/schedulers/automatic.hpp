// The default: cheap orders first, then the bound, then the exact engine on what is left.
#pragma once

#include <algorithm>
#include <utility>

#include <memsched/analysis/bounds.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/best_heuristic.hpp>

namespace memsched {

/// Proves an order optimal where it can: heuristics, minimum cuts, then best-first search.
struct automatic_scheduler {
  solution operator()(const schedule_graph& g, search& context) const {
    solution s = best_heuristic{}(g, context);
    const bytes peak = peak_of(g, s.order);
    context.report(peak, 0);
    const auto go_on = [&] { return ++context.stats.cuts, context.keep_going(); };
    s.lower_bound = best_cut_bound(g, s.order, std::max(context.floor(), g.base), go_on).bound;
    if (s.lower_bound >= peak || context.stopped()) return s;
    return best_first{}.improve(g, context, std::move(s));
  }
};

inline constexpr automatic_scheduler automatic{};

}  // namespace memsched
