// The check of a flow that balances the bytes of free nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <memsched/proof/certificate.hpp>
#include <memsched/proof/proof_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The fault of a flow; empty if it is one. `keeps` is the amount that each free node adds, 0 of others; `has_arc(from, to)`
/// returns whether the flow may go there. Adds to `level` the least that free nodes add (docs/proofs.md, section 3). Amounts
/// and sums are at most `limit`. O(nodes + arcs).
template <class F>
std::string check_flow(const std::vector<proof::flow_arc>& flow, std::vector<delta> keeps, delta limit, F&& has_arc,
                       delta& level) {
  node_set sends(keeps.size()), receives(keeps.size());
  for (std::size_t i = 0; i < flow.size(); ++i) {
    const auto& [from, to, amount] = flow[i];
    if (i > 0 && std::pair(flow[i - 1].from, flow[i - 1].to) >= std::pair(from, to)) return "the flow is not sorted";
    if (amount <= 0 || amount > limit) return "the flow has an amount out of range";
    if (!has_arc(from, to)) return "the flow leaves the edges between undecided nodes";
    keeps[from] -= amount, keeps[to] += amount;
    sends[from] = receives[to] = true;
    if (keeps[from] < -limit || keeps[to] > limit) return "the flow has sums out of range";
  }
  for (std::size_t u = 0; u < keeps.size(); ++u) {  // the first two only so that a changed flow is noticed
    if (receives[u] && keeps[u] > 0) return "node " + std::to_string(u) + " receives what it does not need";
    if (sends[u] && keeps[u] < 0) return "node " + std::to_string(u) + " sends what it needs";
    level += std::min<delta>(keeps[u], 0);
  }
  return {};
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
