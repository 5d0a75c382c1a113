// The effect of a reduction on costs.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <memsched/proof/certificate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Whether a reduction adds an edge, from its first node to its second. The others make one node of two.
inline bool adds_edge(const proof::reduction& r) {
  return r.by == proof::reduction::rule::s1 || r.by == proof::reduction::rule::s2;
}

/// Applies a reduction that makes one node of two to their costs. Returns the other, which stays and costs nothing
/// (docs/proofs.md).
inline node_id merge_costs(std::vector<node_cost>& cost, const proof::reduction& r) {
  const node_cost a = cost[r.first], b = cost[r.second];
  const auto [kept, gone] = r.by == proof::reduction::rule::c1 ? std::pair(r.second, r.first) : std::pair(r.first, r.second);
  cost[kept] = {std::max(a.peak, a.impact + b.peak), a.impact + b.impact};
  cost[gone] = {};
  return gone;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
