// Integers of 128 bits, for sums of products of sizes and prices.
#pragma once

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

__extension__ using int128 = __int128;

}  // namespace MEMSCHED_ABI
}  // namespace memsched
