// The name of a type, for messages.
#pragma once

#include <string_view>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The name of T as the compiler spells it; "a policy" where the compiler does not tell.
template <class T>
constexpr std::string_view type_name() {
#if defined(__GNUC__)
  std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = X; ...]" or "... [T = X]"
  const auto begin = text.find("T = ") + 4;
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
#else
  return "a policy";
#endif
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
