// Reverse post-order: the order of a depth-first walk of the graph, as most compilers use it.
#pragma once

#include <memsched/search/policy.hpp>
#include <memsched/structure/post_order.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Depth-first post-order from the graph's roots over predecessors in input order, as HMCOS has it (section 4.1).
/// Nodes that no root needs follow, likewise, from those that nothing waits for. O(nodes + edges).
struct rpo {
  static constexpr bool is_baseline = true;

  solution operator()(const schedule_graph& g, search&) const { return {structure::post_order(g)}; }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
