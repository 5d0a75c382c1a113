// Fixed-point arithmetic as TensorFlow Lite's reference kernels have it, to the bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A real factor: `value` * 2^(shift - 31). Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient
/// Integer-Arithmetic-Only Inference", section 2.2.
struct fixed_factor {
  std::int32_t value = 0;
  int shift = 0;
  bool operator==(const fixed_factor&) const = default;
};

/// The nearest factor of 31 bits. Precondition: x is finite, and not negative.
inline fixed_factor fixed(double x) {
  if (x == 0) return {};
  fixed_factor f;
  auto q = static_cast<std::int64_t>(std::round(std::frexp(x, &f.shift) * 0x1p31));
  if (q == std::int64_t{1} << 31) q /= 2, ++f.shift;
  if (f.shift < -31) return {};
  f.value = static_cast<std::int32_t>(q);
  return f;
}

namespace detail {

/// a * b / 2^31, rounded half up, as gemmlowp's SaturatingRoundingDoublingHighMul.
inline std::int32_t high_product(std::int32_t a, std::int32_t b) {
  if (a == b && a == std::numeric_limits<std::int32_t>::min()) return std::numeric_limits<std::int32_t>::max();
  const std::int64_t ab = std::int64_t{a} * b, nudge = ab >= 0 ? std::int64_t{1} << 30 : 1 - (std::int64_t{1} << 30);
  return static_cast<std::int32_t>((ab + nudge) / (std::int64_t{1} << 31));
}
/// x / 2^n, rounded half away from zero. 0 <= n <= 31.
inline std::int32_t rounded_shift(std::int32_t x, int n) {
  const auto mask = static_cast<std::int32_t>((std::int64_t{1} << n) - 1);
  return (x >> n) + ((x & mask) > (mask >> 1) + (x < 0 ? 1 : 0) ? 1 : 0);
}
/// x * 2^n modulo 2^32. 0 <= n <= 31.
inline std::int32_t left_shift(std::int32_t x, int n) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) << n);
}
/// x * 2^n, held within 32 bits.
inline std::int32_t saturated_shift(std::int32_t x, int n) {
  const std::int64_t wide = std::int64_t{x} * (std::int64_t{1} << n);
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(wide, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

/// exp(a / 2^26) in units of 2^-31, for a <= 0: a table of powers, and four terms of the series around -1/8.
inline std::int32_t fixed_exp(std::int32_t a) {
  constexpr std::int32_t quarter = 1 << 24, eighth = 1 << 28, exp_of_eighth = 1895147668, third = 715827883;
  if (a == 0) return std::numeric_limits<std::int32_t>::max();
  const std::int32_t within = (a & (quarter - 1)) - quarter;
  const std::int32_t x = left_shift(within, 5) + eighth;
  const std::int32_t x2 = high_product(x, x), x3 = high_product(x2, x), x4 = high_product(x2, x2);
  const std::int32_t series = rounded_shift(high_product(rounded_shift(x4, 2) + x3, third) + x2, 1);
  std::int32_t y = exp_of_eighth + high_product(exp_of_eighth, x + series);
  const std::int32_t rest = within - a;
  constexpr std::int32_t powers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  for (int i = 0; i < 7; ++i)  // of exp(-2^(i - 2))
    if ((rest & left_shift(1, 24 + i)) != 0) y = high_product(y, powers[i]);
  return y;
}

/// 1 / (1 + a) in units of 2^-31, for 0 <= a < 1 in the same units: three steps of Newton and Raphson.
inline std::int32_t fixed_reciprocal(std::int32_t a) {
  const std::int64_t sum = std::int64_t{a} + std::numeric_limits<std::int32_t>::max();
  const auto half = static_cast<std::int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
  std::int32_t x = 1515870810 + high_product(half, -1010580540);  // 48/17 - 32/17 half, in units of 2^-29
  for (int i = 0; i < 3; ++i) x += saturated_shift(high_product(x, (1 << 29) - high_product(half, x)), 2);
  return saturated_shift(x, 1);
}

}  // namespace detail

/// x times f, rounded twice: to 32 bits half up, then half away from zero. Within 1 of the exact product.
inline std::int32_t times(std::int32_t x, fixed_factor f) {
  const int left = std::max(f.shift, 0);
  return detail::rounded_shift(detail::high_product(detail::left_shift(x, left), f.value), left - f.shift);
}

/// The softmax of eight-bit integers.
struct fixed_softmax {
  fixed_factor scale{};    ///< of differences from the largest integer, into units of 2^-26
  std::int32_t least = 0;  ///< of the differences that count

  /// `scale`: of the integers, times the factor of the exponent.
  static fixed_softmax of(double scale) {
    fixed_softmax f{fixed(std::min(scale * 0x1p26, 0x1p31 - 1)), 0};
    f.least = -static_cast<std::int32_t>(std::floor(31 * 0x1p26 / std::ldexp(1.0, f.scale.shift)));
    return f;
  }

  /// Element `which` of the softmax over some integers, in units of 2^-8, less 128.
  std::int32_t share(std::span<const std::int32_t> all, std::size_t which) const {
    const std::int32_t most = *std::max_element(all.begin(), all.end());
    std::int32_t sum = 0;
    for (const std::int32_t x : all)
      if (x - most >= least) sum += detail::rounded_shift(power(x - most), 12);
    if (all[which] - most < least) return -128;
    const int zeros = std::countl_zero(static_cast<std::uint32_t>(sum));
    const std::int32_t over =
        detail::fixed_reciprocal(static_cast<std::int32_t>((static_cast<std::uint32_t>(sum) << zeros) - (1U << 31)));
    const int shift = 12 - zeros + 31 - 8;
    const std::int32_t y = detail::rounded_shift(detail::high_product(over, power(all[which] - most)), shift);
    return std::clamp(y - 128, -128, 127);
  }

 private:
  std::int32_t power(std::int32_t x) const {
    return detail::fixed_exp(detail::high_product(detail::left_shift(x, scale.shift), scale.value));
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
