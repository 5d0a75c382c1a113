// The ONNX importer, on models built here.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <memsched/formats/onnx.hpp>
#include <memsched/schedule.hpp>

#include "onnx_model.hpp"

using namespace memsched;
using onnx_model::add_graph;
using onnx_model::model;
using onnx_model::set;
using onnx_model::set_text;
using proto = onnx::TensorProto;
using texts = std::vector<std::string>;

namespace {

/// A model that must import, with look-up by name.
struct imported {
  problem_draft draft;

  model_graphs graphs;

  explicit imported(const model& m, const read_options& options = {}) {
    auto r = read_onnx(m.file(), options);
    INFO(r.error().message);
    REQUIRE(r);
    graphs = std::move(*r);
    draft = graphs[0].draft;
    const auto checked = make_problem(draft);
    INFO(checked.error().message);
    REQUIRE(checked);
  }

  static memsched::index_t find(const texts& names, const std::string& name) {
    return static_cast<memsched::index_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }
  tensor_id tensor(const std::string& name) const {
    const tensor_id t = find(draft.tensor_names, name);
    INFO("tensor " << name);
    REQUIRE(t < draft.tensors.size());
    return t;
  }
  op_id op(const std::string& name) const {
    const op_id o = find(draft.operator_names, name);
    INFO("operator " << name);
    REQUIRE(o < draft.operators.size());
    return o;
  }
  texts names(std::span<const tensor_id> list) const {
    texts result;
    for (tensor_id t : list) result.push_back(t == none ? "none" : draft.tensor_names[t]);
    return result;
  }
  bytes size(const std::string& name) const { return draft.tensors[tensor(name)].size; }
  texts reads(const std::string& name) const { return names(draft.reads[op(name)]); }
  texts writes(const std::string& name) const { return names(draft.writes[op(name)]); }
  std::string alias_of(const std::string& name) const { return name_of(draft.tensors[tensor(name)].alias_of); }
  std::string overwrites(const std::string& name) const { return name_of(draft.operators[op(name)].overwrites); }
  bytes workspace(const std::string& name) const {
    const auto orders = schedule_graphs(graphs, 1, [](const problem& p) { return schedule(p); });
    INFO(orders.error().message);
    REQUIRE(orders);
    return with_workspace(graphs, 0, *orders).operators[op(name)].workspace;
  }

 private:
  std::string name_of(tensor_id t) const { return t == none ? "none" : draft.tensor_names[t]; }
};

graph_error error_of(const std::string& file, const read_options& options = {}) {
  const auto r = read_onnx(file, options);
  REQUIRE_FALSE(r);
  CHECK(r.error().message.find('\n') == std::string::npos);
  return r.error();
}

/// Requires that the import fails with a message that has all the parts.
error_code refused(const model& m, const texts& parts, const read_options& options = {}) {
  const graph_error e = error_of(m.file(), options);
  for (const auto& part : parts) {
    INFO(e.message);
    CHECK(e.message.find(part) != std::string::npos);
  }
  return e.code;
}

/// x -> Conv c1 -> Relu r1 -> MaxPool p1 -> y, on [1,3,8,8].
void add_chain(model& m, std::int64_t batch = 1) {
  m.input("x", {batch, 3, 8, 8}).weight("w", {4, 3, 3, 3});
  set(m.op("Conv", {"x", "w"}, {"a"}, "c1"), "pads", {1, 1, 1, 1});
  m.op("Relu", {"a"}, {"b"}, "r1");
  auto& pool = m.op("MaxPool", {"b"}, {"y"}, "p1");
  set(pool, "kernel_shape", {2, 2});
  set(pool, "strides", {2, 2});
  m.output("y");
}

/// x[2,6] -> Relu -> h[2,6], then an If on c whose branches read h, and y from it.
void add_if(model& m) {
  m.input("x", {2, 6}).input("c", {}, proto::BOOL).weight("w", {2, 6});
  m.op("Relu", {"x"}, {"h"}, "r");
  auto& node = m.op("If", {"c"}, {"y"}, "if1");
  auto then = add_graph(node, "then_branch");
  then.op("Exp", {"h"}, {"t1"});
  then.op("Add", {"t1", "w"}, {"t2"});
  then.op("Sub", {"t2", "x"}, {"t3"});
  then.output("t3");
  auto otherwise = add_graph(node, "else_branch");
  otherwise.op("Neg", {"h"}, {"e1"});
  otherwise.output("e1");
  m.output("y");
}

}  // namespace

TEST_CASE("a chain: sizes, names, readers; weights stay out") {
  model m;
  add_chain(m);
  const imported g(m);
  CHECK(g.draft.name == "test");
  CHECK(g.draft.operator_names == texts{"c1", "r1", "p1"});
  CHECK(g.draft.tensor_names == texts{"x", "a", "b", "y"});
  CHECK(g.size("x") == 768);
  CHECK(g.graphs[0].forms.size() == 4);
  CHECK(g.graphs[0].forms[0].type == "FLOAT");
  CHECK(g.graphs[0].forms[g.tensor("y")].shape == std::vector<std::int64_t>{1, 4, 4, 4});
  CHECK(g.size("a") == 1024);
  CHECK(g.size("b") == 1024);
  CHECK(g.size("y") == 256);
  CHECK(g.reads("c1") == texts{"x"});
  CHECK(g.writes("c1") == texts{"a"});
  CHECK(g.names(g.draft.graph_inputs) == texts{"x"});
  CHECK(g.names(g.draft.graph_outputs) == texts{"y"});
  CHECK(g.overwrites("c1") == "none");
  CHECK(g.overwrites("r1") == "a");
}

TEST_CASE("a shared tensor, several outputs, absent names, and operators without a name") {
  model m;
  m.input("x", {4, 10}).integers("parts", {3, 7});
  m.op("Split", {"x", "parts"}, {"s", "t"});
  set(*m.proto.mutable_graph()->mutable_node(0), "axis", 1);
  m.op("Exp", {"s"}, {"u"});
  m.op("Concat", {"s", "u", "s"}, {"v"});
  set(*m.proto.mutable_graph()->mutable_node(2), "axis", 1);
  m.op("Clip", {"v", "", ""}, {"y"});
  m.output("y").output("t");
  const imported g(m);
  CHECK(g.draft.operator_names == texts{"Split_0", "Exp_1", "Concat_2", "Clip_3"});
  CHECK(g.writes("Split_0") == texts{"s", "t"});
  CHECK(g.size("s") == 4 * 3 * 4);
  CHECK(g.size("t") == 4 * 7 * 4);
  CHECK(g.reads("Concat_2") == texts{"s", "u"});
  CHECK(g.size("v") == 4 * 9 * 4);
  CHECK(g.reads("Clip_3") == texts{"v"});
  CHECK(g.names(g.draft.graph_outputs) == texts{"y", "t"});
}

TEST_CASE("element types give the bytes") {
  const auto [type, size] = GENERATE(table<int, bytes>({{proto::FLOAT, 24},
                                                        {proto::UINT8, 6},
                                                        {proto::INT8, 6},
                                                        {proto::UINT16, 12},
                                                        {proto::INT16, 12},
                                                        {proto::INT32, 24},
                                                        {proto::INT64, 48},
                                                        {proto::BOOL, 6},
                                                        {proto::FLOAT16, 12},
                                                        {proto::DOUBLE, 48},
                                                        {proto::UINT32, 24},
                                                        {proto::UINT64, 48},
                                                        {proto::COMPLEX64, 48},
                                                        {proto::COMPLEX128, 96},
                                                        {proto::BFLOAT16, 12},
                                                        {17, 6},
                                                        {22, 3}}));
  model m;
  m.input("x", {2, 3}, type);
  m.op("Transpose", {"x"}, {"y"}, "t");
  m.output("y");
  const imported g(m);
  CHECK(g.size("x") == size);
  CHECK(g.size("y") == size);
}

TEST_CASE("zero dimensions and scalars are legal; strings and no type are not") {
  model m;
  m.input("x", {0, 3}).input("s", {});
  m.op("Add", {"x", "s"}, {"y"}, "a");
  m.output("y");
  const imported g(m);
  CHECK(g.size("y") == 0);
  CHECK(g.size("s") == 4);

  model strings;
  strings.input("x", {2}, proto::STRING).output("x");
  CHECK(refused(strings, {"'x'", "strings"}) == error_code::bad_input);
  model untyped;
  untyped.input("x", {2}, 99).output("x");
  CHECK(refused(untyped, {"'x'", "element type (99)"}) == error_code::bad_input);
}

TEST_CASE("sizes beyond 2^61 are refused") {
  model m;
  m.input("x", {1 << 30, 1 << 30, 4});
  m.op("Relu", {"x"}, {"y"});
  m.output("y");
  CHECK(refused(m, {"'x'", "2^61"}) == error_code::overflow);
  model wide;
  wide.input("x", {std::int64_t{1} << 50}).output("x");
  CHECK(refused(wide, {"'x'", "2^40"}) == error_code::overflow);
}

TEST_CASE("aliases: reshapes, identity, dropout") {
  model m;
  m.input("x", {2, 3, 4}).integers("shape", {0, -1}).integers("axis", {0});
  m.op("Reshape", {"x", "shape"}, {"a"}, "reshape");
  m.op("Flatten", {"a"}, {"b"}, "flatten");
  m.op("Unsqueeze", {"b", "axis"}, {"c"}, "unsqueeze");
  m.op("Squeeze", {"c", "axis"}, {"d"}, "squeeze");
  m.op("Identity", {"d"}, {"e"}, "identity");
  m.op("Dropout", {"e"}, {"f", "mask"}, "dropout");
  m.op("Relu", {"f"}, {"y"}, "relu");
  m.output("y");
  const imported g(m);
  CHECK(g.alias_of("a") == "x");
  CHECK(g.alias_of("b") == "a");
  CHECK(g.alias_of("c") == "b");
  CHECK(g.alias_of("d") == "c");
  CHECK(g.alias_of("e") == "d");
  CHECK(g.alias_of("f") == "e");
  CHECK(g.alias_of("y") == "none");
  CHECK(g.writes("dropout") == texts{"f"});
  CHECK(g.overwrites("squeeze") == "none");
  CHECK(g.overwrites("relu") == "f");
  CHECK(make_problem(g.draft)->storage(g.tensor("f")) == g.tensor("x"));
}

TEST_CASE("a dropout that trains is no alias, and a mask that is read counts") {
  model m;
  m.input("x", {2, 3}).scalar("train", 1, proto::BOOL);
  m.op("Dropout", {"x", "", "train"}, {"y", "mask"}, "dropout");
  m.output("y").output("mask");
  const imported g(m);
  CHECK(g.alias_of("y") == "none");
  CHECK(g.writes("dropout") == texts{"y", "mask"});
  CHECK(g.size("mask") == 6);
}

TEST_CASE("the mask of an old dropout has the operand's shape and type") {
  model m(7);
  m.input("x", {2, 3});
  m.op("Dropout", {"x"}, {"y", "mask"}, "dropout");
  m.op("Relu", {"mask"}, {"z"}, "relu");
  m.output("y").output("z");
  const imported g(m);
  CHECK(g.alias_of("y") == "x");
  CHECK(g.size("mask") == 24);
}

TEST_CASE("in place: the first activation that has the output's type and shape") {
  model m;
  m.input("x", {4, 4}).input("small", {4}).weight("w", {4, 4});
  m.input("row", {1, 2}).input("wide", {2, 1}, proto::INT64).input("line", {1, 1, 2});
  m.op("Pow", {"row", "wide"}, {"p"}, "as_large_but_broadcasts");
  m.op("Cast", {"row"}, {"e"}, "cast");
  onnx_model::attribute(*m.proto.mutable_graph()->mutable_node(1), "to", onnx::AttributeProto::INT).set_i(proto::INT32);
  m.op("Add", {"line", "row"}, {"f"}, "leading_ones");
  m.output("p").output("e").output("f");
  m.op("Add", {"w", "x"}, {"a"}, "weight_first");
  m.op("Mul", {"small", "a"}, {"b"}, "small_first");
  m.op("Equal", {"a", "b"}, {"c"}, "equal");
  m.op("MatMul", {"a", "b"}, {"d"}, "matmul");
  m.output("c").output("d");
  const imported g(m);
  CHECK(g.overwrites("as_large_but_broadcasts") == "none");
  CHECK(g.overwrites("cast") == "row");
  CHECK(g.overwrites("leading_ones") == "line");
  CHECK(g.overwrites("weight_first") == "x");
  CHECK(g.overwrites("small_first") == "a");
  CHECK(g.overwrites("equal") == "none");
  CHECK(g.overwrites("matmul") == "none");
}

TEST_CASE("weights, constants and what is made of them stay out") {
  model m;
  m.input("x", {2, 3}).input("w", {2, 3}).weight("w", {2, 3}).weight("unused", {5});
  auto& constant = m.op("Constant", {}, {"k"}, "constant");
  onnx_model::attribute(constant, "value_float", onnx::AttributeProto::FLOAT).set_f(2);
  m.op("Mul", {"w", "k"}, {"wk"}, "on_weights");
  m.op("Add", {"x", "wk"}, {"y"}, "add");
  m.output("y").output("wk");
  const imported g(m);
  CHECK(g.draft.operator_names == texts{"add"});
  CHECK(g.draft.tensor_names == texts{"x", "y"});
  CHECK(g.names(g.draft.graph_inputs) == texts{"x"});
  CHECK(g.names(g.draft.graph_outputs) == texts{"y"});
}

TEST_CASE("a sparse weight, and random numbers, which are no constant") {
  model m;
  auto* sparse = m.proto.mutable_graph()->add_sparse_initializer();
  sparse->mutable_values()->set_name("w");
  sparse->mutable_values()->set_data_type(proto::FLOAT);
  sparse->mutable_values()->add_dims(1);
  sparse->add_dims(3);
  sparse->add_dims(3);
  set(m.op("RandomNormal", {}, {"r"}, "random"), "shape", {3, 3});
  m.op("MatMul", {"r", "w"}, {"y"}, "matmul");
  m.output("y");
  const imported g(m);
  CHECK(g.draft.operator_names == texts{"random", "matmul"});
  CHECK(g.reads("random").empty());
  CHECK(g.reads("matmul") == texts{"r"});
}

TEST_CASE("an open input needs a shape") {
  model m;
  add_chain(m, -1);
  m.proto.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(2)
      ->set_dim_param("H");
  CHECK(refused(m, {"'x'", "[?,3,H,8]", "--shape x=1,3,224,8"}) == error_code::bad_input);
  const imported g(m, {.shapes = {{"x", {2, 3, 8, 8}}}});
  CHECK(g.size("x") == 2 * 768);
  CHECK(g.size("y") == 2 * 256);

  model unranked;
  unranked.input("x", {}).output("x");
  unranked.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  refused(unranked, {"'x'", "--shape x="});
  CHECK(imported(unranked, {.shapes = {{"x", {5}}}}).size("x") == 20);
}

TEST_CASE("a wrong shape is refused") {
  model m;
  add_chain(m, -1);
  refused(m, {"'x'", "3 dimensions"}, {.shapes = {{"x", {1, 3, 8}}}});
  refused(m, {"'x'", "[1,4,8,8]", "contradicts", "[?,3,8,8]"}, {.shapes = {{"x", {1, 4, 8, 8}}}});
  refused(m, {"'x'", "not positive"}, {.shapes = {{"x", {0, 3, 8, 8}}}});
  refused(m, {"'x'", "not positive"}, {.shapes = {{"x", {-1, 3, 8, 8}}}});
  refused(m, {"'z'", "no graph input"}, {.shapes = {{"x", {1, 3, 8, 8}}, {"z", {1}}}});
  refused(m, {"'w'", "no graph input"}, {.shapes = {{"x", {1, 3, 8, 8}}, {"w", {4, 3, 3, 3}}}});
}

TEST_CASE("a shape computed from a shape is folded away") {
  model m;
  m.input("x", {2, 3, 4}).scalar("first", 0).integers("axis", {0}).integers("rest", {-1}).integers("two", {2});
  m.op("Shape", {"x"}, {"s"});
  m.op("Gather", {"s", "first"}, {"n"});
  m.op("Unsqueeze", {"n", "axis"}, {"n1"});
  m.op("Mul", {"n1", "two"}, {"n2"});
  set(m.op("Cast", {"n2"}, {"f"}), "to", proto::FLOAT);
  m.op("Floor", {"f"}, {"f2"});
  set(m.op("Cast", {"f2"}, {"n3"}), "to", proto::INT64);
  set(m.op("Concat", {"n3", "rest"}, {"shape"}), "axis", 0);
  m.op("Reshape", {"x", "shape"}, {"y"}, "reshape");
  m.op("MatMul", {"y", "v"}, {"z"}, "matmul");
  m.weight("v", {6, 5}).output("z");
  const imported g(m);
  CHECK(g.draft.operator_names == texts{"reshape", "matmul"});
  CHECK(g.size("y") == 96);
  CHECK(g.size("z") == 4 * 5 * 4);
}

TEST_CASE("folding: slices, ranges, expansions, comparisons, NonZero, Split, reductions") {
  model m(13);
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  m.input("x", {2, 3, 4, 5}).integers("one", {1}).integers("end", {large}).integers("zero", {0}).integers("back", {-1});
  m.integers("low", {-large - 1}).integers("last", {-1}).scalar("s0", 0).scalar("s1", 1).scalar("s4", 4);
  m.op("Shape", {"x"}, {"s"});
  m.op("Slice", {"s", "one", "end"}, {"tail"});                       // 3 4 5
  m.op("Slice", {"s", "last", "low", "zero", "back"}, {"reversed"});  // 5 4 3 2
  m.op("Split", {"reversed"}, {"front", "rear"});                     // 5 4 | 3 2
  set(m.op("ReduceProd", {"front"}, {"twenty"}), "keepdims", 1);      // 20
  m.op("Range", {"s0", "s4", "s1"}, {"range"});                       // 0 1 2 3
  m.op("Greater", {"range", "one"}, {"large"});                       // 0 0 1 1
  m.op("Where", {"large", "range", "one"}, {"where"});                // 1 1 2 3
  m.op("NonZero", {"large"}, {"which"});                              // 2 3, as [1,2]
  m.op("Squeeze", {"which", "zero"}, {"which1"});                     // 2 3
  m.op("ConstantOfShape", {"one"}, {"null"});                         // 0.0
  m.op("Shape", {"where"}, {"four"});                                 // 4
  m.op("Expand", {"one", "four"}, {"ones"});                          // 1 1 1 1
  m.op("Add", {"ones", "where"}, {"repeats"});                        // 2 2 3 4
  m.op("Tile", {"x", "repeats"}, {"tiled"}, "tile");                  // 4 6 12 20
  set(m.op("Concat", {"twenty", "rear"}, {"t3"}), "axis", 0);         // 20 3 2
  m.op("Reshape", {"x", "t3"}, {"reshaped"}, "reshape");
  m.op("Expand", {"x", "tail"}, {"expanded"}, "expand");                    // 2 3 4 5
  set(m.op("Gather", {"x", "which1"}, {"gathered"}, "gather"), "axis", 3);  // 2 3 4 2
  m.output("tiled").output("reshaped").output("expanded").output("gathered");
  const imported g(m);
  CHECK(g.draft.operator_names == texts{"tile", "reshape", "expand", "gather"});
  CHECK(g.size("tiled") == 4 * 6 * 12 * 20 * 4);
  CHECK(g.size("reshaped") == 480);
  CHECK(g.size("expanded") == 480);
  CHECK(g.size("gathered") == 2 * 3 * 4 * 2 * 4);
}

TEST_CASE("a reshape to a target that does not fit is refused") {
  model m;
  m.input("x", {2, 3}).integers("shape", {4, 2});
  m.op("Reshape", {"x", "shape"}, {"y"}, "bad");
  m.output("y");
  refused(m, {"operator 0 'bad' (Reshape)", "[2,3]", "[4,2]"});
}

TEST_CASE("a shape that depends on data is refused") {
  model m;
  m.input("x", {2, 3});
  m.op("NonZero", {"x"}, {"y"}, "nz");
  m.output("y");
  refused(m, {"'y'", "operator 0 'nz' (NonZero)", "no static shape", "[2,?]"});
  model reshape;
  reshape.input("x", {6}).input("shape", {2}, proto::INT64);
  reshape.op("Reshape", {"x", "shape"}, {"y"}, "r");
  reshape.output("y");
  refused(reshape, {"'y'", "operator 0 'r' (Reshape)", "no static shape"});
}

TEST_CASE("what ONNX's inference refuses names operator and reason") {
  model m;
  m.input("x", {2, 3}).input("y", {2, 3});
  m.op("MatMul", {"x", "y"}, {"z"}, "mm");
  m.output("z");
  refused(m, {"operator 0 'mm' (MatMul)", "Incompatible dimensions"});
  model arity;
  arity.input("x", {2, 3});
  arity.op("Relu", {"x", "x"}, {"z"}, "two");
  refused(arity, {"operator 0 'two' (Relu)", "input size 2"});
}

TEST_CASE("parameters on which inference would divide by zero or overflow are refused") {
  model m;
  m.input("x", {1, 3, 8, 8});
  auto& pool = m.op("MaxPool", {"x"}, {"y"}, "p");
  set(pool, "kernel_shape", {2, 2});
  set(pool, "strides", {0, 2});
  refused(m, {"operator 0 'p' (MaxPool)", "strides is 0"});
  model depth;
  depth.input("x", {1, 4, 8, 8});
  set(depth.op("DepthToSpace", {"x"}, {"y"}, "d"), "blocksize", std::int64_t{1} << 32);
  refused(depth, {"operator 0 'd' (DepthToSpace)", "blocksize"});
  model tile;
  tile.input("x", {16}).integers("n", {std::int64_t{1} << 60});
  tile.op("Tile", {"x", "n"}, {"y"}, "t");
  refused(tile, {"operator 0 't' (Tile)", "repeats"});
}

TEST_CASE("shapes beyond which inference would read are refused") {
  model conv;
  conv.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3, 3});
  conv.op("Conv", {"x", "w"}, {"y"}, "c");
  refused(conv, {"operator 0 'c' (Conv)", "rank of input 1 is 5"});
  model strides;
  strides.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3});
  set(strides.op("Conv", {"x", "w"}, {"y"}, "c"), "strides", {1, 1, 1});
  refused(strides, {"operator 0 'c' (Conv)", "length of strides is 3"});
  model gemm(6);
  gemm.input("x", {3}).weight("w", {3, 3}).weight("b", {3});
  gemm.op("Gemm", {"x", "w", "b"}, {"y"}, "g");
  refused(gemm, {"operator 0 'g' (Gemm)", "rank of input 0 is 1"});
  model fill;
  fill.input("x", {std::int64_t{1} << 31}, proto::INT64);
  fill.op("ConstantOfShape", {"x"}, {"y"}, "f");
  refused(fill, {"operator 0 'f' (ConstantOfShape)", "length of input 0"});
  model pool;
  pool.input("x", {1, 3, 8, 8}).input("rois", {2, 5});
  set(pool.op("MaxRoiPool", {"x", "rois"}, {"y"}, "p"), "pooled_shape", onnx_model::dims{2});
  refused(pool, {"operator 0 'p' (MaxRoiPool)", "length of pooled_shape is 1"});
  model gather;
  gather.input("x", {4}).input("i", {2}, proto::INT64);
  set(gather.op("GatherND", {"x", "i"}, {"y"}, "n"), "batch_dims", -5);
  refused(gather, {"operator 0 'n' (GatherND)", "batch_dims is -5"});
}

TEST_CASE("graphs within graphs, up to what protobuf parses") {
  const auto nest = [](int depth) {
    model m;
    m.input("x", {4}).input("c", {}, proto::BOOL).output("y0");
    std::vector<onnx_model::graph> level{m};
    for (int d = 0; d < depth; ++d) {
      auto& node = level.back().op("If", {"c"}, {"y" + std::to_string(d)});
      auto otherwise = add_graph(node, "else_branch");
      otherwise.op("Neg", {"x"}, {"e"});
      otherwise.output("e");
      level.push_back(add_graph(node, "then_branch"));
      level.back().output("y" + std::to_string(d + 1));
    }
    level.back().op("Relu", {"x"}, {"y" + std::to_string(depth)});
    return m.file();
  };
  const auto graphs = read_onnx(nest(20));
  REQUIRE(graphs);
  CHECK(graphs->size() == 1 + 2 * 20);
  CHECK((*graphs)[0].draft.operators.size() == 1);
  const auto orders = schedule_graphs(*graphs, 1, [](const problem& p) { return schedule(p); });
  REQUIRE(orders);
  CHECK(with_workspace(*graphs, 0, *orders).operators[0].workspace == 20 * 16);
  CHECK(error_of(nest(60)).message.find("protobuf") != std::string::npos);
}

TEST_CASE("an If is one operator: it reads what its branches capture, workspace of the costlier branch") {
  model m;
  add_if(m);
  const imported g(m);
  CHECK(g.draft.operator_names == texts{"r", "if1"});
  CHECK(g.reads("if1") == texts{"c", "h", "x"});
  CHECK(g.writes("if1") == texts{"y"});
  CHECK(g.size("y") == 48);
  CHECK(g.workspace("if1") == 48);  // its chain works in place
  CHECK(g.workspace("r") == 0);
}

TEST_CASE("an If whose condition is constant takes that branch alone") {
  model m;
  m.input("x", {2, 1}).scalar("c", 0, proto::BOOL).integers("axis", {1});
  auto& node = m.op("If", {"c"}, {"y"}, "if1");
  auto then = add_graph(node, "then_branch");
  then.op("Squeeze", {"x", "axis"}, {"t"});
  then.output("t");
  auto otherwise = add_graph(node, "else_branch");
  otherwise.op("Relu", {"x"}, {"e"});
  otherwise.output("e");
  m.op("Exp", {"y"}, {"z"}, "exp");
  m.output("z");
  const imported g(m);
  CHECK(g.size("y") == 8);
  CHECK(g.workspace("if1") == 8);
  CHECK(g.reads("if1") == texts{"x"});
}

TEST_CASE("an input that always has one value decides which branch runs, and is none in the graph") {
  model m;
  m.input("x", {8}).input("rate", {}, proto::INT64).scalar("fast", 16000);
  m.op("Equal", {"rate", "fast"}, {"c"});
  auto& node = m.op("If", {"c"}, {"y"}, "if1");
  auto then = add_graph(node, "then_branch");
  then.op("Relu", {"x"}, {"t"});
  then.output("t");
  auto otherwise = add_graph(node, "else_branch");  // would not fit
  otherwise.integers("shape", {3, 3}).op("Reshape", {"x", "shape"}, {"e"});
  otherwise.output("e");
  m.output("y");
  CHECK(!read_onnx(m.file()));
  const auto with = [](const std::string& name, std::int64_t value) {
    read_options options;
    options.values[name] = value;
    return options;
  };
  const imported g(m, with("rate", 16000));
  CHECK(g.names(g.draft.graph_inputs) == texts{"x"});
  CHECK(g.draft.operator_names == texts{"if1"});
  CHECK(!read_onnx(m.file(), with("rate", 8000)));
  const auto message = [&](const read_options& o) { return read_onnx(m.file(), o).error().message; };
  CHECK(message(with("x", 1)) == "the value 1 given for graph input 'x' does not fit: its type is 1, its shape [8]");
  CHECK(message(with("nobody", 1)) == "a value is given for 'nobody', which is no graph input");
}

TEST_CASE("elements of large weights are left out before anything is parsed, at any depth; small ones are read") {
  model m;
  m.input("x", {1, 8}).input("c", {}, proto::BOOL).floats("w", {8, 4096}).integers("shape", {4096, 1});
  m.op("MatMul", {"x", "w"}, {"y"});
  auto& node = m.op("If", {"c"}, {"z"}, "if1");
  for (const char* name : {"then_branch", "else_branch"}) {
    auto branch = add_graph(node, name);
    branch.floats("v", {1, 4096}).op("Add", {"y", "v"}, {"s"});
    auto& constant = branch.op("Constant", {}, {"k"});
    auto& t = *onnx_model::attribute(constant, "value", onnx::AttributeProto::TENSOR).mutable_t();
    t.set_data_type(proto::FLOAT);
    t.add_dims(4096);
    t.set_raw_data(std::string(4 * 4096, 'k'));
    branch.op("Mul", {"s", "k"}, {"p"});
    branch.op("Reshape", {"p", "shape"}, {"r"});
    branch.output("r");
  }
  m.output("z");
  const std::string file = m.file();
  const auto bare = onnx_wire::weight_stripper(file).run();
  REQUIRE(bare);
  CHECK(file.size() > 180000);
  CHECK(bare->size() < 1000);
  onnx::ModelProto parsed;
  REQUIRE(parsed.ParseFromString(*bare));
  CHECK(parsed.graph().initializer(0).dims_size() == 2);
  CHECK(parsed.graph().initializer(1).int64_data_size() == 2);
  const imported g(m);
  CHECK(g.size("z") == 4 * 4096);
  CHECK(onnx_wire::weight_stripper(*bare).run() == bare);

  CHECK(!onnx_wire::weight_stripper(file.substr(0, file.size() - 1)).run());
  CHECK(!onnx_wire::has_external_data(file, 0, file.size()));
  m.weight("outside", {2});
  const std::string other = m.file();
  CHECK(onnx_wire::has_external_data(other, 0, other.size()));
}

TEST_CASE("two records of what stands once are merged by protobuf, and stay as they are") {
  model m;
  m.input("x", {4});
  auto& node = m.op("Constant", {}, {"k"});
  auto& t = *onnx_model::attribute(node, "value", onnx::AttributeProto::TENSOR).mutable_t();
  t.set_data_type(proto::FLOAT);
  t.add_dims(4);
  t.set_raw_data(std::string(100000, 'k'));
  m.op("Add", {"x", "k"}, {"y"});
  m.output("y");
  const std::string once = m.file();
  CHECK(onnx_wire::weight_stripper(once).run()->size() < 200);
  const std::string twice = once + once.substr(once.find(':'));  // field 7, the graph, again
  onnx::ModelProto merged;
  REQUIRE(merged.ParseFromString(twice));
  CHECK(onnx_wire::weight_stripper(twice).run() == twice);
}

TEST_CASE("branches of different shapes are refused, and a fault inside a branch is named") {
  model m;
  m.input("x", {2, 1}).input("c", {}, proto::BOOL).integers("axis", {1});
  auto& node = m.op("If", {"c"}, {"y"}, "if1");
  auto then = add_graph(node, "then_branch");
  then.op("Squeeze", {"x", "axis"}, {"t"});
  then.output("t");
  auto otherwise = add_graph(node, "else_branch");
  auto& relu = otherwise.op("Relu", {"x"}, {"e"}, "inner");
  otherwise.output("e");
  m.output("y");
  refused(m, {"'y'", "operator 0 'if1' (If)", "no static shape"});
  relu.set_input(0, "nowhere");
  CHECK(refused(m, {"operator 0 'if1' (If)", "operator 0 'inner' (Relu)", "'nowhere'"}) == error_code::no_producer);
}

TEST_CASE("a Loop: carried values keep their shape; workspace is the peak of the body") {
  model m;
  m.input("x", {3, 4}).input("n", {}, proto::INT64).input("outer", {4});
  auto& node = m.op("Loop", {"n", "", "x"}, {"y"}, "loop");
  auto body = add_graph(node, "body");
  body.input("i", {}, proto::INT64).input("go", {}, proto::BOOL).input("v", {-1, -1});
  body.op("Identity", {"go"}, {"go_on"});
  body.op("Add", {"v", "outer"}, {"v2"});
  auto& last = body.op("Relu", {"v2"}, {"v3"});
  body.output("go_on").output("v3");
  m.output("y");
  {
    const imported g(m);
    CHECK(g.size("y") == 48);
    CHECK(g.reads("loop") == texts{"n", "x", "outer"});
    CHECK(g.workspace("loop") == 1 + 48);  // nothing reads the counter; the rest works in place
  }
  last.set_op_type("Transpose");
  refused(m, {"operator 0 'loop' (Loop)", "carried value 0 changes"});
}

TEST_CASE("a Scan") {
  model m;
  m.input("start", {4}).input("list", {7, 4});
  auto& node = m.op("Scan", {"start", "list"}, {"sum", "all"}, "scan");
  auto body = add_graph(node, "body");
  body.input("s", {4}).input("e", {4});
  body.op("Add", {"s", "e"}, {"s2"});
  body.op("Exp", {"s2"}, {"out"});
  body.output("s2").output("out");
  set(node, "num_scan_inputs", 1);
  m.output("sum").output("all");
  const imported g(m);
  CHECK(g.size("sum") == 16);
  CHECK(g.size("all") == 7 * 16);
  CHECK(g.workspace("scan") == 2 * 16);
  node.mutable_attribute(1)->set_i(3);
  refused(m, {"operator 0 'scan' (Scan)", "num_scan_inputs is 3"});
}

TEST_CASE("an operator that ONNX does not know needs a declared shape") {
  model m;
  m.input("x", {2, 3});
  m.op("Mystery", {"x"}, {"y"}, "m").set_domain("com.acme");
  m.output("y");
  refused(m, {"'y'", "operator 0 'm' (Mystery)", "com.acme.Mystery"});
  m.declare("y", {5, -1});
  refused(m, {"'y'", "com.acme.Mystery"});
  m.proto.mutable_graph()->clear_value_info();
  m.declare("y", {5, 2});
  const imported g(m);
  CHECK(g.size("y") == 40);
  CHECK(g.overwrites("m") == "none");
}

TEST_CASE("a function of the file is refused by name") {
  model m;
  m.input("x", {2, 3});
  m.op("Block", {"x"}, {"y"}, "b").set_domain("local");
  m.output("y").declare("y", {2, 3});
  auto* f = m.proto.add_functions();
  f->set_name("Block");
  f->set_domain("local");
  refused(m, {"operator 0 'b' (Block)", "'Block'", "function"});
}

TEST_CASE("a declared shape that contradicts the inferred one is refused") {
  model m;
  m.input("x", {2, 3});
  m.op("Relu", {"x"}, {"y"}, "r");
  m.output("y").declare("y", {2, 4});
  refused(m, {"'y'", "operator 0 'r' (Relu)", "[2,3]", "declares", "[2,4]"});
}

TEST_CASE("sequences and optionals are refused") {
  model m;
  m.input("x", {2, 3});
  m.op("SequenceConstruct", {"x"}, {"s"}, "seq");
  refused(m, {"'s'", "operator 0 'seq' (SequenceConstruct)", "sequence"});
  model input;
  auto* x = input.proto.mutable_graph()->add_input();
  x->set_name("x");
  x->mutable_type()->mutable_optional_type();
  input.output("x");
  refused(input, {"'x'", "optional"});
}

TEST_CASE("faults of the graph: cycle, missing and double producers, duplicate inputs") {
  model cycle;
  cycle.input("x", {2});
  cycle.op("Add", {"x", "b"}, {"a"}, "first");
  cycle.op("Relu", {"a"}, {"b"}, "second");
  cycle.output("b");
  CHECK(refused(cycle, {"cycle", "'first'", "'second'"}) == error_code::cycle);

  model missing;
  missing.input("x", {2});
  missing.op("Add", {"x", "gone"}, {"y"}, "add");
  CHECK(refused(missing, {"operator 0 'add' (Add)", "'gone'"}) == error_code::no_producer);

  model output;
  output.input("x", {2}).output("gone");
  CHECK(refused(output, {"graph output 'gone'"}) == error_code::no_producer);

  model twice;
  twice.input("x", {2});
  twice.op("Relu", {"x"}, {"y"}, "one");
  twice.op("Relu", {"x"}, {"y"}, "two");
  CHECK(refused(twice, {"operator 1 'two'", "'y'", "operator 0"}) == error_code::two_producers);

  model written;
  written.input("x", {2}).input("z", {2});
  written.op("Relu", {"x"}, {"z"}, "one");
  CHECK(refused(written, {"operator 0 'one'", "'z'"}) == error_code::produced_input);

  model inputs;
  inputs.input("x", {2}).input("x", {2}).output("x");
  refused(inputs, {"'x'", "graph input"});
  model weights;
  weights.weight("w", {2}).weight("w", {2}).output("w");
  refused(weights, {"two initializers", "'w'"});
}

TEST_CASE("operators out of order are put in order") {
  model m;
  m.input("x", {2});
  m.op("Exp", {"a"}, {"y"}, "late");
  m.op("Relu", {"x"}, {"a"}, "early");
  m.output("y");
  CHECK(imported(m).draft.operator_names == texts{"early", "late"});
}

TEST_CASE("operator sets after 17: reductions and splits as they became, unknown ones refused") {
  model m(18);
  m.input("x", {2, 7}).integers("axes", {1});
  m.op("ReduceMean", {"x", "axes"}, {"mean"}, "mean");
  set(m.op("Mish", {"x"}, {"mish"}, "mish"), "num_outputs", 1);
  m.output("mean").output("mish");
  const imported g(m);
  CHECK(g.size("mean") == 8);
  CHECK(g.size("mish") == 56);
  model pad(18);
  pad.input("x", {2, 7}).integers("pads", {1, 1}).integers("axes", {1}).scalar("zero", 0);
  pad.op("Pad", {"x", "pads", "zero", "axes"}, {"y"}, "pad");
  pad.output("y");
  CHECK(imported(pad).size("y") == 4 * 2 * 9);
  model later(999);
  later.input("x", {2});
  later.op("Relu", {"x"}, {"y"}, "r");
  later.output("y");
  refused(later, {"operator set 999"});
}

TEST_CASE("an Einsum's shape") {
  model m;
  m.input("a", {2, 3, 4}).input("b", {2, 4, 5});
  set_text(m.op("Einsum", {"a", "b"}, {"y"}, "sum"), "equation", "bij, bjk -> bik");
  m.output("y");
  CHECK(imported(m).size("y") == 2 * 3 * 5 * 4);
}

TEST_CASE("ranks do not grow without bound") {
  model m;
  m.input("x", onnx_model::dims(40, 1)).integers("i", {0});
  m.proto.mutable_graph()->mutable_initializer(0)->clear_dims();
  for (int d = 0; d < 30; ++d) m.proto.mutable_graph()->mutable_initializer(0)->add_dims(1);
  m.op("Gather", {"x", "i"}, {"y"}, "g");
  m.output("y");
  refused(m, {"'y'", "operator 0 'g' (Gather)", "dimensions"});
}

TEST_CASE("no prefix of a file imports") {
  model m;
  add_if(m);
  const std::string file = m.file();
  REQUIRE(read_onnx(file));
  for (std::size_t n = 0; n < file.size(); ++n) {
    INFO("the first " << n << " bytes of " << file.size());
    CHECK_FALSE(read_onnx(std::string_view(file).substr(0, n)));
  }
}

TEST_CASE("random bytes, and files with a byte changed, end in a value") {
  std::mt19937 random(1);
  std::string noise(300, '\0');
  for (int turn = 0; turn < 300; ++turn) {
    for (char& c : noise) c = static_cast<char>(random());
    CHECK_FALSE(read_onnx(noise));
  }
  model m;
  add_if(m);
  const std::string file = m.file();
  std::size_t refused_files = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::string changed = file;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (random() % 8)));
    const auto r = read_onnx(changed);
    refused_files += !r;
    if (!r) CHECK_FALSE(r.error().message.empty());
  }
  CHECK(refused_files > file.size() / 2);
}

TEST_CASE("files that are no models") {
  CHECK(error_of("").message.find("empty") != std::string::npos);
  model m;
  m.proto.clear_graph();
  CHECK(error_of(m.file()).message.find("no graph") != std::string::npos);
  model bare;
  CHECK(error_of(bare.file()).message.find("no graph") != std::string::npos);
  model old;
  add_chain(old);
  old.proto.clear_ir_version();
  CHECK(error_of(old.file()).message.find("IR version") != std::string::npos);
  model sets;
  add_chain(sets);
  sets.proto.clear_opset_import();
  CHECK(error_of(sets.file()).message.find("operator set") != std::string::npos);
}

TEST_CASE("names of a file cannot break a message's line") {
  model m;
  m.input("x\n\r\tevil", {-1}).output("x\n\r\tevil");
  CHECK(error_of(m.file()).message.find("'x evil'") != std::string::npos);
}
