// The graph in a problem: as its caller described it, and as memory sees it.
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>

using namespace memsched;

namespace {

template <class Range>
std::vector<base::index_range::iterator::value_type> list(const Range& r) {
  return {r.begin(), r.end()};
}
using ids = std::vector<op_id>;

}  // namespace

TEST_CASE("a problem repeats what it was told") {
  problem_builder b;
  const auto x = b.input(8, "x"), y = b.tensor(8), view = b.alias(y), z = b.tensor(0, "z");
  b.op({.reads = {x, x}, .writes = {y}, .workspace = 5, .overwrites = x, .rule = firing::cbp, .scope = 3, .name = "relu"});
  b.op({.reads = {y}, .writes = {view}});
  b.op({.reads = {view, y, x}, .writes = {z}, .after = {0, 0, 1}});
  b.output(z);
  const problem p = b.build().value();
  REQUIRE(list(p.ops()) == ids{0, 1, 2});
  REQUIRE(list(p.inputs(0)) == ids{x, x});
  REQUIRE(list(p.outputs(0)) == ids{y});
  REQUIRE(p.workspace(0) == 5);
  REQUIRE(p.overwrites(0) == 0);
  REQUIRE(p.overwrites(1) == -1);
  REQUIRE(p.firing(0) == firing::cbp);
  REQUIRE_FALSE(p.firing(1));
  REQUIRE(p.scope(0) == 3);
  REQUIRE(p.scope(1) == none);
  REQUIRE(p.alias_of(view) == y);
  REQUIRE(p.alias_of(y) == y);
  REQUIRE(p.live_out(z));
  REQUIRE_FALSE(p.live_out(y));
  REQUIRE(p.operator_name(0) == "relu");
  REQUIRE(p.operator_name(1) == "operator 1");
  REQUIRE(p.tensor_name(x) == "x");
  REQUIRE(p.tensor_name(y) == "tensor 1");
}

TEST_CASE("memory sees storages: duplicates and aliases are one") {
  problem_builder b;
  const auto x = b.input(8), y = b.tensor(6), view = b.alias(y), z = b.tensor(1);
  b.op({.reads = {x, x}, .writes = {y}, .overwrites = x});
  b.op({.reads = {y}, .writes = {view}});
  b.op({.reads = {view, y, x}, .writes = {z}, .after = {0, 0, 1}});
  const problem p = b.build().value();
  REQUIRE(list(p.reads(0)) == ids{x});
  REQUIRE(list(p.reads(2)) == ids{y, x});
  REQUIRE(list(p.readers(x)) == ids{0, 2});
  REQUIRE(list(p.readers(y)) == ids{1, 2});
  REQUIRE(list(p.creates(1)).empty());
  REQUIRE(list(p.predecessors(2)) == ids{1, 0});  // producers by input, then control, each once
  REQUIRE(p.producer(y) == 0);
  REQUIRE(p.producer(view) == none);
  REQUIRE(p.writer(view) == 1);
  REQUIRE(p.writer(x) == none);
  REQUIRE(p.kept(y));
  REQUIRE_FALSE(p.kept(z));
  REQUIRE(p.reuses(0).size() == 1);
  REQUIRE(p.reuses(0)[0].input == x);
  REQUIRE(p.reuses(0)[0].spared == 6);
  REQUIRE(p.reuses(1).empty());
  REQUIRE(p.live_at_start() == 8);
}

TEST_CASE("the empty problem") {
  const problem p = problem_builder{}.build().value();
  REQUIRE(p.ops().size() == 0);
  REQUIRE(p.tensors().size() == 0);
  REQUIRE(p.live_at_start() == 0);
}
