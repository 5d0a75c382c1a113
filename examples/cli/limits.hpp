// Parts of a time limit that several searches share.
#pragma once

#include <chrono>
#include <memsched/search/options.hpp>

namespace cli {

/// The options with so many sixteenths of the time limit.
inline memsched::options sixteenths(memsched::options limits, unsigned count) {
  if (limits.has_time_limit()) limits.time_limit = limits.time_limit / 16 * count;
  return limits;
}

/// The options with what is left of the time limit since `start`; 0 where it is over.
inline memsched::options rest_of(memsched::options limits, std::chrono::steady_clock::time_point start) {
  limits.time_limit = limits.time_left(start);
  return limits;
}

}  // namespace cli
