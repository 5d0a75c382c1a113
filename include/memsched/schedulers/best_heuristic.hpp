// The cheap orders, and the best of them.
#pragma once

#include <cstddef>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The best of seven heuristics; the first among equals. On a graph of more than `always` nodes, after a limit is met, of
/// those so far.
struct best_heuristic {
  std::size_t always = 4096;  ///< nodes

  solution operator()(const schedule_graph& g, search& context) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <utility>

#include <memsched/graph/mirror.hpp>
#include <memsched/graph/post_order.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <memsched/schedulers/rpo.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution best_heuristic::operator()(const schedule_graph& g, search& context) const {
  solution best = as_given{}(g, context);
  bytes peak = peak_of(g, best.order);
  const auto consider = [&](solution s) {
    if (const bytes p = peak_of(g, s.order); p < peak) peak = p, best.order = std::move(s.order);
  };
  const auto go_on = [&] { return g.size() <= always || context.keep_going(); };
  if (go_on()) consider(greedy{}(g, context));
  if (go_on()) consider(rpo{}(g, context));
  if (go_on()) consider(greedy{greedy::rule::growth}(g, context));
  if (go_on()) consider(kahn{}(g, context));
  if (go_on()) consider({best_post_order(g)});
  if (go_on()) consider({reflected(g, best_post_order(mirror_image(g)))});
  return best;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
