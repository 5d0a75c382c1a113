// The input of an exact search for offsets: buffers over sections of time, sizes in units.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/allocation/buffers.hpp>
#include <memsched/base/adjacency.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// An offset or a size, in units of a packing.
using units = std::int64_t;
inline constexpr units no_wall = std::numeric_limits<units>::max() / 2;

/// The buffers of a question "do they fit?", dense, without the empty ones.
///
/// **Sections.** Lifetimes are intervals, and of the sets of buffers that are live at once only those matter that no other
/// contains: buffers that meet in pairs have a moment in common, so that two buffers meet exactly if they share a
/// section. A sweep closes a section at the first end (or drop of a size) after a start.
///
/// **Units.** Let g be the gcd of alignments and fixed offsets: all offsets are multiples of g, so that rounding the sizes
/// up to g changes nothing but where the topmost buffer ends (see `cap`). In a plan of least sum of offsets a buffer lies at
/// 0, at its fixed offset, or at the first multiple of its alignment above the top of another. With u the gcd of the rounded
/// sizes and of the fixed offsets, and of each alignment that does not divide it, all those are multiples of u, by induction
/// from below. An alignment that divides u is void.
class packing {
 public:
  struct item {
    index_t buffer = 0;           ///< in the caller's list
    index_t first = 0, last = 0;  ///< sections [first, last)
    units size = 0, least = 0;    ///< at the start, and after the last drop
    units alignment = 1;          ///< in units; 1 if void
    units fixed = -1;             ///< offset; -1 if it is free
    index_t twin = none;          ///< the item before this one with the same lifetime, sizes, alignment and cap
    std::vector<std::pair<index_t, units>> drops{};  ///< from a section on
  };

  explicit packing(std::span<const buffer> buffers) : buffers_(buffers) {
    find_unit();
    find_sections();
  }

  /// Fills `in_section`. Returns false if that is more than an exact search takes.
  bool list_sections() {
    if (items.size() > most_items || spans_ > most_spans) return false;
    std::vector<std::pair<index_t, index_t>> pairs;
    for (index_t i = 0; i < items.size(); ++i)
      for (index_t s = items[i].first; s < items[i].last; ++s) pairs.emplace_back(s, i);
    in_section = adjacency::from_pairs(sections, pairs);
    return true;
  }

  /// The size of an item in a section in which it is live.
  units size_in(index_t i, index_t s) const {
    units now = items[i].size;
    for (const auto& [from, size] : items[i].drops)
      if (from <= s) now = size;
    return now;
  }

  /// The length of an item's life, in the caller's time.
  std::uint64_t lifetime(index_t i) const {
    const buffer& b = buffers_[items[i].buffer];
    return static_cast<std::uint64_t>(b.upper) - static_cast<std::uint64_t>(b.lower);
  }

  /// The highest that an item may end, in units, with an arena of `capacity` bytes; less than its size if it cannot lie.
  /// Its offset, a multiple of u, is at most capacity minus its true size.
  units cap(index_t i, bytes capacity) const {
    const bytes size = buffers_[items[i].buffer].size;
    if (size > capacity) return items[i].size - 1;
    return static_cast<units>((capacity - size) / unit) + items[i].size;
  }

  /// The smallest arena above `size` bytes that some plan may need; every arena is an offset plus a size.
  bytes next_size(bytes size) const {
    bytes next = no_size;
    for (const bytes r : residues_) {
      const bytes up = size + 1 + (r + unit - (size + 1) % unit) % unit;
      next = std::min(next, up);
    }
    return next;
  }
  /// The largest arena below `size` bytes that some plan may need; 0 if there is none.
  bytes previous_size(bytes size) const {
    bytes next = 0;
    for (const bytes r : residues_)
      if (size > r) next = std::max(next, size - 1 - (size - 1 - r) % unit);
    return next;
  }

  std::vector<item> items;  ///< by first section, then by last, then by buffer
  index_t sections = 0;
  adjacency in_section;  ///< items that are live in a section; see list_sections
  bytes unit = 1;
  bool plain = true;  ///< no item is fixed or has an alignment that is not void

 private:
  static constexpr std::size_t most_items = 2500;
  static constexpr std::uint64_t most_spans = std::uint64_t{1} << 22;
  static constexpr bytes no_size = std::numeric_limits<bytes>::max();

  void find_unit() {
    bytes g = 0;
    for (const buffer& b : buffers_)
      if (!b.empty()) g = std::gcd(g, b.offset == no_offset ? b.alignment : b.offset);
    grain_ = std::max<bytes>(g, 1);
    bytes u = 0;
    for (const buffer& b : buffers_) {
      if (b.empty()) continue;
      u = std::gcd(u, round_up(b.size, grain_));
      for (const size_drop& d : b.drops) u = std::gcd(u, round_up(d.size, grain_));
      if (b.offset != no_offset) u = std::gcd(u, b.offset);
    }
    u = std::max<bytes>(u, 1);
    for (bytes before = 0; before != u;) {
      before = u;
      for (const buffer& b : buffers_)
        if (!b.empty() && b.offset == no_offset && u % b.alignment != 0) u = std::gcd(u, b.alignment);
    }
    unit = u;
    for (const buffer& b : buffers_)
      if (!b.empty()) residues_.push_back(b.size % unit);
    std::sort(residues_.begin(), residues_.end());
    residues_.erase(std::unique(residues_.begin(), residues_.end()), residues_.end());
  }

  units in_units(bytes size) const { return static_cast<units>(round_up(size, grain_) / unit); }

  void find_sections() {
    std::vector<item> made(buffers_.size());
    bool grew = false;
    for (const level_change& change : moments(buffers_)) {
      item& i = made[change.buffer];
      if (change.rises) {
        i.first = sections;
        grew = true;
        continue;
      }
      if (grew) ++sections;
      grew = false;
      if (change.after > 0) {
        const units size = in_units(change.after);
        const units now = i.drops.empty() ? in_units(change.before) : i.drops.back().second;
        if (size == now) continue;
        if (!i.drops.empty() && i.drops.back().first == sections) i.drops.back().second = size;
        else i.drops.emplace_back(sections, size);
      } else {
        i.last = sections;
        spans_ += i.last - i.first;
      }
    }
    for (index_t b = 0; b < buffers_.size(); ++b) {
      if (buffers_[b].empty()) continue;
      item& i = made[b];
      i.buffer = b;
      i.size = i.least = in_units(buffers_[b].size);
      while (!i.drops.empty() && i.drops.back().first == i.last) i.drops.pop_back();  // after its last section
      if (!i.drops.empty()) i.least = i.drops.back().second;
      if (buffers_[b].offset != no_offset) i.fixed = static_cast<units>(buffers_[b].offset / unit);
      else if (unit % buffers_[b].alignment != 0) i.alignment = static_cast<units>(buffers_[b].alignment / unit);
      plain &= i.fixed < 0 && i.alignment == 1;
      items.push_back(std::move(i));
    }
    const auto key = [&](const item& i) {
      return std::tuple(i.first, i.last, i.size, i.alignment, buffers_[i.buffer].size, i.fixed);
    };
    std::sort(items.begin(), items.end(), [&](const item& a, const item& b) {
      const auto x = key(a), y = key(b);
      return x != y ? x < y : a.buffer < b.buffer;
    });
    for (index_t i = 1; i < items.size(); ++i)
      if (key(items[i]) == key(items[i - 1]) && items[i].drops == items[i - 1].drops) items[i].twin = i - 1;
  }

  std::span<const buffer> buffers_;
  std::vector<bytes> residues_;  ///< of sizes, modulo the unit
  bytes grain_ = 1;
  std::uint64_t spans_ = 0;  ///< sections of all items
};

/// Offsets in bytes of all buffers from those of the items.
inline std::vector<bytes> in_bytes(std::span<const buffer> buffers, const packing& p, std::span<const units> offset) {
  std::vector<bytes> all(buffers.size(), 0);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].offset != no_offset) all[i] = buffers[i].offset;
  for (std::size_t i = 0; i < offset.size(); ++i) all[p.items[i].buffer] = static_cast<bytes>(offset[i]) * p.unit;
  return all;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
