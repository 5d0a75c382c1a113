// The number of random problems that a law tries.
#pragma once

#include <cstdint>

namespace support {

/// n, or a fifth of it in a build whose runs cost several times as much: under sanitizers, and with mutants.
constexpr std::uint64_t seeds(std::uint64_t n) {
#if defined(MEMSCHED_FEW_SEEDS)
  return (n + 4) / 5;
#else
  return n;
#endif
}

/// Whether the runs of this build cost several times as much.
constexpr bool few_seeds = seeds(5) < 5;

}  // namespace support
