// Laws of exact schedulers on random problems; list_test.cpp has those of all schedulers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <initializer_list>
#include <memsched/memsched.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/schedulers/both_ends.hpp>
#include <networks/networks.hpp>
#include <set>
#include <string_view>

#include "support/never_worse.hpp"
#include "support/random_graph.hpp"
#include "support/seeds.hpp"
#include "support/side_by_side.hpp"
#include "support/small_graphs.hpp"

using namespace memsched;
using namespace support;

TEST_CASE("exhaustive finds the optimum of all orders") {
  for (std::uint64_t seed = 0; seed < support::seeds(400); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 6});
      INFO("seed " << seed);
      const auto r = schedule(p, exhaustive{}, o);
      REQUIRE(r.peak == optimum_by_orders(p, o));
      REQUIRE(r.verdict() == verdict::optimal);
    }
}

TEST_CASE("best_first agrees with exhaustive, whatever rules are on") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 10});
      const auto oracle = schedule(p, exhaustive{}, o);
      for (bool macros : {false, true})
        for (const auto& [commits, backjumps] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
          INFO("seed " << seed << " macros " << macros << " commits " << commits << " backjumps " << backjumps);
          const auto r = schedule(p, best_first{.macros = macros, .commits = commits, .backjumps = backjumps}, o);
          REQUIRE(r.peak == oracle.peak);
          REQUIRE(r.verdict() == verdict::optimal);
        }
      const auto a = schedule(p, automatic, o);
      REQUIRE(a.peak == oracle.peak);
      REQUIRE(a.verdict() == verdict::optimal);
      REQUIRE(a.order_by != "automatic_scheduler");  // a stage of it
      REQUIRE(a.bound_by != "automatic_scheduler");
      const auto d = schedule(p, divide{} | best_first{}, o);
      REQUIRE(d.peak == oracle.peak);
      REQUIRE(d.verdict() == verdict::optimal);
    }
}

TEST_CASE("every stage runs on small graphs, and the optimum is proven, however short the turns") {
  std::set<std::string_view> found;
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (options o : models()) {
      const problem p = support::random_problem(seed, {.operators = 10});
      INFO("seed " << seed);
      o.on_progress = [&](const progress& q) { found.insert(q.order_by), found.insert(q.bound_by); };
      constexpr std::size_t sizes[] = {10, 300, 1000, 10000};
      const detail::staged_search stages{.active = sizes[seed % 4], .unit = 1 + seed % 40, .rows = seed % 3 == 0};
      const auto r = schedule(p, stages, o);
      REQUIRE(r.peak == schedule(p, exhaustive{}, o).peak);
      REQUIRE(r.verdict() == verdict::optimal);
    }
  // Sizes, turns and seeds at which the rarest stages find something; `restart` does at seed 2174.
  for (std::uint64_t seed = 2150; seed < 2150 + seeds(500); ++seed) {
    constexpr index_t operators[] = {90, 40, 60, 40};
    constexpr std::uint64_t units[] = {1, 20, 100, 20};
    constexpr std::size_t sizes[] = {10000, 300, 600, 300};
    options o{.state_limit = 5000};
    const problem p = support::random_problem(seed, {.operators = operators[seed % 4]});
    INFO("seed " << seed);
    o.on_progress = [&](const progress& q) { found.insert(q.order_by), found.insert(q.bound_by); };
    const detail::staged_search stages{.active = sizes[seed % 4], .unit = units[seed % 4]};
    const auto r = schedule(p, stages, o);
    REQUIRE(r.lower_bound <= schedule(p, automatic, {.state_limit = 5000}).peak);
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    options o;
    o.on_progress = [&](const progress& q) { found.insert(q.order_by), found.insert(q.bound_by); };
    const auto p = make_problem(random_components(seed, 2, {.operators = 20}));
    if (p) REQUIRE(schedule(*p, automatic, o).verdict() == verdict::optimal);
  }
  for (const std::string_view stage : automatic_scheduler::stages()) {
    INFO(stage);
    CHECK(found.count(stage) == 1);
  }
  CHECK(found.count("") == 0);
}

TEST_CASE("with more work automatic is never worse") {
  for (const char* name : {"windowed:120:30:1", "windowed:300:100:1", "layered:30:30:1", "layered:100:8:1",
                           "windowed:1000:30:1", "watts_strogatz:60:1", "randwire-stack:1", "star:30:1"}) {
    INFO(name);
    check_never_worse(make_problem(networks::make(name).value()).value());
  }
}

TEST_CASE("beam and local search answer with valid orders") {
  for (std::uint64_t seed = 0; seed < seeds(300); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 40});
      const bytes start = schedule(p, greedy{}, o).peak;
      INFO("seed " << seed);
      REQUIRE(schedule(p, local_search{}, o).peak <= start);
      REQUIRE(!schedule(p, beam{}, o).error);
    }
}

TEST_CASE("each rule of best_first saves states") {
  const auto states = [](const best_first& policy) {
    std::uint64_t sum = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const problem p = support::random_problem(seed, {.operators = 24, .percent_inplace = 10});
      sum += schedule(p, policy).stats.states;
    }
    return sum;
  };
  const std::uint64_t all = states({});
  REQUIRE(all < states({.macros = false}));
  REQUIRE(all < states({.commits = false}));

  const problem p = make_problem(networks::make("randwire-stack:1").value()).value();  // read from its end it has valleys
  const options o;
  search context(o);
  const schedule_graph g = structure::mirror_image(presolve::compressed(make_schedule_graph(p), context).graph);
  const auto states_there = [&](const best_first& policy) {
    search fresh(o);
    const bytes optimum = 4892160;
    REQUIRE(policy.between(g, fresh, optimum - 1, optimum).bound == optimum);
    return fresh.control().stats.states;
  };
  REQUIRE(states_there({}) < states_there({.backjumps = false}) / 10);
}

TEST_CASE("limits are kept, and leave an order no worse than the caller's and a true bound") {
  for (std::uint64_t seed = 0; seed < support::seeds(100); ++seed) {
    const problem p = support::random_problem(seed, {.operators = 60});
    const bytes given = schedule(p, as_given{}).peak;
    const bytes optimum = schedule(p, automatic).peak;
    std::stop_source stopped;
    stopped.request_stop();
    for (const options& o :
         {options{.time_limit = std::chrono::nanoseconds(0)}, options{.state_limit = 1}, options{.state_limit = 50},
          options{.memory_limit = 1000}, options{.stop = stopped.get_token()}}) {
      const auto r = schedule(p, automatic, o);
      INFO("seed " << seed);
      REQUIRE(r.order.size() == p.ops().size());
      REQUIRE(r.peak <= given);
      REQUIRE(r.lower_bound <= optimum);
      REQUIRE(optimum <= r.peak);
      REQUIRE(r.stats.states <= std::max<std::uint64_t>(o.state_limit, 1));
      if (r.peak != r.lower_bound) REQUIRE(r.stopped != stop_reason::finished);
    }
  }
}

TEST_CASE("without a limit no limit is named, and a gap that is left by a graph too large for the policy is said") {
  const problem large =
      make_problem(networks::make("layered:2100:8:1").value()).value();  // beyond max_nodes of all of these
  const auto no_limit_named = [](stop_reason r) { return r == stop_reason::finished || r == stop_reason::gave_up; };
  const auto gives_up = [&](const auto& policy) {
    const auto r = schedule(large, policy);
    REQUIRE(r.peak > r.lower_bound);
    return r.stopped == stop_reason::gave_up;
  };
  REQUIRE(gives_up(best_first{}));
  REQUIRE(gives_up(beam{}));
  REQUIRE(schedule(large, greedy{}).stopped == stop_reason::finished);
  REQUIRE(schedule(large, automatic).stopped == stop_reason::finished);  // proves it
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 12});
    for_each_scheduler([&]<class S>(const scheduler_row<S>& row) {
      const auto r = schedule(p, S{});
      INFO(row.name << ", seed " << seed);
      REQUIRE(!r.error);
      REQUIRE(no_limit_named(r.stopped));
      if (row.exact) REQUIRE(r.stopped == stop_reason::finished);
    });
  }
}

namespace {

/// Several threads find what one finds, having looked at as much, with any of these limits of states.
template <class S>
void require_same_with_threads(const char* name, const S& policy, std::initializer_list<std::uint64_t> limits) {
  const problem p = make_problem(networks::make(name).value()).value();
  for (const std::uint64_t limit : limits) {
    INFO(name << ", " << limit << " states");
    const auto run = [&](unsigned threads) { return schedule(p, policy, {.state_limit = limit, .threads = threads}); };
    const auto one = run(1);
    REQUIRE(one.stats.states <= limit);
    for (const unsigned threads : {2U, 3U}) {
      const auto more = run(threads);
      REQUIRE(one.order == more.order);
      REQUIRE(one.lower_bound == more.lower_bound);
      REQUIRE(one.stats.states == more.stats.states);
      REQUIRE(one.stats.cuts == more.stats.cuts);
    }
  }
}

}  // namespace

TEST_CASE("threads that share blocks, cuts and windows of a large graph find the same, with any limit of states") {
  for (const char* name : {"layered:100:6:1", "windowed:700:12:1", "windowed:500:16:1", "watts_strogatz:60:1"})
    require_same_with_threads(name, automatic, {40, 300, 700, 6000, 12000, 40000});
}

TEST_CASE("two threads find what one finds") {
  for (const char* name : {"windowed:120:30:1", "windowed:120:30:2", "layered:12:12:1", "watts_strogatz:40:1"}) {
    const problem p = make_problem(networks::make(name).value()).value();
    const auto one = schedule(p, automatic, {.state_limit = 300000}),
               two = schedule(p, automatic, {.state_limit = 300000, .threads = 2});
    INFO(name);
    REQUIRE(one.order == two.order);
    REQUIRE(one.lower_bound == two.lower_bound);
    REQUIRE(one.stats.states == two.stats.states);

    const options o{.threads = 2};
    search alone(o), beside(o);
    const schedule_graph g = make_schedule_graph(p);
    for (const bytes below : {one.peak, one.peak + 1}) {
      const auto a = detail::both_ends{.worth_a_thread = no_limit}.between(g, alone, below - 1, below, 50000);
      const auto b = detail::both_ends{.worth_a_thread = 0}.between(g, beside, below - 1, below, 50000);
      REQUIRE(a.order == b.order);
      REQUIRE(a.bound == b.bound);
      REQUIRE(alone.control().stats.states == beside.control().stats.states);
    }
  }
}

TEST_CASE("the same graph and options give the same order") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 80});
    REQUIRE(schedule(p, automatic, {.state_limit = 3000}).order == schedule(p, automatic, {.state_limit = 3000}).order);
  }
}

TEST_CASE("a budget decides the verdict") {
  const problem p = support::random_problem(3, {.operators = 20});
  const bytes optimum = schedule(p, automatic).peak;
  REQUIRE(schedule(p, automatic, {.budget = optimum}).verdict() == verdict::optimal);
  const auto over = schedule(p, automatic, {.budget = optimum - 1});
  REQUIRE(over.verdict() == verdict::infeasible);
  REQUIRE_FALSE(over.fits());
  REQUIRE(over.order.size() == p.ops().size());
}
