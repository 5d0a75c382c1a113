#include "arena_svg.hpp"

#include <algorithm>
#include <array>
#include <memsched/io/drawing.hpp>

#include "text.hpp"

namespace cli {

std::string arena_svg(const std::string& title, const std::vector<memsched::buffer>& buffers,
                      const std::vector<std::string>& names, const memsched::arena_plan& plan) {
  using memsched::bytes, memsched::one_digit;
  constexpr double width = 1000, height = 540, left = 90, right = 20, top = 66, bottom = 54;
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
  const auto x = [&](double t) { return left + (width - left - right) * (t - static_cast<double>(first)) / span; };
  const auto at_time = [&](std::int64_t t) { return x(static_cast<double>(t)); };
  const auto y = [&](double b) { return height - bottom - (height - top - bottom) * b / static_cast<double>(highest); };
  const auto at_byte = [&](bytes b) { return y(static_cast<double>(b)); };

  memsched::svg_drawing d(width, height);
  d.add(
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
      "<rect width=\"2\" height=\"6\" fill=\"#b03a2e\"/></pattern></defs>\n");
  d.text(left, 24, "start", memsched::shortened(title, 100), "font-size=\"16\" font-weight=\"bold\"");
  d.text(left, 44, "start",
         "arena " + grouped(plan.size) + " bytes (" + memsched::binary_size(plan.size) + "); no arena has less than " +
             grouped(plan.lower_bound) + (plan.size == plan.lower_bound ? "" : ", dashed"));
  for (const auto& t : memsched::round_ticks(0, highest, true)) {
    d.line(left, y(t.at), width - right, y(t.at), "stroke=\"#e4e4e4\"");
    d.text(left - 8, y(t.at) + 4, "end", t.text);
  }
  if (first >= 0)
    for (const auto& t : memsched::round_ticks(static_cast<bytes>(first), static_cast<bytes>(last), false, 8)) {
      d.line(x(t.at), height - bottom, x(t.at), height - bottom + 4, "stroke=\"#888\"");
      d.text(x(t.at), height - bottom + 18, "middle", t.text);
    }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto& b = buffers[i];
    if (b.empty()) continue;
    std::string path = "M" + one_digit(at_time(b.lower)) + ' ' + one_digit(at_byte(plan.offset[i])) + "V" +
                       one_digit(at_byte(plan.offset[i] + b.size));
    bytes lowest = b.size;
    for (const auto& drop : b.drops) {
      path += "H" + one_digit(at_time(drop.at)) + "V" + one_digit(at_byte(plan.offset[i] + drop.size));
      lowest = drop.size;
    }
    path += "H" + one_digit(at_time(b.upper)) + "V" + one_digit(at_byte(plan.offset[i])) + "Z";
    const std::string edge = " stroke=\"#333\" stroke-width=\"0.5\"";
    d.path(path, "fill=\"" + std::string(colours[i % colours.size()]) + '"' + edge,
           names[i] + ": " + grouped(b.size) + " bytes at " + grouped(plan.offset[i]));
    if (std::find(plan.conflict.begin(), plan.conflict.end(), i) != plan.conflict.end())
      d.path(path, "fill=\"url(#hatch)\"" + edge);
    // A name stands where it fits.
    const double wide = at_time(b.upper) - at_time(b.lower), high = at_byte(0) - at_byte(lowest);
    const auto fitting = static_cast<std::size_t>(std::max(wide / 7.5, 0.0));
    if (high > 14 && (fitting >= names[i].size() || fitting >= 8))
      d.text((at_time(b.lower) + at_time(b.upper)) / 2, at_byte(plan.offset[i] + lowest / 2) + 4, "middle",
             memsched::shortened(names[i], fitting));
  }
  if (plan.size != plan.lower_bound)
    d.line(left, at_byte(plan.lower_bound), width - right, at_byte(plan.lower_bound),
           "stroke=\"#b03a2e\" stroke-dasharray=\"6 4\"");
  d.text((left + width - right) / 2, height - 12, "middle", "time; upwards, the offset");
  return d.document();
}

}  // namespace cli
