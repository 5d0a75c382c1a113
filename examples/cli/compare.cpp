#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "commands.hpp"
#include "declare.hpp"
#include "networks/networks.hpp"
#include "networks/typed.hpp"
#include "schedulers.hpp"
#include "sdf.hpp"
#include "session.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;

struct row {
  const named_scheduler* scheduler;
  memsched::schedule_result<memsched::op_id> result;
  double took;
};

/// One object a graph, on a line of its own.
std::string json_of(const loaded& graph, const std::vector<row>& rows, bytes bound) {
  using json = nlohmann::ordered_json;
  json j{{"version", 1}, {"graph", graph.name}, {"operators", graph.problem.ops().size()}, {"lower_bound", bound}};
  for (const row& row : rows)
    j["schedulers"].push_back({{"scheduler", row.scheduler->name},
                               {"peak", row.result.peak},
                               {"lower_bound", row.result.lower_bound},
                               {"status", row.result.peak == bound ? "optimal" : "feasible"},
                               {"seconds", row.took}});
  return line_of(j);
}

std::string csv_of(const loaded& graph, const std::vector<row>& rows) {
  std::string text;
  for (const row& row : rows)
    text += csv_field(graph.name) + ',' + std::to_string(graph.problem.ops().size()) + ',' + row.scheduler->name + ',' +
            std::to_string(row.result.peak) + ',' + std::to_string(row.result.lower_bound) + ',' + seconds(row.took) + '\n';
  return text;
}

bool stopped(const compare_request& r) { return r.options.stop.stop_requested(); }

/// All schedulers, or those that an interrupt left time for: one at least.
std::string compared(const loaded& graph, const compare_request& r) {
  std::vector<row> rows;
  bytes bound = 0, file_peak = 0;
  for (const auto& scheduler : schedulers()) {
    if (stopped(r) && !rows.empty()) break;
    if (scheduler.role == memsched::scheduler_role::part && !r.all) continue;
    enter_phase(graph.name + ", " + scheduler.name);
    const auto start = std::chrono::steady_clock::now();
    auto result = scheduler.run(graph.problem, r.options, r.knobs);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (result.error) continue;
    file_peak = result.given_peak;
    bound = std::max(bound, result.lower_bound);
    rows.push_back({&scheduler, std::move(result), took});
  }
  if (r.format == "json") return json_of(graph, rows, bound);
  if (r.format == "csv") return csv_of(graph, rows);
  std::string head = graph.name + ": " + std::to_string(graph.problem.ops().size()) +
                     " operators; the best bound known is " + in_bytes(bound) + "\n";
  table text({"scheduler", "peak", "of the file's", "of the bound", "own bound", "verdict", "seconds"});
  for (const row& row : rows) {
    const auto ratio = [&](bytes a, bytes b) {
      char cell[32];
      std::snprintf(cell, sizeof cell, "%.3f", b == 0 ? 1.0 : static_cast<double>(a) / static_cast<double>(b));
      return std::string(cell);
    };
    const char* verdict = row.result.peak == bound ? "optimal" : "feasible";
    text.row({std::string(row.scheduler->name), grouped(row.result.peak), ratio(row.result.peak, file_peak),
              ratio(row.result.peak, bound), grouped(row.result.lower_bound), verdict, seconds(row.took)});
  }
  return head + text.text();
}

}  // namespace

int run_compare(const compare_request& r) {
  const content holds = r.format == "csv" ? content::csv : r.format == "json" ? content::json : content::text;
  if (const auto error = check_outputs({asked_result(r.output, holds)}, r.graphs); !error.message.empty())
    return report(error);
  // All graphs are read first: bad input leaves nothing on standard output.
  std::vector<loaded> loaded_graphs;
  for (const std::string& path : r.graphs) {
    if (is_sdf(path, r.how)) return run_sdf_compare(r);
    if (const auto error = only_for_sdf(path, r); !error.message.empty()) return report(error);
    reading how = r.how;
    if (const std::string kind = kind_of(path, how); kind != ".onnx" && kind != ".tflite") how.shapes.clear();
    auto graph = load(path, how, scheduler_of("automatic", r));
    if (!graph) return report(graph.error());
    loaded_graphs.push_back(std::move(*graph));
  }
  std::string text = r.format == "csv" ? "graph,operators,scheduler,peak,lower_bound,seconds\n" : "";
  for (std::size_t i = 0; i < loaded_graphs.size() && (i == 0 || !stopped(r)); ++i) {
    if (i > 0 && r.format == "text") text += '\n';
    text += compared(loaded_graphs[i], r);
  }
  enter_phase("");
  return write_result(r.output, std::move(text));
}

int run_networks() {
  std::string text;
  for (const auto& n : networks::all()) {
    text += "builtin:" + (n.pattern.empty() ? n.name : n.pattern) + "\n    " + n.source + '\n';
    if (!n.published.empty()) text += "    published: " + n.published + '\n';
    if (n.optimum) text += "    optimum: " + grouped(*n.optimum) + " bytes\n";
  }
  text += "for `memsched rewrite`, which asks what operators compute:\n";
  for (const auto& n : networks::typed_networks()) text += std::string("builtin:") + n.name + "\n    " + n.what + '\n';
  print(text);
  return done;
}

command declare_compare() {
  const auto r = std::make_shared<compare_request>();
  command c("compare", "The schedulers on some graphs: peak, bound, verdict, seconds",
            "memsched compare builtin:nasnet-cifar");
  c.add("GRAPH", {"GRAPH", [r](const std::string& g) { return r->graphs.push_back(g), ""; }},
        "*.json, *.onnx, *.tflite, *.xml (synchronous dataflow, SDF3), or builtin:NAME (`memsched networks` lists them)")
      .required()
      .repeated();
  add_limits(c, *r, "10, for each scheduler");
  c.add("--all", flag(r->all), "also the schedulers that others are made of");
  add_parts_of_methods(c, *r);
  add_model(c, *r);
  c.in("Output");
  add_output(c, r->output, "write the table there, not to standard output (-)");
  add_format(c, r->format, "text|json|csv", "json: one object a graph and line; csv: one row a scheduler");
  add_dataflow(c, *r, true);
  return std::move(c.runs([r](const command& here, session& s) {
    r->format = format_of(here, r->format, r->output);
    prepare(here, *r, s, 10);
    return run_compare(*r);
  }));
}

command declare_networks() {
  command c("networks", "List the graphs that builtin:NAME makes", "memsched networks");
  return std::move(c.runs([](const command&, session&) { return run_networks(); }));
}

}  // namespace cli
