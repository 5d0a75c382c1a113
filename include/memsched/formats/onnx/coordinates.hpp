// Elements of small tensors by their coordinates: row-major places, broadcasting, choice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/formats/onnx/literal.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// An axis that may count from the end; none if it is none of `rank`.
inline std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

/// The product of the dimensions from `from` to before `to`.
inline std::size_t product(const dimensions& dims, std::size_t from, std::size_t to) {
  std::size_t n = 1;
  for (std::size_t i = from; i < to; ++i) n *= static_cast<std::size_t>(dims[i]);
  return n;
}

/// The coordinates after `at` in row-major order.
inline void advance(dimensions& at, const dimensions& dims) {
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (++at[i] < dims[i]) return;
    at[i] = 0;
  }
}

/// The row-major place of an element.
inline std::size_t flat(const dimensions& at, const dimensions& dims) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) n = n * static_cast<std::size_t>(dims[i]) + static_cast<std::size_t>(at[i]);
  return n;
}

/// Where the element at `at` of a broadcast result comes from, in a tensor of shape `dims`.
inline std::size_t broadcast_flat(const dimensions& at, const dimensions& dims) {
  const std::size_t skip = at.size() - dims.size();
  std::size_t n = 0;
  for (std::size_t i = 0; i < dims.size(); ++i)
    n = n * static_cast<std::size_t>(dims[i]) + (dims[i] == 1 ? 0 : static_cast<std::size_t>(at[skip + i]));
  return n;
}

/// The shape to which two shapes broadcast; none if they do not.
inline std::optional<dimensions> broadcast(dimensions a, dimensions b) {
  if (a.size() < b.size()) std::swap(a, b);
  b.insert(b.begin(), a.size() - b.size(), 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 1) a[i] = b[i];
    else if (b[i] != 1 && b[i] != a[i]) return std::nullopt;
  }
  return a;
}

/// Elements of x, chosen by the coordinates of the result.
template <class F>
std::optional<literal> pick(const literal& x, const dimensions& dims, F source) {
  const auto n = element_count(dims, max_literal);
  if (!n || dims.size() > max_rank) return std::nullopt;
  literal out{x.type, dims, {}};
  dimensions at(dims.size(), 0);
  for (std::int64_t e = 0; e < *n; ++e) {
    out.values.push_back(x.values[source(at)]);
    advance(at, dims);
  }
  return out;
}

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
