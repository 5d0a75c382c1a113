// Sets of nodes in which one node can run.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <memsched/base/bitset.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Sets in which a node can run, with their heights: level plus the node's peak. As columns of bits, 64 sets a word, so
/// that all of them are tested at once. A bit says whether a set differs from the first one: most differ in few nodes.
class witness_sets {
 public:
  explicit witness_sets(std::size_t nodes) : nodes_(nodes), first_(nodes) {}

  void add(const_bit_row set, delta height) {
    std::size_t block = first_unused();
    if (block == valid_.size()) sweep(), block = first_unused();
    if (block == valid_.size()) {
      if (block == 0) unite_bits(first_, set);
      valid_.push_back(0), used_.push_back(0);
      words_.reserve(words_.size() + nodes_);  // exact, so that `bytes_held` is
      words_.resize(words_.size() + nodes_);
      heights_.resize(heights_.size() + 64);
    }
    const auto slot = static_cast<std::size_t>(std::countr_one(used_[block]));
    const bit_word bit = bit_word{1} << slot;
    valid_[block] |= bit, used_[block] |= bit;
    heights_[block * 64 + slot] = height;
    bit_word* const columns = words_.data() + block * nodes_;
    const auto note = [&](std::size_t u) { columns[u] |= bit; };
    for_each_bit_beyond(first_, set, note);
    for_each_bit_beyond(set, first_, note);
  }
  /// Drops the sets that are higher than `bound`.
  void keep_below(delta bound) {
    for (std::size_t block = 0; block < valid_.size(); ++block)
      for (std::size_t slot = 0; slot < 64; ++slot)
        if (heights_[block * 64 + slot] > bound) valid_[block] &= ~(bit_word{1} << slot);
  }
  /// Drops the sets that hold `to`, or all if that is the node itself, and not `from`.
  void keep_legal(const precedence& e, bool all) {
    for (std::size_t block = 0; block < valid_.size(); ++block)
      valid_[block] &= (all ? 0 : ~holding(block, e.after)) | holding(block, e.before);
  }
  std::size_t size() const { return count_bits(valid_); }
  std::uint64_t bytes_held() const { return words_.size() * sizeof(bit_word); }
  bool has(node_id u, bool inside) const {
    for (std::size_t block = 0; block < valid_.size(); ++block)
      if (valid(block, u, inside) != 0) return true;
    return false;
  }
  /// The least height of a set with u, or without.
  std::optional<delta> lowest(node_id u, bool inside) const {
    std::optional<delta> least;
    for (std::size_t block = 0; block < valid_.size(); ++block)
      for (bit_word w = valid(block, u, inside); w != 0; w &= w - 1) {
        const delta height = heights_[block * 64 + static_cast<std::size_t>(std::countr_zero(w))];
        if (!least || height < *least) least = height;
      }
    return least;
  }

 private:
  /// The first block with a slot that is free, its bits zero; the number of blocks if there is none.
  std::size_t first_unused() const {
    return static_cast<std::size_t>(std::find_if(used_.begin(), used_.end(), [](bit_word w) { return ~w != 0; }) -
                                    used_.begin());
  }
  /// The slots of a block that hold sets with u, and maybe some that hold none.
  bit_word holding(std::size_t block, node_id u) const {
    const bit_word differ = words_[block * nodes_ + u];
    return first_[u] ? ~differ : differ;
  }
  /// The slots of a block that hold sets with u, or without.
  bit_word valid(std::size_t block, node_id u, bool inside) const {
    const bit_word with_u = holding(block, u);
    return valid_[block] & (inside ? with_u : ~with_u);
  }
  /// Zeroes the bits of sets that were dropped, all of a block at once: that takes as long as adding one set.
  void sweep() {
    for (std::size_t block = 0; block < valid_.size(); ++block) {
      if (std::exchange(used_[block], valid_[block]) == valid_[block]) continue;
      for (std::size_t u = 0; u < nodes_; ++u) words_[block * nodes_ + u] &= valid_[block];
    }
  }

  std::size_t nodes_;
  bit_set first_;                        // the set that was added first
  plain_vector<bit_word> words_;         // per block and node
  plain_vector<bit_word> valid_, used_;  // per block: slots that hold sets; those and slots that held one
  plain_vector<delta> heights_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
