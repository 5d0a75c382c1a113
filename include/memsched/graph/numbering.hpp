// Numbers for the handles by which a caller names operators and tensors.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/traits.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Numbers integers in order of first appearance: small ones without a hash. Memory is linear in how many there are.
class integer_numbers {
 public:
  /// Makes room for `count` integers.
  void expect(std::size_t count) { direct_.reserve(count); }
  /// The number of a value, and whether that is new.
  std::pair<index_t, bool> insert(std::uint64_t value) {
    if (value < direct_.size() && direct_[value] != none) return {direct_[value], false};
    return look_up(value);
  }
  /// The number of a value; none if it has none.
  index_t find(std::uint64_t value) const {
    return value < direct_.size() && direct_[value] != none ? direct_[value] : find_hashed(value);
  }

 private:
  std::pair<index_t, bool> look_up(std::uint64_t value);
  index_t find_hashed(std::uint64_t value) const;

  std::vector<index_t> direct_;  // by value, for values below a multiple of the count
  std::unordered_map<std::uint64_t, index_t> hashed_;
  index_t count_ = 0;
};

/// Numbers handles of any kind in order of first appearance.
template <class Handle>
class handle_numbers {
 public:
  void expect(std::size_t count) { hashed_.reserve(count); }
  std::pair<index_t, bool> insert(const Handle& h) {
    const auto [at, fresh] = hashed_.try_emplace(h, static_cast<index_t>(hashed_.size()));
    return {at->second, fresh};
  }
  index_t find(const Handle& h) const {
    const auto at = hashed_.find(h);
    return at == hashed_.end() ? none : at->second;
  }

 private:
  std::unordered_map<Handle, index_t, handle_hash> hashed_;
};

/// Integers, enumerations and pointers are numbered as integers: code that is compiled once.
template <class Handle>
requires(std::integral<Handle> || std::is_enum_v<Handle> || std::is_pointer_v<Handle>) class handle_numbers<Handle> {
 public:
  void expect(std::size_t count) {
    if constexpr (!std::is_pointer_v<Handle>) numbers_.expect(count);
  }
  std::pair<index_t, bool> insert(Handle h) { return numbers_.insert(value(h)); }
  index_t find(Handle h) const { return numbers_.find(value(h)); }

 private:
  static std::uint64_t value(Handle h) {
    if constexpr (std::is_pointer_v<Handle>) return reinterpret_cast<std::uintptr_t>(h);
    else return static_cast<std::uint64_t>(h);
  }

  integer_numbers numbers_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

MEMSCHED_FUNCTION std::pair<index_t, bool> integer_numbers::look_up(std::uint64_t value) {
  if (value < 4096 + 8 * std::uint64_t{count_}) {
    const auto place = static_cast<std::size_t>(value);
    if (place >= direct_.size()) direct_.resize(std::max(place + 1 + place / 2, direct_.capacity()), none);
    direct_[place] = find_hashed(value);  // where it came when this was too large for its count
    if (direct_[place] != none) return {direct_[place], false};
    return {direct_[place] = count_++, true};
  }
  const auto [at, fresh] = hashed_.try_emplace(value, count_);
  if (fresh) ++count_;
  return {at->second, fresh};
}

MEMSCHED_FUNCTION index_t integer_numbers::find_hashed(std::uint64_t value) const {
  if (hashed_.empty()) return none;
  const auto at = hashed_.find(value);
  return at == hashed_.end() ? none : at->second;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
