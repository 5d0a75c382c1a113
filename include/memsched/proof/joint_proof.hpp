// Proofs that no order of a graph has a smaller arena, as checkable data.
#pragma once

#include <optional>
#include <vector>

#include <memsched/graph/problem.hpp>
#include <memsched/proof/certificate.hpp>
#include <memsched/proof/packing_proof.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace proof {

/// The reason why no order that keeps some edges between operators fits into an arena: its peak is above that; or the buffers
/// of one order do not fit, and all ways out of that are refuted before. The rules, with proofs: docs/proofs.md, section 11.
struct joint_refutation {
  std::vector<precedence> edges{};    ///< ascending
  std::optional<certificate> peak{};  ///< of the schedule graph with these edges; else a conflict
  std::vector<op_id> order{};         ///< of a conflict
  packing_proof packing{};            ///< of the buffers of that order, as `buffers_of` numbers them
  bool operator==(const joint_refutation&) const = default;
};

}  // namespace proof

/// A proof that no order of a graph has an arena of less than `arena` bytes, all offsets multiples of the alignment at hand.
struct joint_proof {
  bytes arena = 0;
  std::vector<proof::joint_refutation>
      refutations{};  ///< those that another one rests on come before it; the last has no edges
  bool operator==(const joint_proof&) const = default;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
