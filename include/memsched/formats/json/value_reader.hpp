// A reader of JSON values that names the place of the first fault. Opt-in: needs nlohmann-json.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <memsched/graph/error.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Base of readers. A Reader has `read(json, place, value&)` for each kind of value, which returns false after `wrong`.
template <class Reader>
class json_value_reader {
 protected:
  using json = nlohmann::json;

  template <class T>
  bool read_all(const json& j, const std::string& place, std::vector<T>& list) {
    if (!j.is_array()) return wrong(place, "a list");
    for (const json& item : j) {
      const std::string at = place + "[" + std::to_string(list.size()) + "]";
      if (!static_cast<Reader*>(this)->read(item, at, list.emplace_back())) return false;
    }
    return true;
  }
  /// The value of a key; null if there is none.
  static const json& member(const json& j, const char* key) {
    static const json nothing;
    const auto at = j.find(key);
    return at == j.end() ? nothing : *at;
  }
  /// Sets the error: what a place must be. Always false.
  bool wrong(const std::string& place, const std::string& wanted) {
    error_ = {error_code::bad_input, (place.empty() ? "" : place + ": ") + "must be " + wanted, {}, {}};
    return false;
  }

  graph_error error_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
