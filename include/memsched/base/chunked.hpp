// An array that grows without moving.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// An array that grows by chunks, so that it neither moves nor takes more than it holds.
template <class T>
class chunked {
 public:
  T& operator[](std::size_t i) { return chunks_[i / per_chunk][i % per_chunk]; }
  const T& operator[](std::size_t i) const { return chunks_[i / per_chunk][i % per_chunk]; }
  void push(const T& value) {
    if (size_ == chunks_.size() * per_chunk) chunks_.push_back(std::make_unique_for_overwrite<T[]>(per_chunk));
    (*this)[size_++] = value;
  }
  std::size_t size() const { return size_; }
  /// Forgets the items, and the memory of all but `keep` of them.
  void clear(std::size_t keep) {
    size_ = 0;
    chunks_.resize(std::min(chunks_.size(), keep / per_chunk + 1));
  }
  std::uint64_t bytes_held() const { return chunks_.size() * per_chunk * sizeof(T); }

 private:
  static constexpr std::size_t per_chunk = std::size_t{1} << 12;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
