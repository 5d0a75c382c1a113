// Branch and bound: exact with every combination of its rules, and each rule saves work.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/branch_and_bound.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "support/random_graph.hpp"
#include "support/seeds.hpp"
#include "support/small_graphs.hpp"

using namespace memsched;
using support::models;

namespace {

branch_and_bound rules(unsigned mask) {
  const auto on = [&](unsigned bit) { return (mask >> bit & 1) != 0; };
  return {.starts = on(0), .fast_backtracking = on(1), .direct_negatives = on(2), .remember = on(3), .cuts = on(4)};
}

/// States that a search of g takes.
std::uint64_t states(const schedule_graph& g, const branch_and_bound& policy) {
  const options o{.state_limit = 2'000'000};
  search context(o);
  policy(g, context);
  return context.control().stats.states;
}

/// States over many graphs with a rule and without it.
std::pair<std::uint64_t, std::uint64_t> with_and_without(branch_and_bound base, bool branch_and_bound::*rule) {
  std::uint64_t with = 0, without = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(60); ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_costs(seed, 13, 15, 30)).value();
    base.*rule = true;
    with += states(g, base);
    base.*rule = false;
    without += states(g, base);
  }
  return {with, without};
}

}  // namespace

TEST_CASE("branch and bound agrees with exhaustive on problems, whatever rules are on") {
  for (std::uint64_t seed = 0; seed < support::seeds(700); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 2 + static_cast<std::uint32_t>(seed % 7)});
      const auto oracle = schedule(p, exhaustive{}, o);
      for (unsigned mask = 0; mask < 32; ++mask) {
        INFO("seed " << seed << " rules " << mask);
        const auto r = schedule(p, rules(mask), o);
        REQUIRE(r.peak == oracle.peak);
        REQUIRE(r.verdict() == verdict::optimal);
      }
    }
}

TEST_CASE("branch and bound agrees with exhaustive on graphs with impacts of any sign") {
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
    const schedule_graph g =
        make_schedule_graph(support::random_costs(seed, 2 + static_cast<std::uint32_t>(seed % 8), 20)).value();
    const options o;
    search context(o);
    const bytes optimum = exhaustive{}(g, context).lower_bound;
    for (unsigned mask = 0; mask < 32; ++mask) {
      INFO("seed " << seed << " rules " << mask);
      const solution s = rules(mask)(g, context);
      REQUIRE(s.order.size() == g.active);
      REQUIRE(peak_of(g, s.order) == optimum);
      REQUIRE(s.lower_bound == optimum);
    }
  }
}

TEST_CASE("compress | branch_and_bound is optimal through the front door") {
  for (std::uint64_t seed = 0; seed < support::seeds(1500); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 12});
      INFO("seed " << seed);
      const auto oracle = schedule(p, exhaustive{}, o);
      const auto r = schedule(p, compress{} | branch_and_bound{}, o);
      REQUIRE(r.peak == oracle.peak);
      REQUIRE(r.verdict() == verdict::optimal);
    }
}

TEST_CASE("each rule of branch and bound saves states") {
  const branch_and_bound paper{.remember = false, .cuts = false};
  for (bool branch_and_bound::*rule :
       {&branch_and_bound::starts, &branch_and_bound::fast_backtracking, &branch_and_bound::direct_negatives,
        &branch_and_bound::remember, &branch_and_bound::cuts}) {
    branch_and_bound base = paper;
    if (rule == &branch_and_bound::fast_backtracking) base.starts = false;  // so that there are orders to improve on
    const auto [with, without] = with_and_without(base, rule);
    CAPTURE(with, without);
    REQUIRE(with < without);
  }
}

TEST_CASE("at a limit branch and bound answers with an order and a true bound") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed)
    for (std::uint64_t limit : {1U, 5U, 20U, 80U}) {
      const schedule_graph g = make_schedule_graph(support::random_costs(seed, 11, 15, 20)).value();
      const options none_at_all, o{.state_limit = limit};
      search free(none_at_all), context(o);
      const bytes optimum = exhaustive{}(g, free).lower_bound;
      const solution s = branch_and_bound{.cuts = seed % 2 == 0}(g, context);
      INFO("seed " << seed << " limit " << limit);
      REQUIRE(s.order.size() == g.active);
      REQUIRE(peak_of(g, s.order) >= optimum);
      REQUIRE(s.lower_bound <= optimum);
      if (context.control().reason() == stop_reason::finished) REQUIRE(s.lower_bound == optimum);
    }
}

TEST_CASE("a ceiling that is the optimum is proved, and one above it is beaten") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_costs(seed, 9, 15, 20)).value();
    const options o;
    search context(o);
    const bytes optimum = exhaustive{}(g, context).lower_bound;
    const solution proved = context.ask({.cutoff = optimum}, [&] { return branch_and_bound{}(g, context); });
    REQUIRE(proved.lower_bound == optimum);
    const solution beaten = context.ask({.cutoff = optimum + 1}, [&] { return branch_and_bound{}(g, context); });
    REQUIRE(peak_of(g, beaten.order) == optimum);
  }
}
