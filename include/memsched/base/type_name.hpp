// The name of a type, for messages.
#pragma once

#include <algorithm>
#include <string_view>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {
struct type_of_memsched;
}

namespace base {

/// The name of T as the compiler spells it; empty if it does not tell.
template <class T>
constexpr std::string_view spelled_name() {
#if defined(__GNUC__)
  const std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = X; ...]" or "... [T = X]"
  const auto begin = text.find("T = ") + 4;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
#else
  return {};
#endif
}

/// The name of T, without the namespace of the library; "a policy" if the compiler does not tell.
template <class T>
constexpr std::string_view type_name() {
  std::string_view name = spelled_name<T>(), ours = spelled_name<detail::type_of_memsched>();
  ours.remove_suffix(std::min(ours.size(), std::string_view("detail::type_of_memsched").size()));
  if (name.starts_with(ours)) name.remove_prefix(ours.size());
  return name.empty() ? "a policy" : name;
}

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
