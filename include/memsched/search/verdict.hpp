// What is known of an answer.
#pragma once

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// What is known of an order, or of a plan of an arena.
enum class verdict : unsigned char {
  optimal,     ///< what it needs is its lower bound
  feasible,    ///< anything between
  infeasible,  ///< the lower bound is above what there is: nothing fits
  failed,      ///< there is an error and no answer
};

constexpr const char* to_string(verdict v) {
  switch (v) {
    case verdict::optimal: return "optimal";
    case verdict::infeasible: return "infeasible";
    case verdict::failed: return "failed";
    case verdict::feasible: break;
  }
  return "feasible";
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
