// List scheduling by memory freed.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Runs the ready node that serves memory best: first those that leave no more behind than they found, lowest peak
/// first; else the one with the largest drop from its peak (the order of independent tasks that is optimal, Fradet et
/// al., Property 10) or with the smallest growth. Ties go to the node that became ready last: depth before breadth.
/// Looks at the clock if there are more than 2^16 nodes. O((nodes + edges) log nodes).
struct greedy {
  static constexpr bool is_baseline = true;
  enum class rule : unsigned char { drop, growth };
  rule prefer = rule::drop;

  solution operator()(const schedule_graph& g, search& context) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <tuple>

#include <memsched/structure/list_schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution greedy::operator()(const schedule_graph& g, search& context) const {
  const auto key = [this](const order_walk& w, node_id v, index_t age) {
    const node_cost c = w.effect(v);
    const delta newest_first = -static_cast<delta>(age);
    if (c.impact <= 0) return std::tuple(false, c.peak, c.impact, newest_first);
    const delta drop = c.drop();
    if (prefer == rule::drop) return std::tuple(true, -drop, c.impact, newest_first);
    return std::tuple(true, c.impact, -drop, newest_first);
  };
  return {structure::list_schedule(g, key, [&] { return !context.control().over(); })};
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
