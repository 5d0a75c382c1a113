// The largest of many things, for lists that a person reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memsched/base/bytes.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace cli {

/// A name and its bytes.
using named_size = std::pair<std::string, memsched::bytes>;

/// The first `shown` of the list, the largest first, and the others in total as "12 more".
inline std::vector<named_size> largest_first(std::vector<named_size> list, std::size_t shown) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (list.size() <= shown) return list;
  named_size rest{std::to_string(list.size() - shown) + " more", 0};
  for (std::size_t i = shown; i < list.size(); ++i) rest.second += list[i].second;
  list.resize(shown);
  list.push_back(std::move(rest));
  return list;
}

/// Indices of the `shown` largest sizes, ascending.
inline std::vector<std::size_t> places_of_largest(const std::vector<memsched::bytes>& sizes, std::size_t shown) {
  std::vector<std::size_t> places(sizes.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  places.resize(std::min(places.size(), shown));
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace cli
