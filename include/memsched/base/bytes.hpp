// Sizes and levels of memory.
#pragma once

#include <cstdint>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A size in bytes. The sizes of one graph sum to at most `base::max_total`, so that no later sum overflows.
using bytes = std::uint64_t;

/// A change of live bytes, or a level relative to another.
using delta = std::int64_t;

namespace base {
inline constexpr bytes max_total = bytes{1} << 61;
}

inline namespace literals {
constexpr bytes operator""_B(unsigned long long n) { return n; }
constexpr bytes operator""_KiB(unsigned long long n) { return n << 10; }
constexpr bytes operator""_MiB(unsigned long long n) { return n << 20; }
constexpr bytes operator""_GiB(unsigned long long n) { return n << 30; }
}  // namespace literals

}  // namespace MEMSCHED_ABI
}  // namespace memsched
