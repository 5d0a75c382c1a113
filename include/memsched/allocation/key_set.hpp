// Keys of states that failed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// A set of 128-bit keys: if a proof rests on a key, 64 bits of one would collide too soon.
class key_set {
 public:
  using key = std::array<std::uint64_t, 2>;
  key_set() : slots_(1024, key{0, 0}) {}

  std::size_t bytes_held() const { return slots_.size() * sizeof(key); }
  bool contains(const key& k) const { return slots_[find(k)] == k; }
  /// Leaves the set as it is if it would take more than `most` bytes.
  void insert(const key& k, std::uint64_t most) {
    if (4 * count_ >= 3 * slots_.size() && !grow(most)) return;
    key& slot = slots_[find(k)];
    if (slot != k) slot = k, ++count_;
  }

 private:
  std::size_t find(const key& k) const {
    std::size_t at = static_cast<std::size_t>(k[0]) & (slots_.size() - 1);
    while (slots_[at] != key{0, 0} && slots_[at] != k) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  bool grow(std::uint64_t most) {
    if (2 * bytes_held() > most) return false;
    std::vector<key> old(2 * slots_.size(), key{0, 0});
    old.swap(slots_);
    for (const key& k : old)
      if (k != key{0, 0}) slots_[find(k)] = k;
    return true;
  }
  std::vector<key> slots_;  ///< {0, 0}: empty; the key of no state, but for a chance of 2^-128
  std::size_t count_ = 0;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
