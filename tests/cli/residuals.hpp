// A network with weights, for models that tests write.
#pragma once

#include <cstdint>
#include <vector>

#include <memsched/network/builder.hpp>

#include "support/weighed.hpp"

/// Inverted residuals; strided ones pad on all sides, as PyTorch does, which SAME does not.
inline memsched::network residuals(memsched::element e, memsched::coordinate side, std::uint64_t seed) {
  using namespace memsched;
  network_builder b("residuals", e, e == element::float32 ? quantization{} : quantization{0.05F, -3});
  tensor_id t = b.convolution(b.input({side, side, 3}), {.channels = 4, .kernel = 3, .stride = 2, .act = activation::relu6});
  for (std::uint64_t i = 0; i < 4; ++i, seed = seed * 5 + 3) {
    const bool strided = seed % 3 == 0;
    const tensor_id from = t;
    t = b.convolution(t, {.channels = 12 + static_cast<coordinate>(seed % 2) * 4, .act = activation::relu6});
    if (strided) {
      t = b.pad(t, {.above = 1, .below = 1, .left = 1, .right = 1});
      t = b.depthwise(t, {.kernel = 3, .stride = 2, .pad = padding::valid, .act = activation::relu6});
    } else {
      t = b.depthwise(t, {.kernel = 3, .act = activation::relu6});
    }
    t = b.convolution(t, {.channels = 4});
    if (!strided) t = b.add(t, from);
  }
  b.output(t);
  b.output(b.softmax(b.dense(b.mean(t), 3)));
  return weighed(b.build().value());
}

/// The operators of a network in its own order.
inline std::vector<memsched::op_id> listed(const memsched::network& net) {
  std::vector<memsched::op_id> order;
  for (memsched::op_id i = 0; i < net.operations.size(); ++i) order.push_back(i);
  return order;
}
