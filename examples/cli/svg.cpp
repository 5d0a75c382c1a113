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
constexpr std::array order_series{"s0", "s1", "s2", "s3"};
constexpr std::array share_series{"s0", "s2", "s3", "s4", "s5", "s1"};
constexpr const char* dashed = "class=\"bound\" stroke-dasharray=\"6 4\"";
constexpr const char* faint = "class=\"faint\"";
constexpr std::size_t longest_name = 34;  // characters in the legend

/// Attributes of a line, or with `what` "fill" of a dot, in the colour of a series.
std::string in_series(const std::string& series, const char* what = "stroke") {
  return "class=\"" + series + "\" " + what + "=\"currentColor\"";
}

/// The height at which `b` bytes stand, when `highest` bytes stand at the top.
double y_of(double b, bytes highest) { return height - bottom - (height - top - bottom) * b / static_cast<double>(highest); }

/// The value at the top edge: some room above the highest point.
std::uint64_t with_headroom(std::uint64_t highest) { return highest + std::max<std::uint64_t>(highest / 25, 1); }

/// The start of a drawing: its title, and lines at round sizes or, where not `of_bytes`, numbers.
svg_drawing opened(const std::string& title, const std::string& description, std::uint64_t highest, bool of_bytes = true) {
  svg_drawing d(width, height, title, description);
  d.text(left, 24, "start", memsched::shortened(title, 100), "font-size=\"16\" font-weight=\"bold\"");
  for (const memsched::tick& t : memsched::round_ticks(0, highest, of_bytes)) {
    d.line(left, y_of(t.at, highest), plot_right, y_of(t.at, highest), "class=\"grid\"");
    d.text(left - 8, y_of(t.at, highest) + 4, "end", t.text);
  }
  return d;
}

/// A mark of the axis below.
void mark_below(svg_drawing& d, double x, const std::string& text) {
  d.line(x, height - bottom, x, height - bottom + 4, "class=\"tick\"");
  d.text(x, height - bottom + 18, "middle", text);
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

void draw_order(svg_drawing& d, const std::vector<bytes>& profile, bytes highest, const std::string& series) {
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
  d.path(path, in_series(series) + " fill=\"none\" stroke-width=\"1.6\"");
  const auto peak = std::max_element(profile.begin(), profile.end());
  const double middle = (static_cast<double>(peak - profile.begin()) + 0.5) / static_cast<double>(n);
  d.circle(left + (plot_right - left) * middle, y_of(static_cast<double>(*peak), highest), 3.5, in_series(series, "fill"));
}

bytes peak_of(const drawn_order& o) { return o.profile.empty() ? 0 : *std::max_element(o.profile.begin(), o.profile.end()); }

/// Marks of the axis of steps, which count from 1 and stand in the middle of their steps. Orders of different lengths are
/// stretched to one width, and have shares in common alone.
void mark_steps(svg_drawing& d, const std::vector<drawn_order>& orders, const char* words) {
  const std::size_t steps = orders.empty() ? 0 : orders.front().profile.size();
  std::string text = words, lengths;
  if (std::all_of(orders.begin(), orders.end(), [&](const drawn_order& o) { return o.profile.size() == steps; })) {
    const auto mark = [&](std::uint64_t step) {
      mark_below(d, left + (plot_right - left) * (static_cast<double>(step) - 0.5) / static_cast<double>(steps),
                 grouped(step));
    };
    if (steps > 0) mark(1);
    for (const memsched::tick& t : memsched::round_ticks(0, steps, false))
      if (t.at > 1) mark(static_cast<std::uint64_t>(t.at));
  } else {
    for (unsigned percent = 0; percent <= 100; percent += 20)
      mark_below(d, left + (plot_right - left) * percent / 100, std::to_string(percent) + " %");
    for (const drawn_order& o : orders) lengths += (lengths.empty() ? ": " : " and ") + grouped(o.profile.size());
    text = "share of the operators of each order, stretched to one width" + lengths;
  }
  d.text((left + plot_right) / 2, height - 12, "middle", text);
}

}  // namespace

std::string memory_svg(const std::string& title, const std::vector<drawn_order>& orders, bytes bound,
                       const std::vector<named_size>& live, drawn_axes axes) {
  const auto size = [&](bytes b) { return axes.of_bytes ? memsched::binary_size(b) : grouped(b) + " tokens"; };
  bytes highest = std::max<bytes>(bound, 1);
  std::string description = "Memory over time. ";
  for (const drawn_order& o : orders) {
    highest = std::max(highest, peak_of(o));
    description += "Peak of " + o.name + ": " + size(peak_of(o)) +
                   (o.at_peak.empty() ? "" : ", while " + memsched::shortened(o.at_peak, 60) + " runs") + ". ";
  }
  highest = with_headroom(highest);
  svg_drawing d = opened(title, description + "Lower bound: " + size(bound) + ".", highest, axes.of_bytes);
  mark_steps(d, orders, axes.steps);

  for (std::size_t k = orders.size(); k-- > 0;)
    if (!orders[k].profile.empty()) draw_order(d, orders[k].profile, highest, order_series[k % order_series.size()]);
  d.line(left, y_of(static_cast<double>(bound), highest), plot_right, y_of(static_cast<double>(bound), highest), dashed);

  legend_column column(d);
  for (std::size_t k = 0; k < orders.size(); ++k) {
    const auto& o = orders[k];
    column.swatch(in_series(order_series[k % order_series.size()]) + " stroke-width=\"3\"");
    column.line(memsched::shortened(o.name, 18) + ": " + size(peak_of(o)));
    if (!o.at_peak.empty()) column.line(memsched::shortened("while " + o.at_peak + " runs", longest_name), 30, faint);
  }
  column.swatch(dashed);
  column.line("lower bound: " + size(bound));
  if (live.empty()) return d.document();
  column.gap();
  column.line("alive at the peak of " + memsched::shortened(orders.front().name, 14), 0, "font-weight=\"bold\"");
  for (const auto& [name, held] : live) column.row(name, size(held));
  return d.document();
}

std::string curve_svg(const std::string& title, const std::vector<cost_point>& points, std::uint64_t base_cost) {
  std::uint64_t highest = 1;
  for (const cost_point& p : points) highest = std::max({highest, p.extra.value_or(0), p.bound});
  const bytes most = points.empty() ? 1 : points.front().budget, least = points.empty() ? 0 : points.back().budget;
  const auto x = [&](bytes budget) {
    return left +
           (plot_right - left) * static_cast<double>(budget - least) / std::max(1.0, static_cast<double>(most - least));
  };
  const auto y = [&](std::uint64_t cost) { return y_of(static_cast<double>(cost), highest); };
  highest = with_headroom(highest);
  svg_drawing d = opened(title,
                         "Extra cost of reruns over budgets from " + memsched::binary_size(least) + " to " +
                             memsched::binary_size(most) + ", with proven lower bounds.",
                         highest, false);
  for (const memsched::tick& t : memsched::round_ticks(least, most, true))
    mark_below(d, x(static_cast<bytes>(t.at)), t.text);
  d.text((left + plot_right) / 2, height - 12, "middle", "budget; upwards, the extra cost");

  const auto out_of_reach = std::find_if(points.begin(), points.end(), [](const cost_point& p) { return p.infeasible; });
  if (out_of_reach != points.end())
    d.path("M" + one_digit(left) + ' ' + one_digit(top) + "H" + one_digit(x(out_of_reach->budget)) + "V" +
               one_digit(height - bottom) + "H" + one_digit(left) + "Z",
           in_series("beyond", "fill") + " fill-opacity=\"0.12\"");
  // A schedule serves all larger budgets, a bound holds for all smaller ones.
  std::string costs, bounds;
  for (std::size_t i = 0; i < points.size() && points[i].extra; ++i)
    costs += (i == 0 ? "M" + one_digit(x(points[i].budget)) + ' ' : "V") + one_digit(y(*points[i].extra)) + "H" +
             one_digit(x(points[i].budget));
  for (std::size_t i = 0; i < points.size() && !points[i].infeasible; ++i)
    bounds += (i == 0 ? "M" + one_digit(x(points[i].budget)) + ' ' : "V") + one_digit(y(points[i].bound)) + "H" +
              one_digit(x(points[std::min(i + 1, points.size() - 1)].budget));
  d.path(bounds, std::string("fill=\"none\" ") + dashed);
  d.path(costs, in_series("s0") + " fill=\"none\" stroke-width=\"1.6\"");
  std::size_t proven = 0, found = 0;
  for (const cost_point& p : points) {
    if (!p.extra) continue;
    const bool optimal = *p.extra == p.bound;
    ++found, proven += optimal;
    d.circle(x(p.budget), y(*p.extra), 3.5,
             in_series(optimal ? "s0" : "s0 hollow") + (optimal ? " fill=\"currentColor\"" : ""));
  }

  legend_column column(d);
  column.swatch(in_series("s0") + " stroke-width=\"3\"");
  column.line("extra cost found");
  column.line(std::to_string(proven) + " of " + std::to_string(found) + " optimal (full dots)", 30, faint);
  column.swatch(dashed);
  column.line("proven lower bound");
  if (out_of_reach != points.end()) {
    column.swatch(in_series("beyond") + " stroke-width=\"8\" stroke-opacity=\"0.25\"");
    column.line("proven out of reach");
  }
  column.gap();
  column.row("cost without reruns", grouped(base_cost));
  constexpr std::size_t most_rows = 16;
  if (found > most_rows) return d.document();
  for (const cost_point& p : points)
    if (p.extra) column.row(memsched::binary_size(p.budget), "+" + grouped(*p.extra));
  return d.document();
}

std::string front_svg(const std::string& title, const std::vector<front_step>& points) {
  bytes highest = 1;
  std::size_t fewest = points.empty() ? 1 : points.front().operators, most = 1;
  for (const front_step& p : points) {
    highest = std::max(highest, p.peak);
    fewest = std::min(fewest, p.operators), most = std::max(most, p.operators);
  }
  const double low = std::floor(std::log2(std::max<double>(1, static_cast<double>(fewest)))),
               high = std::max(low + 1, std::ceil(std::log2(static_cast<double>(most)) - 1e-9));
  const auto x = [&](std::size_t n) {
    return left + (plot_right - left) * (std::log2(static_cast<double>(n)) - low) / (high - low);
  };
  highest = with_headroom(highest);
  svg_drawing d = opened(title,
                         "Peaks of " + grouped(points.size()) + " rewritten networks of " + grouped(fewest) + " to " +
                             grouped(most) + " operators, by their extra multiply-accumulates.",
                         highest);
  for (double power = low; power <= high; ++power) {
    const double at = left + (plot_right - left) * (power - low) / (high - low);
    mark_below(d, at, grouped(static_cast<bytes>(std::exp2(power))));
  }
  legend_column column(d);
  column.line("extra multiply-accumulates", 0, "font-weight=\"bold\"");
  double below = -1;
  std::size_t shown = 0;
  for (const double share : {0.0, 0.01, 0.05, 0.1, 0.5, 1e300}) {
    // The steps of the points within this share, few operators first; dots on those that the shares before do not have.
    std::vector<front_step> within;
    for (const front_step& p : points)
      if (p.extra <= share + 1e-12) within.push_back(p);
    std::sort(within.begin(), within.end(), [](const front_step& a, const front_step& b) {
      return std::pair(a.operators, a.peak) < std::pair(b.operators, b.peak);
    });
    std::vector<front_step> steps;
    for (const front_step& p : within)
      if (steps.empty() || p.peak < steps.back().peak) steps.push_back(p);
    const auto is_new = [&](const front_step& p) { return p.extra > below + 1e-12; };
    const bool any = std::any_of(steps.begin(), steps.end(), is_new);
    if (any) {
      const std::string series = share_series[shown++ % share_series.size()];
      std::string path;
      for (const front_step& p : steps) {
        const std::string px = one_digit(x(p.operators)), py = one_digit(y_of(static_cast<double>(p.peak), highest));
        path += path.empty() ? "M" + px + ' ' + py : "H" + px + "V" + py;
      }
      d.path(path + "H" + one_digit(plot_right), in_series(series) + " fill=\"none\" stroke-width=\"1.6\"");
      for (const front_step& p : steps)
        if (is_new(p)) d.circle(x(p.operators), y_of(static_cast<double>(p.peak), highest), 3.5, in_series(series, "fill"));
      column.gap();
      column.swatch(in_series(series) + " stroke-width=\"3\"");
      const std::string percent =
          share > 1e6 ? "more" : "at most +" + std::to_string(static_cast<int>(100 * share + 0.5)) + " %";
      column.line(share == 0 ? "none" : percent);
      column.line(
          "down to " + memsched::binary_size(steps.back().peak) + ", " + grouped(steps.back().operators) + " operators", 30,
          faint);
    }
    below = share;
  }
  d.text((left + plot_right) / 2, height - 12, "middle", "operators, by powers of two; upwards, the peak");
  return d.document();
}

}  // namespace cli
