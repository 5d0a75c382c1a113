// The default scheduler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Finds an order with the smallest peak and proves it; at a limit, the best order and the best bound so far.
///
/// Starts from the best of five cheap orders and a few minimum cuts, which suffice for many networks. Then divides the graph
/// at its waists, compresses each part, and works on the part with the highest order, in rounds: each stage of a table
/// (`automatic/stages.hpp`) that fits the part gets some work, counted and not timed, and twice as much in the next round. A
/// longer search begins as a shorter one does, so it is never worse.
struct automatic_scheduler {
  std::string_view without{};  ///< a stage that is left out, to see what it is good for

  solution operator()(const schedule_graph& g, search& context) const;
};

inline constexpr automatic_scheduler automatic{};

namespace detail {

/// Searches a graph as one part, as `automatic` does behind presolve. Tests make all stages run on small graphs by it.
struct staged_search {
  std::size_t active = 0;     ///< stages fit as if the graph had so many active nodes; 0 for as many as it has
  std::uint64_t unit = 2000;  ///< work that stages share, see `part_search`
  bool rows = false, window = false;

  solution operator()(const schedule_graph& g, search& context) const;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>
#include <vector>

#include <memsched/passes/in_step.hpp>
#include <memsched/schedulers/automatic/parts_search.hpp>
#include <memsched/schedulers/automatic/stages.hpp>
#include <memsched/schedulers/best_heuristic.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

MEMSCHED_FUNCTION solution staged_search::operator()(const schedule_graph& g, search& context) const {
  const query q = context.asked();
  part_search part(g, context, {.active = active, .rows = rows, .window = window}, greedy{}(g, context).order, unit);
  part.run(q);
  if (!part.closed(q) && !context.stopped()) context.give_up();
  return {part.order(), std::max(part.bound(), context.asked().target)};
}

}  // namespace detail

MEMSCHED_FUNCTION solution automatic_scheduler::operator()(const schedule_graph& g, search& context) const {
  const query q = context.asked().from(context.good_enough());
  std::vector<node_id> cheap;
  bool rows = false;
  {
    const search::named name(context, "cheap orders");
    cheap = best_heuristic{}(g, context).order;
    rows = context.keep_going() && in_step::are_most(in_step::edges(g).size(), g);
    context.report(peak_of(g, cheap), g.base);
  }
  detail::part_search whole(g, context, {.whole = true, .rows = rows, .without = without}, std::move(cheap));
  whole.round(q);
  bytes bound = whole.bound();
  if (!whole.closed(q) && !context.stopped()) {
    detail::parts_search parts(g, context, {.rows = rows, .without = without}, whole.order());
    {
      const search::named name(context, "divide");  // the same order, but one part behind the other
      context.report(parts.peak(), 0);
    }
    const query within{std::max(bound, q.target), std::min(whole.peak(), q.cutoff)};
    parts.run(within);
    bound = std::max(bound, parts.bound());
    if (parts.peak() < whole.peak()) whole.take(parts.order());
    if (std::min(whole.peak(), q.cutoff) > std::max(bound, q.target) && !context.stopped()) context.give_up();
  }
  return {whole.order(), std::max(bound, context.asked().target)};
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
