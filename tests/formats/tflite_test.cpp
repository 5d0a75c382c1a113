#include <memsched/formats/tflite.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/graph/check.hpp>
#include <memsched/schedule.hpp>

#include "tflite_model.hpp"

using namespace memsched;
using namespace tflite_model;
using namespace tflite_model::codes;

namespace {

tensor_id id(const problem_draft& d, const std::string& name) {
  for (tensor_id t = 0; t < d.tensors.size(); ++t)
    if (d.tensor_names[t] == name) return t;
  return none;
}

std::vector<std::string> names(const problem_draft& d, std::span<const tensor_id> list) {
  std::vector<std::string> found;
  for (tensor_id t : list) found.push_back(d.tensor_names[t]);
  return found;
}

using words = std::vector<std::string>;

model_graphs read_all(const std::string& file, const read_options& options = {}) {
  auto graphs = read_tflite(file, options);
  INFO(graphs.error().message);
  REQUIRE(graphs);
  for (const model_graph& g : *graphs) {
    const auto checked = make_problem(g.draft);
    INFO(checked.error().message);
    REQUIRE(checked);
  }
  return std::move(graphs).value();
}
problem_draft read(const std::string& file) { return read_all(file)[0].draft; }
problem_draft read(const subgraph& g) { return read(write(g)); }
problem_draft read(const model& m) { return read(write(m)); }

graph_error fault(const std::string& file) {
  const auto draft = read_tflite(file);
  REQUIRE(!draft);
  CHECK(draft.error().message.find('\n') == std::string::npos);
  return draft.error();
}
graph_error fault(const subgraph& g) { return fault(write(g)); }
graph_error fault(const model& m) { return fault(write(m)); }

/// x, 8 bytes -> one operator -> y, 8 bytes; with a constant w, 8 bytes.
subgraph one(int kind, std::vector<std::int32_t> inputs = {0}) {
  return {{{.shape = {2}, .name = "x"}, {.shape = {2}, .name = "y"}, {.shape = {2}, .buffer = with_data, .name = "w"}},
          {{.kind = kind, .inputs = inputs, .outputs = {1}}},
          {0},
          {1}};
}

/// A network with a float16 weight, an optional input, a view, an element-wise operator and a custom one.
model small() {
  subgraph g;
  g.tensors = {{.shape = {1, 8}, .name = "x"},
               {.shape = {4, 8}, .buffer = with_data, .type = 1, .name = "half"},
               {.shape = {4, 8}, .name = "full"},
               {.shape = {1, 4}, .name = "c"},
               {.shape = {1, 4}, .name = "r"},
               {.shape = {4}, .name = "v"},
               {.shape = {1}, .buffer = with_data, .type = 2, .name = "new_shape"},
               {.shape = {3}, .name = "out"}};
  g.ops.push_back({.kind = dequantize, .inputs = {1}, .outputs = {2}});
  g.ops.push_back({.kind = conv, .inputs = {0, 2, -1}, .outputs = {3}});
  g.ops.push_back({.kind = relu, .inputs = {3}, .outputs = {4}});
  g.ops.push_back({.kind = reshape, .inputs = {4, 6}, .outputs = {5}});
  g.ops.push_back({.kind = custom, .inputs = {5}, .outputs = {7}, .custom = "Detect"});
  g.inputs = {0};
  g.outputs = {7};
  g.name = "main";
  return {{g}};
}

}  // namespace

TEST_CASE("a small model: weights gone, names, sizes, views and overwriting") {
  const problem_draft d = read(small());
  CHECK(d.name == "main");
  CHECK(d.operator_names == words{"CONV_2D_1", "RELU_2", "RESHAPE_3", "Detect_4"});
  CHECK(d.tensor_names == words{"x", "c", "r", "v", "out"});
  CHECK(names(d, d.reads[0]) == words{"x"});
  CHECK(names(d, d.writes[0]) == words{"c"});
  CHECK(names(d, d.reads[2]) == words{"r"});
  CHECK(names(d, d.graph_inputs) == words{"x"});
  CHECK(names(d, d.graph_outputs) == words{"out"});
  CHECK(d.tensors[id(d, "x")].size == 32);
  CHECK(d.tensors[id(d, "out")].size == 12);
  CHECK(d.tensors[id(d, "v")].alias_of == id(d, "r"));
  CHECK(d.tensors[id(d, "r")].alias_of == none);
  CHECK(d.operators[0].overwrites == none);
  CHECK(d.operators[1].overwrites == id(d, "c"));
  CHECK(d.operators[3].overwrites == none);
}

TEST_CASE("element types have their widths, and small ones are packed") {
  const auto size = [](int type, std::int32_t n) {
    subgraph g = one(custom);
    g.tensors[0].type = type;
    g.tensors[0].shape = {n, 1};
    return read(g).tensors[0].size;
  };
  const std::vector<std::pair<int, bytes>> bits = {{0, 32},  {1, 16}, {2, 32},  {3, 8},    {4, 64},  {6, 8},   {7, 16},
                                                   {8, 64},  {9, 8},  {10, 64}, {11, 128}, {12, 64}, {13, 32}, {15, 32},
                                                   {16, 16}, {17, 4}, {18, 16}, {19, 2},   {20, 4},  {21, 8},  {22, 8}};
  for (const auto& [type, width] : bits) {
    INFO(type);
    CHECK(size(type, 8) == width);
    CHECK(size(type, 5) == (5 * width + 7) / 8);
    CHECK(size(type, 0) == 0);
  }
}

TEST_CASE("tensors have the type and the shape of the file, open dimensions as they were inferred") {
  subgraph g = one(relu);
  g.tensors[0].type = g.tensors[1].type = 9;
  g.tensors[0].shape = g.tensors[1].shape = {1, 2};
  g.tensors[0].signature = g.tensors[1].signature = {-1, 2};
  const auto forms = read_all(write(g), {.shapes = {{"x", {3, 2}}}, .values = {}})[0].forms;
  REQUIRE(forms.size() == 2);
  for (const tensor_form& f : forms) {
    CHECK(f.type == "INT8");
    CHECK(f.shape == std::vector<std::int64_t>{3, 2});
  }
}

TEST_CASE("sizes that the file does not tell are errors, but only where they matter") {
  const auto with = [](int type, std::vector<std::int32_t> shape) {
    subgraph g = one(custom);
    g.tensors[0].type = type;
    g.tensors[0].shape = std::move(shape);
    return g;
  };
  CHECK(fault(with(5, {2})).message == "subgraphs[0].tensors[0]: tensor 'x' is a STRING, whose size the file does not tell");
  CHECK(fault(with(14, {2})).message ==
        "subgraphs[0].tensors[0]: tensor 'x' is a VARIANT, whose size the file does not tell");
  CHECK(fault(with(23, {2})).message == "subgraphs[0].tensors[0]: tensor 'x' has the unknown element type 23");
  CHECK(fault(with(-1, {2})).message == "subgraphs[0].tensors[0]: tensor 'x' has the unknown element type 255");
  CHECK(fault(with(0, {1, -1})).message ==
        "subgraphs[0].tensors[0]: tensor 'x' is a graph input with open dimensions, [1,?]: give them, as in --shape x=1,1");
  CHECK(fault(with(0, {1, -1})).code == error_code::bad_size);
  CHECK(fault(with(0, {0, -5})).code == error_code::bad_size);
  const std::int32_t big = 2147483647;
  CHECK(fault(with(0, {big, big, big})).code == error_code::overflow);
  CHECK(read(with(0, {big, big, big, 0})).tensors[0].size == 0);
  CHECK(read(with(0, {})).tensors[0].size == 4);  // a scalar

  subgraph g = one(custom);
  g.tensors[0].signature = {-1};
  CHECK(fault(g).code == error_code::bad_size);  // what the file stores of it is a placeholder
  g.tensors[0].signature = {2};
  CHECK(read(g).tensors[0].size == 8);
  g.tensors[0].signature = {-1};
  g.tensors[0].shape = {};
  CHECK(fault(g).message == "subgraphs[0].tensors[0]: tensor 'x' has no shape");

  g = one(custom, {0, 2});
  g.tensors[2].type = 5;
  g.tensors[2].shape = {-1};
  CHECK(read(g).tensors.size() == 2);  // a constant
  g = one(custom);
  g.tensors.push_back({.shape = {-1}, .type = 5});
  CHECK(read(g).tensors.size() == 2);  // that no operator uses
}

TEST_CASE("a name cannot break the line of a message") {
  subgraph g = one(custom);
  g.tensors[0].name = "a\nb" + std::string(1000, 'c');
  g.tensors[0].shape = {-1};
  const std::string message = fault(g).message;
  CHECK(message.find("'a?bccc") != std::string::npos);
  CHECK(message.size() < 400);
}

TEST_CASE("constants: data here, data after the tables, data in another file, and nothing to hold") {
  CHECK(read(one(conv, {0, 2})).tensors.size() == 2);

  model m{{one(conv, {0, 2})}};
  m.subgraphs[0].tensors[2].buffer = 2;
  m.buffers.push_back({0});
  CHECK(make_problem(read_tflite(write(m)).value()[0].draft).error().code ==
        error_code::no_producer);  // a buffer without data
  m.buffers[2] = {0, 8, 8};
  CHECK(read(m).tensors.size() == 2);
  m.buffers[2] = {0, 8, 1 << 20};
  CHECK(fault(m).message == "buffers[2]: its data lies past the end of the file");
  m.buffers[2] = {0, UINT64_MAX - 1, 8};
  CHECK(fault(m).message == "buffers[2]: its data lies past the end of the file");
  m.buffers[2] = {0, 1, 8};
  CHECK(make_problem(read_tflite(write(m)).value()[0].draft).error().code ==
        error_code::no_producer);  // offsets up to 1 mean none

  subgraph g = one(conv, {0, 2});
  g.tensors[2].buffer = 0;
  g.tensors[2].external_buffer = 7;
  CHECK(read(g).tensors.size() == 2);
  g.tensors[2].external_buffer = 0;
  g.tensors[2].shape = {0};
  CHECK(read(g).tensors.size() == 2);
  g.tensors[2].buffer = 9;
  CHECK(fault(g).message == "subgraphs[0].tensors[2].buffer: there is no buffer 9 among 2");
}

TEST_CASE("what is computed from constants is a constant, through any number of operators") {
  subgraph g = one(add, {0, 4});
  g.tensors.push_back({.shape = {2}, .name = "w2"});
  g.tensors.push_back({.shape = {2}, .name = "w3"});
  g.ops.insert(g.ops.begin(),
               {{.kind = dequantize, .inputs = {2}, .outputs = {3}}, {.kind = mul, .inputs = {3, 2}, .outputs = {4}}});
  g.outputs = {1, 4};
  const problem_draft d = read(g);
  CHECK(d.operator_names == words{"ADD_2"});
  CHECK(d.tensor_names == words{"x", "y"});
  CHECK(names(d, d.graph_outputs) == words{"y"});  // a constant output is a weight too
}

TEST_CASE("custom, random and input-free operators are not computed from constants") {
  CHECK(read(one(custom, {2})).operator_names == words{"CUSTOM_0"});
  CHECK(read(one(random_uniform, {2})).operator_names == words{"RANDOM_UNIFORM_0"});
  CHECK(read(one(var_handle, {})).operator_names == words{"VAR_HANDLE_0"});
  CHECK(read(one(relu, {2})).operators.empty());
}

TEST_CASE("a graph input with data is a constant") {
  subgraph g = one(add, {0, 2});
  g.inputs = {0, 2};
  CHECK(names(read(g), read(g).graph_inputs) == words{"x"});
}

TEST_CASE("only what nobody holds may be written") {
  subgraph g = one(relu);
  g.ops[0].outputs = {2};
  CHECK(fault(g).message == "subgraphs[0].operators[0].outputs: tensor 'w' is a constant");
  g.ops[0].outputs = {0};
  CHECK(fault(g).message == "subgraphs[0].operators[0].outputs: tensor 'x' is an input of the subgraph");
  g = one(relu);
  g.ops.push_back({.kind = dequantize, .inputs = {2}, .outputs = {1}});
  CHECK(fault(g).message == "subgraphs[0].operators[1].outputs: tensor 'y' is written twice");
  CHECK(fault(g).code == error_code::two_producers);
  g = one(relu);
  g.tensors[1].variable = true;
  CHECK(fault(g).message == "subgraphs[0].operators[0].outputs: tensor 'y' is a variable");
}

TEST_CASE("variables live throughout, and their users keep their order") {
  subgraph g = one(custom);
  g.tensors.push_back({.shape = {4}, .name = "state", .variable = true});
  g.tensors.push_back({.shape = {2}, .name = "z"});
  g.ops[0].inputs = {0, 3};
  g.ops.push_back({.kind = add, .inputs = {3, 3, 1}, .outputs = {4}});
  g.ops.push_back({.kind = relu, .inputs = {0}, .outputs = {5}});
  g.tensors.push_back({.shape = {2}, .name = "free"});
  g.inputs = {0, 3};
  g.outputs = {4, 5};
  const problem_draft d = read(g);
  CHECK(names(d, d.graph_inputs) == words{"x", "state"});
  CHECK(names(d, d.graph_outputs) == words{"state", "z", "free"});
  CHECK(d.after[0].empty());
  CHECK(std::vector<op_id>(d.after[1].begin(), d.after[1].end()) == std::vector<op_id>{0});
  CHECK(d.after[2].empty());
  CHECK(std::vector<tensor_id>(d.updates[0].begin(), d.updates[0].end()) == std::vector<tensor_id>{id(d, "state")});
  CHECK(d.updates[1].empty());
  CHECK(d.operators[1].overwrites == id(d, "y"));

  g.tensors[4].shape = {4};
  CHECK(read(g).operators[1].overwrites == none);  // a variable is never overwritten
  g.ops[1] = {.kind = reshape, .inputs = {3}, .outputs = {4}};
  CHECK(read(g).tensors[4].alias_of == none);  // nor seen through a view, for it may change
}

TEST_CASE("operators with hidden state keep their order") {
  const problem_draft d = read(subgraph{{{.shape = {2}, .name = "x"},
                                         {.type = 13, .name = "handle"},
                                         {.shape = {2}, .name = "v"},
                                         {.shape = {2}, .name = "w"}},
                                        {{.kind = var_handle, .outputs = {1}},
                                         {.kind = read_variable, .inputs = {1}, .outputs = {2}},
                                         {.kind = relu, .inputs = {0}, .outputs = {3}},
                                         {.kind = assign_variable, .inputs = {1, 0}}},
                                        {0},
                                        {2, 3}});
  CHECK(d.tensors[id(d, "handle")].size == 4);
  CHECK(d.after[0].empty());
  CHECK(d.after[1].empty());
  CHECK(d.after[2].empty());
  CHECK(std::vector<op_id>(d.after[3].begin(), d.after[3].end()) == std::vector<op_id>{1});
}

TEST_CASE("views alias an activation of the same size") {
  for (int kind : {reshape, squeeze, expand_dims, bitcast}) {
    INFO(kind);
    CHECK(read(one(kind)).tensors[1].alias_of == 0);
  }
  CHECK(read(one(relu)).tensors[1].alias_of == none);
  subgraph g = one(reshape);
  g.tensors[1].shape = {3};
  CHECK(read(g).tensors[1].alias_of == none);
  g = one(reshape, {0, 2});
  g.ops[0].inputs = {2, 0};  // the contents are constant, the shape is not
  CHECK(read(g).tensors[1].alias_of == none);
}

TEST_CASE("element-wise operators overwrite the first activation of the same size") {
  for (int kind : {0, 41, 18, 42, 19, 20, 21, 98, 54, 14, 28, 117, 111, 150, 55, 57, 47, 101, 25}) {
    INFO(kind);
    CHECK(read(one(kind)).operators[0].overwrites == 0);
  }
  for (int kind : {conv, 2, 17, 34, 39, 40, 53, 65, 93, custom}) {  // 2 concatenation, 34 pad, 65 slice, 93 zeros_like
    INFO(kind);
    CHECK(read(one(kind)).operators[0].overwrites == none);
  }
  CHECK(read(one(add, {2, 0})).operators[0].overwrites == 0);
  subgraph g = one(add, {0, 3});
  g.tensors.push_back({.shape = {2}, .name = "second"});
  g.inputs = {0, 3};
  CHECK(read(g).operators[0].overwrites == 0);
  g.tensors[0].shape = {1};
  const problem_draft d = read(g);
  CHECK(d.operators[0].overwrites == id(d, "second"));
  g.tensors[3].shape = {1};
  CHECK(read(g).operators[0].overwrites == none);
}

TEST_CASE("kinds have names, old and new, known and unknown") {
  const auto name = [](int kind, const char* code = "") {
    subgraph g = one(kind);
    g.ops[0].custom = code;
    return read(g).operator_names[0];
  };
  CHECK(name(4) == "DEPTHWISE_CONV_2D_0");
  CHECK(name(117) == "HARD_SWISH_0");
  CHECK(name(126) == "BATCH_MATMUL_0");
  CHECK(name(128) == "CUMSUM_0");
  CHECK(name(203) == "DILATE_0");
  CHECK(name(208) == "STABLEHLO_CBRT_0");
  CHECK(name(210) == "BUILTIN_210_0");
  CHECK(name(1 << 30) == "BUILTIN_1073741824_0");
  CHECK(name(custom, "Mine") == "Mine_0");
  CHECK(name(conv, "ignored") == "CONV_2D_0");
}

TEST_CASE("indices out of range are named") {
  subgraph g = one(relu);
  g.ops[0].inputs = {0, 3};
  CHECK(fault(g).message == "subgraphs[0].operators[0].inputs[1]: there is no tensor 3 among 3");
  CHECK(fault(g).code == error_code::unknown_tensor);
  g.ops[0].inputs = {-2};
  CHECK(fault(g).message == "subgraphs[0].operators[0].inputs[0]: there is no tensor -2 among 3");
  g = one(relu);
  g.ops[0].outputs = {-1};
  CHECK(fault(g).message == "subgraphs[0].operators[0].outputs[0]: there is no tensor -1 among 3");
  g = one(relu);
  g.inputs = {0, 99};
  CHECK(fault(g).message == "subgraphs[0].inputs[1]: there is no tensor 99 among 3");
  g = one(relu);
  g.outputs = {-1};
  CHECK(fault(g).message == "subgraphs[0].outputs[0]: there is no tensor -1 among 3");
  model m{{one(relu)}};
  m.skipped_codes = 5;
  CHECK(fault(m).message == "subgraphs[0].operators[0].opcode_index: there is no operator code 5 among 1");
  CHECK(fault(model{}).message == "subgraphs: the model has none");
  m = {{one(relu)}};
  m.version = 2;
  CHECK(fault(m).message == "version: is 2, but only 3 is known");
}

TEST_CASE("without control flow, further subgraphs do not matter") {
  model m = small();
  const problem_draft alone = read(m);
  m.subgraphs.push_back(one(relu));
  m.subgraphs[1].tensors[0].shape = {-1};
  CHECK(read(m).operator_names == alone.operator_names);
}

namespace {

/// A subgraph whose activations are `n` bytes: an input of 4 and an output of n - 4.
subgraph sized(std::int32_t n) {
  return {{{.shape = {4}, .type = 3, .name = "in"},
           {.shape = {n - 4}, .type = 3, .name = "out"},
           {.shape = {1000}, .buffer = with_data, .name = "weight"}},
          {{.kind = conv, .inputs = {0, 2}, .outputs = {1}}},
          {0},
          {1}};
}

/// A model that runs subgraphs 1 (100 bytes) and 2 (30 bytes) by an operator.
model running(int kind, call_options called) {
  subgraph g = one(kind);
  g.ops[0].call = std::move(called);
  return {{g, sized(100), sized(30)}};
}

std::vector<graph_order> solve(const model_graphs& graphs) {
  auto orders = schedule_graphs(graphs, 0, [](const problem& p) { return schedule(p); });
  INFO(orders.error().message);
  REQUIRE(orders);
  return std::move(orders).value();
}

/// Of the first operator.
bytes workspace(const model& m) {
  const model_graphs graphs = read_all(write(m));
  return with_workspace(graphs, 0, solve(graphs)).operators[0].workspace;
}

}  // namespace

TEST_CASE("control flow is one operator with the best peak of its costliest subgraph as workspace") {
  CHECK(workspace(running(if_op, {92, {1, 2}})) == 100);
  CHECK(workspace(running(if_op, {92, {2, 1}})) == 100);
  CHECK(workspace(running(while_op, {93, {1, 2}})) == 100);
  CHECK(workspace(running(call_once, {103, {2}})) == 30);
  CHECK(workspace(running(call, {16, {1}})) == 100);
  CHECK(workspace(running(composite, {21, {0, 2}, true})) == 30);
  CHECK(workspace(running(200, {15, {2, 1}, true})) == 100);
  CHECK(workspace(running(relu, {})) == 0);
}

TEST_CASE("nested control flow: workspace of workspace") {
  model m = running(while_op, {93, {1, 2}});
  subgraph& body = m.subgraphs[2];
  body.tensors.push_back({.shape = {5}, .type = 3, .name = "a"});
  body.tensors.push_back({.shape = {5}, .type = 3, .name = "b"});
  body.ops.push_back({.kind = call, .inputs = {1}, .outputs = {3}, .call = {16, {1}}});
  body.ops.push_back({.kind = if_op, .inputs = {1}, .outputs = {4}, .call = {92, {1, 3}}});
  m.subgraphs.push_back(sized(400));
  CHECK(workspace(m) == 26 + 5 + 400);  // in the body, the output stays while the last operator runs
}

TEST_CASE("a subgraph with hidden state orders the operators that run it") {
  model m = running(if_op, {92, {1, 2}});
  m.subgraphs[1].tensors.push_back({.type = 13, .name = "handle"});
  m.subgraphs[1].ops.push_back({.kind = assign_variable, .inputs = {3, 0}});
  m.subgraphs[1].ops.push_back({.kind = var_handle, .outputs = {3}});
  m.subgraphs[0].tensors.push_back({.shape = {1}, .name = "z"});
  m.subgraphs[0].ops.push_back({.kind = call, .inputs = {0}, .outputs = {3}, .call = {16, {1}}});
  CHECK(read(m).after[1].size() == 1);
  m.subgraphs[0].ops[1].call.values = {2};
  CHECK(read(m).after[1].empty());
}

TEST_CASE("a subgraph's order is found, and the caller has its peak") {
  // Three branches x -> 50 bytes -> 1 byte, listed breadth first.
  subgraph inner{{{.shape = {1}, .type = 3, .name = "in"}}, {}, {0}, {}};
  for (int i = 0; i < 3; ++i) inner.tensors.push_back({.shape = {50}, .type = 3});
  for (int i = 0; i < 3; ++i) inner.tensors.push_back({.shape = {1}, .type = 3});
  for (int i = 0; i < 3; ++i) inner.ops.push_back({.kind = conv, .inputs = {0}, .outputs = {1 + i}});
  for (int i = 0; i < 3; ++i) inner.ops.push_back({.kind = conv, .inputs = {1 + i}, .outputs = {4 + i}});
  inner.outputs = {4, 5, 6};
  subgraph g = one(call);
  g.ops[0].call = {16, {1}};
  const model_graphs graphs = read_all(write(model{{g, inner}}));
  REQUIRE(graphs.size() == 2);
  CHECK(graphs[1].place == "subgraphs[1]");
  const auto orders = solve(graphs);
  CHECK(orders[1].peak == 1 + 2 + 50 + 1 - 1);
  CHECK(orders[1].lower_bound == orders[1].peak);
  CHECK(orders[0].peak == 16 + orders[1].peak);
}

TEST_CASE("constants stay constants in the subgraphs that get them, if all callers hand one on") {
  subgraph g = one(call, {0, 2});
  g.ops[0].call = {16, {1}};
  model m{{g, one(add)}};
  m.subgraphs[1].tensors[2].buffer = 0;
  m.subgraphs[1].ops[0].inputs = {0, 2};
  m.subgraphs[1].inputs = {0, 2};
  CHECK(names(read_all(write(m))[1].draft, read_all(write(m))[1].draft.graph_inputs) == words{"x"});
  m.subgraphs[0].tensors.push_back({.shape = {2}, .name = "z"});
  m.subgraphs[0].ops.push_back({.kind = call, .inputs = {2, 0}, .outputs = {3}, .call = {16, {1}}});
  CHECK(read_all(write(m))[1].draft.graph_inputs.size() == 2);
}

TEST_CASE("a loop keeps a constant that its body returns as it came") {
  subgraph g = one(while_op, {0, 2});
  g.ops[0].call = {93, {1, 2}};
  g.ops[0].outputs = {1, 3};
  g.tensors.push_back({.shape = {2}, .name = "same"});
  subgraph turn = one(add, {0, 2});
  turn.tensors[2].buffer = 0;
  turn.inputs = {0, 2};
  turn.outputs = {1, 2};
  subgraph condition = turn;
  condition.outputs = {1};
  model m{{g, condition, turn}};
  const model_graphs graphs = read_all(write(m));
  CHECK(names(graphs[0].draft, graphs[0].draft.writes[0]) == words{"y"});
  for (std::size_t i : {1u, 2u}) CHECK(names(graphs[i].draft, graphs[i].draft.graph_inputs) == words{"x"});
  m.subgraphs[2].outputs = {1, 1};
  const model_graphs changing = read_all(write(m));
  CHECK(changing[0].draft.writes[0].size() == 2);
  for (std::size_t i : {1u, 2u}) CHECK(changing[i].draft.graph_inputs.size() == 2);
}

TEST_CASE("a loop's state lives through its condition") {
  subgraph g = one(while_op);
  g.ops[0].call = {93, {1, 2}};
  subgraph condition = one(conv);
  condition.tensors[0].shape = {1000};
  condition.tensors.push_back({.shape = {2000}, .name = "big"});
  condition.ops = {{.kind = conv, .inputs = {0}, .outputs = {3}}, {.kind = conv, .inputs = {3}, .outputs = {1}}};
  const model_graphs graphs = read_all(write(model{{g, condition, one(relu)}}));
  for (const model_graph& inner : graphs) {
    if (inner.place != "subgraphs[1]") continue;
    CHECK(names(inner.draft, inner.draft.graph_outputs) == words{"y", "x"});
  }
  CHECK(solve(graphs)[0].peak == 16 + 4 * (1000 + 2000 + 2));
}

TEST_CASE("an open batch is read as stored only where nothing else is open") {
  subgraph g = one(relu);
  for (auto& t : g.tensors) t.shape = {3, 2};
  g.tensors[0].signature = {-1, -1};
  CHECK(fault(g).code == error_code::bad_size);
  g.tensors[0].signature = {3, -1};
  CHECK(fault(g).code == error_code::bad_size);
  g.tensors[0].signature = g.tensors[1].signature = {-1, 2};
  CHECK(read(g).tensors[0].size == 24);
  g.tensors[0].shape = {-1, 2};  // nothing is stored
  CHECK(fault(g).code == error_code::bad_size);
}

TEST_CASE("scratch of an Ethos-U is named") {
  subgraph g = one(custom);
  g.tensors.push_back({.shape = {64}, .type = 3, .name = "split_scratch"});
  g.ops[0] = {.kind = custom, .inputs = {2, 3, 0}, .outputs = {1}, .custom = "ethos-u"};
  CHECK(fault(g).message ==
        "subgraphs[0].operators[0]: reads tensor 'split_scratch', the scratch of an Ethos-U: Vela has ordered and placed "
        "this model; give the model that Vela was given");
}

TEST_CASE("open dimensions are given and followed") {
  subgraph g;
  g.tensors = {
      {.shape = {1, 4}, .name = "x", .signature = {-1, 4}},       {.shape = {1, 3}, .name = "fc", .signature = {-1, 3}},
      {.shape = {3, 4}, .buffer = with_data, .name = "w"},        {.shape = {1, 3}, .name = "r", .signature = {-1, 3}},
      {.shape = {1, 3, 1}, .name = "v", .signature = {-1, 3, 1}}, {.shape = {7}, .name = "fixed"}};
  g.ops = {{.kind = 9, .inputs = {0, 2}, .outputs = {1}},
           {.kind = relu, .inputs = {1}, .outputs = {3}},
           {.kind = reshape, .inputs = {3}, .outputs = {4}},
           {.kind = custom, .inputs = {4}, .outputs = {5}}};
  g.inputs = {0};
  g.outputs = {5};
  const problem_draft stored = read(g);  // as runtimes read it unless a caller resizes the input
  CHECK(stored.tensors[id(stored, "x")].size == 16);
  CHECK(stored.tensors[id(stored, "v")].size == 12);
  CHECK(assumed_shapes(write(g)) ==
        words{"the batch of graph input 'x' is open; it is read as [1,4], as the file's shape says; --shape gives another"});
  CHECK(assumed_shapes(write(g), {.shapes = {{"x", {1, 4}}}}).empty());
  const auto given = [&](std::vector<std::int64_t> dims) {
    return read_tflite(write(g), {.shapes = {{"x", std::move(dims)}}});
  };
  const auto graphs = given({5, 4});
  INFO(graphs.error().message);
  REQUIRE(graphs);
  const problem_draft& d = (*graphs)[0].draft;
  CHECK(d.tensors[id(d, "x")].size == 80);
  CHECK(d.tensors[id(d, "fc")].size == 60);
  CHECK(d.tensors[id(d, "r")].size == 60);
  CHECK(d.tensors[id(d, "v")].size == 60);
  CHECK(d.tensors[id(d, "v")].alias_of == id(d, "r"));
  CHECK(d.tensors[id(d, "fixed")].size == 28);
  CHECK(given({5, 3}).error().message == "the shape [5,3] given for graph input 'x' contradicts the file's [?,4]");
  CHECK(given({5}).error().code == error_code::bad_input);
  CHECK(given({0, 4}).error().code == error_code::bad_input);
  const auto stray = read_tflite(write(g), {.shapes = {{"x", {5, 4}}, {"y", {1}}}});
  CHECK(stray.error().message == "a shape is given for 'y', which is no graph input");

  g.ops[1].kind = space_to_batch;  // no rule follows it: only the batch that the file stores is known
  CHECK(read(g).tensors[2].size == 12);
  CHECK(given({1, 4}));
  CHECK(!given({5, 4}));
  g.ops[1].kind = custom;
  CHECK(fault(g).message.find("does not follow from the inputs of subgraphs[0].operators[1] (CUSTOM)") != std::string::npos);
  CHECK(given({5, 4}).error().message.find("does not follow from the inputs of subgraphs[0].operators[1] (CUSTOM)") !=
        std::string::npos);
  g.ops[1] = {.kind = add, .inputs = {1, 6}, .outputs = {3}};
  g.tensors.push_back({.shape = {2, 1}, .buffer = with_data, .name = "other"});
  CHECK(!given({5, 4}));
  CHECK(given({1, 4}));
}

TEST_CASE("what changes a variable stays on its side of what reads it, and readers may run in any order") {
  subgraph g;
  g.tensors = {{.shape = {2}, .name = "x"}, {.shape = {2}, .name = "state", .variable = true}};
  for (int i = 0; i < 5; ++i) g.tensors.push_back({.shape = {2}});
  constexpr int svdf = 27, newer = 100000;
  g.ops = {{.kind = add, .inputs = {0, 1}, .outputs = {2}},
           {.kind = mul, .inputs = {0, 1}, .outputs = {3}},
           {.kind = svdf, .inputs = {0, 1}, .outputs = {4}},
           {.kind = add, .inputs = {0, 1}, .outputs = {5}},
           {.kind = newer, .inputs = {0, 1}, .outputs = {6}}};
  g.inputs = {0};
  g.outputs = {2, 3, 4, 5, 6};
  const problem p = make_problem(read(g)).value();
  const auto before = [&](op_id op) {
    std::vector<op_id> list(p.predecessors(op).begin(), p.predecessors(op).end());
    std::sort(list.begin(), list.end());
    return list;
  };
  CHECK(before(0).empty());
  CHECK(before(1).empty());
  CHECK(before(2) == std::vector<op_id>{0, 1});
  CHECK(before(3) == std::vector<op_id>{2});
  CHECK(before(4) == std::vector<op_id>{2, 3});  // its effects are unknown
}

TEST_CASE("custom operators keep their order among all that may have effects, unless they are pure") {
  subgraph g;
  g.tensors = {{.shape = {2}, .name = "x"}};
  for (int i = 0; i < 4; ++i) g.tensors.push_back({.shape = {2}});
  g.tensors.push_back({.shape = {2}, .name = "state", .variable = true});
  g.ops = {{.kind = custom, .inputs = {0}, .outputs = {1}},
           {.kind = random_uniform, .inputs = {0}, .outputs = {2}},
           {.kind = add, .inputs = {0, 5}, .outputs = {3}},
           {.kind = custom, .inputs = {0}, .outputs = {4}}};
  g.inputs = {0};
  g.outputs = {1, 2, 3, 4};
  const auto after = [&](bool pure) {
    const auto graphs = read_all(write(g), {.pure_custom = pure});
    std::vector<std::vector<op_id>> lists;
    for (std::size_t i = 0; i < 4; ++i) lists.emplace_back(graphs[0].draft.after[i].begin(), graphs[0].draft.after[i].end());
    return lists;
  };
  CHECK(after(false) == std::vector<std::vector<op_id>>{{}, {0}, {0}, {0, 1, 2}});
  CHECK(after(true) == std::vector<std::vector<op_id>>{{}, {}, {}, {}});
  g.ops[3].kind = 149;  // MULTINOMIAL
  CHECK(after(true) == std::vector<std::vector<op_id>>{{}, {}, {}, {1}});
}

TEST_CASE("control dependencies of the file order operators, and damaged ones are errors") {
  subgraph g = one(relu);
  g.tensors.push_back({.shape = {2}, .name = "z"});
  g.tensors.push_back({.shape = {2}, .name = "c"});
  g.ops.push_back({.kind = relu, .inputs = {0}, .outputs = {3}});
  g.ops.push_back({.kind = relu, .inputs = {2}, .outputs = {4}});
  g.outputs = {1, 3};
  const auto with = [&](std::string content, std::string name = "model_control_dependencies") {
    model m{{g}};
    m.metadata = {{std::move(name), std::move(content)}};
    return write(m);
  };
  // Version 1, one subgraph, the edges of it; numbers that are no negative ones are doubled.
  const problem_draft d = read(with({1, 1, 2, 0, 2, 2, 4}));
  CHECK(d.operators.size() == 3);  // the last one makes a constant, but has a place
  CHECK(d.after[0].empty());
  CHECK(std::vector<op_id>(d.after[1].begin(), d.after[1].end()) == std::vector<op_id>{0});
  CHECK(std::vector<op_id>(d.after[2].begin(), d.after[2].end()) == std::vector<op_id>{1});
  CHECK(read(with({1, 1, 0})).operators.size() == 2);
  CHECK(read(with({1, 1, 1, 2, 0}, "another name")).operators.size() == 2);
  for (const std::string& damaged : {std::string(), std::string{2, 1, 0}, std::string{1, 2, 0, 0}, std::string{1, 1},
                                     std::string{1, 1, 1, 0}, std::string{1, 1, 0, 0}, std::string{1, 1, 1, 1, 2}})
    CHECK(fault(with(damaged)).message == "metadata[0]: its control dependencies are damaged");
  for (const std::string& wrong : {std::string{1, 1, 1, 2, 0}, std::string{1, 1, 1, 0, 6}, std::string{1, 1, 1, 2, 2}})
    CHECK(fault(with(wrong)).message.find("does not lead to a later operator") != std::string::npos);
}

TEST_CASE("wrong control flow is an error") {
  CHECK(fault(running(if_op, {92, {1, 3}})).message ==
        "subgraphs[0].operators[0].else_subgraph_index: there is no subgraph 3 among 3");
  CHECK(fault(running(while_op, {93, {-1, 2}})).message ==
        "subgraphs[0].operators[0].cond_subgraph_index: there is no subgraph -1 among 3");
  CHECK(fault(running(while_op, {93, {1, 0}})).message ==
        "subgraphs[0].operators[0].body_subgraph_index: subgraph 0 runs itself");
  CHECK(fault(running(if_op, {})).message == "subgraphs[0].operators[0].builtin_options: IF has no options of its kind");
  CHECK(fault(running(if_op, {93, {1, 2}})).message ==
        "subgraphs[0].operators[0].builtin_options: IF has no options of its kind");
  CHECK(fault(running(case_op, {})).message == "subgraphs[0].operators[0]: STABLEHLO_CASE is not supported");

  model m = running(call, {16, {1}});
  m.subgraphs[1].ops[0] = {.kind = call, .inputs = {0}, .outputs = {1}, .call = {16, {1}}};
  CHECK(fault(m).message == "subgraphs[1].operators[0].subgraph: subgraph 1 runs itself");

  m = running(call, {16, {1}});
  m.subgraphs[1].tensors[1].shape = {-1};
  CHECK(fault(m).message == "subgraphs[1].tensors[1]: tensor 'out' has a dynamic shape: dimension 0 is open");
  m.subgraphs[1].tensors[1].shape = {1 << 30, 1 << 30, 2};
  m.subgraphs[1].tensors[0].shape = {1 << 30, 1 << 30};
  CHECK(fault(m).code == error_code::overflow);
}

TEST_CASE("a long chain of subgraphs ends in an error, a chain of forks in no time") {
  model chain{{}};
  for (int i = 0; i <= 100; ++i) {
    subgraph g = one(if_op);
    g.ops[0].call = {92, {i + 1, i + 1}};
    chain.subgraphs.push_back(g);
  }
  chain.subgraphs.push_back(one(relu));
  CHECK(fault(chain).message.find("subgraphs run each other more than 64 deep") != std::string::npos);
  chain.subgraphs[60] = one(relu);
  CHECK(workspace(chain) == 59 * 16 + 8);  // the innermost operator works in place
}

TEST_CASE("what is no model is an error") {
  CHECK(fault(std::string()).message == "no TensorFlow Lite model: bytes 4 to 7 are not \"TFL3\"");
  CHECK(fault(std::string(100, 'x')).message == "no TensorFlow Lite model: bytes 4 to 7 are not \"TFL3\"");
  CHECK(fault(std::string("\x10\0\0\0TFL3", 8)).message.find("the root offset: damaged") == 0);
  std::string file = write(small());
  file[7] = '4';
  CHECK(fault(file).code == error_code::bad_input);
}

TEST_CASE("every cut of a model is an error") {
  const std::string file = write(small());
  std::size_t refused = 0;
  for (std::size_t n = 0; n < file.size(); ++n) refused += !read_tflite(std::string(file, 0, n));
  // A builder writes children first: only padding and operator codes that no operator misses come last.
  CHECK(refused >= file.size() - 8);
}

TEST_CASE("no changed byte of a model does harm") {
  const std::string file = write(small());
  std::size_t refused = 0;
  for (std::size_t i = 0; i < file.size(); ++i)
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
      std::string other = file;
      other[i] = static_cast<char>(other[i] ^ change);
      const auto draft = read_tflite(other);
      if (draft) (void)make_problem((*draft)[0].draft);
      refused += !draft;
    }
  CHECK(refused > file.size());
}

TEST_CASE("no random bytes do harm") {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string file(8 + random() % 200, '\0');
    for (char& c : file) c = static_cast<char>(random() % 4 == 0 ? random() : random() % 16);
    std::memcpy(file.data() + 4, "TFL3", 4);
    CHECK(!read_tflite(file));  // none of them has version 3 and a subgraph
  }
}

TEST_CASE("the bytes may stand anywhere") {
  const std::string file = write(small());
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const std::string shifted = std::string(shift, '\0') + file;
    const auto draft = read_tflite(std::string_view(shifted).substr(shift));
    REQUIRE(draft);
    CHECK((*draft)[0].draft.operators.size() == 4);
  }
}

TEST_CASE("lists that overlap to no end are an error") {
  // 1000 operators that are all one table, with 4000 inputs.
  flatbuffers::FlatBufferBuilder b;
  using offset = flatbuffers::Offset<flatbuffers::Table>;
  const auto table = [&b](auto... steps) {
    const auto start = b.StartTable();
    (steps(), ...);
    return offset(b.EndTable(start));
  };
  const auto inputs = b.CreateVector(std::vector<std::int32_t>(4000, 0));
  const offset op = table([&] { b.AddOffset(6, inputs); });
  const auto ops = b.CreateVector(std::vector<offset>(1000, op));
  const offset x = table([] {});
  const auto tensors = b.CreateVector(std::vector<offset>{x});
  const auto codes = b.CreateVector(std::vector<offset>{x});
  const offset graph = table([&] { b.AddOffset(4, tensors); }, [&] { b.AddOffset(10, ops); });
  const auto graphs = b.CreateVector(std::vector<offset>{graph});
  b.Finish(
      table([&] { b.AddElement<std::uint32_t>(4, 3, 0); }, [&] { b.AddOffset(6, codes); }, [&] { b.AddOffset(8, graphs); }),
      "TFL3");
  const std::string file(reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize());
  CHECK(fault(file).message.find(".inputs: the file's lists overlap") != std::string::npos);
}
