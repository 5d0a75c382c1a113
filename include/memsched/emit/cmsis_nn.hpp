// Calls of CMSIS-NN in generated C, on rows of images.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <memsched/emit/kernel_row.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Whether a function of CMSIS-NN computes an operator of int8 with row `k` of the table: a complete sum of one operand,
/// with weights of all its channels, and bounds as activation. Parts of it may still lie where it cannot reach them.
inline bool has_cmsis_kernel(const operation& op, kernel_row& k) {
  using enum op_kind;
  const attributes& d = op.does;
  if (op.sum != summation::complete || op.reads.size() != 1 || k["tabled"] != 0) return false;
  const extents &in = op.reads[0].size, &out = op.writes[0].size;
  const bool all_inputs = k["first_input"] == 0 && d.groups == 1;
  switch (d.what) {
    case convolution: return all_inputs && k["weight_inputs"] == in.channels;
    case depthwise: return out.channels % in.channels == 0 && k["weight_outputs"] == out.channels;
    case dense: return all_inputs && k["one_factor"] != 0 && k["channels_first"] == 0;
    case max_pooling: return k["same"] != 0 && k["dilation_rows"] == 1 && k["dilation_columns"] == 1;
    case average_pooling: return k["same"] != 0 && !d.count_pad && k["dilation_rows"] == 1 && k["dilation_columns"] == 1;
    default: return false;
  }
}

/// Kinds that functions of CMSIS-NN compute.
class cmsis_kinds {
 public:
  void add(op_kind k) { bits_ |= bit(k); }
  bool has(op_kind k) const { return (bits_ & bit(k)) != 0; }
  bool empty() const { return bits_ == 0; }

 private:
  static std::uint64_t bit(op_kind k) { return std::uint64_t{1} << static_cast<unsigned>(k); }
  std::uint64_t bits_ = 0;
};

/// Bytes of scratch for the functions of CMSIS-NN, as its releases 4 to 7 ask for them: on cores with vectors (Helium) and on
/// the others. If the library that is linked asks for more, the plain kernel runs.
struct cmsis_scratch {
  std::int64_t helium = 0, other = 0;
  void add(const operation& op) {
    const window& w = op.does.win;
    const std::int64_t cells = w.kernel_rows * w.kernel_columns, channels = op.reads[0].size.channels;
    const bool undilated = w.dilation_rows == 1 && w.dilation_columns == 1;
    if (op.does.what == op_kind::convolution) {
      const std::int64_t columns = cells * channels;
      helium = std::max(helium, cells == 1 ? 0 : 4 * ((columns + 15) / 16 * 16));
      other = std::max(other, 4 * ((columns + 3) / 4 * 4));
    } else if (op.does.what == op_kind::depthwise && undilated) {
      constexpr std::int64_t channels_at_once = 124;
      const bool three_by_three = w.kernel_rows == 3 && w.kernel_columns == 3 && w.pad_rows <= 1 && w.pad_columns <= 1;
      helium = std::max(helium, 4 * channels_at_once * cells);
      other = std::max(other, three_by_three ? 0 : 2 * channels * cells);
    } else if (op.does.what == op_kind::average_pooling) {
      other = std::max(other, 4 * channels);
    }
  }
};

/// Finds rows of the operand that lie one after the other.
inline constexpr const char* c_cmsis_rows = R"c(
/* Rows of the operand, one behind the other in the arena, and how many rows of padding stand before them. */
struct block {
  const int8_t *x;
  int rows, pad;
};
/* Rows [first, last) of the operand; 0 where they do not lie whole and one behind the other. */
static int find_rows(const struct layer *l, int first, int last, struct block *b) {
  const struct image *x = l->in;
  const struct part *p = find(x, first, 0, 0);
  b->x = (const int8_t *)(l->arena + at_of(p)) + place(p, first, 0, 0);
  b->rows = last - first;
  while (holds(p, first, 0, 0) && columns_of(p) == x->columns && channels_of(p) == x->channels) {
    const struct part *const before = p;
    first = row_of(p) + rows_of(p);
    if (first >= last) return 1;
    p = find(x, first, 0, 0);
    if (row_of(p) != first || at_of(p) != at_of(before) + rows_of(before) * x->columns * x->channels) return 0;
  }
  return 0;
}
)c";
inline constexpr const char* c_cmsis_windows = R"c(
/* The rows of the operand under the windows of `count` rows of the result from row r on. */
static int find_windows(const struct layer *l, int r, int count, struct block *b) {
  const int start = r * stride_rows_of(l) - pad_rows_of(l);
  const int stop = start + (count - 1) * stride_rows_of(l) + (kernel_rows_of(l) - 1) * dilation_rows_of(l) + 1;
  const int first = start < 0 ? 0 : start, last = stop < l->in->rows ? stop : l->in->rows;
  b->pad = first - start;
  return first < last && find_rows(l, first, last, b);
}
static cmsis_nn_tile tile_of(int rows, int columns) {
  cmsis_nn_tile t;
  t.h = rows;
  t.w = columns;
  return t;
}
)c";
inline constexpr const char* c_cmsis_dims = R"c(
static cmsis_nn_dims dims_of(int n, int rows, int columns, int channels) {
  cmsis_nn_dims d;
  d.n = n;
  d.h = rows;
  d.w = columns;
  d.c = channels;
  return d;
}
/* The scratch buffer, behind the tensors; without one where it is too small. */
static int has_scratch(const struct layer *l, int32_t bytes, cmsis_nn_context *context) {
  context->buf = l->arena + NAME_ACTIVATION_BYTES;
  context->size = bytes;
  return bytes >= 0 && bytes <= NAME_SCRATCH_BYTES;
}
)c";
inline constexpr const char* c_cmsis_sums = R"c(
static const int32_t *cmsis_bias(const struct layer *l, const struct part *p) {
  return has_bias_of(l) ? biases_at(l) + channel_of(p) - first_channel_of(l) : 0;
}
)c";
inline constexpr const char* c_cmsis_channels = R"c(
static cmsis_nn_per_channel_quant_params cmsis_factors(const struct layer *l, int output) {
  cmsis_nn_per_channel_quant_params q;
  q.multiplier = (int32_t *)(uintptr_t)(factors + factors_of(l) + output);
  q.shift = (int32_t *)(uintptr_t)(shifts + factors_of(l) + output);
  return q;
}
)c";

/// Each computes `count` rows of a part from row r on into y, and returns 0 if CMSIS-NN does not.
inline constexpr const char* c_cmsis_convolution = R"c(
static int cmsis_convolution(const struct layer *l, const struct part *p, int count, const struct block *b, int8_t *y) {
  const int output = first_output_of(l) + channel_of(p) - first_channel_of(l);
  const cmsis_nn_dims in = dims_of(1, b->rows, l->in->columns, l->in->channels);
  const cmsis_nn_dims out = dims_of(1, count, l->out.columns, channels_of(p)), bias = dims_of(1, 1, 1, channels_of(p));
  const cmsis_nn_dims filter = dims_of(channels_of(p), kernel_rows_of(l), kernel_columns_of(l), l->in->channels);
  const cmsis_nn_per_channel_quant_params q = cmsis_factors(l, output);
  const size_t size = (size_t)filter.h * (size_t)filter.w * (size_t)filter.c;
  cmsis_nn_context context;
  cmsis_nn_conv_params how;
  how.input_offset = -in_zero_of(l);
  how.output_offset = out_zero_of(l);
  how.stride = tile_of(stride_rows_of(l), stride_columns_of(l));
  how.padding = tile_of(b->pad, pad_columns_of(l));
  how.dilation = tile_of(dilation_rows_of(l), dilation_columns_of(l));
  how.activation.min = least_of(l);
  how.activation.max = most_of(l);
  return has_scratch(l, arm_convolve_wrapper_s8_get_buffer_size(&how, &in, &filter, &out), &context) &&
         arm_convolve_wrapper_s8(&context, &how, &q, &in, b->x, &filter, weights_at(l) + (size_t)output * size, &bias,
                                 cmsis_bias(l, p), &out, y) == ARM_CMSIS_NN_SUCCESS;
}
)c";
inline constexpr const char* c_cmsis_depthwise = R"c(
static int cmsis_depthwise(const struct layer *l, const struct part *p, int count, const struct block *b, int8_t *y) {
  const cmsis_nn_dims in = dims_of(1, b->rows, l->in->columns, l->in->channels);
  const cmsis_nn_dims out = dims_of(1, count, l->out.columns, l->out.channels), bias = dims_of(1, 1, 1, l->out.channels);
  const cmsis_nn_dims filter = dims_of(1, kernel_rows_of(l), kernel_columns_of(l), l->out.channels);
  const cmsis_nn_per_channel_quant_params q = cmsis_factors(l, 0);
  cmsis_nn_context context;
  cmsis_nn_dw_conv_params how;
  how.input_offset = -in_zero_of(l);
  how.output_offset = out_zero_of(l);
  how.ch_mult = l->out.channels / l->in->channels;
  how.stride = tile_of(stride_rows_of(l), stride_columns_of(l));
  how.padding = tile_of(b->pad, pad_columns_of(l));
  how.dilation = tile_of(dilation_rows_of(l), dilation_columns_of(l));
  how.activation.min = least_of(l);
  how.activation.max = most_of(l);
  return channels_of(p) == l->out.channels &&
         has_scratch(l, arm_depthwise_conv_wrapper_s8_get_buffer_size(&how, &in, &filter, &out), &context) &&
         arm_depthwise_conv_wrapper_s8(&context, &how, &q, &in, b->x, &filter, weights_at(l), &bias, cmsis_bias(l, p), &out,
                                       y) == ARM_CMSIS_NN_SUCCESS;
}
)c";
/// If the function wants sums of weights (Helium), the plain kernel stays.
inline constexpr const char* c_cmsis_dense = R"c(
static int cmsis_dense(const struct layer *l, const struct part *p, const struct block *b, int8_t *y) {
  const int all = l->in->rows * l->in->columns * l->in->channels;
  const int output = first_output_of(l) + channel_of(p) - first_channel_of(l);
  const cmsis_nn_dims in = dims_of(1, 1, 1, all), filter = dims_of(all, 1, 1, channels_of(p));
  const cmsis_nn_dims out = dims_of(1, 1, 1, channels_of(p));
  cmsis_nn_per_tensor_quant_params q;
  cmsis_nn_context context;
  cmsis_nn_fc_params how;
  q.multiplier = factors[factors_of(l)];
  q.shift = shifts[factors_of(l)];
  how.input_offset = -in_zero_of(l);
  how.filter_offset = 0;
  how.output_offset = out_zero_of(l);
  how.activation.min = least_of(l);
  how.activation.max = most_of(l);
  return arm_fully_connected_s8_get_buffer_size(&filter) == 0 && has_scratch(l, 0, &context) &&
         arm_fully_connected_s8(&context, &how, &q, &in, b->x, &filter, weights_at(l) + (size_t)output * (size_t)all, &out,
                                cmsis_bias(l, p), &out, y) == ARM_CMSIS_NN_SUCCESS;
}
)c";
inline constexpr const char* c_cmsis_pools = R"c(
static int cmsis_pool(const struct layer *l, const struct part *p, int count, const struct block *b, int8_t *y) {
  const cmsis_nn_dims in = dims_of(1, b->rows, l->in->columns, l->in->channels);
  const cmsis_nn_dims out = dims_of(1, count, l->out.columns, l->out.channels);
  const cmsis_nn_dims filter = dims_of(1, kernel_rows_of(l), kernel_columns_of(l), 1);
  cmsis_nn_context context;
  cmsis_nn_pool_params how;
  how.stride = tile_of(stride_rows_of(l), stride_columns_of(l));
  how.padding = tile_of(b->pad, pad_columns_of(l));
  how.activation.min = least_of(l);
  how.activation.max = most_of(l);
  return channels_of(p) == l->out.channels && POOL(l);
}
)c";

/// The functions of CMSIS-NN for the kinds in `called`, and `run_part`, which uses them.
inline std::string cmsis_text(const cmsis_kinds& called) {
  using enum op_kind;
  const auto has = [&](op_kind k) { return called.has(k); };
  const bool pools = has(max_pooling) || has(average_pooling), windows = has(convolution) || has(depthwise) || pools;
  std::string s = std::string(c_cmsis_rows) + (windows ? c_cmsis_windows : "") + c_cmsis_dims;
  if (has(convolution) || has(depthwise) || has(dense)) s += c_cmsis_sums;
  if (has(convolution) || has(depthwise)) s += c_cmsis_channels;
  if (has(convolution)) s += c_cmsis_convolution;
  if (has(depthwise)) s += c_cmsis_depthwise;
  if (has(dense)) s += c_cmsis_dense;
  if (pools) {
    const std::string most =
        "(has_scratch(l, 0, &context) && arm_max_pool_s8(&context, &how, &in, b->x, &filter, &out, y) == "
        "ARM_CMSIS_NN_SUCCESS)";
    const std::string mean =
        "(has_scratch(l, arm_avgpool_s8_get_buffer_size(out.w, out.c), &context) && arm_avgpool_s8(&context, &how, &in, b->x, "
        "&filter, &out, y) == ARM_CMSIS_NN_SUCCESS)";
    s += "#define POOL(l) " + (!has(average_pooling) ? most
                               : !has(max_pooling)   ? mean
                                                     : "(kind_of(l) == max_pooling ? " + most + " : " + mean + ")");
    s += c_cmsis_pools;
  }
  s += "\n/* Rows of a part by CMSIS-NN; 0 where it does not compute them. */\n"
       "static int call(const struct layer *l, const struct part *p, int r, int count, const struct block *b) {\n"
       "  int8_t *const y = (int8_t *)(l->arena + at_of(p)) + place(p, r, column_of(p), channel_of(p));\n  (void)count;\n";
  if (has(convolution)) s += "  if (kind_of(l) == convolution) return cmsis_convolution(l, p, count, b, y);\n";
  if (has(depthwise)) s += "  if (kind_of(l) == depthwise) return cmsis_depthwise(l, p, count, b, y);\n";
  if (has(dense)) s += "  if (kind_of(l) == dense) return cmsis_dense(l, p, b, y);\n";
  s += pools ? "  return cmsis_pool(l, p, count, b, y);\n}\n" : "  return 0;\n}\n";
  s += "static int reads(const struct layer *l, int r, int count, struct block *b) {\n"
       "  (void)r, (void)count;\n";
  if (has(dense)) s += "  if (kind_of(l) == dense) return find_rows(l, 0, l->in->rows, b);\n";
  return s + (windows ? "  return find_windows(l, r, count, b);\n}\n" : "  return 0;\n}\n") + R"c(
/* A part of the result: as many rows at once as CMSIS-NN can compute, the others by the kernels above. */
static void run_part(const struct layer *l, const struct part *p) {
  int r = row_of(p);
  const int last = r + rows_of(p);
  if (!called_of(l) || columns_of(p) != l->out.columns) compute(l, p, r, last);
  else
    while (r < last) {
      struct block b, more;
      int count = 0;
      memset(&b, 0, sizeof b);
      for (; r + count < last && reads(l, r, count + 1, &more); ++count) b = more;
      if (count == 0 || !call(l, p, r, count, &b)) {
        count += count == 0;
        compute(l, p, r, r + count);
      }
      r += count;
    }
}
)c";
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
