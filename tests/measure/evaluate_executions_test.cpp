// The referee of executions: against schedules played by hand, copies followed one by one, and the referee of orders.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/graph/runs_again.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/measure/evaluate_executions.hpp>

#include "../support/random_order.hpp"
#include "../support/random_problem.hpp"
#include "../support/seeds.hpp"

using namespace memsched;

namespace {

using sizes = std::vector<bytes>;
using ids = std::vector<op_id>;

executions_evaluation run(const problem_builder& b, const ids& executions, memory_model model = {}) {
  return evaluate_executions(b.build().value(), executions, model).value();
}
std::string why_not(const problem_builder& b, const ids& executions) {
  const auto e = evaluate_executions(b.build().value(), executions);
  return e ? "accepted" : e.error().message;
}

/// Operators of p that may run again, inserted at random after their first run.
ids with_reruns(const problem& p, ids order, support::random& r) {
  const std::vector<bool> again = runs_again(p);
  for (int tries = 0; tries < 6; ++tries) {
    const std::size_t place = r.below(static_cast<std::uint32_t>(order.size()) + 1);
    const op_id op = r.below(static_cast<std::uint32_t>(p.ops().size()));
    const auto at = order.begin() + static_cast<std::ptrdiff_t>(place);
    if (again[op] && std::find(order.begin(), at, op) != at) order.insert(at, op);
  }
  return order;
}

/// The bytes of the copies that are live before (half 0), while (1) and after (2) each execution, copy by copy.
struct copies {
  const problem& p;
  const ids& run;
  bool reads(std::size_t i, tensor_id t) const {
    const auto list = p.reads(run[i]);
    return std::find(list.begin(), list.end(), t) != list.end();
  }
  /// The execution after which the copy of t that was made at step `made` is gone; the end for one that stays.
  std::size_t last_use(std::size_t made, tensor_id t) const {
    std::size_t last = made;
    for (std::size_t i = made + 1; i < run.size(); ++i) {
      if (p.producer(t) != none && run[i] == p.producer(t)) return last;
      if (reads(i, t)) last = i;
    }
    return p.stays(t) ? run.size() : last;
  }
  bytes during(std::size_t at, memory_model model) const {
    const op_id op = run[at];
    const bool first_freed = p.firing(op).value_or(model.default_firing) == firing::cbp;
    bytes sum = p.workspace(op);
    for (tensor_id t : p.tensors()) {
      if (p.storage(t) != t) continue;
      if (p.writer(t) == none && p.kept(t)) {
        std::size_t last = 0;
        for (std::size_t i = 0; i < run.size(); ++i)
          if (reads(i, t)) last = i;
        if (p.stays(t) || last > at || (last == at && !first_freed)) sum += p.size(t);
        if (last == at && !p.stays(t) && !first_freed) sum -= spared(op, t, model);
      }
      for (std::size_t made = 0; made <= at && p.producer(t) != none; ++made) {
        if (run[made] != p.producer(t)) continue;
        const std::size_t last = last_use(made, t);
        if (made == at || last > at || (last == at && !first_freed)) sum += p.size(t);
        if (made != at && last == at && !first_freed) sum -= spared(op, t, model);
      }
    }
    return sum;
  }
  bytes spared(op_id op, tensor_id t, memory_model model) const {
    bytes sum = 0;
    for (const problem::storage_reuse& r : p.reuses(op))
      if (r.input == t && model.in_place) sum += r.spared;
    return sum;
  }
};

}  // namespace

TEST_CASE("a tensor that is made again leaves room in between") {
  problem_builder b;
  const auto in = b.input(1), big = b.tensor(10), small = b.tensor(2), wide = b.tensor(20), narrow = b.tensor(3),
             out = b.tensor(1);
  b.op({.reads = {in}, .writes = {big}, .cost = 5});
  b.op({.reads = {big}, .writes = {small}, .cost = 7});
  b.op({.reads = {small}, .writes = {wide}});
  b.op({.reads = {wide}, .writes = {narrow}});
  b.op({.reads = {narrow, big}, .writes = {out}});
  const auto once = run(b, {0, 1, 2, 3, 4});
  REQUIRE(once.peak == 33);
  REQUIRE(once.cost == 15);
  REQUIRE(once.extra_cost == 0);
  const auto twice = run(b, {0, 1, 2, 3, 0, 4});
  REQUIRE(twice.during == sizes{11, 13, 23, 24, 14, 14});
  REQUIRE(twice.after == sizes{11, 3, 21, 4, 13, 0});
  REQUIRE(twice.peak == 24);
  REQUIRE(twice.extra_cost == 5);
}

TEST_CASE("a copy that no operator reads dies at once, and what stays is the last copy") {
  problem_builder b;
  const auto x = b.tensor(4), y = b.tensor(3);
  b.op({.writes = {x}});
  b.op({.writes = {y}});
  b.output(x);
  b.output(y);
  const auto e = run(b, {0, 1, 0});
  REQUIRE(e.after == sizes{0, 3, 7});
  REQUIRE(e.during == sizes{4, 3, 7});
}

TEST_CASE("faults of executions name step and operator") {
  problem_builder b;
  const auto x = b.tensor(4), view = b.alias(x), y = b.tensor(1), z = b.tensor(1);
  b.op({.writes = {x}, .name = "make"});
  b.op({.reads = {x}, .writes = {view}, .name = "view"});
  b.op({.reads = {view}, .writes = {y}, .name = "read", .pure = false});
  b.op({.reads = {x}, .writes = {z}, .after = {2}, .name = "last"});
  REQUIRE(why_not(b, {0, 1, 2, 0, 1, 3}) == "accepted");
  REQUIRE(why_not(b, {0, 2, 1, 3}) == "step 1 runs read before view, which it needs");
  REQUIRE(why_not(b, {0, 1, 2, 3, 2}) == "step 4 runs read a second time, which it must not");
  REQUIRE(why_not(b, {0, 1, 0, 2, 3}) ==
          "step 3 runs read on a view that view has not made again since its storage came back");
  REQUIRE(why_not(b, {0, 1, 3, 2}) == "step 2 runs last before read, which it needs");
  REQUIRE(why_not(b, {0, 1, 2, 0, 0}) == "the executions lack last");
  REQUIRE(why_not(b, {}) == "the executions lack make");
  REQUIRE(why_not(b, {0, 9}) == "step 1 names operator 9, which does not exist");
}

TEST_CASE("executions that cost too much are an error") {
  problem_builder b;
  b.op({.writes = {b.tensor(1)}, .cost = std::uint64_t{1} << 60});
  REQUIRE(why_not(b, {0, 0, 0, 0}) == "accepted");
  REQUIRE(why_not(b, {0, 0, 0, 0, 0}) == "the executions up to step 4 cost more than 2^62");
}

TEST_CASE("law: an order is executions without repetition") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const auto made = make_problem(support::random_draft(seed, {.percent_updates = 20, .percent_overwrites = 30}));
    if (!made) continue;  // updates that ask for a cycle
    const problem& p = *made;
    support::random r(seed);
    for (const firing rule : {firing::pbc, firing::cbp}) {
      const ids order = support::random_order(make_schedule_graph(p, {rule}), r);
      const evaluation known = evaluate(p, order, {rule}).value();
      const executions_evaluation e = evaluate_executions(p, order, {rule}).value();
      REQUIRE(e.peak == known.peak);
      REQUIRE(e.during == known.during);
      REQUIRE(e.after == known.after);
      REQUIRE(e.extra_cost == 0);
    }
  }
}

TEST_CASE("law: each copy lives from its creation to its last reader") {
  std::size_t repeated = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(600); ++seed) {
    const auto made = make_problem(support::random_draft(seed, {.percent_updates = 10, .percent_overwrites = 30}));
    if (!made) continue;  // updates that ask for a cycle
    const problem& p = *made;
    support::random r(seed);
    const ids run = with_reruns(p, support::random_order(make_schedule_graph(p), r), r);
    for (const firing rule : {firing::pbc, firing::cbp}) {
      const auto e = evaluate_executions(p, run, {rule});
      if (!e) continue;  // a view
      repeated += run.size() > p.ops().size();
      for (std::size_t i = 0; i < run.size(); ++i) REQUIRE(e->during[i] == copies{p, run}.during(i, {rule}));
    }
  }
  REQUIRE(repeated > support::seeds(600) / 4);
}
