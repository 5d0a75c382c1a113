// Budgets: the numbers of Algorithm 2, and what the pass proves with any scheduler after it.
#include <catch2/catch.hpp>
#include <vector>

#include <memsched/passes/budget_search.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/passes/soft_budget.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/dp.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/kahn.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// The answer of a search for a budget if those below `least` have no solution and those from `loose` on time out.
struct oracle {
  bytes least, loose;
  statistics::outcome operator()(bytes budget) const {
    return budget < least    ? statistics::outcome::no_solution
           : budget >= loose ? statistics::outcome::timeout
                             : statistics::outcome::solution;
  }
};

/// The budgets that Algorithm 2 hands to the search, line by line, until one is solved or both budgets are equal.
std::vector<bytes> as_printed(bytes hard, const oracle& answer) {
  std::vector<bytes> tried;
  bytes old_budget = hard, new_budget = hard;
  statistics::outcome flag = statistics::outcome::no_solution;
  do {
    const bytes a = new_budget, b = old_budget;
    old_budget = a;
    new_budget = flag == statistics::outcome::timeout ? a / 2 : (a + b) / 2;
    if (!tried.empty() && new_budget == old_budget) break;
    tried.push_back(new_budget);
    flag = answer(new_budget);
  } while (flag != statistics::outcome::solution);
  return tried;
}

/// Answers with the worst order that it may: Kahn's where that stays below the ceiling, else the best. Claims nothing
/// but that no order stays below a ceiling.
struct lazy {
  solution operator()(const schedule_graph& g, search& context) const {
    solution best = exhaustive{}(g, context);
    if (best.lower_bound >= context.asked().cutoff) {
      best.lower_bound = context.asked().cutoff;
      return best;
    }
    solution first = kahn{}(g, context);
    best.lower_bound = 0;
    return peak_of(g, first.order) < context.asked().cutoff ? first : best;
  }
};

}  // namespace

TEST_CASE("budgets are those of Algorithm 2, but for those whose answer is known") {
  support::random r(7);
  for (int i = 0; i < 20000; ++i) {
    const bytes hard = 1 + r.below(2000);
    const oracle answer{1 + r.below(static_cast<std::uint32_t>(hard)), 1 + r.below(2 * static_cast<std::uint32_t>(hard))};
    detail::budget_search budgets(0, hard, 1, hard);
    bytes least = 0, loose = no_limit;  // what is known
    INFO("hard " << hard << " least " << answer.least << " loose " << answer.loose);
    for (bytes printed : as_printed(hard, answer)) {
      if (printed < least || printed >= loose) continue;
      REQUIRE(budgets.budget() == printed);
      const statistics::outcome a = answer(printed);
      if (a == statistics::outcome::solution) break;
      if (a == statistics::outcome::no_solution) least = printed + 1;
      else loose = printed;
      budgets.learn(least, hard);
      budgets.next(a);
    }
  }
}

TEST_CASE("budgets end: with a solution where there is one, else with every budget answered") {
  support::random r(8);
  for (int i = 0; i < 20000; ++i) {
    const bytes unit = 1 + r.below(5), hard = unit * (1 + r.below(500)) + r.below(static_cast<std::uint32_t>(unit));
    const oracle answer{1 + r.below(static_cast<std::uint32_t>(hard)), 1 + r.below(2 * static_cast<std::uint32_t>(hard))};
    detail::budget_search budgets(0, hard, unit, hard);
    bytes least = 0, loose = hard + 1;
    bool open = true, solved = false;
    for (int tries = 0; open && !solved; ++tries) {
      REQUIRE(tries < 64);
      const bytes budget = budgets.budget();
      REQUIRE(budget >= least);
      REQUIRE(budget < loose);
      REQUIRE((budget == 0 || budget % unit == hard % unit));
      const statistics::outcome a = answer(budget);
      solved = a == statistics::outcome::solution;
      if (a == statistics::outcome::no_solution) least = budget + 1;
      if (a == statistics::outcome::timeout) loose = budget;
      budgets.learn(least, hard);
      if (!solved) open = budgets.next(a);
    }
    bool exists = false;
    for (bytes b = hard % unit; b <= hard; b += unit) exists |= answer(b) == statistics::outcome::solution;
    REQUIRE(solved == exists);
  }
}

TEST_CASE("soft budgets keep the optimum and prove it, however small T") {
  std::size_t timeouts = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(1500); ++seed)
    for (const options& o : {options{}, options{.default_firing = firing::cbp}}) {
      const problem p = support::random_problem(seed, {.operators = 10});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      for (std::uint64_t step : {1u, 3u, 1u << 14})
        for (bool bounds : {false, true}) {
          const soft_budget budget{.step_states = step, .use_bounds = bounds};
          INFO("seed " << seed << " T " << step << " bounds " << bounds);
          for (const auto& r : {schedule(p, budget | dp{}, o), schedule(p, budget | best_first{}, o),
                                schedule(p, budget | divide{} | dp{.direct = true}, o)}) {
            REQUIRE(r.peak == optimum);
            REQUIRE(r.verdict() == verdict::optimal);
            REQUIRE(r.stopped == stop_reason::finished);
            for (const auto& t : r.stats.trials) {
              timeouts += t.answer == statistics::outcome::timeout;
              refused += t.answer == statistics::outcome::no_solution;
              REQUIRE((t.budget >= optimum || t.answer != statistics::outcome::solution));
              REQUIRE((t.budget < optimum || t.answer != statistics::outcome::no_solution));
            }
          }
        }
    }
  CHECK(timeouts > support::seeds(1000));
  CHECK(refused > support::seeds(1000));
}

TEST_CASE("a budget without a solution raises the bound until it meets the peak") {
  std::size_t searched_on = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
    const problem p = support::random_problem(seed, {.operators = 8});
    INFO("seed " << seed);
    const auto r = schedule(p, soft_budget{.use_bounds = false} | lazy{});
    REQUIRE(r.peak == schedule(p, exhaustive{}).peak);
    REQUIRE(r.verdict() == verdict::optimal);
    searched_on += r.stats.trials.size() > 1;
  }
  CHECK(searched_on > 100);
}

TEST_CASE("soft budgets end where the scheduler knows neither ceilings nor bounds") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const problem p = support::random_problem(seed, {.operators = 12});
    const auto r = schedule(p, soft_budget{} | greedy{});
    REQUIRE(r.peak <= schedule(p, kahn{}).peak);
    REQUIRE(r.lower_bound <= r.peak);
  }
}

TEST_CASE("under a ceiling, soft budgets look for nothing above it") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed) {
    const problem p = support::random_problem(seed, {.operators = 9});
    const schedule_graph g = make_schedule_graph(p);
    const options o;
    search context(o);
    const bytes optimum = peak_of(g, exhaustive{}(g, context).order);
    const auto under = [&](bytes ceiling) {
      return context.ask(context.asked().below(ceiling), [&] { return (soft_budget{} | dp{})(g, context); });
    };
    INFO("seed " << seed);
    REQUIRE(under(optimum).lower_bound >= optimum);
    const solution s = under(optimum + 1);
    REQUIRE(peak_of(g, s.order) == optimum);
    REQUIRE(s.lower_bound == optimum);
  }
}

TEST_CASE("soft budgets keep the limits of the whole search") {
  const problem p = support::random_problem(3, {.operators = 30});
  const auto few = schedule(p, soft_budget{.step_states = 4, .use_bounds = false} | dp{}, {.state_limit = 50});
  CHECK(few.stopped == stop_reason::state_limit);
  CHECK(few.lower_bound <= few.peak);
  const auto small = schedule(p, soft_budget{.use_bounds = false} | dp{}, {.memory_limit = 1});
  CHECK(small.stopped == stop_reason::memory_limit);
  const auto late = schedule(p, soft_budget{} | dp{}, {.time_limit = std::chrono::nanoseconds(0)});
  CHECK(late.stopped == stop_reason::time_limit);
  CHECK(late.order.size() == p.ops().size());
}
