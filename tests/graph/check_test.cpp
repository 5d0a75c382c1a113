// Every fault of a described graph, with the words that name the culprit.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>

using namespace memsched;

namespace {

using ids = std::vector<op_id>;

void require_fault(const result<problem>& r, error_code code, const std::string& message, const ids& ops,
                   const ids& tensors) {
  REQUIRE_FALSE(r);
  CHECK(r.error().message == message);
  CHECK(r.error().code == code);
  CHECK(r.error().operators == ops);
  CHECK(r.error().tensors == tensors);
}

/// Operator i reads tensor i - 1 and writes tensor i; the first reads the last.
problem_builder ring(op_id n) {
  problem_builder b;
  for (op_id i = 0; i < n; ++i) b.tensor(1);
  for (op_id i = 0; i < n; ++i) b.op({.reads = {(i + n - 1) % n}, .writes = {i}});
  return b;
}

}  // namespace

TEST_CASE("a cycle is named in the order in which it runs round") {
  require_fault(ring(2).build(), error_code::cycle, "a cycle: operator 1 -> operator 0 -> operator 1", {1, 0}, {});
  problem_builder b;
  const auto in = b.input(1), x = b.tensor(1), y = b.tensor(1), out = b.tensor(1);
  b.op({.reads = {in}, .name = "head"});
  b.op({.reads = {in, y}, .writes = {x}, .name = "a"});
  b.op({.reads = {x}, .writes = {y}, .name = "b"});
  b.op({.reads = {y}, .writes = {out}, .name = "tail"});  // waits for the cycle, but is not in it
  require_fault(b.build(), error_code::cycle, "a cycle: operator 2 'b' -> operator 1 'a' -> operator 2 'b'", {2, 1}, {});
}

TEST_CASE("a cycle through control edges; an operator after itself") {
  problem_builder b;
  b.op({.after = {1}});
  b.op({.after = {0}});
  require_fault(b.build(), error_code::cycle, "a cycle: operator 1 -> operator 0 -> operator 1", {1, 0}, {});
  problem_builder alone;
  alone.op({.after = {0}});
  require_fault(alone.build(), error_code::cycle, "a cycle: operator 0 -> operator 0", {0}, {});
}

TEST_CASE("a long cycle is cut short in the message, not in the culprits") {
  const auto r = ring(1000).build();
  REQUIRE(r.error().code == error_code::cycle);
  REQUIRE(r.error().operators.size() == 1000);
  REQUIRE(r.error().message.ends_with("-> ... (1000 operators)"));
  REQUIRE(r.error().message.size() < 200);
}

TEST_CASE("two producers") {
  problem_builder b;
  const auto t = b.tensor(1, "y");
  b.op({.writes = {t}, .name = "a"});
  b.op({.writes = {t}});
  require_fault(b.build(), error_code::two_producers, "tensor 0 'y' is written twice, by operator 0 'a' and by operator 1",
                {0, 1}, {0});
  problem_builder twice;
  const auto u = twice.tensor(1);
  twice.op({.writes = {u, u}});
  require_fault(twice.build(), error_code::two_producers, "tensor 0 is written twice, by operator 0 and by operator 0",
                {0, 0}, {0});
}

TEST_CASE("indices that name nothing") {
  problem_builder b;
  b.tensor(1);
  SECTION("a read") {
    b.op({.reads = {5}});
    require_fault(b.build(), error_code::unknown_tensor, "operator 0 names tensor 5, which does not exist", {0}, {});
  }
  SECTION("a write") {
    b.op({.writes = {7}, .name = "w"});
    require_fault(b.build(), error_code::unknown_tensor, "operator 0 'w' names tensor 7, which does not exist", {0}, {});
  }
  SECTION("an alias") {
    b.alias(9, "v");
    require_fault(b.build(), error_code::unknown_tensor, "tensor 1 'v' is an alias of tensor 9, which does not exist", {},
                  {});
  }
  SECTION("a graph output") {
    b.output(4);
    require_fault(b.build(), error_code::unknown_tensor, "the graph's inputs or outputs name tensor 4, which does not exist",
                  {}, {});
  }
  SECTION("a control predecessor") {
    b.op({.after = {3}});
    require_fault(b.build(), error_code::unknown_operator, "operator 0 runs after operator 3, which does not exist", {0},
                  {});
  }
}

TEST_CASE("what is read or kept has a producer or is a graph input") {
  problem_builder b;
  const auto t = b.tensor(1, "x");
  SECTION("read") {
    b.op({});
    b.op({.reads = {t}});
    require_fault(b.build(), error_code::no_producer,
                  "operator 1 reads tensor 0 'x', which is no operator's output and no graph input", {1}, {0});
  }
  SECTION("kept") {
    b.output(t);
    require_fault(b.build(), error_code::no_producer,
                  "tensor 0 'x' is a graph output, but no operator's output and no graph input", {}, {0});
  }
  SECTION("neither") { REQUIRE(b.build()); }
}

TEST_CASE("a produced graph input") {
  problem_builder b;
  const auto t = b.input(1, "x");
  b.op({.writes = {t}});
  require_fault(b.build(), error_code::produced_input, "tensor 0 'x' is a graph input, but operator 0 writes it", {0}, {0});
}

TEST_CASE("an operator that reads its own output") {
  problem_builder b;
  const auto t = b.tensor(1);
  b.op({.reads = {t}, .writes = {t}, .name = "loop"});
  require_fault(b.build(), error_code::reads_own_output, "operator 0 'loop' reads its own output, tensor 0", {0}, {0});
}

TEST_CASE("sizes that overflow, at the limit and past it") {
  problem_builder b;
  b.input(base::max_total, "all");
  REQUIRE(b.build());
  SECTION("tensors") {
    b.input(1, "more");
    require_fault(b.build(), error_code::overflow, "the sizes up to tensor 1 'more' sum to more than 2^61 bytes", {}, {1});
  }
  SECTION("workspace") {
    b.op({.workspace = 1});
    require_fault(b.build(), error_code::overflow, "the sizes up to the workspace of operator 0 sum to more than 2^61 bytes",
                  {0}, {});
  }
  SECTION("a sum that wraps") {
    for (int i = 0; i < 8; ++i) b.input(std::numeric_limits<bytes>::max() / 4);
    REQUIRE(b.build().error().code == error_code::overflow);
  }
}

TEST_CASE("aliases that name no storage of their producer") {
  problem_builder b;
  const auto x = b.input(4, "x"), y = b.input(4, "y");
  SECTION("a circle") {
    problem_draft draft;
    draft.tensors = {{.size = 1, .alias_of = 1}, {.size = 1, .alias_of = 2}, {.size = 1, .alias_of = 1}};
    require_fault(make_problem(draft), error_code::bad_alias, "tensor 1 is an alias of itself, in a circle", {}, {1});
  }
  SECTION("of itself alone: no alias") {
    problem_draft draft;
    draft.tensors = {{.size = 3, .alias_of = 0}};
    draft.graph_inputs = draft.graph_outputs = {0};
    REQUIRE(make_problem(draft).value().live_at_start() == 3);
  }
  SECTION("of what its producer does not read") {
    const auto view = b.alias(y, "view");
    b.op({.reads = {x}, .writes = {view}});
    require_fault(b.build(), error_code::bad_alias,
                  "tensor 2 'view' is an alias of tensor 1 'y', which its producer does not read", {}, {2});
  }
  SECTION("through a chain whose middle its producer reads") {
    const auto view = b.alias(x), again = b.alias(view), out = b.tensor(1);
    b.op({.reads = {x}, .writes = {view}});
    b.op({.reads = {view}, .writes = {again}});
    b.op({.reads = {again}, .writes = {out}});
    const problem p = b.build().value();
    REQUIRE(p.storage(again) == x);
    REQUIRE(p.readers(x).size() == 3);
  }
  SECTION("of another output of its producer") {
    const auto t = b.tensor(4), view = b.alias(t);
    b.op({.reads = {x}, .writes = {view, t}});
    REQUIRE(b.build().value().storage(view) == t);
  }
  SECTION("that no operator writes, of a tensor that one does") {
    const auto t = b.tensor(4, "t");
    b.alias(t, "view");
    b.op({.writes = {t}});
    require_fault(b.build(), error_code::bad_alias, "tensor 3 'view' is an alias of tensor 2 't', but no operator writes it",
                  {}, {3});
  }
  SECTION("of one graph input by another") {
    problem_draft draft;
    draft.tensors = {{.size = 8}, {.size = 8, .alias_of = 0}};
    draft.graph_inputs = {0, 1};
    draft.graph_outputs = {1};
    REQUIRE(make_problem(draft).value().live_at_start() == 8);
  }
}

TEST_CASE("an overwritten tensor that is no input") {
  problem_builder b;
  const auto x = b.input(1), y = b.input(1), out = b.tensor(1);
  b.op({.reads = {x}, .writes = {out}, .overwrites = y, .name = "relu"});
  require_fault(b.build(), error_code::bad_overwrite, "operator 0 'relu' overwrites a tensor that is none of its inputs",
                {0}, {});
}

TEST_CASE("an error thrown is the error") {
  const auto r = ring(2).build();
  try {
    r.value();
    FAIL("no throw");
  } catch (const bad_graph& e) {
    REQUIRE(e.error.code == error_code::cycle);
    REQUIRE(std::string(e.what()) == e.error.message);
  }
}
