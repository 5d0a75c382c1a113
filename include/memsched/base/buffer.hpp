// A buffer of an arena: bytes for some time.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <memsched/base/bytes.hpp>
#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// No fixed offset.
inline constexpr bytes no_offset = std::numeric_limits<bytes>::max();

/// From a moment on, a buffer needs only its lowest bytes.
struct size_drop {
  std::int64_t at = 0;
  bytes size = 0;
  bool operator==(const size_drop&) const = default;
};

/// Bytes that are needed during [lower, upper). An empty buffer (no bytes, or lower == upper) meets no other.
struct buffer {
  std::int64_t lower = 0, upper = 0;
  bytes size = 0;
  bytes alignment = 1;             ///< its offset is a multiple; at least 1, no power of two needed
  bytes offset = no_offset;        ///< where it must lie
  std::vector<size_drop> drops{};  ///< inside the lifetime, ever later and ever smaller, never to zero

  bool empty() const { return size == 0 || lower == upper; }
  /// Bytes that it needs at a moment of its lifetime.
  bytes size_at(std::int64_t t) const {
    bytes now = size;
    for (const size_drop& d : drops)
      if (d.at <= t) now = d.size;
    return now;
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
