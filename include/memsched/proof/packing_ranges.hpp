// Ranges of offsets on the way through a packing proof.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/buffer.hpp>
#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The ranges of the offsets of some buffers in an arena, and which of two that meet is known to be below. Buffers are named
/// by their place in the list. The rules, with proofs: docs/proofs.md, section 10. O(n^2) memory for n buffers.
class packing_ranges {
 public:
  /// Buffers without fault (see check_buffers) that are not empty; `capacity` is at most 2^61.
  packing_ranges(std::span<const buffer* const> buffers, bytes capacity)
      : buffers_(buffers.begin(), buffers.end()), least_(buffers.size()), most_(buffers.size()) {
    for (std::size_t i = 0; i < size(); ++i) {
      const buffer& b = *buffers_[i];
      const bool fixed = b.offset != no_offset;
      least_[i] = fixed ? signed_of(b.offset) : 0;
      most_[i] = down(i, signed_of(capacity) - signed_of(b.size));
      if (fixed && most_[i] >= least_[i]) most_[i] = least_[i];
    }
  }

  std::size_t size() const { return buffers_.size(); }
  const buffer& operator[](std::size_t i) const { return *buffers_[i]; }
  std::int64_t least(std::size_t i) const { return least_[i]; }
  std::int64_t most(std::size_t i) const { return most_[i]; }
  /// Whether two buffers have a moment in common; only after `list_pairs`, as all of the following.
  bool meet(std::size_t a, std::size_t b) const { return height(a, b) > 0; }
  /// The least distance from a's offset up to b's, if a is below b; 0 if they do not meet.
  std::int64_t height(std::size_t a, std::size_t b) const { return (*height_)[a * size() + b]; }
  bool below(std::size_t a, std::size_t b) const { return below_[a * size() + b] != 0; }
  void put_below(std::size_t a, std::size_t b) { below_[a * size() + b] = 1; }

  /// Lists which buffers meet; twins lie in the order of their numbers.
  void list_pairs() {
    const std::size_t n = size();
    std::vector<std::int64_t> heights(n * n, 0);
    below_.assign(n * n, 0);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) {
        const std::int64_t first = std::max(buffers_[a]->lower, buffers_[b]->lower);
        if (a == b || first >= std::min(buffers_[a]->upper, buffers_[b]->upper)) continue;
        heights[a * n + b] = signed_of(buffers_[a]->size_at(first));
        if (a < b && twins(*buffers_[a], *buffers_[b])) put_below(a, b);
      }
    height_ = std::make_shared<const std::vector<std::int64_t>>(std::move(heights));
  }

  /// Narrows ranges and orders pairs until nothing changes. Returns false if there is no plan.
  bool follow() {
    const std::size_t n = size();
    for (std::size_t i = 0; i < n; ++i)
      if (least_[i] > most_[i]) return false;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = a + 1; b < n; ++b) {
          if (!meet(a, b)) continue;
          const bool ab = least_[a] + height(a, b) <= most_[b] && !below(b, a);
          const bool ba = least_[b] + height(b, a) <= most_[a] && !below(a, b);
          if (!ab && !ba) return false;
          if (ab && ba) continue;
          if (!narrow(ab ? a : b, ab ? b : a, changed)) return false;
        }
    }
    return true;
  }

  /// Whether buffers, ascending, that are live at a moment take more room than their ranges leave them.
  bool too_much(std::int64_t at, std::span<const std::size_t> chosen) const {
    bytes grid = 0;
    for (const std::size_t i : chosen) grid = std::gcd(grid, grid_of(i));
    grid = std::max<bytes>(grid, 1);
    bytes sum = 0, spared = 0;
    std::int64_t low = INT64_MAX, high = INT64_MIN;
    for (const std::size_t i : chosen) {
      const bytes size = buffers_[i]->size_at(at), over = (grid - size % grid) % grid;
      sum += size + over, spared = std::max(spared, over);
      low = std::min(low, least_[i]), high = std::max(high, most_[i] + signed_of(size));
    }
    return high < low || sum - spared > static_cast<bytes>(high - low);
  }

  /// A number that a buffer's offset is a multiple of.
  bytes grid_of(std::size_t i) const {
    return buffers_[i]->offset == no_offset ? buffers_[i]->alignment : buffers_[i]->offset;
  }

 private:
  static std::int64_t signed_of(bytes n) { return static_cast<std::int64_t>(n); }
  static bool twins(const buffer& a, const buffer& b) {
    return a.offset == no_offset && b.offset == no_offset && a.lower == b.lower && a.upper == b.upper && a.size == b.size &&
           a.alignment == b.alignment && a.drops == b.drops;
  }
  std::int64_t up(std::size_t i, std::int64_t n) const {
    const std::int64_t a = signed_of(buffers_[i]->alignment);
    return (n + a - 1) / a * a;
  }
  std::int64_t down(std::size_t i, std::int64_t n) const { return n < 0 ? -1 : n - n % signed_of(buffers_[i]->alignment); }

  /// Notes that a is below b, and the consequences for their ranges. Returns false if there is no plan.
  bool narrow(std::size_t a, std::size_t b, bool& changed) {
    if (!below(a, b)) put_below(a, b), changed = true;
    if (const std::int64_t least = up(b, least_[a] + height(a, b)); least > least_[b]) least_[b] = least, changed = true;
    if (const std::int64_t most = down(a, most_[b] - height(a, b)); most < most_[a]) most_[a] = most, changed = true;
    return least_[a] <= most_[a] && least_[b] <= most_[b];
  }

  std::vector<const buffer*> buffers_;
  std::vector<std::int64_t> least_, most_;
  std::shared_ptr<const std::vector<std::int64_t>> height_;  ///< of pairs; [a, b] at a * size + b
  std::vector<char> below_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
