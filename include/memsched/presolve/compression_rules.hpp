// Switches of compression.
#pragma once

#include <cstddef>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace presolve {

/// The rules of compression that apply, and their limits.
struct compression_rules {
  bool c1 = true, c2 = true;
  bool s1 = true, s2 = true;
  bool series_parallel = true;        ///< order series-parallel graphs directly
  bool general = true;                ///< S1 and S2 under their general conditions, beside equal neighbours
  bool local_reduction = true;        ///< drop edges that a path of two replaces, where something changed
  bool global_reduction = true;       ///< drop all edges that a path replaces
  std::size_t max_unsampled = 50000;  ///< larger graphs are left as they are if samples of them do not get smaller
  std::size_t max_closure = 4096;     ///< nodes that may be left when the general conditions and the global reduction start
};

}  // namespace presolve
}  // namespace MEMSCHED_ABI
}  // namespace memsched
