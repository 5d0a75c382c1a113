// The number of random problems that a law tries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace support {

/// Whether the runs of this build cost several times as much: under sanitizers, and with mutants.
#if defined(MEMSCHED_FEW_SEEDS)
inline constexpr bool few_seeds = true;
#else
inline constexpr bool few_seeds = false;
#endif

/// n, or a fifth of it with few seeds; many times that if the environment variable MEMSCHED_TIMES says so.
inline std::uint64_t seeds(std::uint64_t n) {
  static const std::uint64_t times = [] {
    const char* const said = std::getenv("MEMSCHED_TIMES");
    return std::max<std::uint64_t>(1, said ? std::strtoull(said, nullptr, 10) : 1);
  }();
  return (few_seeds ? (n + 4) / 5 : n) * times;
}

}  // namespace support
