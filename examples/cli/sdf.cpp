#include "sdf.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memsched/formats/sdf3.hpp>
#include <memsched/sdf/c_code.hpp>
#include <memsched/sdf/schedule.hpp>
#include <nlohmann/json.hpp>

#include "schedulers.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;
using memsched::graph_error;
using memsched::index_t;
namespace sdf = memsched::sdf;
using json = nlohmann::ordered_json;

struct loaded_sdf {
  std::string name;
  sdf::graph graph;
  const char* unit;
};

graph_error located(const std::string& path, const std::string& reason) {
  return {memsched::error_code::bad_input, path + ": " + memsched::one_line(reason, 4000), {}, {}};
}

memsched::result<loaded_sdf> load_sdf(const std::string& path, const request& r) {
  if (!r.how.shapes.empty()) return located(path, "takes no --shape, which is for .onnx and .tflite files");
  const auto file = read_file(path);
  if (!file) return file.error();
  auto g = memsched::read_sdf3(file->view(), {.token_size = r.sdf.token_size});
  if (!g) return located(path, g.error().message);
  std::string name = g->name.empty() ? std::filesystem::path(path).stem().string() : memsched::one_line(g->name);
  return loaded_sdf{std::move(name), std::move(g->graph), g->sized ? "bytes" : "tokens"};
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

sdf::schedule_result solve(const named_scheduler& s, const sdf::graph& g, const sdf::options& what, const request& r) {
  return s.run_sdf(g, what, r.options, r.knobs);
}

const named_scheduler& scheduler_of(const std::string& name) {
  return *std::find_if(schedulers().begin(), schedulers().end(), [&](const auto& s) { return s.name == name; });
}

const char* firing_name(const request& r) { return r.options.default_firing == memsched::firing::cbp ? "cbp" : "pbc"; }

std::string text_of(const loaded_sdf& g, const sdf::loops& l) {
  return l.text([&](index_t a) { return memsched::one_line(g.graph.actor_name(a), 100); });
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
  else if (s.stopped != memsched::stop_reason::finished) text += std::string(": stopped by the ") + to_string(s.stopped);
  text += "\nseparate     " + grouped(s.separate) + unit + " where each channel has its own memory; ";
  text += s.separate == s.separate_bound ? "optimal: no iteration takes less"
                                         : "no iteration takes less than " + grouped(s.separate_bound);
  if (r.options.budget != memsched::no_limit)
    text += "\nbudget       " + grouped(r.options.budget) + unit + (s.fits() ? ": met" : ": not met") +
            (s.bound() > r.options.budget ? "; no schedule can meet it" : "");
  text += "\nschedule     " + text_of(g, s.schedule) + "\n             " + grouped(s.schedule.appearances()) +
          " appearances of " + grouped(g.graph.actors()) + " actors\n";
  text += "took         " + seconds(took) + " s, " + grouped(s.left) + " firings left to order behind compression\n";
  return text;
}

/// A schedule as `as_json` writes it; an empty message where it is one.
graph_error read_loops(const json& list, const std::string& place, unsigned depth, sdf::loops& into) {
  constexpr unsigned deepest = 1000;
  if (!list.is_array() || depth > deepest) return located(place, "must be a list, at most 1000 deep");
  const auto number = [](const json& j) { return j.is_number_unsigned() && j.get<bytes>() > 0; };
  for (std::size_t i = depth == 0 ? 0 : 1; i < list.size(); ++i) {
    const json& item = list[i];
    if (item.is_number_unsigned() && item.get<bytes>() < memsched::none) {
      into.fire(item.get<index_t>());
      continue;
    }
    const std::string here = depth == 0 ? place + "[" + std::to_string(i) + "]" : place;
    if (!item.is_array() || item.size() < 2 || !number(item[0]))
      return located(here, "must be an actor's index or [count, item, ...]");
    if (item.size() == 2 && item[1].is_number_unsigned() && item[1].get<bytes>() < memsched::none) {
      into.fire(item[1].get<index_t>(), item[0].get<bytes>());
      continue;
    }
    into.open(item[0].get<bytes>());
    if (auto e = read_loops(item, here, depth + 1, into); !e.message.empty()) return e;
    into.close();
  }
  return {};
}

}  // namespace

bool is_sdf(const std::string& path, const reading& how) { return kind_of(path, how) == ".xml"; }

graph_error only_for_sdf(const std::string& path, const request& r) {
  if (r.sdf.given.empty()) return {};
  return located(path, "takes no " + r.sdf.given + ", which is for .xml files");
}

int run_sdf_schedule(const schedule_request& r) {
  for (const auto& [option, file] : {std::pair("--svg", &r.svg), std::pair("--certificate", &r.certificate)})
    if (!file->empty()) return report(located(r.graph, std::string("takes no ") + option));
  const auto g = load_sdf(r.graph, r);
  if (!g) return report(g.error());
  const auto start = std::chrono::steady_clock::now();
  const auto s = solve(scheduler_of(r.scheduler), g->graph, r.sdf.what, r);
  const double took = seconds_since(start);
  if (s.error) return report(located(r.graph, s.error->message));
  const std::string text =
      r.json ? as_json(*g, r, s, took).dump(-1, ' ', false, json::error_handler_t::replace) + '\n' : as_text(*g, r, s, took);
  std::vector<output_file> files;
  if (!r.emit_c.empty()) {
    const bool apart = r.sdf.what.memory == sdf::memory::separate;
    const sdf::layout where =
        apart ? sdf::separate_layout(g->graph, s.fills) : sdf::shared_layout(g->graph, s.schedule, s.fills);
    files.push_back({r.emit_c, sdf::to_c(g->graph, s.schedule, s.fills, where)});
  }
  if (!r.output.empty()) files.push_back({r.output, text});
  if (const auto error = write_files(files); !error.message.empty()) return report(error);
  if (r.output.empty()) std::fwrite(text.data(), 1, text.size(), stdout);
  return s.fits() ? done : over_budget;
}

namespace {

void compare_one(const loaded_sdf& g, bool all, const request& r) {
  table rows({"schedule", "peak", "bound", "separate", "appearances", "verdict", "seconds"});
  const auto add = [&](const std::string& name, const named_scheduler& s, const sdf::options& what) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = solve(s, g.graph, what, r);
    const double took = seconds_since(start);
    if (result.error) return;
    rows.row({name, grouped(result.peak), grouped(result.lower_bound), grouped(result.separate),
              grouped(result.schedule.appearances()), result.optimal() ? "optimal" : "feasible", seconds(took)});
  };
  sdf::options what = r.sdf.what;
  for (const auto& s : schedulers())
    if (s.role != memsched::scheduler_role::part || all) add(s.name, s, what);
  what.form = sdf::form::single;
  add("single appearance", scheduler_of("optimal"), what);
  what.form = sdf::form::flat;
  add("flat", scheduler_of("optimal"), what);
  what.form = sdf::form::any;
  what.memory = sdf::memory::separate;
  add("separate buffers", scheduler_of("optimal"), what);
  std::printf("%s: %s actors, %s firings, in %s\n%s", g.name.c_str(), grouped(g.graph.actors()).c_str(),
              grouped(g.graph.firings()).c_str(), g.unit, rows.text().c_str());
}

}  // namespace

int run_sdf_compare(const std::vector<std::string>& graphs, bool all, const request& r) {
  std::vector<loaded_sdf> loaded_graphs;
  for (const std::string& path : graphs) {
    if (!is_sdf(path, r.how)) return report(located(path, "is not compared together with .xml files"));
    auto g = load_sdf(path, r);
    if (!g) return report(g.error());
    loaded_graphs.push_back(std::move(*g));
  }
  for (std::size_t i = 0; i < loaded_graphs.size(); ++i) {
    if (i > 0) std::fputs("\n", stdout);
    compare_one(loaded_graphs[i], all, r);
  }
  return done;
}

int run_sdf_inspect(const std::string& path, const request& r) {
  const auto g = load_sdf(path, r);
  if (!g) return report(g.error());
  const sdf::graph& graph = g->graph;
  const auto all = sdf::costs(graph, r.options.default_firing, r.sdf.what.iterations);
  if (!all) return report(located(path, all.error().message));
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
  const auto component =
      sdf::detail::components(memsched::adjacency::from_pairs(graph.actors(), follows), components);
  std::vector<std::size_t> members(components, 0);
  for (index_t k : component) ++members[k];
  const auto on_cycles = std::count_if(component.begin(), component.end(), [&](index_t k) { return members[k] > 1; });
  sdf::actor_rule_counts counts;
  const auto rest = sdf::compress(*all, {}, counts);

  std::printf("%s\n", g->name.c_str());
  table rows({"  actors", grouped(graph.actors())});
  rows.row({"  channels", grouped(graph.channels().size())});
  rows.row({"    self loops", grouped(loops)});
  rows.row({"  weakly connected parts", grouped(parts)});
  rows.row({"  actors on cycles", grouped(static_cast<bytes>(on_cycles))});
  rows.row({"  firings of an iteration", grouped(graph.firings())});
  rows.row({std::string("  initial tokens, ") + g->unit, grouped(graph.base())});
  rows.row({"  behind compression: actors", grouped(rest.actors.size())});
  rows.row({"    firings", grouped(rest.firings())});
  rows.row({"    rules: T, R", grouped(counts.t) + ", " + grouped(counts.r)});
  rows.row({"    rules: C1, C2, S1, S2",
            grouped(counts.c1) + ", " + grouped(counts.c2) + ", " + grouped(counts.s1) + ", " + grouped(counts.s2)});
  rows.row({std::string("  lower bound, shared, ") + g->unit, grouped(sdf::shared_bound(graph, r.options.default_firing))});
  rows.row(
      {std::string("  lower bound, separate, ") + g->unit, grouped(sdf::separate_bound(graph, r.options.default_firing))});
  std::fputs(rows.text().c_str(), stdout);
  std::printf("\n");
  table actors({"  actor", "repetitions"});
  for (index_t a = 0; a < graph.actors(); ++a)
    actors.row({"  " + memsched::one_line(graph.actor_name(a), 100), grouped(graph.repetitions()[a])});
  std::fputs(actors.text().c_str(), stdout);
  return done;
}

int run_sdf_verify(const std::string& path, const std::string& result, const request& r) {
  const auto g = load_sdf(path, r);
  if (!g) return report(g.error());
  const auto file = read_file(result);
  if (!file) return report(file.error());
  const json j = json::parse(file->view(), nullptr, false);
  if (!j.is_object()) return report(located(result, "is no JSON object"));
  if (j.value("kind", json()) != "sdf" || !j.contains("schedule"))
    return report(located(result, "is no schedule of synchronous dataflow: no \"kind\": \"sdf\" with a \"schedule\""));
  sdf::loops schedule;
  if (const auto e = read_loops(j["schedule"], result + ": schedule", 0, schedule); !e.message.empty()) return report(e);
  const auto rule = j.value("firing", json(firing_name(r)));
  if (rule != "pbc" && rule != "cbp") return report(located(result, "firing: must be \"pbc\" or \"cbp\""));
  const auto run = sdf::replay(g->graph, schedule, rule == "cbp" ? memsched::firing::cbp : memsched::firing::pbc);
  if (!run) return report(located(result, "schedule: " + run.error().message));
  const auto claim = [&](const char* key, bytes is) -> graph_error {
    const auto at = j.find(key);
    if (at == j.end() || !at->is_number_unsigned())
      return located(result, std::string(key) + ": must be a whole number, 0 or more");
    if (*at != is) return located(result, std::string(key) + ": says " + grouped(*at) + ", but it is " + grouped(is));
    return {};
  };
  for (const auto& [key, is] : {std::pair("peak", run->peak), std::pair("separate", run->separate),
                                std::pair("iterations", run->iterations)})
    if (const auto e = claim(key, is); !e.message.empty()) return report(e);
  if (const auto bound = j.find("lower_bound"); bound != j.end() && (!bound->is_number_unsigned() || *bound > run->peak))
    return report(located(result, "lower_bound: is above the peak, " + grouped(run->peak)));
  std::printf("%s: a valid schedule of %s with a peak of %s %s, as it says. Its bound is a claim that is not checked.\n",
              result.c_str(), g->name.c_str(), grouped(run->peak).c_str(), g->unit);
  return done;
}

}  // namespace cli
