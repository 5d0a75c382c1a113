// The distribution of peaks as SVG.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include <memsched/base/linkage.hpp>
#include <memsched/io/drawing.hpp>
#include <memsched/measure/sample.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A peak with a name, to be marked in a drawing. Bytes.
struct peak_mark {
  std::string name;
  bytes peak = 0;
};

/// Draws which share of the samples needs no more than how much, with a line for each mark: the paper's Figure 3b. An
/// SVG document of 900 x 420; the smallest and the largest peak of samples and marks are at the edges of the plot. The
/// legend has the marks in the order of their lines.
MEMSCHED_FUNCTION void write_distribution_svg(std::ostream& out, std::string_view title,
                                              std::span<const order_sample> samples, std::span<const peak_mark> marks);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <iterator>
#include <vector>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Peak to x, share to y. Right of it there is room for a legend.
class distribution_frame {
 public:
  static constexpr double width = 900, height = 420, left = 60, right = 240, top = 40, bottom = 54;

  distribution_frame(bytes least, bytes most)
      : least_(least), range_(static_cast<double>(std::max<bytes>(most - least, 1))) {}
  double x(double peak) const { return left + (width - left - right) * (peak - static_cast<double>(least_)) / range_; }
  static double y(double share) { return height - bottom - (height - top - bottom) * share; }

 private:
  bytes least_;
  double range_;
};

inline void draw_axes(svg_drawing& d, const distribution_frame& f, bytes least, bytes most) {
  for (int percent = 0; percent <= 100; percent += 25) {
    const double y = f.y(percent / 100.0);
    d.line(f.left, y, f.width - f.right, y, "class=\"grid\"");
    d.text(f.left - 6, y + 4, "end", std::to_string(percent) + "%");
  }
  for (const tick& t : round_ticks(least, most, true)) {
    d.line(f.x(t.at), f.y(0), f.x(t.at), f.y(0) + 4, "class=\"tick\"");
    d.text(f.x(t.at), f.y(0) + 18, "middle", t.text);
  }
}

inline void draw_steps(svg_drawing& d, const distribution_frame& f, std::span<const order_share> shares) {
  std::string path = "M" + one_digit(f.left) + ' ' + one_digit(f.y(0));
  for (const order_share& s : shares)
    path += " H" + one_digit(f.x(static_cast<double>(s.peak))) + " V" + one_digit(f.y(s.drawn));
  d.path(path + " H" + one_digit(f.width - f.right), "class=\"ink\" fill=\"none\" stroke-width=\"1.5\"");
}

/// The drawing in a sentence, for screen readers. `marks` ascend.
inline std::string describe_distribution(std::span<const order_sample> samples, std::span<const peak_mark> marks) {
  std::string text =
      "Which share of " + std::to_string(samples.size()) + " random orders needs no more than how much memory";
  if (!samples.empty()) {
    const auto [least, most] =
        std::minmax_element(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.peak < b.peak; });
    text += ": the least " + binary_size(least->peak) + ", the most " + binary_size(most->peak);
  }
  text += '.';
  for (std::size_t i = 0; i < marks.size(); ++i)
    text += (i == 0 ? " Marked: " : ", ") + marks[i].name + ' ' + binary_size(marks[i].peak);
  return text + (marks.empty() ? "" : ".");
}

}  // namespace detail

MEMSCHED_FUNCTION void write_distribution_svg(std::ostream& out, std::string_view title,
                                              std::span<const order_sample> samples, std::span<const peak_mark> marks) {
  using frame = detail::distribution_frame;
  bytes least = samples.empty() && marks.empty() ? 0 : ~bytes{0}, most = 0;
  for (const auto& s : samples) least = std::min(least, s.peak), most = std::max(most, s.peak);
  for (const auto& m : marks) least = std::min(least, m.peak), most = std::max(most, m.peak);
  const frame f(least, most);
  constexpr std::size_t colours = 6;
  std::vector<peak_mark> sorted(marks.begin(), marks.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.peak < b.peak; });

  svg_drawing d(frame::width, frame::height, title, detail::describe_distribution(samples, sorted));
  d.text(f.left, 22, "start", shortened(title, 100), "font-size=\"15\" font-weight=\"bold\"");
  detail::draw_axes(d, f, least, most);
  d.text((f.left + f.width - f.right) / 2, frame::height - 12, "middle",
         "peak; upwards, the share of " + std::to_string(samples.size()) + " random orders within it");
  detail::draw_steps(d, f, cumulative(samples));
  std::size_t line = 0;  // marks of the same peak share one
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool another = i == 0 || sorted[i].peak != sorted[i - 1].peak;
    if (i > 0 && another) ++line;
    const std::string style =
        "class=\"s" + std::to_string(line % colours) + "\" stroke-dasharray=\"4 3\" stroke=\"currentColor\"";
    const double x = f.x(static_cast<double>(sorted[i].peak)), y = frame::top + 8 + 18 * static_cast<double>(i);
    if (another) d.line(x, f.y(0), x, frame::top, style);
    d.line(f.width - f.right + 14, y - 4, f.width - f.right + 34, y - 4, style);
    d.text(f.width - f.right + 40, y, "start", shortened(sorted[i].name, 18) + ' ' + binary_size(sorted[i].peak));
  }
  out << d.document();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
