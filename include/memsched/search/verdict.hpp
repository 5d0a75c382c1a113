// Verdicts on an answer.
#pragma once

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The verdict on an order, on a plan of an arena, or on a schedule with reruns.
enum class verdict : unsigned char {
  optimal,     ///< the peak, or the size of the arena, equals the lower bound
  feasible,    ///< anything between
  infeasible,  ///< the lower bound is above the budget: nothing fits
  failed,      ///< there is an error and no answer
  unknown,     ///< neither a schedule within the budget nor a proof that there is none (`recompute` alone)
};

constexpr const char* to_string(verdict v) noexcept {
  switch (v) {
    case verdict::optimal: return "optimal";
    case verdict::infeasible: return "infeasible";
    case verdict::failed: return "failed";
    case verdict::unknown: return "unknown";
    case verdict::feasible: break;
  }
  return "feasible";
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
