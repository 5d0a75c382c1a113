// Proofs that buffers do not fit into a smaller arena, as checkable data.
#pragma once

#include <cstdint>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/bytes.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace proof {

/// A step of a packing proof: a pair, or a sum.
///
/// A pair of buffers that meet: of these, one is below the other. The steps after it refute that the first is, then that
/// the second is. A sum: buffers that are live at a moment, and take more room than their ranges leave them.
struct packing_step {
  bool is_sum = false;
  std::int64_t at = 0;             ///< of a sum
  std::vector<index_t> buffers{};  ///< of a pair: two; of a sum: ascending
  bool operator==(const packing_step&) const = default;
};

}  // namespace proof

/// A proof that some buffers do not lie in less than `arena` bytes. If the ranges of offsets refute a case by themselves,
/// that case has no step. The rules, with proofs: docs/proofs.md, section 10.
struct packing_proof {
  bytes arena = 0;                           ///< no smaller one holds the buffers
  std::vector<index_t> buffers{};            ///< that do not fit by themselves, ascending
  std::vector<proof::packing_step> steps{};  ///< a case's own step first, then those of its two cases
  bool operator==(const packing_proof&) const = default;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
