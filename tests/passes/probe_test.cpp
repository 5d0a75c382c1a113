// Passes that add precedences: the optimum stays.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>

#include "support/small_graphs.hpp"

using namespace memsched;
using namespace support;

TEST_CASE("probe keeps the optimum in front of any exact scheduler") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 10});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      INFO("seed " << seed);
      for (const auto& r : {schedule(p, probe{} | compress{} | dp{}, o), schedule(p, probe{} | best_first{}, o),
                            schedule(p, divide{} | probe{} | compress{} | branch_and_bound{}, o)}) {
        REQUIRE(r.peak == optimum);
        REQUIRE(r.verdict() == verdict::optimal);
      }
      REQUIRE(schedule(p, probe{} | greedy{}, o).lower_bound <= optimum);
    }
}

TEST_CASE("probe saves states") {
  std::uint64_t plain = 0, probed = 0;  // signatures
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 24, .percent_inplace = 10});
    for (const statistics::step& s : schedule(p, compress{} | dp{}).stats.steps) plain += s.states;
    for (const statistics::step& s : schedule(p, probe{} | compress{} | dp{}).stats.steps) probed += s.states;
  }
  REQUIRE(probed < plain / 10);
}
