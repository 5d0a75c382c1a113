#include "svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memsched/io/drawing.hpp>

#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::one_digit;
using memsched::svg_drawing;

constexpr double width = 960, height = 430, left = 80, right = 290, top = 44, bottom = 54;
constexpr double plot_right = width - right, legend = plot_right + 22;
constexpr std::array colours{"#0b6e4f", "#8a8f94", "#3d5a80", "#b9770e"};
constexpr std::size_t longest_name = 34;  // characters in the legend

/// Where so many bytes stand, when the highest stand at the top.
double y_of(double b, bytes highest) { return height - bottom - (height - top - bottom) * b / static_cast<double>(highest); }

/// The start of a drawing: its title, and lines at round sizes.
svg_drawing opened(const std::string& title, bytes highest) {
  svg_drawing d(width, height);
  d.text(left, 24, "start", memsched::shortened(title, 100), "font-size=\"16\" font-weight=\"bold\"");
  for (const memsched::tick& t : memsched::round_ticks(0, highest, true)) {
    d.line(left, y_of(t.at, highest), plot_right, y_of(t.at, highest), "stroke=\"#e4e4e4\"");
    d.text(left - 8, y_of(t.at, highest) + 4, "end", t.text);
  }
  return d;
}

/// The legend's lines, from the top.
class legend_column {
 public:
  explicit legend_column(svg_drawing& d) : d_(d) {}
  void swatch(const std::string& style) { d_.line(legend, y_ - 4, legend + 22, y_ - 4, style); }
  void line(const std::string& text, double indent = 30, const char* style = "") {
    d_.text(legend + indent, y_, "start", text, style);
    y_ += 17;
  }
  void row(const std::string& name, const std::string& value) {
    d_.text(legend, y_, "start", memsched::shortened(name, 26));
    d_.text(width - 16, y_, "end", value);
    y_ += 17;
  }
  void gap() { y_ += 9; }

 private:
  svg_drawing& d_;
  double y_ = top + 10;
};

void draw_order(svg_drawing& d, const std::vector<bytes>& profile, bytes highest, const std::string& colour) {
  constexpr std::size_t most_columns = 1200;
  const std::size_t n = profile.size(), columns = std::min(n, most_columns);
  const auto x = [&](std::size_t i) {
    return left + (plot_right - left) * static_cast<double>(i) / static_cast<double>(columns);
  };
  std::string path;
  for (std::size_t k = 0; k < columns; ++k) {
    const auto at = [&](std::size_t i) { return profile.begin() + static_cast<std::ptrdiff_t>(n * i / columns); };
    path += (k == 0 ? "M" + one_digit(left) + ' ' : "V") +
            one_digit(y_of(static_cast<double>(*std::max_element(at(k), at(k + 1))), highest)) + "H" + one_digit(x(k + 1));
  }
  d.path(path, "fill=\"none\" stroke-width=\"1.6\" stroke=\"" + colour + "\"");
  const auto peak = std::max_element(profile.begin(), profile.end());
  const double middle = (static_cast<double>(peak - profile.begin()) + 0.5) / static_cast<double>(n);
  d.circle(left + (plot_right - left) * middle, y_of(static_cast<double>(*peak), highest), 3.5, "fill=\"" + colour + '"');
}

}  // namespace

std::string memory_svg(const std::string& title, const std::vector<drawn_order>& orders, bytes bound,
                       const std::vector<live_tensor>& live) {
  bytes highest = std::max<bytes>(bound, 1);
  std::size_t longest = 0;
  for (const drawn_order& o : orders) {
    for (const bytes b : o.profile) highest = std::max(highest, b);
    longest = std::max(longest, o.profile.size());
  }
  svg_drawing d = opened(title, highest);
  // Orders of different lengths have no axis of steps in common.
  if (std::all_of(orders.begin(), orders.end(), [&](const drawn_order& o) { return o.profile.size() == longest; }))
    for (const memsched::tick& t : memsched::round_ticks(0, longest, false)) {
      const double x = left + (plot_right - left) * t.at / static_cast<double>(std::max<std::size_t>(longest, 1));
      d.line(x, height - bottom, x, height - bottom + 4, "stroke=\"#888\"");
      d.text(x, height - bottom + 18, "middle", t.text);
    }
  d.text((left + plot_right) / 2, height - 12, "middle", "operators, in the order in which they run");

  for (std::size_t k = orders.size(); k-- > 0;)
    if (!orders[k].profile.empty()) draw_order(d, orders[k].profile, highest, colours[k % colours.size()]);
  const std::string dashed = "stroke=\"#c44536\" stroke-dasharray=\"6 4\"";
  d.line(left, y_of(static_cast<double>(bound), highest), plot_right, y_of(static_cast<double>(bound), highest), dashed);

  legend_column column(d);
  for (std::size_t k = 0; k < orders.size(); ++k) {
    const auto& o = orders[k];
    const bytes peak = o.profile.empty() ? 0 : *std::max_element(o.profile.begin(), o.profile.end());
    column.swatch("stroke-width=\"3\" stroke=\"" + std::string(colours[k % colours.size()]) + '"');
    column.line(memsched::shortened(o.name, 18) + ": " + memsched::binary_size(peak));
    if (!o.at_peak.empty())
      column.line(memsched::shortened("while " + o.at_peak + " runs", longest_name), 30, "fill=\"#666\"");
  }
  column.swatch(dashed);
  column.line("lower bound: " + memsched::binary_size(bound));
  if (live.empty()) return d.document();
  column.gap();
  column.line("alive at the peak of " + memsched::shortened(orders.front().name, 14), 0, "font-weight=\"bold\"");
  for (const auto& [name, size] : live) column.row(name, memsched::binary_size(size));
  return d.document();
}

std::string front_svg(const std::string& title, const std::vector<std::pair<double, bytes>>& points) {
  bytes highest = 1;
  double fewest = 1e300, most = 1;
  for (const auto& [operators, peak] : points)
    highest = std::max(highest, peak), fewest = std::min(fewest, operators), most = std::max(most, operators);
  const double low = std::floor(std::log2(std::max(1.0, std::min(fewest, most)))), high = std::ceil(std::log2(most) + 1e-9);
  const auto x = [&](double n) {
    return left + (plot_right - left) * (std::log2(std::max(n, 1.0)) - low) / std::max(1.0, high - low);
  };
  svg_drawing d = opened(title, highest);
  for (double power = low; power <= std::max(high, low + 1); ++power) {
    const double at = x(std::exp2(power));
    d.line(at, height - bottom, at, height - bottom + 4, "stroke=\"#888\"");
    d.text(at, height - bottom + 18, "middle", grouped(static_cast<bytes>(std::exp2(power))));
  }
  auto sorted = points;
  std::sort(sorted.begin(), sorted.end());
  std::string path;
  for (const auto& [operators, peak] : sorted) {
    const std::string px = one_digit(x(operators)), py = one_digit(y_of(static_cast<double>(peak), highest));
    path += path.empty() ? "M" + px + ' ' + py : "H" + px + "V" + py;
  }
  d.path(path, "fill=\"none\" stroke=\"#8a8f94\"");
  legend_column column(d);
  column.row("operators", "peak");
  for (const auto& [operators, peak] : sorted)
    d.circle(x(operators), y_of(static_cast<double>(peak), highest), 4, "fill=\"#0b6e4f\"");
  constexpr std::size_t rows = 18;
  for (std::size_t i = 0; i < std::min(rows, sorted.size()); ++i)
    column.row(grouped(static_cast<bytes>(sorted[i].first)), memsched::binary_size(sorted[i].second));
  if (sorted.size() > rows) column.row(std::to_string(sorted.size() - rows) + " more", "");
  d.text((left + plot_right) / 2, height - 12, "middle", "operators, by powers of two; upwards, the peak");
  return d.document();
}

}  // namespace cli
