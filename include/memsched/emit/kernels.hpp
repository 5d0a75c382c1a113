// The fixed part of generated C: kernels in plain loops, the function that runs them, and main.
#pragma once

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Element number i of an operand, in the order of the file.
inline constexpr const char* c_flat = R"c(
static number flat(const struct layer *l, int i) {
  const struct image *x = l->in;
  if (channels_first_of(l)) return get(l, x, i / x->columns % x->rows, i % x->columns, i / (x->rows * x->columns));
  return get(l, x, i / (x->columns * x->channels), i / x->channels % x->columns, i % x->channels);
}
)c";

/// Sums of products: their starts and their results.
inline constexpr const char* c_sums = R"c(
static number bias_of(const struct layer *l, int channel) {
  return has_bias_of(l) ? biases_at(l)[channel - first_channel_of(l)] : 0;
}
/* The sum that the terms of an element are added to. */
static number first_sum(const struct layer *l, const struct part *p, size_t at, int r, int c, int k) {
  if (sum_of(l) == into) return has_bias_of(l) ? plus(load(l, p, at), bias_of(l, k)) : load(l, p, at);
  if (sum_of(l) == onto || sum_of(l) == last) {
    const number before = get(l, l->in + operands_of(l), r, c, k);
    return has_bias_of(l) ? plus(before, bias_of(l, k)) : before;
  }
  return bias_of(l, k);
}
static int completes(const struct layer *l) { return sum_of(l) == complete || sum_of(l) == last; }
)c";

inline constexpr const char* c_windows = R"c(
/* Elements of the operand, one behind the other, and where their weights are behind those of an output channel. */
struct segment {
  const unsigned char *x;
  int channel, count, weights;
};
/* The row that a kernel row of a transposed convolution takes; -1 for none. */
static int from_transposed(int at, int stride_) { return at >= 0 && at % stride_ == 0 ? at / stride_ : -1; }

/* Whether elements and weights of b stand behind those of a. */
static int follows(const struct segment *a, const struct segment *b) {
  return a->x + (size_t)a->count * sizeof(stored) == b->x && a->weights + a->count == b->weights;
}

/* The segments of some channels under the window at a pixel of the result; rows, columns, channels ascend. */
static int collect(const struct layer *l, int r, int c, int first, int count, struct segment *s) {
  const struct image *x = l->in;
  const int transposed = kind_of(l) == transposed_convolution;
  int n = 0;
  for (int ky = 0; ky < kernel_rows_of(l); ++ky) {
    const int row = transposed ? from_transposed(r + pad_rows_of(l) - ky * dilation_rows_of(l), stride_rows_of(l))
                               : r * stride_rows_of(l) - pad_rows_of(l) + ky * dilation_rows_of(l);
    if (row < 0 || row >= x->rows) continue;
    for (int kx = 0; kx < kernel_columns_of(l); ++kx) {
      const int column = transposed ? from_transposed(c + pad_columns_of(l) - kx * dilation_columns_of(l), stride_columns_of(l))
                                    : c * stride_columns_of(l) - pad_columns_of(l) + kx * dilation_columns_of(l);
      if (column < 0 || column >= x->columns) continue;
      for (int channel = first; channel < first + count;) {
        const struct part *p = find(x, row, column, channel);
        const int end = channel_of(p) + channels_of(p) < first + count ? channel_of(p) + channels_of(p) : first + count;
        struct segment t;
        t.x = l->arena + at_of(p) + place(p, row, column, channel) * sizeof(stored);
        t.channel = channel;
        t.count = end - channel;
        t.weights = ky * kernel_columns_of(l) + kx;
        if (kind_of(l) == depthwise) t.weights *= weight_outputs_of(l);
        else t.weights = t.weights * weight_inputs_of(l) + first_input_of(l) + channel - first;
        if (n > 0 && kind_of(l) != depthwise && follows(s + n - 1, &t)) s[n - 1].count += t.count;
        else s[n++] = t;
        channel = end;
      }
    }
  }
  return n;
}
static void convolve(const struct layer *l, const struct part *p, int from_row, int to_row) {
  struct segment s[MOST_SEGMENTS];
  const int k0 = channel_of(p), k1 = k0 + channels_of(p);
  const int filter = kind_of(l) == depthwise ? 1 : kernel_rows_of(l) * kernel_columns_of(l) * weight_inputs_of(l);
  const int in_group = l->in->channels / groups_of(l), out_group = l->out.channels / groups_of(l);
  size_t at = place(p, from_row, column_of(p), k0);
  for (int r = from_row; r < to_row; ++r)
    for (int c = column_of(p); c < column_of(p) + columns_of(p); ++c) {
      int n = 0, group = -1;
      if (kind_of(l) == depthwise) {
        const int times_ = l->out.channels / l->in->channels, from = k0 / times_;
        n = collect(l, r, c, from, (k1 - 1) / times_ + 1 - from, s);
      }
      for (int k = k0; k < k1; ++k, ++at) {
        const int output = first_output_of(l) + k - first_channel_of(l);
        const weight *const w = weights_at(l) + (size_t)output * (size_t)filter;
        number sum = first_sum(l, p, at, r, c, k);
        if (kind_of(l) == depthwise) {
          const int from = k / (l->out.channels / l->in->channels);
          for (int i = 0; i < n; ++i)
            if (from >= s[i].channel && from < s[i].channel + s[i].count)
              sum = tap(l, sum, s[i].x + (size_t)(from - s[i].channel) * sizeof(stored), w[s[i].weights]);
        } else {
          if (k / out_group != group) {
            group = k / out_group;
            if (sum_of(l) != complete) n = collect(l, r, c, reduce_first_of(l), reduce_last_of(l) - reduce_first_of(l), s);
            else n = collect(l, r, c, group * in_group, in_group, s);
          }
          for (int i = 0; i < n; ++i) sum = dot(l, sum, s[i].x, w + s[i].weights, s[i].count);
        }
        store(l, p, at, completes(l) ? completed(l, sum, output) : sum);
      }
    }
}
)c";

inline constexpr const char* c_dense = R"c(
static void multiply_matrix(const struct layer *l, const struct part *p) {
  const struct image *x = l->in;
  const int all = x->rows * x->columns * x->channels;
  const int from = sum_of(l) == complete ? 0 : reduce_first_of(l), stop = sum_of(l) == complete ? all : reduce_last_of(l);
  const int contiguous = x->count == 1 && !channels_first_of(l) && rows_of(parts + x->list[0]) * columns_of(parts + x->list[0]) *
                         channels_of(parts + x->list[0]) == all;
  for (int k = channel_of(p); k < channel_of(p) + channels_of(p); ++k) {
    const int output = first_output_of(l) + k - first_channel_of(l);
    const weight *w = weights_at(l) + (size_t)output * (size_t)weight_inputs_of(l) + first_input_of(l);
    const size_t at = (size_t)(k - channel_of(p));
    number sum = first_sum(l, p, at, 0, 0, k);
    if (contiguous) {
      sum = dot(l, sum, l->arena + at_of(parts + x->list[0]) + (size_t)from * sizeof(stored), w, stop - from);
    } else {
      for (int i = from; i < stop; ++i) {
        const stored one = (stored)flat(l, i);
        sum = tap(l, sum, (const unsigned char *)&one, *w++);
      }
    }
    store(l, p, at, completes(l) ? completed(l, sum, output) : sum);
  }
}
)c";

inline constexpr const char* c_means = R"c(
static void average_image(const struct layer *l, const struct part *p) {
  const struct image *x = l->in;
  const int from = sum_of(l) == complete ? 0 : reduce_first_of(l), stop = sum_of(l) == complete ? x->rows : reduce_last_of(l);
  for (int k = channel_of(p); k < channel_of(p) + channels_of(p); ++k) {
    const size_t at = (size_t)(k - channel_of(p));
    number sum = first_sum(l, p, at, 0, 0, k);
    for (int row = from; row < stop; ++row)
      for (int column = 0; column < x->columns; ++column) sum = plus(sum, bare(l, get(l, x, row, column, k)));
    store(l, p, at, completes(l) ? average(l, sum, x->rows * x->columns) : sum);
  }
}
)c";

inline constexpr const char* c_pooling = R"c(
static number pooled(const struct layer *l, int r, int c, int k) {
  number sum = 0, most = 0;
  int cells = 0;
  for (int ky = 0; ky < kernel_rows_of(l); ++ky)
    for (int kx = 0; kx < kernel_columns_of(l); ++kx) {
      const int row = r * stride_rows_of(l) - pad_rows_of(l) + ky * dilation_rows_of(l);
      const int column = c * stride_columns_of(l) - pad_columns_of(l) + kx * dilation_columns_of(l);
      number x;
      if (row < 0 || row >= l->in->rows || column < 0 || column >= l->in->columns) continue;
      x = get(l, l->in, row, column, k);
      if (cells == 0 || most < x) most = x;
      sum = plus(sum, bare(l, x));
      ++cells;
    }
  return POOLED(l, most, sum, count_pad_of(l) ? kernel_rows_of(l) * kernel_columns_of(l) : cells);
}
)c";

inline constexpr const char* c_binary = R"c(
static number repeated(const struct layer *l, const struct image *x, int r, int c, int k) {
  return get(l, x, x->rows == 1 ? 0 : r, x->columns == 1 ? 0 : c, x->channels == 1 ? 0 : k);
}
/* An operand with fewer channels counts for the first ones only. */
static int lacks(const struct image *x, int channel) { return x->channels > 1 && channel >= x->channels; }
static number binary(const struct layer *l, int r, int c, int k) {
  if (has_weights_of(l)) {
    const number a = repeated(l, l->in, r, c, k);
    const int row = weight_rows_of(l) == 1 ? 0 : r, column = weight_columns_of(l) == 1 ? 0 : c;
    const int channel = weight_inputs_of(l) == 1 ? 0 : first_input_of(l) + k - first_channel_of(l);
    const weight w = weights_at(l)[(row * weight_columns_of(l) + column) * weight_inputs_of(l) + channel];
    if (!has_bias_of(l)) return paired(l, a, (number)w);
    return scaled_and_shifted(l, a, w, biases_at(l)[k - first_channel_of(l)]);
  }
  if (lacks(l->in + 1, k)) return alone(l, repeated(l, l->in, r, c, k), 0);
  if (lacks(l->in, k)) return alone(l, repeated(l, l->in + 1, r, c, k), 1);
  return paired(l, repeated(l, l->in, r, c, k), repeated(l, l->in + 1, r, c, k));
}
)c";

inline constexpr const char* c_resizes = R"c(
/* The point of `in` rows at which a resize to `out` rows reads for row y. */
static double resize_point(const struct layer *l, int y, int in, int out) {
  if (coordinates_of(l) == half_pixel) return ((double)y + 0.5) * in / out - 0.5;
  if (coordinates_of(l) == align_corners) return out > 1 ? (double)y * (in - 1) / (out - 1) : 0;
  return (double)y * in / out;
}
)c";
inline constexpr const char* c_nearest = R"c(
static int row_within(double row, int rows) { return row < 0 ? 0 : row > rows - 1 ? rows - 1 : (int)row; }
static int nearest_row(const struct layer *l, int y, int in, int out) {
  const double f = resize_point(l, y, in, out);
  double row = floor(f);
  if (rounding_of(l) == half_up) row = floor(f + 0.5);
  if (rounding_of(l) == half_down) row = ceil(f - 0.5);
  if (rounding_of(l) == to_ceiling) row = ceil(f);
  return row_within(row, in);
}
)c";
inline constexpr const char* c_bilinear = R"c(
static number bilinear(const struct layer *l, int r, int c, int k) {
  const struct image *x = l->in;
  const double fy = clamped(resize_point(l, r, x->rows, l->out.rows), 0, x->rows - 1);
  const double fx = clamped(resize_point(l, c, x->columns, l->out.columns), 0, x->columns - 1);
  const int row = (int)floor(fy), column = (int)floor(fx), right = column + 1 < x->columns ? column + 1 : column;
  const int below = row + 1 < x->rows ? row + 1 : row;
  const number top = blend(get(l, x, row, column, k), get(l, x, row, right, k), fx - column);
  if (fy == row) return top;
  return blend(top, blend(get(l, x, below, column, k), get(l, x, below, right, k), fx - column), fy - row);
}
)c";

inline constexpr const char* c_pads = R"c(
static number padded(const struct layer *l, int r, int c, int k) {
  const int row = r - pad_rows_of(l), column = c - pad_columns_of(l), channel = k - pad_channels_of(l);
  const struct image *x = l->in;
  if (row < 0 || row >= x->rows || column < 0 || column >= x->columns || channel < 0 || channel >= x->channels) return PAD(l);
  return get(l, x, row, column, channel);
}
)c";
inline constexpr const char* c_blocks = R"c(
static number depth_in_space(const struct layer *l, int r, int c, int k) {
  const int q = block_of(l), dy = r % q, dx = c % q;
  return get(l, l->in, r / q, c / q, depth_first_of(l) ? (dy * q + dx) * l->out.channels + k : (k * q + dy) * q + dx);
}
)c";
inline constexpr const char* c_slopes = R"c(
static number with_slope(const struct layer *l, int r, int c, int k) {
  const int slope = weight_outputs_of(l) == 1 ? 0 : first_output_of(l) + k - first_channel_of(l);
  return sloped(l, get(l, l->in, r, c, k), weights_at(l)[slope]);
}
)c";
inline constexpr const char* c_added = R"c(
static number added(const struct layer *l, number sum, int from, int r, int c, int k) {
  for (int i = from; i < operands_of(l); ++i)
    if (l->in[i].count > 0) sum = plus(sum, get(l, l->in + i, r, c, k)); /* tokens have no parts */
  return sum;
}
static number all_added(const struct layer *l, int r, int c, int k) {
  return has_bias_of(l) ? added(l, bias_of(l, k), 0, r, c, k) : added(l, get(l, l->in, r, c, k), 1, r, c, k);
}
)c";

/// Copies and means along one axis, of whole tensors in the order of the file.
inline constexpr const char* c_strides = R"c(
static number gathered(const struct layer *l, int i) {
  int at = i % stride_3_extent_of(l) * stride_3_of(l);
  number sum = 0;
  i /= stride_3_extent_of(l);
  at += i % stride_2_extent_of(l) * stride_2_of(l);
  i /= stride_2_extent_of(l);
  at += i % stride_1_extent_of(l) * stride_1_of(l) + i / stride_1_extent_of(l) * stride_0_of(l);
  if (cells_of(l) == 1) return flat(l, at);
  for (int j = 0; j < cells_of(l); ++j) sum = plus(sum, flat(l, at + j * step_of(l)));
  return sum / cells_of(l);
}
)c";

/// One part of the result.
inline constexpr const char* c_run_part = R"c(
static void run_part(const struct layer *l, const struct part *p) { compute(l, p, row_of(p), row_of(p) + rows_of(p)); }
)c";

/// Reads inputs, runs the program, writes outputs. `NAME` stands for the name of the library.
inline constexpr const char* c_main = R"c(#include "NAME.h"

)c"
                                      "#include <stdio.h>\n"
                                      R"c(
INPUTS_AND_OUTPUTS
static int fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

/* usage: program [INPUTS [OUTPUTS]], else standard input and output: the bytes of all of them, one behind the other */
int main(int argc, char **argv) {
  FILE *in = argc > 1 ? fopen(argv[1], "rb") : stdin, *out;
  if (!HAS_MODEL) return fail("the model is another one");
  if (!in) return fail("cannot open the file of inputs");
  for (size_t i = 0; i < NAME_INPUTS; ++i)
    if (fread(in_buffers[i], 1, in_bytes[i], in) != in_bytes[i]) return fail("the inputs are not whole");
  if (argc > 1) fclose(in);
  if (NAME_run((const void *const *)in_buffers, out_buffers, arena)) return fail("there is no arena");
  out = argc > 2 ? fopen(argv[2], "wb") : stdout;
  if (!out) return fail("cannot open the file of outputs");
  for (size_t i = 0; i < NAME_OUTPUTS; ++i)
    if (fwrite(out_buffers[i], 1, out_bytes[i], out) != out_bytes[i]) return fail("the outputs cannot be written");
  return fclose(out) == 0 ? 0 : fail("the outputs cannot be written");
}
)c";

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
