// Random topological orders.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include <memsched/graph/builder.hpp>
#include <memsched/measure/sample.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Two chains: a alone, and b -> c. Orders abc, bac, bca, drawn with 1/2, 1/4, 1/4.
schedule_graph two_chains() {
  problem_builder b;
  b.op({.workspace = 1});
  const op_id second = b.op({.workspace = 2});
  b.op({.after = {second}, .workspace = 3});
  return make_schedule_graph(b.build().value());
}

}  // namespace

TEST_CASE("samples are peaks of orders: none below the optimum, and the same for the same seed") {
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    const problem p = support::random_problem(seed, {.operators = 9});
    const schedule_graph g = make_schedule_graph(p);
    const bytes optimum = schedule(p, exhaustive{}).peak;
    const auto a = sample_orders(g, 50, seed), b = sample_orders(g, 50, seed);
    REQUIRE(a.size() == 50);
    for (std::size_t i = 0; i < a.size(); ++i) {
      REQUIRE(a[i].peak >= optimum);
      REQUIRE(a[i].peak == b[i].peak);
    }
  }
}

TEST_CASE("a sample tells how probable it was") {
  std::map<double, int> drawn;
  for (const auto& s : sample_orders(two_chains(), 40000, 1)) ++drawn[s.log2_orders];
  REQUIRE(drawn.size() == 2);
  CHECK(drawn[1.0] == Approx(20000).margin(600));  // abc: one choice of two
  CHECK(drawn[2.0] == Approx(20000).margin(600));  // bac and bca: two
}

TEST_CASE("the cumulative distribution, as drawn and among all orders") {
  const std::vector<order_sample> samples{{30, 2.0}, {10, 1.0}, {30, 2.0}, {20, 3.0}};
  const auto shares = cumulative(samples);
  REQUIRE(shares.size() == 3);
  CHECK(shares[0].peak == 10);
  CHECK(shares[0].drawn == Approx(0.25));
  CHECK(shares[0].all == Approx(2.0 / 18));
  CHECK(shares[1].drawn == Approx(0.5));
  CHECK(shares[1].all == Approx(10.0 / 18));
  CHECK(shares[2].peak == 30);
  CHECK(shares[2].drawn == 1);
  CHECK(shares[2].all == 1);
  CHECK(cumulative({}).empty());
}

TEST_CASE("weighted shares estimate those among all orders") {
  // Independent a (peak 9) and chain b -> c -> d that holds 5 bytes: a first or last gives 9, between them 14.
  problem_builder b;
  b.op({.workspace = 9});
  const tensor_id x = b.tensor(5), y = b.tensor(5);
  b.op({.writes = {x}});
  b.op({.reads = {x}, .writes = {y}, .rule = firing::cbp});
  b.op({.reads = {y}});
  const auto shares = cumulative(sample_orders(make_schedule_graph(b.build().value()), 20000, 5));
  REQUIRE(shares.size() == 2);
  CHECK(shares[0].peak == 9);
  CHECK(shares[0].all == Approx(0.5).margin(0.02));      // two of four orders
  CHECK(shares[0].drawn == Approx(0.625).margin(0.02));  // 1/2 and 1/8
}
