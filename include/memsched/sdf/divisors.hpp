// Divisors of numbers of firings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <memsched/base/bytes.hpp>
#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// Divisors of a number, ascending, with 1 and the number itself.
struct divisor_list {
  std::vector<bytes> all;
  bool complete = true;  ///< false if the rest after small factors is too large to be known as a prime
};

/// The divisors of n, which is 1 or more. It tries odd factors below 2^17, so that a rest of less than 2^34 is a
/// prime. O(2^16 + divisors).
inline divisor_list divisors(bytes n) {
  constexpr bytes most_tried = bytes{1} << 17;
  divisor_list d{{1}};
  const auto times = [&](bytes prime) {
    const std::size_t before = d.all.size();
    bytes power = 1;
    for (; n % prime == 0; n /= prime) {
      power *= prime;
      for (std::size_t i = 0; i < before; ++i) d.all.push_back(d.all[i] * power);
    }
  };
  times(2);
  for (bytes f = 3; f <= most_tried && f * f <= n; f += 2)
    if (n % f == 0) times(f);
  d.complete = n < most_tried * most_tried;
  if (n > 1) times(n);
  std::sort(d.all.begin(), d.all.end());
  return d;
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched
