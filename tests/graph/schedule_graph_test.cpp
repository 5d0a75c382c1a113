// The schedule graph against the referee.
#include <catch2/catch.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <memsched/structure/list_schedule.hpp>

#include "support/small_graphs.hpp"

using namespace memsched;
using namespace support;

TEST_CASE("the schedule graph says of every order what the referee says") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 12});
      const schedule_graph g = make_schedule_graph(p, o.model());
      search context(o);
      for (const auto& order :
           {as_given{}(g, context).order, rpo{}(g, context).order, kahn{}(g, context).order, greedy{}(g, context).order}) {
        INFO("seed " << seed);
        REQUIRE(peak_of(g, order) == evaluate(p, order, o.model()).value().peak);
      }
    }
}

TEST_CASE("list scheduling asks for a key again once for all tensors that a node is left alone with") {
  constexpr index_t leaves = 300;
  problem_builder b;
  std::vector<tensor_id> read;
  for (index_t i = 0; i < leaves; ++i) {
    read.push_back(b.tensor(1 + i % 7));
    b.op({.writes = {read.back()}});
  }
  for (bytes size : {1_B, 2_B}) b.op({.reads = read, .writes = {b.tensor(size)}});
  const schedule_graph g = make_schedule_graph(b.build().value());
  index_t asked = 0;
  const auto order = structure::list_schedule(g, [&](const order_walk&, node_id v, index_t) { return ++asked, v; });
  REQUIRE(detail::is_order(g, order));
  REQUIRE(asked == leaves + 3);
}

TEST_CASE("list scheduling that is to stop ends with an order") {
  constexpr index_t operators = 70000;
  problem_builder b;
  std::vector<tensor_id> made;
  for (index_t i = 0; i < operators; ++i) {
    std::vector<tensor_id> reads;
    if (i > 0) reads.push_back(made[i / 2]);
    made.push_back(b.tensor(1 + i % 7));
    b.op({.reads = reads, .writes = {made.back()}});
  }
  const schedule_graph g = make_schedule_graph(b.build().value());
  int asked = 0;
  const auto last_first = [](const order_walk&, node_id v, index_t) { return operators - v; };
  const auto order = structure::list_schedule(g, last_first, [&] { return ++asked, false; });
  REQUIRE(asked == 1);
  REQUIRE(detail::is_order(g, order));
  REQUIRE(order != structure::list_schedule(g, last_first));
}
