// The arithmetic of networks quantized to eight bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include <memsched/network/numbers.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Eight-bit integers with 32-bit sums: each value is the exact sum of products of stored integers, rounded once, half away
/// from zero, in double precision. Runtimes that round in fixed point differ from it by at most one step.
struct int8_numbers {
  using number = std::int32_t;

  std::uint64_t seed = 1;
  bool random_weights = true;  ///< even where the model has its own

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
    double scale = real(s.in);
    if (s.weights != nullptr && !s.weights->scales.empty())
      scale *= static_cast<double>(s.weights->scales[s.weights->scales.size() == 1 ? 0 : static_cast<std::size_t>(channel)]);
    return rounded(s, scale * sum);
  }
  number average(const arithmetic_site& s, number sum, coordinate cells) const {
    return rounded(s, real(s.in) * sum / static_cast<double>(cells));
  }
  number maximum(const arithmetic_site& s, std::span<const number> cells, std::span<const unsigned char> inside) const {
    number most = -256;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (inside[i] != 0) most = std::max(most, cells[i]);
    return convert(s, most);
  }
  number binary(const arithmetic_site& s, number a, number b) const {
    const double x = real(s.in) * (a - s.in.zero_point), y = real(s.other) * (b - s.other.zero_point);
    switch (s.does->what) {
      case op_kind::add: return rounded(s, x + y);
      case op_kind::subtract: return rounded(s, x - y);
      case op_kind::multiply: return rounded(s, x * y);
      case op_kind::divide: return rounded(s, y == 0 ? 0 : x / y);
      case op_kind::minimum: return rounded(s, std::min(x, y));
      default: return rounded(s, std::max(x, y));
    }
  }
  number scaled_and_shifted(const arithmetic_site& s, number x, number w, number b) const {
    return complete(s, plus(product(s, x, w), b), 0);
  }
  number unary(const arithmetic_site& s, number x) const { return rounded(s, real(s.in) * (x - s.in.zero_point)); }
  number prelu(const arithmetic_site& s, number x, number slope) const {
    const double value = real(s.in) * (x - s.in.zero_point);
    const double times = s.weights == nullptr || s.weights->scales.empty() ? 1 : static_cast<double>(s.weights->scales[0]);
    return rounded(s, value < 0 ? value * slope * times : value);
  }
  number softmax(const arithmetic_site& s, std::span<const number> all, std::size_t which) const {
    const number most = *std::max_element(all.begin(), all.end());
    const auto term = [&](number x) { return std::exp(static_cast<double>(s.does->alpha) * real(s.in) * (x - most)); };
    double sum = 0;
    for (const number x : all) sum += term(x);
    return rounded(s, term(all[which]) / sum);
  }
  number blend(const arithmetic_site&, number a, number b, double fraction) const {
    return static_cast<number>(std::lround(a * (1 - fraction) + b * fraction));
  }
  number convert(const arithmetic_site& s, number x) const {
    if (s.in == s.out && s.does->act == activation::identity) return x;
    return rounded(s, real(s.in) * (x - s.in.zero_point));
  }
  number pad(const arithmetic_site& s) const {
    return static_cast<number>(std::lround(static_cast<double>(s.does->pad_value) / real(s.out))) + s.out.zero_point;
  }

 private:
  static double real(const quantization& q) { return q.scale == 0 ? 1 : static_cast<double>(q.scale); }
  /// The stored integer for a real number, after the activation.
  static number rounded(const arithmetic_site& s, double x) {
    const double q = std::round(detail::activate(*s.does, x) / real(s.out)) + s.out.zero_point;
    const double least = s.to == element::uint8 ? 0 : -128;
    return static_cast<number>(std::clamp(q, least, least + 255));
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
