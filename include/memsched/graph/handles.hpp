// Types that a hook may return to list handles.
#pragma once

#include <iterator>
#include <type_traits>
#include <utility>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

// The requirements of a range-for: fewer than those of std::ranges::input_range, which many compilers' own ranges do not
// meet.
template <class R>
concept has_member_begin = requires(R& r) {
  r.begin(), r.end();
};
template <class R>
decltype(auto) first_of(R& r) requires(has_member_begin<R> || requires { begin(r); } || std::is_array_v<R>) {
  if constexpr (std::is_array_v<R>) return std::begin(r);
  else if constexpr (has_member_begin<R>) return r.begin();
  else return begin(r);
}
template <class R>
decltype(auto) last_of(R& r) requires(has_member_begin<R> || requires { end(r); } || std::is_array_v<R>) {
  if constexpr (std::is_array_v<R>) return std::end(r);
  else if constexpr (has_member_begin<R>) return r.end();
  else return end(r);
}
template <class R>
concept iterable = requires(R& r, std::remove_cvref_t<decltype(first_of(r))>& i) {
  static_cast<bool>(i != last_of(r));
  ++i;
  *i;
};
template <class R>
using item_t = std::remove_cvref_t<decltype(*first_of(std::declval<R&>()))>;

}  // namespace detail

/// Types that a hook may return to list handles: anything that a range-for accepts, by value or by reference.
template <class R>
concept handles = detail::iterable<std::remove_reference_t<R>>;

namespace detail {

template <handles R>
using handle_t = item_t<std::remove_reference_t<R>>;

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
