// Random buffers, small enough to try every offset.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <memsched/allocation/plan.hpp>

#include "support/random_problem.hpp"

namespace support {

struct buffer_shape {
  std::uint32_t count = 6, time = 8, max_size = 4;
  std::uint32_t percent_aligned = 0, percent_fixed = 0, percent_dropping = 0, percent_full = 0;
  bool one_alignment = false;
};

/// Buffers in no order. `percent_full`: room that is left at a moment is filled up to the load, so that there is little
/// waste.
inline std::vector<memsched::buffer> random_buffers(std::uint64_t seed, const buffer_shape& s) {
  using namespace memsched;
  random r(seed);
  std::vector<buffer> buffers;
  const bytes common = r.below(4) + 1;
  for (std::uint32_t i = 0; i < s.count; ++i) {
    buffer b;
    b.lower = r.below(s.time);
    b.upper = b.lower + 1 + r.below(s.time - static_cast<std::uint32_t>(b.lower));
    b.size = r.below(s.max_size) + 1;
    if (s.one_alignment) b.alignment = common;
    else if (r.chance(s.percent_aligned)) b.alignment = r.below(4) + 1;
    if (r.chance(s.percent_fixed)) b.offset = r.below(4) * b.alignment;
    if (r.chance(s.percent_dropping) && b.size > 1 && b.upper - b.lower > 1) {
      const auto at = b.lower + 1 + r.below(static_cast<std::uint32_t>(b.upper - b.lower - 1));
      b.drops.push_back({at, r.below(static_cast<std::uint32_t>(b.size) - 1) + 1});
    }
    if (b.offset != no_offset) {
      buffers.push_back(b);
      if (!check_fixed(buffers).message.empty()) buffers.back().offset = no_offset;
      continue;
    }
    buffers.push_back(b);
  }
  if (r.chance(s.percent_full)) {
    const bytes target = load_of(buffers);
    for (std::uint32_t t = 0; t < s.time; ++t) {
      const std::int64_t from = t;
      std::int64_t to = from;
      bytes room = target;
      for (; to < s.time; ++to) {
        bytes live = 0;
        for (const buffer& b : buffers)
          if (b.lower <= to && to < b.upper) live += b.size_at(to);
        if (live >= target || (to > from && r.chance(30))) break;
        room = std::min(room, target - live);
      }
      if (to > from && buffers.size() < s.count + 5) buffers.push_back({.lower = from, .upper = to, .size = room});
    }
  }
  for (std::size_t i = buffers.size(); i > 1; --i)
    std::swap(buffers[i - 1], buffers[r.below(static_cast<std::uint32_t>(i))]);
  return buffers;
}

/// Whether buffers fit, by trying every offset of every buffer.
class offset_oracle {
 public:
  explicit offset_oracle(const std::vector<memsched::buffer>& buffers) : buffers_(buffers), offset_(buffers.size()) {}

  bool fits(memsched::bytes capacity) { return place(0, capacity); }
  /// The smallest arena; nothing where that takes more than `steps` steps.
  std::optional<memsched::bytes> smallest(std::uint64_t steps = 300'000) {
    left_ = steps;
    memsched::bytes capacity = memsched::load_of(buffers_);
    while (!fits(capacity) && left_ > 0) ++capacity;
    return left_ > 0 ? std::optional(capacity) : std::nullopt;
  }

 private:
  bool place(std::size_t i, memsched::bytes capacity) {
    if (i == buffers_.size()) return true;
    if (left_ == 0) return false;
    --left_;
    const auto& b = buffers_[i];
    if (b.empty()) return place(i + 1, capacity);
    for (memsched::bytes at = 0; at + b.size <= capacity; ++at) {
      if (at % b.alignment != 0 || (b.offset != memsched::no_offset && b.offset != at)) continue;
      offset_[i] = at;
      if (free(i) && place(i + 1, capacity)) return true;
    }
    return false;
  }
  bool free(std::size_t i) const {
    const auto& b = buffers_[i];
    for (std::size_t j = 0; j < i; ++j) {
      const auto& c = buffers_[j];
      if (c.empty()) continue;
      for (std::int64_t t = std::max(b.lower, c.lower); t < std::min(b.upper, c.upper); ++t)
        if (offset_[i] < offset_[j] + c.size_at(t) && offset_[j] < offset_[i] + b.size_at(t)) return false;
    }
    return true;
  }

  const std::vector<memsched::buffer>& buffers_;
  std::vector<memsched::bytes> offset_;
  std::uint64_t left_ = ~std::uint64_t{0};
};

}  // namespace support
