// Networks with what their operators compute, for rewriting.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/network/builder.hpp>
#include <networks/cells.hpp>
#include <networks/swiftnet.hpp>

namespace networks {

using memsched::layer;
using memsched::network_builder;

/// An inverted residual without the addition: expansion, depthwise convolution, projection.
inline tensor_id inverted_residual(network_builder& b, tensor_id x, memsched::coordinate channels,
                                   memsched::coordinate expanded, std::int64_t stride, std::int64_t kernel = 3) {
  using memsched::activation;
  x = b.convolution(x, {.channels = expanded, .act = activation::relu6});
  x = b.depthwise(x, {.kernel = kernel,
                      .stride = stride,
                      .pad = memsched::padding::around,
                      .around = kernel / 2,
                      .act = activation::relu6});
  return b.convolution(x, {.channels = channels});
}

/// "MobileNetV2 w0.35, 144 pixels" as msf-CNN (Huang and Baccelli) measures it: a chain of 53 layers without residual
/// additions, widths rounded down, 8 bits an element.
inline memsched::network mobilenet_v2_chain() {
  using memsched::coordinate;
  network_builder b("mobilenet_v2_w0.35_r144", memsched::element::int8, {0.05F, 0});
  const auto width = [](coordinate full) { return full * 35 / 100; };
  tensor_id x = b.input({144, 144, 3});
  x = b.convolution(x, {.channels = width(32),
                        .kernel = 3,
                        .stride = 2,
                        .pad = memsched::padding::around,
                        .around = 1,
                        .act = memsched::activation::relu6});
  coordinate from = width(32);
  struct stage {
    coordinate expansion, channels, blocks, stride;
  };
  for (const stage& s :
       {stage{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}})
    for (coordinate i = 0; i < s.blocks; ++i) {
      x = inverted_residual(b, x, width(s.channels), from * s.expansion, i == 0 ? s.stride : 1);
      from = width(s.channels);
    }
  b.output(b.convolution(x, {.channels = width(1280), .act = memsched::activation::relu6}));
  return b.build().value();
}

/// "MCUNetV2 for visual wake words, 80 pixels" as msf-CNN measures it: a chain of 45 layers.
inline memsched::network mcunet_v2_chain() {
  using memsched::coordinate;
  network_builder b("mcunet_v2_vww_r80", memsched::element::int8, {0.05F, 0});
  tensor_id x = b.input({80, 80, 3});
  const layer window{.kernel = 3, .pad = memsched::padding::around, .around = 1, .act = memsched::activation::relu6};
  layer stem = window;
  stem.channels = 16, stem.stride = 2;
  x = b.convolution(x, stem);
  x = b.depthwise(x, window);
  x = b.convolution(x, {.channels = 8});
  struct stage {
    coordinate from, channels, expansion, stride, kernel;
  };
  for (const stage& s : {stage{8, 16, 6, 2, 3},
                         {16, 16, 3, 1, 3},
                         {16, 16, 3, 1, 3},
                         {16, 24, 3, 2, 7},
                         {24, 24, 6, 1, 3},
                         {24, 24, 5, 1, 5},
                         {24, 40, 6, 2, 7},
                         {40, 40, 6, 1, 7},
                         {40, 48, 6, 1, 3},
                         {48, 48, 4, 1, 3},
                         {48, 96, 5, 2, 5},
                         {96, 96, 5, 1, 3},
                         {96, 96, 4, 1, 3},
                         {96, 160, 3, 1, 7}})
    x = inverted_residual(b, x, s.channels, s.from * s.expansion, s.stride, s.kernel);
  b.output(x);
  return b.build().value();
}

/// Cell A of SwiftNet with the 48-channel convolution that reads its last concatenation: the graph of SERENITY's figures for
/// identity rewriting. A separable convolution, one operator there, stands as a dense one of 3 x 3, which is linear in each
/// input channel likewise and needs the same memory. SERENITY counts one byte an element also for partial sums.
inline memsched::network swiftnet_cell_a_typed(memsched::element e = memsched::element::float32) {
  const auto rows = swiftnet_wiring();
  network_builder b("swiftnet_cell_a", e,
                    e == memsched::element::float32 ? memsched::quantization{} : memsched::quantization{0.05F, 0});
  std::vector<tensor_id> made(rows.size() + 1, memsched::none);
  made[5] = b.input({28, 28, 32}, "x");
  for (std::size_t i = swiftnet_cell_a.first; i <= 31; ++i) {
    const swiftnet_row& row = rows[i];
    std::vector<tensor_id> from;
    for (const tensor_id t : row.reads) from.push_back(made[t]);
    switch (row.what) {
      case swiftnet_layer::concat: made[i + 1] = b.concat(from); break;
      case swiftnet_layer::dwconv: made[i + 1] = from[0]; break;  // part of the convolution that reads it
      default: {
        if (i == 30) break;  // the shortcut around the cell
        const bool separable = rows[row.reads[0] - 1].what == swiftnet_layer::dwconv;
        made[i + 1] = b.convolution(
            from[0], {.channels = static_cast<memsched::coordinate>(row.channels), .kernel = separable ? 3 : 1});
      }
    }
  }
  b.output(made[32]);
  return b.build().value();
}

/// The layers of `cell_network` as operators that compute: sizes, readers and in-place operators are those of `layers`.
/// Batch normalization is a depthwise convolution of 1 x 1, every other pixel an average of one, a slice a crop.
class typed_layers {
 public:
  explicit typed_layers(bytes) : builder_("cells") {}

  void begin_scope(index_t) {}
  void end_scope() {}
  feature input(bytes channels, bytes side) {
    return made(builder_.input({static_cast<memsched::coordinate>(side), static_cast<memsched::coordinate>(side),
                                static_cast<memsched::coordinate>(channels)}));
  }
  void output(const feature& x) { builder_.output(x.tensor); }

  feature apply(const std::string& kind, const std::vector<feature>& from, bytes channels, bytes side,
                store where = store::fresh) {
    using memsched::activation;
    const tensor_id x = from.front().tensor;
    const auto stride = static_cast<std::int64_t>(from.front().side / std::max<bytes>(1, side));
    const bool in_place = where == store::in_place;
    if (kind == "relu") return made(builder_.unary(x, activation::relu, in_place));
    if (kind == "add") return made(builder_.add(x, from[1].tensor, activation::identity, in_place));
    if (kind == "avgpool") return made(builder_.average_pooling(x, {.kernel = 3, .stride = stride}));
    if (kind == "maxpool") return made(builder_.max_pooling(x, {.kernel = 3, .stride = stride}));
    if (kind == "subsample") return made(builder_.average_pooling(x, {.stride = stride}));
    if (kind == "pad") return made(builder_.pad(x, {.below = 1, .right = 1}));
    if (kind == "slice") return made(builder_.pad(x, {.above = -1, .left = -1}));
    if (kind == "bn") return made(builder_.depthwise(x, {}));
    if (kind == "gap") return made(builder_.mean(x));
    if (kind == "matmul") return made(builder_.dense(x, static_cast<memsched::coordinate>(channels)));
    return made(builder_.unary(x, activation::identity, in_place));  // a bias, a squeeze
  }
  feature same(const std::string& kind, const std::vector<feature>& from, store where = store::fresh) {
    return apply(kind, from, from.front().channels, from.front().side, where);
  }
  feature conv(const feature& x, bytes channels, bytes stride = 1) {
    return made(builder_.convolution(
        x.tensor, {.channels = static_cast<memsched::coordinate>(channels), .stride = static_cast<std::int64_t>(stride)}));
  }
  feature depthwise(const feature& x, bytes stride = 1) {
    return made(builder_.depthwise(x.tensor, {.kernel = 3, .stride = static_cast<std::int64_t>(stride)}));
  }
  feature concat(const std::vector<feature>& from) {
    std::vector<tensor_id> parts;
    for (const feature& x : from) parts.push_back(x.tensor);
    return made(builder_.concat(parts));
  }

  memsched::network draft() const { return builder_.build().value(); }

 private:
  feature made(tensor_id t) const {
    const memsched::extents& e = builder_.size(t);
    return {t, static_cast<bytes>(e.channels), static_cast<bytes>(e.rows)};
  }

  network_builder builder_;
};

/// NASNet-A and AmoebaNet-A for CIFAR, as in cells.hpp.
inline memsched::network nasnet_cifar_typed() { return cell_network<typed_layers>(nasnet_a()).build(cifar_stack, 32); }
inline memsched::network amoebanet_cifar_typed() { return cell_network<typed_layers>(amoebanet_a()).build(cifar_stack, 36); }
/// NASNet-A for ImageNet, as in cells.hpp.
inline memsched::network nasnet_imagenet_typed() { return cell_network<typed_layers>(nasnet_a()).build(imagenet_stack, 22); }

/// A generator of a typed network, by name.
struct typed_network {
  const char* name;
  const char* what;
  memsched::network (*make)();
};

inline const std::vector<typed_network>& typed_networks() {
  static const std::vector<typed_network> list{
      {"mobilenet-v2-chain", "MobileNetV2 w0.35, 144 pixels, int8, as msf-CNN measures it", mobilenet_v2_chain},
      {"mcunet-v2-chain", "MCUNetV2 for visual wake words, 80 pixels, int8, as msf-CNN measures it", mcunet_v2_chain},
      {"nasnet-cifar-typed", "nasnet-cifar with what its operators compute", nasnet_cifar_typed},
      {"amoebanet-cifar-typed", "amoebanet-cifar with what its operators compute", amoebanet_cifar_typed},
      {"swiftnet-cell-a-conv", "cell A of SwiftNet with the convolution after it, float32",
       [] { return swiftnet_cell_a_typed(); }},
  };
  return list;
}

}  // namespace networks
