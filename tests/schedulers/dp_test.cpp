// Algorithm 1 of SERENITY: optimal, and no more states than the paper counts.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <memsched/passes/divide.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/dp.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "support/random_hourglass.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// One entry, one exit, and n - 2 branches of one operator between them (Figure 16).
problem star(std::uint32_t n) {
  problem_builder b;
  const tensor_id a = b.tensor(1);
  b.op({.writes = {a}});
  operator_spec last{.writes = {b.tensor(1)}};
  for (std::uint32_t i = 2; i < n; ++i) {
    last.reads.push_back(b.tensor(i));
    b.op({.reads = {a}, .writes = {last.reads.back()}});
  }
  b.op(last);
  b.output(last.writes[0]);
  return b.build().value();
}

/// Diamonds of three branches in a row.
problem diamonds(std::uint32_t operators) {
  support::random r(operators);
  problem_builder b;
  tensor_id x = b.input(5);
  while (b.draft().operators.size() + 4 <= operators) {
    operator_spec join{.writes = {b.tensor(r.below(20) + 1)}};
    for (int i = 0; i < 3; ++i) {
      join.reads.push_back(b.tensor(r.below(20) + 1));
      b.op({.reads = {x}, .writes = {join.reads.back()}, .workspace = r.below(20)});
    }
    b.op(join);
    x = join.writes[0];
  }
  return b.build().value();
}

std::uint64_t choose(std::uint64_t n, std::uint64_t k) { return k == 0 ? 1 : choose(n, k - 1) * (n - k + 1) / k; }

}  // namespace

TEST_CASE("dp agrees with exhaustive search") {
  for (std::uint64_t seed = 0; seed < support::seeds(3000); ++seed)
    for (const options& o : {options{}, options{.in_place = false}, options{.default_firing = firing::cbp}}) {
      const problem p = support::random_problem(seed, {.operators = 11});
      const auto oracle = schedule(p, exhaustive{}, o);
      for (bool direct : {false, true}) {
        INFO("seed " << seed << " direct " << direct);
        const auto r = schedule(p, dp{.direct = direct}, o);
        REQUIRE(r.peak == oracle.peak);
        REQUIRE(r.verdict() == verdict::optimal);
      }
    }
}

TEST_CASE("a signature for each downset: as many states as exhaustive search, less those before the last step") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed) {
    const problem p = support::random_problem(seed, {.operators = 11});
    const auto r = schedule(p, dp{});
    if (r.stats.states == 0) continue;  // a cheap order needs no more than the start
    // Exhaustive search counts the downsets but the full one; dp those but the empty one.
    REQUIRE(r.stats.states == schedule(p, exhaustive{}).stats.states);
  }
}

TEST_CASE("the star of the appendix takes exactly the states and moves that the paper counts") {
  for (std::uint32_t n = 4; n <= 18; ++n) {
    const auto r = schedule(star(n), dp{});
    REQUIRE(r.verdict() == verdict::optimal);
    REQUIRE(r.stats.steps.size() == n);
    std::uint64_t moves = 0;
    for (const statistics::step& s : r.stats.steps) {
      const bool between = s.step >= 1 && s.step + 1 < n;
      REQUIRE(s.states == (between ? choose(n - 2, s.step) : 1));
      REQUIRE(s.pruned == 0);
      moves += s.moves;
    }
    REQUIRE(r.stats.states == (std::uint64_t{1} << (n - 2)) + 1);
    REQUIRE(moves == 2 + std::uint64_t{n - 2} * (std::uint64_t{1} << (n - 3)));
  }
}

TEST_CASE("a step of Figures 6 and 8") {
  // 32 bytes live; H (3) is the last reader of D and E, F and J take 6, G takes 2.
  problem_builder b;
  const tensor_id c = b.input(24), d = b.input(4), e = b.input(4);
  const tensor_id f = b.tensor(6), g = b.tensor(2), h = b.tensor(3), j = b.tensor(6);
  b.op({.reads = {c}, .writes = {f}});
  b.op({.reads = {c}, .writes = {g}});
  const op_id run_h = b.op({.reads = {d, e}, .writes = {h}});
  b.op({.reads = {c}, .writes = {j}});
  b.output(c);
  b.output(h);
  const problem p = b.build().value();
  const schedule_graph graph = make_schedule_graph(p);

  order_walk w(graph);
  REQUIRE(w.level() == 32);
  w.fire(run_h);
  CHECK(w.peak() == 35);   // 32 + 3
  CHECK(w.level() == 27);  // D and E are gone

  const options o;
  search context(o);
  const auto under = [&](bytes budget) { return context.ask({0, budget + 1}, [&] { return dp{}(graph, context); }); };
  const solution s = under(36);
  CHECK(s.lower_bound == 35);
  CHECK(peak_of(graph, s.order) == 35);
  REQUIRE(context.control().stats.steps.size() == 4);
  CHECK(context.control().stats.steps[0].moves == 4);
  CHECK(context.control().stats.steps[0].pruned == 2);  // F and J: 32 + 6 > 36
  CHECK(context.control().stats.steps[0].states == 2);
  CHECK(under(34).lower_bound == 35);  // no solution
}

TEST_CASE("keys of every width give the optimum") {
  for (std::uint32_t operators : {60u, 100u, 170u, 250u, 380u, 500u, 640u, 900u}) {
    const problem p = diamonds(operators);
    const auto r = schedule(p, dp{});
    INFO(operators << " operators");
    REQUIRE(r.verdict() == verdict::optimal);
    REQUIRE(r.peak == schedule(p, divide{} | exhaustive{}).peak);
  }
}

TEST_CASE("at a limit there is an order and a bound") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const problem p = support::random_problem(seed, {.operators = 11});
    const bytes optimum = schedule(p, exhaustive{}).peak;
    bytes best_bound = 0;
    for (std::uint64_t limit : {1u, 5u, 20u, 100u, 1000u}) {
      const auto r = schedule(p, dp{}, {.state_limit = limit});
      INFO("seed " << seed << " limit " << limit);
      REQUIRE(r.lower_bound <= optimum);
      REQUIRE(r.peak >= optimum);
      REQUIRE(r.lower_bound >= best_bound);
      REQUIRE((r.stopped == stop_reason::state_limit || r.verdict() == verdict::optimal));
      REQUIRE(r.stats.states <= limit);
      const auto again = schedule(p, dp{}, {.state_limit = limit});
      REQUIRE(again.order == r.order);
      REQUIRE(again.lower_bound == r.lower_bound);
      best_bound = r.lower_bound;
    }
  }
}

TEST_CASE("limits of memory and time, and a cancelled search") {
  const problem p = star(20);
  const auto small = schedule(p, dp{}, {.memory_limit = 2_MiB});
  CHECK(small.stopped == stop_reason::memory_limit);
  CHECK(small.stats.memory <= 2_MiB);
  CHECK(small.order.size() == p.ops().size());
  const auto late = schedule(p, dp{}, {.time_limit = std::chrono::nanoseconds(0)});
  CHECK(late.stopped == stop_reason::time_limit);
  CHECK(late.order.size() == p.ops().size());
  std::stop_source source;
  source.request_stop();
  const auto cancelled = schedule(p, dp{}, {.stop = source.get_token()});
  CHECK(cancelled.stopped == stop_reason::cancelled);
  CHECK(cancelled.order.size() == p.ops().size());
}

TEST_CASE("dp takes graphs of nothing and of one operator") {
  problem_builder b;
  CHECK(schedule(b.build().value(), dp{}).verdict() == verdict::optimal);
  b.op({.workspace = 7});
  const auto one = schedule(b.build().value(), dp{});
  CHECK(one.peak == 7);
  CHECK(one.verdict() == verdict::optimal);
}

namespace {

/// Two pairs of operators, four in all, the tags of which have the same sum: among 1024 there are some.
std::array<op_id, 4> pairs_of_equal_tags() {
  std::map<std::uint32_t, std::vector<std::pair<op_id, op_id>>> pairs;
  for (op_id b = 0; b < 1024; ++b)
    for (op_id a = 0; a < b; ++a) {
      auto& same = pairs[detail::tag_of(a) + detail::tag_of(b)];
      for (const auto& [c, d] : same)
        if (a != c && a != d && b != c && b != d) return {a, b, c, d};
      same.emplace_back(a, b);
    }
  FAIL("no two pairs of 1024 operators have tags of the same sum");
  return {};
}

}  // namespace

TEST_CASE("signatures are told apart where their tags are equal") {
  const auto pairs = pairs_of_equal_tags();
  const op_id size = *std::max_element(pairs.begin(), pairs.end()) + 2;
  for (const bool swapped : {false, true}) {
    // The four run first, in any order, and the others after them in a row. Two of the four need much room while they run
    // and keep little, so that they must be the first: else what the two others keep is in their way.
    const auto needs_room = [&](op_id op) { return op == pairs[swapped ? 0 : 2] || op == pairs[swapped ? 1 : 3]; };
    const auto is_one = [&](op_id op) { return std::find(pairs.begin(), pairs.end(), op) != pairs.end(); };
    problem_builder b;
    op_id before = none;
    for (op_id op = 0; op < size; ++op) {
      const bool one = is_one(op);
      operator_spec spec{.writes = {b.tensor(one ? (needs_room(op) ? 1 : 50) : 1)},
                         .workspace = needs_room(op) ? 1000u : 0u};
      b.output(spec.writes[0]);
      if (!one) {
        spec.after.assign(pairs.begin(), pairs.end());
        if (before != none) spec.after.push_back(before);
        before = op;
      }
      b.op(spec);
    }
    const auto r = schedule(b.build().value(), dp{.direct = false});
    REQUIRE(!r.error);
    REQUIRE(r.peak == 1002);
    REQUIRE(r.verdict() == verdict::optimal);
  }
}
