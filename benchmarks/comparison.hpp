// Tables of the default scheduler beside baselines.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <memsched/memsched.hpp>

#include "annealing.hpp"
#include "timing.hpp"

namespace comparison {

using namespace memsched;

inline const std::vector<double> limits{0.3, 5};  ///< seconds of the processor

inline void print_head() {
  std::printf(
      "Peaks in bytes: of greedy, of the post-order, of simulated annealing for %g s, of the default at each limit with its\n"
      "bound, gap and seconds of the processor.\n\n%-40s %7s %12s %12s %12s",
      limits.back(), "", "nodes", "greedy", "rpo", "annealing");
  for (double limit : limits) std::printf(" | %11.1f s %12s %7s %6s", limit, "bound", "gap %", "s");
  std::printf("\n");
}

/// Graphs that are not proven at the last limit.
struct tally {
  int graphs = 0, open = 0;
  double widest = 0;  ///< gap in %
};

inline void print_row(const std::string& name, const problem& p, tally& all) {
  const auto rpo_order = schedule(p, rpo{});
  std::printf("%-40s %7zu %12llu %12llu", name.c_str(), p.ops().size(),
              static_cast<unsigned long long>(schedule(p, greedy{}).peak), static_cast<unsigned long long>(rpo_order.peak));
  std::printf(" %12llu", static_cast<unsigned long long>(annealing::search(p, rpo_order.order, 1).run(limits.back())));
  double gap = 0;
  for (double limit : limits) {
    const auto start = timing::clock_type::now();
    const auto r = schedule(p, {.time_limit = timing::nanoseconds(limit)});
    gap = 100 * (static_cast<double>(r.peak) / static_cast<double>(std::max<bytes>(1, r.lower_bound)) - 1);
    std::printf(" | %13llu %12llu %7.2f %6.2f", static_cast<unsigned long long>(r.peak),
                static_cast<unsigned long long>(r.lower_bound), gap, timing::seconds_since(start));
  }
  std::printf("\n");
  std::fflush(stdout);
  ++all.graphs, all.open += gap > 0;
  all.widest = std::max(all.widest, gap);
}

inline void print_tally(const tally& all) {
  std::printf("\n%d of %d open at %g s, the widest gap %.1f %%\n", all.open, all.graphs, limits.back(), all.widest);
}

}  // namespace comparison
