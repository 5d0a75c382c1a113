// The fixed part of generated C programs: kernels in plain loops, and main.
#pragma once

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The C functions of all kinds, element by element.
inline constexpr const char* c_kernels = R"c(
static const weight *weights_at(const struct layer *l, int output, int row, int column) {
  const size_t rows = (size_t)output * (size_t)l->weight_rows + (size_t)row;
  return l->weights + (rows * (size_t)l->weight_columns + (size_t)column) * (size_t)l->weight_inputs;
}
static number bias_of(const struct layer *l, int channel) {
  return l->bias ? l->bias[l->first_bias + channel - l->first_channel] : 0;
}

/* The products of `count` input channels of one pixel, ascending, behind a sum. */
static number tap(const struct layer *l, number sum, int row, int column, int channel, int count, const weight *w) {
  const int stop = channel + count;
  while (channel < stop) {
    const struct part *p = find(l->in, row, column, channel);
    const int end = p->channel + p->channels < stop ? p->channel + p->channels : stop;
    for (size_t i = place(p, row, column, channel); channel < end; ++channel, ++i) {
      const number term = product(l, load(p, i), *w++);
      sum = plus(sum, term);
    }
  }
  return sum;
}

/* The row that a kernel row of a transposed convolution takes; -1 for none. */
static int from_transposed(int at, int stride) { return at >= 0 && at % stride == 0 ? at / stride : -1; }
/* Element number i of the operand, in the order of the file. */
static number flat(const struct layer *l, int i) {
  const struct image *x = l->in;
  if (l->channels_first) return get(x, i / x->columns % x->rows, i % x->columns, i / (x->rows * x->columns));
  return get(x, i / (x->columns * x->channels), i / x->channels % x->columns, i % x->channels);
}

static number windowed(const struct layer *l, number sum, int r, int c, int k) {
  const struct image *x = l->in;
  const int transposed = l->kind == transposed_convolution, output = l->first_output + k - l->first_channel;
  int first = 0, count = x->channels;
  if (l->kind == depthwise) {
    first = k / (l->out.channels / x->channels);
    count = 1;
  } else if (l->sum != complete) {
    first = l->reduce_first;
    count = l->reduce_last - l->reduce_first;
  } else if (l->groups > 1) {
    count = x->channels / l->groups;
    first = k / (l->out.channels / l->groups) * count;
  }
  for (int ky = 0; ky < l->kernel_rows; ++ky) {
    const int row = transposed ? from_transposed(r + l->pad_rows - ky * l->dilation_rows, l->stride_rows)
                               : r * l->stride_rows - l->pad_rows + ky * l->dilation_rows;
    if (row < 0 || row >= x->rows) continue;
    for (int kx = 0; kx < l->kernel_columns; ++kx) {
      const int column = transposed ? from_transposed(c + l->pad_columns - kx * l->dilation_columns, l->stride_columns)
                                    : c * l->stride_columns - l->pad_columns + kx * l->dilation_columns;
      if (column < 0 || column >= x->columns) continue;
      sum = tap(l, sum, row, column, first, count, weights_at(l, output, ky, kx) + l->first_input);
    }
  }
  return sum;
}

/* A sum, and the terms of the element at (r, c, k) behind it. */
static number terms(const struct layer *l, number sum, int r, int c, int k) {
  const struct image *x = l->in;
  if (l->kind == mean) {
    const int first = l->sum == complete ? 0 : l->reduce_first, stop = l->sum == complete ? x->rows : l->reduce_last;
    for (int row = first; row < stop; ++row)
      for (int column = 0; column < x->columns; ++column) sum = plus(sum, bare(l, get(x, row, column, k)));
    return sum;
  }
  if (l->kind == dense) {
    const int all = x->rows * x->columns * x->channels;
    const int first = l->sum == complete ? 0 : l->reduce_first, stop = l->sum == complete ? all : l->reduce_last;
    const weight *w = weights_at(l, l->first_output + k - l->first_channel, 0, 0) + l->first_input;
    for (int i = first; i < stop; ++i) {
      const number term = product(l, flat(l, i), *w++);
      sum = plus(sum, term);
    }
    return sum;
  }
  return windowed(l, sum, r, c, k);
}

static number pooled(const struct layer *l, int r, int c, int k) {
  number sum = 0, most = least_number();
  int cells = 0;
  for (int ky = 0; ky < l->kernel_rows; ++ky)
    for (int kx = 0; kx < l->kernel_columns; ++kx) {
      const int row = r * l->stride_rows - l->pad_rows + ky * l->dilation_rows;
      const int column = c * l->stride_columns - l->pad_columns + kx * l->dilation_columns;
      if (row < 0 || row >= l->in->rows || column < 0 || column >= l->in->columns) continue;
      const number x = get(l->in, row, column, k);
      if (most < x) most = x;
      sum = plus(sum, bare(l, x));
      ++cells;
    }
  if (l->kind == max_pooling) return converted(l, most);
  return average(l, sum, l->count_pad ? l->kernel_rows * l->kernel_columns : cells);
}

static number repeated(const struct image *x, int r, int c, int k) {
  return get(x, x->rows == 1 ? 0 : r, x->columns == 1 ? 0 : c, x->channels == 1 ? 0 : k);
}
/* An operand with fewer channels counts for the first ones only. */
static int lacks(const struct image *x, int channel) { return x->channels > 1 && channel >= x->channels; }
static number binary(const struct layer *l, int r, int c, int k) {
  if (l->weights) {
    const number a = repeated(l->in, r, c, k);
    const int channel = l->weight_inputs == 1 ? 0 : l->first_input + k - l->first_channel;
    const weight w = weights_at(l, 0, l->weight_rows == 1 ? 0 : r, l->weight_columns == 1 ? 0 : c)[channel];
    return l->bias ? scaled_and_shifted(l, a, w, bias_of(l, k)) : paired(l, a, (number)w);
  }
  if (lacks(l->in + 1, k)) return single(l, repeated(l->in, r, c, k));
  if (!lacks(l->in, k)) return paired(l, repeated(l->in, r, c, k), repeated(l->in + 1, r, c, k));
  struct layer second = *l;
  second.in_scale = l->other_scale;
  second.in_zero = l->other_zero;
  return single(&second, repeated(l->in + 1, r, c, k));
}

/* The point of `in` rows at which a resize to `out` rows reads for row y. */
static double resize_point(const struct layer *l, int y, int in, int out) {
  if (l->coordinates == half_pixel) return ((double)y + 0.5) * in / out - 0.5;
  if (l->coordinates == align_corners) return out > 1 ? (double)y * (in - 1) / (out - 1) : 0;
  return (double)y * in / out;
}
static int nearest_row(const struct layer *l, int y, int in, int out) {
  const double f = resize_point(l, y, in, out);
  double row = floor(f);
  if (l->rounding == half_up) row = floor(f + 0.5);
  if (l->rounding == half_down) row = ceil(f - 0.5);
  if (l->rounding == to_ceiling) row = ceil(f);
  return (int)clamped(row, 0, in - 1);
}
static number bilinear(const struct layer *l, int r, int c, int k) {
  const struct image *x = l->in;
  const double fy = clamped(resize_point(l, r, x->rows, l->out.rows), 0, x->rows - 1);
  const double fx = clamped(resize_point(l, c, x->columns, l->out.columns), 0, x->columns - 1);
  const int row = (int)floor(fy), column = (int)floor(fx), right = column + 1 < x->columns ? column + 1 : column;
  const number top = blend(get(x, row, column, k), get(x, row, right, k), fx - column);
  if (fy == row) return top;
  const int below = row + 1 < x->rows ? row + 1 : row;
  return blend(top, blend(get(x, below, column, k), get(x, below, right, k), fx - column), fy - row);
}

static number summed(const struct layer *l, int r, int c, int k) {
  const int behind = l->sum == onto || l->sum == last; /* another sum */
  number sum = bias_of(l, k);
  if (behind) {
    const number before = get(l->in + l->operands, r, c, k);
    sum = l->bias ? plus(before, sum) : before;
  }
  sum = terms(l, sum, r, c, k);
  if (l->sum != complete && l->sum != last) return sum;
  if (l->kind == mean) return average(l, sum, l->in->rows * l->in->columns);
  return completed(l, sum, l->first_output + k - l->first_channel);
}
/* A sum with the terms of the layer, and its bias where it has one. */
static number more(const struct layer *l, number sum, int r, int c, int k) {
  return terms(l, l->bias ? plus(sum, bias_of(l, k)) : sum, r, c, k);
}
static number added(const struct layer *l, number sum, int from, int r, int c, int k) {
  for (int i = from; i < l->operands; ++i)
    if (l->in[i].count > 0) sum = plus(sum, get(l->in + i, r, c, k)); /* tokens have no parts */
  return sum;
}

static number element(const struct layer *l, int r, int c, int k) {
  const struct image *x = l->in;
  switch (l->kind) {
    case convolution: case depthwise: case transposed_convolution: case dense: case mean: return summed(l, r, c, k);
    case max_pooling: case average_pooling: return pooled(l, r, c, k);
    case add: case subtract: case multiply: case divide: case minimum: case maximum: return binary(l, r, c, k);
    case copy: return converted(l, get(x, r, c, k));
    case pad: {
      const int row = r - l->pad_rows, column = c - l->pad_columns, channel = k - l->pad_channels;
      const int inside = row >= 0 && row < x->rows && column >= 0 && column < x->columns && channel >= 0 &&
                         channel < x->channels;
      return inside ? get(x, row, column, channel) : l->pad_value;
    }
    case resize_bilinear: return bilinear(l, r, c, k);
    case resize_nearest:
      return get(x, nearest_row(l, r, x->rows, l->out.rows), nearest_row(l, c, x->columns, l->out.columns), k);
    case depth_to_space: {
      const int q = l->block, dy = r % q, dx = c % q;
      return get(x, r / q, c / q, l->depth_first ? (dy * q + dx) * l->out.channels + k : (k * q + dy) * q + dx);
    }
    case reshape:
      return flat(l, l->channels_first ? (k * l->out.rows + r) * l->out.columns + c
                                       : (r * l->out.columns + c) * l->out.channels + k);
    case unary: return single(l, get(x, r, c, k));
    case prelu: {
      const int slope = l->weight_outputs == 1 ? 0 : l->first_output + k - l->first_channel;
      return sloped(l, get(x, r, c, k), *weights_at(l, slope, 0, 0));
    }
    case add_sums: return added(l, get(x, r, c, k), 1, r, c, k);
    case begin: return bias_of(l, k);
    case finish:
      return completed(l, l->bias ? added(l, bias_of(l, k), 0, r, c, k) : added(l, get(x, r, c, k), 1, r, c, k),
                       l->weights ? l->first_output + k - l->first_channel : k);
    case finish_mean: return average(l, get(x, r, c, k), l->kernel_rows * l->kernel_columns);
    case softmax: case read_input: break;
  }
  abort();
}

/* The channels of one pixel share their largest element and their sum: the result may take the place of the operand. */
static void share_pixel(const struct layer *l, const struct part *p, int r, int c) {
  const struct image *x = l->in;
  number most = get(x, r, c, 0);
  for (int k = 1; k < x->channels; ++k) {
    const number a = get(x, r, c, k);
    if (most < a) most = a;
  }
  double sum = 0;
  for (int k = 0; k < x->channels; ++k) sum += power(l, get(x, r, c, k), most);
  for (int k = 0; k < p->channels; ++k)
    store(p, place(p, r, c, p->channel + k), share(l, power(l, get(x, r, c, p->channel + k), most) / sum));
}

/* One operator: each part of its result, row by row. */
static void run(const struct layer *l) {
  for (int i = 0; i < l->out.count; ++i) {
    const struct part *p = l->out.parts + i;
    size_t at = 0;
    for (int r = p->row; r < p->row + p->rows; ++r)
      for (int c = p->column; c < p->column + p->columns; ++c) {
        if (l->kind == softmax) {
          share_pixel(l, p, r, c);
          continue;
        }
        for (int k = p->channel; k < p->channel + p->channels; ++k, ++at)
          store(p, at, l->sum == into ? more(l, load(p, at), r, c, k) : element(l, r, c, k));
      }
  }
}

/* Rows, columns, channels of an image, as they stand in a file. */
static int read_image(const struct image *x, FILE *file) {
  for (int r = 0; r < x->rows; ++r)
    for (int c = 0; c < x->columns; ++c)
      for (int k = 0; k < x->channels; ++k) {
        stored element_of_file;
        if (fread(&element_of_file, sizeof element_of_file, 1, file) != 1) return 0;
        for (int i = 0; i < x->count; ++i)
          if (holds(x->parts + i, r, c, k)) arena[x->parts[i].at + place(x->parts + i, r, c, k)] = element_of_file;
      }
  return 1;
}
static int write_image(const struct image *x, FILE *file) {
  for (int r = 0; r < x->rows; ++r)
    for (int c = 0; c < x->columns; ++c)
      for (int k = 0; k < x->channels; ++k) {
        const struct part *p = find(x, r, c, k);
        if (fwrite(arena + p->at + place(p, r, c, k), sizeof(stored), 1, file) != 1) return 0;
      }
  return 1;
}
)c";

/// Reads inputs, runs the layers, writes outputs.
inline constexpr const char* c_main = R"c(
static int fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

/* usage: program [INPUTS [OUTPUTS]], else standard input and output */
int main(int argc, char **argv) {
  FILE *in = argc > 1 ? fopen(argv[1], "rb") : stdin;
  if (!in) return fail("cannot open the file of inputs");
  for (int i = 0; i < input_count; ++i)
    if (!read_image(inputs + i, in)) return fail("the inputs are not whole");
  for (int i = 0; i < layer_count; ++i) {
    if (layers[i].kind != read_input) run(layers + i);
    else if (!read_image(&layers[i].out, in)) return fail("the inputs are not whole");
  }
  if (argc > 1) fclose(in);
  FILE *out = argc > 2 ? fopen(argv[2], "wb") : stdout;
  if (!out) return fail("cannot open the file of outputs");
  for (int i = 0; i < output_count; ++i)
    if (!write_image(outputs + i, out)) return fail("the outputs cannot be written");
  return fclose(out) == 0 ? 0 : fail("the outputs cannot be written");
}
)c";

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
