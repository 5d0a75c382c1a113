// Peaks that no schedule reaches, however often it runs operators.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Bytes that must be live while some operator runs, at the start or at the end, whatever else runs again.
/// O(operators + uses).
///
/// Lemma. An operator needs its reads and creates at once where they are produced before inputs are consumed, less the bytes
/// of outputs in place; else its reads, and then its creates.
/// Proof. Both are live while it runs, and nothing else is counted. Where inputs are consumed first, all of them may have
/// had their last reader: also one that stays may be made again later.
MEMSCHED_FUNCTION bytes least_peak_with_reruns(const problem& p, memory_model model = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION bytes least_peak_with_reruns(const problem& p, memory_model model) {
  bytes at_end = 0, most = p.live_at_start();
  for (tensor_id t : p.tensors())
    if (p.storage(t) == t && p.stays(t)) at_end += p.size(t);
  for (op_id op : p.ops()) {
    detail::firing_effect e{.workspace = p.workspace(op)};
    bytes read = 0;
    for (tensor_id t : p.reads(op)) read += p.size(t);
    e.freed = read;
    for (tensor_id t : p.creates(op)) e.produced += p.size(t);
    if (model.in_place)
      for (const storage_reuse& r : p.reuses(op)) e.overwritten += r.spared;
    most = std::max({most, read, fire(p.firing(op).value_or(model.default_firing), read, e).during});
  }
  return std::max(most, at_end);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
