#include "svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "text.hpp"

namespace cli {

namespace {

constexpr double width = 900, height = 420, left = 90, right = 20, top = 60, bottom = 40;
constexpr std::array colours{"#0b6e4f", "#b8b8b8", "#c44536", "#3d5a80"};

std::string number(double x) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", x);
  return text.data();
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (char c : text) {
    if (c == '&') safe += "&amp;";
    else if (c == '<') safe += "&lt;";
    else safe += c;
  }
  return safe;
}

std::string label(double x, double y, const std::string& text, const char* extra = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + extra + ">" + escaped(text) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\" " +
         style + "/>\n";
}

/// Where so many bytes stand, when the highest stand at the top.
struct bytes_axis {
  memsched::bytes highest;
  double operator()(memsched::bytes b) const {
    return height - bottom - (height - top - bottom) * static_cast<double>(b) / static_cast<double>(highest);
  }
};

/// The start of a drawing: its title, and lines at quarters of the axis.
std::string opened(const std::string& title, const bytes_axis& y) {
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 420\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"900\" height=\"420\" fill=\"white\"/>\n";
  svg += label(left, 24, title, "font-size=\"16\" font-weight=\"bold\"");
  for (int i = 0; i <= 4; ++i) {
    const memsched::bytes b = y.highest / 4 * static_cast<memsched::bytes>(i);
    svg += line(left, y(b), width - right, y(b), "stroke=\"#e4e4e4\"");
    svg += label(left - 8, y(b) + 4, scaled(b), "text-anchor=\"end\"");
  }
  return svg;
}

}  // namespace

std::string memory_svg(const std::string& title, const std::vector<named_profile>& orders, memsched::bytes bound) {
  memsched::bytes highest = std::max<memsched::bytes>(bound, 1);
  for (const auto& [name, profile] : orders)
    for (memsched::bytes b : profile) highest = std::max(highest, b);
  const bytes_axis y{highest};
  std::string svg = opened(title, y);
  for (std::size_t k = orders.size(); k-- > 0;) {
    const auto& [name, profile] = orders[k];
    if (profile.empty()) continue;
    const double step = (width - left - right) / static_cast<double>(profile.size());
    std::string points;
    for (std::size_t i = 0; i < profile.size(); ++i)
      points += number(left + step * static_cast<double>(i)) + "," + number(y(profile[i])) + " " +
                number(left + step * static_cast<double>(i + 1)) + "," + number(y(profile[i])) + " ";
    const std::string colour = colours[k % colours.size()];
    svg += "<polyline fill=\"none\" stroke-width=\"1.6\" stroke=\"" + colour + "\" points=\"" + points + "\"/>\n";
    const double x = left + 250.0 * static_cast<double>(k);
    svg += line(x, 44, x + 24, 44, ("stroke-width=\"3\" stroke=\"" + colour + "\"").c_str());
    svg += label(x + 30, 48, name + ": " + scaled(*std::max_element(profile.begin(), profile.end())));
  }
  svg += line(left, y(bound), width - right, y(bound), "stroke=\"#c44536\" stroke-dasharray=\"6 4\"");
  svg += label(width - right, y(bound) - 6, "lower bound " + scaled(bound), "text-anchor=\"end\" fill=\"#c44536\"");
  svg += label((left + width - right) / 2, height - 12, "operators, in the order in which they run",
               "text-anchor=\"middle\"");
  return svg + "</svg>\n";
}

std::string front_svg(const std::string& title, const std::vector<std::pair<double, memsched::bytes>>& points) {
  memsched::bytes highest = 1;
  double fewest = 1e300, most = 1;
  for (const auto& [operators, peak] : points)
    highest = std::max(highest, peak), fewest = std::min(fewest, operators), most = std::max(most, operators);
  const double low = std::log2(std::max(1.0, std::min(fewest, most))), span = std::max(1.0, std::log2(most) - low);
  const auto x = [&](double n) { return left + (width - left - right - 60) * (std::log2(std::max(n, 1.0)) - low) / span; };
  const bytes_axis y{highest};
  std::string svg = opened(title, y);
  for (const auto& [operators, peak] : points) {
    svg += "<circle r=\"4\" fill=\"#0b6e4f\" cx=\"" + number(x(operators)) + "\" cy=\"" + number(y(peak)) + "\"/>\n";
    svg += label(x(operators) + 7, y(peak) - 6, std::to_string(static_cast<long>(operators)), "fill=\"#555\"");
  }
  svg += label((left + width - right) / 2, height - 12, "operators; peak upwards", "text-anchor=\"middle\"");
  return svg + "</svg>\n";
}

}  // namespace cli
