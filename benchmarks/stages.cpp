// Gains by each stage of the default scheduler: families of graphs with and without it, at one limit of time. For each
// family the geometric means of peak, bound and time against those of all stages; a stage that gains nothing anywhere should
// go. Seconds are of the processor, so that other processes do not blur them. Usage: bench_stages [SECONDS=1] [FAMILY or
// STAGE...]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memsched/schedule.hpp>
#include <networks/networks.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "families.hpp"
#include "graph_files.hpp"
#include "processor_clock.hpp"
#include "row_graphs.hpp"
#include "support/side_by_side.hpp"
#include "timing.hpp"

namespace {

using namespace memsched;

struct named_problem {
  std::string name;
  problem graph;
};
struct family_of_graphs {
  std::string name;
  std::vector<named_problem> graphs;
};

/// A graph by its name; "twice:NAME" for two copies of one.
problem_draft draft_of(const std::string& name) {
  if (const std::string prefix = "twice:"; name.starts_with(prefix)) {
    const std::vector<problem_draft> copies(2, draft_of(name.substr(prefix.size())));
    return support::side_by_side(copies);
  }
  auto draft = families::make(name);
  return draft ? std::move(*draft) : networks::make(name).value();
}

family_of_graphs by_name(const char* family, const std::vector<std::string>& names) {
  family_of_graphs f{family, {}};
  for (const std::string& name : names) f.graphs.push_back({name, make_problem(draft_of(name)).value()});
  return f;
}

std::vector<family_of_graphs> all_families() {
  std::vector<family_of_graphs> all;
  all.push_back(by_name("networks", {"swiftnet", "nasnet-cifar", "nasnet-imagenet", "amoebanet-cifar", "darts-imagenet",
                                     "hrnet-w32", "randwire", "randwire-stack:1", "randwire-stack:2"}));
  all.push_back(by_name("windowed", {"windowed:150:30:1", "windowed:300:30:1", "windowed:300:100:1", "windowed:300:100:2",
                                     "windowed:1000:30:1", "windowed:4000:50:1", "windowed:20000:30:1"}));
  all.push_back(by_name("layered", {"layered:20:10:1", "layered:30:30:1", "layered:100:8:1", "layered:2500:8:1"}));
  all.push_back(by_name("watts-strogatz", {"watts_strogatz:100:1", "watts_strogatz:300:1", "watts_strogatz:300:2"}));
  all.push_back(by_name("practical", {"stencil:48:48", "stencil2d:12:8", "pyramid:50", "cholesky:20", "lu:16", "fft:7",
                                      "strassen:3", "messages:50:10:1", "training:24:1"}));
  all.push_back(by_name("copies", {"twice:nasnet-cifar", "twice:randwire-stack:2", "twice:windowed:150:30:1",
                                   "twice:windowed:300:30:1", "twice:layered:20:10:1", "twice:layered:100:8:1"}));
  family_of_graphs rows{"rows", {}};
  for (const row_graph& r : row_graphs()) rows.graphs.push_back({r.name, problem_of(r)});
  all.push_back(std::move(rows));
  family_of_graphs hyperdag{"hyperdag", {}};
  for (const auto& file : graph_files::files_of(graph_files::hyperdag()))
    hyperdag.graphs.push_back({file.stem().string(), graph_files::read(file).value()});
  if (!hyperdag.graphs.empty()) all.push_back(std::move(hyperdag));
  return all;
}

struct figures {
  double peak = 0, bound = 0, seconds = 0;  // sums of logarithms
  int proven = 0;
};

figures run(const family_of_graphs& f, std::string_view without, double limit) {
  figures sum;
  for (const named_problem& p : f.graphs) {
    const auto start = std::chrono::steady_clock::now();
    const auto r = schedule(p.graph, automatic_scheduler{.without = without}, {.time_limit = timing::nanoseconds(limit)});
    sum.seconds += std::log(std::max(1e-4, timing::seconds_since(start)));
    sum.peak += std::log(static_cast<double>(std::max<bytes>(1, r.peak)));
    sum.bound += std::log(static_cast<double>(std::max<bytes>(1, r.lower_bound)));
    sum.proven += r.verdict() == verdict::optimal;
  }
  return sum;
}

bool has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

int main(int count, char** arguments) {
  double limit = 1;
  std::vector<std::string_view> stages = automatic_scheduler::stages(), wanted, wanted_stages;
  for (int i = 1; i < count; ++i)
    if (const double seconds = std::atof(arguments[i]); seconds > 0) limit = seconds;
    else (has(stages, arguments[i]) ? wanted_stages : wanted).push_back(arguments[i]);
  if (!wanted_stages.empty()) stages = wanted_stages;
  std::printf(
      "without a stage, against all: peak and bound in %%, time as a ratio, proven graphs; %.2f s of the processor each\n\n",
      limit);
  for (const family_of_graphs& f : all_families()) {
    if (!wanted.empty() && !has(wanted, f.name)) continue;
    const figures all = run(f, "", limit);
    const auto n = static_cast<double>(f.graphs.size());
    std::printf("%-16s all stages: %d of %zu proven\n", f.name.c_str(), all.proven, f.graphs.size());
    for (const std::string_view stage : stages) {
      const figures less = run(f, stage, limit);
      const auto percent = [&](double with, double without) { return 100 * (std::exp((without - with) / n) - 1); };
      std::printf("  %-12s peak %+6.2f %%  bound %+6.2f %%  time %5.2f  proven %d\n", std::string(stage).c_str(),
                  percent(all.peak, less.peak), percent(all.bound, less.bound), std::exp((less.seconds - all.seconds) / n),
                  less.proven);
      std::fflush(stdout);
    }
  }
}
