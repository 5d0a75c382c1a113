// Graphs of other types through the one door.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/graph/lower.hpp>

using namespace memsched;

namespace {

/// The least that a graph may be: ranges by value, and no more than the four members.
struct archetype {
  class op {
   public:
    explicit op(int n) : n_(n) {}
    bool operator==(const op&) const = default;
    int number() const { return n_; }

   private:
    int n_;
  };
  class tensor : public op {
    using op::op;
  };
  std::list<op> ops() const { return {op(0), op(1)}; }
  std::list<tensor> inputs(const op& o) const { return o.number() == 0 ? std::list<tensor>{} : std::list{tensor(7)}; }
  std::array<tensor, 1> outputs(const op& o) const { return {tensor(o.number() == 0 ? 7 : 8)}; }
  short size(const tensor& t) const { return static_cast<short>(t.number()); }
};

/// One row per operator, by name: what it reads and writes. Sizes in a table, 1 where there is none.
struct named_graph {
  struct row {
    std::string name;
    std::vector<std::string> in, out, after{};
    std::int64_t workspace = 0;
    int overwrites = -1;
  };
  std::vector<row> rows;
  std::map<std::string, std::int64_t> sizes{};
  std::map<std::string, std::string> aliases{};
  std::string kept{};

  const row& at(const std::string& name) const {
    return *std::find_if(rows.begin(), rows.end(), [&](const row& r) { return r.name == name; });
  }
  std::vector<std::string> ops() const {
    std::vector<std::string> names;
    for (const row& r : rows) names.push_back(r.name);
    return names;
  }
  const std::vector<std::string>& inputs(const std::string& op) const { return at(op).in; }
  const std::vector<std::string>& outputs(const std::string& op) const { return at(op).out; }
  const std::vector<std::string>& after(const std::string& op) const { return at(op).after; }
  std::int64_t workspace(const std::string& op) const { return at(op).workspace; }
  int overwrites(const std::string& op) const { return at(op).overwrites; }
  bool live_out(const std::string& t) const { return t == kept; }
  std::int64_t size(const std::string& t) const { return sizes.contains(t) ? sizes.at(t) : 1; }
  std::string alias_of(const std::string& t) const { return aliases.contains(t) ? aliases.at(t) : t; }
};

graph_error fault_of(const named_graph& g) {
  const auto r = lower(g);
  REQUIRE_FALSE(r);
  return r.error();
}

}  // namespace

template <>
struct std::hash<archetype::op> {
  std::size_t operator()(const archetype::op& o) const { return static_cast<std::size_t>(o.number()); }
};
template <>
struct std::hash<archetype::tensor> : std::hash<archetype::op> {};

namespace addressed {

/// A def-use IR whose values are handles by address; it knows nothing of memsched.
struct value {
  int bytes;
};
struct instruction {
  std::vector<const value*> uses, defs;
};
struct function {
  std::vector<std::unique_ptr<value>> values;
  std::vector<std::unique_ptr<instruction>> body;
};

}  // namespace addressed

template <>
struct memsched::graph_traits<addressed::function> {
  static std::vector<const addressed::instruction*> ops(const addressed::function& f) {
    std::vector<const addressed::instruction*> list;
    for (const auto& i : f.body) list.push_back(i.get());
    return list;
  }
  static const auto& inputs(const addressed::function&, const addressed::instruction* i) { return i->uses; }
  static const auto& outputs(const addressed::function&, const addressed::instruction* i) { return i->defs; }
  static int size(const addressed::function&, const addressed::value* v) { return v->bytes; }
};

TEST_CASE("the least graph: ranges by value, handles without default, short sizes") {
  static_assert(memory_graph<archetype>);
  static_assert(!hooks<archetype>.after && !hooks<archetype>.workspace && !hooks<archetype>.firing &&
                !hooks<archetype>.scope);
  static_assert(!hooks<archetype>.overwrites && !hooks<archetype>.live_out && !hooks<archetype>.alias_of);
  const auto low = lower(archetype{}).value();
  REQUIRE(low.ops == std::vector{archetype::op(0), archetype::op(1)});
  REQUIRE(low.problem.size(0) == 7);
  REQUIRE(low.problem.size(1) == 8);
  REQUIRE(low.problem.predecessors(1)[0] == 0);
}

TEST_CASE("handles are pointers, and the type is foreign") {
  addressed::function f;
  for (int size : {4, 5}) f.values.push_back(std::make_unique<addressed::value>(addressed::value{size}));
  const addressed::value *a = f.values[0].get(), *b = f.values[1].get();
  f.body.push_back(std::make_unique<addressed::instruction>(addressed::instruction{{a}, {b}}));
  const auto low = lower(f).value();
  REQUIRE(low.ops == std::vector<const addressed::instruction*>{f.body[0].get()});
  REQUIRE(low.problem.live_at_start() == 4);  // no instruction writes a, so it is a graph input
}

TEST_CASE("handles are strings, and every hook is heard") {
  static_assert(hooks<named_graph>.after && hooks<named_graph>.workspace && hooks<named_graph>.overwrites);
  static_assert(hooks<named_graph>.live_out && hooks<named_graph>.alias_of && !hooks<named_graph>.firing);
  const named_graph g{
      .rows = {{"read", {"x"}, {"y"}}, {"view", {"y"}, {"v"}, {}, 9}, {"add", {"x", "v"}, {"z"}, {"view", "read"}, 0, 1}},
      .sizes = {{"x", 3}, {"y", 20}, {"z", 2}},
      .aliases = {{"v", "y"}},
      .kept = "z"};
  const auto low = lower(g).value();
  const problem& p = low.problem;
  REQUIRE(low.ops == g.ops());
  REQUIRE(p.live_at_start() == 3);
  REQUIRE(p.workspace(1) == 9);
  REQUIRE(p.predecessors(2).size() == 2);
  REQUIRE(p.reuses(2)[0].spared == 2);
  REQUIRE(p.live_out(p.outputs(2)[0]));
  REQUIRE(p.storage(p.inputs(2)[1]) == p.outputs(0)[0]);
}

TEST_CASE("an alias may be of a tensor that no operator names") {
  const auto low =
      lower(named_graph{.rows = {{"op", {"view"}, {"y"}}}, .sizes = {{"base", 64}}, .aliases = {{"view", "base"}}});
  REQUIRE(low.value().problem.live_at_start() == 64);
}

TEST_CASE("faults that only the door can see") {
  SECTION("a negative size") {
    const graph_error e = fault_of({.rows = {{"op", {"x"}, {"y"}}}, .sizes = {{"y", -1}}});
    REQUIRE(e.code == error_code::bad_size);
    REQUIRE(e.message == "the size of tensor 1 is negative: -1");
    REQUIRE(e.tensors == std::vector<tensor_id>{1});
  }
  SECTION("the smallest of all sizes") {
    const graph_error e =
        fault_of({.rows = {{"op", {"x"}, {}}}, .sizes = {{"x", std::numeric_limits<std::int64_t>::min()}}});
    REQUIRE(e.message == "the size of tensor 0 is negative: -9223372036854775808");
  }
  SECTION("a negative workspace") {
    const graph_error e = fault_of({.rows = {{"op", {}, {}, {}, -5}}});
    REQUIRE(e.code == error_code::bad_size);
    REQUIRE(e.message == "the workspace of operator 0 is negative: -5");
    REQUIRE(e.operators == std::vector<op_id>{0});
  }
  SECTION("an operator listed twice") {
    const graph_error e = fault_of({.rows = {{"a", {}, {}}, {"b", {}, {}}, {"a", {}, {}}}});
    REQUIRE(e.code == error_code::unknown_operator);
    REQUIRE(e.message == "operator 0 is listed twice, the second time after 2 operators");
    REQUIRE(e.operators == std::vector<op_id>{0});
  }
  SECTION("a control predecessor from elsewhere") {
    const graph_error e = fault_of({.rows = {{"a", {}, {}}, {"b", {}, {}, {"nobody"}}}});
    REQUIRE(e.code == error_code::unknown_operator);
    REQUIRE(e.message == "operator 1 runs after an operator that is not in the graph");
    REQUIRE(e.operators == std::vector<op_id>{1});
  }
  SECTION("an overwritten position past the inputs") {
    const graph_error e = fault_of({.rows = {{"a", {"x"}, {"y"}, {}, 0, 1}}});
    REQUIRE(e.code == error_code::bad_overwrite);
    REQUIRE(e.message == "operator 0 overwrites input 1, but reads only 1");
  }
  SECTION("the first fault is the one reported") {
    const graph_error e = fault_of({.rows = {{"a", {"x"}, {"y"}, {}, -2, 1}}, .sizes = {{"y", -1}}});
    REQUIRE(e.message == "the workspace of operator 0 is negative: -2");
  }
}

TEST_CASE("faults that the check sees, through the door") {
  REQUIRE(fault_of({.rows = {{"a", {"x"}, {"y"}}, {"b", {"y"}, {"x"}}}}).code == error_code::cycle);
  REQUIRE(fault_of({.rows = {{"a", {}, {"y"}}, {"b", {}, {"y"}}}}).code == error_code::two_producers);
  REQUIRE(fault_of({.rows = {{"a", {"y"}, {"y"}}}}).code == error_code::reads_own_output);
  REQUIRE(fault_of({.rows = {{"a", {"x"}, {"y"}}}, .aliases = {{"x", "y"}, {"y", "x"}}}).code == error_code::bad_alias);
  REQUIRE(fault_of({.rows = {{"a", {"x"}, {"y"}}}, .sizes = {{"y", std::int64_t{1} << 62}}}).code == error_code::overflow);
}

TEST_CASE("a problem is a graph itself, and lowers to an equal one") {
  problem_builder b;
  const auto x = b.input(8), y = b.tensor(6), view = b.alias(y), z = b.tensor(1);
  b.op({.reads = {x}, .writes = {y}, .workspace = 2, .overwrites = x, .rule = firing::cbp, .scope = 1});
  b.op({.reads = {y}, .writes = {view}});
  b.op({.reads = {view}, .writes = {z}, .after = {0}});
  b.output(z);
  const problem p = b.build().value();
  static_assert(memory_graph<problem> && hooks<problem>.alias_of && hooks<problem>.after && hooks<problem>.firing);
  const auto low = lower(p).value();
  REQUIRE(low.ops == std::vector<op_id>{0, 1, 2});
  REQUIRE(low.problem.live_at_start() == 8);
  REQUIRE(low.problem.overwrites(0) == p.overwrites(0));
  REQUIRE(low.problem.firing(0) == firing::cbp);
  REQUIRE(low.problem.scope(0) == 0);  // cells are numbered anew
  REQUIRE(low.problem.storage(view) == y);
  REQUIRE(low.problem.live_out(z));
}

TEST_CASE("a graph without operators") {
  const auto low = lower(named_graph{}).value();
  REQUIRE(low.ops.empty());
  REQUIRE(low.problem.tensors().size() == 0);
}
