// Sets of small integers as words of bits: the rows of a matrix, and operations on such rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

using bit_word = std::uint64_t;
using bit_row = std::span<bit_word>;
using const_bit_row = std::span<const bit_word>;

constexpr std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }

constexpr bool test_bit(const_bit_row row, std::size_t i) { return (row[i / 64] >> (i % 64) & 1) != 0; }
constexpr void set_bit(bit_row row, std::size_t i) { row[i / 64] |= bit_word{1} << (i % 64); }
constexpr void reset_bit(bit_row row, std::size_t i) { row[i / 64] &= ~(bit_word{1} << (i % 64)); }

/// The last member in the k-th word of a row: w, which is not empty.
constexpr std::size_t last_member(std::size_t k, bit_word w) {
  return 64 * k + static_cast<std::size_t>(std::bit_width(w)) - 1;
}

constexpr void unite_bits(bit_row into, const_bit_row from) {
  for (std::size_t k = 0; k < into.size(); ++k) into[k] |= from[k];
}

constexpr bool is_subset(const_bit_row inner, const_bit_row outer) {
  for (std::size_t k = 0; k < inner.size(); ++k)
    if ((inner[k] & ~outer[k]) != 0) return false;
  return true;
}

/// Whether each member of `row` is one of a or b.
constexpr bool is_covered(const_bit_row row, const_bit_row a, const_bit_row b) {
  for (std::size_t k = 0; k < row.size(); ++k)
    if ((row[k] & ~a[k] & ~b[k]) != 0) return false;
  return true;
}

constexpr bool intersects(const_bit_row a, const_bit_row b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if ((a[k] & b[k]) != 0) return true;
  return false;
}

constexpr std::size_t count_bits(const_bit_row row) {
  std::size_t n = 0;
  for (bit_word w : row) n += static_cast<std::size_t>(std::popcount(w));
  return n;
}

/// Calls f(i) for every member i, ascending.
template <class F>
constexpr void for_each_bit(const_bit_row row, F&& f) {
  for (std::size_t k = 0; k < row.size(); ++k)
    for (bit_word w = row[k]; w != 0; w &= w - 1) f(k * 64 + static_cast<std::size_t>(std::countr_zero(w)));
}

/// Calls f(i) for every member i of `outer` that is not one of `inner`, ascending.
template <class F>
constexpr void for_each_bit_beyond(const_bit_row inner, const_bit_row outer, F&& f) {
  for (std::size_t k = 0; k < outer.size(); ++k)
    for (bit_word w = outer[k] & ~inner[k]; w != 0; w &= w - 1) f(k * 64 + static_cast<std::size_t>(std::countr_zero(w)));
}

/// Calls f(i) for every member i, descending.
template <class F>
constexpr void for_each_bit_down(const_bit_row row, F&& f) {
  for (std::size_t k = row.size(); k-- > 0;)
    for (bit_word w = row[k]; w != 0;) {
      const std::size_t i = last_member(k, w);
      w &= ~(bit_word{1} << (i % 64));
      f(i);
    }
}

/// `rows` sets over the universe [0, columns), all empty at first. rows * columns / 8 bytes.
class bit_matrix {
 public:
  bit_matrix() = default;
  bit_matrix(std::size_t rows, std::size_t columns) : width_(words_for(columns)), words_(rows * width_) {}
  /// The same, made some rows at a time, since to clear a large one takes long; nothing if `go_on()`, asked between, is false.
  template <class F>
  static std::optional<bit_matrix> make(std::size_t rows, std::size_t columns, F&& go_on) {
    constexpr std::size_t at_once = std::size_t{1} << 17;  // words
    bit_matrix m(0, columns);
    m.words_.reserve(rows * m.width_);
    while (m.words_.size() < rows * m.width_) {
      if (!go_on()) return std::nullopt;
      m.words_.resize(std::min(rows * m.width_, m.words_.size() + at_once));
    }
    return m;
  }

  bit_row operator[](std::size_t row) { return {words_.data() + row * width_, width_}; }
  const_bit_row operator[](std::size_t row) const { return {words_.data() + row * width_, width_}; }

 private:
  std::size_t width_ = 0;
  plain_vector<bit_word> words_;
};

/// One set over [0, columns), as an object.
class bit_set {
 public:
  bit_set() = default;
  explicit bit_set(std::size_t columns) : words_(words_for(columns)) {}

  operator bit_row() { return words_; }              // NOLINT(google-explicit-constructor)
  operator const_bit_row() const { return words_; }  // NOLINT(google-explicit-constructor)
  bool operator[](std::size_t i) const { return test_bit(words_, i); }
  void insert(std::size_t i) { set_bit(words_, i); }
  void erase(std::size_t i) { reset_bit(words_, i); }
  void clear() { words_.assign(words_.size(), 0); }

 private:
  plain_vector<bit_word> words_;
};

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
