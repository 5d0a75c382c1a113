// HRNet classifiers (Wang et al.: Deep high-resolution representation learning, 2019), as Zhong et al. measure them.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <networks/layers.hpp>

namespace networks {

/// The parameters of an HRNet. Stage s (2, 3, 4) has s branches; branch b has width * 2^b channels at 64 / 2^b pixels.
struct hrnet_size {
  bytes width;
  std::size_t layer1_blocks;           ///< bottlenecks before the first stage
  std::size_t blocks;                  ///< basic blocks of a branch in one module
  std::array<std::size_t, 3> modules;  ///< of stages 2, 3 and 4
};

inline constexpr hrnet_size hrnet_w18_small_v1{16, 1, 2, {1, 1, 1}};
inline constexpr hrnet_size hrnet_w18_small_v2{18, 2, 2, {1, 3, 2}};
inline constexpr hrnet_size hrnet_w32{32, 4, 4, {1, 4, 3}};

/// 256x256 image, float32; convolution, normalization and relu are one operator, an addition is its own.
class hrnet {
 public:
  explicit hrnet(const hrnet_size& size) : size_(size) {}

  problem_draft build() {
    std::vector<feature> branches{layer1(stem(net_.input(3, 256)))};
    for (std::size_t stage = 0; stage < size_.modules.size(); ++stage) {
      branches = transition(branches, stage + 2);
      for (std::size_t m = 0; m < size_.modules[stage]; ++m) branches = fuse(deepen(branches));
    }
    net_.output(classify(branches));
    return net_.draft();
  }

 private:
  bytes channels(std::size_t branch) const { return size_.width << branch; }

  feature stem(const feature& image) { return net_.conv(net_.conv(image, 64, 2), 64, 2); }

  /// 32 planes also for V2 and W32: the public configurations have 64, but the paper's peaks need 32.
  feature layer1(feature x) {
    for (std::size_t block = 0; block < size_.layer1_blocks; ++block) x = bottleneck(x, 32);
    return x;
  }

  feature bottleneck(const feature& x, bytes planes) {
    const feature y = net_.conv(net_.conv(net_.conv(x, planes), planes), 4 * planes);
    return net_.add(y, x.channels == y.channels ? x : net_.conv(x, 4 * planes));
  }

  feature basic_block(const feature& x) {
    const feature y = net_.conv(net_.conv(x, x.channels), x.channels);
    return net_.add(y, x);
  }

  /// One branch more, at half the side of the last. The first time, the branch that there is changes width as well.
  std::vector<feature> transition(std::vector<feature> branches, std::size_t wanted) {
    const feature last = branches.back();
    if (branches.size() == 1) branches[0] = net_.conv(last, channels(0));
    branches.push_back(net_.conv(last, channels(wanted - 1), 2));
    return branches;
  }

  std::vector<feature> deepen(std::vector<feature> branches) {
    for (feature& x : branches)
      for (std::size_t block = 0; block < size_.blocks; ++block) x = basic_block(x);
    return branches;
  }

  /// Every branch becomes the sum of all, each brought to its resolution.
  std::vector<feature> fuse(const std::vector<feature>& from) {
    std::vector<feature> to;
    for (std::size_t i = 0; i < from.size(); ++i) {
      feature sum = resample(from[0], 0, i);
      for (std::size_t j = 1; j < from.size(); ++j) sum = net_.add(sum, resample(from[j], j, i));
      to.push_back(sum);
    }
    return to;
  }

  feature resample(feature x, std::size_t from, std::size_t to) {
    if (from > to) {
      x = net_.conv(x, channels(to));
      return net_.apply("upsample", {x}, x.channels, x.side << (from - to));
    }
    for (std::size_t b = from; b < to; ++b) x = net_.conv(x, b + 1 == to ? channels(to) : x.channels, 2);
    return x;
  }

  /// Widens every branch, then adds them up from the largest map to the smallest.
  feature classify(const std::vector<feature>& branches) {
    feature sum = bottleneck(branches[0], 32);
    for (std::size_t b = 1; b < branches.size(); ++b) {
      const feature wide = bottleneck(branches[b], bytes{32} << b);
      sum = net_.add(wide, net_.conv(sum, wide.channels, 2));
    }
    const feature pooled = net_.apply("avgpool", {net_.conv(sum, 2048)}, 2048, 1);
    return net_.apply("fc", {pooled}, 1000, 1);
  }

  hrnet_size size_;
  layers net_{float32_size};
};

}  // namespace networks
