// Half-open intervals, and boxes of three of them: parts of images.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A row, a column or a channel. Signed: a window may begin before the image.
using coordinate = std::int64_t;

/// The coordinates first, ..., last - 1.
struct interval {
  coordinate first = 0, last = 0;
  bool operator==(const interval&) const = default;

  coordinate size() const { return last - first; }
  bool empty() const { return last <= first; }
  bool contains(coordinate x) const { return first <= x && x < last; }
  bool contains(const interval& i) const { return i.empty() || (first <= i.first && i.last <= last); }
};

/// The intersection of two intervals; empty ones are all [0, 0).
inline interval common(const interval& a, const interval& b) {
  const interval i{std::max(a.first, b.first), std::min(a.last, b.last)};
  return i.empty() ? interval{} : i;
}

/// The smallest interval that holds both.
inline interval hull(const interval& a, const interval& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

/// The numbers of rows, columns and channels of an image. A vector has channels only.
struct extents {
  coordinate rows = 1, columns = 1, channels = 1;
  bool operator==(const extents&) const = default;
  coordinate elements() const { return rows * columns * channels; }
};

/// A part of an image.
struct box {
  interval rows, columns, channels;
  bool operator==(const box&) const = default;

  bool empty() const { return rows.empty() || columns.empty() || channels.empty(); }
  bool contains(const box& b) const {
    return b.empty() || (rows.contains(b.rows) && columns.contains(b.columns) && channels.contains(b.channels));
  }
  extents size() const { return {rows.size(), columns.size(), channels.size()}; }
};

/// All of an image.
inline box whole(const extents& e) { return {{0, e.rows}, {0, e.columns}, {0, e.channels}}; }

/// The intersection of two boxes; empty if they are disjoint.
inline box common(const box& a, const box& b) {
  const box c{common(a.rows, b.rows), common(a.columns, b.columns), common(a.channels, b.channels)};
  return c.empty() ? box{} : c;
}

/// The smallest box that holds both.
inline box hull(const box& a, const box& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {hull(a.rows, b.rows), hull(a.columns, b.columns), hull(a.channels, b.channels)};
}

/// "[0, 4)", "12x8x3", "rows [0, 4) columns [0, 8) channels [0, 3)".
inline std::string to_string(const interval& i) {
  return "[" + std::to_string(i.first) + ", " + std::to_string(i.last) + ")";
}
inline std::string to_string(const extents& e) {
  return std::to_string(e.rows) + "x" + std::to_string(e.columns) + "x" + std::to_string(e.channels);
}
inline std::string to_string(const box& b) {
  return "rows " + to_string(b.rows) + " columns " + to_string(b.columns) + " channels " + to_string(b.channels);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
