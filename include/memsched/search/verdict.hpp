// What is known of an answer.
#pragma once

namespace memsched {

/// What is known of an order, or of a plan of an arena.
enum class verdict : unsigned char {
  optimal,     ///< what it needs is its lower bound
  feasible,    ///< anything between
  infeasible,  ///< the lower bound is above what there is: nothing fits
};

constexpr const char* to_string(verdict v) {
  return v == verdict::optimal ? "optimal" : v == verdict::infeasible ? "infeasible" : "feasible";
}

}  // namespace memsched
