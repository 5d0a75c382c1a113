// Drawings as SVG.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <memsched/measure/sample.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// A peak with a name, to be marked in a drawing. Bytes.
struct peak_mark {
  std::string name;
  bytes peak = 0;
};

namespace detail {

inline std::string escape_xml(std::string_view text) {
  std::string s;
  for (char c : text) {
    if (c == '&') s += "&amp;";
    else if (c == '<') s += "&lt;";
    else if (c == '>') s += "&gt;";
    else if (c == '"') s += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20) s += ' ';  // XML 1.0 has no control characters
    else s += c;
  }
  return s;
}

/// With one digit behind the point, whatever the locale.
inline std::string one_digit(double x) {
  const long tenths = static_cast<long>(x * 10 + (x < 0 ? -0.5 : 0.5));
  const long magnitude = tenths < 0 ? -tenths : tenths;
  std::string text = tenths < 0 ? "-" : "";
  text += std::to_string(magnitude / 10);
  text += '.';
  text += std::to_string(magnitude % 10);
  return text;
}

/// Peak to x, share to y.
class distribution_frame {
 public:
  static constexpr double width = 720, height = 420, left = 60, right = 20, top = 40, bottom = 50;

  distribution_frame(bytes least, bytes most)
      : least_(least), range_(static_cast<double>(std::max<bytes>(most - least, 1))) {}
  double x(bytes peak) const { return left + (width - left - right) * static_cast<double>(peak - least_) / range_; }
  static double y(double share) { return height - bottom - (height - top - bottom) * share; }

 private:
  bytes least_;
  double range_;
};

inline void svg_line(std::ostream& out, double x1, double y1, double x2, double y2, const char* style) {
  out << "<line x1=\"" << one_digit(x1) << "\" y1=\"" << one_digit(y1) << "\" x2=\"" << one_digit(x2) << "\" y2=\""
      << one_digit(y2) << "\" " << style << "/>\n";
}
inline void svg_text(std::ostream& out, double x, double y, const char* anchor, std::string_view text) {
  out << "<text x=\"" << one_digit(x) << "\" y=\"" << one_digit(y) << "\" text-anchor=\"" << anchor << "\">"
      << escape_xml(text) << "</text>\n";
}
inline void svg_axes(std::ostream& out, const distribution_frame& f, bytes least, bytes most) {
  for (int percent = 0; percent <= 100; percent += 25) {
    const double y = f.y(percent / 100.0);
    svg_line(out, f.left, y, f.width - f.right, y, "stroke=\"#ddd\"");
    svg_text(out, f.left - 6, y + 4, "end", std::to_string(percent) + "%");
  }
  for (int i = 0; i <= 4; ++i) {
    const bytes at = least + (most - least) / 4 * static_cast<bytes>(i) + (most - least) % 4 * static_cast<bytes>(i) / 4;
    svg_line(out, f.x(at), f.y(0), f.x(at), f.y(0) + 4, "stroke=\"#888\"");
    svg_text(out, f.x(at), f.y(0) + 18, "middle", one_digit(static_cast<double>(at) / 1024) + " KiB");
  }
}
inline void svg_steps(std::ostream& out, const distribution_frame& f, std::span<const order_share> shares) {
  out << "<path fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"1.5\" d=\"M" << one_digit(f.left) << ' '
      << one_digit(f.y(0));
  for (const order_share& s : shares) out << " H" << one_digit(f.x(s.peak)) << " V" << one_digit(f.y(s.drawn));
  out << " H" << one_digit(f.width - f.right) << "\"/>\n";
}

}  // namespace detail

/// Draws which share of the samples needs no more than how much, with a line for each mark: the paper's Figure 3b. An
/// SVG document of 720 x 420; the smallest and the largest peak of samples and marks are at the left and right edge.
inline void write_distribution_svg(std::ostream& out, std::string_view title, std::span<const order_sample> samples,
                                   std::span<const peak_mark> marks) {
  using frame = detail::distribution_frame;
  bytes least = samples.empty() && marks.empty() ? 0 : ~bytes{0}, most = 0;
  for (const auto& s : samples) least = std::min(least, s.peak), most = std::max(most, s.peak);
  for (const auto& m : marks) least = std::min(least, m.peak), most = std::max(most, m.peak);
  const frame f(least, most);

  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 420\" font-family=\"sans-serif\" font-size=\"11\">\n"
         "<rect width=\"720\" height=\"420\" fill=\"#fff\"/>\n";
  detail::svg_text(out, f.left, 20, "start", title);
  detail::svg_axes(out, f, least, most);
  detail::svg_text(out, frame::width / 2, frame::height - 12, "middle",
                   "peak; share of " + std::to_string(samples.size()) + " random orders within it");
  detail::svg_steps(out, f, cumulative(samples));
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const double x = f.x(marks[i].peak), y = frame::top + 12 + 14 * static_cast<double>(i);
    const bool at_right = x > frame::width * 0.7;
    detail::svg_line(out, x, f.y(0), x, frame::top, "stroke=\"#b03a2e\" stroke-dasharray=\"4 3\"");
    detail::svg_text(out, at_right ? x - 4 : x + 4, y, at_right ? "end" : "start",
                     marks[i].name + " " + detail::one_digit(static_cast<double>(marks[i].peak) / 1024) + " KiB");
  }
  out << "</svg>\n";
}

}  // namespace memsched
