// Parts of a time limit that several searches share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memsched/search/options.hpp>

namespace cli {

/// The options with one of `parts` equal parts of the time limit.
inline memsched::options with_share(memsched::options limits, std::size_t parts) {
  if (limits.has_time_limit()) limits.time_limit /= static_cast<std::int64_t>(parts);
  return limits;
}

/// The options with `count` sixteenths of the time limit.
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
