// A vector of plain elements that is cheap to compile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <memsched/base/linkage.hpp>

// The functions that all instances share must stay calls: inlined, they would be compiled for each use.
#if defined(__GNUC__)
#define MEMSCHED_CALL [[gnu::noinline]]
#else
#define MEMSCHED_CALL
#endif

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

/// The bytes of a `plain_vector`. All sizes are in bytes.
class plain_storage {
 protected:
  plain_storage() = default;
  plain_storage(const plain_storage&) = delete;
  plain_storage& operator=(const plain_storage&) = delete;
  MEMSCHED_CALL ~plain_storage() { std::free(first_); }

  /// Makes room for `size` bytes in all, and for no less than twice the room there was. A large block seldom moves.
  MEMSCHED_CALL void grow(std::size_t size) {
    const std::size_t used = length(), wanted = std::max(size, 2 * room());
    char* const place = static_cast<char*>(std::realloc(first_, wanted));
    if (place == nullptr) fail();
    first_ = place, last_ = place + used, limit_ = place + wanted;
  }
  MEMSCHED_CALL void assign(const void* from, std::size_t size) {
    last_ = first_;
    char* const to = open(0, size);
    if (size > 0) std::memcpy(to, from, size);
  }
  /// Appends n copies of an element, which must not lie in here.
  MEMSCHED_CALL void append(std::size_t n, const void* element, std::size_t size) {
    if (n == 0) return;
    char* const first = open(length(), n * size);
    std::memcpy(first, element, size);
    for (char* filled = first + size; filled != last_;) {  // what is filled doubles
      const auto more = static_cast<std::size_t>(std::min(filled - first, last_ - filled));
      std::memcpy(filled, first, more);
      filled += more;
    }
  }
  /// Makes a gap of `size` bytes at an offset, and returns its start.
  MEMSCHED_CALL char* open(std::size_t at, std::size_t size) {
    if (static_cast<std::size_t>(limit_ - last_) < size) grow(length() + size);
    char* const gap = first_ + at;
    if (gap != last_) std::memmove(gap + size, gap, static_cast<std::size_t>(last_ - gap));
    last_ += size;
    return gap;
  }
  MEMSCHED_CALL void close(char* first, char* last) noexcept {
    if (first == last) return;
    if (last != last_) std::memmove(first, last, static_cast<std::size_t>(last_ - last));
    last_ -= last - first;
  }
  MEMSCHED_CALL void take(plain_storage& other) noexcept {
    if (this == &other) return;
    std::free(first_);
    first_ = last_ = limit_ = nullptr;
    exchange(other);
  }
  void exchange(plain_storage& other) noexcept {
    std::swap(first_, other.first_), std::swap(last_, other.last_), std::swap(limit_, other.limit_);
  }

  [[noreturn]] static void fail() {
#if defined(__cpp_exceptions)
    throw std::bad_alloc();
#else
    std::abort();
#endif
  }

  std::size_t length() const noexcept { return static_cast<std::size_t>(last_ - first_); }
  std::size_t room() const noexcept { return static_cast<std::size_t>(limit_ - first_); }

  char *first_ = nullptr, *last_ = nullptr, *limit_ = nullptr;
};

/// A vector of elements that are copied byte by byte and need no destructor; the part of std::vector that the library uses.
/// Growth, copies and erasure are compiled once for all elements, while std::vector has them compiled for each type and many
/// a use. Iterators are pointers. Unlike in std::vector, bool is an element like any other.
template <class T>
class plain_vector : plain_storage {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  plain_vector() {  // NOLINT(modernize-use-equals-default): T may be incomplete where the class is
    static_assert(std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T>);
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }
  explicit plain_vector(std::size_t n, const T& value = T()) : plain_vector() { append(n, &value, sizeof(T)); }
  plain_vector(std::initializer_list<T> list) : plain_vector(list.begin(), list.end()) {}
  template <std::forward_iterator Iterator>
  plain_vector(Iterator first, Iterator last) : plain_vector() {
    assign(first, last);
  }
  plain_vector(const plain_vector& other) : plain_vector() { plain_storage::assign(other.first_, other.length()); }
  plain_vector(plain_vector&& other) noexcept : plain_vector() { exchange(other); }
  plain_vector& operator=(const plain_vector& other) {
    if (this != &other) plain_storage::assign(other.first_, other.length());
    return *this;
  }
  plain_vector& operator=(plain_vector&& other) noexcept { return take(other), *this; }
  ~plain_vector() = default;

  T* data() noexcept { return reinterpret_cast<T*>(first_); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(first_); }
  std::size_t size() const noexcept { return length() / sizeof(T); }
  std::size_t capacity() const noexcept { return room() / sizeof(T); }
  bool empty() const noexcept { return first_ == last_; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return reinterpret_cast<T*>(last_); }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return reinterpret_cast<const T*>(last_); }
  auto rbegin() noexcept { return std::reverse_iterator<T*>(end()); }
  auto rend() noexcept { return std::reverse_iterator<T*>(begin()); }
  auto rbegin() const noexcept { return std::reverse_iterator<const T*>(end()); }
  auto rend() const noexcept { return std::reverse_iterator<const T*>(begin()); }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  T& front() noexcept { return *begin(); }
  const T& front() const noexcept { return *begin(); }
  T& back() noexcept { return end()[-1]; }
  const T& back() const noexcept { return end()[-1]; }

  void push_back(const T& value) { emplace_back(value); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    const T element{std::forward<Args>(args)...};  // before growth: it may be made of what lies in here
    if (static_cast<std::size_t>(limit_ - last_) < sizeof(T)) grow(length() + sizeof(T));
    T& added = *::new (static_cast<void*>(last_)) T(element);
    last_ += sizeof(T);
    return added;
  }
  void pop_back() noexcept { last_ -= sizeof(T); }
  void clear() noexcept { last_ = first_; }
  void reserve(std::size_t n) {
    if (n * sizeof(T) > room()) grow(n * sizeof(T));
  }
  void resize(std::size_t n, const T& value = T()) {
    const T element = value;
    if (n <= size()) last_ = first_ + n * sizeof(T);
    else append(n - size(), &element, sizeof(T));
  }
  void assign(std::size_t n, const T& value) {
    const T element = value;
    clear();
    append(n, &element, sizeof(T));
  }
  template <std::forward_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    clear();
    insert(end(), first, last);
  }
  /// The elements from first to last, which must not lie in here.
  template <std::forward_iterator Iterator>
  T* insert(const T* at, Iterator first, Iterator last) {
    const auto n = static_cast<std::size_t>(std::distance(first, last));
    T* const gap = reinterpret_cast<T*>(open(static_cast<std::size_t>(at - begin()) * sizeof(T), n * sizeof(T)));
    if constexpr (std::contiguous_iterator<Iterator> && std::is_same_v<std::iter_value_t<Iterator>, T>) {
      if (n > 0) std::memcpy(static_cast<void*>(gap), std::to_address(first), n * sizeof(T));
    } else {
      std::uninitialized_copy(first, last, gap);
    }
    return gap;
  }
  T* insert(const T* at, std::initializer_list<T> list) { return insert(at, list.begin(), list.end()); }
  T* erase(T* first, T* last) noexcept {
    return close(reinterpret_cast<char*>(first), reinterpret_cast<char*>(last)), first;
  }

  friend bool operator==(const plain_vector& a, const plain_vector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator<(const plain_vector& a, const plain_vector& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
};

}  // namespace base
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#undef MEMSCHED_CALL
