// The laws on more than 100,000 random graphs; a part of `ctest -L long`. Prints how many of what there were.
#include <cstdio>

#include "laws.hpp"

TEST_CASE("laws of synchronous dataflow on 100,000 random graphs") {
  const laws::tally t = laws::hold_for(1'000'000, 1'009'500);
  REQUIRE(t.graphs >= 100'000);
  const auto count = [](const char* of, std::uint64_t n) {
    std::printf("%10llu %s\n", static_cast<unsigned long long>(n), of);
  };
  count("pairs of graph and firing rule, each against a search over counts of firings", t.graphs);
  count("times that a rule or all rules made one actor of a graph", t.became_one);
  count("orders of actors whose best nest was compared with all nests", t.nests);
  count("orders without a nest", t.no_nest);
  count("sums of separate buffers compared with a search over fills", t.separate);
  count("of these above the sum of least fills", t.stalled);
  count("uses of T", t.rules.t), count("uses of R", t.rules.r), count("uses of C1", t.rules.c1);
  count("uses of C2", t.rules.c2), count("uses of S1", t.rules.s1), count("uses of S2", t.rules.s2);
}
