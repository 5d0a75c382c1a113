// Sparse constants of TensorFlow Lite models.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/formats/tflite/tables.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// Makes a sparse constant dense. Its stored elements are the leaves of a tree: a level for each dimension, then one for
/// each block inside a dimension, in an order of its own. A level is dense, or lists which positions are there (as
/// compressed sparse rows do). Returns none for a tensor that is not sound in every part, or would be more than 64 times as
/// large.
class sparse_reader {
 public:
  sparse_reader(untrusted_file& file, const table& how, const std::vector<std::int64_t>& shape, std::uint64_t width)
      : file_(file), shape_(shape), width_(static_cast<std::size_t>(width)) {
    for (const std::int32_t d : file.numbers(how, {0, "traversal_order"})) order_.push_back(d);
    for (const std::int32_t d : file.numbers(how, {1, "block_map"})) blocks_.push_back(d);
    for (const table& t : file.children(how, {2, "dim_metadata"})) {
      level l;
      l.sparse = file.number<std::int8_t>(t, {0, "format"}) == 1;
      l.size = file.number<std::int32_t>(t, {1, "dense_size"});
      if (l.sparse) l.segments = indices(t, 2), l.positions = indices(t, 4);
      levels_.push_back(std::move(l));
    }
  }

  std::optional<std::vector<std::byte>> run(std::span<const std::byte> stored) {
    const std::size_t rank = shape_.size();
    if (levels_.size() != order_.size() || levels_.size() != rank + blocks_.size() || rank > 8 || blocks_.size() > 8)
      return {};
    std::size_t elements = 1;
    for (const std::int64_t n : shape_) {
      if (n < 1 || elements > (std::size_t{1} << 31) / static_cast<std::size_t>(n)) return {};
      elements *= static_cast<std::size_t>(n);
    }
    if (width_ == 0 || elements / 64 > stored.size() / width_) return {};
    // The level that a dimension, or a block, is.
    std::vector<std::size_t> level_of(order_.size(), order_.size());
    for (std::size_t l = 0; l < order_.size(); ++l) {
      if (order_[l] < 0 || static_cast<std::size_t>(order_[l]) >= order_.size()) return {};
      if ((static_cast<std::size_t>(order_[l]) < rank) != (l < rank)) return {};
      level_of[static_cast<std::size_t>(order_[l])] = l;
    }
    if (std::find(level_of.begin(), level_of.end(), order_.size()) != level_of.end()) return {};
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b] < 0 || static_cast<std::size_t>(blocks_[b]) >= rank) return {};
      if (levels_[level_of[rank + b]].sparse || levels_[level_of[rank + b]].size < 1) return {};
    }
    at_.assign(levels_.size(), 0);
    made_.assign(elements * width_, std::byte{});
    left_ = 16 * elements + 16;  // entries of all levels; lists may overlap, so that a small file could ask for any amount
    stored_ = stored;
    if (!visit(0, 0) || next_ * width_ != stored.size()) return {};
    return std::move(made_);
  }

 private:
  struct level {
    bool sparse = false;
    std::int64_t size = 0;
    std::vector<std::int64_t> segments{}, positions{};
  };

  /// A union of vectors of 32-bit, 16-bit or 8-bit integers.
  std::vector<std::int64_t> indices(const table& t, flatbuffers::voffset_t number) {
    const auto tag = file_.number<std::uint8_t>(t, {number, "array_type"});
    const table list = file_.child(t, {static_cast<flatbuffers::voffset_t>(number + 1), "array"});
    std::vector<std::int64_t> values;
    const auto copy = [&](const auto& v) { values.assign(v.begin(), v.end()); };
    if (tag == 1) copy(file_.numbers<std::int32_t>(list, {0, "values"}));
    if (tag == 2) copy(file_.numbers<std::uint16_t>(list, {0, "values"}));
    if (tag == 3) copy(file_.numbers<std::uint8_t>(list, {0, "values"}));
    return values;
  }

  /// Level l below entry number `from` of the level above.
  bool visit(std::size_t l, std::size_t from) {
    if (left_ == 0) return false;
    --left_;
    if (l == levels_.size()) return put();
    const level& x = levels_[l];
    if (!x.sparse) {
      if (x.size < 1) return false;
      for (std::int64_t i = 0; i < x.size; ++i) {
        at_[l] = i;
        if (!visit(l + 1, from * static_cast<std::size_t>(x.size) + static_cast<std::size_t>(i))) return false;
      }
      return true;
    }
    if (from + 1 >= x.segments.size()) return false;
    const std::int64_t first = x.segments[from], stop = x.segments[from + 1];
    if (first < 0 || stop > static_cast<std::int64_t>(x.positions.size())) return false;
    for (std::int64_t i = first; i < stop; ++i) {
      at_[l] = x.positions[static_cast<std::size_t>(i)];
      if (!visit(l + 1, static_cast<std::size_t>(i))) return false;
    }
    return true;
  }

  bool put() {
    const std::size_t rank = shape_.size();
    std::vector<std::int64_t>& where = where_;
    where.assign(rank, 0);
    for (std::size_t l = 0; l < rank; ++l) where[static_cast<std::size_t>(order_[l])] = at_[l];
    for (std::size_t l = rank; l < levels_.size(); ++l) {
      auto& w = where[static_cast<std::size_t>(blocks_[static_cast<std::size_t>(order_[l]) - rank])];
      if (w > (std::int64_t{1} << 31) / levels_[l].size) return false;
      w = w * levels_[l].size + at_[l];
    }
    std::size_t to = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      if (where[d] < 0 || where[d] >= shape_[d]) return false;
      to = to * static_cast<std::size_t>(shape_[d]) + static_cast<std::size_t>(where[d]);
    }
    if ((next_ + 1) * width_ > stored_.size()) return false;
    std::copy_n(stored_.begin() + static_cast<std::ptrdiff_t>(next_ * width_), width_,
                made_.begin() + static_cast<std::ptrdiff_t>(to * width_));
    ++next_;
    return true;
  }

  untrusted_file& file_;
  const std::vector<std::int64_t>& shape_;
  std::size_t width_;
  std::vector<std::int64_t> order_, blocks_;
  std::vector<level> levels_;
  std::vector<std::int64_t> at_, where_;
  std::vector<std::byte> made_;
  std::span<const std::byte> stored_;
  std::size_t next_ = 0, left_ = 0;
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
