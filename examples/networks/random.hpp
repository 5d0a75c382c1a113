// A small random generator whose numbers are the same on every platform, unlike those of <random>'s distributions.
#pragma once

#include <cstdint>

namespace networks {

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, n), without bias; n > 0.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t rest = (0 - n) % n;  // 2^64 mod n: numbers under it would come once too often
    std::uint64_t x = next();
    while (x < rest) x = next();
    return x % n;
  }

  /// True with probability part / whole.
  bool chance(std::uint64_t part, std::uint64_t whole) { return below(whole) < part; }

 private:
  std::uint64_t state_;
};

}  // namespace networks
