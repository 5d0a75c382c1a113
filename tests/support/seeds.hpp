// The number of random problems that a law tries.
#pragma once

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
  static const char* const times = std::getenv("MEMSCHED_TIMES");
  return (few_seeds ? (n + 4) / 5 : n) * (times ? std::strtoull(times, nullptr, 10) : 1);
}

}  // namespace support
