#include <memsched/formats/onnx/network.hpp>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/network/run.hpp>

#include "damaged.hpp"
#include "onnx_model.hpp"
#include "same_problem.hpp"

using namespace memsched;

namespace {

using onnx_model::set;
using onnx_model::set_number;
using onnx_model::set_text;

network read(const onnx_model::model& m) {
  auto net = read_onnx_network(m.file());
  INFO(net.error().message);
  REQUIRE(net);
  const auto graphs = read_onnx(m.file());
  REQUIRE(graphs);
  check_same_problem(*net, graphs->front().draft);
  return std::move(net).value();
}
const operation& by_name(const network& net, const std::string& name) {
  for (const operation& op : net.operations)
    if (op.name == name) return op;
  FAIL("no operator " << name);
  return net.operations[0];
}
std::vector<float> output(const network& net, std::size_t tensor) {
  const auto values = run(net, float_numbers{.random_weights = false});
  INFO(values.error().message);
  REQUIRE(values);
  return (*values)[tensor];
}

}  // namespace

TEST_CASE("typed networks have ONNX's windows, channels first") {
  onnx_model::model m;
  m.input("x", {1, 6, 8, 7})
      .floats("w", {4, 3, 3, 2})
      .floats("b", {4})
      .floats("d", {12, 1, 3, 3})
      .floats("u", {12, 5, 2, 3});
  auto& a = m.op("Conv", {"x", "w", "b"}, {"a"}, "grouped");
  set(a, "group", 2), set(a, "strides", {2, 1}), set(a, "pads", {1, 0, 0, 1});
  auto& d = m.op("Conv", {"x", "d2"}, {"y"}, "depthwise");
  m.floats("d2", {12, 1, 3, 3});
  set(d, "group", 6), set(d, "dilations", {2, 1}), set_text(d, "auto_pad", "SAME_LOWER");
  auto& u = m.op("ConvTranspose", {"y", "u"}, {"z"}, "transposed");
  set(u, "strides", {2, 2}), set(u, "pads", {0, 1, 0, 1}), set(u, "output_padding", {1, 0});
  auto& p = m.op("AveragePool", {"z"}, {"v"}, "average");
  set(p, "kernel_shape", {3, 2}), set(p, "pads", {1, 0, 1, 0}), set(p, "count_include_pad", 1);
  auto& q = m.op("MaxPool", {"v"}, {"r"}, "max");
  set(q, "kernel_shape", {2, 2}), set(q, "strides", {2, 2}), set(q, "ceil_mode", 1);
  m.op("GlobalAveragePool", {"r"}, {"s"}, "mean");
  m.output("a").output("s");
  const network net = read(m);
  CHECK(net.order == element_order::channels_rows_columns);
  CHECK(net.tensors[0].size == extents{8, 7, 6});
  const operation& grouped = by_name(net, "grouped");
  CHECK(grouped.does.groups == 2);
  CHECK(grouped.does.win == window{3, 2, 2, 1, 1, 1, 1, 0, 0});
  const blob& w = net.blobs[grouped.weights.of];
  CHECK(w.size == blob::axes{4, 3, 2, 3});
  for (const auto& [o, r, c, i] : {std::array{0, 0, 0, 0}, std::array{3, 2, 1, 2}, std::array{1, 1, 0, 2}})
    CHECK(detail::stored(w, o, r, c, i) == (((o * 3 + i) * 3 + r) * 2 + c) % 7 - 3);
  const operation& depthwise = by_name(net, "depthwise");
  CHECK(depthwise.does.what == op_kind::depthwise);
  CHECK(depthwise.does.win == window{3, 3, 1, 1, 2, 1, 2, 1, 0});
  const operation& transposed = by_name(net, "transposed");
  CHECK(transposed.does.what == op_kind::transposed_convolution);
  CHECK(transposed.does.win.pad_columns == 1);
  CHECK(by_name(net, "average").does.count_pad);
  CHECK(by_name(net, "max").does.what == op_kind::max_pooling);
  CHECK(by_name(net, "mean").does.what == op_kind::mean);
  CHECK(run(net, field_numbers{}));

  // The first element of the grouped convolution by hand: rows -1, 0, 1 and columns 0, 1 of channels 0, 1, 2.
  const auto values = run(net, float_numbers{.random_weights = false});
  REQUIRE(values);
  double sum = -3;
  for (int r = 1; r < 3; ++r)
    for (int c = 0; c < 2; ++c)
      for (int i = 0; i < 3; ++i) {
        const double weight = (i * 3 + r) * 2 + c;
        sum += (std::fmod(weight, 7) - 3) *
               static_cast<double>((*values)[0][static_cast<std::size_t>(((r - 1) * 7 + c) * 6 + i)]);
      }
  CHECK(static_cast<double>((*values)[net.outputs(0)[0]][0]) == Approx(sum));
}

TEST_CASE("typed networks know ONNX's products, normalizations and element-wise operators") {
  onnx_model::model m;
  m.input("x", {1, 3, 2, 2}).floats("scale", {3}).floats("shift", {3}).floats("means", {3}).floats("c", {3, 1, 1});
  m.floats("slope", {3, 1, 1}).floats("w", {12, 4}).floats("w2", {5, 4}).floats("b2", {5});
  auto* variance = m.proto.mutable_graph()->add_initializer();
  variance->set_name("variances"), variance->set_data_type(onnx::TensorProto::FLOAT), variance->add_dims(3);
  for (const float v : {1.0F, 4.0F, 0.25F}) variance->add_float_data(v);
  set_number(m.op("BatchNormalization", {"x", "scale", "shift", "means", "variances"}, {"n"}, "normal"), "epsilon", 0);
  m.op("Add", {"c", "n"}, {"added"}, "add");
  m.op("Mul", {"added", "added"}, {"square"}, "twice");
  m.op("PRelu", {"square", "slope"}, {"p"}, "prelu");
  auto& clip = m.op("Clip", {"p", "zero", "six"}, {"k"}, "clip");
  static_cast<void>(clip);
  for (const auto& [name, value] : {std::pair{"zero", 0.0F}, std::pair{"six", 6.0F}}) {
    auto* t = m.proto.mutable_graph()->add_initializer();
    t->set_name(name), t->set_data_type(onnx::TensorProto::FLOAT), t->add_float_data(value);
  }
  set_number(m.op("LeakyRelu", {"k"}, {"l"}, "leaky"), "alpha", 0.5F);
  m.op("Erf", {"l"}, {"e"}, "erf");
  m.op("Flatten", {"e"}, {"f"}, "flat");
  m.op("MatMul", {"f", "w"}, {"v"}, "product");
  set(m.op("Gemm", {"v", "w2", "b2"}, {"g"}, "gemm"), "transB", 1);
  m.op("Softmax", {"g"}, {"s"}, "softmax");
  m.output("s");
  const network net = read(m);
  for (const operation& op : net.operations) {
    INFO(op.name);
    CHECK(op.does.what != op_kind::opaque);
  }
  const operation& normal = by_name(net, "normal");
  CHECK(normal.does.what == op_kind::multiply);
  // scale (-3, -2, -1) / sqrt(variance), shift - mean * that: (-3 + 3 * -3, -2 + 2 * -1, -1 + 1 * -2)
  for (int c = 0; c < 3; ++c) {
    CHECK(detail::stored(net.blobs[normal.weights.of], 0, 0, 0, c) ==
          std::array{-3.0, -1.0, -2.0}[static_cast<std::size_t>(c)]);
    CHECK(detail::stored(net.blobs[normal.bias.of], 0, 0, 0, c) ==
          std::array{-12.0, -4.0, -3.0}[static_cast<std::size_t>(c)]);
  }
  CHECK(by_name(net, "add").reads.size() == 1);
  CHECK(by_name(net, "twice").reads.size() == 2);
  CHECK(by_name(net, "clip").does.act == activation::relu6);
  CHECK(by_name(net, "leaky").does.alpha == 0.5F);
  CHECK(by_name(net, "erf").does.function == "Erf");
  CHECK(by_name(net, "flat").does.what == op_kind::reshape);
  CHECK(by_name(net, "gemm").bias);

  // The product takes the elements channel by channel.
  const auto values = run(net, float_numbers{.random_weights = false});
  REQUIRE(values);
  const auto& in = (*values)[net.inputs(6)[0]];  // rows, columns, channels
  double sum = 0;
  for (std::size_t i = 0; i < 12; ++i)
    sum += (static_cast<double>(i * 4 % 7) - 3) *
           static_cast<double>((*values)[by_name(net, "flat").reads[0].parts[0].tensor][(i % 4) * 3 + i / 4]);
  CHECK(in.size() == 12);
  CHECK(static_cast<double>((*values)[by_name(net, "product").writes[0].parts[0].tensor][0]) == Approx(sum));
}

TEST_CASE("typed networks place the parts of ONNX's concatenations, splits and slices, and pad and resize") {
  onnx_model::model m;
  m.input("x", {1, 4, 6, 6}).integers("starts", {1, -3}).integers("ends", {3, 100}).integers("axes", {1, -1});
  m.integers("pads", {0, 0, 1, 2, 0, 3, 0, 0}).integers("sizes", {1, 7, 14, 10});
  set(m.op("Concat", {"x", "x"}, {"both"}, "concat"), "axis", 1);
  set(m.op("Concat", {"x", "x"}, {"tall"}, "rows"), "axis", 2);
  set(m.op("Split", {"both"}, {"first", "second"}, "split"), "axis", 1);
  m.op("Slice", {"x", "starts", "ends", "axes"}, {"part"}, "slice");
  m.op("Pad", {"x", "pads"}, {"padded"}, "pad");
  auto& r = m.op("Resize", {"padded", "", "", "sizes"}, {"large"}, "resize");
  set_text(r, "mode", "linear");
  auto& n = m.op("Resize", {"x", "", "", "twice"}, {"near"}, "nearest");
  m.integers("twice", {1, 4, 12, 12});
  set_text(n, "nearest_mode", "floor"), set_text(n, "coordinate_transformation_mode", "asymmetric");
  auto& q = m.op("DepthToSpace", {"x"}, {"deep"}, "depth");
  set(q, "blocksize", 2), set_text(q, "mode", "CRD");
  for (const char* name : {"first", "second", "tall", "part", "large", "near", "deep"}) m.output(name);
  const network net = read(m);
  for (const operation& op : net.operations) {
    INFO(op.name);
    CHECK(op.does.what != op_kind::opaque);
  }
  CHECK(by_name(net, "concat").reads[0].parts[1].channel == 4);
  CHECK(by_name(net, "rows").reads[0].parts[1].row == 6);
  CHECK(by_name(net, "split").writes[0].parts[1].channel == 4);
  const placed& part = by_name(net, "slice").writes[0].parts[0];
  CHECK(part.channel == 1);
  CHECK(part.column == 3);
  CHECK(net.tensors[part.tensor].size == extents{6, 3, 2});
  const window& pads = by_name(net, "pad").does.win;
  CHECK(pads.pad_rows == 1);
  CHECK(pads.pad_columns == 2);
  CHECK(by_name(net, "nearest").does.rounding == resize_rounding::floor);
  CHECK(!by_name(net, "depth").does.depth_first);
  CHECK(output(net, net.outputs(0)[0]).size() == 288);
}

TEST_CASE("what a typed network does not understand of ONNX is opaque, with all that it reads") {
  const auto kind_with = [](auto change, std::int64_t opset = 13) {
    onnx_model::model m(opset);
    m.input("x", {1, 4, 8, 8}).floats("w", {4, 4, 3, 3});
    auto& node = m.op("Conv", {"x", "w"}, {"y"}, "layer");
    change(m, node);
    m.output("y");
    return by_name(read(m), "layer").does.what;
  };
  using node = onnx::NodeProto;
  CHECK(kind_with([](onnx_model::model&, node&) {}) == op_kind::convolution);
  CHECK(kind_with([](onnx_model::model& m, node&) {
          m.proto.mutable_graph()
              ->mutable_input(0)
              ->mutable_type()
              ->mutable_tensor_type()
              ->mutable_shape()
              ->mutable_dim(0)
              ->set_dim_value(2);
        }) == op_kind::opaque);
  CHECK(kind_with([](onnx_model::model& m, node& n) {
          m.input("v", {4, 4, 3, 3});
          n.set_input(1, "v");
        }) == op_kind::opaque);
  CHECK(kind_with([](onnx_model::model& m, node& n) {
          m.floats("s", {4});
          n.set_op_type("InstanceNormalization"), n.set_input(1, "s"), n.add_input("s");
        }) == op_kind::opaque);
  const auto resized = [&](const onnx_model::dims& sizes, const char* coordinates) {
    return kind_with([&](model& m, node& n) {
      n.set_op_type("Resize"), n.set_input(1, ""), n.add_input(""), n.add_input("sizes");
      m.integers("sizes", sizes);
      set_text(n, "coordinate_transformation_mode", coordinates);
    });
  };
  CHECK(resized({1, 4, 16, 16}, "half_pixel") == op_kind::resize_nearest);
  CHECK(resized({1, 4, 16, 16}, "tf_half_pixel_for_nn") == op_kind::opaque);
  CHECK(resized({1, 8, 16, 16}, "half_pixel") == op_kind::opaque);
  const auto soft = [&](std::int64_t axis, std::int64_t opset) {
    return kind_with(
        [&](model&, node& n) {
          n.set_op_type("Softmax"), n.mutable_input()->RemoveLast();
          set(n, "axis", axis);
        },
        opset);
  };
  CHECK(soft(1, 13) == op_kind::softmax);
  CHECK(soft(-3, 13) == op_kind::softmax);
  CHECK(soft(3, 13) == op_kind::opaque);
  CHECK(soft(1, 11) == op_kind::opaque);  // over channels, rows and columns together
}

TEST_CASE("weights of other files are unknown, halves become floats, and graphs in graphs have no typed network") {
  onnx_model::model m;
  m.input("x", {1, 2, 4, 4}).weight("w", {3, 2, 1, 1});
  m.op("Conv", {"x", "w"}, {"y"}, "outside");
  auto* half = m.proto.mutable_graph()->add_initializer();
  half->set_name("h"), half->set_data_type(onnx::TensorProto::FLOAT);
  for (const int d : {1, 3, 1, 1}) half->add_dims(d);
  const std::array<float, 3> raw{1.5F, -2, 0.25F};
  half->set_raw_data(raw.data(), sizeof raw);
  m.op("Conv", {"y", "h"}, {"z"}, "inside");
  m.output("z");
  const network net = read(m);
  CHECK(net.blobs[by_name(net, "outside").weights.of].data.empty());
  CHECK(detail::stored(net.blobs[by_name(net, "inside").weights.of], 0, 0, 0, 2) == 0.25);

  onnx_model::model calling;
  calling.input("c", {}, onnx::TensorProto::BOOL).input("x", {4});
  auto& branch = calling.op("If", {"c"}, {"y"}, "choice");
  for (const char* name : {"then_branch", "else_branch"}) {
    auto g = onnx_model::add_graph(branch, name);
    g.op("Relu", {"x"}, {std::string("r_") + name});
    g.output(std::string("r_") + name);
  }
  calling.output("y");
  const auto refused = read_onnx_network(calling.file());
  REQUIRE(!refused);
  CHECK(refused.error().message == "operator 0 'choice' runs another graph, which no typed network can");
}

TEST_CASE("damaged ONNX files give errors or sound typed networks") {
  onnx_model::model m;
  m.input("x", {1, 4, 8, 8}).floats("w", {4, 4, 3, 3}).floats("d", {4, 1, 3, 3}).integers("pads", {0, 0, 1, 1, 0, 0, 1, 1});
  set(m.op("Conv", {"x", "w"}, {"a"}), "strides", {2, 2});
  m.op("Pad", {"a", "pads"}, {"b"});
  set(m.op("Conv", {"b", "d"}, {"c"}), "group", 4);
  set(m.op("MaxPool", {"c"}, {"e"}), "kernel_shape", {2, 2});
  set(m.op("Concat", {"e", "e"}, {"f"}), "axis", 1);
  set(m.op("Split", {"f"}, {"g", "h"}), "axis", 1);
  m.op("Add", {"g", "h"}, {"i"});
  m.op("GlobalAveragePool", {"i"}, {"y"});
  m.output("y");
  const std::string file = m.file();
  const int sound =
      networks_of_damaged(file, 5, 3000, [](const std::string& damaged) { return read_onnx_network(damaged); });
  CHECK(sound > 300);
}
