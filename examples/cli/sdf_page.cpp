#include "sdf_page.hpp"

#include <algorithm>
#include <map>
#include <memsched/base/adjacency.hpp>
#include <memsched/io/drawing.hpp>

#include "largest.hpp"
#include "report/page.hpp"
#include "report/template.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::index_t;
namespace sdf = memsched::sdf;

/// The use of memory while a schedule runs.
struct firing_trace {
  std::vector<bytes> during;  ///< per firing, the most
  index_t at_peak = memsched::none;
  std::vector<bytes> tokens;  ///< per channel, at the first peak
};

/// Plays a schedule firing by firing; nothing where these are too many.
std::optional<firing_trace> traced(const sdf::graph& g, const sdf::loops& schedule, memsched::firing rule) {
  constexpr std::size_t most_firings = std::size_t{1} << 20;
  std::vector<std::pair<index_t, index_t>> in, out;
  firing_trace t;
  for (index_t c = 0; c < g.channels().size(); ++c) {
    in.emplace_back(g.channels()[c].to, c), out.emplace_back(g.channels()[c].from, c);
    t.tokens.push_back(g.channels()[c].tokens);
  }
  const auto inputs = memsched::adjacency::from_pairs(g.actors(), in),
             outputs = memsched::adjacency::from_pairs(g.actors(), out);
  std::vector<bytes> tokens = t.tokens;
  bytes level = g.base(), peak = level;
  const auto take = [&](index_t a) {
    for (const index_t c : inputs[a]) {
      tokens[c] -= g.channels()[c].consumed;
      level -= g.channels()[c].consumed * g.channels()[c].size;
    }
  };
  bool drawn = true;
  schedule.each_firing([&](index_t a) {
    if (t.during.size() == most_firings) return drawn = false;
    const bytes before = level;
    if (rule == memsched::firing::cbp) take(a);
    for (const index_t c : outputs[a]) {
      tokens[c] += g.channels()[c].produced;
      level += g.channels()[c].produced * g.channels()[c].size;
    }
    const bytes held = level + g.workspace(a);
    t.during.push_back(std::max(before, held));
    if (held > peak) peak = held, t.at_peak = a, t.tokens = tokens;
    if (rule == memsched::firing::pbc) take(a);
    return true;
  });
  return drawn ? std::optional(std::move(t)) : std::nullopt;
}

std::string actor(const loaded_sdf& g, index_t a) { return memsched::base::one_line(g.graph.actor_name(a), 100); }

/// The channels with tokens and the workspace at the peak, with their sizes.
std::vector<named_size> live_at_peak(const loaded_sdf& g, const firing_trace& t) {
  std::vector<named_size> live;
  for (std::size_t c = 0; c < t.tokens.size(); ++c)
    if (const bytes size = t.tokens[c] * g.graph.channels()[c].size; size > 0)
      live.emplace_back(memsched::base::one_line(g.graph.channel_name(c), 100), size);
  if (t.at_peak != memsched::none && g.graph.workspace(t.at_peak) > 0)
    live.emplace_back("workspace of " + actor(g, t.at_peak), g.graph.workspace(t.at_peak));
  return live;
}

std::string drawn(const loaded_sdf& g, const schedule_request& r, const sdf::schedule_result& s, const firing_trace& t) {
  const std::string at_peak = t.at_peak == memsched::none ? "" : actor(g, t.at_peak);
  return memory_svg(g.name, {{r.scheduler, t.during, at_peak}}, s.lower_bound, largest_first(live_at_peak(g, t), 8),
                    {"firings, in the order of the schedule", g.unit == std::string("bytes")});
}

std::string cell(const std::string& text) { return "<td>" + memsched::escape_xml(text) + "</td>"; }
std::string number_cell(bytes n) { return "<td class=\"number\">" + grouped(n) + "</td>"; }
/// Rows of a table under these titles; a title that begins with '#' is one of numbers.
std::string table_of(const std::vector<std::string>& titles, const std::string& rows) {
  std::string head;
  for (const std::string& t : titles)
    head += t.starts_with('#') ? "<th class=\"number\">" + t.substr(1) + "</th>" : "<th>" + t + "</th>";
  return "<div class=\"wide\"><table><thead><tr>" + head + "</tr></thead><tbody>" + rows + "</tbody></table></div>\n";
}
std::string section(const char* id, const char* title, const std::string& body) {
  return std::string("<section id=\"") + id + "\"><h2>" + title + "</h2>\n" + body + "</section>\n";
}

std::string verdict_of(const loaded_sdf& g, const schedule_request& r, const sdf::schedule_result& s) {
  const std::string unit = std::string(" ") + g.unit, peak = grouped(s.peak) + unit;
  const bool proven = s.peak == s.lower_bound, judged = r.options.budget != memsched::no_limit;
  std::string text =
      "<strong>" +
      (proven ? peak + ": proven, no schedule of this kind takes less."
              : peak + " found; no schedule of this kind takes less than " + grouped(s.lower_bound) + unit + ".") +
      "</strong>";
  if (judged)
    text += " The budget is " + grouped(r.options.budget) + unit + (s.fits() ? ": met." : ": not met") +
            (s.fits()                       ? ""
             : s.bound() > r.options.budget ? "; none can meet it."
                                            : ".");
  if (g.graph.base() > 0) text += " It starts and ends with the initial tokens, " + grouped(g.graph.base()) + unit + ".";
  if (!proven) text += memsched::escape_xml(stop_text(s.stopped));
  const char* kind = judged && !s.fits() ? "bad" : proven ? "good" : "";
  return std::string("<section id=\"verdict\" class=\"") + kind + "\"><p>" + text + "</p></section>\n";
}

std::string choices_of(const loaded_sdf& g, const std::vector<dataflow_choice>& choices) {
  std::string rows;
  for (const dataflow_choice& c : choices) {
    if (c.found.error) continue;
    rows += "<tr>" + cell(c.what) + number_cell(c.found.peak) + number_cell(c.found.separate) +
            number_cell(c.found.schedule.appearances()) + cell(c.found.optimal() ? "optimal" : "feasible") + "<td><code>" +
            memsched::escape_xml(c.command) + "</code></td></tr>";
  }
  const std::string in = std::string(", ") + g.unit;
  return table_of({"schedule", "#one memory" + in, "#one for each channel" + in, "#actors named", "verdict", "command"},
                  rows);
}

std::string channels_of(const loaded_sdf& g, const sdf::schedule_result& s, const std::optional<firing_trace>& t) {
  std::vector<std::size_t> by_size;
  for (std::size_t c = 0; c < s.fills.size(); ++c) by_size.push_back(c);
  const auto at_peak = [&](std::size_t c) { return t ? t->tokens[c] * g.graph.channels()[c].size : 0; };
  std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) { return at_peak(a) > at_peak(b); });
  std::string rows;
  for (const std::size_t i : by_size) {
    const sdf::channel& c = g.graph.channels()[i];
    rows += "<tr>" + cell(memsched::base::one_line(g.graph.channel_name(i), 60)) + cell(actor(g, c.from)) +
            cell(actor(g, c.to)) + number_cell(c.produced) + number_cell(c.consumed) + number_cell(c.tokens) +
            number_cell(c.size) + number_cell(s.fills[i]) + (t ? number_cell(at_peak(i)) : "<td></td>") + "</tr>";
  }
  return table_of({"channel", "from", "to", "#produces", "#consumes", "#initial tokens", "#size of one", "#most at once",
                   std::string("#at the peak, ") + g.unit},
                  rows);
}

}  // namespace

memsched::result<std::string> dataflow_svg(const loaded_sdf& g, const schedule_request& r, const sdf::schedule_result& s) {
  const auto t = traced(g.graph, s.schedule, r.options.default_firing);
  if (!t) return wrong(r.graph, "has too many firings to draw");
  return drawn(g, r, s, *t);
}

std::string dataflow_page(const loaded_sdf& g, const schedule_request& r, const sdf::schedule_result& s,
                          const std::vector<dataflow_choice>& choices, const std::vector<std::string>& facts) {
  const auto t = traced(g.graph, s.schedule, r.options.default_firing);
  std::string lines;
  for (const std::string& f : facts) lines += "<p class=\"faint\">" + memsched::escape_xml(f) + "</p>\n";
  std::string body = "<section id=\"input\" aria-label=\"The input\">" + lines + "</section>\n" + verdict_of(g, r, s) +
                     section("choices", "What would help", choices_of(g, choices));
  const std::string picture = t ? "<div class=\"wide\">" + drawn(g, r, s, *t) + "</div><p class=\"faint\">" +
                                      (t->at_peak == memsched::none
                                           ? "The initial tokens are the peak."
                                           : "The peak is while " + memsched::escape_xml(actor(g, t->at_peak)) + " fires.") +
                                      "</p>"
                                : "<p>There are too many firings to draw.</p>";
  body += section("memory", "Where it goes", picture) + section("peak", "Channels", channels_of(g, s, t));
  std::string actors;
  for (index_t a = 0; a < g.graph.actors(); ++a)
    actors +=
        "<tr>" + cell(actor(g, a)) + number_cell(g.graph.repetitions()[a]) + number_cell(g.graph.workspace(a)) + "</tr>";
  const std::string text = s.schedule.text([&](index_t a) { return actor(g, a); });
  body += section("schedule", "The schedule",
                  "<p><code>" + memsched::escape_xml(text) + "</code></p>\n" +
                      table_of({"actor", "#firings in an iteration", "#workspace"}, actors));
  const std::string title = memsched::escape_xml(g.name);
  const std::string head = filled(page::head, {{"title", title}, {"policy", ""}, {"style", page::css}});
  return filled(page::dataflow, {{"head", head}, {"title", title}, {"body", body}});
}

}  // namespace cli
