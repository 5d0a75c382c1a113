// Sets of nodes in which one node can run.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <memsched/base/bitset.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Sets in which a node can run, with their heights: level plus the node's peak. As columns of bits, 64 sets a word, so
/// that all of them are tested at once.
class witness_sets {
 public:
  explicit witness_sets(std::size_t nodes) : nodes_(nodes) {}

  void add(const_bit_row set, delta height) {
    std::size_t block = 0;
    while (block < valid_.size() && ~valid_[block] == 0) ++block;
    if (block == valid_.size()) {
      valid_.push_back(0);
      words_.reserve(words_.size() + nodes_);  // exact, so that `bytes_held` is
      words_.resize(words_.size() + nodes_);
      heights_.resize(heights_.size() + 64);
    }
    const auto slot = static_cast<std::size_t>(std::countr_one(valid_[block]));
    valid_[block] |= bit_word{1} << slot;
    heights_[block * 64 + slot] = height;
    for (std::size_t u = 0; u < nodes_; ++u) {
      bit_word& column = words_[block * nodes_ + u];
      column = (column & ~(bit_word{1} << slot)) | bit_word{test_bit(set, u)} << slot;
    }
  }
  /// Drops the sets that are higher than `bound`.
  void keep_below(delta bound) {
    for_each([&](std::size_t block, std::size_t slot) {
      if (heights_[block * 64 + slot] > bound) valid_[block] &= ~(bit_word{1} << slot);
    });
  }
  /// Drops the sets that hold `to`, or all where that is the node itself, and not `from`.
  void keep_legal(const precedence& e, bool all) {
    for (std::size_t block = 0; block < valid_.size(); ++block) {
      const bit_word* columns = words_.data() + block * nodes_;
      valid_[block] &= (all ? 0 : ~columns[e.after]) | columns[e.before];
    }
  }
  std::size_t size() const { return count_bits(valid_); }
  std::uint64_t bytes_held() const { return words_.size() * sizeof(bit_word); }
  bool has(node_id u, bool inside) const {
    for (std::size_t block = 0; block < valid_.size(); ++block) {
      const bit_word column = words_[block * nodes_ + u];
      if ((valid_[block] & (inside ? column : ~column)) != 0) return true;
    }
    return false;
  }
  /// The least height of a set with u, or without.
  std::optional<delta> lowest(node_id u, bool inside) const {
    std::optional<delta> least;
    for_each([&](std::size_t block, std::size_t slot) {
      const delta height = heights_[block * 64 + slot];
      if ((words_[block * nodes_ + u] >> slot & 1) == inside && (!least || height < *least)) least = height;
    });
    return least;
  }

 private:
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t block = 0; block < valid_.size(); ++block)
      for (bit_word w = valid_[block]; w != 0; w &= w - 1) f(block, static_cast<std::size_t>(std::countr_zero(w)));
  }

  std::size_t nodes_;
  plain_vector<bit_word> words_, valid_;  // per block and node; per block
  plain_vector<delta> heights_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
