// A small graph as the program reads it.
#pragma once

#include <algorithm>
#include <string>

#include <memsched/formats/json.hpp>

#include "table.hpp"

namespace claims {

/// JSON in one line. Whatever a draft holds is in it, since the library's own writer makes it.
inline std::string to_json(const table& t) {
  std::string text = memsched::write_json(draft_of(t));
  text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');  // none stands within a name
  return text;
}

}  // namespace claims
