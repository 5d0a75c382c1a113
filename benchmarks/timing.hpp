// Clocks for benchmarks.
#pragma once

#include <algorithm>
#include <chrono>

namespace timing {

using clock_type = std::chrono::steady_clock;

inline double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// The best time of up to 20 runs of f, at most about so many seconds in all.
template <class F>
double best_time(F&& f, double most_seconds = 1) {
  double best = 1e9;
  const auto start = clock_type::now();
  for (int i = 0; i < 20 && (i == 0 || seconds_since(start) < most_seconds); ++i) {
    const auto begin = clock_type::now();
    f();
    best = std::min(best, seconds_since(begin));
  }
  return best;
}

}  // namespace timing
