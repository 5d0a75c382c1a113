// A law of the default scheduler.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memsched/schedule.hpp>

#include "support/seeds.hpp"

namespace support {

/// With more counted work, neither the peak nor the bound is worse.
inline void check_never_worse(const memsched::problem& p) {
  memsched::bytes peak = memsched::no_limit, bound = 0;
  for (std::uint64_t limit = 1; limit < seeds(40000); limit += 1 + 5 * limit / seeds(15)) {
    INFO(limit << " states");
    const auto r = memsched::schedule(p, memsched::automatic, {.state_limit = limit});
    REQUIRE(r.peak <= peak);
    REQUIRE(r.lower_bound >= bound);
    peak = r.peak, bound = r.lower_bound;
  }
}

}  // namespace support
