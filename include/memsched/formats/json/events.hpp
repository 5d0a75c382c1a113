// The events of a JSON text: by simdjson, where the program is built with it, else by nlohmann-json. Opt-in: needs nlohmann-json.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <memsched/base/linkage.hpp>

#ifdef MEMSCHED_SIMDJSON
#include <simdjson.h>
#endif

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

#ifdef MEMSCHED_SIMDJSON
/// Replays a text that simdjson has parsed to a handler of nlohmann's events. Depth is limited by the parser, to 1024.
template <class Handler>
class simdjson_replay {
  using element = simdjson::dom::element;

 public:
  explicit simdjson_replay(Handler& to) : to_(to) {}

  /// Returns false once the handler does.
  bool value(const element& e) {
    using type = simdjson::dom::element_type;
    switch (e.type()) {
      case type::OBJECT: return object(e.get_object().value_unsafe());
      case type::ARRAY: return list(e.get_array().value_unsafe());
      case type::STRING: return text_ = e.get_string().value_unsafe(), to_.string(text_);
      case type::INT64: return to_.number_integer(e.get_int64().value_unsafe());
      case type::UINT64: return to_.number_unsigned(e.get_uint64().value_unsafe());
      case type::DOUBLE: return to_.number_float(e.get_double().value_unsafe(), {});
      case type::BOOL: return to_.boolean(e.get_bool().value_unsafe());
      case type::NULL_VALUE: break;
    }
    return to_.null();
  }

 private:
  bool object(const simdjson::dom::object& o) {
    if (!to_.start_object(unknown)) return false;
    for (const auto& field : o) {
      text_ = field.key;
      if (!to_.key(text_) || !value(field.value)) return false;
    }
    return to_.end_object();
  }
  bool list(const simdjson::dom::array& a) {
    if (!to_.start_array(unknown)) return false;
    for (const element& e : a)
      if (!value(e)) return false;
    return to_.end_array();
  }

  static constexpr std::size_t unknown = static_cast<std::size_t>(-1);  // number of members
  Handler& to_;
  std::string text_;
};

/// Returns nothing, and tells nothing, where simdjson refuses the text: it is no JSON, is deeper than 1024 levels, or has a whole
/// number beyond 64 bits.
template <class Handler>
std::optional<bool> simdjson_events(std::string_view text, Handler& to) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) return std::nullopt;
  return simdjson_replay<Handler>(to).value(root);
}
#endif

/// Gives a handler the events of a text as nlohmann::json::sax_parse does. Returns false if the handler does, or if the text is
/// no JSON, which the handler's parse_error is told.
template <class Handler>
bool json_events(std::string_view text, Handler& to) {
#ifdef MEMSCHED_SIMDJSON
  if (const auto told = simdjson_events(text, to)) return *told;
#endif
  return nlohmann::json::sax_parse(text.begin(), text.end(), &to);
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
