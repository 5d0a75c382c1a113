// Pieces of drawings: an SVG document, text and numbers fit for it, round ticks.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/bytes.hpp>
#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The length of the UTF-8 sequence that text starts with; 0 if it starts with none.
constexpr std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t n = byte(0) < 0x80   ? 1
                        : byte(0) < 0xc2 ? 0
                        : byte(0) < 0xe0 ? 2
                        : byte(0) < 0xf0 ? 3
                        : byte(0) < 0xf5 ? 4
                                         : 0;
  if (n > text.size()) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (n == 3 && ((byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) > 0x9f))) return 0;
  if (n == 3 && byte(0) == 0xef && byte(1) == 0xbf && byte(2) > 0xbd) return 0;  // no character of XML
  if (n == 4 && ((byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) > 0x8f))) return 0;
  return n;
}

inline constexpr const char* binary_units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

/// The unit that most is some of: a power of 1024.
constexpr std::size_t unit_of(bytes most) {
  std::size_t unit = 0;
  for (; most >= 1024; most /= 1024) ++unit;
  return unit;
}

}  // namespace detail

/// Text as XML holds it: markup escaped; invalid UTF-8 becomes '?', and control characters, which XML 1.0 has not,
/// spaces.
inline std::string escape_xml(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t n = detail::utf8_length(text);
    const char c = text[0];
    if (n == 0) safe += '?';
    else if (n > 1) safe += text.substr(0, n);
    else if (c == '&') safe += "&amp;";
    else if (c == '<') safe += "&lt;";
    else if (c == '>') safe += "&gt;";
    else if (c == '"') safe += "&quot;";
    else safe += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return safe;
}

/// At most `most` characters of a text, the last one an ellipsis if some are left out.
inline std::string shortened(std::string_view text, std::size_t most) {
  std::size_t at = 0, cut = 0, count = 0;
  while (at < text.size()) {
    if (count + 1 == most) cut = at;  // where the ellipsis would stand
    if (++count > most) return std::string(text.substr(0, cut)) + "\xe2\x80\xa6";
    const std::size_t n = detail::utf8_length(text.substr(at));
    at += n == 0 ? 1 : n;
  }
  return std::string(text);
}

/// With one digit after the point, in any locale.
inline std::string one_digit(double x) {
  const std::int64_t tenths = static_cast<std::int64_t>(x * 10 + (x < 0 ? -0.5 : 0.5));
  const std::int64_t magnitude = tenths < 0 ? -tenths : tenths;
  return (tenths < 0 ? "-" : "") + std::to_string(magnitude / 10) + '.' + std::to_string(magnitude % 10);
}

/// Three digits, less zeros at the end: 250880 -> "245 KiB", 1600 -> "1.56 KiB".
inline std::string binary_size(bytes n) {
  const std::size_t unit = detail::unit_of(n);
  const double value = static_cast<double>(n) / static_cast<double>(bytes{1} << (10 * unit));
  const std::size_t digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;  // after the point
  const double scale = digits == 0 ? 1 : digits == 1 ? 10 : 100;
  std::string number = std::to_string(std::llround(value * scale));
  if (digits > 0) {
    if (number.size() <= digits) number.insert(0, digits + 1 - number.size(), '0');
    number.insert(number.size() - digits, 1, '.');
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
  }
  return number + ' ' + detail::binary_units[unit];
}

/// A mark of an axis.
struct tick {
  double at = 0;
  std::string text;
};

/// About `about` marks from least to most, 1, 2 or 5 times a power of ten of a unit apart. With `binary`, of bytes, in units
/// of powers of 1024; else plain numbers.
inline std::vector<tick> round_ticks(bytes least, bytes most, bool binary, std::size_t about = 5) {
  const std::size_t unit = binary ? detail::unit_of(most) : 0;
  const double size = static_cast<double>(bytes{1} << (10 * unit));
  const double wanted = static_cast<double>(most - least) / size / static_cast<double>(about);
  // The step is factor * 10^power units.
  int power = 0;
  double ten = 1;
  while (ten * 10 <= wanted) ten *= 10, ++power;
  while (unit > 0 && ten > wanted && power > -3) ten /= 10, --power;
  const unsigned factor = ten >= wanted ? 1 : 2 * ten >= wanted ? 2 : 5 * ten >= wanted ? 5 : 10;
  const double step = factor * ten * size;
  std::vector<tick> ticks;
  for (auto k = static_cast<std::uint64_t>(static_cast<double>(least) / step);; ++k) {
    const double at = static_cast<double>(k) * step;
    if (at < static_cast<double>(least)) continue;
    if (at > static_cast<double>(most) * (1 + 1e-9)) return ticks;
    std::string text = std::to_string(k * factor);
    for (int i = 0; k > 0 && i < power; ++i) text += '0';
    if (power < 0) {
      const auto digits = static_cast<std::size_t>(-power);
      if (text.size() <= digits) text.insert(0, digits + 1 - text.size(), '0');
      text.insert(text.size() - digits, 1, '.');
      text.erase(text.find_last_not_of('0') + 1);
      if (text.back() == '.') text.pop_back();
    }
    ticks.push_back({at, binary ? text + ' ' + detail::binary_units[unit] : text});
  }
}

namespace detail {

/// The classes of drawings in light and dark. Series s0 to s5 set the current colour, of which lines have 3:1 against the
/// paper; fills f0 to f7 are for areas, on which text has the class "over"; text has 4.5:1 everywhere.
inline constexpr const char* svg_style = R"(<style>
.drawing text{fill:#1c2024} .drawing .faint{fill:#59626b}
.drawing .paper,.drawing .hollow{fill:#ffffff} .drawing .grid{stroke:#dfe3e6} .drawing .tick{stroke:#59626b}
.drawing .ink{stroke:#1c2024} .drawing .bound{stroke:#b3261e} .drawing .beyond{color:#b3261e}
.drawing .s0{color:#0b6e4f} .drawing .s1{color:#7d848a} .drawing .s2{color:#3d5a80}
.drawing .s3{color:#b9770e} .drawing .s4{color:#a23b72} .drawing .s5{color:#6b4c9a}
.drawing .f0{fill:#4e79a7} .drawing .f1{fill:#f28e2b} .drawing .f2{fill:#59a14f} .drawing .f3{fill:#b07aa1}
.drawing .f4{fill:#edc948} .drawing .f5{fill:#9c755f} .drawing .f6{fill:#e15759} .drawing .f7{fill:#8f98a0}
.drawing .over{paint-order:stroke;stroke:#ffffff;stroke-width:3px;stroke-linejoin:round;pointer-events:none}
@media screen and (prefers-color-scheme:dark){
.drawing text{fill:#e6e9eb} .drawing .faint{fill:#a3adb5}
.drawing .paper,.drawing .hollow{fill:#14181b} .drawing .grid{stroke:#343b41} .drawing .tick{stroke:#a3adb5}
.drawing .ink{stroke:#e6e9eb} .drawing .bound{stroke:#ff8a80} .drawing .beyond{color:#ff8a80}
.drawing .s0{color:#4cc49a} .drawing .s1{color:#9aa3ab} .drawing .s2{color:#8fb3e0}
.drawing .s3{color:#f0b45a} .drawing .s4{color:#e88bbd} .drawing .s5{color:#b9a0ea}
.drawing .over{stroke:#14181b}
}
</style>
)";

}  // namespace detail

/// An SVG document in a light and a dark form, which a viewer chooses; sizes in its own units. Styles are attributes, written
/// by the caller as they stand, with the classes of `detail::svg_style`; texts are escaped.
class svg_drawing {
 public:
  /// `title` and `description` describe the whole picture in words, for screen readers.
  svg_drawing(double width, double height, std::string_view title, std::string_view description) {
    const std::string w = one_digit(width), h = one_digit(height);
    text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"drawing\" role=\"img\" viewBox=\"0 0 " + w + ' ' + h +
            "\" font-family=\"sans-serif\" font-size=\"12\">\n<title>" + escape_xml(title) + "</title>\n<desc>" +
            escape_xml(description) + "</desc>\n" + detail::svg_style + "<rect class=\"paper\" width=\"" + w +
            "\" height=\"" + h + "\"/>\n";
  }
  void line(double x1, double y1, double x2, double y2, std::string_view style) {
    add("<line x1=\"" + one_digit(x1) + "\" y1=\"" + one_digit(y1) + "\" x2=\"" + one_digit(x2) + "\" y2=\"" +
        one_digit(y2) + "\" " + std::string(style) + "/>\n");
  }
  /// `anchor`: start, middle or end of the text stands at x.
  void text(double x, double y, std::string_view anchor, std::string_view what, std::string_view style = {}) {
    add("<text x=\"" + one_digit(x) + "\" y=\"" + one_digit(y) + "\" text-anchor=\"" + std::string(anchor) + '"' +
        (style.empty() ? "" : " " + std::string(style)) + '>' + escape_xml(what) + "</text>\n");
  }
  /// `title` is shown by a browser where one points; none if empty.
  void path(std::string_view d, std::string_view style, std::string_view title = {}) {
    add("<path d=\"" + std::string(d) + "\" " + std::string(style) +
        (title.empty() ? "/>\n" : "><title>" + escape_xml(title) + "</title></path>\n"));
  }
  void circle(double x, double y, double radius, std::string_view style) {
    add("<circle cx=\"" + one_digit(x) + "\" cy=\"" + one_digit(y) + "\" r=\"" + one_digit(radius) + "\" " +
        std::string(style) + "/>\n");
  }
  /// Markup as it stands.
  void add(std::string_view markup) { text_ += markup; }
  /// The whole document.
  std::string document() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
