// A priority queue of few keys and many items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <memsched/base/bytes.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

/// The lowest key comes first; of one key, the item pushed last. O(log keys) a step.
template <class T>
class bucket_queue {
 public:
  bool empty() const { return buckets_.empty(); }
  /// Of the next item; there must be one.
  delta key() const { return buckets_.begin()->first; }

  void push(delta key, const T& item) {
    buckets_[key].push_back(item);
    ++size_;
  }
  T pop() {
    const auto first = buckets_.begin();
    const T item = first->second.back();
    first->second.pop_back();
    if (first->second.empty()) buckets_.erase(first);
    --size_;
    return item;
  }

  std::uint64_t bytes_held() const { return size_ * sizeof(T); }

 private:
  std::map<delta, std::vector<T>> buckets_;
  std::size_t size_ = 0;
};

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
