// The fixed part of generated C: images in the arena, and arithmetic.
#pragma once

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Names of numbers in tables.
inline constexpr const char* c_names = R"c(
enum {
  convolution, depthwise, transposed_convolution, max_pooling, average_pooling, mean, dense, add, subtract, multiply, divide,
  minimum, maximum, copy, pad, resize_bilinear, resize_nearest, depth_to_space, reshape, unary, prelu, softmax, add_sums,
  finish, finish_mean, begin, take, give, from_real, to_real, stride
};
enum { complete, partial, onto, into, last };
enum {
  identity, relu, relu6, relu_n1_to_1, relu_0_to_1, leaky, elu, logistic, hyperbolic_tangent, hard_swish, hard_sigmoid, gelu,
  exponential, logarithm, square_root, absolute, negate, clip
};
enum { half_pixel, asymmetric, align_corners };
enum { to_floor, half_up, half_down, to_ceiling };
enum { value_part, sum_part, real_part };
)c";

/// Elements of images. Before it stand the types `stored` (of a value in the arena), `number` (a sum), `weight` and
/// `code_word`, and the tables.
inline constexpr const char* c_images = R"c(
/* The tensors of an image, as a list of numbers in `parts`. */
struct image {
  const code_word *list;
  int count, rows, columns, channels;
};
struct layer {
  unsigned char *arena;
  const void *const *given;
  void *const *wanted;
  const struct kernel *k;
  struct image in[MOST_OPERANDS], out;
};

static size_t width_of(const struct part *p) { return type_of(p) == value_part ? sizeof(stored) : 4; }
static number load(const struct layer *l, const struct part *p, size_t i) {
  const unsigned char *x = l->arena + at_of(p);
  if (sizeof(stored) < 4 && type_of(p) != sum_part) return ((const stored *)x)[i];
  {
    number y;
    memcpy(&y, x + sizeof y * i, sizeof y);
    return y;
  }
}
static void store(const struct layer *l, const struct part *p, size_t i, number y) {
  unsigned char *x = l->arena + at_of(p);
  if (sizeof(stored) < 4 && type_of(p) != sum_part) ((stored *)x)[i] = (stored)y;
  else memcpy(x + sizeof y * i, &y, sizeof y);
}

static int holds(const struct part *p, int row, int column, int channel) {
  return row >= row_of(p) && row < row_of(p) + rows_of(p) && column >= column_of(p) &&
         column < column_of(p) + columns_of(p) && channel >= channel_of(p) && channel < channel_of(p) + channels_of(p);
}
static size_t place(const struct part *p, int row, int column, int channel) {
  return ((size_t)(row - row_of(p)) * (size_t)columns_of(p) + (size_t)(column - column_of(p))) * (size_t)channels_of(p) +
         (size_t)(channel - channel_of(p));
}
/* The part that holds an element; one of them does. */
static const struct part *find(const struct image *x, int row, int column, int channel) {
  int i = 0;
  while (i + 1 < x->count && !holds(parts + x->list[i], row, column, channel)) ++i;
  return parts + x->list[i];
}
)c";

inline constexpr const char* c_get = R"c(
static number get(const struct layer *l, const struct image *x, int row, int column, int channel) {
  const struct part *p = find(x, row, column, channel);
  return load(l, p, place(p, row, column, channel));
}
)c";

/// Elements from the caller into the arena and back.
inline constexpr const char* c_ends = R"c(
/* Copies an image, as the caller has it, into its parts or out of them. */
static void exchange(const struct layer *l, const struct image *x) {
  for (int i = 0; i < x->count; ++i) {
    const struct part *p = parts + x->list[i];
    const size_t width = width_of(p), length = (size_t)channels_of(p) * width;
    for (int r = row_of(p); r < row_of(p) + rows_of(p); ++r)
      for (int c = column_of(p); c < column_of(p) + columns_of(p); ++c) {
        unsigned char *const here = l->arena + at_of(p) + place(p, r, c, channel_of(p)) * width;
        const size_t there = (((size_t)r * (size_t)x->columns + (size_t)c) * (size_t)x->channels + (size_t)channel_of(p)) * width;
        if (kind_of(l) == take) memcpy(here, (const unsigned char *)l->given[block_of(l)] + there, length);
        else memcpy((unsigned char *)l->wanted[block_of(l)] + there, here, length);
      }
  }
}
)c";

inline constexpr const char* c_clamped = R"c(
static double clamped(double x, double low, double high) { return x < low ? low : high < x ? high : x; }
)c";

/// Functions of real numbers.
inline constexpr const char* c_activations = R"c(
static double activate(const struct layer *l, double x) {
  const double alpha = reals[real_of(l)], beta = reals[real_of(l) + 1];
  switch (act_of(l)) {
    case identity: return x;
    case relu: return x < 0 ? 0 : x;
    case relu6: return clamped(x, 0, 6);
    case relu_n1_to_1: return clamped(x, -1, 1);
    case relu_0_to_1: return clamped(x, 0, 1);
    case leaky: return x < 0 ? alpha * x : x;
    case elu: return x < 0 ? alpha * expm1(x) : x;
    case logistic: return 1 / (1 + exp(-x));
    case hyperbolic_tangent: return tanh(x);
    case hard_swish: return x * clamped(x + 3, 0, 6) / 6;
    case hard_sigmoid: return clamped(alpha * x + beta, 0, 1);
    case gelu: return x * 0.5 * (1 + erf(x / sqrt(2.0)));
    case exponential: return exp(x);
    case logarithm: return log(x);
    case square_root: return sqrt(x);
    case absolute: return fabs(x);
    case negate: return -x;
    default: {
      const double least = beta < x ? beta : x;
      return alpha < least ? least : alpha;
    }
  }
}
)c";

/// float32: each operation rounded to nearest.
inline constexpr const char* c_floats = R"c(
static number activated(const struct layer *l, number x) {
  switch (act_of(l)) {
    case identity: return x;
    case relu: return x < 0.0F ? 0.0F : x;
    case relu6: x = x < 0.0F ? 0.0F : x; return 6.0F < x ? 6.0F : x;
    default: return ACTIVATE(l, x);
  }
}
static number plus(number a, number b) { return a + b; }
static number dot(const struct layer *l, number sum, const unsigned char *x, const weight *w, int count) {
  (void)l;
  for (int i = 0; i < count; ++i) {
    number term;
    memcpy(&term, x + sizeof term * (size_t)i, sizeof term);
    term = term * w[i];
    sum = sum + term;
  }
  return sum;
}
static number tap(const struct layer *l, number sum, const unsigned char *x, weight w) {
  number term;
  (void)l;
  memcpy(&term, x, sizeof term);
  term = term * w;
  return sum + term;
}
static number bare(const struct layer *l, number x) {
  (void)l;
  return x;
}
static number completed(const struct layer *l, number sum, int channel) {
  (void)channel;
  return activated(l, sum);
}
static number converted(const struct layer *l, number x) { return activated(l, x); }
)c";
inline constexpr const char* c_float_average = R"c(
static number average(const struct layer *l, number sum, int cells) { return activated(l, sum / (float)cells); }
)c";
inline constexpr const char* c_float_pairs = R"c(
static number paired(const struct layer *l, number a, number b) {
  switch (kind_of(l)) {
    case add: return activated(l, a + b);
    case subtract: return activated(l, a - b);
    case multiply: return activated(l, a * b);
    case divide: return activated(l, a / b);
    case minimum: return activated(l, b < a ? b : a);
    default: return activated(l, a < b ? b : a);
  }
}
static number alone(const struct layer *l, number x, int which) {
  (void)which;
  return activated(l, x);
}
static number scaled_and_shifted(const struct layer *l, number x, weight w, number b) {
  const number scaled = x * w;
  return activated(l, scaled + b);
}
)c";
inline constexpr const char* c_float_single = R"c(
static number single(const struct layer *l, number x) { return activated(l, x); }
)c";
inline constexpr const char* c_float_prelu = R"c(
static number sloped(const struct layer *l, number x, weight slope) { return activated(l, x < 0 ? x * slope : x); }
)c";
inline constexpr const char* c_float_blend = R"c(
static number blend(number a, number b, double fraction) {
  const float f = (float)fraction;
  const number low = a * (1 - f), high = b * f;
  return low + high;
}
)c";
inline constexpr const char* c_float_softmax = R"c(
static double power(const struct layer *l, number x, number most) {
  return exp(reals[real_of(l)] * ((double)x - (double)most));
}
static void share_pixel(const struct layer *l, const struct part *p, int r, int c) {
  const struct image *x = l->in;
  number most = get(l, x, r, c, 0);
  double sum = 0;
  for (int k = 1; k < x->channels; ++k) {
    const number a = get(l, x, r, c, k);
    if (most < a) most = a;
  }
  for (int k = 0; k < x->channels; ++k) sum += power(l, get(l, x, r, c, k), most);
  for (int k = channel_of(p); k < channel_of(p) + channels_of(p); ++k)
    store(l, p, place(p, r, c, k), (number)(power(l, get(l, x, r, c, k), most) / sum));
}
)c";

/// Eight-bit integers in fixed point, as TensorFlow Lite's reference kernels compute (network/fixed_point.hpp).
inline constexpr const char* c_integers = R"c(
/* Sums are modulo 2^32. */
static number plus(number a, number b) {
  const uint32_t sum = (uint32_t)a + (uint32_t)b;
  return (number)sum;
}
static number high_product(number a, number b) {
  const int64_t ab = (int64_t)a * b, nudge = ab >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);
  if (a == b && a == INT32_MIN) return INT32_MAX;
  return (number)((ab + nudge) / ((int64_t)1 << 31));
}
static number rounded_shift(number x, int n) {
  const number mask = (number)(((int64_t)1 << n) - 1);
  return (x >> n) + ((x & mask) > (mask >> 1) + (x < 0));
}
static number left_shift(number x, int n) {
  const uint32_t shifted = (uint32_t)x << n;
  return (number)shifted;
}
/* x * factor * 2^(shift - 31) */
static number times(number x, number factor, int shift) {
  const int left = shift > 0 ? shift : 0;
  return rounded_shift(high_product(left_shift(x, left), factor), left - shift);
}
static number activated(const struct layer *l, number q) {
  q = q < least_of(l) ? least_of(l) : q;
  q = q > most_of(l) ? most_of(l) : q;
  return TABLED(l, q);
}
static number placed(const struct layer *l, number x) { return activated(l, x + out_zero_of(l)); }
static number dot(const struct layer *l, number sum, const unsigned char *x, const weight *w, int count) {
  const number zero = in_zero_of(l);
  const stored *v = (const stored *)x;
  uint32_t all = (uint32_t)sum;
  for (; count >= 4; count -= 4, v += 4, w += 4)
    all += (uint32_t)((v[0] - zero) * w[0] + (v[1] - zero) * w[1] + (v[2] - zero) * w[2] + (v[3] - zero) * w[3]);
  for (int i = 0; i < count; ++i) all += (uint32_t)((v[i] - zero) * w[i]);
  return (number)all;
}
static number tap(const struct layer *l, number sum, const unsigned char *x, weight w) {
  return plus(sum, (*(const stored *)x - in_zero_of(l)) * w);
}
static number bare(const struct layer *l, number x) { return x - in_zero_of(l); }
static number completed(const struct layer *l, number sum, int channel) {
  const int at = factors_of(l) + (one_factor_of(l) ? 0 : channel);
  return placed(l, times(sum, factors[at], shifts[at]));
}
static number converted(const struct layer *l, number x) {
  if (same_of(l)) return activated(l, x);
  return placed(l, times(x - in_zero_of(l), factor_of(l), shift_of(l)));
}
)c";
inline constexpr const char* c_integer_average = R"c(
static number average(const struct layer *l, number sum, int cells) {
  if (same_of(l)) {
    const number all = sum + cells * in_zero_of(l);
    return activated(l, (all > 0 ? all + cells / 2 : all - cells / 2) / cells);
  }
  {
    int shift = 0;
    while (cells >> shift > 1) ++shift;
    if (shift > 31 + shift_of(l)) shift = 31 + shift_of(l);
    return placed(l, times(sum, (number)((int64_t)factor_of(l) * ((int64_t)1 << shift) / cells), shift_of(l) - shift));
  }
}
)c";
inline constexpr const char* c_integer_pairs = R"c(
static number paired(const struct layer *l, number a, number b) {
  const number x = a - in_zero_of(l), y = b - other_zero_of(l);
  switch (kind_of(l)) {
    case add: case subtract: {
      const number left = times(left_shift(x, 20), first_factor_of(l), first_shift_of(l));
      const number right = times(left_shift(y, 20), second_factor_of(l), second_shift_of(l));
      return placed(l, times(kind_of(l) == add ? left + right : left - right, factor_of(l), shift_of(l)));
    }
    case multiply: return placed(l, times(x * y, factor_of(l), shift_of(l)));
    default: {
      const number left = placed(l, same_of(l) ? x : times(x, first_factor_of(l), first_shift_of(l)));
      const number right = placed(l, other_same_of(l) ? y : times(y, second_factor_of(l), second_shift_of(l)));
      return (right < left) == (kind_of(l) == minimum) ? right : left;
    }
  }
}
/* An addition whose other operand has no such channel. */
static number alone(const struct layer *l, number x, int which) {
  return which == 0 ? paired(l, x, other_zero_of(l)) : paired(l, in_zero_of(l), x);
}
static number scaled_and_shifted(const struct layer *l, number x, weight w, number b) {
  return completed(l, plus((x - in_zero_of(l)) * w, b), 0);
}
)c";
inline constexpr const char* c_integer_single = R"c(
static number single(const struct layer *l, number x) { return tables[table_of(l) + x - LEAST]; }
)c";
inline constexpr const char* c_integer_prelu = R"c(
static number sloped(const struct layer *l, number x, weight slope) {
  const number value = x - in_zero_of(l);
  if (value >= 0) return placed(l, same_of(l) ? value : times(value, first_factor_of(l), first_shift_of(l)));
  return placed(l, times(value * slope, factor_of(l), shift_of(l)));
}
)c";
inline constexpr const char* c_integer_blend = R"c(
static number blend(number a, number b, double fraction) { return (number)lround(a * (1 - fraction) + b * fraction); }
)c";
inline constexpr const char* c_integer_softmax = R"c(
static number saturated_shift(number x, int n) {
  const int64_t wide = (int64_t)x * ((int64_t)1 << n);
  return wide < INT32_MIN ? INT32_MIN : wide > INT32_MAX ? INT32_MAX : (number)wide;
}
/* exp(a / 2^26) in units of 2^-31, for a <= 0 */
static number fixed_exp(number a) {
  static const number powers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const number quarter = (number)1 << 24, within = (a & (quarter - 1)) - quarter;
  const number x = left_shift(within, 5) + ((number)1 << 28);
  const number x2 = high_product(x, x), x3 = high_product(x2, x), x4 = high_product(x2, x2);
  const number series = rounded_shift(high_product(rounded_shift(x4, 2) + x3, 715827883) + x2, 1);
  number y = 1895147668 + high_product(1895147668, x + series);
  if (a == 0) return INT32_MAX;
  for (int i = 0; i < 7; ++i)
    if (((within - a) & left_shift(1, 24 + i)) != 0) y = high_product(y, powers[i]);
  return y;
}
/* 1 / (1 + a) in units of 2^-31, for 0 <= a < 1 in the same units */
static number fixed_reciprocal(number a) {
  const int64_t sum = (int64_t)a + INT32_MAX;
  const number half = (number)((sum + (sum >= 0 ? 1 : -1)) / 2);
  number x = 1515870810 + high_product(half, -1010580540);
  for (int i = 0; i < 3; ++i) x += saturated_shift(high_product(x, ((number)1 << 29) - high_product(half, x)), 2);
  return saturated_shift(x, 1);
}
static number power(const struct layer *l, number x) {
  return fixed_exp(high_product(left_shift(x, shift_of(l)), factor_of(l)));
}
static void share_pixel(const struct layer *l, const struct part *p, int r, int c) {
  const struct image *x = l->in;
  number most = get(l, x, r, c, 0), sum = 0, over;
  int zeros = 0;
  for (int k = 1; k < x->channels; ++k) {
    const number a = get(l, x, r, c, k);
    if (most < a) most = a;
  }
  for (int k = 0; k < x->channels; ++k) {
    const number a = get(l, x, r, c, k) - most;
    if (a >= pad_value_of(l)) sum += rounded_shift(power(l, a), 12);
  }
  while (((uint32_t)sum << zeros & 0x80000000U) == 0) ++zeros;
  over = fixed_reciprocal((number)(((uint32_t)sum << zeros) - 0x80000000U));
  for (int k = channel_of(p); k < channel_of(p) + channels_of(p); ++k) {
    const number a = get(l, x, r, c, k) - most;
    number y = 0;
    if (a >= pad_value_of(l)) y = rounded_shift(high_product(over, power(l, a)), 12 - zeros + 31 - 8);
    store(l, p, place(p, r, c, k), (y > 255 ? 255 : y) + LEAST);
  }
}
)c";
/// float32 before and after eight-bit integers.
inline constexpr const char* c_integer_reals = R"c(
static float real_at(const struct layer *l, const struct part *p, size_t i) {
  float x;
  memcpy(&x, l->arena + at_of(p) + sizeof x * i, sizeof x);
  return x;
}
static void quantize_pixel(const struct layer *l, const struct part *p, int r, int c) {
  for (int k = channel_of(p); k < channel_of(p) + channels_of(p); ++k) {
    const struct part *from = find(l->in, r, c, k);
    float x = real_at(l, from, place(from, r, c, k)) / reals[real_of(l)];
    number q;
    x = x > -1024.0F ? x : -1024.0F; /* also where it is no number */
    x = x < 1024.0F ? x : 1024.0F;
    q = (number)x;
    q += x - (float)q >= 0.5F ? 1 : x - (float)q <= -0.5F ? -1 : 0;
    store(l, p, place(p, r, c, k), placed(l, q));
  }
}
static void dequantize_pixel(const struct layer *l, const struct part *p, int r, int c) {
  for (int k = channel_of(p); k < channel_of(p) + channels_of(p); ++k) {
    const float x = reals[real_of(l)] * (float)(get(l, l->in, r, c, k) - in_zero_of(l));
    memcpy(l->arena + at_of(p) + sizeof x * place(p, r, c, k), &x, sizeof x);
  }
}
)c";

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
