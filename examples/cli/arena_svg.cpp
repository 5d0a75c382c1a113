#include "arena_svg.hpp"

#include <algorithm>
#include <memsched/io/drawing.hpp>

#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;

/// From when to when buffers are drawn.
struct times {
  std::int64_t first = 0, last = 1;
};

times times_of(const std::vector<memsched::buffer>& buffers, std::size_t steps) {
  if (steps > 0) return {0, static_cast<std::int64_t>(2 * steps)};
  times t;
  bool any = false;
  for (const auto& b : buffers) {
    if (b.empty()) continue;
    t.first = any ? std::min(t.first, b.lower) : b.lower;
    t.last = any ? std::max(t.last, b.upper) : b.upper;
    any = true;
  }
  return t;
}

/// The time axis: steps from 1, each in its middle, or the times of a table.
std::vector<memsched::tick> time_ticks(times t, std::size_t steps) {
  if (steps == 0)
    return t.first < 0 ? std::vector<memsched::tick>()
                       : memsched::round_ticks(static_cast<bytes>(t.first), static_cast<bytes>(t.last), false, 8);
  std::vector<memsched::tick> ticks{{1, "1"}};
  for (const memsched::tick& at : memsched::round_ticks(0, steps, false, 8))
    if (at.at > 1) ticks.push_back({2 * at.at - 1, at.text});
  return ticks;
}

}  // namespace

std::string arena_svg(const std::string& title, const std::vector<memsched::buffer>& buffers,
                      const std::vector<std::string>& names, const memsched::arena_plan& plan, std::size_t steps) {
  using memsched::one_digit;
  constexpr double width = 1000, height = 540, left = 90, right = 20, top = 66, bottom = 54;
  constexpr std::size_t fills = 8;
  const times drawn = times_of(buffers, steps);
  const std::int64_t first = drawn.first, last = drawn.last;
  const bytes highest = std::max<bytes>({plan.size, plan.lower_bound, 1});
  const double span = std::max(static_cast<double>(last) - static_cast<double>(first), 1.0);
  const auto x = [&](double t) { return left + (width - left - right) * (t - static_cast<double>(first)) / span; };
  const auto at_time = [&](std::int64_t t) { return x(static_cast<double>(std::min(t, last))); };
  const auto y = [&](double b) { return height - bottom - (height - top - bottom) * b / static_cast<double>(highest); };
  const auto at_byte = [&](bytes b) { return y(static_cast<double>(b)); };

  const std::string words = "arena " + grouped(plan.size) + " bytes (" + memsched::binary_size(plan.size) +
                            "); no arena has less than " + grouped(plan.lower_bound) +
                            (plan.size == plan.lower_bound ? "" : ", dashed");
  memsched::svg_drawing d(width, height, title,
                          grouped(buffers.size()) + " buffers in an arena, time by offset: " + words + '.');
  d.add(
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
      "<rect width=\"2\" height=\"6\" fill=\"#b03a2e\"/></pattern></defs>\n");
  d.text(left, 24, "start", memsched::shortened(title, 100), "font-size=\"16\" font-weight=\"bold\"");
  d.text(left, 44, "start", words);
  for (const auto& t : memsched::round_ticks(0, highest, true)) {
    d.line(left, y(t.at), width - right, y(t.at), "class=\"grid\"");
    d.text(left - 8, y(t.at) + 4, "end", t.text);
  }
  for (const auto& t : time_ticks(drawn, steps)) {
    d.line(x(t.at), height - bottom, x(t.at), height - bottom + 4, "class=\"tick\"");
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
    d.path(path, "class=\"f" + std::to_string(i % fills) + '"' + edge,
           names[i] + ": " + grouped(b.size) + " bytes at " + grouped(plan.offset[i]));
    if (std::find(plan.conflict.begin(), plan.conflict.end(), i) != plan.conflict.end())
      d.path(path, "fill=\"url(#hatch)\"" + edge);
    // A name stands where it fits.
    const double wide = at_time(b.upper) - at_time(b.lower), high = at_byte(0) - at_byte(lowest);
    const auto fitting = static_cast<std::size_t>(std::max(wide / 7.5, 0.0));
    if (high > 14 && (fitting >= names[i].size() || fitting >= 8))
      d.text((at_time(b.lower) + at_time(b.upper)) / 2, at_byte(plan.offset[i] + lowest / 2) + 4, "middle",
             memsched::shortened(names[i], fitting), "class=\"over\"");
  }
  if (plan.size != plan.lower_bound)
    d.line(left, at_byte(plan.lower_bound), width - right, at_byte(plan.lower_bound),
           "class=\"bound\" stroke-dasharray=\"6 4\"");
  d.text((left + width - right) / 2, height - 12, "middle",
         steps > 0 ? "operators, in the order in which they run; upwards, the offset" : "time; upwards, the offset");
  return d.document();
}

}  // namespace cli
