// Networks for tests of writers, and what must hold of a file that one of them wrote.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/network/builder.hpp>
#include <memsched/network/integers.hpp>
#include <memsched/network/run.hpp>
#include <memsched/rewrite/cut.hpp>

#include "support/weighed.hpp"

namespace network_files {

using namespace memsched;

inline std::vector<op_id> listed(const network& net) {
  std::vector<op_id> order;
  for (op_id i = 0; i < net.operations.size(); ++i) order.push_back(i);
  return order;
}

/// Inverted residuals with a strided stem, pads, pooling, a concatenation, resizes and a head, with weights of its own.
/// `dilated`: whether a convolution in groups is dilated too.
inline network mixed(element e = element::float32, quantization q = {}) {
  const bool real = e == element::float32;
  network_builder b("mixed", e, q);
  const tensor_id x = b.input({13, 11, 3});
  tensor_id t = b.convolution(x, {.channels = 8, .kernel = 3, .stride = 2, .act = activation::relu6});
  const tensor_id kept = t;
  t = b.convolution(t, {.channels = 16, .act = activation::relu});
  t = b.pad(t, {.above = 1, .below = 1, .left = 1, .right = 1});
  t = b.depthwise(t, {.kernel = 3, .pad = padding::valid, .act = real ? activation::hard_swish : activation::relu6});
  t = b.convolution(t, {.channels = 8});
  t = b.add(t, kept, activation::relu);
  const tensor_id low = b.max_pooling(t, {.kernel = 3, .stride = 2});
  const tensor_id wide = b.convolution(low, {.channels = 6, .kernel = 3, .dilation = 2, .groups = 2});
  t = b.concat({t, b.resize_bilinear(wide, 7, 6), b.resize_nearest(low, 7, 6)});
  t = b.average_pooling(t, {.kernel = 3, .stride = 1});
  t = b.multiply(t, b.unary(b.convolution(b.mean(t), {.channels = 22}), activation::logistic));
  t = b.prelu(t);
  b.output(t);
  t = b.transposed_convolution(t, {.channels = 4, .kernel = 3, .stride = 2});
  t = b.unary(b.depth_to_space(t, 2), activation::leaky);
  t = b.max_pooling(t, {.kernel = 7, .stride = 7});
  b.output(b.softmax(b.dense(b.reshape(t, {1, 1, 16}), 10)));
  auto net = b.build();
  INFO(net.error().message);
  REQUIRE(net);
  return weighed(*net);
}

/// Cuts into blocks of rows, but for results of these kinds.
inline network in_blocks(const network& net, coordinate n, const std::vector<op_kind>& whole = {}) {
  std::vector<cut_points> cuts = row_cuts(net, n);
  for (const operation& op : net.operations)
    if (std::find(whole.begin(), whole.end(), op.does.what) != whole.end()) cuts[op.writes[0].parts[0].tensor] = {};
  auto blocks = cut(net, cuts);
  REQUIRE(blocks);
  CHECK(blocks->operations.size() > net.operations.size());
  return std::move(*blocks);
}

/// Calls f(output of `first`, output of `back`) for those of one name: each output has exactly one such.
template <class F>
void for_each_output(const network& first, const network& back, F&& f) {
  std::size_t compared = 0, outputs = 0;
  for (tensor_id o = 0; o < first.tensors.size(); ++o) {
    if (!first.tensors[o].output) continue;
    ++outputs;
    for (tensor_id t = 0; t < back.tensors.size(); ++t) {
      if (!back.tensors[t].output || back.tensors[t].name != first.tensors[o].name) continue;
      f(o, t);
      ++compared;
    }
  }
  CHECK(compared == outputs);
}

/// The file that was written computes what `first` does, to the bit, with the model's own weights; nothing in it is opaque.
template <class Numbers>
void check_same(const network& first, const network& back) {
  const auto expected = run(first, Numbers{.random_weights = false});
  const auto values = run(back, Numbers{.random_weights = false});
  INFO(values.error().message);
  REQUIRE(expected);
  REQUIRE(values);
  for (const operation& op : back.operations) {
    INFO(op.name);
    CHECK(op.does.what != op_kind::opaque);
  }
  for_each_output(first, back, [&](tensor_id o, tensor_id t) {
    CHECK(back.tensors[t].quant == first.tensors[o].quant);
    CHECK((*values)[t] == (*expected)[o]);
  });
}

/// The file that was written computes what `first` does in floats, up to a margin: sums may be taken in another order.
inline void check_near(const network& first, const network& back, double margin) {
  const auto expected = run(first, float_numbers{.random_weights = false});
  const auto values = run(back, float_numbers{.random_weights = false});
  REQUIRE(expected);
  REQUIRE(values);
  for_each_output(first, back, [&](tensor_id o, tensor_id t) {
    REQUIRE((*values)[t].size() == (*expected)[o].size());
    for (std::size_t k = 0; k < (*expected)[o].size(); ++k)
      CHECK((*values)[t][k] == Approx((*expected)[o][k]).margin(margin));
  });
}

/// A dense layer after a convolution, with weights.
inline network dense_layer() {
  network_builder b("dense");
  const tensor_id x = b.input({6, 4, 3});
  b.output(b.dense(b.convolution(x, {.channels = 4, .kernel = 3}), 5));
  return weighed(b.build().value());
}

}  // namespace network_files
