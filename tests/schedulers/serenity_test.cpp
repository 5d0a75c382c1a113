// SERENITY with and without each of its parts.
#include <catch2/catch.hpp>

#include <memsched/schedule.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/schedulers/serenity.hpp>

#include "support/random_hourglass.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

std::vector<serenity> ablation() {
  std::vector<serenity> all;
  for (bool divides : {true, false})
    for (bool budgets : {true, false})
      for (bool direct : {true, false}) all.push_back({.divides = divides, .budgets = budgets, .direct = direct});
  return all;
}

}  // namespace

TEST_CASE("serenity is optimal, whatever part is left out") {
  for (std::uint64_t seed = 0; seed < support::seeds(1500); ++seed)
    for (const options& o : {options{}, options{.in_place = false}, options{.default_firing = firing::cbp}}) {
      const problem p =
          seed % 2 == 0 ? support::random_hourglass(seed, 3) : support::random_problem(seed, {.operators = 10});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      for (const serenity& s : ablation()) {
        INFO("seed " << seed << " divides " << s.divides << " budgets " << s.budgets << " direct " << s.direct);
        const auto r = schedule(p, s, o);
        REQUIRE(r.peak == optimum);
        REQUIRE(r.verdict() == verdict::optimal);
      }
    }
}

TEST_CASE("each part of serenity does what it is there for") {
  std::uint64_t states[3] = {}, parts = 0, trials = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const problem p = support::random_hourglass(seed, 8);
    const auto all = schedule(p, serenity{.direct = false});
    const auto no_budget = schedule(p, serenity{.budgets = false, .direct = false});
    const auto neither = schedule(p, serenity{.divides = false, .budgets = false, .direct = false});
    states[0] += all.stats.states, states[1] += no_budget.stats.states, states[2] += neither.stats.states;
    parts += all.stats.parts, trials += all.stats.trials.size();
    CHECK(neither.stats.parts == 0);
    CHECK(no_budget.stats.trials.empty());
    CHECK(all.peak == neither.peak);
  }
  CHECK(states[0] < states[1]);
  CHECK(states[1] < states[2]);
  CHECK(parts > 50);
  CHECK(trials > 0);
}

TEST_CASE("serenity gives the same order each time, also at a limit in states") {
  const problem p = support::random_problem(11, {.operators = 40});
  for (std::uint64_t limit : {std::uint64_t{100}, std::uint64_t{5000}}) {
    const auto a = schedule(p, serenity{}, {.state_limit = limit}), b = schedule(p, serenity{}, {.state_limit = limit});
    CHECK(a.order == b.order);
    CHECK(a.lower_bound == b.lower_bound);
    CHECK(a.stats.states == b.stats.states);
    CHECK(a.lower_bound <= a.peak);
  }
}
