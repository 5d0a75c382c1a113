// Templates of pages.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cli {

/// A template with each {{key}} replaced; a replacement is not searched for keys.
inline std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values) {
  std::string page;
  for (;;) {
    const std::size_t open = text.find("{{"), close = text.find("}}", open);
    page += text.substr(0, open);
    if (open == text.npos) return page;
    page += values.at(text.substr(open + 2, close - open - 2));
    text.remove_prefix(close + 2);
  }
}

}  // namespace cli
