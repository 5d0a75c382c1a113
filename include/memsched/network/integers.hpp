// The arithmetic of networks quantized to eight bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include <memsched/network/fixed_point.hpp>
#include <memsched/network/numbers.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Eight-bit integers with 32-bit sums, in the arithmetic of TensorFlow Lite's reference kernels (TensorFlow Lite Micro):
/// sums are exact modulo 2^32; factors have 31 bits, and products with them are rounded twice. Functions of one operand but
/// RELU and its like, divisions, and resizes between pixels, are those of real numbers, rounded once.
struct int8_numbers {
  using number = std::int32_t;

  std::uint64_t seed = 1;
  bool random_weights = true;  ///< even if the model has its own

  number from_hash(std::uint64_t h) const { return static_cast<number>(h % 255) - 127; }
  std::uint64_t digest(number x) const { return static_cast<std::uint32_t>(x); }

  number input(tensor_id origin, const typed_tensor& x, coordinate r, coordinate c, coordinate k) const {
    const auto q = static_cast<number>(detail::key(seed, origin, r, c, k) % 256);
    return x.element == element::uint8 ? q : q - 128;
  }
  number weight(index_t id, const blob& b, std::int64_t o, std::int64_t r, std::int64_t c, std::int64_t i) const {
    const bool wide = size_of(b.element) > 1;
    if (!random_weights && !b.data.empty()) {
      const std::int32_t zero =
          b.zero_points.empty() ? 0 : b.zero_points[b.zero_points.size() == 1 ? 0 : static_cast<std::size_t>(o)];
      return static_cast<number>(detail::stored(b, o, r, c, i)) - zero;
    }
    return from_hash(detail::key(seed ^ 0xb10b, id, o, r, c, i)) * (wide ? 64 : 1);
  }
  number bare(const arithmetic_site& s, number x) const { return x - s.in.zero_point; }
  number product(const arithmetic_site& s, number x, number w) const { return (x - s.in.zero_point) * w; }
  /// Modulo 2^32, as hardware adds.
  number plus(number a, number b) const {
    return static_cast<number>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
  number complete(const arithmetic_site& s, number sum, coordinate channel) const {
    return placed(s, times(sum, factor(s, channel)));
  }
  /// Of equal quantization before and after: of the integers themselves, as a pooling does.
  number average(const arithmetic_site& s, number sum, coordinate cells) const {
    const auto n = static_cast<number>(cells);
    if (s.in != s.out) return placed(s, times(sum, mean_factor(scales(s), n)));
    const number all = sum + n * s.in.zero_point;
    return activated(s, (all > 0 ? all + n / 2 : all - n / 2) / n);
  }
  number maximum(const arithmetic_site& s, std::span<const number> cells, std::span<const unsigned char> inside) const {
    number most = -256;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (inside[i] != 0) most = std::max(most, cells[i]);
    return convert(s, most);
  }
  number binary(const arithmetic_site& s, number a, number b) const {
    const number x = a - s.in.zero_point, y = b - s.other.zero_point;
    switch (s.does->what) {
      case op_kind::add:
      case op_kind::subtract: {
        const sum_factors f = sum_factors_of(s);
        const number left = times(detail::left_shift(x, sum_bits), f.first),
                     right = times(detail::left_shift(y, sum_bits), f.second);
        return placed(s, times(s.does->what == op_kind::add ? left + right : left - right, f.result));
      }
      case op_kind::multiply: return placed(s, times(x * y, fixed(real(s.in) * real(s.other) / real(s.out))));
      case op_kind::divide: return rounded(s, y == 0 ? 0 : real(s.in) * x / (real(s.other) * y));
      default: {
        const number left = placed(s, rescaled(x, s.in, s.out)), right = placed(s, rescaled(y, s.other, s.out));
        return s.does->what == op_kind::minimum ? std::min(left, right) : std::max(left, right);
      }
    }
  }
  number scaled_and_shifted(const arithmetic_site& s, number x, number w, number b) const {
    return complete(s, plus(product(s, x, w), b), 0);
  }
  number unary(const arithmetic_site& s, number x) const {
    if (s.does->what == op_kind::add) return binary(s, x, s.other.zero_point);
    if (clamps(s.does->act)) return convert(s, x);
    return rounded(s, real(s.in) * (x - s.in.zero_point));
  }
  number prelu(const arithmetic_site& s, number x, number slope) const {
    const number value = x - s.in.zero_point;
    if (value >= 0) return placed(s, rescaled(value, s.in, s.out));
    const double by = s.weights == nullptr || s.weights->scales.empty() ? 1 : static_cast<double>(s.weights->scales[0]);
    return placed(s, times(value * slope, fixed(scales(s) * by)));
  }
  /// The result is in units of 2^-8, whatever its tensor says.
  number softmax(const arithmetic_site& s, std::span<const number> all, std::size_t which) const {
    const number y = fixed_softmax::of(static_cast<double>(s.does->alpha) * real(s.in)).share(all, which);
    return s.to == element::uint8 ? y + 128 : y;
  }
  number blend(const arithmetic_site&, number a, number b, double fraction) const {
    return static_cast<number>(std::lround(a * (1 - fraction) + b * fraction));
  }
  number convert(const arithmetic_site& s, number x) const {
    if (s.in == s.out) return activated(s, x);
    return placed(s, rescaled(x - s.in.zero_point, s.in, s.out));
  }
  number pad(const arithmetic_site& s) const {
    return static_cast<number>(std::lround(static_cast<double>(s.does->pad_value) / real(s.out))) + s.out.zero_point;
  }

  // For programs that compute the same -------------------------------------------------------------------------------

  /// Of a complete sum of products. One scale for all channels is multiplied in float32, as runtimes do.
  static fixed_factor factor(const arithmetic_site& s, coordinate channel) {
    if (s.weights == nullptr || s.weights->scales.empty()) return fixed(scales(s));
    const blob& w = *s.weights;
    const bool together = w.scales.size() == 1 && (w.size.outputs != 1 || w.size.rows * w.size.columns == 1);
    if (together) return fixed(static_cast<double>(static_cast<float>(real(s.in)) * w.scales[0]) / real(s.out));
    const auto at = w.scales.size() == 1 ? 0 : static_cast<std::size_t>(channel);
    return fixed(real(s.in) * static_cast<double>(w.scales[at]) / real(s.out));
  }
  /// Of a sum of n cells whose scales before and after have this ratio. n > 0.
  static fixed_factor mean_factor(double ratio, number n) { return shared(fixed(ratio), n); }
  /// A factor over n, as QuantizedMeanOrSum divides it.
  static fixed_factor shared(fixed_factor f, number n) {
    const int shift = std::min({31 - std::countl_zero(static_cast<std::uint32_t>(n)), 32, 31 + f.shift});
    return {static_cast<std::int32_t>((std::int64_t{f.value} << shift) / n), f.shift - shift};
  }
  struct sum_factors {
    fixed_factor first, second, result;
  };
  static constexpr int sum_bits = 20;  ///< by which summands are shifted before they are scaled
  static sum_factors sum_factors_of(const arithmetic_site& s) {
    const double wide = 2 * std::max(real(s.in), real(s.other));
    return {fixed(real(s.in) / wide), fixed(real(s.other) / wide), fixed(wide / ((1 << sum_bits) * real(s.out)))};
  }
  /// Whether an activation holds a value within bounds, and does nothing else.
  static bool clamps(activation a) {
    return a == activation::identity || a == activation::relu || a == activation::relu6 || a == activation::relu_n1_to_1 ||
           a == activation::relu_0_to_1;
  }
  /// The least and the largest result of such an activation.
  static std::pair<number, number> range(const arithmetic_site& s) {
    const number least = s.to == element::uint8 ? 0 : -128, most = least + 255;
    const auto at = [&](float x) {
      const float steps = std::round(x / static_cast<float>(real(s.out)));
      return s.out.zero_point + static_cast<number>(std::clamp(steps, -1024.0F, 1024.0F));
    };
    switch (s.does->act) {
      case activation::relu: return {std::max(least, at(0)), most};
      case activation::relu6: return {std::max(least, at(0)), std::min(most, at(6))};
      case activation::relu_n1_to_1: return {std::max(least, at(-1)), std::min(most, at(1))};
      case activation::relu_0_to_1: return {std::max(least, at(0)), std::min(most, at(1))};
      default: return {least, most};
    }
  }
  static double real(const quantization& q) { return q.scale == 0 ? 1 : static_cast<double>(q.scale); }
  static double scales(const arithmetic_site& s) { return real(s.in) / real(s.out); }

 private:
  static number rescaled(number x, const quantization& from, const quantization& to) {
    return from.scale == to.scale ? x : times(x, fixed(real(from) / real(to)));
  }
  /// The stored integer for a multiple of the result's scale, after the activation.
  static number placed(const arithmetic_site& s, number x) { return activated(s, x + s.out.zero_point); }
  static number activated(const arithmetic_site& s, number q) {
    const auto [least, most] = range(s);
    q = std::clamp(q, least, most);
    return clamps(s.does->act) ? q : rounded(s, real(s.out) * (q - s.out.zero_point));
  }
  /// The stored integer for a real number, after the activation.
  static number rounded(const arithmetic_site& s, double x) {
    const double q = std::round(detail::activate(*s.does, x) / real(s.out)) + s.out.zero_point;
    const double least = s.to == element::uint8 ? 0 : -128;
    return static_cast<number>(std::clamp(q, least, least + 255));
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
