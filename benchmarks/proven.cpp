// Counts the graphs of moderate size that each exact scheduler proves within a limit of time. One thread.
// usage: bench_proven [PER_ROW=3] [LIMIT=1] [NAME...]   graphs of each row, seconds for each, schedulers (all);
//   17 and 10 make the table of 204 graphs
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memsched/ilp/ilp.hpp>
#include <memsched/ilp/solvers/cbc.hpp>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <string>
#include <vector>

#include "timing.hpp"

namespace {

using namespace memsched;

struct contender {
  const char* name;
  schedule_result<op_id> (*run)(const problem&, const options&);
};

template <auto make>
schedule_result<op_id> run(const problem& p, const options& o) {
  return schedule(p, make(), o);
}

const std::vector<contender> all_contenders = {
    {"dp", run<[] { return dp{}; }>},
    {"probe|compress|dp", run<[] { return probe{} | compress{} | dp{}; }>},
    {"branch_and_bound", run<[] { return branch_and_bound{}; }>},
    {"fradet", run<[] { return fradet; }>},
    {"ilp", run<[] { return compress{} | ilp<cbc>{}; }>},
    {"best_first", run<[] { return best_first{}; }>},
    {"optimal", run<[] { return automatic; }>},
};

}  // namespace

int main(int count, char** arguments) {
  const int graphs = count > 1 ? std::atoi(arguments[1]) : 3;
  const double limit = count > 2 ? std::atof(arguments[2]) : 1;
  std::vector<contender> contenders;
  for (const contender& c : all_contenders)
    if (count <= 3 || std::find(arguments + 3, arguments + count, std::string(c.name)) != arguments + count)
      contenders.push_back(c);
  std::printf("Graphs proven within %g s / within a tenth of that, of %d in each row.\n\n%-22s", limit, graphs, "");
  for (const contender& c : contenders) std::printf(" %18s", c.name);
  std::printf("\n");
  std::vector<int> sum(contenders.size()), quick_sum(contenders.size());
  for (const char* family :
       {"series_parallel:50", "series_parallel:100", "series_parallel:200", "layered:10:5", "layered:10:10", "layered:20:10",
        "layered:10:20", "windowed:50:10", "windowed:100:10", "windowed:100:20", "windowed:150:30", "windowed:200:40"}) {
    std::printf("%-22s", family);
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      int proven = 0, quickly = 0;
      for (int seed = 1; seed <= graphs; ++seed) {
        const problem p = make_problem(networks::make(std::string(family) + ':' + std::to_string(seed)).value()).value();
        options o;
        o.time_limit = timing::nanoseconds(limit);
        const auto start = std::chrono::steady_clock::now();
        const auto r = contenders[i].run(p, o);
        const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (r.verdict() != verdict::optimal) continue;
        ++proven;
        quickly += took <= limit / 10;
      }
      std::printf("          %4d /%4d", proven, quickly);
      std::fflush(stdout);
      sum[i] += proven;
      quick_sum[i] += quickly;
    }
    std::printf("\n");
  }
  std::printf("%-22s", "all");
  for (std::size_t i = 0; i < contenders.size(); ++i) std::printf("          %4d /%4d", sum[i], quick_sum[i]);
  std::printf("\n");
}
