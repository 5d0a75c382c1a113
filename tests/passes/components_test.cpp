// Laws of `components`, with schedulers that answer at once, on random problems side by side.
#include <catch2/catch.hpp>
#include <memsched/memsched.hpp>

#include "support/few_components.hpp"

using namespace memsched;
using namespace support;

namespace {

struct refuses_pairs {
  solution operator()(const schedule_graph& g, search&) const {
    if (g.active < 3) return {{}, 0, graph_error{error_code::bad_input, "not today", {}, {}}};
    return {g.topological_order()};
  }
};

}  // namespace

TEST_CASE("components finds and claims nothing below the optimum, and with an exact scheduler mostly the optimum itself") {
  std::size_t asked = 0, found = 0, proven = 0;
  for_few_components(1500, [&](const problem& p, const options& o) {
    const bytes optimum = schedule(p, exhaustive{}, o).peak;
    const auto honest = [&](const auto& policy, const options& limits) {
      const auto r = schedule(p, policy, limits);
      REQUIRE(!r.error);
      REQUIRE(r.peak >= optimum);
      REQUIRE(r.lower_bound <= optimum);
      REQUIRE((r.lower_bound == r.peak || r.stopped != stop_reason::finished));
      return r;
    };
    const auto r = honest(components{} | dp{}, o);
    ++asked, found += r.peak == optimum, proven += r.lower_bound == optimum;
    REQUIRE(honest(components{} | best_first{}, o).peak == r.peak);
    REQUIRE(honest(compress{} | components{} | divide{} | best_first{}, o).lower_bound >= 1);
    options limited = o;
    for (limited.state_limit = 1; limited.state_limit < 200; limited.state_limit += 1 + limited.state_limit / 2)
      (void)honest(components{} | dp{}, limited);
  });
  CAPTURE(asked, found, proven);
  REQUIRE(found > asked * 95 / 100);
  REQUIRE(proven > asked * 80 / 100);
}

TEST_CASE("components interleaves the orders of any scheduler without loss") {
  std::size_t better = 0;
  for_few_components(500, [&](const problem& p, const options& o) {
    const auto one = schedule(p, greedy{}, o), apart = schedule(p, components{} | greedy{}, o);
    CHECK(apart.lower_bound <= apart.peak);
    better += apart.peak < one.peak;
  });
  CHECK(better > 0);
}

TEST_CASE("components hands a connected graph on, and what its scheduler refuses") {
  problem_builder fan;
  const auto in = fan.input(8);
  for (const bytes size : {bytes{9}, bytes{3}, bytes{6}}) fan.op({.reads = {in}, .writes = {fan.tensor(size)}});
  const problem connected = fan.build().value();
  CHECK(schedule(connected, components{} | best_first{}).order == schedule(connected, best_first{}).order);
  problem_builder b;
  for (int i = 0; i < 2; ++i) b.op({.reads = {b.input(8)}, .writes = {b.tensor(8)}});
  const auto refused = schedule(b.build().value(), components{} | refuses_pairs{});
  REQUIRE(refused.error);
  CHECK(refused.error->message == "not today");
}
