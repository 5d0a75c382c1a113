// The front door: what callers write, and what they are promised.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <memsched/graph/builder.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/passes/probe.hpp>
#include <memsched/passes/soft_budget.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/dp.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "networks/networks.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

problem branches() {
  problem_builder b;
  const auto x = b.input(64), wide = b.tensor(256), narrow = b.tensor(32), wide2 = b.tensor(192), narrow2 = b.tensor(16);
  b.op({.reads = {x}, .writes = {wide}});
  b.op({.reads = {x}, .writes = {wide2}});
  b.op({.reads = {wide}, .writes = {narrow}});
  b.op({.reads = {wide2}, .writes = {narrow2}});
  return b.build().value();
}

struct wrong_order {
  solution operator()(const schedule_graph& g, search&) const { return {std::vector<node_id>(g.active, 0), 0}; }
};
struct no_order {
  solution operator()(const schedule_graph&, search&) const { return {{9, 9, 9, 9, 9, 9}, 0}; }
};
struct boaster {
  solution operator()(const schedule_graph& g, search&) const { return {g.topological_order(), bytes{1} << 40}; }
};
struct refuser {
  solution operator()(const schedule_graph&, search&) const {
    return {{}, 0, graph_error{error_code::too_large, "not today", {}, {}}};
  }
};

unsigned told = 0;
void tell(const progress&) { ++told; }

}  // namespace

TEST_CASE("options alone, braced or by name, and a policy") {
  const problem p = branches();
  const options o{.budget = 400};
  REQUIRE(schedule(p, {.budget = 5}).verdict() == verdict::infeasible);
  REQUIRE(schedule(p, o).fits());
  REQUIRE(schedule(p).peak == 320);
  REQUIRE(schedule(p, dp{}, {.budget = 5}).verdict() == verdict::infeasible);
}

TEST_CASE("a range-for over a member of a temporary result is safe") {
  std::size_t operators = 0;
  for (op_id op : schedule(branches()).value().order) operators += op < 4;
  for (op_id op : lower(branches()).value().ops) operators += op < 4;
  REQUIRE(operators == 8);
}

TEST_CASE("callbacks are owned: a lambda that ends with its statement, and a plain function") {
  options o;
  unsigned calls = 0;
  o.on_progress = [&calls](const auto&) { ++calls; };
  (void)schedule(branches(), o);
  REQUIRE(calls > 0);
  o.on_progress = tell;
  (void)schedule(branches(), o);
  REQUIRE(told > 0);
}

TEST_CASE("a search takes temporary options") {
  search context(options{.state_limit = 3});
  REQUIRE(context.opts().state_limit == 3);
}

TEST_CASE("a result that holds an error is no success") {
  problem_builder b;
  const auto x = b.tensor(1);
  b.op({.reads = {x}, .writes = {}});
  schedule_result<op_id> r;
  r.error = b.build().error();
  REQUIRE(r.verdict() == verdict::failed);
  REQUIRE_FALSE(r.fits());
  REQUIRE_THROWS_AS(r.value(), bad_graph);
  REQUIRE_THROWS_AS(std::move(r).value(), bad_graph);
}

TEST_CASE("a policy is not trusted: contradictions are errors that name it") {
  const problem p = branches();
  const auto require_named = [](const auto& r, const char* name) {
    REQUIRE(r.verdict() == verdict::failed);
    REQUIRE(r.error->code == error_code::bad_policy);
    INFO(r.error->message);
    REQUIRE(r.error->message.find(name) != std::string::npos);
  };
  require_named(schedule(p, wrong_order{}), "wrong_order");
  require_named(schedule(p, no_order{}), "no_order");
  require_named(schedule(p, boaster{}), "boaster");
  require_named(schedule(p, compress{} | wrong_order{}), "wrong_order");
  require_named(schedule(p, divide{} | no_order{}), "no_order");
  require_named(schedule(p, soft_budget{} | compress{} | no_order{}), "no_order");
}

TEST_CASE("an error of an inner scheduler is passed on") {
  REQUIRE(schedule(branches(), probe{} | refuser{}).error->message == "not today");
  REQUIRE(schedule(branches(), divide{} | refuser{}).error->message == "not today");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto r = schedule(support::random_problem(seed, {.operators = 30}), probe{} | exhaustive{});
    if (r.error) REQUIRE(r.verdict() == verdict::failed);
    else REQUIRE(r.order.size() == 30);
  }
}

TEST_CASE("a budget and a gap are questions, and end where they are answered") {
  for (std::uint64_t seed = 0; seed < support::seeds(150); ++seed)
    for (bool divided : {false, true}) {
      const problem p = support::random_problem(seed, {.operators = 14});
      const auto run = [&](const options& o) {
        return divided ? schedule(p, divide{} | compress{} | automatic, o) : schedule(p, o);
      };
      const auto best = run({});
      REQUIRE(best.verdict() == verdict::optimal);
      for (bytes budget :
           {best.peak, best.peak + best.peak / 4, best.given_peak, best.peak - std::min<bytes>(best.peak, 1)}) {
        const auto r = run({.budget = budget});
        INFO("seed " << seed << " budget " << budget << " peak " << r.peak << " bound " << r.lower_bound);
        REQUIRE((r.peak <= budget || r.lower_bound > budget));
        REQUIRE(r.lower_bound <= best.peak);
        REQUIRE(r.stats.states <= best.stats.states);
      }
      const auto near = run({.gap = 0.2});
      REQUIRE(static_cast<double>(near.peak) <= 1.2 * static_cast<double>(near.lower_bound));
      REQUIRE(near.lower_bound <= best.peak);
    }
}

TEST_CASE("what the order that came in costs is in the result; an order that fits is the answer at once") {
  const problem p = branches();
  const auto r = schedule(p, {.budget = 1000});
  REQUIRE(r.given_peak == schedule(p, as_given{}).peak);
  REQUIRE(r.peak == r.given_peak);
  REQUIRE(r.stats.states == 0);
}

TEST_CASE("progress never lies: no bound above the optimum, no peak below it, each better than the last") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 16});
    const bytes optimum = schedule(p).peak;
    const auto require_honest = [&](const auto& policy) {
      progress last{no_limit, 0, 0};
      options o;
      o.on_progress = [&](const progress& now) {
        REQUIRE(now.peak >= optimum);
        REQUIRE(now.lower_bound <= optimum);
        REQUIRE(now.peak <= last.peak);
        REQUIRE(now.lower_bound >= last.lower_bound);
        last = now;
      };
      (void)schedule(p, policy, o);
    };
    require_honest(automatic);
    require_honest(soft_budget{} | best_first{});
    require_honest(divide{} | soft_budget{} | dp{});
    require_honest(probe{} | best_first{});
  }
}

TEST_CASE("calls in several threads at once share nothing") {
  const problem p = support::random_problem(3, {.operators = 40});
  const auto alone = schedule(p, {.state_limit = 2000});
  std::vector<schedule_result<op_id>> results(4);
  {
    std::vector<std::jthread> threads;
    for (auto& r : results) threads.emplace_back([&] { r = schedule(p, {.state_limit = 2000}); });
  }
  for (const auto& r : results) {
    REQUIRE(r.order == alone.order);
    REQUIRE(r.lower_bound == alone.lower_bound);
  }
}
