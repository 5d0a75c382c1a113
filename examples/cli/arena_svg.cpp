#include "arena_svg.hpp"

#include <algorithm>
#include <array>
#include <memsched/io/svg.hpp>

#include "text.hpp"

namespace cli {

std::string arena_svg(const std::string& title, const std::vector<memsched::buffer>& buffers,
                      const std::vector<std::string>& names, const memsched::arena_plan& plan) {
  using memsched::bytes;
  using memsched::detail::escape_xml, memsched::detail::one_digit;
  constexpr double width = 1000, height = 520, left = 90, right = 20, top = 50, bottom = 40;
  constexpr std::array colours{"#8ecae6", "#ffd166", "#a7c957", "#f4a6a6", "#cdb4db", "#b8b8b8", "#f6bd60", "#84a98c"};
  std::int64_t first = 0, last = 1;
  bool any = false;
  for (const auto& b : buffers) {
    if (b.empty()) continue;
    first = any ? std::min(first, b.lower) : b.lower;
    last = any ? std::max(last, b.upper) : b.upper;
    any = true;
  }
  const bytes highest = std::max<bytes>({plan.size, plan.lower_bound, 1});
  const double span = std::max(static_cast<double>(last) - static_cast<double>(first), 1.0);
  const auto x = [&](std::int64_t t) {
    return left + (width - left - right) * (static_cast<double>(t) - static_cast<double>(first)) / span;
  };
  const auto y = [&](bytes b) {
    return height - bottom - (height - top - bottom) * static_cast<double>(b) / static_cast<double>(highest);
  };
  const auto at = [&](double a, double b) { return one_digit(a) + " " + one_digit(b); };
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 520\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
      "<rect width=\"2\" height=\"6\" fill=\"#b03a2e\"/></pattern></defs>\n"
      "<rect width=\"1000\" height=\"520\" fill=\"#fff\"/>\n";
  const auto text = [&](double px, double py, const char* anchor, const std::string& what) {
    svg += "<text x=\"" + one_digit(px) + "\" y=\"" + one_digit(py) + "\" text-anchor=\"" + anchor + "\">" +
           escape_xml(what) + "</text>\n";
  };
  text(left, 24, "start", title + ": arena " + grouped(plan.size) + " bytes, lower bound " + grouped(plan.lower_bound));
  for (bytes i = 0; i <= 4; ++i) {
    const bytes b = highest / 4 * i;
    svg += "<path stroke=\"#e4e4e4\" d=\"M" + at(left, y(b)) + " H" + one_digit(width - right) + "\"/>\n";
    text(left - 8, y(b) + 4, "end", scaled(b));
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto& b = buffers[i];
    if (b.empty()) continue;
    std::string path = "M" + at(x(b.lower), y(plan.offset[i])) + " V" + one_digit(y(plan.offset[i] + b.size));
    for (const auto& d : b.drops) path += " H" + one_digit(x(d.at)) + " V" + one_digit(y(plan.offset[i] + d.size));
    path += " H" + one_digit(x(b.upper)) + " V" + one_digit(y(plan.offset[i])) + " Z";
    const std::string shape = " stroke=\"#333\" stroke-width=\"0.5\" d=\"" + path + "\">";
    svg += "<path fill=\"" + std::string(colours[i % colours.size()]) + "\"" + shape + "<title>" + escape_xml(names[i]) +
           ": " + std::to_string(b.size) + " bytes at " + std::to_string(plan.offset[i]) + "</title></path>\n";
    if (std::find(plan.conflict.begin(), plan.conflict.end(), i) != plan.conflict.end())
      svg += "<path fill=\"url(#hatch)\"" + shape + "</path>\n";
    const double wide = x(b.upper) - x(b.lower), high = y(0) - y(b.size);
    if (wide > 7.0 * static_cast<double>(names[i].size()) && high > 12)
      text((x(b.lower) + x(b.upper)) / 2, y(plan.offset[i] + b.size / 2) + 4, "middle", names[i]);
  }
  svg += "<path stroke=\"#b03a2e\" stroke-dasharray=\"6 4\" d=\"M" + at(left, y(plan.lower_bound)) + " H" +
         one_digit(width - right) + "\"/>\n";
  text((left + width - right) / 2, height - 12, "middle", "time");
  return svg + "</svg>\n";
}

}  // namespace cli
