// The effect of a reduction on costs.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <memsched/proof/certificate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Applies a reduction that makes one node of two to their costs: the other stays and costs nothing (docs/proofs.md).
inline void merge_costs(std::vector<node_cost>& cost, const proof::reduction& r) {
  const node_cost a = cost[r.first], b = cost[r.second];
  const auto [kept, gone] = r.by == proof::reduction::rule::c1 ? std::pair(r.second, r.first) : std::pair(r.first, r.second);
  cost[kept] = {std::max(a.peak, a.impact + b.peak), a.impact + b.impact};
  cost[gone] = {};
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
