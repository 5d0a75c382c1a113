// The memory of one firing, against firings played byte by byte.
#include <catch2/catch.hpp>
#include <memsched/model/firing.hpp>

#include "support/random_problem.hpp"

using namespace memsched;

TEST_CASE("pbc: inputs are freed when the outputs exist") {
  // 10 bytes are live, of which an operator reads 4 for the last time; it writes 3 that are read and 2 that no operator reads.
  const detail::firing_effect e{.produced = 5, .kept = 3, .freed = 4};
  const detail::footprint f = detail::fire(firing::pbc, 10, e);
  CHECK(f.during == 15);
  CHECK(f.after == 9);
}

TEST_CASE("cbp: inputs are freed before the outputs exist") {
  const detail::footprint f = detail::fire(firing::cbp, 10, {.produced = 5, .kept = 3, .freed = 4});
  CHECK(f.during == 11);
  CHECK(f.after == 9);
}

TEST_CASE("workspace is held during the firing alone") {
  for (firing rule : {firing::pbc, firing::cbp}) {
    const detail::footprint with = detail::fire(rule, 10, {.produced = 5, .kept = 5, .freed = 4, .workspace = 7});
    const detail::footprint without = detail::fire(rule, 10, {.produced = 5, .kept = 5, .freed = 4});
    CHECK(with.during == without.during + 7);
    CHECK(with.after == without.after);
  }
}

TEST_CASE("in place under pbc: what an output takes over is not held twice; under cbp it never was") {
  const detail::firing_effect e{.produced = 5, .kept = 5, .freed = 4, .overwritten = 4};
  CHECK(detail::fire(firing::pbc, 10, e).during == 11);
  CHECK(detail::fire(firing::cbp, 10, e).during == 11);
}

TEST_CASE("law: pbc takes what cbp takes and the inputs freed, less what is overwritten; both leave the same") {
  support::random r(1);
  for (int i = 0; i < 10000; ++i) {
    detail::firing_effect e{.produced = r.below(100), .freed = r.below(100), .workspace = r.below(20)};
    e.kept = r.below(static_cast<std::uint32_t>(e.produced + 1));
    e.overwritten = r.below(static_cast<std::uint32_t>(std::min(e.produced, e.freed) + 1));
    const bytes live = e.freed + r.below(100);
    const detail::footprint p = detail::fire(firing::pbc, live, e), c = detail::fire(firing::cbp, live, e);
    REQUIRE(p.during == c.during + e.freed - e.overwritten);
    REQUIRE(p.after == c.after);
    REQUIRE(p.during >= p.after);
    REQUIRE(c.during >= c.after);
  }
}
