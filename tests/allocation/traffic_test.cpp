// Off-chip traffic: by hand, against published figures, and its bound.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <memsched/allocation/first_fit.hpp>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/allocation/traffic.hpp>
#include <memsched/allocation/traffic_bound.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <networks/networks.hpp>
#include <vector>

#include "support/all_orders.hpp"
#include "support/chip_order.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// The least that any policy moves for an order under `paged`, byte by byte, where every operator's operands fit: a search
/// over what of each storage is on the chip and what has a copy outside. Inputs are on the chip while an operator runs
/// (under `cbp` those that die are gone when it writes); what it writes may stay or stream out; before it, anything may
/// leave. Graph inputs may be outside from the start, at no cost.
class least_traffic : chip_order {
 public:
  least_traffic(const problem& p, std::span<const op_id> order, bytes capacity, memory_model model)
      : chip_order(p, order, capacity, model) {}

  bytes value() {
    state start(p_.tensors().size());
    for (tensor_id t : p_.tensors())
      if (p_.storage(t) == t && p_.kept(t) && p_.writer(t) == none) start[t].here = p_.size(t);
    costs now = leave({{std::move(start), 0}}, capacity_);
    for (auto& [at, cost] : now) cost = 0;
    for (std::size_t k = 0; k < order_.size(); ++k) now = run(leave(now, capacity_), k);
    bytes least = no_limit;
    for (const auto& [at, cost] : now) least = std::min(least, cost);
    return least;
  }

 private:
  struct amount {
    bytes here = 0, copied = 0;
    auto operator<=>(const amount&) const = default;
  };
  using state = std::vector<amount>;
  using costs = chip_costs<state>;

  static bytes held(const state& at) {
    bytes sum = 0;
    for (const amount& a : at) sum += a.here;
    return sum;
  }

  /// The states of at most `room` bytes on the chip, after some bytes have left.
  costs leave(const costs& before, bytes room) const {
    costs now = before;
    for (tensor_id t : p_.tensors()) {
      costs next;
      for (const auto& [at, cost] : now)
        for (bytes out = 0; out <= at[t].here; ++out) {
          state then = at;
          const bytes clean = at[t].here + at[t].copied - p_.size(t), written = out - std::min(out, clean);
          then[t].here -= out, then[t].copied += written;
          note(next, then, cost + written);
        }
      now = std::move(next);
    }
    std::erase_if(now, [&](const auto& entry) { return held(entry.first) > room; });
    return now;
  }

  costs run(const costs& before, std::size_t k) const {
    const op_id op = order_[k];
    const bool frees_first = p_.firing(op).value_or(model_.default_firing) == firing::cbp;
    bytes shared = 0;
    if (model_.in_place && !frees_first)
      for (const problem::storage_reuse& r : p_.reuses(op))
        if (!needed_behind(k, r.input)) shared += r.spared;
    costs now;
    for (const auto& [at, cost] : before) {
      state then = at;
      bytes read = 0;
      for (tensor_id t : p_.reads(op)) {
        read += p_.size(t) - at[t].here;
        then[t].here = p_.size(t);
        if (frees_first && !needed_behind(k, t)) then[t] = {};
      }
      note(now, then, cost + read);
    }
    for (tensor_id t : p_.creates(op)) {
      costs next;
      for (const auto& [at, cost] : now)
        for (bytes here = 0; here <= p_.size(t); ++here) {
          state then = at;
          then[t] = {here, p_.size(t) - here};
          note(next, then, cost + (p_.kept(t) ? p_.size(t) - here : 0));
        }
      now = std::move(next);
    }
    costs after;
    for (const auto& [at, cost] : now) {
      if (held(at) + p_.workspace(op) > capacity_ + shared) continue;
      state then = at;
      for (tensor_id t : p_.tensors())
        if ((reads(k, t) || (p_.storage(t) == t && p_.producer(t) == op)) && !needed_behind(k, t)) then[t] = {};
      note(after, then, cost);
    }
    return after;
  }
};

/// Operators in a row. One of them writes a graph output in place of an input, and something else, while another storage
/// waits: the output may leave instead of that.
problem_draft leaves_in_place(support::random& r) {
  problem_builder b;
  const auto bytes_below = [&](std::uint32_t n) { return b.tensor(1 + r.below(n)); };
  const auto old = bytes_below(4), waiting = bytes_below(5), fresh = bytes_below(4), beside = bytes_below(4);
  b.op({.writes = {old}});
  b.op({.writes = {waiting}, .after = {0}});
  b.op({.reads = {old}, .writes = {fresh, beside}, .after = {1}, .overwrites = old});
  b.op({.reads = {waiting, beside}});
  b.output(fresh);
  return b.draft();
}

/// A capacity in which any operator fits.
bytes all_operands(const problem& p) {
  bytes most = 0;
  for (op_id op : p.ops()) {
    bytes operands = p.workspace(op);
    for (tensor_id t : p.reads(op)) operands += p.size(t);
    for (tensor_id t : p.creates(op)) operands += p.size(t);
    most = std::max(most, operands);
  }
  return most;
}

}  // namespace

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
    bytes known[3][2];  ///< capacity by order: the file's, rpo
  };
  const row rows[] = {{"swiftnet-cell-a", {{1723904, 1711104}, {1117184, 877568}, {178176, 178176}}},
                      {"swiftnet-cells-abc", {{2391296, 2297280}, {1439616, 1136640}, {205824, 253440}}},
                      {"swiftnet", {{3414016, 3303360}, {1918848, 1685504}, {333824, 331264}}}};
  for (const row& r : rows) {
    const problem p = make_problem(networks::make(r.name).value()).value();
    const std::vector<op_id> orders[] = {schedule(p, as_given{}).order, schedule(p, rpo{}).order};
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t k = 0; k < 2; ++k) REQUIRE(count_traffic(p, orders[k], 64_KiB << c)->total() == r.known[c][k]);
  }
}

// The choice among the orders of least peak changes the traffic below the peak, and nothing from the peak on.
TEST_CASE("an order of least peak moves nothing on the chip of SERENITY, 256 KiB") {
  const problem p = make_problem(networks::make("swiftnet-cell-a").value()).value();
  const auto best = schedule(p);
  REQUIRE(best.peak == 250880);
  REQUIRE(count_traffic(p, best.order, 256_KiB)->total() == 0);
  REQUIRE(count_traffic(p, best.order, best.peak)->total() == 0);
  REQUIRE(count_traffic(p, best.order, best.peak - 1)->total() > 0);
}

TEST_CASE("the bound holds, and nothing moves once the peak fits") {
  std::uint32_t met = 0, positive = 0, undefined = 0;
  const std::uint64_t seeds = support::seeds(2000);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
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
  REQUIRE(positive * 20 > seeds * 3);
  REQUIRE(met * 20 > seeds);
  REQUIRE(undefined * 20 > seeds);
}

TEST_CASE("the bound of all orders holds for all orders") {
  std::uint32_t positive = 0, met = 0;
  const std::uint64_t seeds = std::max<std::uint64_t>(support::seeds(2000), 2000);  // few have a bound
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    support::random r(seed);
    const problem p = support::random_problem(seed, {.operators = 3 + r.below(4), .max_size = 20});
    options o;
    o.default_firing = r.chance(30) ? firing::cbp : firing::pbc;
    o.in_place = r.chance(70);
    const bytes peak = schedule(p, automatic, o).peak;
    const bytes operands = all_operands(p), low = r.chance(70) ? operands : 0;  // below, nothing may be claimed
    if (low >= peak) continue;
    const bytes capacity = low + r.below(static_cast<std::uint32_t>(peak - low));
    const bytes bound = traffic_bound(p, capacity, automatic, o);
    if (bound == 0) continue;
    REQUIRE(capacity >= operands);
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
  REQUIRE(positive * 100 > seeds);
  REQUIRE(met * 400 > seeds);
  const problem cells = make_problem(networks::make("swiftnet-cells-abc").value()).value();
  REQUIRE(traffic_bound(cells, 256_KiB, automatic) == 27648);  // what its order of the smallest peak moves
}

TEST_CASE("the bound over all orders asks for both of its peaks within one limit of time") {
  const problem cells = make_problem(networks::make("swiftnet-cells-abc").value()).value();
  std::vector<std::chrono::nanoseconds> limits;
  const auto slow = [&](const schedule_graph& g, search& context) {
    limits.push_back(context.opts().time_limit);
    while (context.keep_going()) continue;
    search other{options{}};
    return automatic(g, other);
  };
  constexpr std::chrono::nanoseconds whole = std::chrono::milliseconds(20);
  CHECK(traffic_bound(cells, 256_KiB, slow, {.time_limit = whole}) == 27648);
  REQUIRE(limits.size() == 2);
  CHECK(limits[0] == whole / 2);
  CHECK(limits[1] <= whole - limits[0]);  // the first took all of its own
}

TEST_CASE("no policy moves less than the bounds") {
  std::uint32_t orders = 0, positive = 0, best = 0, all_positive = 0, all_met = 0;
  const std::uint64_t seeds = support::seeds(2000);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    support::random r(seed);
    support::shape s{.operators = 2 + r.below(4), .max_size = 1 + r.below(3), .percent_inplace = r.below(3) * 45};
    s.percent_alias = r.below(3) * 10, s.percent_control = r.below(3) * 15, s.percent_rule = r.below(3) * 30;
    s.max_inputs = 1 + r.below(3);
    problem_draft d = seed % 8 == 0 ? leaves_in_place(r) : support::random_draft(seed, s);
    if (r.chance(60))
      for (problem_draft::operator_data& op : d.operators) op.workspace = 0;
    const problem p = make_problem(std::move(d)).value();
    options o;
    o.default_firing = r.chance(40) ? firing::cbp : firing::pbc;
    o.in_place = r.chance(70);
    const std::vector<op_id> order = schedule(p, rpo{}, o).order;
    const bytes peak = evaluate(p, order, o.model())->peak;
    bytes capacity = all_operands(p);
    if (capacity >= peak) continue;
    capacity += r.below(static_cast<std::uint32_t>(peak - capacity));
    INFO("seed " << seed << ", capacity " << capacity << " of " << peak);
    ++orders;
    const auto count = count_traffic(p, order, capacity, traffic_model::paged, o.model()).value();
    const bytes least = least_traffic(p, order, capacity, o.model()).value();
    REQUIRE(count.lower_bound <= least);
    REQUIRE(least <= count.total());
    positive += count.lower_bound > 0 ? 1 : 0;
    best += least == count.total() ? 1 : 0;
    REQUIRE(count_traffic(p, order, no_limit, traffic_model::paged, o.model())->total() == 0);
    REQUIRE(traffic_bound(p, no_limit, automatic, o) == 0);
    const bytes bound = traffic_bound(p, capacity, automatic, o);
    if (bound == 0) continue;
    bytes of_all = no_limit;
    std::vector<op_id> prefix;
    const auto look = [&](const std::vector<op_id>& other) {
      of_all = std::min(of_all, least_traffic(p, other, capacity, o.model()).value());
    };
    support::for_each_order(p, prefix, look);
    REQUIRE(bound <= of_all);
    ++all_positive;
    all_met += bound == of_all ? 1 : 0;
  }
  CAPTURE(orders, positive, best, all_positive, all_met);
  REQUIRE(positive * 20 > seeds);
  REQUIRE(best < orders);  // Belady's rule is no optimum
  REQUIRE(all_positive * 300 > seeds);
  REQUIRE(all_met * 500 > seeds);
}

TEST_CASE("orders of less traffic, and of a smaller arena by a planner of the caller's") {
  const problem p = make_problem(networks::make("swiftnet-cell-a").value()).value();
  const options o{.state_limit = 3000};
  search context(o);
  const auto start = schedule(p, as_given{}).order;
  const auto better = reduce_traffic(p, start, 128_KiB, traffic_model::paged, {}, context);
  REQUIRE(count_traffic(p, better, 128_KiB)->total() < count_traffic(p, start, 128_KiB)->total());
  REQUIRE(context.control().stats.states <= 3000);

  const auto optimal = schedule(p);
  const auto arena = [&](std::span<const op_id> order) {
    return plan_offsets(buffers_of(p, order)->buffers, by_birth{}).size;
  };
  search again(o);
  const auto same_peak = improve_order(p, optimal.order, optimal.peak, arena, {}, again, {.floor = optimal.peak});
  REQUIRE(evaluate(p, same_peak)->peak == optimal.peak);
  REQUIRE(arena(same_peak) < arena(optimal.order));
}
