// Storages that leave memory and come back: the cost of moves, and the storages that may.
#pragma once

#include <cstdint>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The bytes that one unit of cost moves, if storages can leave memory and come back. A storage that ever leaves is
/// written once, after its first creation, and read each time that it comes back. Moves take no time beside operators: their
/// cost adds to the extra cost.
struct offload {
  bytes read = 0;   ///< into memory; 0: no storage leaves
  bytes write = 0;  ///< out of memory; 0: costs nothing, as there is a copy outside
  bool ends_outside =
      false;  ///< graph inputs may be outside at the start, and what stays may be at the end: written, not read

  explicit constexpr operator bool() const { return read > 0; }
  /// The cost to bring `size` bytes back, rounded up.
  constexpr std::uint64_t read_cost(bytes size) const { return size / read + (size % read != 0); }
  /// The cost to write them once.
  constexpr std::uint64_t write_cost(bytes size) const { return write == 0 ? 0 : size / write + (size % write != 0); }
};

/// A storage that comes back right before an execution.
struct storage_load {
  tensor_id storage = none;
  index_t before = 0;  ///< position among executions; their number for the end, where with `ends_outside` it stays outside
  bool operator==(const storage_load&) const = default;
};

/// Whether each storage may leave memory and come back: it has bytes, is needed after its producer, and no operator changes
/// it. O(operators + tensors).
MEMSCHED_FUNCTION std::vector<bool> may_leave(const problem& p);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION std::vector<bool> may_leave(const problem& p) {
  std::vector<bool> may(p.tensors().size());
  for (tensor_id t : p.tensors()) may[t] = p.storage(t) == t && p.kept(t) && p.size(t) > 0;
  for (op_id op : p.ops())
    for (tensor_id t : p.updates(op)) may[p.storage(t)] = false;
  return may;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
