// The laws of the room on some thousand random graphs with delays, cycles and both firing rules.
#include "laws.hpp"

TEST_CASE("laws of synchronous dataflow on random graphs") {
  const laws::tally t = laws::hold_for(0, 400);
  // A rule that never fires would be a law of nothing.
  REQUIRE(t.graphs > 2000);
  REQUIRE(t.became_one > t.graphs / 2);
  REQUIRE(t.nests > 500);
  REQUIRE(t.no_nest > 10);
  REQUIRE(t.separate > 1000);
  REQUIRE(t.stalled > 100);
  for (std::uint64_t n : {t.rules.t, t.rules.r, t.rules.c1, t.rules.c2, t.rules.s1, t.rules.s2}) REQUIRE(n > 500);
}
