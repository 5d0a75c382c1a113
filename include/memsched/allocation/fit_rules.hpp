// Switches of the exact search for offsets.
#pragma once

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The rules of the exact search that may be left out, for measurements and tests; it is exact with any of them.
struct fit_rules {
  bool waste_bound = true;    ///< A2
  bool unsupported = true;    ///< A3
  bool section_bound = true;  ///< A4
  bool parts = true;          ///< A5
  bool failed_states = true;  ///< A6
  bool everywhere = true;     ///< A7
  bool twins = true;          ///< A8
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
