// Planners against an oracle that tries every offset.
#include <catch2/catch.hpp>
#include <cstdio>
#include <memsched/allocation/conflict.hpp>
#include <memsched/allocation/exact_fit.hpp>
#include <memsched/allocation/first_fit.hpp>
#include <memsched/allocation/fit_restarts.hpp>
#include <memsched/allocation/fit_search.hpp>
#include <memsched/allocation/minimize.hpp>
#include <memsched/allocation/packing.hpp>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/allocation/valley_fit.hpp>
#include <vector>

#include "support/random_buffers.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Kinds in turn: plain, mixed alignments, fixed, all at once, drops, one alignment for all.
support::buffer_shape shape_of(std::uint64_t seed, support::random& r) {
  support::buffer_shape s{.count = 4 + r.below(4), .time = 4 + r.below(6), .max_size = 2 + r.below(4)};
  switch (seed % 6) {
    case 1: s.percent_aligned = 50; break;
    case 2: s.percent_fixed = 30; break;
    case 3: s.percent_aligned = 40, s.percent_fixed = 20, s.percent_dropping = 30; break;
    case 4: s.percent_dropping = 50; break;
    case 5: s.one_alignment = true, s.percent_fixed = r.chance(30) ? 20 : 0; break;
    default: break;
  }
  s.percent_full = r.chance(50) ? 100 : 0;
  return s;
}

fit_rules rules_of(unsigned mask) {
  const auto on = [mask](int bit) { return (mask >> bit & 1) != 0; };
  return {on(0), on(1), on(2), on(3), on(4), on(5), on(6)};
}

const std::vector<buffer> gap{{0, 4, 2},  {1, 7, 3}, {4, 8, 2},  {7, 9, 1},  {7, 10, 1},
                              {7, 11, 1}, {8, 9, 1}, {8, 10, 1}, {9, 11, 2}, {10, 11, 2}};

}  // namespace

TEST_CASE("planners against every offset, rules in all subsets") {
  std::uint64_t decided = 0, runs = 0, above = 0;
  const std::uint64_t seeds = support::seeds(1500);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    support::random r(seed * 7 + 1);
    const auto buffers = support::random_buffers(seed, shape_of(seed, r));
    const auto truth = support::offset_oracle(buffers).smallest();
    if (!truth) continue;
    INFO("seed " << seed << ", smallest " << *truth);
    above += *truth > detail::simple_bound(buffers) ? 1 : 0;
    const auto check = [&](const arena_plan& plan) {
      REQUIRE(!plan.error);
      REQUIRE(plan.size >= *truth);
      REQUIRE(plan.lower_bound <= *truth);
    };
    check(plan_offsets(buffers, by_birth{}));
    check(plan_offsets(buffers, by_size{}));
    check(plan_offsets(buffers, valley_fit{}));
    const auto exact = plan_offsets(buffers, minimize{.rules = {}, .seed = seed}, {.state_limit = 200'000});
    check(exact);
    REQUIRE(exact.size == *truth);
    REQUIRE(exact.lower_bound == *truth);

    detail::packing p(buffers);
    REQUIRE(p.list_sections());
    for (int k = 0; k < 4; ++k) {
      const fit_rules rules = rules_of(r.below(128));
      for (const bytes capacity : {*truth, *truth > 0 ? *truth - 1 : 0, *truth + 1}) {
        const options o{.state_limit = 20'000};
        search context(o);
        detail::fit_restarts restarts(p, capacity, rules, seed);
        const auto answer = restarts.run(no_limit, {}, context);
        ++runs;
        if (answer == detail::fit_answer::stopped) continue;
        ++decided;
        REQUIRE((answer == detail::fit_answer::fits) == (capacity >= *truth));
        if (answer != detail::fit_answer::fits) continue;
        REQUIRE(check_plan(buffers, detail::in_bytes(buffers, p, restarts.offsets()), capacity).message.empty());
      }
    }
  }
  std::printf("%llu runs of the exact search against every offset, %llu of them decided\n",
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(decided));
  REQUIRE(decided * 10 > runs * 9);
  REQUIRE(above * 100 > seeds);  // enough of them are hard
}

TEST_CASE("ten buffers that need more than their load") {
  REQUIRE(load_of(gap) == 5);
  const auto plan = plan_offsets(gap);
  REQUIRE(plan.size == 6);
  REQUIRE(plan.lower_bound == 6);
  REQUIRE(plan_offsets(gap, exact_fit{}, {.budget = 5}).verdict() == verdict::infeasible);
  REQUIRE(plan_offsets(gap, minimize{}, {.budget = 5}).lower_bound == 6);
  REQUIRE(plan_offsets(gap, minimize{}, {.budget = 6}).fits());

  std::vector<buffer> more = gap;  // beside what has nothing to do with it
  for (std::int64_t t = 11; t < 20; ++t) more.insert(more.begin() + t % 5, {t, t + 2, 2});
  const options o;
  search context(o);
  const auto conflict = find_conflict(more, 5, context);
  REQUIRE(conflict.irreducible);
  std::vector<buffer> core;
  for (const index_t i : conflict.buffers) core.push_back(more[i]);
  REQUIRE(support::offset_oracle(core).smallest() == 6);
  for (std::size_t i = 0; i < core.size(); ++i) {
    auto rest = core;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    REQUIRE(support::offset_oracle(rest).smallest() <= bytes{5});
  }
  REQUIRE(find_conflict(more, 6, context).buffers.empty());
}

TEST_CASE("runtimes' planners, by hand") {
  // Equal sizes: the later one first, as in TensorFlow Lite for Microcontrollers.
  const std::vector<buffer> twins{{.upper = 2, .size = 4}, {.upper = 2, .size = 4}, {.lower = 1, .upper = 3, .size = 9}};
  REQUIRE(plan_offsets(twins, by_size{}).offset == std::vector<bytes>{13, 9, 0});
  // By birth, the tightest gap: 3 bytes fit into the gap of 3 above, not the one of 5 beneath.
  const std::vector<buffer> gaps{{.upper = 2, .size = 5},
                                 {.upper = 9, .size = 1},
                                 {.upper = 2, .size = 3},
                                 {.upper = 9, .size = 1},
                                 {.lower = 2, .upper = 9, .size = 3}};
  REQUIRE(plan_offsets(gaps, by_birth{}).size == 10);
}

TEST_CASE("a plan always, a bound always, limits or not") {
  support::random r(5);
  std::vector<buffer> buffers;
  for (int i = 0; i < 400; ++i) {
    const std::int64_t at = r.below(300);
    buffers.push_back({.lower = at, .upper = at + 1 + r.below(40), .size = bytes{r.below(1000) + 1}});
  }
  const auto at_once = plan_offsets(buffers, minimize{}, {.time_limit = std::chrono::nanoseconds(0)});
  REQUIRE(!at_once.error);
  REQUIRE(at_once.stopped == stop_reason::time_limit);
  const auto first = plan_offsets(buffers, minimize{}, {.state_limit = 5000});
  REQUIRE(first.stats.states <= 5000);
  REQUIRE(first.size <= at_once.size);
  REQUIRE(first.offset == plan_offsets(buffers, minimize{}, {.state_limit = 5000}).offset);
  REQUIRE(first.lower_bound >= load_of(buffers));
  std::stop_source stop;
  stop.request_stop();
  REQUIRE(plan_offsets(buffers, minimize{}, {.stop = stop.get_token()}).stopped == stop_reason::cancelled);
}

TEST_CASE("very many buffers: valley fit is lowered where it sticks out") {
  support::random r(7);
  std::vector<buffer> buffers;
  for (int i = 0; i < 25'000; ++i) {
    const std::int64_t at = r.below(12'500), life = r.chance(90) ? 1 + r.below(20) : 20 + r.below(480);
    buffers.push_back({.lower = at, .upper = at + life, .size = bytes{r.below(1000) + 1}});
  }
  const auto quick = plan_offsets(buffers, valley_fit{}), best = plan_offsets(buffers);
  REQUIRE(best.size < quick.size);
  REQUIRE(best.size * 20 <= best.lower_bound * 21);
  buffers[0].lower = std::numeric_limits<std::int64_t>::min(), buffers[1].upper = std::numeric_limits<std::int64_t>::max();
  buffers[2].offset = 1'000'000;
  REQUIRE(plan_offsets(buffers).size >= 1'000'000 + buffers[2].size);
  REQUIRE(!plan_offsets(buffers, minimize{}, {.time_limit = std::chrono::nanoseconds(0)}).error);
}
