// Operators of TensorFlow Lite models with weights or windows, for a typed network.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/formats/layers.hpp>
#include <memsched/formats/tflite/weights.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// Inputs and options of one operator of subgraph 0, `info_`, which is number `id_` of `layers`.
class operand_reader {
 public:
  operand_reader(model_file& m, typed_tensors& tensors, layers& to) : m_(m), tensors_(tensors), to_(to) {}

 protected:
  // Numbers of the tables of options in their union.
  enum : std::uint8_t {
    no_options = 0,
    convolution_options = 1,
    depthwise_options = 2,
    pool_options = 5,
    dense_options = 8,
    softmax_options = 9,
    concat_options = 10,
    add_options = 11,
    bilinear_options = 15,
    mul_options = 21,
    reducer_options = 27,
    sub_options = 28,
    div_options = 29,
    strided_options = 32,
    split_options = 35,
    transposed_options = 49,
    nearest_options = 74,
    leaky_options = 75,
    depth_options = 94,
    gelu_options = 116
  };
  using found = std::optional<operation>;

  index_t input(std::size_t k) const { return k < info_->inputs.size() ? info_->inputs[k] : none; }
  bool constant_input(std::size_t k) const { return input(k) != none && m_.subgraphs[0].constant(input(k)); }
  /// Whether the operator reads `activations` inputs from input `first` on as activations, and all others as constants.
  bool reads(std::size_t activations, std::size_t first = 0) const {
    for (std::size_t k = 0; k < info_->inputs.size(); ++k)
      if (constant_input(k) == (k >= first && k < first + activations)) return false;
    return info_->inputs.size() >= first + activations;
  }
  std::int32_t option(flatbuffers::voffset_t number, std::int32_t otherwise = 0) {
    return m_.file.number<std::int32_t>(options_, {number, "builtin_options"}, otherwise);
  }
  std::int32_t small_option(flatbuffers::voffset_t number) {
    return m_.file.number<std::int8_t>(options_, {number, "builtin_options"});
  }
  bool has(std::uint8_t tag) const { return options_.data != nullptr && tag_ == tag; }

  /// Says why the operator is not understood.
  bool no(std::string why) {
    why_ = std::move(why);
    return false;
  }
  bool fuse(operation& op, std::int32_t number) {
    static constexpr activation known[] = {activation::identity, activation::relu, activation::relu_n1_to_1,
                                           activation::relu6, activation::tanh};
    if (number < 0 || number > 4) return no("its fused activation");
    op.does.act = known[number];
    return true;
  }
  /// Whether operand and result have one type, so that an operator that does not convert can be the kind that it seems.
  bool one_type() const { return to_.tensor(to_.operand(id_, 0)).element == to_.tensor(to_.outcome(id_)).element; }

  /// Weights and bias of a layer. Real layers have real weights, and quantized ones integers with scales.
  bool weigh(operation& op, std::size_t at, std::size_t bias_at, const blob::axes& size, const blob::axes& stride,
             int channels) {
    const auto& w = tensors_.content(input(at));
    if (!w) return no("weights that an operator computes, or of an unknown type");
    const typed_tensor& x = to_.tensor(to_.operand(id_, 0));
    const bool real = x.element == element::float32;
    if (real != (w->type == element::float32)) return no("weights of another kind of number than its input");
    if (!real && (w->quant.scale.empty() || x.quant.scale == 0)) return no("integers without a scale");
    const auto b = tensors_.weights(*w, input(at), size, stride, channels);
    if (!b) return no("weights" + scales_of(*w));
    std::optional<blob> bias;
    if (input(bias_at) != none) {
      const auto& c = tensors_.content(input(bias_at));
      if (!c || (real ? c->type != element::float32 : c->type != element::int32 && c->type != element::int64))
        return no("a bias that an operator computes, or of another type");
      if (elements(c->shape) != size.outputs)
        return no("a bias of " + std::to_string(elements(c->shape)) + " elements for " + std::to_string(size.outputs) +
                  " channels");
      bias = tensors_.weights(*c, input(bias_at), {size.outputs, 1, 1, 1}, {1, 1, 1, 1}, axis_with_all(c->shape));
      if (!bias) return no("a bias" + scales_of(*c));
    }
    op.weights = to_.add(*b);
    if (bias) op.bias = to_.add(std::move(*bias));
    return true;
  }
  static std::string scales_of(const constant& c) {
    return " with " + std::to_string(c.quant.scale.size()) + " scales along dimension " + std::to_string(c.quant.dimension);
  }
  static std::int64_t elements(const std::vector<std::int64_t>& shape) {
    std::int64_t n = 1;
    for (const std::int64_t d : shape) {
      if (d > (std::int64_t{1} << 40) / n) return -1;
      n *= d;
    }
    return n;
  }
  static int axis_with_all(const std::vector<std::int64_t>& shape) {
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == elements(shape)) return static_cast<int>(i);
    return -1;
  }

  model_file& m_;
  typed_tensors& tensors_;
  layers& to_;
  const operator_info* info_ = nullptr;
  table options_;
  std::uint8_t tag_ = 0;
  op_id id_ = 0;
  std::string why_;  ///< the operator is not understood; empty: a reason of no words
};

/// Convolutions, pooling and products. Returns none for those that are not understood in every part.
class layer_reader : public operand_reader {
 protected:
  using operand_reader::operand_reader;

  bool fixed_weights() { return reads(1) || no("weights that an operator computes"); }

  /// Places the windows of an operator as its padding says (0 SAME, 1 VALID).
  bool place(operation& op, std::int32_t padding) {
    const extents &in = op.reads[0].size, &out = op.writes[0].size;
    window& w = op.does.win;
    const bool same = padding == 0;
    const auto rows = pad_before(in.rows, out.rows, w.kernel_rows, w.stride_rows, w.dilation_rows, same);
    const auto columns = pad_before(in.columns, out.columns, w.kernel_columns, w.stride_columns, w.dilation_columns, same);
    if (padding < 0 || padding > 1 || !rows || !columns) return no("windows that do not make its output");
    w.pad_rows = *rows, w.pad_columns = *columns;
    return windows_fit(in.rows, out.rows, w.kernel_rows, w.stride_rows, w.dilation_rows, w.pad_rows) &&
           windows_fit(in.columns, out.columns, w.kernel_columns, w.stride_columns, w.dilation_columns, w.pad_columns);
  }

  found convolution() {
    found op = to_.begin(id_, op_kind::convolution, 1);
    if (!fixed_weights() || !op || !has(convolution_options) || info_->inputs.size() < 2 || !one_type()) return {};
    const auto shape = tensors_.shape(input(1));
    if (shape.size() != 4) return {};
    const extents &in = op->reads[0].size, &out = op->writes[0].size;
    const blob::axes size{shape[0], shape[1], shape[2], shape[3]};
    if (size.outputs != out.channels || size.inputs < 1 || in.channels % size.inputs != 0) return {};
    op->does.groups = in.channels / size.inputs;
    if (out.channels % op->does.groups != 0) return {};
    op->does.win = {.kernel_rows = size.rows,
                    .kernel_columns = size.columns,
                    .stride_rows = option(2),
                    .stride_columns = option(1),
                    .dilation_rows = option(5, 1),
                    .dilation_columns = option(4, 1)};
    if (!place(*op, small_option(0)) || !fuse(*op, small_option(3))) return {};
    if (!weigh(*op, 1, 2, size, packed(size), 0)) return {};
    return op;
  }

  found depthwise() {
    found op = to_.begin(id_, op_kind::depthwise, 1);
    if (!fixed_weights() || !op || !has(depthwise_options) || info_->inputs.size() < 2 || !one_type()) return {};
    const auto shape = tensors_.shape(input(1));
    if (shape.size() != 4 || shape[0] != 1) return {};
    const extents &in = op->reads[0].size, &out = op->writes[0].size;
    const blob::axes size{shape[3], shape[1], shape[2], 1};
    if (size.outputs != out.channels || out.channels % in.channels != 0) return {};
    op->does.win = {.kernel_rows = size.rows,
                    .kernel_columns = size.columns,
                    .stride_rows = option(2),
                    .stride_columns = option(1),
                    .dilation_rows = option(6, 1),
                    .dilation_columns = option(5, 1)};
    if (!place(*op, small_option(0)) || !fuse(*op, small_option(4))) return {};
    if (!weigh(*op, 1, 2, size, {1, size.columns * size.outputs, size.outputs, 1}, 3)) return {};
    return op;
  }

  found transposed() {
    found op = to_.begin(id_, op_kind::transposed_convolution, 1);
    if (!op || !has(transposed_options) || !reads(1, 2) || !one_type() || !fuse(*op, small_option(3))) return {};
    return transposed(std::move(*op), small_option(0), option(1), option(2), 3);
  }
  /// Its pad is that of the convolution which leads from its result back to its operand.
  found transposed(operation op, std::int32_t padding, std::int32_t stride_columns, std::int32_t stride_rows,
                   std::size_t bias_at) {
    const auto shape = tensors_.shape(input(1));
    if (shape.size() != 4) return {};
    const extents &in = op.reads[0].size, &out = op.writes[0].size;
    const blob::axes size{shape[0], shape[1], shape[2], shape[3]};
    window& w = op.does.win;
    w = {.kernel_rows = size.rows,
         .kernel_columns = size.columns,
         .stride_rows = stride_rows,
         .stride_columns = stride_columns};
    const auto rows = pad_before(out.rows, in.rows, w.kernel_rows, w.stride_rows, 1, padding == 0);
    const auto columns = pad_before(out.columns, in.columns, w.kernel_columns, w.stride_columns, 1, padding == 0);
    if (padding < 0 || padding > 1 || !rows || !columns) return {};
    if (size.outputs != out.channels || size.inputs != in.channels) return {};
    w.pad_rows = *rows, w.pad_columns = *columns;
    if (!weigh(op, 1, bias_at, size, packed(size), 0)) return {};
    return op;
  }

  /// MediaPipe's Convolution2DTransposeBias: operand, weights, bias; options: padding (1 SAME, 2 VALID), stride over
  /// columns, stride over rows, each a 32-bit word.
  found custom_transposed() {
    if (m_.kind_of(*info_) != "Convolution2DTransposeBias") return {};
    const std::string_view words = m_.file.content(info_->data, operator_fields::custom_options);
    found op = to_.begin(id_, op_kind::transposed_convolution, 1);
    if (!op || words.size() != 12 || !reads(1) || info_->inputs.size() != 3 || !one_type()) return {};
    std::int32_t settings[3];
    std::memcpy(settings, words.data(), sizeof settings);
    return transposed(std::move(*op), settings[0] - 1, settings[1], settings[2], 2);
  }

  found pooling(op_kind k) {
    found op = to_.begin(id_, k, 1);
    if (!op || !has(pool_options) || !reads(1) || !one_type()) return {};
    op->does.win = {
        .kernel_rows = option(4), .kernel_columns = option(3), .stride_rows = option(2), .stride_columns = option(1)};
    if (op->reads[0].size.channels != op->writes[0].size.channels) return {};
    if (!place(*op, small_option(0)) || !fuse(*op, small_option(5))) return {};
    const extents &in = op->reads[0].size, &out = op->writes[0].size;
    const window& w = op->does.win;
    const bool all = w.kernel_rows == in.rows && w.kernel_columns == in.columns && out.rows == 1 && out.columns == 1;
    if (all && w.pad_rows == 0 && w.pad_columns == 0 && k == op_kind::average_pooling) op->does.what = op_kind::mean;
    return op;
  }

  /// Of one vector: a dense layer. Of several side by side, all with the same weights: a 1 x 1 convolution.
  found dense() {
    found op = to_.begin(id_, op_kind::dense, 1);
    if (!fixed_weights() || !op || !has(dense_options) || info_->inputs.size() < 2 || !one_type()) return {};
    const auto shape = tensors_.shape(input(1));
    if (shape.size() != 2 || small_option(1) != 0 || !fuse(*op, small_option(0))) return {};
    const extents &in = op->reads[0].size, &out = op->writes[0].size;
    const blob::axes size{shape[0], 1, 1, shape[1]};
    if (size.inputs < 1) return {};
    if (in.elements() != size.inputs || out != extents{1, 1, size.outputs}) {
      op->does.what = op_kind::convolution;
      if (in.channels != size.inputs || out != extents{in.rows, in.columns, size.outputs}) return {};
    }
    if (!weigh(*op, 1, 2, size, packed(size), 0)) return {};
    return op;
  }
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
