// Fradet, Girault and Honorat's method as a whole.
#pragma once

#include <utility>

#include <memsched/base/linkage.hpp>
#include <memsched/passes/compose.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/schedulers/branch_and_bound.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// compress | compose | compress | branch_and_bound, with the search's starts taken before and after compression (eight of
/// them, section 7.1.2). Answers with an error if every order would go below 0.
struct fradet_scheduler {
  compress rules{};
  compose parts{};
  branch_and_bound engine{};

  solution operator()(const schedule_graph& g, search& context) const;
};

inline constexpr fradet_scheduler fradet{};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>

#include <memsched/bounds/negative_level.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution fradet_scheduler::operator()(const schedule_graph& g, search& context) const {
  solution s;
  if (g.resources.empty()) s.error = bounds::negative_level(g);  // resources are never below 0
  if (s.error) return s;
  constexpr std::size_t large = 1 << 12;  // nodes, from where on passes that find no time take some
  const auto rest = [&](const schedule_graph& h, search&) {
    if (!engine.starts) return (parts | rules | engine)(h, context);
    s = four_starts{}(g, context);
    if (h.active > large && !context.keep_going()) return solution{h.topological_order()};
    const bytes known = std::min(context.asked().cutoff, peak_of(g, s.order));
    return context.ask(context.asked().below(known), [&] { return (parts | rules | engine)(h, context); });
  };
  solution found = rules(g, context, rest);
  if (s.order.empty() || peak_of(g, found.order) <= peak_of(g, s.order)) return found;
  s.lower_bound = found.lower_bound;
  return s;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
