// The peak that the default scheduler reaches by a deadline, beside the peaks of others: at every deadline it shall be no
// worse than the best of them. One thread. Usage: bench_anytime [SECONDS | NAME]...: the deadlines, and how the names of
// graphs begin; without, all of them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <string>
#include <vector>

#include "timing.hpp"

namespace {

using namespace memsched;

struct outcome {
  bytes peak, bound;
  double seconds;
};

template <class Policy>
outcome run(const problem& p, const Policy& policy, double seconds) {
  const options o{.time_limit = timing::nanoseconds(seconds)};
  const auto start = std::chrono::steady_clock::now();
  const auto s = schedule(p, policy, o);
  return {s.peak, s.lower_bound, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<double> deadlines;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i)
    if (const double seconds = std::atof(argv[i]); seconds > 0) deadlines.push_back(seconds);
    else names.push_back(argv[i]);
  if (deadlines.empty()) deadlines = {0.05, 0.3, 1, 5, 30};
  const std::vector<std::string> graphs = {
      "windowed:50:20:1",   "windowed:150:30:1",  "windowed:300:40:1",   "windowed:1000:30:1",   "windowed:2000:30:1",
      "windowed:4000:50:1", "windowed:8000:30:1", "windowed:20000:30:1", "layered:15:10:1",      "layered:30:30:1",
      "layered:250:8:1",    "layered:2500:8:1",   "watts_strogatz:40:1", "watts_strogatz:300:1", "series_parallel:2000:1",
      "chain:20000:1",      "star:300:1",
  };
  std::printf("%-24s %8s %10s %10s %8s | %10s %10s %10s %10s %10s %10s %s\n", "graph", "deadline", "automatic", "bound",
              "seconds", "beam", "local", "b_and_b", "fradet", "serenity", "hmcos", "");
  int worse = 0, late = 0;
  for (const double deadline : deadlines)
    for (const std::string& name : graphs) {
      const auto begins_so = [&](const std::string& begin) { return name.starts_with(begin); };
      if (!names.empty() && std::none_of(names.begin(), names.end(), begins_so)) continue;
      const problem p = make_problem(networks::make(name).value()).value();
      const outcome own = run(p, automatic, deadline);
      const bytes others[] = {
          run(p, beam{}, deadline).peak, run(p, local_search{}, deadline).peak, run(p, branch_and_bound{}, deadline).peak,
          run(p, fradet, deadline).peak, run(p, serenity{}, deadline).peak,     run(p, hmcos, deadline).peak};
      std::printf("%-24s %8.2f %10llu %10llu %8.2f |", name.c_str(), deadline, static_cast<unsigned long long>(own.peak),
                  static_cast<unsigned long long>(own.bound), own.seconds);
      for (const bytes peak : others) std::printf(" %10llu", static_cast<unsigned long long>(peak));
      const bool is_worse = own.peak > *std::min_element(std::begin(others), std::end(others));
      const bool is_late = own.seconds > 1.1 * deadline + 0.02;
      std::printf(" %s%s\n", is_worse ? "worse " : "", is_late ? "late" : "");
      std::fflush(stdout);
      worse += is_worse, late += is_late;
    }
  std::printf("%d worse, %d late\n", worse, late);
}
