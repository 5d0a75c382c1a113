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

#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <memsched/structure/list_schedule.hpp>
#include <memsched/structure/mirror.hpp>
#include <memsched/structure/post_order.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution best_heuristic::operator()(const schedule_graph& g, search& context) const {
  solution best{structure::given_order(g)};
  bytes peak = peak_of(g, best.order);
  const auto consider = [&](solution s) {
    if (const bytes p = peak_of(g, s.order); p < peak) peak = p, best.order = std::move(s.order);
  };
  const auto go_on = [&] { return g.size() <= always || context.keep_going(); };
  if (go_on()) consider(greedy{}(g, context));
  if (go_on()) consider({structure::post_order(g)});
  if (go_on()) consider(greedy{greedy::rule::growth}(g, context));
  if (go_on()) consider(kahn{}(g, context));
  if (go_on()) consider({structure::best_post_order(g)});
  if (go_on()) consider({structure::reflected(g, structure::best_post_order(structure::mirror_image(g)))});
  return best;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
