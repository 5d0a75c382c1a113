// Graphs that nobody expects to be solved: how close bound and order come within a limit of time.
// usage: bench_hard [SEEDS=2] [--long] [--threads N]   SEEDS: 1 to 5; --long: a limit of 60 s too
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memsched/schedule.hpp>
#include <networks/networks.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "row_graphs.hpp"
#include "timing.hpp"

namespace {

using clock = std::chrono::steady_clock;

using timing::processor_seconds;

void print_row(const std::string& name, const memsched::problem& p, double limit, unsigned threads) {
  memsched::options o;
  o.time_limit = timing::nanoseconds(limit);
  o.threads = threads;
  const double before = processor_seconds();
  const auto start = clock::now();
  const auto r = memsched::schedule(p, memsched::automatic, o);
  const double took = std::chrono::duration<double>(clock::now() - start).count();
  const double gap = r.peak == 0 ? 0 : 100 * static_cast<double>(r.peak - r.lower_bound) / static_cast<double>(r.peak);
  std::printf("%-25s %5zu %4.0f | %9llu %9llu %6.2f %-9s %-11s | %8.3f %8.3f %7.2f %7.0f\n", name.c_str(), p.ops().size(),
              limit, static_cast<unsigned long long>(r.peak), static_cast<unsigned long long>(r.lower_bound), gap,
              to_string(r.verdict()), to_string(r.stopped), took, processor_seconds() - before,
              std::max(0.0, 100 * (took / limit - 1)), timing::peak_bytes() / 1e6);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  int seeds = 2;
  unsigned threads = 1;
  std::vector<double> limits = {1, 10};
  for (int i = 1; i < count; ++i) {
    if (std::string_view(arguments[i]) == "--long") limits.push_back(60);
    else if (std::string_view(arguments[i]) == "--threads" && i + 1 < count)
      threads = std::max(1U, static_cast<unsigned>(std::atoi(arguments[++i])));
    else seeds = std::clamp(std::atoi(arguments[i]), 1, 5);
  }
  std::printf(
      "`automatic` under a limit of time. Gap: (peak - bound) / peak. Overshoot: time beyond the limit. Memory: peak "
      "resident\nmemory of the process so far.\n\n"
      "%-25s %5s %4s | %9s %9s %6s %-9s %-11s | %8s %8s %7s %7s\n",
      "", "ops", "s", "peak", "bound", "gap %", "verdict", "stopped by", "seconds", "of CPU", "over %", "MB");
  for (const double limit : limits)
    for (const char* family : {"windowed:300:12", "windowed:300:30", "windowed:300:60", "windowed:300:100",
                               "windowed:1000:30", "watts_strogatz:100", "watts_strogatz:300", "randwire-stack"})
      for (int seed = 1; seed <= seeds; ++seed) {
        const std::string name = std::string(family) + ':' + std::to_string(seed);
        print_row(name, memsched::make_problem(networks::make(name).value()).value(), limit, threads);
      }
  std::puts("\nRow blocks, as `memsched rewrite` makes them:");
  for (const double limit : limits)
    if (limit >= 10)
      for (const row_graph& r : row_graphs()) print_row(r.name, problem_of(r), limit, threads);
}
