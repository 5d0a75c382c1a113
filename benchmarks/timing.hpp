// Clocks for benchmarks, and the processor time and memory that a process has used.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace timing {

using clock_type = std::chrono::steady_clock;

inline double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// The best time of up to 20 runs of f, at most about `most_seconds` seconds in all.
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

inline rusage used(int whose = RUSAGE_SELF) {
  rusage u{};
  getrusage(whose, &u);
  return u;
}
/// Seconds as a limit of `options`.
inline std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}
inline double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }
/// Seconds of the processor in this process, by all threads; what the system did for it is left out.
inline double user_seconds() { return seconds(used().ru_utime); }
/// Likewise with that, in this process, or in those that it has started and waited for.
inline double processor_seconds(int whose = RUSAGE_SELF) {
  const rusage u = used(whose);
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}
/// Most memory that this process has held.
inline double peak_bytes() { return static_cast<double>(used().ru_maxrss) * 1024; }

}  // namespace timing
