// Graphs with other sizes, rules, workspaces and outputs.
#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/graph/lower.hpp>
#include <memsched/graph/overlay.hpp>

using namespace memsched;

namespace {

/// A chain of n operators: i reads tensor i - 1 and writes tensor i. It has no sizes.
struct shape {
  int n = 3;
  std::vector<int> ops() const {
    std::vector<int> list;
    for (int i = 0; i < n; ++i) list.push_back(i);
    return list;
  }
  std::vector<int> inputs(int op) const { return {op - 1}; }
  std::vector<int> outputs(int op) const { return {op}; }
};

/// The same with sizes, and counting its copies.
struct chain : shape {
  int* copies = nullptr;
  explicit chain(int* counter) : copies(counter) {}
  chain(const chain& other) : shape(other), copies(other.copies) { ++*copies; }
  chain(chain&&) = default;
  int size(int t) const { return t + 10; }
  int workspace(int op) const { return op; }
  bool live_out(int t) const { return t == 2; }
};

bytes size_of(const auto& g, tensor_id t) { return lower(g).value().problem.size(t); }

}  // namespace

TEST_CASE("sizes for a graph that has none") {
  static_assert(!memory_graph<shape>);
  const shape g;
  const auto sized = with_sizes(g, [](int t) { return 100 * (t + 1); });
  static_assert(memory_graph<decltype(sized)>);
  const problem p = lower(sized).value().problem;
  REQUIRE(p.live_at_start() == 0);
  REQUIRE(p.size(1) == 100);
  REQUIRE(p.size(3) == 300);
}

TEST_CASE("a named graph is referred to, a temporary one moves in; neither is copied") {
  int copies = 0;
  chain g(&copies);
  const auto f = [](int) { return 5; };
  const auto view = with_sizes(g, f);
  static_assert(std::is_same_v<decltype(view.base), const chain&>);
  REQUIRE(&view.base == &g);
  const auto own = with_sizes(chain(&copies), f);
  static_assert(std::is_same_v<decltype(own.base), chain>);
  const auto stacked = with_firing(with_sizes(with_sizes(chain(&copies), f), [](int) { return 6; }), firing::cbp);
  REQUIRE(copies == 0);
  REQUIRE(size_of(view, 0) == 5);
  REQUIRE(size_of(own, 0) == 5);
  REQUIRE(size_of(stacked, 0) == 6);  // the outermost wins
  REQUIRE(copies == 0);
  g.n = 1;  // seen through the view
  REQUIRE(lower(view).value().ops.size() == 1);
  REQUIRE(lower(own).value().ops.size() == 3);
}

TEST_CASE("other hooks shine through") {
  int copies = 0;
  const chain g(&copies);
  const auto sized = with_sizes(g, [](int) { return 1; });
  static_assert(hooks<decltype(sized)>.workspace && hooks<decltype(sized)>.live_out);
  static_assert(!hooks<decltype(sized)>.after && !hooks<decltype(sized)>.firing && !hooks<decltype(sized)>.alias_of);
  const problem p = lower(sized).value().problem;
  REQUIRE(p.workspace(2) == 2);
  REQUIRE(p.live_out(3));
}

TEST_CASE("firing rules for all operators, or by operator") {
  int copies = 0;
  const chain g(&copies);
  const problem all = lower(with_firing(g, firing::cbp)).value().problem;
  for (op_id op : all.ops()) REQUIRE(all.firing(op) == firing::cbp);
  const auto odd = [](int op) { return op % 2 == 1 ? firing::cbp : firing::pbc; };
  const problem some = lower(with_firing(g, odd)).value().problem;
  REQUIRE(some.firing(0) == firing::pbc);
  REQUIRE(some.firing(1) == firing::cbp);
  REQUIRE(some.size(1) == 10);
}

TEST_CASE("workspaces and graph outputs") {
  int copies = 0;
  const auto g = with_live_out(with_workspace(chain(&copies), [](int op) { return 7 * op; }), [](int t) { return t == 0; });
  const problem p = lower(g).value().problem;
  REQUIRE(p.workspace(2) == 14);
  REQUIRE(p.live_out(1));
  REQUIRE_FALSE(p.live_out(3));
}

TEST_CASE("costs, and operators that run once") {
  int copies = 0;
  const chain g(&copies);
  static_assert(!hooks<chain>.cost && !hooks<chain>.pure);
  REQUIRE(lower(g).value().problem.cost(2) == 1);
  REQUIRE(lower(g).value().problem.pure(2));
  const auto priced = with_pure(with_cost(g, [](int op) { return 3 * op; }), [](int op) { return op != 1; });
  static_assert(hooks<decltype(priced)>.cost && hooks<decltype(priced)>.pure && hooks<decltype(priced)>.workspace);
  const problem p = lower(priced).value().problem;
  REQUIRE(p.cost(2) == static_cast<std::uint64_t>(3 * lower(priced).value().ops[2]));
  REQUIRE(p.workspace(2) == lower(g).value().problem.workspace(2));
  for (op_id op : p.ops()) REQUIRE(p.pure(op) == (lower(priced).value().ops[op] != 1));
  const problem again = lower(p).value().problem;  // a problem hands both on
  REQUIRE(again.cost(2) == p.cost(2));
  REQUIRE(again.pure(1) == p.pure(1));
}

TEST_CASE("a cost that an overlay gives is checked") {
  int copies = 0;
  const chain g(&copies);
  REQUIRE(lower(with_cost(g, [](int op) { return op == 2 ? -4 : 4; })).error().message.find("the cost of operator") == 0);
  const auto huge = [](int) { return std::int64_t{1} << 60; };
  REQUIRE(lower(with_cost(g, huge)).error().code == error_code::overflow);
}

TEST_CASE("a size that an overlay gives is checked like any other") {
  REQUIRE(lower(with_sizes(shape{}, [](int t) { return t == 1 ? -8L : 8L; })).error().message ==
          "the size of tensor 2 is negative: -8");
}
