// Random typed networks, small, that make rules fire.
#pragma once

#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/network/builder.hpp>

namespace memsched_tests {

/// A network of a few layers of all kinds that are local along rows, with concatenations, pads, means and additions.
inline memsched::network random_network(std::uint64_t seed, memsched::element e) {
  using namespace memsched;
  base::random_source r(seed);
  network_builder b("random", e,
                    e == element::float32 ? quantization{} : quantization{0.05F, static_cast<std::int32_t>(r.below(7)) - 3});
  const auto rows = static_cast<coordinate>(5 + r.below(9)), columns = static_cast<coordinate>(3 + r.below(4));
  std::vector<tensor_id> at{b.input({rows, columns, static_cast<coordinate>(2 + r.below(3))})};
  const auto pick = [&] { return at[at.size() - 1 - r.below(std::min<std::uint64_t>(at.size(), 3))]; };
  const auto act = [&] {
    return r.chance(1, 2) ? activation::identity : r.chance(1, 2) ? activation::relu6 : activation::tanh;
  };
  const auto like = [&](tensor_id x, bool channels_too) {
    for (std::size_t i = at.size(); i-- > 0;) {
      const extents &p = b.size(at[i]), &q = b.size(x);
      if (at[i] != x && p.rows == q.rows && p.columns == q.columns && (!channels_too || p.channels == q.channels))
        return at[i];
    }
    return x;
  };
  const std::size_t layers = 4 + r.below(6);
  for (std::size_t i = 0; i < layers; ++i) {
    const tensor_id x = pick();
    const extents size = b.size(x);
    const auto kernel = static_cast<std::int64_t>(1 + r.below(3)), stride = static_cast<std::int64_t>(1 + r.below(2));
    const auto channels = static_cast<coordinate>(1 + r.below(6));
    const bool big = size.rows > 3 && size.columns > 3;
    const layer l{.channels = channels,
                  .kernel = kernel,
                  .stride = big ? stride : 1,
                  .pad = r.chance(1, 3) && big ? padding::valid : padding::same,
                  .act = act()};
    switch (r.below(16)) {
      case 0:
      case 1: at.push_back(b.convolution(x, l)); break;
      case 2:
        at.push_back(b.depthwise(
            x, {.kernel = kernel, .stride = big ? stride : 1, .multiplier = r.chance(1, 4) ? 2 : 1, .act = act()}));
        break;
      case 3: at.push_back(b.max_pooling(x, {.kernel = kernel, .stride = big ? stride : 1})); break;
      case 4: at.push_back(b.average_pooling(x, {.kernel = kernel, .stride = big ? stride : 1})); break;
      case 5: at.push_back(b.add(x, like(x, true), act(), r.chance(1, 2))); break;
      case 6: at.push_back(b.multiply(x, b.mean(r.chance(1, 2) ? b.convolution(x, {.channels = size.channels}) : x))); break;
      case 7:
      case 8: at.push_back(b.concat({x, like(x, false), x})); break;
      case 9: {
        const tensor_id padded = b.pad(x, {1, 1, 1, static_cast<std::int64_t>(r.below(2))});
        at.push_back(b.convolution(padded, {.channels = channels, .kernel = 3, .pad = padding::valid}));
        break;
      }
      case 10: {
        const tensor_id more = b.convolution(x, {.channels = size.channels + 2, .kernel = 1});
        const tensor_id padded = b.pad(x, {.channels_behind = 2});
        at.push_back(r.chance(1, 2) ? b.add(more, padded) : b.add(padded, more));
        break;
      }
      case 11:
        at.push_back(r.chance(1, 2) ? b.resize_bilinear(x, size.rows + 2, size.columns)
                                    : b.resize_nearest(x, size.rows * 2, size.columns));
        break;
      case 12:
        at.push_back(size.rows < 12 ? b.transposed_convolution(x, {.channels = channels, .kernel = 3, .stride = 2})
                                    : b.unary(x, activation::relu, true));
        break;
      case 13:  // an inverted residual
        at.push_back(b.depthwise(b.convolution(x, {.channels = size.channels * 2, .act = act()}), {.kernel = 3}));
        at.push_back(b.convolution(at.back(), {.channels = channels}));
        break;
      case 14:  // a convolution after a resize
        at.push_back(b.convolution(b.resize_bilinear(x, size.rows * 2, size.columns + 1), {.channels = channels}));
        break;
      default: at.push_back(r.chance(1, 2) ? b.prelu(x) : b.softmax(x)); break;
    }
  }
  b.output(r.chance(1, 3) ? b.dense(at.back(), 3) : at.back());
  if (r.chance(1, 3)) b.output(at[at.size() - 2]);
  return b.build().value();
}

}  // namespace memsched_tests
