// The numbers that a network is run over: a finite field, float32, and integers of eight bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

#include <memsched/base/random.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The facts that the arithmetic of one operator depends on.
struct arithmetic_site {
  const attributes* does;
  quantization in{}, other{}, out{};  ///< of its first and second operand, and of its result
  element from = element::float32, to = element::float32;
  const blob* weights = nullptr;
};

namespace detail {

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return random_source::at(a ^ random_source::at(b + 0x51ed27));
}
inline std::uint64_t digest(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}
inline std::uint64_t digest(const attributes& a) {
  std::uint64_t h = mixed(static_cast<std::uint64_t>(a.act), std::bit_cast<std::uint32_t>(a.alpha));
  return mixed(mixed(h, std::bit_cast<std::uint32_t>(a.beta)), digest(a.function));
}
/// A key for an element of a tensor or of weights.
inline std::uint64_t key(std::uint64_t seed, std::uint64_t of, coordinate a, coordinate b, coordinate c, coordinate d = 0) {
  std::uint64_t h = mixed(seed, of);
  for (const coordinate x : {a, b, c, d}) h = h * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(x) + 1;
  return random_source::at(h);
}
/// Uniform in [-1, 1).
inline double signed_unit(std::uint64_t h) { return static_cast<double>(h >> 11) * 0x1p-52 - 1; }

inline float little_float(std::span<const std::byte> b) {
  float x = 0;
  std::memcpy(&x, b.data(), sizeof x);
  return x;
}
/// An integer of 1, 2, 4 or 8 bytes.
inline std::int64_t little_integer(std::span<const std::byte> b, bool is_signed) {
  std::uint64_t x = 0;
  for (std::size_t i = 0; i < b.size(); ++i) x |= std::to_integer<std::uint64_t>(b[i]) << (8 * i);
  const unsigned bits = static_cast<unsigned>(8 * b.size());
  if (is_signed && bits < 64 && (x >> (bits - 1) & 1) != 0) x |= ~std::uint64_t{0} << bits;
  return static_cast<std::int64_t>(x);
}
/// A value of the weights' bytes as a real number of their stored kind.
inline double stored(const blob& b, std::int64_t o, std::int64_t r, std::int64_t c, std::int64_t i) {
  const auto at = element_at(b, o, r, c, i);
  if (b.element == element::float32) return static_cast<double>(little_float(at));
  if (b.element == element::float64) {
    double x = 0;
    std::memcpy(&x, at.data(), sizeof x);
    return x;
  }
  return static_cast<double>(little_integer(at, b.element != element::uint8 && b.element != element::boolean));
}
inline double fan_in(const blob& b) { return static_cast<double>(b.size.rows * b.size.columns * b.size.inputs); }

/// The real function of an activation; a fixed one in [-1, 1) if the library does not know it.
inline double activate(const attributes& a, double x) {
  switch (a.act) {
    case activation::identity: return x;
    case activation::relu: return std::max(x, 0.0);
    case activation::relu6: return std::clamp(x, 0.0, 6.0);
    case activation::relu_n1_to_1: return std::clamp(x, -1.0, 1.0);
    case activation::relu_0_to_1: return std::clamp(x, 0.0, 1.0);
    case activation::leaky: return x < 0 ? static_cast<double>(a.alpha) * x : x;
    case activation::elu: return x < 0 ? static_cast<double>(a.alpha) * std::expm1(x) : x;
    case activation::logistic: return 1 / (1 + std::exp(-x));
    case activation::tanh: return std::tanh(x);
    case activation::hard_swish: return x * std::clamp(x + 3, 0.0, 6.0) / 6;
    case activation::hard_sigmoid:
      return std::clamp(static_cast<double>(a.alpha) * x + static_cast<double>(a.beta), 0.0, 1.0);
    case activation::gelu: return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
    case activation::exp: return std::exp(x);
    case activation::log: return std::log(x);
    case activation::square_root: return std::sqrt(x);
    case activation::absolute: return std::abs(x);
    case activation::negate: return -x;
    case activation::clip: return std::max(static_cast<double>(a.alpha), std::min(x, static_cast<double>(a.beta)));
    case activation::other: break;
  }
  return signed_unit(mixed(digest(a), std::bit_cast<std::uint64_t>(x + 0.0)));
}

}  // namespace detail

/// The field of p = 2^31 - 1 elements. Sums and products are the field's; each function that is not linear is a hash of its
/// name and arguments. Two networks that agree here for a random seed apply the same functions to the same values, up to
/// chance: a polynomial of degree d that is not zero is zero at a random point with probability at most d / p (Schwartz,
/// Zippel; so does Mirage test programs: Wu et al.).
struct field_numbers {
  using number = std::uint64_t;
  static constexpr std::uint64_t p = (std::uint64_t{1} << 31) - 1;

  std::uint64_t seed = 1;
  bool linear_means = false;  ///< averages divide, as over the reals; otherwise their division is a hash, as it rounds

  /// x modulo p, for any x: 2^31 is 1 there.
  static number reduced(std::uint64_t x) {
    x = (x & p) + (x >> 31);
    x = (x & p) + (x >> 31);
    return x >= p ? x - p : x;
  }
  number from_hash(std::uint64_t h) const { return h % p; }
  std::uint64_t digest(number x) const { return x; }

  number input(tensor_id origin, const typed_tensor&, coordinate r, coordinate c, coordinate k) const {
    return from_hash(detail::key(seed, origin, r, c, k));
  }
  number weight(index_t id, const blob&, std::int64_t o, std::int64_t r, std::int64_t c, std::int64_t i) const {
    return from_hash(detail::key(seed ^ 0xb10b, id, o, r, c, i));
  }
  number product(const arithmetic_site&, number x, number w) const { return x * w; }
  number plus(number a, number b) const { return reduced(a + b); }
  number bare(const arithmetic_site&, number x) const { return x; }
  number complete(const arithmetic_site& s, number sum, coordinate) const { return act(*s.does, sum); }
  number average(const arithmetic_site& s, number sum, coordinate cells) const {
    const auto n = static_cast<std::uint64_t>(cells);
    return act(*s.does, linear_means ? reduced(sum * inverse(n)) : hashed("average", sum, n));
  }
  number maximum(const arithmetic_site& s, std::span<const number> cells, std::span<const unsigned char> inside) const {
    std::uint64_t h = detail::digest("maximum");
    for (std::size_t i = 0; i < cells.size(); ++i) h = detail::mixed(h, inside[i] != 0 ? cells[i] : p);
    return act(*s.does, from_hash(h));
  }
  number binary(const arithmetic_site& s, number a, number b) const {
    switch (s.does->what) {
      case op_kind::add: return act(*s.does, plus(a, b));
      case op_kind::subtract: return act(*s.does, plus(a, p - b));
      case op_kind::multiply: return act(*s.does, reduced(a * b));
      case op_kind::divide: return act(*s.does, hashed("divide", a, b));
      case op_kind::minimum: return act(*s.does, hashed("minimum", a, b));
      default: return act(*s.does, hashed("larger", a, b));
    }
  }
  number scaled_and_shifted(const arithmetic_site& s, number x, number w, number b) const {
    return act(*s.does, reduced(reduced(x * w) + b));
  }
  number unary(const arithmetic_site& s, number x) const { return act(*s.does, x); }
  number prelu(const arithmetic_site& s, number x, number slope) const { return act(*s.does, hashed("prelu", x, slope)); }
  number softmax(const arithmetic_site& s, std::span<const number> all, std::size_t which) const {
    std::uint64_t h = detail::mixed(detail::digest("softmax"), std::bit_cast<std::uint32_t>(s.does->alpha));
    for (const number x : all) h = detail::mixed(h, x);
    return from_hash(detail::mixed(h, which));
  }
  /// A convex combination: weights are field elements for the fractions, and add to one.
  number blend(const arithmetic_site&, number a, number b, double fraction) const {
    if (fraction == 0) return a;
    const number f = from_hash(detail::mixed(0xf4ac, std::bit_cast<std::uint64_t>(fraction)));
    return reduced(reduced(a * (p + 1 - f)) + reduced(b * f));
  }
  number convert(const arithmetic_site& s, number x) const {
    const bool same = s.from == s.to && s.in == s.out;
    return act(*s.does, same ? x : hashed("convert", x, std::bit_cast<std::uint32_t>(s.out.scale)));
  }
  number pad(const arithmetic_site& s) const {
    return s.does->pad_value == 0 ? 0 : from_hash(detail::mixed(7, std::bit_cast<std::uint32_t>(s.does->pad_value)));
  }

 private:
  /// x^(p - 2), which times x is 1 (Fermat).
  static number inverse(std::uint64_t x) {
    number power = reduced(x), product = 1;
    for (std::uint64_t e = p - 2; e != 0; e >>= 1) {
      if (e % 2 == 1) product = reduced(product * power);
      power = reduced(power * power);
    }
    return product;
  }
  number hashed(std::string_view name, number a, number b) const {
    return from_hash(detail::mixed(detail::mixed(detail::digest(name), a), b));
  }
  number act(const attributes& a, number x) const {
    return a.act == activation::identity ? x : from_hash(detail::mixed(detail::digest(a), x));
  }
};

/// float32, each operation rounded to nearest; sums run over taps, then input channels, ascending, from the bias.
struct float_numbers {
  using number = float;

  std::uint64_t seed = 1;
  bool random_weights = true;  ///< even if the model has its own
  /// Runs with absolute values of inputs, weights and constants, for bounds on rounding errors.
  bool absolute = false;

  number sign(double x) const { return static_cast<float>(absolute ? std::abs(x) : x); }
  number from_hash(std::uint64_t h) const { return sign(detail::signed_unit(h)); }
  std::uint64_t digest(number x) const { return std::bit_cast<std::uint32_t>(x + 0.0F); }

  number input(tensor_id origin, const typed_tensor&, coordinate r, coordinate c, coordinate k) const {
    return from_hash(detail::key(seed, origin, r, c, k));
  }
  /// Random weights have variance 2 / fan-in (He et al.), so that values keep their size through relus and no fault drowns.
  number weight(index_t id, const blob& b, std::int64_t o, std::int64_t r, std::int64_t c, std::int64_t i) const {
    if (!random_weights && !b.data.empty()) {
      const double scale =
          b.scales.empty() ? 1 : static_cast<double>(b.scales[b.scales.size() == 1 ? 0 : static_cast<std::size_t>(o)]);
      const std::int32_t zero =
          b.zero_points.empty() ? 0 : b.zero_points[b.zero_points.size() == 1 ? 0 : static_cast<std::size_t>(o)];
      return sign(scale * (detail::stored(b, o, r, c, i) - zero));
    }
    return sign(detail::signed_unit(detail::key(seed ^ 0xb10b, id, o, r, c, i)) * std::sqrt(6 / detail::fan_in(b)));
  }
  number product(const arithmetic_site&, number x, number w) const { return x * w; }
  number plus(number a, number b) const { return a + b; }
  number bare(const arithmetic_site&, number x) const { return x; }
  number complete(const arithmetic_site& s, number sum, coordinate) const { return act(s, sum); }
  number average(const arithmetic_site& s, number sum, coordinate cells) const {
    return act(s, sum / static_cast<float>(cells));
  }
  number maximum(const arithmetic_site& s, std::span<const number> cells, std::span<const unsigned char> inside) const {
    number most = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (inside[i] != 0) most = std::max(most, cells[i]);
    return act(s, most);
  }
  number binary(const arithmetic_site& s, number a, number b) const {
    switch (s.does->what) {
      case op_kind::add: return act(s, a + b);
      case op_kind::subtract: return act(s, absolute ? a + b : a - b);
      case op_kind::multiply: return act(s, a * b);
      case op_kind::divide: return act(s, a / b);
      case op_kind::minimum: return act(s, std::min(a, b));
      default: return act(s, std::max(a, b));
    }
  }
  number scaled_and_shifted(const arithmetic_site& s, number x, number w, number b) const {
    const number scaled = x * w;
    return act(s, scaled + b);
  }
  number unary(const arithmetic_site& s, number x) const { return act(s, x); }
  number prelu(const arithmetic_site& s, number x, number slope) const { return act(s, x < 0 ? x * slope : x); }
  number softmax(const arithmetic_site& s, std::span<const number> all, std::size_t which) const {
    const double most = static_cast<double>(*std::max_element(all.begin(), all.end()));
    const auto term = [&](number x) {
      return std::exp(static_cast<double>(s.does->alpha) * (static_cast<double>(x) - most));
    };
    double sum = 0;
    for (const number x : all) sum += term(x);
    return static_cast<float>(term(all[which]) / sum);
  }
  number blend(const arithmetic_site&, number a, number b, double fraction) const {
    const auto f = static_cast<float>(fraction);
    const number low = a * (1 - f), high = b * f;
    return low + high;
  }
  number convert(const arithmetic_site& s, number x) const { return act(s, x); }
  number pad(const arithmetic_site& s) const { return sign(static_cast<double>(s.does->pad_value)); }

 private:
  static number act(const arithmetic_site& s, number x) {
    switch (s.does->act) {
      case activation::identity: return x;
      case activation::relu: return std::max(x, 0.0F);
      case activation::relu6: return std::min(std::max(x, 0.0F), 6.0F);
      default: return static_cast<float>(detail::activate(*s.does, static_cast<double>(x)));
    }
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
