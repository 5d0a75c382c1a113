// Lists of indices per index, in two flat arrays; and a range of consecutive indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

using index_t = std::uint32_t;
inline constexpr index_t none = static_cast<index_t>(-1);

namespace base {

/// The indices [0, n).
class index_range {
 public:
  class iterator {
   public:
    using value_type = index_t;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using reference = index_t;
    using pointer = const index_t*;
    iterator() = default;
    explicit iterator(index_t i) : i_(i) {}
    index_t operator*() const { return i_; }
    iterator& operator++() { return ++i_, *this; }
    iterator operator++(int) { return iterator(i_++); }
    bool operator==(const iterator&) const = default;

   private:
    index_t i_ = 0;
  };
  explicit index_range(std::size_t n) : n_(static_cast<index_t>(n)) {}
  iterator begin() const { return iterator(0); }
  iterator end() const { return iterator(n_); }
  std::size_t size() const { return n_; }

 private:
  index_t n_;
};

}  // namespace base

/// A list of T for each index; lists are appended in index order and then read only.
template <class T>
class list_of {
 public:
  std::span<const T> operator[](std::size_t i) const { return {items_.data() + offset_[i], offset_[i + 1] - offset_[i]}; }
  std::size_t size() const { return offset_.size() - 1; }
  std::size_t items() const { return items_.size(); }

  /// Makes room for `lists` lists with `items` items in all.
  void reserve(std::size_t lists, std::size_t items) {
    offset_.reserve(lists + 1);
    items_.reserve(items);
  }
  /// Appends to the list that is still open; `close` ends it and opens the next.
  void push(const T& value) { items_.push_back(value); }
  void close() { offset_.push_back(items_.size()); }
  /// The list that is still open.
  std::span<const T> open() const { return {items_.data() + offset_.back(), items_.size() - offset_.back()}; }

  /// Lists for [0, n) from (index, item) pairs; a list keeps the order of its pairs. O(n + pairs).
  static list_of from_pairs(std::size_t n, std::span<const std::pair<index_t, T>> pairs) {
    return from(n, [&](auto&& put) {
      for (const auto& [i, item] : pairs) put(i, item);
    });
  }
  /// The same for the pairs that `each` puts, as `put(index, item)`. Calls it twice, to count and to keep: both calls must
  /// put the same pairs.
  template <class Each>
  static list_of from(std::size_t n, Each&& each) {
    list_of lists;
    // List i is filled from offset_[i + 1] on, so that this ends where list i + 1 starts.
    lists.offset_.assign(n + 2, 0);
    each([&](index_t i, const T&) { ++lists.offset_[i + 2]; });
    std::partial_sum(lists.offset_.begin(), lists.offset_.end(), lists.offset_.begin());
    lists.items_.resize(lists.offset_.back());
    each([&](index_t i, const T& item) { lists.items_[lists.offset_[i + 1]++] = item; });
    lists.offset_.pop_back();
    return lists;
  }

 private:
  base::plain_vector<std::size_t> offset_{0};
  std::vector<T> items_;
};

using adjacency = list_of<index_t>;

namespace base {

/// The lists that hold i in the list of j if `lists` holds j in the list of i.
inline adjacency transpose(const adjacency& lists, std::size_t n) {
  return adjacency::from(n, [&](auto&& put) {
    for (index_t i = 0; i < lists.size(); ++i)
      for (index_t j : lists[i]) put(j, i);
  });
}

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
