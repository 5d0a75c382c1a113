// The checker of certificates, on proofs written by hand: what it accepts, and what it says of what it refuses.
#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/check_certificate.hpp>

using namespace memsched;

namespace {

/// x (10 bytes) is read by two operators that write 5 and 7 bytes, and a third reads both of these and writes 1.
schedule_graph diamond() {
  problem_builder b;
  const tensor_id x = b.input(10), l = b.tensor(5), r = b.tensor(7), y = b.tensor(1);
  b.op({.reads = {x}, .writes = {l}});
  b.op({.reads = {x}, .writes = {r}});
  b.op({.reads = {l, r}, .writes = {y}});
  b.output(y);
  return make_schedule_graph(b.build().value());
}

/// When the first operator runs, the second has run or not: 10 + 5 at least. It says that it comes first below 22, since
/// 10 + 7 + 5 are live where the second has run; likewise the second.
certificate proof() {
  return {22, {{.v = 0, .other = 1, .v_first = true, .level = 22}, {.v = 1, .level = 22}}};
}

}  // namespace

TEST_CASE("a proof in two steps holds: whichever of two operators runs second finds what the first wrote") {
  CHECK(check_certificate(diamond(), proof()).empty());
}

TEST_CASE("the levels of the start and the end need no step") {
  const schedule_graph g = diamond();
  CHECK(check_certificate(g, {10, {}}).empty());
  CHECK(check_certificate(g, {11, {}}) == "bound: is 11, but what is proven is 10");
}

TEST_CASE("what does not hold is refused with its place") {
  const schedule_graph g = diamond();
  const auto refused = [&](auto change) {
    certificate c = proof();
    change(c);
    return check_certificate(g, c);
  };
  CHECK(refused([](certificate& c) { c.bound = 23; }) == "bound: is 23, but what is proven is 22");
  CHECK(refused([](certificate& c) { c.bound = 21; }) == "bound: is 21, but what is proven is 22");
  CHECK(refused([](certificate& c) { c.steps[0].level = 23; }) == "steps[0]: level: is 23, but what the flow proves is 22");
  CHECK(refused([](certificate& c) { c.steps[1].v = 9; }) == "steps[1]: names a node that does not exist, or one twice");
  CHECK(refused([](certificate& c) { c.steps[0].other = 0; }) == "steps[0]: names a node that does not exist, or one twice");
  CHECK(refused([](certificate& c) { c.steps[0].other = 2; }) == "steps[0]: they are ordered already");
  CHECK(refused([](certificate& c) { c.steps.pop_back(); }) == "steps[0]: must give an order, and what ends the proof none");
  CHECK(refused([](certificate& c) { c.steps.erase(c.steps.begin()); }) ==
        "steps[0]: level: is 22, but what the flow proves is 17");
  CHECK(refused([](certificate& c) { c.steps[1].flow = {{0, 1, 5}}; }) ==
        "steps[1]: the flow leaves the edges between undecided nodes");
  CHECK(refused([](certificate& c) { c.steps[1].flow = {{0, 1, 0}}; }) == "steps[1]: the flow has an amount out of range");
}

TEST_CASE("reductions are refused where their rule does not apply") {
  const schedule_graph g = diamond();
  const auto with = [&](reduction r) {
    certificate c = proof();
    c.steps[0].reductions = {r};
    return check_certificate(g, c);
  };
  CHECK(with({reduction::rule::c1, 0, 9}) == "steps[0].reductions[0]: names a node that does not exist, or one twice");
  CHECK(with({reduction::rule::c1, 2, 0}) == "steps[0].reductions[0]: its rule does not apply");
  CHECK(with({reduction::rule::s1, 0, 1}) == "steps[0].reductions[0]: its rule does not apply");  // it keeps 5 bytes
}

TEST_CASE("a family of sets proves what no order leaves, and is refused where one does") {
  const schedule_graph g = diamond();
  const auto with = [&](bytes level, std::vector<set_family::grown_set> sets) {
    return check_certificate(g, {.bound = level, .family = set_family{.level = level, .sets = std::move(sets)}});
  };
  CHECK(with(22, {{0, 0}, {0, 1}}).empty());
  CHECK(with(22, {{0, 0}}) == "family: set 0: node 1 leads out of the family");
  CHECK(with(23, {{0, 0}, {0, 1}}) == "family: set 1: node 1 leads out of the family");
  CHECK(with(23, {{0, 0}, {0, 1}, {1, 1}, {3, 2}}) == "family: set 4 holds all nodes");
  CHECK(with(22, {{0, 2}}) == "family.sets[0]: grows from no set before it by a node that is ready there");
  CHECK(with(22, {{1, 0}}) == "family.sets[0]: grows from no set before it by a node that is ready there");
  CHECK(with(22, {{0, 9}}) == "family.sets[0]: grows from no set before it by a node that is ready there");

  certificate c = proof();
  c.family = set_family{.level = 22, .sets = {{0, 0}}};  // what the first step shows: 0 runs before 1
  CHECK(check_certificate(g, c) == "steps[1]: must give an order, and what ends the proof none");
  c.steps.pop_back();
  CHECK(check_certificate(g, c).empty());
  c.family->reductions = {{reduction::rule::c1, 2, 0}};
  CHECK(check_certificate(g, c) == "family.reductions[0]: its rule does not apply");
}
