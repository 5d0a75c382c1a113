// The fixed part of generated C programs: images in the arena, and arithmetic.
#pragma once

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Types and element addresses of images. Before it stand the typedefs `stored` (an element in the arena), `number`
/// (a sum), `weight`, the arena itself, and `WIDE`: whether sums take four elements of the arena.
inline constexpr const char* c_images = R"c(
/* A tensor of the arena in an image: its first element stands at row, column and channel of it. */
struct part {
  size_t at; /* in elements of the arena */
  int row, column, channel, rows, columns, channels;
  int sum; /* holds sums that are not complete */
};
struct image {
  const struct part *parts;
  int count, rows, columns, channels;
};

static number load(const struct part *p, size_t i) {
#if WIDE
  if (p->sum) {
    number x;
    memcpy(&x, arena + p->at + sizeof x * i, sizeof x);
    return x;
  }
#endif
  return arena[p->at + i];
}
static void store(const struct part *p, size_t i, number x) {
#if WIDE
  if (p->sum) {
    memcpy(arena + p->at + sizeof x * i, &x, sizeof x);
    return;
  }
#endif
  arena[p->at + i] = (stored)x;
}

static int holds(const struct part *p, int row, int column, int channel) {
  return row >= p->row && row < p->row + p->rows && column >= p->column && column < p->column + p->columns &&
         channel >= p->channel && channel < p->channel + p->channels;
}
static size_t place(const struct part *p, int row, int column, int channel) {
  return ((size_t)(row - p->row) * (size_t)p->columns + (size_t)(column - p->column)) * (size_t)p->channels +
         (size_t)(channel - p->channel);
}
static const struct part *find(const struct image *x, int row, int column, int channel) {
  for (int i = 0; i < x->count; ++i)
    if (holds(x->parts + i, row, column, channel)) return x->parts + i;
  abort(); /* a block that is not there */
}
static number get(const struct image *x, int row, int column, int channel) {
  const struct part *p = find(x, row, column, channel);
  return load(p, place(p, row, column, channel));
}

enum kind {
  convolution, depthwise, transposed_convolution, max_pooling, average_pooling, mean, dense, add, subtract, multiply, divide,
  minimum, maximum, copy, pad, resize_bilinear, resize_nearest, depth_to_space, reshape, unary, prelu, softmax, add_sums,
  finish, finish_mean, begin, read_input
};
enum summation { complete, partial, onto, into, last };
enum activation {
  identity, relu, relu6, relu_n1_to_1, relu_0_to_1, leaky, elu, logistic, hyperbolic_tangent, hard_swish, hard_sigmoid, gelu,
  exponential, logarithm, square_root, absolute, negate, clip
};
enum coordinates { half_pixel, asymmetric, align_corners };
enum rounding { to_floor, half_up, half_down, to_ceiling };

struct layer {
  enum kind kind;
  enum summation sum;
  enum activation act;
  double alpha, beta;
  int operands; /* data alone: the sum that onto, into and last read stands behind them */
  const struct image *in;
  struct image out;
  int first_channel; /* that it computes */
  int kernel_rows, kernel_columns, stride_rows, stride_columns, dilation_rows, dilation_columns;
  int pad_rows, pad_columns, pad_channels;
  int groups, block, depth_first, count_pad, channels_first;
  enum coordinates coordinates;
  enum rounding rounding;
  number pad_value;
  int reduce_first, reduce_last;
  const weight *weights;
  int weight_rows, weight_columns, weight_inputs, weight_outputs; /* extents of the array */
  int first_output, first_input;                                  /* of the slice */
  const number *bias;
  int first_bias;
  const double *scales; /* of the weights, by output channel or one */
  int scale_count;
  double in_scale, other_scale, out_scale;
  int in_zero, other_zero, out_zero, converts;
};

static double clamped(double x, double low, double high) { return x < low ? low : high < x ? high : x; }
static double activate(const struct layer *l, double x) {
  switch (l->act) {
    case identity: return x;
    case relu: return x < 0 ? 0 : x;
    case relu6: return clamped(x, 0, 6);
    case relu_n1_to_1: return clamped(x, -1, 1);
    case relu_0_to_1: return clamped(x, 0, 1);
    case leaky: return x < 0 ? l->alpha * x : x;
    case elu: return x < 0 ? l->alpha * expm1(x) : x;
    case logistic: return 1 / (1 + exp(-x));
    case hyperbolic_tangent: return tanh(x);
    case hard_swish: return x * clamped(x + 3, 0, 6) / 6;
    case hard_sigmoid: return clamped(l->alpha * x + l->beta, 0, 1);
    case gelu: return x * 0.5 * (1 + erf(x / sqrt(2.0)));
    case exponential: return exp(x);
    case logarithm: return log(x);
    case square_root: return sqrt(x);
    case absolute: return fabs(x);
    case negate: return -x;
    case clip: {
      const double least = l->beta < x ? l->beta : x;
      return l->alpha < least ? least : l->alpha;
    }
  }
  return x;
}
)c";

/// float32: each operation rounded to nearest.
inline constexpr const char* c_floats = R"c(
static number activated(const struct layer *l, number x) {
  switch (l->act) {
    case identity: return x;
    case relu: return x < 0.0F ? 0.0F : x;
    case relu6: x = x < 0.0F ? 0.0F : x; return 6.0F < x ? 6.0F : x;
    default: return (float)activate(l, (double)x);
  }
}
static number plus(number a, number b) { return a + b; }
static number product(const struct layer *l, number x, weight w) {
  (void)l;
  return x * w;
}
static number bare(const struct layer *l, number x) {
  (void)l;
  return x;
}
static number completed(const struct layer *l, number sum, int channel) {
  (void)channel;
  return activated(l, sum);
}
static number average(const struct layer *l, number sum, int cells) { return activated(l, sum / (float)cells); }
static number least_number(void) { return -INFINITY; }
static number converted(const struct layer *l, number x) { return activated(l, x); }
static number single(const struct layer *l, number x) { return activated(l, x); }
static number paired(const struct layer *l, number a, number b) {
  switch (l->kind) {
    case add: return activated(l, a + b);
    case subtract: return activated(l, a - b);
    case multiply: return activated(l, a * b);
    case divide: return activated(l, a / b);
    case minimum: return activated(l, b < a ? b : a);
    default: return activated(l, a < b ? b : a);
  }
}
static number scaled_and_shifted(const struct layer *l, number x, weight w, number b) {
  const number scaled = x * w;
  return activated(l, scaled + b);
}
static number sloped(const struct layer *l, number x, weight slope) { return activated(l, x < 0 ? x * slope : x); }
static double power(const struct layer *l, number x, number most) { return exp(l->alpha * ((double)x - (double)most)); }
static number share(const struct layer *l, double x) {
  (void)l;
  return (float)x;
}
static number blend(number a, number b, double fraction) {
  const float f = (float)fraction;
  const number low = a * (1 - f), high = b * f;
  return low + high;
}
)c";

/// Eight-bit integers: exact sums, rounded once, half away from zero.
inline constexpr const char* c_integers = R"c(
static number rounded(const struct layer *l, double x) {
  return (number)clamped(round(activate(l, x) / l->out_scale) + l->out_zero, LEAST, LEAST + 255);
}
static number plus(number a, number b) {
  const uint32_t sum = (uint32_t)a + (uint32_t)b;
  return (number)sum;
}
static number bare(const struct layer *l, number x) { return x - l->in_zero; }
static number product(const struct layer *l, number x, weight w) { return (x - l->in_zero) * w; }
static number completed(const struct layer *l, number sum, int channel) {
  double scale = l->in_scale;
  if (l->scale_count > 0) scale *= l->scales[l->scale_count == 1 ? 0 : channel];
  return rounded(l, scale * sum);
}
static number average(const struct layer *l, number sum, int cells) { return rounded(l, l->in_scale * sum / (double)cells); }
static number least_number(void) { return -256; }
static number converted(const struct layer *l, number x) {
  return l->converts ? rounded(l, l->in_scale * (x - l->in_zero)) : x;
}
static number single(const struct layer *l, number x) { return rounded(l, l->in_scale * (x - l->in_zero)); }
static number paired(const struct layer *l, number a, number b) {
  const double x = l->in_scale * (a - l->in_zero), y = l->other_scale * (b - l->other_zero);
  switch (l->kind) {
    case add: return rounded(l, x + y);
    case subtract: return rounded(l, x - y);
    case multiply: return rounded(l, x * y);
    case divide: return rounded(l, y == 0 ? 0 : x / y);
    case minimum: return rounded(l, y < x ? y : x);
    default: return rounded(l, x < y ? y : x);
  }
}
static number scaled_and_shifted(const struct layer *l, number x, weight w, number b) {
  return completed(l, plus(product(l, x, w), b), 0);
}
static number sloped(const struct layer *l, number x, weight slope) {
  const double value = l->in_scale * (x - l->in_zero), times = l->scale_count > 0 ? l->scales[0] : 1;
  return rounded(l, value < 0 ? value * slope * times : value);
}
static double power(const struct layer *l, number x, number most) { return exp(l->alpha * l->in_scale * (x - most)); }
static number share(const struct layer *l, double x) { return rounded(l, x); }
static number blend(number a, number b, double fraction) { return (number)lround(a * (1 - fraction) + b * fraction); }
)c";

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
