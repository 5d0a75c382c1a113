// Peaks that no schedule reaches, however often it runs operators.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/search/options.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Bytes that must be live while some operator runs, at the start or at the end, whatever else runs again or is loaded.
/// O(sum over operators of reads * (reads + creates)).
///
/// Lemma. An operator needs its reads and creates at once if they are produced before inputs are consumed, less the bytes
/// of outputs in place; else its reads, and then its creates.
/// Proof. Both are live while it runs, and nothing else is counted. If inputs are consumed first, all of them may have
/// had their last reader: also one that stays may be made again later.
///
/// Lemma. Without loads, let v read storages that operators make. The peak is at least the least, over these operators u, of
/// the bytes while u runs and all reads of v that u does not make are live.
/// Proof. Consider a run of v. Of the copies that it reads and an operator made, one was made last, by a run of some u. All
/// other reads of v were there before, and stay until v reads them.
MEMSCHED_FUNCTION bytes least_peak_with_reruns(const problem& p, memory_model model = {}, const offload& moves = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <span>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The bytes while u runs and the storages `beside` that u does not make are live.
inline bytes bytes_during(const problem& p, memory_model model, op_id u, std::span<const tensor_id> beside) {
  const auto in = [](std::span<const tensor_id> list, tensor_id t) {
    return std::find(list.begin(), list.end(), t) != list.end();
  };
  firing_effect e{.workspace = p.workspace(u)};
  bytes live = 0;
  for (tensor_id t : p.creates(u)) e.produced += p.size(t);
  for (tensor_id t : p.reads(u)) {
    live += p.size(t);
    if (!in(beside, t)) e.freed += p.size(t);
  }
  for (tensor_id t : beside)
    if (!in(p.reads(u), t) && !in(p.creates(u), t)) live += p.size(t);
  if (model.in_place)
    for (const problem::storage_reuse& r : p.reuses(u))
      if (!in(beside, r.input)) e.overwritten += r.spared;
  return std::max(live, fire(p.firing(u).value_or(model.default_firing), live, e).during);
}

}  // namespace detail

MEMSCHED_FUNCTION bytes least_peak_with_reruns(const problem& p, memory_model model, const offload& moves) {
  bytes at_start = 0, at_end = 0, most = 0;
  const std::vector<bool> leaves = may_leave(p);
  for (tensor_id t : p.tensors()) {
    if (p.storage(t) != t || !p.kept(t) || (moves.ends_outside && leaves[t])) continue;
    if (p.stays(t)) at_end += p.size(t);
    if (p.writer(t) == none) at_start += p.size(t);
  }
  for (op_id v : p.ops()) {
    most = std::max(most, detail::bytes_during(p, model, v, {}));
    if (moves) continue;
    bytes least = no_limit;
    for (tensor_id t : p.reads(v))
      if (p.producer(t) != none) least = std::min(least, detail::bytes_during(p, model, p.producer(t), p.reads(v)));
    if (least != no_limit) most = std::max(most, least);
  }
  return std::max({most, at_start, at_end});
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
