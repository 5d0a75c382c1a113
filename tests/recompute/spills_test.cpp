// Spills: against a search over all that can be on a chip, against the count by Belady's rule, and played step by step.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/proof/traffic_problem.hpp>
#include <memsched/recompute/plan_spills.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <networks/networks.hpp>
#include <vector>

#include "support/chip_order.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// The least that any policy moves for an order while whole storages move: a search over which are on the chip, and which have
/// a good copy outside. The inputs of the graph begin on the chip.
class least_resident : chip_order {
 public:
  least_resident(const problem& p, std::span<const op_id> order, bytes capacity, memory_model model)
      : chip_order(p, order, capacity, model) {}

  bytes value() {
    state start{};
    for (tensor_id t : p_.tensors())
      if (p_.storage(t) == t && p_.kept(t) && p_.producer(t) == none) start.here |= bit(t);
    costs now = leave({{start, 0}});
    std::erase_if(now, [&](const auto& entry) { return held(entry.first) > capacity_; });
    for (std::size_t k = 0; k < order_.size(); ++k) now = run(leave(now), k);
    bytes least = no_limit;
    for (const auto& [at, cost] : now) least = std::min(least, cost);
    return least;
  }

 private:
  struct state {
    std::uint64_t here = 0, copied = 0;
    auto operator<=>(const state&) const = default;
  };
  using costs = chip_costs<state>;

  static std::uint64_t bit(tensor_id t) { return std::uint64_t{1} << t; }
  bytes held(const state& at) const {
    bytes sum = 0;
    for (tensor_id t : p_.tensors())
      if ((at.here & bit(t)) != 0) sum += p_.size(t);
    return sum;
  }

  costs leave(costs now) const {
    for (tensor_id t : p_.tensors()) {
      costs next = now;
      for (const auto& [at, cost] : now) {
        if ((at.here & bit(t)) == 0) continue;
        const bool copied = (at.copied & bit(t)) != 0;
        note(next, {at.here & ~bit(t), at.copied | bit(t)}, cost + (copied ? 0 : p_.size(t)));
      }
      now = std::move(next);
    }
    return now;
  }

  costs run(const costs& before, std::size_t k) const {
    const op_id op = order_[k];
    const bool frees_first = p_.firing(op).value_or(model_.default_firing) == firing::cbp;
    bytes shared = 0, beside = p_.workspace(op);
    if (model_.in_place && !frees_first)
      for (const problem::storage_reuse& r : p_.reuses(op))
        if (!needed_behind(k, r.input)) shared += r.spared;
    for (tensor_id t : p_.creates(op)) beside += p_.size(t);
    costs after;
    for (const auto& [at, cost] : before) {
      state then = at;
      bytes moved = cost;
      for (tensor_id t : p_.reads(op)) {
        if ((at.here & bit(t)) == 0) moved += p_.size(t);
        then.here |= bit(t);
      }
      if (held(then) > capacity_) continue;
      for (tensor_id t : p_.reads(op))
        if (frees_first && !needed_behind(k, t)) then.here &= ~bit(t);
      if (held(then) + beside > capacity_ + shared) continue;
      for (tensor_id t : p_.updates(op)) then.copied &= ~bit(p_.storage(t));
      for (tensor_id t : p_.reads(op))
        if (!needed_behind(k, t)) then.here &= ~bit(t);
      for (tensor_id t : p_.creates(op))
        if (p_.kept(t)) then.here |= bit(t);
      note(after, then, moved);
    }
    return after;
  }
};

/// The least capacity at which every operator fits.
bytes least_capacity(const problem& p, std::span<const op_id> order, memory_model model) {
  bytes low = 0, high = evaluate(p, order, model)->peak;
  while (low < high) {
    const bytes middle = low + (high - low) / 2;
    if (count_traffic(p, order, middle, traffic_model::resident, model)) high = middle;
    else low = middle + 1;
  }
  return low;
}

result<problem> random_spill_problem(std::uint64_t seed, support::random& r) {
  support::shape s{.operators = 3 + r.below(6), .max_size = 1 + r.below(6), .percent_inplace = r.below(3) * 30};
  s.percent_alias = r.below(3) * 10, s.percent_control = r.below(3) * 15, s.percent_rule = r.below(3) * 30;
  s.percent_updates = r.below(3) * 25;
  return make_problem(support::random_draft(seed, s));
}

}  // namespace

TEST_CASE("an updated storage is written again when it leaves again") {
  problem_builder b;
  const auto a = b.tensor(6), c = b.tensor(10), d = b.tensor(1), e = b.tensor(10), f = b.tensor(1), g = b.tensor(1);
  b.op({.writes = {a}});
  b.op({.writes = {c}});
  b.op({.reads = {c}, .writes = {d}});
  b.op({.reads = {a}, .after = {2}});  // updates it
  b.op({.writes = {e}, .after = {3}});
  b.op({.reads = {e}, .writes = {f}});
  b.op({.reads = {a, d, f}, .writes = {g}, .after = {3}});
  b.output(g);
  problem_draft draft = b.draft();
  for (op_id op = 0; op < draft.operators.size(); ++op) {
    if (op == 3) draft.updates.push(a);
    draft.updates.close();
  }
  const problem p = make_problem(std::move(draft)).value();
  const std::vector<op_id> order{0, 1, 2, 3, 4, 5, 6};
  for (const auto how : {traffic_model::resident, traffic_model::paged}) {
    const auto count = count_traffic(p, order, 12, how).value();
    INFO(count.reads << " read, " << count.writes << " written");
    CHECK(count.reads == count.writes);  // out and back, twice, and changed in between
    CHECK(count.total() > 12);
  }
  const spill_plan plan = plan_spills(p, order, 12).value();
  CHECK(plan.count.total() == 24);
  CHECK(plan.count.lower_bound == 24);
  CHECK(plan.spills == std::vector<spill>{{a, 1, 3, true}, {a, 4, 6, true}});
  std::vector<spill> stale = plan.spills;
  stale[1].written = false;
  CHECK(replay_spills(p, order, 12, {}, stale).error().message ==
        "the spill of storage 0 in front of step 4 has no copy outside");
}

TEST_CASE("no plan of spills moves less than the least, nor less than its bound") {
  std::uint32_t planned = 0, optimal = 0, better = 0, raised = 0, proven = 0;
  const std::uint64_t seeds = support::seeds(1000);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    support::random r(seed);
    const auto drawn = random_spill_problem(seed, r);
    if (!drawn || drawn->tensors().size() > 24) continue;
    const problem& p = *drawn;
    const memory_model model{r.chance(40) ? firing::cbp : firing::pbc, r.chance(70)};
    const std::vector<op_id> order = schedule(p, rpo{}).order;
    const bytes peak = evaluate(p, order, model)->peak;
    bytes capacity = least_capacity(p, order, model);
    if (capacity >= peak) continue;
    capacity += r.below(static_cast<std::uint32_t>(peak - capacity));
    INFO("seed " << seed << ", capacity " << capacity << " of " << peak);
    const traffic_count belady = count_traffic(p, order, capacity, traffic_model::resident, model).value();
    const options o{.default_firing = model.default_firing, .in_place = model.in_place};
    const spill_plan plan = plan_spills(p, order, capacity, o).value();
    const auto played = replay_spills(p, order, capacity, model, plan.spills);
    REQUIRE(played);
    REQUIRE(played->reads == plan.count.reads);
    REQUIRE(played->writes == plan.count.writes);
    const bytes least = least_resident(p, order, capacity, model).value();
    REQUIRE(plan.count.lower_bound <= least);
    REQUIRE((plan.proof.cases.empty() || plan.proof.bound <= plan.count.lower_bound));
    if (!plan.proof.cases.empty()) REQUIRE(check_traffic(p, order, capacity, model, plan.proof) == "");
    REQUIRE(belady.lower_bound <= plan.count.lower_bound);
    REQUIRE(least <= plan.count.total());
    REQUIRE(plan.count.total() <= belady.total());
    ++planned;
    optimal += plan.count.total() == least ? 1 : 0;
    better += plan.count.total() < belady.total() ? 1 : 0;
    raised += plan.count.lower_bound > belady.lower_bound ? 1 : 0;
    proven += plan.count.lower_bound == plan.count.total() ? 1 : 0;
    for (std::size_t i = 0; i < plan.spills.size(); ++i) {  // none is idle
      std::vector<spill> less = plan.spills;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
      REQUIRE(!replay_spills(p, order, capacity, model, less));
    }
  }
  CAPTURE(planned, optimal, better, raised, proven);
  CHECK(planned > seeds / 4);
  CHECK(optimal * 100 > planned * 95);
  CHECK(better * 100 > seeds);
  CHECK(raised * 100 > seeds);
  CHECK(proven * 2 > planned);
}

TEST_CASE("spills of networks") {
  for (const char* name : {"swiftnet", "hrnet-w18-small-v2", "randwire"}) {
    const problem p = make_problem(networks::make(name).value()).value();
    const std::vector<op_id> order = schedule(p, as_given{}).order;
    const bytes capacity = least_capacity(p, order, {});
    const auto belady = count_traffic(p, order, capacity, traffic_model::resident).value();
    const spill_plan plan = plan_spills(p, order, capacity).value();
    INFO(name << ": " << belady.total() << ", " << plan.count.total() << ", bound " << plan.count.lower_bound);
    CHECK(plan.count.total() <= belady.total());
    CHECK(plan.count.lower_bound <= plan.count.total());
    CHECK(replay_spills(p, order, capacity, {}, plan.spills)->total() == plan.count.total());
    CHECK(plan_spills(p, order, no_limit)->spills.empty());
    CHECK(!plan_spills(p, order, capacity - 1));
    CHECK(plan_spills(p, order, capacity)->spills == plan.spills);
  }
}
