// Laws that every scheduler of the list keeps. A new row is under them at once.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include <memsched/measure/evaluate.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/passes/soft_budget.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/list.hpp>

#include "networks/networks.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"
#include "support/small_graphs.hpp"

using namespace memsched;
using support::models;

namespace {

using run_function = schedule_result<op_id> (*)(const problem&, const options&);

/// A scheduler of the list, alone or after passes, whatever its type.
struct policy {
  std::string name;
  run_function run;
  bool exact, is_baseline, alone;
  std::size_t max_operators;
};

const std::vector<policy>& policies() {
  static const std::vector<policy> all = [] {
    std::vector<policy> list;
    for_each_scheduler([&]<class S>(const scheduler_row<S>& row) {
      const auto add = [&](const char* passes, run_function run, bool alone) {
        list.push_back(
            {passes + std::string(row.name), run, row.exact, alone && detail::baseline<S>, alone, row.max_operators});
      };
      add(
          "", [](const problem& p, const options& o) { return schedule(p, S{}, o); }, true);
      if (row.role == scheduler_role::order) return;
      add(
          "compress | ", [](const problem& p, const options& o) { return schedule(p, compress{} | S{}, o); }, false);
      add(
          "divide | ", [](const problem& p, const options& o) { return schedule(p, divide{} | S{}, o); }, false);
    });
    return list;
  }();
  return all;
}

/// Shapes of some 20,000 operators: chains side by side, a fan in and out, a layered random graph, tensors that two operators
/// read, a chain of shared tensors, and one long chain.
std::vector<problem> large_problems() {
  std::vector<problem> all;
  constexpr index_t n = 20000;
  {
    problem_builder b;
    const auto x = b.input(8);
    for (index_t chain = 0; chain < 100; ++chain) {
      auto t = x;
      for (index_t i = 0; i < n / 100; ++i) {
        const auto next = b.tensor(1 + (chain * 7 + i * 13) % 97);
        b.op({.reads = {t}, .writes = {next}});
        t = next;
      }
    }
    all.push_back(b.build().value());
  }
  {
    problem_builder b;
    const auto x = b.input(5);
    std::vector<tensor_id> leaves;
    for (index_t i = 0; i < n; ++i) {
      leaves.push_back(b.tensor(1 + i % 50));
      b.op({.reads = {x}, .writes = {leaves.back()}});
    }
    b.op({.reads = leaves, .writes = {b.tensor(1)}});
    all.push_back(b.build().value());
  }
  {
    support::random r(1);
    problem_builder b;
    std::vector<tensor_id> made;
    for (index_t i = 0; i < n; ++i) {
      std::vector<tensor_id> reads;
      for (index_t k = 0; k < 2 && i >= 8; ++k) reads.push_back(made[i - 1 - r.below(std::min<index_t>(i, 16))]);
      made.push_back(b.tensor(1 + r.below(1000)));
      b.op({.reads = reads, .writes = {made.back()}});
    }
    all.push_back(b.build().value());
  }
  {
    problem_builder b;
    std::vector<tensor_id> leaves;
    for (index_t i = 0; i < n; ++i) {
      leaves.push_back(b.tensor(1 + i % 50));
      b.op({.writes = {leaves.back()}});
    }
    for (bytes size : {1_B, 2_B}) b.op({.reads = leaves, .writes = {b.tensor(size)}});
    all.push_back(b.build().value());
  }
  {
    problem_builder b;
    tensor_id before = b.input(3), last = b.input(4);
    for (index_t i = 0; i < n; ++i) {
      const auto next = b.tensor(1 + i % 9);
      b.op({.reads = {before, last}, .writes = {next}});
      before = last, last = next;
    }
    all.push_back(b.build().value());
  }
  {
    problem_builder b;
    auto t = b.input(1);
    for (index_t i = 0; i < n; ++i) {
      const auto next = b.tensor(1 + (i * 31) % 64);
      b.op({.reads = {t}, .writes = {next}});
      t = next;
    }
    all.push_back(b.build().value());
  }
  return all;
}

}  // namespace

TEST_CASE("the list has each name once, and says something of each") {
  std::set<std::string_view> names;
  for_each_scheduler([&](const auto& row) {
    REQUIRE(names.insert(row.name).second);
    if (!row.alias.empty()) REQUIRE(names.insert(row.alias).second);
    REQUIRE_FALSE(row.about.empty());
  });
  for (const char* name : {"file", "rpo", "kahn", "greedy", "exhaustive", "serenity", "hmcos", "fradet", "automatic"})
    REQUIRE(names.count(name) == 1);
}

TEST_CASE("every scheduler gives a valid order and a bound that holds; exact ones agree; none is worse than what came in") {
  for (std::uint64_t seed = 0; seed < support::seeds(250); ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 4 + static_cast<index_t>(seed % 8)});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      for (const policy& s : policies()) {
        INFO("seed " << seed << " " << s.name);
        const auto r = s.run(p, o);
        REQUIRE_FALSE(r.error);
        REQUIRE(evaluate(p, r.order, o.model()).value().peak == r.peak);
        REQUIRE(r.peak >= optimum);
        REQUIRE(r.lower_bound <= optimum);
        if (s.exact) REQUIRE((r.peak == optimum && r.lower_bound == optimum));
        if (!s.is_baseline) REQUIRE(r.peak <= r.given_peak);
      }
    }
}

TEST_CASE("every scheduler stops at every limit with an order and a bound that hold") {
  std::stop_source stopped;
  stopped.request_stop();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 12});
    const bytes optimum = schedule(p).peak;
    for (const policy& s : policies()) {
      for (const options& o :
           {options{.time_limit = std::chrono::nanoseconds{0}}, options{.state_limit = 0}, options{.state_limit = 1 + seed},
            options{.memory_limit = 0}, options{.memory_limit = 200 * seed}, options{.stop = stopped.get_token()},
            options{.budget = optimum}, options{.gap = 0.3}}) {
        INFO("seed " << seed << " " << s.name << " states " << o.state_limit << " memory " << o.memory_limit);
        const auto r = s.run(p, o);
        REQUIRE_FALSE(r.error);
        REQUIRE(evaluate(p, r.order).value().peak == r.peak);
        REQUIRE(r.lower_bound <= optimum);
        if (r.stopped == stop_reason::state_limit) REQUIRE(r.stats.states <= o.state_limit + 1 + r.stats.parts);
      }
    }
  }
}

TEST_CASE("every scheduler is deterministic, at a limit of states too") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 20});
    for (const policy& s : policies()) {
      if (p.ops().size() > s.max_operators) continue;
      for (std::uint64_t states : {std::uint64_t{50}, std::uint64_t{1000}}) {
        const auto a = s.run(p, {.state_limit = states}), b = s.run(p, {.state_limit = states});
        INFO("seed " << seed << " " << s.name);
        REQUIRE(a.order == b.order);
        REQUIRE(a.lower_bound == b.lower_bound);
        REQUIRE(a.stats.states == b.stats.states);
      }
    }
  }
}

TEST_CASE("no scheduler tells of a peak below the optimum or a bound above it") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const problem p = support::random_problem(seed, {.operators = 14});
    const bytes optimum = schedule(p).peak;
    for (const policy& s : policies()) {
      progress last{no_limit, 0, 0};
      options o;
      o.on_progress = [&](const progress& now) {
        INFO("seed " << seed << " " << s.name);
        REQUIRE((now.peak >= optimum && now.lower_bound <= optimum));
        REQUIRE((now.peak <= last.peak && now.lower_bound >= last.lower_bound));
        last = now;
      };
      (void)s.run(p, o);
    }
  }
}

TEST_CASE("at a deadline of zero every scheduler answers on large graphs with little work") {
  for (const problem& p : large_problems())
    for (const policy& s : policies()) {
      if (!s.alone) continue;
      const auto start = std::chrono::steady_clock::now();
      const auto r = s.run(p, {.time_limit = std::chrono::nanoseconds{0}});
      const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      INFO(s.name << " took " << took);
      if (p.ops().size() > s.max_operators) {
        REQUIRE(r.error->code == error_code::too_large);
        continue;
      }
      REQUIRE_FALSE(r.error);
      REQUIRE(r.order.size() == p.ops().size());
      REQUIRE(r.stats.states <= 64);
      REQUIRE(took < 10);  // it takes some hundredths: what this finds is a scheduler that does not look at the clock
    }
}

TEST_CASE("the guide's table of schedulers is the list") {
  std::ifstream file(MEMSCHED_GUIDE);
  const std::string guide((std::istreambuf_iterator<char>(file)), {});
  REQUIRE(!guide.empty());
  std::string table;
  for_each_scheduler([&](const auto& row) {
    const bool plain = row.role == scheduler_role::order;
    const std::string source(plain ? "" : row.source.empty() ? "this project" : row.source);
    table += "| `" + std::string(row.name) + "` | `" + std::string(row.write) + "` | " + std::string(row.about) + " | " +
             source + " |\n";
  });
  INFO(table);
  CHECK(guide.find(table) != std::string::npos);
}
