// JSON texts as trees, and the keys of their objects. Opt-in: needs nlohmann-json.
#pragma once

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <memsched/formats/nearest.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The value of a JSON text. A text that is no JSON, and a key that one object has twice, is an error. O(text * log keys).
template <class Json = nlohmann::json>
result<Json> parse_json(std::string_view text) {
  std::vector<std::set<std::string>> open;  // the keys of each object that is open
  std::string twice;
  bool repeated = false;
  const auto look = [&](int, typename Json::parse_event_t event, Json& value) {
    using at = typename Json::parse_event_t;
    if (event == at::object_start) open.emplace_back();
    else if (event == at::object_end) open.pop_back();
    else if (event == at::key && !open.back().insert(value.template get<std::string>()).second && !repeated)
      repeated = true, twice = value.template get<std::string>();
    return true;
  };
  Json j = Json::parse(text.begin(), text.end(), look, false);
  if (j.is_discarded()) return graph_error{error_code::bad_input, "is no JSON", {}, {}};
  if (repeated)
    return graph_error{
        error_code::bad_input, "the key \"" + base::one_line(twice, 60) + "\" is given twice in an object", {}, {}};
  return j;
}

/// The unknown keys that an object may have.
enum class notes : unsigned char {
  marked,  ///< those that begin with "x-"
  unlike,  ///< also those that are three letters or more away from all known ones
};

/// Describes a fault in the keys of an object; nothing if all are known or notes.
template <class Json>
std::string wrong_key(const Json& object, std::span<const std::string_view> known, notes taken) {
  for (auto at = object.begin(); at != object.end(); ++at) {
    const std::string& key = at.key();
    if (is_free_key(key) || std::find(known.begin(), known.end(), key) != known.end()) continue;
    if (taken == notes::marked || is_misspelt(key, known)) return unknown_key(key, known);
  }
  return {};
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
