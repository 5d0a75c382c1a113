// The default scheduler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Finds an order with the smallest peak and proves it; at a limit, the best order and the best bound so far.
///
/// Starts from the best of seven cheap orders and a few minimum cuts, which suffice for many networks. Then divides the graph
/// at its waists, compresses each part, and works on the part with the highest order, in rounds: each stage of a table
/// (`automatic/stages.hpp`) that fits the part gets some work, counted and not timed, and twice as much in the next round.
/// Weakly connected components, if there are several, are searched apart in turns with that. A longer search begins as a
/// shorter one does, so it is never worse.
struct automatic_scheduler {
  std::string_view without{};  ///< a stage that is left out, to see what it is good for

  /// The names of all stages that may be left out.
  static std::vector<std::string_view> stages();

  solution operator()(const schedule_graph& g, search& context) const;
};

inline constexpr automatic_scheduler automatic{};

namespace detail {

/// Searches a graph as one part, as `automatic` does after presolve. Tests make all stages run on small graphs by it.
struct staged_search {
  std::size_t active = 0;     ///< stages fit as if the graph had `active` active nodes; 0 for as many as it has
  std::uint64_t unit = 2000;  ///< work that stages share, see `part_search`
  bool rows = false, window = false;
  bytes rise = 0;  ///< the target of the first round is lower by `rise`: those of parts rise from round to round

  /// The bound is one whatever the query's target.
  solution operator()(const schedule_graph& g, search& context) const;
};

/// Searches a graph component by component, and no parts of the whole. For tests of that search alone.
struct apart_search {
  solution operator()(const schedule_graph& g, search& context) const;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <memsched/passes/components_search.hpp>
#include <memsched/passes/in_step.hpp>
#include <memsched/schedulers/automatic/stages.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/search/resumable.hpp>
#include <memsched/structure/components.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

MEMSCHED_FUNCTION solution staged_search::operator()(const schedule_graph& g, search& context) const {
  const query q = context.asked();
  part_search part(g, context, {.active = active, .rows = rows, .window = window}, greedy{}(g, context).order, unit);
  part.round({q.target - std::min(rise, q.target), q.cutoff});
  part.run_or_give_up(q, context);
  return {part.order(), part.bound()};
}

/// Begins searches of components part by part; of a component alone also from cheap orders.
struct component_by_parts {
  search& context;
  facts properties;

  std::unique_ptr<resumable_search> operator()(const schedule_graph& h, component_graph what,
                                               std::vector<node_id> order) const {
    facts f = properties;
    f.orders = what == component_graph::beside;
    if (what == component_graph::alone) {
      const named_source name(context, "cheap orders");
      solution cheap = context.control().aside([&] { return best_heuristic{}(h, context); });
      take_if_better(h, std::move(order), cheap);
      order = std::move(cheap.order);
    }
    return search_parts(h, context, f, order);
  }
};

MEMSCHED_FUNCTION solution apart_search::operator()(const schedule_graph& g, search& context) const {
  const component_by_parts by_parts{context, {}};
  components_search apart(g, context, by_parts, structure::components(g), greedy{}(g, context).order);
  apart.run_or_give_up(context.asked(), context);
  return {apart.order(), std::max(apart.bound(), context.asked().target)};
}

}  // namespace detail

MEMSCHED_FUNCTION std::vector<std::string_view> automatic_scheduler::stages() {
  std::vector<std::string_view> names{"components"};
  std::transform(detail::part_search::stages.begin(), detail::part_search::stages.end(), std::back_inserter(names),
                 [](const detail::stage& s) { return s.name; });
  return names;
}

MEMSCHED_FUNCTION solution automatic_scheduler::operator()(const schedule_graph& g, search& context) const {
  const query q = context.asked().from(context.control().good_enough());
  std::vector<node_id> cheap;
  bool rows = false;
  {
    const detail::named_source name(context, "cheap orders");
    cheap = best_heuristic{}(g, context).order;
    rows = context.keep_going() && in_step::are_most(in_step::edges(g).size(), g);
    context.report(peak_of(g, cheap), g.base);
  }
  detail::part_search whole(g, context, {.whole = true, .rows = rows, .without = without}, std::move(cheap));
  whole.round(q);
  bytes bound = whole.bound();
  if (!whole.closed(q) && !context.stopped()) {
    const auto parts = detail::search_parts(g, context, {.rows = rows, .without = without}, whole.order());
    {
      const detail::named_source name(context, "divide");  // the same order, but one part after the other
      context.report(parts->peak(), 0);
    }
    const auto open = [&] { return std::min(whole.peak(), q.cutoff) > std::max(bound, q.target); };
    const auto give_round = [&](detail::resumable_search& some) {
      const bool more = some.round({std::max(bound, q.target), std::min(whole.peak(), q.cutoff)});
      bound = std::max(bound, some.bound());
      if (some.peak() < whole.peak()) whole.take(some.order());
      return more;
    };
    std::vector<std::vector<node_id>> members = structure::components(g);
    if (members.size() > 1 && without != "components") {
      const detail::component_by_parts by_parts{context, {.rows = rows, .without = without}};
      detail::components_search apart(g, context, by_parts, std::move(members), whole.order());
      detail::in_turns(
          context, open, [&] { return give_round(apart); }, [&] { return give_round(*parts); });
    } else {
      while (open() && give_round(*parts)) {
      }
    }
    if (open() && !context.stopped()) context.control().give_up();
  }
  return {whole.order(), std::max(bound, context.asked().target)};
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
