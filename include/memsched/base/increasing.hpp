// A longest increasing subsequence: the items that keep their order between two orders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

/// Indices of a longest increasing subsequence of distinct numbers, ascending. O(n log n)
inline std::vector<std::size_t> longest_increasing(std::span<const std::size_t> numbers) {
  std::vector<std::size_t> ends, before(numbers.size());  // ends[n]: index of the smallest end of those of n + 1 numbers
  const auto smaller = [&](std::size_t i, std::size_t number) { return numbers[i] < number; };
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto at = std::lower_bound(ends.begin(), ends.end(), numbers[i], smaller);
    before[i] = at == ends.begin() ? i : *std::prev(at);
    if (at == ends.end()) ends.push_back(i);
    else *at = i;
  }
  std::vector<std::size_t> found(ends.size());
  for (std::size_t k = ends.size(), i = ends.empty() ? 0 : ends.back(); k-- > 0; i = before[i]) found[k] = i;
  return found;
}

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
