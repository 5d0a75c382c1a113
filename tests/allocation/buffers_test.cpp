// The buffers of an order, and the referee of plans.
#include <catch2/catch.hpp>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/measure/sample.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <networks/networks.hpp>
#include <string>
#include <vector>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Any order of p, by chance.
std::vector<op_id> random_order(const problem& p, support::random& r) {
  std::vector<op_id> order;
  std::vector<std::size_t> waits(p.ops().size());
  for (op_id op : p.ops()) waits[op] = p.predecessors(op).size();
  std::vector<op_id> ready;
  for (op_id op : p.ops())
    if (waits[op] == 0) ready.push_back(op);
  while (!ready.empty()) {
    const std::size_t at = r.below(static_cast<std::uint32_t>(ready.size()));
    const op_id op = ready[at];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(at));
    order.push_back(op);
    for (op_id next : p.ops())
      for (op_id before : p.predecessors(next))
        if (before == op && --waits[next] == 0) ready.push_back(next);
  }
  return order;
}

void check_law(const problem& p, const std::vector<op_id>& order) {
  for (const firing rule : {firing::pbc, firing::cbp})
    for (const bool in_place : {true, false}) {
      const memory_model model{rule, in_place};
      const auto held = buffers_of(p, order, model).value();
      REQUIRE(check_buffers(held.buffers).message.empty());
      REQUIRE(load_of(held.buffers) == evaluate(p, order, model)->peak);
    }
}

}  // namespace

TEST_CASE("law: the load of an order's buffers is its peak") {
  for (std::uint64_t seed = 0; seed < support::seeds(3000); ++seed) {
    support::random r(seed);
    support::shape s{.operators = 3 + r.below(12)};
    if (r.chance(30)) s.percent_inplace = 90;
    const problem p = support::random_problem(seed, s);
    INFO("seed " << seed);
    check_law(p, random_order(p, r));
  }
  for (const auto& about : networks::all()) {
    if (!about.optimum && !about.name.starts_with("randwire")) continue;
    const problem p = make_problem(networks::make(about.name).value()).value();
    std::vector<op_id> order;
    const options o;
    search context(o);
    order = kahn{}(make_schedule_graph(p, o.model()), context).order;
    INFO(about.name);
    check_law(p, order);
  }
}

TEST_CASE("an output in place shares the buffer of its input, which drops where it is smaller") {
  problem_builder b;
  const auto in = b.input(10), out = b.tensor(6), view = b.alias(out), last = b.tensor(1);
  b.op({.reads = {in}, .writes = {out}, .overwrites = in});
  b.op({.reads = {out}, .writes = {view}});
  b.op({.reads = {view}, .writes = {last}, .workspace = 3});
  b.output(last);
  const problem p = b.build().value();
  const std::vector<op_id> order{0, 1, 2};
  const auto held = buffers_of(p, order).value();
  REQUIRE(held.of_tensor == std::vector<index_t>{0, 0, 0, 1});
  REQUIRE(held.buffers[0].upper == 6);
  REQUIRE(held.buffers[0].drops == std::vector<size_drop>{{2, 6}});
  REQUIRE(held.workspace_of == std::vector<op_id>{none, none, 2});
  const auto apart = buffers_of(p, order, {.in_place = false}).value();
  REQUIRE(apart.of_tensor == std::vector<index_t>{0, 1, 1, 2});
  REQUIRE(!buffers_of(p, std::vector<op_id>{0, 2, 1}));
}

TEST_CASE("check_plan refuses what is no plan") {
  std::vector<buffer> buffers{{.lower = 0, .upper = 4, .size = 8, .drops = {{2, 3}}},
                              {.lower = 1, .upper = 3, .size = 4, .alignment = 4},
                              {.lower = 2, .upper = 4, .size = 2, .offset = 3}};
  const auto why = [&](std::vector<bytes> offset, bytes size) { return check_plan(buffers, offset, size).message; };
  REQUIRE(why({0, 8, 3}, 12).empty());
  REQUIRE(why({0, 8, 3}, 11) == "buffer 1 ends above the arena");
  REQUIRE(why({0, 9, 3}, 13) == "buffer 1 is not aligned");
  REQUIRE(why({0, 8, 5}, 12) == "buffer 2 is fixed elsewhere");
  REQUIRE(why({0, 4, 3}, 12) == "buffer 0 and buffer 1 meet in time and in offsets");
  REQUIRE(why({1, 12, 3}, 16) == "buffer 0 and buffer 2 meet in time and in offsets");
  REQUIRE(why({0, 8}, 12) == "there are 2 offsets for 3 buffers");
  buffers[2].offset = no_offset;
  REQUIRE(why({0, 8, 4}, 12).empty());
  REQUIRE(why({2, 12, 0}, 16).empty());
  buffers[0].upper = buffers[0].lower, buffers[0].drops.clear();  // an empty one meets no other
  REQUIRE(why({100, 0, 0}, 4) == "buffer 1 and buffer 2 meet in time and in offsets");
  REQUIRE(why({100, 0, 4}, 6).empty());
}

TEST_CASE("buffers with a fault are errors, not guesses") {
  const auto error = [](std::vector<buffer> buffers) {
    const arena_plan plan = plan_offsets(buffers);
    return plan.error ? plan.error->message : std::string("none");
  };
  REQUIRE(error({}) == "none");
  REQUIRE(error({{.lower = 3, .upper = 1, .size = 1}}) == "buffer 0 ends at 1, before it starts at 3");
  REQUIRE(error({{.upper = 1, .size = 1}, {.upper = 1, .size = 1, .alignment = 0}}) == "buffer 1 has an alignment of 0");
  REQUIRE(error({{.upper = 1, .size = 1, .alignment = 8, .offset = 4}}) ==
          "buffer 0 is fixed at 4, no multiple of its alignment, 8");
  REQUIRE(error({{.upper = 2, .size = 4, .offset = 0},
                 {.lower = 3, .upper = 4, .size = 4},
                 {.upper = 1, .size = 1, .offset = 3}}) == "buffers 0 and 2 meet and are fixed across each other");
  REQUIRE(error({{.upper = 1, .size = base::max_total}, {.upper = 1, .size = 1}}).find("above 2^61") != std::string::npos);
  REQUIRE(error({{.upper = 4, .size = 5, .drops = {{1, 5}}}}) == "buffer 0 has a drop that does not lessen its size");
  REQUIRE(error({{.upper = 4, .size = 5, .drops = {{4, 2}}}}) ==
          "buffer 0 drops its size outside its lifetime, or too early");
}
