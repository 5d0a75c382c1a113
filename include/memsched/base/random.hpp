// Random numbers that are the same on every platform, unlike those of <random>'s distributions.
#pragma once

#include <cstdint>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class random_source {
 public:
  explicit constexpr random_source(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() { return mix(state_ += golden); }

  /// Uniform in [0, n), n > 0: numbers that would favour some are drawn again.
  constexpr std::uint64_t below(std::uint64_t n) {
    const std::uint64_t surplus = (0 - n) % n;  // 2^64 mod n
    std::uint64_t z = next();
    while (z < surplus) z = next();
    return z % n;
  }

  /// True with probability part / whole.
  constexpr bool chance(std::uint64_t part, std::uint64_t whole) { return below(whole) < part; }

  /// The number at place i of the stream that seed 0 starts: a key for i, as good as random.
  static constexpr std::uint64_t at(std::uint64_t i) { return mix((i + 1) * golden); }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  std::uint64_t state_;
};

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
