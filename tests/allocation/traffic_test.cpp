// Off-chip traffic: by hand, against published figures, and its bound.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/allocation/traffic.hpp>
#include <memsched/allocation/traffic_bound.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <networks/networks.hpp>
#include <vector>

#include "support/all_orders.hpp"
#include "support/random_problem.hpp"

using namespace memsched;

TEST_CASE("traffic by hand") {
  problem_builder b;
  const auto a = b.tensor(6), c = b.tensor(4), d = b.tensor(5), e = b.tensor(1);
  b.op({.writes = {a}});
  b.op({.writes = {c}});
  b.op({.reads = {c}, .writes = {d}});
  b.op({.reads = {a, d}, .writes = {e}});
  b.output(e);
  const problem p = b.build().value();
  const std::vector<op_id> order{0, 1, 2, 3};
  // With 12 bytes: 15 live while the third runs; 3 bytes of the first go out and come back.
  const auto paged = count_traffic(p, order, 12).value();
  REQUIRE(paged.writes == 3);
  REQUIRE(paged.reads == 3);
  REQUIRE(paged.lower_bound == 6);
  // Whole tensors: all 6 bytes do.
  const auto resident = count_traffic(p, order, 12, traffic_model::resident).value();
  REQUIRE(resident.total() == 12);
  REQUIRE(resident.lower_bound == 6);
  REQUIRE(count_traffic(p, order, 15)->total() == 0);
  REQUIRE(count_traffic(p, order, 11, traffic_model::resident).error().message ==
          "operator 3 needs 12 bytes on the chip while it runs, which are more than 11");
  REQUIRE(!count_traffic(p, std::vector<op_id>{0, 1}, 12));
}

TEST_CASE("traffic of SwiftNet, to the byte") {
  struct row {
    const char* name;
    bytes known[3][3];
  };
  const row rows[] = {
      {"swiftnet-cell-a", {{1723904, 1711104, 1681920}, {1117184, 877568, 891392}, {178176, 178176, 0}}},
      {"swiftnet-cells-abc", {{2391296, 2297280, 2340224}, {1439616, 1136640, 1170560}, {205824, 253440, 27648}}},
      {"swiftnet", {{3414016, 3303360, 3384576}, {1918848, 1685504, 1725056}, {333824, 331264, 105472}}}};
  for (const row& r : rows) {
    const problem p = check(networks::make(r.name).value()).value();
    const std::vector<op_id> orders[] = {schedule(p, as_given{}).order, schedule(p, rpo{}).order, schedule(p).order};
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = 0; k < 3; ++k) REQUIRE(count_traffic(p, orders[k], 64_KiB << c)->total() == r.known[c][k]);
  }
}

TEST_CASE("the bound holds, and nothing moves once the peak fits") {
  std::uint32_t met = 0, positive = 0, undefined = 0;
  for (std::uint64_t seed = 0; seed < MEMSCHED_LAW_TRAFFIC; ++seed) {
    support::random r(seed);
    const problem p = support::random_problem(seed, {.operators = 3 + r.below(10)});
    const memory_model model{r.chance(30) ? firing::cbp : firing::pbc, r.chance(70)};
    const std::vector<op_id> order = schedule(p, rpo{}).order;
    const bytes peak = evaluate(p, order, model)->peak;
    const bytes capacity = r.below(static_cast<std::uint32_t>(peak) + 2);
    INFO("seed " << seed << ", capacity " << capacity << " of " << peak);
    for (const auto how : {traffic_model::paged, traffic_model::resident}) {
      REQUIRE(count_traffic(p, order, peak, how, model)->total() == 0);
      const auto count = count_traffic(p, order, capacity, how, model);
      if (!count) {
        REQUIRE(how == traffic_model::resident);
        ++undefined;
        continue;
      }
      REQUIRE(count->lower_bound <= count->total());
      positive += count->lower_bound > 0 ? 1 : 0;
      met += count->lower_bound > 0 && count->lower_bound == count->total() ? 1 : 0;
    }
  }
  REQUIRE(positive > 300);
  REQUIRE(met > 100);
  REQUIRE(undefined > 100);
}

TEST_CASE("the bound of all orders holds for all orders") {
  std::uint32_t positive = 0, met = 0;
  for (std::uint64_t seed = 0; seed < MEMSCHED_LAW_TRAFFIC; ++seed) {
    support::random r(seed);
    const problem p = support::random_problem(seed, {.operators = 3 + r.below(4), .max_size = 20});
    options o;
    o.default_firing = r.chance(30) ? firing::cbp : firing::pbc;
    o.in_place = r.chance(70);
    const bytes peak = schedule(p, automatic, o).peak;
    bytes capacity = 0;  // what any operator may take
    for (op_id op : p.ops()) {
      bytes operands = p.workspace(op);
      for (tensor_id t : p.reads(op)) operands += p.size(t);
      for (tensor_id t : p.creates(op)) operands += p.size(t);
      capacity = std::max(capacity, operands);
    }
    if (capacity >= peak) continue;
    capacity += r.below(static_cast<std::uint32_t>(peak - capacity));
    const bytes bound = traffic_bound(p, capacity, automatic, o);
    if (bound == 0) continue;
    ++positive;
    bytes least = no_limit;
    std::vector<op_id> prefix;
    const auto look = [&](const std::vector<op_id>& order) {
      for (const auto how : {traffic_model::paged, traffic_model::resident})
        if (const auto count = count_traffic(p, order, capacity, how, o.model())) least = std::min(least, count->total());
    };
    support::for_each_order(p, prefix, look);
    INFO("seed " << seed << ", capacity " << capacity << " of " << peak);
    REQUIRE(bound <= least);
    met += bound == least ? 1 : 0;
  }
  CAPTURE(positive, met);
  REQUIRE(positive * 50 > MEMSCHED_LAW_TRAFFIC);
  REQUIRE(met * 200 > MEMSCHED_LAW_TRAFFIC);
  const problem cells = check(networks::make("swiftnet-cells-abc").value()).value();
  REQUIRE(traffic_bound(cells, 256_KiB, automatic) == 27648);  // what its order of the smallest peak moves
}

TEST_CASE("orders of less traffic, and of a smaller arena by a planner of the caller's") {
  const problem p = check(networks::make("swiftnet-cell-a").value()).value();
  const options o{.state_limit = 3000};
  search context(o);
  const auto start = schedule(p, as_given{}).order;
  const auto better = reduce_traffic(p, start, 128_KiB, traffic_model::paged, {}, context);
  REQUIRE(count_traffic(p, better, 128_KiB)->total() < count_traffic(p, start, 128_KiB)->total());
  REQUIRE(context.stats.states <= 3000);

  const auto optimal = schedule(p);
  const auto arena = [&](std::span<const op_id> order) {
    return plan_offsets(buffers_of(p, order)->buffers, by_birth{}).size;
  };
  search again(o);
  const auto same_peak = improve_order(p, optimal.order, optimal.peak, arena, {}, again, {.floor = optimal.peak});
  REQUIRE(evaluate(p, same_peak)->peak == optimal.peak);
  REQUIRE(arena(same_peak) < arena(optimal.order));
}
