// The types that count as schedulers and as passes, and how they compose.
#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/search/policy.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace memsched;

namespace {

struct backwards {  // an order of a graph without edges
  solution operator()(const schedule_graph& g, search&) const {
    solution s;
    for (node_id v = static_cast<node_id>(g.active); v-- > 0;) s.order.push_back(v);
    return s;
  }
};
struct nonsense {
  std::vector<node_id> order;
  solution operator()(const schedule_graph&, search&) const { return {order}; }
};
struct noting {
  std::string* log;
  char letter;
  solution operator()(const schedule_graph& g, search& c, inner_scheduler inner) const {
    *log += letter;
    solution s = inner(g, c);
    *log += static_cast<char>(letter - 'a' + 'A');
    return s;
  }
};
struct neither {
  int operator()(const schedule_graph&, search&) const { return 0; }
};

static_assert(scheduler<backwards> && !pass<backwards>);
static_assert(pass<noting> && !scheduler<noting>);
static_assert(!scheduler<neither> && !pass<neither>);
static_assert(scheduler<decltype(std::declval<noting>() | backwards{})>);
static_assert(pass<decltype(std::declval<noting>() | std::declval<noting>())>);
static_assert(!detail::baseline<backwards>);

schedule_graph three() {
  problem_builder b;
  const tensor_id x = b.input(1);
  for (int i = 0; i < 3; ++i) b.op({.reads = {x}, .writes = {b.tensor(2)}});
  return make_schedule_graph(b.build().value());
}

}  // namespace

TEST_CASE("passes run from left to right, whichever two are joined first") {
  std::string log;
  const schedule_graph g = three();
  search c(options{});
  const noting a{&log, 'a'}, b{&log, 'b'};
  const auto first = (a | b | backwards{})(g, c);
  CHECK(std::exchange(log, "") == "abBA");
  const auto second = (a | (b | backwards{}))(g, c);
  CHECK(log == "abBA");
  CHECK(first.order == second.order);
  CHECK(first.order == std::vector<node_id>{2, 1, 0});
}

TEST_CASE("an inner scheduler that answers nonsense is named") {
  std::string log;
  const schedule_graph g = three();
  search c(options{});
  for (const std::vector<node_id>& order : {std::vector<node_id>{0, 1}, {0, 1, 1}, {0, 1, 7}, {0, 1, 2, 2}}) {
    const solution s = (noting{&log, 'a'} | nonsense{order})(g, c);
    REQUIRE(s.error);
    CHECK(s.error->code == error_code::bad_policy);
    CHECK(s.error->message.find("nonsense") != std::string::npos);
  }
}

TEST_CASE("an order runs every node once, after its predecessors") {
  problem_builder b;
  const tensor_id x = b.input(1), y = b.tensor(1), z = b.tensor(1);
  b.op({.reads = {x}, .writes = {y}});
  b.op({.reads = {y}, .writes = {z}});
  const schedule_graph g = make_schedule_graph(b.build().value());
  CHECK(detail::is_order(g, std::vector<node_id>{0, 1}));
  CHECK(!detail::is_order(g, std::vector<node_id>{1, 0}));
  CHECK(!detail::is_order(g, std::vector<node_id>{0}));
  CHECK(!detail::is_order(g, std::vector<node_id>{0, 0}));
}

TEST_CASE("of two orders the one with the smaller peak is kept; of equals, the first") {
  problem_builder b;
  const tensor_id x = b.input(10), s = b.tensor(1), l = b.tensor(20), y = b.tensor(1);
  b.op({.reads = {x}, .writes = {l}});
  b.op({.reads = {l}, .writes = {y}});
  b.op({.reads = {x}, .writes = {s}});
  const schedule_graph g = make_schedule_graph(b.build().value());
  solution best{{0, 1, 2}};
  const bytes peak = peak_of(g, best.order);
  for (const std::vector<node_id>& order : {std::vector<node_id>{0, 2, 1}, {2, 0, 1}}) {
    const bytes before = peak_of(g, best.order);
    detail::take_if_better(g, order, best);
    CHECK(peak_of(g, best.order) == std::min(before, peak_of(g, order)));
    if (peak_of(g, order) >= before) CHECK(best.order != order);
  }
  CHECK(peak_of(g, best.order) <= peak);
}
