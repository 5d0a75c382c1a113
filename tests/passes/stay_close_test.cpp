// An order near the caller's: same peak, same bound, fewer operators moved.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <memsched/measure/evaluate.hpp>
#include <memsched/passes/stay_close.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Operators that do not stand where the caller's order has them.
std::size_t moved(const problem& p, const std::vector<op_id>& order) {
  const std::vector<op_id> given = schedule(p, as_given{}).order;
  std::size_t count = 0;
  for (std::size_t i = 0; i < order.size(); ++i) count += order[i] != given[i];
  return count;
}

}  // namespace

TEST_CASE("the peak and the bound stay, and no more operators move in total") {
  std::size_t before = 0, after = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(600); ++seed)
    for (const options& o : {options{}, options{.default_firing = firing::cbp}}) {
      const problem p = support::random_problem(seed, {.operators = 6 + static_cast<index_t>(seed % 20)});
      const auto best = schedule(p, automatic, o), near = schedule(p, stay_close{} | automatic, o);
      INFO("seed " << seed);
      REQUIRE(near.peak == best.peak);
      REQUIRE(near.lower_bound == best.lower_bound);
      REQUIRE(evaluate(p, near.order, o.model()).value().peak == best.peak);
      before += moved(p, best.order), after += moved(p, near.order);
    }
  INFO("moved before " << before << ", after " << after);
  REQUIRE(after < before);
}

TEST_CASE("one gain at one place moves what it must and no more") {
  // Twenty operators in a chain, and a pair in the middle that must swap.
  problem_builder b;
  auto t = b.input(1);
  for (int i = 0; i < 20; ++i) {
    const auto next = b.tensor(1);
    if (i == 10) {
      const auto large = b.tensor(50), small = b.tensor(2), from_large = b.tensor(1);
      b.op({.reads = {t}, .writes = {large}});
      b.op({.reads = {t}, .writes = {small}, .workspace = 20});  // better before `large` is there
      b.op({.reads = {large}, .writes = {from_large}});
      b.op({.reads = {small, from_large}, .writes = {next}});
    } else {
      b.op({.reads = {t}, .writes = {next}});
    }
    t = next;
  }
  const problem p = b.build().value();
  const auto near = schedule(p, stay_close{} | automatic);
  REQUIRE(near.peak < near.given_peak);
  REQUIRE(near.peak == schedule(p).peak);
  REQUIRE(moved(p, near.order) == 2);
  const bytes gain = near.given_peak - near.peak;
  REQUIRE(moved(p, schedule(p, stay_close{.least_gain = gain} | automatic).order) == 2);
  REQUIRE(moved(p, schedule(p, stay_close{.least_gain = gain + 1} | automatic).order) == 0);
}

TEST_CASE("where the looks are used up the rest keeps the inner order") {
  for (std::uint64_t seed = 0; seed < support::seeds(100); ++seed) {
    const problem p = support::random_problem(seed, {.operators = 30});
    const auto best = schedule(p), near = schedule(p, stay_close{.looks_per_node = 0} | automatic);
    REQUIRE(near.peak == best.peak);
  }
}

TEST_CASE("where memory is enough no more moves than it takes to fit") {
  std::size_t closest = 0, fitting = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const problem p = support::random_problem(seed, {.operators = 6 + static_cast<index_t>(seed % 20)});
    const auto near = schedule(p, stay_close{} | automatic);
    for (const bytes enough : {near.peak - 1, (near.peak + near.given_peak) / 2, near.given_peak}) {
      const auto r = schedule(p, stay_close{.enough = enough} | automatic);
      INFO("seed " << seed << ", enough " << enough << ", best " << near.peak << ", given " << near.given_peak);
      REQUIRE(r.peak <= std::max(near.peak, enough));
      REQUIRE(r.lower_bound == near.lower_bound);
      if (near.given_peak <= enough) REQUIRE(moved(p, r.order) == 0);
      if (near.peak <= enough) closest += moved(p, near.order), fitting += moved(p, r.order);
    }
  }
  INFO("moved for the smallest peak " << closest << ", to fit " << fitting);
  REQUIRE(2 * fitting < closest);
}
