// Pictures name what there is, and no name breaks them.
#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/io/dot.hpp>

using namespace memsched;

namespace {

/// conv -> relu (an alias of its result) -> add, which also reads conv's; and a control edge.
problem small() {
  problem_builder b;
  const tensor_id in = b.input(8, "in"), x = b.tensor(16, "x"), y = b.alias(x, "y"),
                  z = b.tensor(4, "z \"quoted\" \\ \n{|}");
  const op_id conv = b.op({.reads = {in}, .writes = {x}, .scope = 0, .name = "conv"});
  b.op({.reads = {x}, .writes = {y}, .scope = 0, .name = "relu"});
  b.op({.reads = {x, y}, .writes = {z}, .after = {conv}, .scope = 1, .name = "bad\"name\\\x01"});
  b.output(z);
  return b.build().value();
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Whether braces and quotes outside and inside of strings balance.
bool well_formed(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') ++i;
    else if (text[i] == '"') quoted = !quoted;
    else if (quoted && text[i] < ' ') return false;
    else if (!quoted && text[i] == '{') ++depth;
    else if (!quoted && text[i] == '}') --depth;
    if (depth < 0) return false;
  }
  return depth == 0 && !quoted && text.starts_with("digraph ") && text.ends_with("}\n");
}

}  // namespace

TEST_CASE("a problem as DOT") {
  const std::string dot = to_dot(small(), "a \"graph\"");
  REQUIRE(well_formed(dot));
  REQUIRE(holds(dot, "digraph \"a \\\"graph\\\"\""));
  REQUIRE(holds(dot, "o0 [label=\"conv\"]"));
  REQUIRE(holds(dot, "t1 [label=\"x\\n16\""));
  REQUIRE(holds(dot, "t1 -> t2 [style=dashed]"));
  REQUIRE(holds(dot, "o0 -> o2 [style=dotted]"));
  REQUIRE(holds(dot, "bad\\\"name\\\\ \""));
  REQUIRE(holds(dot, "  label=\"A box is an operator, an ellipse a tensor with its bytes."));
}

TEST_CASE("the peak of an order as DOT") {
  problem_builder b;
  const tensor_id in = b.input(4, "in"), wide = b.tensor(16, "wide"), out = b.tensor(2, "out"), other = b.tensor(1, "other");
  b.op({.reads = {in}, .writes = {wide}, .name = "expand"});
  b.op({.reads = {wide}, .writes = {out}, .name = "reduce"});
  b.op({.reads = {out}, .writes = {other}, .name = "last"});
  b.output(other);
  const problem p = b.build().value();
  const std::vector<op_id> order{0, 1, 2};
  const evaluation e = evaluate(p, order).value();
  REQUIRE(e.peak_step == 0);
  const std::string dot = to_dot(p, order, e);
  REQUIRE(well_formed(dot));
  REQUIRE(holds(dot, "o0 [label=\"1: expand\", style=filled, fillcolor=\"#f2b8b0\"]"));
  REQUIRE(holds(dot, "o1 [label=\"2: reduce\"]"));
  REQUIRE(holds(dot, "t0 [label=\"in\\n4\", shape=ellipse, style=filled"));
  REQUIRE(holds(dot, "t1 [label=\"wide\\n16\", shape=ellipse, style=filled"));
  REQUIRE(holds(dot, "t2 [label=\"out\\n2\", shape=ellipse]"));
  REQUIRE(holds(dot, "The peak is 20 bytes: red is the operator that runs then"));
}

TEST_CASE("a schedule graph and its hierarchy as DOT") {
  problem_builder b;
  const tensor_id x = b.tensor(16), y = b.tensor(8), z = b.tensor(8), end = b.tensor(1);
  b.op({.writes = {x}, .scope = 0, .name = "start"});
  b.op({.reads = {x}, .writes = {y}, .scope = 1, .name = "left"});
  b.op({.reads = {x}, .writes = {z}, .scope = 1, .name = "right"});
  b.op({.reads = {y, z}, .writes = {end}, .scope = 1, .name = "sum"});
  b.output(end);
  const problem p = b.build().value();
  const schedule_graph g = make_schedule_graph(p);
  const auto label = [&](node_id v) { return p.operator_name(v); };
  const std::string plain = to_dot(g, label);
  REQUIRE(well_formed(plain));
  REQUIRE(holds(plain, "n0 [label=\"start\\npeak 16, impact 16\"]"));
  REQUIRE(holds(plain, "n4 [label=\"-16\", shape=ellipse, style=dashed]"));
  REQUIRE(holds(plain, "n1 -> n4;"));
  REQUIRE(holds(plain, "A box is an operator.\\npeak: "));
  REQUIRE(holds(plain, "A dashed ellipse frees a tensor"));

  const std::string grouped = to_dot(structure::hierarchize(g), label);
  REQUIRE(well_formed(grouped));
  REQUIRE(holds(grouped, "subgraph cluster_0 {"));
  REQUIRE(!holds(grouped, "cluster_1"));
  REQUIRE(holds(grouped, "left\\npeak 8"));
  REQUIRE(grouped.rfind("label=\"A box is a sequence") > grouped.rfind("cluster_0"));  // frames would inherit it
}

TEST_CASE("pictures of nothing") {
  const problem p = problem_builder{}.build().value();
  const schedule_graph g = make_schedule_graph(p);
  const auto label = [](node_id) { return std::string("?"); };
  REQUIRE(well_formed(to_dot(p)));
  REQUIRE(well_formed(to_dot(g, label)));
  REQUIRE(well_formed(to_dot(structure::hierarchize(g), label)));
}
