// The events of a JSON text as lines, to compare two parsers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace support {

/// Writes down the events of a text.
struct event_log {
  using library = nlohmann::json;
  std::string seen;

  bool say(const std::string& event) { return seen += event + '\n', true; }
  bool null() { return say("null"); }
  bool boolean(bool b) { return say(b ? "true" : "false"); }
  bool number_integer(library::number_integer_t n) { return say(std::to_string(n)); }
  bool number_unsigned(library::number_unsigned_t n) { return say(std::to_string(n)); }
  bool number_float(library::number_float_t x, const std::string&) {
    return say("float " + std::to_string(std::bit_cast<std::uint64_t>(x)));
  }
  bool string(std::string_view text) { return say("string " + std::string(text)); }
  bool binary(library::binary_t&) { return say("binary"); }
  bool start_object(std::size_t) { return say("{"); }
  bool key(std::string_view name) { return say("key " + std::string(name)); }
  bool end_object() { return say("}"); }
  bool start_array(std::size_t) { return say("["); }
  bool end_array() { return say("]"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) { return seen = "error", false; }
};

}  // namespace support
