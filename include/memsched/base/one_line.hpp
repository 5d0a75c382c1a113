// Texts as pieces of a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

/// A text as a piece of a message: on one line, and cut after `longest` characters.
inline std::string one_line(std::string_view text, std::size_t longest = 400) {
  std::string line;
  for (char c : text.substr(0, longest)) {
    const bool blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (!blank) line += c;
    else if (!line.empty() && line.back() != ' ') line += ' ';
  }
  return text.size() > longest ? line + "..." : line;
}

}  // namespace base
}  // namespace MEMSCHED_ABI
}  // namespace memsched
