#include "sdf.hpp"

#include <algorithm>
#include <chrono>
#include <memsched/sdf/c_code.hpp>
#include <memsched/sdf/layout.hpp>
#include <memsched/sdf/schedule.hpp>
#include <nlohmann/json.hpp>

#include "advice.hpp"
#include "schedulers.hpp"
#include "sdf_file.hpp"
#include "sdf_page.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::graph_error;
using memsched::index_t;
namespace sdf = memsched::sdf;
using json = nlohmann::ordered_json;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

sdf::schedule_result solve(const named_scheduler& s, const sdf::graph& g, const sdf::options& what, const request& r) {
  return s.run_sdf(g, what, r.options, r.knobs);
}

std::string text_of(const loaded_sdf& g, const sdf::loops& l) {
  return l.text([&](index_t a) { return memsched::base::one_line(g.graph.actor_name(a), 100); });
}

/// [item, ...], where an item is an actor's index, or [count, item, ...].
json as_json(const sdf::loops& l) {
  std::vector<json> open{json::array()};
  l.walk([&](const sdf::loops::item& i) { open.push_back(json::array({i.count})); },
         [&](const sdf::loops::item& i) {
           if (i.count == 1) open.back().push_back(i.actor);
           else open.back().push_back(json::array({i.count, i.actor}));
         },
         [&] {
           json body = std::move(open.back());
           open.pop_back();
           open.back().push_back(std::move(body));
         });
  return open.front();
}

json as_json(const loaded_sdf& g, const schedule_request& r, const sdf::schedule_result& s, double took) {
  json j;
  j["version"] = 1;
  j["graph"] = g.name;
  j["kind"] = "sdf";
  j["unit"] = g.unit;
  j["scheduler"] = r.scheduler;
  j["firing"] = firing_name(r);
  for (index_t a = 0; a < g.graph.actors(); ++a) j["actors"].push_back(g.graph.actor_name(a));
  j["repetitions"] = g.graph.repetitions();
  j["iterations"] = s.what.iterations;
  j["schedule"] = as_json(s.schedule);
  j["schedule_text"] = text_of(g, s.schedule);
  j["appearances"] = s.schedule.appearances();
  j["peak"] = s.peak;
  j["lower_bound"] = s.lower_bound;
  j["buffers"] = json::array();
  for (std::size_t i = 0; i < s.fills.size(); ++i) j["buffers"].push_back(s.fills[i] * g.graph.channels()[i].size);
  j["separate"] = s.separate;
  j["separate_bound"] = s.separate_bound;
  j["status"] = s.optimal() ? "optimal" : s.bound() > r.options.budget ? "infeasible" : "feasible";
  j["stopped"] = to_string(s.stopped);
  j["seconds"] = took;
  j["statistics"] = {{"states", s.stats.states}, {"cuts", s.stats.cuts}, {"nodes", s.left}};
  return j;
}

/// Where the channels of a schedule lie; the best place that a limited search finds where they share memory.
memsched::result<sdf::layout> layout_of(const loaded_sdf& g, const schedule_request& r, const sdf::schedule_result& s) {
  constexpr std::uint64_t most_nodes = 200'000;
  if (r.sdf.what.memory == sdf::memory::separate) return sdf::separate_layout(g.graph, s.fills);
  return sdf::shared_layout(g.graph, s.schedule, s.fills, memsched::minimize{}, {.state_limit = most_nodes});
}

const char* form_name(sdf::form f) { return f == sdf::form::flat ? "flat schedule" : "iteration"; }

std::string as_text(const loaded_sdf& g, const schedule_request& r, const sdf::schedule_result& s, double took) {
  const std::string unit = std::string(" ") + g.unit;
  std::string text = g.name + ": " + grouped(g.graph.actors()) + " actors, " + grouped(g.graph.channels().size()) +
                     " channels, " + grouped(g.graph.firings()) + " firings" +
                     (s.what.iterations > 1 ? ", " + grouped(s.what.iterations) + " iterations" : "") + ", " + r.scheduler +
                     ", " + firing_name(r) + "\n";
  text += "peak         " + grouped(s.peak) + unit + "\n";
  text += "lower bound  " + grouped(s.lower_bound) + unit;
  if (s.peak == s.lower_bound)
    text += std::string(": optimal: no ") + form_name(s.what.form) + " takes less" +
            (g.graph.base() > 0 ? "; it starts and ends with the initial tokens, " + grouped(g.graph.base()) + unit : "");
  else text += stop_text(s.stopped);
  text += "\nseparate     " + grouped(s.separate) + unit + " where each channel has its own memory; ";
  text += s.separate == s.separate_bound ? "optimal: no iteration takes less"
                                         : "no iteration takes less than " + grouped(s.separate_bound);
  if (r.options.budget != memsched::no_limit)
    text += "\nbudget       " + grouped(r.options.budget) + unit + (s.fits() ? ": met" : ": not met") +
            (s.bound() > r.options.budget ? "; no schedule can meet it" : "");
  text += "\nschedule     " + text_of(g, s.schedule) + "\n             " + grouped(s.schedule.appearances()) +
          " appearances of " + grouped(g.graph.actors()) + " actors\n";
  text += "took         " + seconds(took) + " s, " + grouped(s.left) + " firings left to order after compression\n";
  return text;
}

}  // namespace

int run_sdf_schedule(const schedule_request& r) {
  if (!r.dot.empty()) return report(wrong(r.graph, "takes no --dot"));
  if (r.csv) return report(wrong(r.graph, "takes no --format csv"));
  const bool of_all = r.sdf.what.form == sdf::form::any && r.sdf.what.memory == sdf::memory::shared;
  if (!r.certificate.empty() && !of_all)
    return report(wrong(r.graph, "takes no --certificate with --loops or --buffers: it proves bounds of shared memory"));
  const auto g = load_sdf(r.graph, r);
  if (!g) return report(g.error());
  const auto start = std::chrono::steady_clock::now();
  const auto s = solve(*find_scheduler(r.scheduler), g->graph, r.sdf.what, r);
  const double took = seconds_since(start);
  if (s.error) return report(wrong(r.graph, s.error->message));
  const json object = as_json(*g, r, s, took);
  const std::string text = r.json ? line_of(object) : as_text(*g, r, s, took);
  std::vector<output_file> files;
  if (!r.emit_c.empty()) {
    const auto where = layout_of(*g, r, s);
    if (!where) return report(wrong(r.graph, where.error().message));
    files.push_back({r.emit_c, sdf::to_c(g->graph, s.schedule, s.fills, *where)});
  }
  if (!r.svg.empty()) {
    auto svg = dataflow_svg(*g, r, s);
    if (!svg) return report(svg.error());
    files.push_back({r.svg, std::move(*svg)});
  }
  if (!r.certificate.empty()) {
    auto proven = certified(*g, s.schedule, s.lower_bound, r);
    if (!proven) return report(wrong(r.graph, proven.error().message));
    json with = object;
    with["certificate"] = std::move(*proven);
    files.push_back({r.certificate, line_of(with)});
  }
  return write_result(r.output, text, std::move(files), s.fits() ? done : over_budget);
}

namespace {

/// Other kinds of schedules.
struct dataflow_kind {
  const char* name;
  const char* option;
  sdf::form form;
  sdf::memory memory;
};
constexpr dataflow_kind other_kinds[] = {
    {"single appearance", " --loops single", sdf::form::single, sdf::memory::shared},
    {"flat", " --loops flat", sdf::form::flat, sdf::memory::shared},
    {"separate buffers", " --buffers separate", sdf::form::any, sdf::memory::separate},
};

sdf::options of_kind(sdf::options what, const dataflow_kind& k) {
  what.form = k.form, what.memory = k.memory;
  return what;
}

}  // namespace

int run_sdf_report(const schedule_request& r, const std::vector<std::string>& facts) {
  const auto g = load_sdf(r.graph, r);
  if (!g) return report(g.error());
  const std::string command = "memsched schedule " + shell_word(r.graph);
  std::vector<dataflow_choice> choices;
  std::string asked = command;
  for (const dataflow_kind& k : other_kinds)
    if (k.form == r.sdf.what.form && k.memory == r.sdf.what.memory) asked += k.option;
  choices.push_back({"the one shown", solve(*find_scheduler(r.scheduler), g->graph, r.sdf.what, r), asked});
  const sdf::schedule_result s = choices.front().found;
  if (s.error) return report(wrong(r.graph, s.error->message));
  for (const dataflow_kind& k : other_kinds)
    choices.push_back(
        {k.name, solve(*find_scheduler("automatic"), g->graph, of_kind(r.sdf.what, k), r), command + k.option});
  std::string text =
      r.output + ": " + g->name + ", peak " + grouped(s.peak) + ' ' + g->unit + ", lower bound " + grouped(s.lower_bound);
  if (r.options.budget != memsched::no_limit)
    text += ", budget " + grouped(r.options.budget) + (s.fits() ? " met" : " not met");
  if (const auto error = write_files({{r.output, dataflow_page(*g, r, s, choices, facts)}}); !error.message.empty())
    return report(error);
  tell(r.output, text + '\n');
  return s.fits() ? done : over_budget;
}

namespace {

std::string compared(const loaded_sdf& g, bool all, const request& r) {
  table rows({"schedule", "peak", "bound", "separate", "appearances", "verdict", "seconds"});
  const auto add = [&](const std::string& name, const named_scheduler& s, const sdf::options& what) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = solve(s, g.graph, what, r);
    const double took = seconds_since(start);
    if (result.error) return;
    rows.row({name, grouped(result.peak), grouped(result.lower_bound), grouped(result.separate),
              grouped(result.schedule.appearances()), result.optimal() ? "optimal" : "feasible", seconds(took)});
  };
  for (const auto& s : schedulers())
    if (s.role != memsched::scheduler_role::part || all) add(s.name, s, r.sdf.what);
  for (const dataflow_kind& k : other_kinds) add(k.name, *find_scheduler("automatic"), of_kind(r.sdf.what, k));
  return g.name + ": " + grouped(g.graph.actors()) + " actors, " + grouped(g.graph.firings()) + " firings, in " + g.unit +
         '\n' + rows.text();
}

}  // namespace

int run_sdf_compare(const compare_request& r) {
  if (r.format != "text") return report(wrong(r.graphs.front(), "takes no --format " + r.format));
  std::vector<loaded_sdf> loaded_graphs;
  for (const std::string& path : r.graphs) {
    if (!is_sdf(path, r.how)) return report(wrong(path, "is not compared together with .xml files"));
    auto g = load_sdf(path, r);
    if (!g) return report(g.error());
    loaded_graphs.push_back(std::move(*g));
  }
  std::string text;
  for (const loaded_sdf& g : loaded_graphs) text += (text.empty() ? "" : "\n") + compared(g, r.all, r);
  return write_result(r.output, text);
}

int run_sdf_inspect(const inspect_request& r) {
  const std::string& path = r.graph;
  const auto g = load_sdf(path, r);
  if (!g) return report(g.error());
  const sdf::graph& graph = g->graph;
  const auto all = sdf::costs(graph, r.options.default_firing, r.sdf.what.iterations);
  if (!all) return report(wrong(path, all.error().message));
  std::vector<index_t> part(graph.actors());
  for (index_t a = 0; a < part.size(); ++a) part[a] = a;
  const auto find = [&](index_t a) {
    while (part[a] != a) a = part[a] = part[part[a]];
    return a;
  };
  std::vector<std::pair<index_t, index_t>> follows;
  std::size_t loops = 0;
  for (const sdf::channel& c : graph.channels()) {
    part[find(c.from)] = find(c.to);
    if (c.from == c.to) ++loops;
    else follows.emplace_back(c.from, c.to);
  }
  std::size_t parts = 0;
  for (index_t a = 0; a < part.size(); ++a) parts += part[a] == a ? 1 : 0;
  index_t components = 0;
  const auto component = sdf::detail::components(memsched::adjacency::from_pairs(graph.actors(), follows), components);
  std::vector<std::size_t> members(components, 0);
  for (index_t k : component) ++members[k];
  const auto on_cycles = std::count_if(component.begin(), component.end(), [&](index_t k) { return members[k] > 1; });
  sdf::actor_rule_counts counts;
  const auto rest = sdf::compress(*all, {}, counts);

  table rows({"  actors", grouped(graph.actors())});
  rows.row({"  channels", grouped(graph.channels().size())});
  rows.row({"    self loops", grouped(loops)});
  rows.row({"  weakly connected parts", grouped(parts)});
  rows.row({"  actors on cycles", grouped(static_cast<bytes>(on_cycles))});
  rows.row({"  firings of an iteration", grouped(graph.firings())});
  rows.row({std::string("  initial tokens, ") + g->unit, grouped(graph.base())});
  rows.row({"  after compression: actors", grouped(rest.actors.size())});
  rows.row({"    firings", grouped(rest.firings())});
  rows.row({"    rules: T, R", grouped(counts.t) + ", " + grouped(counts.r)});
  rows.row({"    rules: C1, C2, S1, S2",
            grouped(counts.c1) + ", " + grouped(counts.c2) + ", " + grouped(counts.s1) + ", " + grouped(counts.s2)});
  rows.row({std::string("  lower bound, shared, ") + g->unit, grouped(sdf::shared_bound(graph, r.options.default_firing))});
  rows.row(
      {std::string("  lower bound, separate, ") + g->unit, grouped(sdf::separate_bound(graph, r.options.default_firing))});
  table actors({"  actor", "repetitions"});
  for (index_t a = 0; a < graph.actors(); ++a)
    actors.row({"  " + memsched::base::one_line(graph.actor_name(a), 100), grouped(graph.repetitions()[a])});
  std::string text = g->name + '\n' + rows.text() + '\n' + actors.text();
  if (r.format == "json") {
    const json j{{"version", 1},
                 {"graph", g->name},
                 {"kind", "sdf"},
                 {"unit", g->unit},
                 {"actors", graph.actors()},
                 {"channels", graph.channels().size()},
                 {"self_loops", loops},
                 {"parts", parts},
                 {"actors_on_cycles", on_cycles},
                 {"firings", graph.firings()},
                 {"initial", graph.base()},
                 {"compressed_actors", rest.actors.size()},
                 {"compressed_firings", rest.firings()},
                 {"repetitions", graph.repetitions()},
                 {"bounds",
                  {{"shared", sdf::shared_bound(graph, r.options.default_firing)},
                   {"separate", sdf::separate_bound(graph, r.options.default_firing)}}}};
    text = line_of(j);
  }
  return write_result(r.output, text);
}

}  // namespace cli
