// Networks of the builder with weights of their own.
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/network/numbers.hpp>

/// Gives a network's weights bytes: floats scaled so that they keep the size of what they multiply, or integers.
inline memsched::network weighed(memsched::network net) {
  using namespace memsched;
  auto bytes = std::make_shared<std::vector<std::vector<std::byte>>>();
  base::random_source random(3);
  for (const blob& b : net.blobs) {
    const auto n = static_cast<std::size_t>(b.size.outputs * b.size.rows * b.size.columns * b.size.inputs);
    const auto width = static_cast<std::size_t>(size_of(b.element));
    std::vector<std::byte> data(n * width);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t h = random.next();
      if (b.element == element::float32) {
        const auto x = static_cast<float>(detail::signed_unit(h) * std::sqrt(6 / detail::fan_in(b)));
        std::memcpy(data.data() + 4 * i, &x, 4);
      } else if (width == 1) {
        data[i] = static_cast<std::byte>(h % 255 - 127);
      } else {
        const auto x = static_cast<std::int32_t>(h % 2001) - 1000;
        std::memcpy(data.data() + width * i, &x, 4);
      }
    }
    bytes->push_back(std::move(data));
  }
  for (std::size_t i = 0; i < net.blobs.size(); ++i) net.blobs[i].data = (*bytes)[i];
  net.holder = bytes;
  return net;
}
