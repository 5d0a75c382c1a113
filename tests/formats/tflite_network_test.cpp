#include <memsched/formats/tflite/network.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/network/integers.hpp>
#include <memsched/network/run.hpp>

#include "damaged.hpp"
#include "same_problem.hpp"
#include "tflite_model.hpp"

using namespace memsched;
using namespace tflite_model;
using namespace tflite_model::codes;

namespace {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string s(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(s.data(), values.data(), s.size());
  return s;
}
using ints = std::vector<std::int32_t>;

/// A model of one subgraph under construction; tensors are named "t0", "t1", ...
struct maker {
  model m{{subgraph{}}};
  subgraph& g() { return m.subgraphs[0]; }

  int value(const ints& shape, int type = float32) {
    g().tensors.push_back({.shape = shape, .type = type, .name = "t" + std::to_string(g().tensors.size())});
    if (type == int8) g().tensors.back().scale = {0.5F}, g().tensors.back().zero_point = {3};
    return static_cast<int>(g().tensors.size()) - 1;
  }
  int input(const ints& shape, int type = float32) {
    g().inputs.push_back(value(shape, type));
    return g().inputs.back();
  }
  int constant(const ints& shape, std::string content, int type = float32) {
    const int t = value(shape, type);
    m.buffers.push_back({.content = std::move(content)});
    g().tensors[static_cast<std::size_t>(t)].buffer = static_cast<std::uint32_t>(m.buffers.size() - 1);
    g().tensors[static_cast<std::size_t>(t)].scale = {}, g().tensors[static_cast<std::size_t>(t)].zero_point = {};
    return t;
  }
  int weights(const ints& shape) {
    std::vector<float> values;
    int n = 1;
    for (const int d : shape) n *= d;
    for (int i = 0; i < n; ++i) values.push_back(static_cast<float>(i % 7) - 3);
    return constant(shape, bytes_of(values));
  }
  int list(const ints& values) { return constant({static_cast<std::int32_t>(values.size())}, bytes_of(values), int32); }
  tensor& at(int t) { return g().tensors[static_cast<std::size_t>(t)]; }

  /// The result of an operator: a float tensor unless its first input is of integers.
  int op(int kind, const ints& inputs, const ints& shape, const call_options& options = {}, const std::string& code = {},
         const std::string& settings = {}) {
    const int y = value(shape, at(inputs[0]).type == int8 ? int8 : float32);
    g().ops.push_back(
        {.kind = kind, .inputs = inputs, .outputs = {y}, .custom = code, .call = options, .custom_options = settings});
    return y;
  }
  std::string file() {
    if (g().outputs.empty()) g().outputs = {g().ops.back().outputs[0]};
    return write(m);
  }
};

network read_one(const std::string& file) {
  auto net = read_tflite_network(file);
  INFO(net.error().message);
  REQUIRE(net);
  const auto graphs = read_tflite(file);
  REQUIRE(graphs);
  check_same_problem(*net, graphs->front().draft);
  return std::move(net).value();
}
network read_one(maker& m) { return read_one(m.file()); }

std::int32_t word(float x) { return std::bit_cast<std::int32_t>(x); }
/// Options of a convolution: padding (0 SAME, 1 VALID), strides, activation.
call_options window_options(int padding, int columns, int rows, int act = 0) { return {1, {padding, columns, rows, act}}; }

op_kind only_kind(maker& m) {
  const network net = read_one(m);
  return net.operations.back().does.what;
}

}  // namespace

TEST_CASE("typed networks have TFLite's windows: SAME puts the odd row at the end, and comes from the whole image") {
  maker m;
  const int x = m.input({1, 8, 7, 4});
  const int y = m.op(conv, {x, m.weights({6, 3, 3, 4}), m.weights({6})}, {1, 4, 4, 6}, window_options(0, 2, 2, 3));
  const int z = m.op(depthwise, {y, m.weights({1, 3, 5, 12})}, {1, 4, 4, 12}, {2, {0, 1, 1, 2, 1, 1, 2}});
  m.op(conv, {z, m.weights({5, 2, 3, 12})}, {1, 3, 1, 5}, {1, {1, 2, 1, 0, 1}});
  const network net = read_one(m);
  const operation& a = net.operations[0];
  CHECK(a.does.what == op_kind::convolution);
  CHECK(a.does.act == activation::relu6);
  CHECK(a.does.win == window{3, 3, 2, 2, 1, 1, 0, 1, 0});  // 8 rows: one row of pad, at the end; 7 columns: one each
  CHECK(a.bias);
  const operation& b = net.operations[1];
  CHECK(b.does.what == op_kind::depthwise);
  CHECK(b.does.act == activation::relu);
  CHECK(b.does.win == window{3, 5, 1, 1, 2, 1, 2, 2, 0});
  CHECK(!b.bias);
  // The weight of output channel o at (r, c) is element (r, c, o) of the file.
  const blob& w = net.blobs[b.weights.of];
  CHECK(w.size == blob::axes{12, 3, 5, 1});
  for (const auto [o, r, c] : {std::array{0, 0, 0}, std::array{7, 2, 1}, std::array{11, 2, 4}}) {
    const float expected = static_cast<float>(((r * 5 + c) * 12 + o) % 7) - 3;
    CHECK(detail::stored(w, o, r, c, 0) == static_cast<double>(expected));
  }
  CHECK(net.operations[2].does.win == window{2, 3, 1, 2, 1, 1, 0, 0, 0});
}

TEST_CASE("typed networks know groups, transposed convolutions, pooling and dense layers of TFLite") {
  maker m;
  const int x = m.input({1, 6, 6, 8});
  const int grouped = m.op(conv, {x, m.weights({4, 1, 1, 2})}, {1, 6, 6, 4}, window_options(1, 1, 1));
  const int up = m.op(transpose_conv, {m.list({1, 12, 12, 3}), m.weights({3, 3, 3, 4}), grouped, m.weights({3})},
                      {1, 12, 12, 3}, {49, {0, 2, 2, 1}});
  m.at(up).type = float32;
  const int own = m.op(custom, {grouped, m.weights({2, 2, 2, 4}), m.weights({2})}, {1, 12, 12, 2}, {},
                       "Convolution2DTransposeBias", bytes_of(ints{1, 2, 2}));
  const int pooled = m.op(max_pool, {up}, {1, 6, 6, 3}, {5, {1, 2, 2, 2, 2}});
  const int averaged = m.op(average_pool, {pooled}, {1, 3, 3, 3}, {5, {0, 2, 2, 3, 3}});
  const int flat = m.op(reshape, {averaged}, {1, 27});
  const int vector = m.op(fully_connected, {flat, m.weights({10, 27}), m.weights({10})}, {1, 10}, {8, {1}});
  const int rows = m.op(fully_connected, {averaged, m.weights({5, 3})}, {1, 3, 3, 5}, {8, {0, 0, 1}});
  m.op(mean, {averaged, m.list({1, 2})}, {1, 3});
  m.g().outputs = {own, vector, rows, m.g().ops.back().outputs[0]};
  const network net = read_one(m);
  CHECK(net.operations[0].does.groups == 4);
  const attributes& t = net.operations[1].does;
  CHECK(t.what == op_kind::transposed_convolution);
  CHECK(t.act == activation::relu);
  CHECK(t.win.pad_rows == 0);  // 5 * 2 + 3 - 12 = 1 row too many: none before
  CHECK(net.operations[1].bias);
  CHECK(net.operations[2].does.what == op_kind::transposed_convolution);
  CHECK(net.operations[3].does.what == op_kind::max_pooling);
  CHECK(net.operations[4].does.win == window{3, 3, 2, 2, 1, 1, 0, 0, 0});
  CHECK(net.operations[5].does.what == op_kind::reshape);
  CHECK(net.tensors[net.outputs(5)[0]].alias_of == net.outputs(4)[0]);
  CHECK(net.operations[6].does.what == op_kind::dense);
  CHECK(net.operations[6].does.act == activation::relu);
  CHECK(net.operations[7].does.what == op_kind::convolution);  // nine vectors
  CHECK(net.operations[8].does.what == op_kind::mean);
  CHECK(run(net, float_numbers{.random_weights = false}));
  CHECK(run(net, field_numbers{}));
}

TEST_CASE("typed networks place the parts of TFLite's concatenations, splits and slices") {
  maker m;
  const int x = m.input({1, 4, 4, 6});
  const int a = m.op(relu, {x}, {1, 4, 4, 6});
  const int both = m.op(concatenation, {x, a, x}, {1, 4, 4, 18}, {10, {3}});
  const int tall = m.op(concatenation, {x, a}, {1, 8, 4, 6}, {10, {-3, 1}});
  const int first = m.value({1, 4, 4, 9}), second = m.value({1, 4, 4, 9});
  m.g().ops.push_back(
      {.kind = split, .inputs = {m.constant({}, bytes_of(ints{3}), int32), both}, .outputs = {first, second}});
  m.op(slice_kind, {tall, m.list({0, 2, 1, 0}), m.list({1, 3, -1, 2})}, {1, 3, 3, 2});
  m.op(strided_slice, {tall, m.list({0, 2, -1, 0}), m.list({0, 4, 0, 6}), m.list({1, 1, 1, 1})}, {1, 2, 1, 6},
       {32, {9, 12}});
  m.g().outputs = {first, second, m.g().ops[4].outputs[0], m.g().ops[5].outputs[0]};
  const network net = read_one(m);
  const image& parts = net.operations[1].reads[0];
  CHECK(parts.size == extents{4, 4, 18});
  REQUIRE(parts.parts.size() == 3);
  CHECK(parts.parts[2] == placed{net.operations[0].reads[0].parts[0].tensor, 0, 0, 12});
  CHECK(net.operations[2].reads[0].parts[1].row == 4);
  CHECK(net.operations[2].does.act == activation::relu);
  CHECK(net.operations[3].writes[0].parts[1].channel == 9);
  CHECK(net.operations[4].writes[0].parts[0] == placed{net.outputs(4)[0], 2, 1, 0});
  CHECK(net.operations[5].writes[0].parts[0] == placed{net.outputs(5)[0], 2, 3, 0});
  CHECK(run(net, float_numbers{}));
}

TEST_CASE("typed networks know TFLite's element-wise operators, pads, resizes and softmax") {
  maker m;
  const int x = m.input({1, 4, 6, 4}), y = m.input({1, 1, 1, 4});
  int t = m.op(add, {x, y}, {1, 4, 6, 4}, {11, {1}});
  t = m.op(mul, {m.weights({4}), t}, {1, 4, 6, 4});
  t = m.op(sub, {t, m.weights({1, 6, 1})}, {1, 4, 6, 4}, {28, {3}});
  t = m.op(prelu, {t, m.weights({1, 1, 4})}, {1, 4, 6, 4});
  t = m.op(leaky_relu, {t}, {1, 4, 6, 4}, {75, {word(0.25F)}});
  t = m.op(hard_swish, {t}, {1, 4, 6, 4});
  t = m.op(pad, {t, m.list({0, 0, 1, 2, 0, 3, 0, 4})}, {1, 7, 9, 8});
  const int n = m.op(resize_nearest, {t, m.list({14, 18})}, {1, 14, 18, 8}, {74, {0, 1}});
  t = m.op(resize_bilinear, {n, m.list({7, 9})}, {1, 7, 9, 8}, {15, {0, 0, 1}});
  t = m.op(depth_to_space, {t}, {1, 14, 18, 2}, {94, {2}});
  t = m.op(softmax, {t}, {1, 14, 18, 2}, {9, {word(2.0F)}});
  m.op(76, {t}, {1, 14, 18, 2});  // RSQRT: element-wise, without a definition
  const network net = read_one(m);
  CHECK(net.operations[0].does.act == activation::relu);
  CHECK(net.operations[0].reads.size() == 2);
  CHECK(net.operations[1].reads.size() == 1);
  CHECK(net.blobs[net.operations[1].weights.of].size == blob::axes{1, 1, 1, 4});
  CHECK(net.blobs[net.operations[2].weights.of].size == blob::axes{1, 1, 6, 1});
  CHECK(net.operations[2].does.act == activation::relu6);
  CHECK(net.operations[4].does.alpha == 0.25F);
  CHECK(net.operations[6].does.win.pad_rows == 1);
  CHECK(net.operations[7].does.rounding == resize_rounding::round_half_up);
  CHECK(net.operations[8].does.coordinates == resize_coordinates::align_corners);
  CHECK(net.operations[9].does.depth_first);
  CHECK(net.operations[10].does.alpha == 2);
  CHECK(net.operations[11].does.function == "RSQRT");
  for (const operation& op : net.operations) CHECK(op.does.what != op_kind::opaque);
  CHECK(run(net, float_numbers{.random_weights = false}));
}

TEST_CASE("typed networks have TFLite's scales, per channel for weights") {
  maker m;
  const int x = m.input({1, 4, 4, 2}, int8);
  const int w = m.constant({3, 1, 1, 2}, std::string("\x01\xff\x03\x04\x05\x06", 6), int8);
  m.at(w).scale = {0.5F, 0.25F, 2}, m.at(w).zero_point = {0, 0, 0};
  const int b = m.constant({3}, bytes_of(ints{7, -8, 9}), int32);
  m.at(b).scale = {0.25F, 0.125F, 1};
  const int y = m.op(conv, {x, w, b}, {1, 4, 4, 3}, window_options(0, 1, 1, 1));
  m.at(y).scale = {0.75F}, m.at(y).zero_point = {-5};
  m.op(quantize, {y}, {1, 4, 4, 3});
  const network net = read_one(m);
  CHECK(net.tensors[0].quant == quantization{0.5F, 3});
  CHECK(net.tensors[0].element == element::int8);
  const blob& weights = net.blobs[net.operations[0].weights.of];
  CHECK(weights.scales == std::vector<float>{0.5F, 0.25F, 2});
  CHECK(weights.zero_points.empty());
  CHECK(detail::stored(weights, 0, 0, 0, 1) == -1);
  CHECK(detail::stored(net.blobs[net.operations[0].bias.of], 1, 0, 0, 0) == -8);
  CHECK(net.operations[1].does.what == op_kind::copy);
  // q = round(((1 * (x0 - 3) - (x1 - 3)) * 0.5 + 7 * 0.25) / 0.75) - 5, at least -5: one element by hand.
  const auto values = run(net, int8_numbers{.random_weights = false});
  REQUIRE(values);
  const auto& in = (*values)[0];
  const double sum = (in[0] - in[1] + 7) * 0.5 * 0.5;
  CHECK((*values)[1][0] == std::clamp(static_cast<int>(std::round(std::max(sum, 0.0) / 0.75)) - 5, -128, 127));
}

TEST_CASE("half-precision weights followed by a DEQUANTIZE are made floats") {
  maker m;
  const int x = m.input({1, 2, 2, 1});
  const std::vector<std::uint16_t> halves{0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff, 0x8400};  // 1 -2 0.333 2^-24 65504 -2^-14
  const int half = m.constant({6, 1, 1, 1}, bytes_of(halves), float16);
  const int w = m.op(dequantize, {half}, {6, 1, 1, 1});
  m.op(conv, {x, w}, {1, 2, 2, 6}, window_options(0, 1, 1));
  const network net = read_one(m);
  REQUIRE(net.operations.size() == 1);
  const blob& b = net.blobs[net.operations[0].weights.of];
  const std::vector<double> expected{1, -2, 0.333251953125, 0x1p-24, 65504, -0x1p-14};
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(detail::stored(b, static_cast<std::int64_t>(i), 0, 0, 0) == expected[i]);
}

TEST_CASE("what a typed network does not understand of TFLite is opaque, with all that it reads") {
  const auto kind_with = [](auto change) {
    maker m;
    const int x = m.input({1, 4, 4, 2});
    op o{.kind = conv, .inputs = {x, m.weights({3, 3, 3, 2})}, .outputs = {m.value({1, 4, 4, 3})}};
    o.call = window_options(0, 1, 1);
    change(m, o);
    m.g().ops.push_back(o);
    return only_kind(m);
  };
  CHECK(kind_with([](maker&, op&) {}) == op_kind::convolution);
  CHECK(kind_with([](maker&, op& o) { o.call.tag = 2; }) == op_kind::opaque);                // options of another kind
  CHECK(kind_with([](maker&, op& o) { o.call.values[0] = 2; }) == op_kind::opaque);          // a padding that is none
  CHECK(kind_with([](maker&, op& o) { o.call.values[0] = 1; }) == op_kind::opaque);          // VALID makes other extents
  CHECK(kind_with([](maker&, op& o) { o.call.values[1] = 0; }) == op_kind::opaque);          // no stride
  CHECK(kind_with([](maker&, op& o) { o.call.values[3] = 5; }) == op_kind::opaque);          // SIGN_BIT
  CHECK(kind_with([](maker& m, op&) { m.at(0).shape = {2, 2, 4, 2}; }) == op_kind::opaque);  // two batches
  CHECK(kind_with([](maker& m, op&) { m.at(1).type = int8; }) == op_kind::opaque);  // integer weights of a float layer
  CHECK(kind_with([](maker& m, op&) { m.at(1).shape = {3, 3, 3, 3}; }) == op_kind::opaque);  // channels that do not match
  CHECK(kind_with([](maker& m, op& o) { o.inputs[1] = m.input({3, 3, 3, 2}); }) == op_kind::opaque);  // computed weights
  CHECK(kind_with([](maker&, op& o) { o.kind = transpose_kind; }) == op_kind::opaque);
  CHECK(kind_with([](maker&, op& o) { o.kind = 5000; }) == op_kind::opaque);
  CHECK(kind_with([](maker& m, op& o) {  // scales by input channel
          for (const int t : {0, 1, o.outputs[0]}) m.at(t).type = int8;
          m.at(0).scale = m.at(o.outputs[0]).scale = {1}, m.at(1).scale = {1, 1}, m.at(1).dimension = 3;
        }) == op_kind::opaque);

  maker m;  // parts of a concatenation with other scales, where a uint8 model rounds
  const int a = m.input({1, 2, 2, 2}, int8), b = m.input({1, 2, 2, 2}, int8);
  m.at(b).scale = {0.125F};
  m.op(concatenation, {a, b}, {1, 2, 2, 4}, {10, {3}});
  const network net = read_one(m);
  CHECK(net.operations[0].does.what == op_kind::opaque);
  CHECK(net.operations[0].reads.size() == 2);
}

TEST_CASE("an operator without results writes a token, and models that run subgraphs have no typed network") {
  maker m;
  const int x = m.input({1, 4});
  const int handle = m.input({1}, 13);
  m.g().ops.push_back({.kind = assign_variable, .inputs = {handle, x}});
  m.op(logistic, {x}, {1, 4});
  const network net = read_one(m);
  CHECK(net.tensors[net.outputs(0)[0]].role == tensor_role::token);

  model calling{{subgraph{}, subgraph{}}};
  calling.subgraphs[0].tensors = {{.shape = {1}, .type = 6}, {.shape = {4}}, {.shape = {4}}};
  calling.subgraphs[0].inputs = {0, 1}, calling.subgraphs[0].outputs = {2};
  calling.subgraphs[0].ops = {{.kind = if_op, .inputs = {0, 1}, .outputs = {2}, .call = {92, {1, 1}}}};
  calling.subgraphs[1].tensors = {{.shape = {4}}};
  calling.subgraphs[1].inputs = calling.subgraphs[1].outputs = {0};
  const auto refused = read_tflite_network(write(calling));
  REQUIRE(!refused);
  CHECK(refused.error().message == "operator 0 'IF_0' runs another subgraph, which no typed network can");
}

TEST_CASE("CALL_ONCE is opaque, takes the room of its subgraph, and stops nothing else") {
  model m{{subgraph{}, subgraph{}}};
  subgraph &main = m.subgraphs[0], &once = m.subgraphs[1];
  main.tensors = {{.shape = {1, 1, 1, 4}, .name = "x"}, {.shape = {1, 1, 1, 4}, .name = "y"}};
  main.inputs = {0}, main.outputs = {1};
  main.ops = {{.kind = 129, .call = {103, {1}}}, {.kind = logistic, .inputs = {0}, .outputs = {1}}};
  once.tensors = {{.shape = {4}, .buffer = 1}, {.shape = {6}}, {.shape = {2}}};
  once.outputs = {2};
  once.ops = {{.kind = 32, .inputs = {0}, .outputs = {1}, .custom = "First"},
              {.kind = 32, .inputs = {1}, .outputs = {2}, .custom = "Second"}};
  const auto net = read_tflite_network(write(m));
  REQUIRE(net);
  CHECK(net->operations[0].does.what == op_kind::opaque);
  CHECK(net->operations[0].kind == "CALL_ONCE");
  CHECK(net->operations[0].workspace == 4 * (6 + 2));
  CHECK(net->tensors[net->outputs(0)[0]].role == tensor_role::token);
  CHECK(net->operations[1].does.what == op_kind::unary);
}

TEST_CASE("scales that are not positive and weights that lack bytes are errors") {
  maker m;
  const int x = m.input({1, 4, 4, 2}, int8);
  m.at(x).scale = {-1};
  m.op(relu, {x}, {1, 4, 4, 2});
  auto refused = read_tflite_network(m.file());
  REQUIRE(!refused);
  CHECK(refused.error().message ==
        "subgraphs[0].tensors[0]: tensor 't0' has a scale that is not positive, or a zero point out of range");

  maker lacking;
  const int y = lacking.input({1, 4, 4, 2});
  const int w = lacking.weights({3, 1, 1, 2});
  lacking.at(w).shape = {3, 3, 3, 2};
  lacking.op(conv, {y, w}, {1, 4, 4, 3}, window_options(0, 1, 1));
  refused = read_tflite_network(lacking.file());
  REQUIRE(!refused);
  CHECK(refused.error().message == "weights 0 't1' reach past their bytes");
}

TEST_CASE("damaged TFLite files give errors or sound typed networks") {
  maker m;
  const int x = m.input({1, 8, 8, 4});
  int t = m.op(conv, {x, m.weights({4, 3, 3, 4}), m.weights({4})}, {1, 4, 4, 4}, window_options(0, 2, 2, 3));
  t = m.op(depthwise, {t, m.weights({1, 3, 3, 4})}, {1, 4, 4, 4}, {2, {0, 1, 1, 1}});
  t = m.op(pad, {t, m.list({0, 0, 1, 1, 1, 1, 0, 0})}, {1, 6, 6, 4});
  t = m.op(max_pool, {t}, {1, 3, 3, 4}, {5, {1, 2, 2, 2, 2}});
  t = m.op(concatenation, {t, t}, {1, 3, 3, 8}, {10, {3}});
  t = m.op(reshape, {t}, {1, 72});
  m.op(fully_connected, {t, m.weights({3, 72})}, {1, 3}, {8, {0}});
  const std::string file = m.file();
  const int sound =
      networks_of_damaged(file, 7, 10000, [](const std::string& damaged) { return read_tflite_network(damaged); });
  CHECK(sound > 1000);
}

TEST_CASE("typed networks have the elements of sparse weights, by rows and in blocks; damaged lists give none") {
  const auto weights_of = [](std::vector<std::int32_t> traversal, ints block_map, std::vector<sparse_level> levels,
                             const std::vector<float>& stored) {
    maker m;
    const int w = m.constant({4, 4}, bytes_of(stored));
    m.at(w).traversal = std::move(traversal), m.at(w).block_map = std::move(block_map), m.at(w).levels = std::move(levels);
    const int x = m.input({1, 4});
    m.op(fully_connected, {x, w}, {1, 4}, {8, {0}});
    const auto net = read_tflite_network(m.file());
    REQUIRE(net);
    std::vector<float> dense;
    const operation& op = net->operations[0];
    if (!op.weights || net->blobs[op.weights.of].data.empty()) return dense;
    for (std::int64_t o = 0; o < 4; ++o)
      for (std::int64_t i = 0; i < 4; ++i)
        dense.push_back(static_cast<float>(detail::stored(net->blobs[op.weights.of], o, 0, 0, i)));
    return dense;
  };
  // Rows, each with its columns.
  const sparse_level rows{4}, columns{4, {0, 1, 3, 3, 4}, {2, 0, 3, 1}};
  CHECK(weights_of({0, 1}, {}, {rows, columns}, {5, 6, 7, 8}) ==
        std::vector<float>{0, 0, 5, 0, 6, 0, 0, 7, 0, 0, 0, 0, 0, 8, 0, 0});
  // Columns first.
  CHECK(weights_of({1, 0}, {}, {rows, columns}, {5, 6, 7, 8}) ==
        std::vector<float>{0, 6, 0, 0, 0, 0, 0, 8, 5, 0, 0, 0, 0, 7, 0, 0});
  // Blocks of 1 x 2: two columns of them.
  CHECK(weights_of({0, 1, 2}, {1}, {rows, {2, {0, 1, 1, 1, 2}, {1, 0}}, {2}}, {1, 2, 3, 4}) ==
        std::vector<float>{0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0});
  CHECK(weights_of({0, 1}, {}, {rows, columns}, {5, 6, 7}).empty());                                // an element lacks
  CHECK(weights_of({0, 1}, {}, {rows, {4, {0, 1, 3, 3, 4}, {2, 0, 3, 4}}}, {5, 6, 7, 8}).empty());  // column 4
  CHECK(weights_of({0, 1}, {}, {rows, {4, {0, 1, 3, 3, 9}, {2, 0, 3, 1}}}, {5, 6, 7, 8}).empty());
  CHECK(weights_of({0, 1}, {}, {rows, {4, {0, 1, 3}, {2, 0, 3, 1}}}, {5, 6, 7, 8}).empty());
  CHECK(weights_of({0, 0}, {}, {rows, columns}, {5, 6, 7, 8}).empty());
  CHECK(weights_of({0, 1, 2}, {7}, {rows, columns, {2}}, {5, 6, 7, 8}).empty());
  CHECK(weights_of({0}, {}, {rows}, {5, 6, 7, 8}).empty());
}

TEST_CASE("an average pooling of the whole image is a mean") {
  maker m;
  const int x = m.input({1, 3, 4, 2});
  m.op(average_pool, {x}, {1, 1, 1, 2}, {5, {1, 1, 1, 4, 3}});
  CHECK(only_kind(m) == op_kind::mean);
}

TEST_CASE("the dimension along which a list has scales does not matter: a list has only one") {
  const auto layer = [](std::int32_t dimension, std::size_t scales) {
    maker m;
    const int x = m.input({1, 6, 6, 4}, int8);
    const int w = m.constant({1, 3, 3, 4}, std::string(36, '\1'), int8);
    m.at(w).scale = {0.5F, 0.25F, 1, 2}, m.at(w).zero_point = {0, 0, 0, 0}, m.at(w).dimension = 3;
    const int b = m.constant({4}, bytes_of(ints{1, 2, 3, 4}), int32);
    m.at(b).scale = std::vector<float>(scales, 0.25F), m.at(b).zero_point.assign(scales, 0);
    m.at(b).dimension = dimension;
    m.op(depthwise, {x, w, b}, {1, 6, 6, 4}, {2, {0, 1, 1, 1}});
    return read_one(m).operations[0];
  };
  for (const std::int32_t dimension : {0, 3, 7}) CHECK(layer(dimension, 4).does.what == op_kind::depthwise);
  CHECK(layer(3, 1).does.what == op_kind::depthwise);
  CHECK(layer(0, 3).does.what == op_kind::opaque);
  CHECK(layer(0, 3).not_understood == "a bias with 3 scales along dimension 0");
}

TEST_CASE("operators that are not understood say what they are, and why") {
  maker m;
  const int x = m.input({1, 6, 6, 4});
  const int computed = m.op(relu, {m.input({4, 1, 1, 4})}, {4, 1, 1, 4});
  int y = m.op(conv, {x, computed, m.weights({4})}, {1, 6, 6, 4}, window_options(0, 1, 1));
  y = m.op(conv, {y, m.weights({4, 1, 1, 4}), m.weights({3})}, {1, 6, 6, 4}, window_options(0, 1, 1));
  y = m.op(conv, {y, m.weights({4, 1, 1, 4}), m.weights({4})}, {1, 6, 6, 4}, window_options(0, 1, 1, 5));
  y = m.op(conv, {y, m.weights({4, 3, 3, 4}), m.weights({4})}, {1, 6, 6, 4}, window_options(1, 1, 1));
  y = m.op(transpose_kind, {y, m.list({0, 2, 1, 3})}, {1, 6, 6, 4});
  m.op(conv, {y, m.weights({4, 1, 1, 4}), m.weights({4})}, {1, 6, 6, 4}, window_options(0, 1, 1));
  const network net = read_one(m);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"RELU",
       "a tensor of several batches or more than four dimensions, of another type, or with a scale for each channel"},
      {"CONV_2D", "weights that an operator computes"},
      {"CONV_2D", "a bias of 3 elements for 4 channels"},
      {"CONV_2D", "its fused activation"},
      {"CONV_2D", "windows that do not make its output"},
      {"TRANSPOSE", ""}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(i);
    CHECK(net.operations[i].does.what == op_kind::opaque);
    CHECK(net.operations[i].kind == expected[i].first);
    CHECK(net.operations[i].not_understood == expected[i].second);
  }
  CHECK(net.operations[6].does.what == op_kind::convolution);
  CHECK(net.operations[6].not_understood.empty());
}
