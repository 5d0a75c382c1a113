// Laws of hierarchical scheduling, and the peaks that HMCOS's paper reports.
#include <catch2/catch.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/schedulers/hierarchical.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <networks/networks.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"
#include "support/small_graphs.hpp"

using namespace memsched;
using support::models;

namespace {

/// A random problem; a third without scopes, a third with scopes in blocks, a third with scopes at random.
problem scoped_problem(std::uint64_t seed, std::uint32_t operators) {
  problem_draft draft = support::random_draft(seed, {.operators = operators});
  support::random r(seed + 77);
  for (op_id op = 0; op < draft.operators.size() && seed % 3 != 0; ++op)
    draft.operators[op].scope = r.chance(10) ? none : seed % 3 == 1 ? op / 3 : r.below(3);
  return make_problem(std::move(draft)).value();
}

/// Switches from the bits of a number below 128; small cells, so that small graphs have several.
hierarchical switched(std::uint64_t bits) {
  const auto on = [&](int i) { return (bits >> i & 1) != 0; };
  return {.adaptive_budget = on(0),
          .simple_schedules = on(1),
          .memoize = on(2),
          .by_levels = on(3),
          .safe_moves = on(4),
          .readers = on(5),
          .bounds = on(6),
          .max_cell = 4};
}

struct outcome {
  solution s;
  bytes peak;
  std::vector<hierarchical::iteration> rounds;
};

outcome run(const schedule_graph& g, const hierarchical& policy, const options& o = {}) {
  search context(o);
  outcome out;
  out.s = policy.run(g, context, [&](const auto& round) { out.rounds.push_back(round); });
  out.peak = peak_of(g, out.s.order);
  return out;
}

}  // namespace

TEST_CASE("hmcos: valid, between the optimum and rpo, with a true bound, again and again") {
  std::size_t above = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(3000); ++seed)
    for (const options& o : models()) {
      const problem p = scoped_problem(seed, 10);
      const schedule_graph g = make_schedule_graph(p, o.model());
      const bytes optimum = schedule(p, exhaustive{}, o).peak, depth_first = schedule(p, rpo{}, o).peak;
      hierarchical policy = switched(seed % 128);
      for (const auto level : {structure::hierarchy_level::operators, structure::hierarchy_level::sequences,
                               structure::hierarchy_level::cells, structure::hierarchy_level::groups}) {
        policy.level = level;
        INFO("seed " << seed << " level " << static_cast<int>(level));
        const outcome a = run(g, policy, o);
        const auto e = evaluate(p, a.s.order, o.model());
        REQUIRE(e);
        REQUIRE(e->peak == a.peak);
        REQUIRE(a.peak >= optimum);
        REQUIRE(a.peak <= depth_first);
        REQUIRE(a.s.lower_bound <= optimum);
        REQUIRE(run(g, policy, o).s.order == a.s.order);
        if (level < structure::hierarchy_level::cells) REQUIRE((a.peak == optimum && a.s.lower_bound == optimum));
        above += a.peak > optimum;
      }
      REQUIRE(schedule(p, hmcos, o).peak <= depth_first);
    }
  REQUIRE(above > 0);  // groups are a heuristic: these problems are hard enough to show it
}

TEST_CASE("switches change the work of a round, never its peak") {
  std::size_t rounds = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const problem p = scoped_problem(seed, 14);
    const schedule_graph g = make_schedule_graph(p);
    hierarchical plain = switched(1 << 3);  // Algorithm 2 as printed, and nothing else
    plain.max_cell = 5;
    const outcome expected = run(g, plain);
    if (expected.rounds.empty()) continue;
    rounds += expected.rounds.size();
    for (std::uint64_t bits = 0; bits < 128; bits += support::few_seeds ? 5 : 1) {
      hierarchical policy = switched(bits);
      policy.max_cell = 5;
      INFO("seed " << seed << " bits " << bits);
      const outcome a = run(g, policy);
      REQUIRE_FALSE(a.rounds.empty());
      REQUIRE(a.rounds[0].peak == expected.rounds[0].peak);
      REQUIRE(a.rounds[0].freed == 0);
      for (std::size_t i = 1; i < a.rounds.size(); ++i) {
        REQUIRE(a.rounds[i].peak <= a.rounds[i - 1].peak);
        REQUIRE(a.rounds[i].freed > a.rounds[i - 1].freed);
        REQUIRE(a.rounds[i].freed <= a.rounds[i].sequences);
      }
    }
  }
  REQUIRE(rounds > support::seeds(300));
}

TEST_CASE("limits leave an order and a bound") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed) {
    const problem p = scoped_problem(seed, 14);
    const schedule_graph g = make_schedule_graph(p);
    const bytes optimum = schedule(p, exhaustive{}).peak, depth_first = schedule(p, rpo{}).peak;
    for (const std::uint64_t states : {1u, 2u, 5u, 20u}) {
      INFO("seed " << seed << " states " << states);
      const auto r = schedule(p, hmcos, {.state_limit = states});
      REQUIRE(r.stats.states <= states);
      REQUIRE((r.peak >= optimum && r.peak <= depth_first));
      REQUIRE(r.lower_bound <= optimum);
    }
    REQUIRE(schedule(p, hmcos, {.time_limit = std::chrono::nanoseconds(0)}).peak <= depth_first);
    REQUIRE(schedule(p, hmcos, {.memory_limit = 1}).peak <= depth_first);
    for (const hierarchical& few :
         {hierarchical{.max_cell = 5, .group_states = 1}, hierarchical{.max_cell = 5, .round_states = 3},
          hierarchical{.level = structure::hierarchy_level::operators, .round_states = 5}}) {
      const auto cut = run(g, few);
      REQUIRE((cut.peak >= optimum && cut.peak <= depth_first));
      REQUIRE(cut.s.lower_bound <= optimum);
    }
    REQUIRE(run(g, {.max_units = 0}).peak <= depth_first);
  }
}

TEST_CASE("graph inputs that are live at the peak") {
  // Two cells that read two large inputs; nothing defines what is live at the peak but the caller.
  problem_builder b;
  const tensor_id in1 = b.input(100), in2 = b.input(60), mid1 = b.tensor(10), mid2 = b.tensor(5), out1 = b.tensor(2),
                  out2 = b.tensor(2);
  b.op({.reads = {in1}, .writes = {mid1}, .scope = 0});
  b.op({.reads = {mid1, in2}, .writes = {out1}, .scope = 0});
  b.op({.reads = {in2}, .writes = {mid2}, .scope = 1});
  b.op({.reads = {mid2, in1}, .writes = {out2}, .scope = 1});
  b.output(out1);
  b.output(out2);
  const problem p = b.build().value();
  for (const bool bounds : {false, true}) {
    const auto r = schedule(p, hierarchical{.bounds = bounds});
    REQUIRE(r.peak == 172);
    REQUIRE(schedule(p, exhaustive{}).peak == 172);
  }
}

TEST_CASE("a caller's scopes may run in circles") {
  problem_builder b;
  tensor_id last = b.input(4);
  for (index_t i = 0; i < 12; ++i) {
    const tensor_id next = b.tensor(4 + i % 5);
    b.op({.reads = {last}, .writes = {next}, .scope = i % 2});
    last = next;
  }
  b.output(last);
  const problem p = b.build().value();
  REQUIRE(schedule(p, hmcos).peak == schedule(p, rpo{}).peak);
}

TEST_CASE("nothing, and one operator") {
  REQUIRE(schedule(problem_builder{}.build().value(), hmcos).order.empty());
  problem_builder b;
  b.op({.reads = {b.input(2)}, .writes = {b.tensor(3)}, .workspace = 4});
  const auto r = schedule(b.build().value(), hmcos);
  REQUIRE(r.order == std::vector<op_id>{0});
  REQUIRE(r.peak == 9);
  REQUIRE(r.verdict() == verdict::optimal);
}

TEST_CASE("the networks of the paper have its peaks, with the authors' cells and with those found") {
  const struct {
    const char* name;
    bytes rpo, hmcos;
  } table[] = {{"nasnet-cifar", 2359296, 1786624},       {"amoebanet-cifar", 1834416, 1179648},
               {"darts-cifar", 2433600, 1401408},        {"nasnet-imagenet", 5309824, 4336096},
               {"amoebanet-imagenet", 5159296, 4428032}, {"darts-imagenet", 5146752, 3842176}};
  for (const auto& row : table) {
    INFO(row.name);
    const problem p = make_problem(networks::make(row.name).value()).value();
    schedule_graph g = make_schedule_graph(p);
    const options o;
    search context(o);
    REQUIRE(peak_of(g, rpo{}(g, context).order) == row.rpo);
    REQUIRE(run(g, {}).peak == row.hmcos);
    g.scope.clear();
    REQUIRE(run(g, {}).peak == row.hmcos);
  }
}

TEST_CASE("HRNet comes out at its optimum") {
  for (const char* name : {"hrnet-w18-small-v1", "hrnet-w18-small-v2", "hrnet-w32"}) {
    INFO(name);
    const auto r = schedule(make_problem(networks::make(name).value()).value(), hmcos);
    REQUIRE(r.verdict() == verdict::optimal);
  }
}
