#include <memsched/emit/emit_c.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/rewrite/channel_slices.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/fold_pads.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/kernel_wise.hpp>
#include <memsched/rewrite/split_sums.hpp>
#include <memsched/rewrite/stream_inputs.hpp>
#include <memsched/rewrite/stripes.hpp>

#include "programs.hpp"
#include "support/temporary_folder.hpp"

namespace {

typed_tensor typed(element e, extents size, quantization q = {}) {
  typed_tensor t;
  t.element = e, t.size = size, t.quant = q;
  return t;
}

/// Adds a tensor, and an operator that makes it of another one.
tensor_id add_operator(network& net, tensor_id from, typed_tensor to, operation op) {
  const auto t = static_cast<tensor_id>(net.tensors.size());
  to.name = "t" + std::to_string(t), to.origin = t, to.part = whole(to.size);
  net.tensors.push_back(to);
  op.origin = static_cast<op_id>(net.operations.size());
  op.name = "op" + std::to_string(op.origin);
  op.reads = {{net.tensors[from].size, {{from, 0, 0, 0}}}}, op.writes = {{to.size, {{t, 0, 0, 0}}}};
  net.operations.push_back(std::move(op));
  return t;
}

}  // namespace

TEST_CASE("a C program of a float32 network, whole or in row blocks, computes the executor's bits in the promised arena") {
  const network net = mixed(element::float32, {});
  check_program<float_numbers>(net, net);
  const network gathered = gather_all(net);
  const auto blocks = cut(gathered, row_cuts(gathered, 5));
  REQUIRE(blocks);
  check_program<float_numbers>(net, *blocks);
}

TEST_CASE("a C program of an int8 network, whole or in row blocks, computes the executor's bits in the promised arena") {
  const network net = mixed(element::int8, {0.05F, -3});
  check_program<int8_numbers>(net, net);
  const auto blocks = cut(net, row_cuts(net, 64));
  REQUIRE(blocks);
  check_program<int8_numbers>(net, stream_inputs(*blocks));
}

TEST_CASE("a C program of a uint8 network, and of sums in parts, computes the executor's bits") {
  for (const auto& [e, q] :
       {std::pair{element::uint8, quantization{0.04F, 117}}, std::pair{element::float32, quantization{}}}) {
    network_builder b("parts", e, q);
    const tensor_id x = b.input({6, 5, 4});
    const tensor_id left = b.convolution(x, {.channels = 3, .act = activation::relu}),
                    right = b.max_pooling(x, {.kernel = 3});
    tensor_id t = b.convolution(b.concat({left, right}), {.channels = 5, .kernel = 1, .act = activation::relu6});
    t = b.multiply(t, b.mean(t));
    b.output(t);
    const auto built = b.build();
    REQUIRE(built);
    const network net = weighed(*built);
    const network gathered = gather_all(net);
    for (const sum_form form : {sum_form::together, sum_form::chain, sum_form::any_order}) {
      network split = gathered;
      for (op_id i = 0; i < gathered.operations.size(); ++i)
        if (gathered.operations[i].reads[0].parts.size() > 1 && may_split_sum(gathered, i)) {
          split = split_sum(gathered, i, form);
          break;
        }
      REQUIRE(split.operations.size() > gathered.operations.size());
      if (e == element::uint8) check_program<int8_numbers>(net, split);
      else if (form == sum_form::chain) check_program<float_numbers>(net, split);  // the order of sums stays
    }
  }
}

TEST_CASE("a C program of stripes, kernels by parts, and dense layers in blocks computes the executor's bits") {
  for (const element e : {element::float32, element::int8}) {
    const bool real = e == element::float32;
    network_builder b("stripes", e, real ? quantization{} : quantization{0.05F, 0});
    tensor_id x = b.convolution(b.input({16, 6, 2}), {.channels = 6, .kernel = 3, .act = activation::relu});
    x = b.add(x, b.convolution(x, {.channels = 6, .kernel = 3}));
    x = b.convolution(x, {.channels = 3, .kernel = 3, .stride = 2});
    const tensor_id y = b.convolution(b.depthwise(b.convolution(x, {.channels = 12}), {.kernel = 3}), {.channels = 4});
    b.output(b.dense(b.depthwise(b.concat({x, y}), {.kernel = 3}), 5));
    const network net = weighed(b.build().value());
    const auto check = [&](const network& made) {
      real ? check_program<float_numbers>(net, made) : check_program<int8_numbers>(net, made);
    };
    network striped = stripes(net, {0, 4}, 3, real ? runtime::whole : runtime::parts).value();
    for (op_id i = 0; i < striped.operations.size(); ++i)
      if (!expanded_by(striped, uses(striped), i).empty()) {
        striped = slice_channels(striped, i, 4, real ? sum_form::chain : sum_form::any_order);
        break;
      }
    check(striped);
    const network parts = split_readers(net, 7);
    check(split_reductions(cut(parts, row_cuts(parts, 4)).value(), sum_form::chain));
  }
}

TEST_CASE("a C program adds what has fewer channels to the first ones, on either side") {
  for (const bool real : {true, false}) {
    network_builder b("padded", real ? element::float32 : element::int8, real ? quantization{} : quantization{0.05F, 7});
    const tensor_id x = b.input({4, 4, 3}), wide = b.convolution(x, {.channels = 5});
    const tensor_id t = b.add(b.pad(x, {.channels_behind = 2}), wide, activation::relu);
    b.output(b.add(b.convolution(t, {.channels = 8}), b.pad(t, {.channels_behind = 3})));
    const auto built = b.build();
    REQUIRE(built);
    const network net = weighed(*built);
    const network folded = fold_pads(net);
    CHECK(folded.operations.size() + 2 == net.operations.size());
    if (real) check_program<float_numbers>(net, folded);
    else check_program<int8_numbers>(net, folded);
  }
}

TEST_CASE("a C program reads inputs and writes outputs in the order of the file, one perhaps twice") {
  network_builder b("ends");
  const tensor_id x = b.input({6, 4, 2}), z = b.input({6, 4, 3});
  const tensor_id left = b.convolution(x, {.channels = 4, .kernel = 3}), right = b.unary(z, activation::relu);
  b.output(left), b.output(right);
  network net = weighed(b.build().value());
  net.listed_inputs = {{z, {}}, {x, {}}};
  net.listed_outputs = {{right, {}}, {left, {}}, {right, {}}};
  check_program<float_numbers>(net, net);
  check_program<float_numbers>(net, cut(net, row_cuts(net, 3)).value());
  net.listed_outputs.push_back({});
  CHECK(emit_c(net, place_tensors(net).e).error().message == "the network has an output that is constant");
}

TEST_CASE("a library of one kind of operator has no function that it does not call") {
  using layer_of = tensor_id (*)(network_builder&, tensor_id);
  const std::vector<std::pair<const char*, layer_of>> layers{
      {"convolution", [](network_builder& b, tensor_id x) { return b.convolution(x, {.channels = 4, .kernel = 3}); }},
      {"pixels", [](network_builder& b, tensor_id x) { return b.convolution(x, {.channels = 4}); }},
      {"depthwise", [](network_builder& b, tensor_id x) { return b.depthwise(x, {.kernel = 3}); }},
      {"transposed", [](network_builder& b,
                        tensor_id x) { return b.transposed_convolution(x, {.channels = 4, .kernel = 2, .stride = 2}); }},
      {"dense", [](network_builder& b, tensor_id x) { return b.dense(x, 3); }},
      {"max_pooling", [](network_builder& b, tensor_id x) { return b.max_pooling(x, {.kernel = 2, .stride = 2}); }},
      {"average_pooling", [](network_builder& b, tensor_id x) { return b.average_pooling(x, {.kernel = 2, .stride = 2}); }},
      {"mean", [](network_builder& b, tensor_id x) { return b.mean(x); }},
      {"add", [](network_builder& b, tensor_id x) { return b.add(x, x); }},
      {"multiply", [](network_builder& b, tensor_id x) { return b.multiply(x, x); }},
      {"unary", [](network_builder& b, tensor_id x) { return b.unary(x, activation::hard_swish); }},
      {"prelu", [](network_builder& b, tensor_id x) { return b.prelu(x); }},
      {"softmax", [](network_builder& b, tensor_id x) { return b.softmax(x); }},
      {"concat",
       [](network_builder& b, tensor_id x) {
         return b.concat({x, x});
       }},
      {"pad", [](network_builder& b, tensor_id x) { return b.pad(x, {.above = 1, .below = 1}); }},
      {"bilinear", [](network_builder& b, tensor_id x) { return b.resize_bilinear(x, 7, 6); }},
      {"nearest", [](network_builder& b, tensor_id x) { return b.resize_nearest(x, 7, 6); }},
      {"depth_to_space", [](network_builder& b, tensor_id x) { return b.depth_to_space(x, 2); }}};
  const support::temporary_folder temporary;
  const std::filesystem::path& folder = temporary.path();
  for (const element e : {element::float32, element::int8})
    for (const auto& [kind, layer] : layers) {
      CAPTURE(kind, e == element::int8);
      network_builder b(kind, e, e == element::int8 ? quantization{0.05F, -3} : quantization{});
      b.output(layer(b, b.input({4, 4, 4})));
      const network net = weighed(b.build().value());
      const auto made = emit_c(net, place_tensors(net).e);
      REQUIRE(made);
      std::ofstream(folder / "network.h") << made->header;
      std::ofstream(folder / "network.c") << made->source;
      const std::string source = (folder / "network.c").string();
      CHECK(std::system((MEMSCHED_C_COMPILER " -std=c11 -Wall -Wextra -Werror -c -o /dev/null " + source).c_str()) == 0);
    }
}

TEST_CASE("a C program quantizes float32, copies by strides, and dequantizes") {
  const quantization q{0.125F, -5};
  network net;
  typed_tensor input;
  input.name = "x", input.size = {2, 3, 4}, input.input = true, input.origin = 0, input.part = whole(input.size);
  net.tensors = {input};
  const operation copies{.does = {.what = op_kind::copy}};
  tensor_id t = add_operator(net, 0, typed(element::int8, {2, 3, 4}, q), copies);
  operation transposes, averages;
  transposes.definition = strided{{1, 4, 2, 3}, {0, 1, 12, 4}};  // channels first
  averages.definition = strided{{1, 1, 4, 2}, {0, 0, 6, 3}, 3, 1};
  t = add_operator(net, t, typed(element::int8, {4, 2, 3}, q), transposes);
  t = add_operator(net, t, typed(element::int8, {1, 4, 2}, q), averages);
  t = add_operator(net, t, typed(element::float32, {1, 4, 2}), copies);
  net.tensors[t].output = true;
  const auto made = emit_c(net, place_tensors(net).e);
  INFO(made.error().message);
  REQUIRE(made);
  std::string inputs, expected;
  std::vector<int> stored;
  for (int i = 0; i < 24; ++i) {
    // Halves, what lies beyond all integers, and what is no number.
    const float x = i == 7   ? 1e30F
                    : i == 8 ? -1e30F
                    : i == 9 ? std::numeric_limits<float>::quiet_NaN()
                             : static_cast<float>(i * i % 17 - 8) * 0.0625F;
    inputs.append(reinterpret_cast<const char*>(&x), sizeof x);
    const float steps = std::round(x / q.scale);
    stored.push_back(std::isnan(x) ? -128 : static_cast<int>(std::clamp(steps - 5, -128.0F, 127.0F)));
  }
  for (int k = 0; k < 4; ++k)
    for (int r = 0; r < 2; ++r) {
      int sum = 0;
      for (int c = 0; c < 3; ++c) sum += stored[static_cast<std::size_t>((r * 3 + c) * 4 + k)];
      const float y = q.scale * static_cast<float>(sum / 3 + 5);
      expected.append(reinterpret_cast<const char*>(&y), sizeof y);
    }
  CHECK(outputs_of(*made, inputs) == expected);

  net.operations[1].definition.reset();
  CHECK(why_no_c(net).message == "operator 1 'op1' is opaque: what it computes is not known");
}

TEST_CASE("what a C program cannot be is an error that names the operator or tensor") {
  const network net = mixed(element::float32, {});
  const placed_network p = place_tensors(net);
  const auto message = [&](const network& n, const emission& e) { return emit_c(n, e).error().message; };
  CHECK(emit_c(net, p.e));
  emission e = p.e;
  e.order.pop_back();
  CHECK(message(net, e) == "the order does not list each operator once");
  e = p.e;
  e.offset[2] = 2;
  CHECK(message(net, e).find("does not lie at a multiple of the size of its elements") != std::string::npos);
  e.offset[2] = e.arena;
  CHECK(message(net, e).find("lies outside the arena") != std::string::npos);
  network lacking = net;
  lacking.blobs[0].data = {};
  CHECK(message(lacking, p.e).find("operator 0 'convolution_0' has weights that the model does not hold") == 0);
  network unknown = net;
  unknown.operations[1].does.act = activation::other;
  unknown.operations[1].does.function = "Erf";
  CHECK(message(unknown, p.e).find("applies Erf, of which only the name is known") != std::string::npos);
  network opaque = net;
  opaque.operations[4].does.what = op_kind::opaque;
  CHECK(message(opaque, p.e).find("is opaque: what it computes is not known") != std::string::npos);
  CHECK(why_no_c(net).message.empty());
  for (const network* n : {&lacking, &unknown, &opaque}) CHECK(why_no_c(*n).message == message(*n, p.e));
  network typed = net;
  typed.tensors[3].element = element::int8;
  CHECK(message(typed, p.e) == "tensor 3 '" + typed.tensors[3].name +
                                   "' has another type: a C program has float32 alone, or int8 or uint8 with " +
                                   "scales, quantized and dequantized at its ends");
  CHECK(why_no_c(typed).message == message(typed, p.e));
}
