// plan and plan_jointly on graphs of the caller's own types.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memsched/plan.hpp>
#include <string>
#include <vector>

using namespace memsched;

namespace {

/// A chain of three, with handles that only hash_value hashes.
namespace ir {
struct value {
  int id;
  bool operator==(const value&) const = default;
};
std::size_t hash_value(const value& v) { return static_cast<std::size_t>(v.id); }
struct node {
  int id;
  bool operator==(const node&) const = default;
};
std::size_t hash_value(const node& n) { return static_cast<std::size_t>(n.id); }
struct chain {
  std::vector<node> ops() const { return {{10}, {11}, {12}}; }
  std::vector<value> inputs(node n) const { return n.id == 10 ? std::vector<value>{} : std::vector<value>{{n.id - 1}}; }
  std::vector<value> outputs(node n) const { return {{n.id}}; }
  bytes size(value v) const { return v.id == 11 ? 8 : 4; }
  bytes workspace(node n) const { return n.id == 12 ? 3 : 0; }
};
}  // namespace ir

}  // namespace

TEST_CASE("plans of the caller's graph, in the caller's handles") {
  const auto& best = plan_jointly(ir::chain{}).value();  // of a temporary
  REQUIRE(best.arena.size == 15);
  REQUIRE(best.arena.verdict() == verdict::optimal);
  REQUIRE(best.order == std::vector<ir::node>{{10}, {11}, {12}});
  REQUIRE(best.offset.size() == 3);
  REQUIRE(best.workspace.size() == 1);
  REQUIRE(best.workspace.contains(ir::node{12}));
  const auto& same = plan(ir::chain{}, best.order, minimize{}, {.budget = 15}).value();
  REQUIRE(same.arena.fits());
  REQUIRE(same.offset.at(ir::value{11}) < 15);
  const arena_plan& none_kept = plan_offsets(std::vector<buffer>{{.upper = 1, .size = 5}}).value();
  REQUIRE(none_kept.size == 5);
  REQUIRE(plan_jointly(ir::chain{}, automatic, minimize{}, {.budget = 14}).arena.verdict() == verdict::infeasible);

  const problem p = lower(ir::chain{}).value().problem;
  REQUIRE(plan_jointly(p).value().offset.at(tensor_id{1}) < 15);
}

TEST_CASE("a policy that answers with no order is an error that names it") {
  const auto liar = [](const schedule_graph& g, search& context) {
    solution s = automatic(g, context);
    if (!s.order.empty()) s.order.pop_back();
    return s;
  };
  const auto r = plan_jointly(ir::chain{}, liar);
  REQUIRE(r.arena.error);
  REQUIRE(r.arena.error->code == error_code::bad_policy);
  const auto no_order = plan(ir::chain{}, std::vector<ir::node>{{10}, {12}});
  REQUIRE(no_order.arena.error);
}
