// Laws of best-first search that is cut short and goes on.
#include <catch2/catch.hpp>
#include <memsched/memsched.hpp>
#include <memsched/schedulers/best_first.hpp>

#include "fuzz/claims/oracle.hpp"
#include "support/random_problem.hpp"
#include "support/random_sums.hpp"
#include "support/seeds.hpp"

using namespace memsched;

TEST_CASE(
    "best-first search that goes on from limit to limit, below falling peaks, finds the optimum or refutes all below") {
  std::size_t found_late = 0, refuted_late = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(20000); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const schedule_graph g = r.chance(50)
                                 ? support::random_costs_of_sums(r)
                                 : make_schedule_graph(support::random_problem(seed, {.operators = 4 + r.below(8)}));
    const bytes optimum = claims::smallest_peaks_to_go(g)[0];
    const best_first policy{.macros = r.chance(70), .commits = r.chance(70), .backjumps = r.chance(70)};
    const bytes from = r.chance(50) ? 0 : optimum - std::min<bytes>(optimum, r.below(10));
    bytes below = optimum + r.below(20);
    search context{options{}};
    memsched::detail::best_first_search cut_short(g, context, policy, from, below);
    best_first::finding f;
    std::size_t turns = 0;
    for (; !f.order && (f.bound < below || r.chance(50)); ++turns) {
      const auto run = [&] { return cut_short.run(below); };
      f = r.chance(50) ? context.control().with_states(1 + r.below(3), run)
                       : context.control().with_work(1 + r.below(3), run);
      REQUIRE(f.bound <= std::max({from, g.base, std::min(optimum, below)}));
      if (!f.order && r.chance(30)) below -= std::min<bytes>(below, r.below(12));
    }
    if (f.order) {
      REQUIRE(memsched::detail::is_order(g, *f.order));
      REQUIRE(peak_of(g, *f.order) < below);
      REQUIRE(peak_of(g, *f.order) <= std::max(from, optimum));
    } else {
      REQUIRE(optimum >= below);
    }
    (f.order ? found_late : refuted_late) += turns > 1;
  }
  REQUIRE(found_late > support::seeds(2000));
  REQUIRE(refuted_late > support::seeds(2000));
}
