// Graphs of ten thousand to a million operators: the peak and the bound of the default scheduler after ten seconds, on one
// thread. The goals are written beside: the best peak known, and the gap that is asked for. Usage: bench_scale
// [SECONDS [NAME]], where only rows whose name begins so are run.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "timing.hpp"

namespace {

using namespace memsched;

/// Operator i reads two of the last 2 * width at random, from the width-th on; sizes 1 to 1000; the last is the output.
problem strands(std::uint64_t operators, std::uint64_t width) {
  std::mt19937_64 random(1);
  problem_builder b;
  std::vector<tensor_id> made;
  for (std::uint64_t i = 0; i < operators; ++i) {
    std::vector<tensor_id> reads;
    if (i >= width) {
      const std::uint64_t low = i > 2 * width ? i - 2 * width : 0;
      for (int k = 0; k < 2; ++k) reads.push_back(made[low + random() % (i - low)]);
    }
    made.push_back(b.tensor(1 + random() % 1000));
    b.op({.reads = std::move(reads), .writes = {made.back()}});
  }
  b.output(made.back());
  return b.build().value();
}

struct row {
  std::string name;
  bytes best;        ///< known; 0 where none is
  double asked_gap;  ///< percent
};

problem make(const std::string& name) {
  unsigned long operators = 0, width = 0;
  if (std::sscanf(name.c_str(), "strands:%lu:%lu", &operators, &width) == 2) return strands(operators, width);
  return make_problem(networks::make(name).value()).value();
}

}  // namespace

int main(int argc, char** argv) {
  const double limit = argc > 1 ? std::atof(argv[1]) : 10;
  const std::string_view only = argc > 2 ? argv[2] : "";
  const std::vector<row> rows = {
      {"strands:10000:8", 0, 0},          {"strands:100000:8", 0, 0},       {"strands:1000000:8", 0, 0},
      {"strands:10000:16", 10717, 0},     {"strands:100000:16", 10719, 0},  {"strands:1000000:16", 11978, 2},
      {"strands:10000:32", 17089, 1},     {"strands:10000:64", 27444, 10},  {"windowed:10000:16:1", 913, 0},
      {"windowed:1000000:16:1", 1034, 0}, {"windowed:10000:64:1", 1988, 4}, {"layered:1250:8:1", 662, 0},
      {"layered:160:64:1", 3126, 1.5},    {"windowed:2000:30:1", 1102, 3},  {"windowed:4000:50:1", 1611, 3},
      {"windowed:8000:30:1", 1168, 3},
  };
  std::printf("limit %.1f s\n%-24s %10s %10s %8s %8s %8s %10s\n", limit, "graph", "peak", "bound", "gap", "asked", "seconds",
              "best known");
  for (const row& r : rows) {
    if (!std::string_view(r.name).starts_with(only)) continue;
    const problem p = make(r.name);
    const options o{.time_limit = timing::nanoseconds(limit)};
    const auto start = std::chrono::steady_clock::now();
    const auto s = schedule(p, automatic, o);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double gap = 100 * (1 - static_cast<double>(s.lower_bound) / static_cast<double>(s.peak));
    std::printf("%-24s %10llu %10llu %7.2f%% %7.2f%% %8.2f ", r.name.c_str(), static_cast<unsigned long long>(s.peak),
                static_cast<unsigned long long>(s.lower_bound), gap, r.asked_gap, seconds);
    r.best == 0 ? std::printf("%10s\n", "-") : std::printf("%10llu\n", static_cast<unsigned long long>(r.best));
    std::fflush(stdout);
  }
}
