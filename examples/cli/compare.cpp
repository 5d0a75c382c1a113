#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "commands.hpp"
#include "networks/networks.hpp"
#include "schedulers.hpp"
#include "sdf.hpp"
#include "text.hpp"

namespace cli {

namespace {

using memsched::bytes;

void compare_one(const loaded& graph, const request& r, bool all) {
  struct row {
    const named_scheduler* scheduler;
    memsched::schedule_result<memsched::op_id> result;
    double took;
  };
  std::vector<row> rows;
  bytes bound = 0, file_peak = 0;
  for (const auto& scheduler : schedulers()) {
    if (scheduler.role == memsched::scheduler_role::part && !all) continue;
    const auto start = std::chrono::steady_clock::now();
    auto result = scheduler.run(graph.problem, r.options, r.knobs);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (result.error) continue;
    if (scheduler.name == "file") file_peak = result.peak;
    bound = std::max(bound, result.lower_bound);
    rows.push_back({&scheduler, std::move(result), took});
  }
  std::printf("%s: %zu operators; the best bound known is %s bytes (%s)\n", graph.name.c_str(), graph.problem.ops().size(),
              grouped(bound).c_str(), scaled(bound).c_str());
  table text({"scheduler", "peak", "of file", "above bound", "own bound", "verdict", "seconds"});
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
  std::fputs(text.text().c_str(), stdout);
}

}  // namespace

int run_compare(const std::vector<std::string>& graphs, bool all, const request& r) {
  // All graphs are read first: bad input leaves nothing on standard output.
  std::vector<loaded> loaded_graphs;
  for (const std::string& path : graphs) {
    if (is_sdf(path)) return run_sdf_compare(graphs, all, r);
    if (const auto error = only_for_sdf(path, r); !error.message.empty()) return report(error);
    reading how = r.how;
    if (!path.ends_with(".onnx") && !path.ends_with(".tflite")) how.shapes.clear();
    auto graph = load(path, how, scheduler_of("optimal", r));
    if (!graph) return report(graph.error());
    loaded_graphs.push_back(std::move(*graph));
  }
  for (std::size_t i = 0; i < loaded_graphs.size(); ++i) {
    if (i > 0) std::fputs("\n", stdout);
    compare_one(loaded_graphs[i], r, all);
  }
  return done;
}

int run_networks() {
  for (const auto& n : networks::all()) {
    std::printf("builtin:%s\n    %s\n", (n.pattern.empty() ? n.name : n.pattern).c_str(), n.source.c_str());
    if (!n.published.empty()) std::printf("    published: %s\n", n.published.c_str());
    if (n.optimum) std::printf("    optimum: %s bytes\n", grouped(*n.optimum).c_str());
  }
  return done;
}

}  // namespace cli
