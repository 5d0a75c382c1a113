// One operand of an operator, put together from its parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// An operand's parts, side by side in one array that covers their hull.
template <class Number>
struct gathered {
  extents size;  ///< of the whole operand
  box here;
  std::vector<Number> values;
  std::vector<unsigned char> there;  ///< per value: whether a part holds it; empty if all do

  std::size_t at(coordinate r, coordinate c, coordinate k) const {
    return static_cast<std::size_t>(((r - here.rows.first) * here.columns.size() + (c - here.columns.first)) *
                                        here.channels.size() +
                                    (k - here.channels.first));
  }
  bool holds(const box& b) const {
    if (!here.contains(b)) return false;
    if (there.empty()) return true;
    for (coordinate r = b.rows.first; r < b.rows.last; ++r)
      for (coordinate c = b.columns.first; c < b.columns.last; ++c)
        for (coordinate k = b.channels.first; k < b.channels.last; ++k)
          if (there[at(r, c, k)] == 0) return false;
    return true;
  }

  /// The operand that an image is; `values` has the elements of each tensor.
  static gathered of(const network& net, const image& x, const std::vector<std::vector<Number>>& values) {
    gathered g{x.size, {}, {}, {}};
    std::vector<placed> parts;
    for (const placed& p : x.parts)
      if (net.tensors[p.tensor].role != tensor_role::token) parts.push_back(p), g.here = hull(g.here, box_of(net, p));
    if (parts.size() == 1) {
      g.values = values[parts[0].tensor];
      return g;
    }
    const auto n = static_cast<std::size_t>(g.here.size().elements());
    g.values.assign(n, Number{});
    g.there.assign(n, 0);
    for (const placed& p : parts) {
      const box b = box_of(net, p);
      std::size_t from = 0;
      const auto width = static_cast<std::size_t>(b.channels.size());
      for (coordinate r = b.rows.first; r < b.rows.last; ++r)
        for (coordinate c = b.columns.first; c < b.columns.last; ++c, from += width) {
          const std::size_t to = g.at(r, c, b.channels.first);
          std::copy_n(values[p.tensor].begin() + static_cast<std::ptrdiff_t>(from), width,
                      g.values.begin() + static_cast<std::ptrdiff_t>(to));
          std::fill_n(g.there.begin() + static_cast<std::ptrdiff_t>(to), width, static_cast<unsigned char>(1));
        }
    }
    if (std::all_of(g.there.begin(), g.there.end(), [](unsigned char c) { return c != 0; })) g.there.clear();
    return g;
  }
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
