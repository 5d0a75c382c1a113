// Fusion keeps the optimum; as the paper prints it, it does not.
#include <catch2/catch.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/fuse.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/schedulers/kahn.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"
#include "support/small_graphs.hpp"

using namespace memsched;
using support::models;

namespace {

std::vector<support::shape> shapes() {
  return {{.operators = 11},
          {.operators = 11, .max_size = 4, .percent_inplace = 0, .percent_rule = 0},
          {.operators = 11,
           .max_size = 6,
           .percent_inplace = 0,
           .percent_alias = 0,
           .percent_control = 0,
           .percent_rule = 0,
           .max_inputs = 1}};
}

/// Operators that branch and join between single tensors: what Theorem IV.2 is about.
problem braid(std::uint64_t seed) {
  support::random r(seed);
  problem_builder b;
  const auto size = [&] { return bytes{r.below(6) + 1}; };
  std::vector<tensor_id> ends(2, b.input(size()));
  for (tensor_id& end : ends)
    for (std::uint32_t blocks = r.below(2) + 1; blocks > 0; --blocks) {
      std::vector<tensor_id> joined;
      for (std::uint32_t branches = r.below(2) + 1; branches > 0; --branches) {
        tensor_id at = end;
        for (std::uint32_t k = r.below(2) + 1; k > 0; --k) {
          const tensor_id next = b.tensor(size());
          b.op({.reads = {at}, .writes = {next}, .workspace = r.below(3)});
          at = next;
        }
        joined.push_back(at);
      }
      end = b.tensor(size());
      b.op({.reads = joined, .writes = {end}});
    }
  b.output(b.tensor(size()));
  b.op({.reads = ends, .writes = {b.draft().graph_outputs[0]}});
  return b.build().value();
}

std::size_t fused_size(const problem& p, const fuse& policy, const options& o = {}) {
  search context(o);
  return policy.apply(make_schedule_graph(p, o.model()), context).graph.active;
}

}  // namespace

TEST_CASE("fusion never changes the optimum") {
  std::size_t fused = 0;
  const auto check = [&](const problem& p, const options& o, std::uint64_t seed) {
    const bytes optimum = schedule(p, exhaustive{}, o).peak;
    for (std::size_t max_size : {2u, 3u, 32u}) {
      INFO("seed " << seed << " max_size " << max_size);
      const auto r = schedule(p, fuse{.max_size = max_size} | exhaustive{}, o);
      REQUIRE(r.peak == optimum);
      REQUIRE(r.lower_bound == optimum);
      fused += p.ops().size() - fused_size(p, {.max_size = max_size}, o);
    }
  };
  for (const options& o : models()) {
    for (std::uint64_t seed = 0; seed < support::seeds(700); ++seed)
      for (const auto& shape : shapes()) check(support::random_problem(seed, shape), o, seed);
    for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
      const problem p = braid(seed);
      if (p.ops().size() <= 15) check(p, o, seed);
    }
  }
  REQUIRE(fused > support::seeds(10000));
}

TEST_CASE("fusion keeps the optimum of compressed graphs, and compression that of fused ones") {
  for (const options& o : models())
    for (std::uint64_t seed = 0; seed < support::seeds(1500); ++seed) {
      const problem p = support::random_problem(seed, {.operators = 11});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      INFO("seed " << seed);
      REQUIRE(schedule(p, compress{} | fuse{} | exhaustive{}, o).peak == optimum);
      REQUIRE(schedule(p, fuse{} | compress{} | exhaustive{}, o).peak == optimum);
    }
}

TEST_CASE("a fused node takes what its nodes take") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed) {
    const problem p = support::random_problem(seed, {.operators = 20});
    const options o;
    search context(o);
    const schedule_graph g = make_schedule_graph(p, o.model());
    const fused_graph f = fuse{}.apply(g, context);
    for (const auto& order : {as_given{}(f.graph, context).order, kahn{}(f.graph, context).order}) {
      std::vector<node_id> expanded;
      for (node_id v : order) expanded.insert(expanded.end(), f.members[v].begin(), f.members[v].end());
      INFO("seed " << seed);
      REQUIRE(expanded.size() == g.active);
      // Between the nodes of a group a release may run, after which its peak in the group is an upper bound.
      REQUIRE(peak_of(g, expanded) <= peak_of(f.graph, order));
    }
  }
}

TEST_CASE("Theorem IV.2 as printed loses the optimum") {
  // x -> split -> {a -> shrink -> c, b -> grow -> d} -> join, and beside it an operator with much workspace. Both inner
  // orders peak at split. With `grow` first no state takes less than x or the output do; after `shrink` first only 3
  // bytes are live, and there the other operator should run.
  problem_builder b;
  const tensor_id x = b.input(5);
  const tensor_id a = b.tensor(6), small = b.tensor(2), c = b.tensor(1), d = b.tensor(4), out = b.tensor(5), y = b.tensor(1);
  b.op({.reads = {x}, .writes = {a, small}, .name = "split"});
  b.op({.reads = {a}, .writes = {c}, .name = "shrink"});
  b.op({.reads = {small}, .writes = {d}, .name = "grow"});
  b.op({.reads = {c, d}, .writes = {out}, .name = "join"});
  b.op({.writes = {y}, .workspace = 20, .name = "other"});
  b.output(out);
  b.output(y);
  const problem p = b.build().value();
  REQUIRE(schedule(p, exhaustive{}).peak == 24);
  REQUIRE(fused_size(p, {.as_printed = true}) == 2);
  REQUIRE(schedule(p, fuse{.as_printed = true} | exhaustive{}).peak == 26);
  REQUIRE(schedule(p, fuse{} | exhaustive{}).peak == 24);
}

TEST_CASE("residual blocks and chains of them become one node") {
  problem_builder b;
  tensor_id at = b.input(10);
  for (int block = 0; block < 5; ++block) {
    const tensor_id first = b.tensor(10), second = b.tensor(10), sum = b.tensor(10);
    b.op({.reads = {at}, .writes = {first}});
    b.op({.reads = {first}, .writes = {second}});
    b.op({.reads = {at, second}, .writes = {sum}});
    at = sum;
  }
  b.output(at);
  REQUIRE(fused_size(b.build().value(), {}) == 1);
}

TEST_CASE("nodes with credits are left alone") {
  // Two operators may each overwrite x, whichever runs last.
  problem_builder b;
  const tensor_id x = b.input(8), y = b.tensor(8), z = b.tensor(8);
  b.op({.reads = {x}, .writes = {y}, .overwrites = x});
  b.op({.reads = {x}, .writes = {z}, .overwrites = x});
  const tensor_id out = b.tensor(1);
  b.op({.reads = {y, z}, .writes = {out}});
  b.output(out);
  REQUIRE(fused_size(b.build().value(), {}) == 3);
  REQUIRE(fused_size(b.build().value(), {}, {.in_place = false}) == 1);
}
