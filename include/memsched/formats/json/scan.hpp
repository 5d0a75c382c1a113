// The events of a JSON text in one pass over its bytes, which are not copied. Opt-in: needs nlohmann-json.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The outcome of a scan.
enum class scan_end : unsigned char {
  complete,  ///< the handler has all events
  stopped,   ///< the handler returned false
  refused,   ///< the text is no JSON; the handler has the events before the fault
};

/// Gives a handler the events of a text, as nlohmann::json::sax_parse does; strings and keys come as views. It takes usual
/// tokens itself and has nlohmann-json read the others one by one: strings with escapes or letters beyond ASCII, and numbers
/// with a fraction, an exponent or more than 18 digits. Depth costs a byte a level.
template <class Handler>
class json_scan {
  using library = nlohmann::json;

 public:
  json_scan(std::string_view text, Handler& to) : at_(text.data()), end_(at_ + text.size()), to_(to) {}

  scan_end run() {
    do {
      if (!value()) return end_state();
    } while (goes_on());
    return end_state();
  }

 private:
  static constexpr std::size_t unknown = static_cast<std::size_t>(-1);  // number of members

  scan_end end_state() const { return stopped_ ? scan_end::stopped : complete_ ? scan_end::complete : scan_end::refused; }

  /// Passes on the answer of the handler.
  bool told(bool more) {
    stopped_ = !more;
    return more;
  }

  /// The next character that is no white space; 0 at the end.
  char next() {
    for (; at_ != end_; ++at_)
      if (const char c = *at_; c > ' ' || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) return c;
    return '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  /// Reads a value as far as its first one that has no members, or as the first list or object that is empty.
  bool value() {
    for (;;) {
      const char c = next();
      if (c != '{' && c != '[') return scalar(c);
      ++at_;
      const bool object = c == '{';
      open_.push_back(object ? '}' : ']');
      if (!told(object ? to_.start_object(unknown) : to_.start_array(unknown))) return false;
      if (next() == open_.back()) return true;
      if (object && !key()) return false;
    }
  }

  /// Closes lists and objects that end after a value. Returns whether another value comes.
  bool goes_on() {
    while (!open_.empty()) {
      const char end = open_.back();
      if (take(',')) return end == ']' || key();
      if (!take(end)) return false;
      open_.pop_back();
      if (!told(end == '}' ? to_.end_object() : to_.end_array())) return false;
    }
    complete_ = next() == '\0' && at_ == end_;
    return false;
  }

  bool key() {
    const auto tell = [&](std::string_view name) { return told(to_.key(name)); };
    return next() == '"' && string(tell) && take(':');
  }

  bool scalar(char c) {
    switch (c) {
      case '"': return string([&](std::string_view text) { return told(to_.string(text)); });
      case 't': return word("true") && told(to_.boolean(true));
      case 'f': return word("false") && told(to_.boolean(false));
      case 'n': return word("null") && told(to_.null());
      default: return number();
    }
  }

  bool word(std::string_view w) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(w)) return false;
    at_ += w.size();
    return true;
  }

  /// Letters that stand for themselves and end no string.
  static constexpr std::array<bool, 256> plain = [] {
    std::array<bool, 256> is{};
    for (std::size_t c = 0x20; c < 0x80; ++c) is[c] = c != '"' && c != '\\';
    return is;
  }();
  static bool is_plain(char c) { return plain[static_cast<unsigned char>(c)]; }

  template <class Tell>
  bool string(const Tell& tell) {
    const char* const first = at_++;
    while (at_ != end_ && is_plain(*at_)) ++at_;
    if (at_ == end_) return false;
    if (*at_ == '"') return tell({first + 1, static_cast<std::size_t>(at_++ - first - 1)});
    while (at_ != end_ && *at_ != '"') at_ += *at_ == '\\' && end_ - at_ > 1 ? 2 : 1;
    if (at_ == end_) return false;
    const library text = library::parse(first, ++at_, nullptr, false);
    return text.is_string() && tell(text.template get_ref<const std::string&>());
  }

  bool number() {
    constexpr std::ptrdiff_t most_digits = 18;  // of any number in 64 bits
    const char* const first = at_;
    const bool negative = at_ != end_ && *at_ == '-';
    const char* const digits = first + negative;
    std::uint64_t n = 0;
    at_ = digits;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') n = 10 * n + static_cast<std::uint64_t>(*at_++ - '0');
    const bool further = at_ != end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E');
    if (further || at_ == digits || at_ - digits > most_digits || (*digits == '0' && at_ - digits > 1))
      return other_number(first);
    return told(negative ? to_.number_integer(-static_cast<std::int64_t>(n)) : to_.number_unsigned(n));
  }

  bool other_number(const char* first) {
    constexpr std::string_view part = "0123456789+-.eE";
    while (at_ != end_ && part.find(*at_) != part.npos) ++at_;
    const library n = library::parse(first, at_, nullptr, false);
    if (n.is_number_unsigned()) return told(to_.number_unsigned(n.template get<std::uint64_t>()));
    if (n.is_number_integer()) return told(to_.number_integer(n.template get<std::int64_t>()));
    return n.is_number_float() && told(to_.number_float(n.template get<double>(), {}));
  }

  const char* at_;
  const char* end_;
  Handler& to_;
  std::vector<char> open_;  ///< ends of the lists and objects that are open
  bool stopped_ = false, complete_ = false;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
