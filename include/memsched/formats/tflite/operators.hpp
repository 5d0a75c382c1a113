// Maps operators of a TensorFlow Lite model to operators of a typed network.
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

#include <memsched/formats/tflite/layers.hpp>
#include <memsched/formats/tflite/weights.hpp>
#include <memsched/network/numbers.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// Reads attributes and weights of the operators of subgraph 0 and puts them into `layers`. Operators not understood in
/// every part (a kind, an option, a type, a shape of more batches than one, weights that are computed) stays opaque.
class operator_reader : public layer_reader {
 public:
  using layer_reader::layer_reader;

  /// Operator `id` of the draft, number `position` of the file.
  void read(op_id id, std::size_t position) {
    info_ = &m_.subgraphs[0].operators[position];
    id_ = id;
    why_.clear();
    options_ = m_.file.child(info_->data, operator_fields::options);
    tag_ = m_.file.number<std::uint8_t>(info_->data, operator_fields::options_type);
    std::optional<operation> op = make(info_->kind);
    if (op && !m_.file.failed()) to_.replace(id, std::move(*op));
    if (to_.is_opaque(id))
      if (const auto s = strides()) to_.define(id, *s);
    to_.explain(id, m_.kind_of(*info_), std::move(why_));
  }

 private:
  found make(kind_id k) {
    switch (k) {
      case kind("CONV_2D"): return convolution();
      case kind("DEPTHWISE_CONV_2D"): return depthwise();
      case kind("TRANSPOSE_CONV"): return transposed();
      case custom: return custom_transposed();
      case kind("MAX_POOL_2D"): return pooling(op_kind::max_pooling);
      case kind("AVERAGE_POOL_2D"): return pooling(op_kind::average_pooling);
      case kind("FULLY_CONNECTED"): return dense();
      case kind("MEAN"): return mean();
      case kind("ADD"): return binary(op_kind::add, add_options);
      case kind("SUB"): return binary(op_kind::subtract, sub_options);
      case kind("MUL"): return binary(op_kind::multiply, mul_options);
      case kind("DIV"): return binary(op_kind::divide, div_options);
      case kind("MINIMUM"): return binary(op_kind::minimum, no_options);
      case kind("MAXIMUM"): return binary(op_kind::maximum, no_options);
      case kind("CONCATENATION"): return concat();
      case kind("SPLIT"):
      case kind("SPLIT_V"): return split();
      case kind("SLICE"):
      case kind("STRIDED_SLICE"): return slice_of(k);
      case kind("PAD"):
      case kind("PADV2"): return pad(k);
      case kind("RESIZE_BILINEAR"): return resize(op_kind::resize_bilinear);
      case kind("RESIZE_NEAREST_NEIGHBOR"): return resize(op_kind::resize_nearest);
      case kind("DEPTH_TO_SPACE"): return depth_to_space();
      case kind("RESHAPE"):
      case kind("SQUEEZE"):
      case kind("EXPAND_DIMS"): return reshape();
      case kind("SOFTMAX"): return softmax();
      case kind("PRELU"): return prelu();
      case kind("QUANTIZE"):
      case kind("DEQUANTIZE"): return elementwise(op_kind::copy, activation::identity, true);
      default: return unary(k);
    }
  }

  /// Of TRANSPOSE, and of MEAN along one axis.
  std::optional<strided> strides() {
    const bool averages = info_->kind == kind("MEAN");
    if (!averages && info_->kind != kind("TRANSPOSE")) return {};
    if (info_->inputs.size() != 2 || info_->outputs.size() != 1 || !reads(1) || to_.operand(id_, 0) == none ||
        to_.outcome(id_) == none || !one_type())
      return {};
    if (to_.tensor(to_.operand(id_, 0)).quant != to_.tensor(to_.outcome(id_)).quant) return {};
    const auto listed = tensors_.integers(input(1));
    const auto& shape = tensors_.shape(input(0));
    const auto rank = static_cast<std::int64_t>(shape.size());
    if (!listed || (averages ? listed->size() != 1 : listed->size() != shape.size())) return {};
    std::vector<std::int64_t> axes, stride(shape.size(), 1);
    for (std::size_t a = shape.size(); a-- > 1;) stride[a - 1] = stride[a] * shape[a];
    for (std::int64_t a : *listed) {
      if (a < 0) a += rank;
      if (a < 0 || a >= rank || std::find(axes.begin(), axes.end(), a) != axes.end()) return {};
      axes.push_back(a);
    }
    strided s;
    if (averages) {
      const auto along = static_cast<std::size_t>(axes[0]);
      s.cells = shape[along], s.step = stride[along];
      axes.clear();
      for (std::int64_t a = 0; a < rank; ++a)
        if (a != static_cast<std::int64_t>(along)) axes.push_back(a);
    }
    std::int64_t all = 1;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto from = static_cast<std::size_t>(axes[i]);
      const std::size_t to = 4 - axes.size() + i;
      s.extent[to] = shape[from], s.stride[to] = stride[from], all *= shape[from];
    }
    if (to_.size(to_.outcome(id_)).elements() != all) return {};
    return s;
  }

  found mean() {
    found op = to_.begin(id_, op_kind::mean, 1);
    if (!op || !reads(1) || info_->inputs.size() != 2 || !one_type()) return {};
    const auto axes = tensors_.integers(input(1));
    if (!axes) return {};
    const auto& shape = tensors_.shape(input(0));
    extents left = op->reads[0].size;
    for (const std::int64_t a : *axes) {
      const auto rank = static_cast<std::int64_t>(shape.size());
      if (a < -rank || a >= rank) return {};
      const int along = typed_tensors::axis_of(shape, a < 0 ? a + rank : a);
      if (along == 2) return {};
      if (along == 0) left.rows = 1;
      if (along == 1) left.columns = 1;
    }
    if (left.rows != 1 || left.columns != 1 || op->writes[0].size != left) return {};
    return op;
  }

  found binary(op_kind k, std::uint8_t tag) {
    if (tag != no_options && tag_ != no_options && tag_ != tag) return {};
    if (info_->inputs.size() != 2 || info_->outputs.size() != 1) return {};
    const bool first_constant = constant_input(0);
    if (first_constant && (k == op_kind::subtract || k == op_kind::divide)) return {};
    found op = to_.begin(id_, k, first_constant || constant_input(1) ? 1 : 2);
    if (!op || (tag != no_options && !fuse(*op, small_option(0)))) return {};
    const extents& out = op->writes[0].size;
    for (const image& x : op->reads)
      if (!broadcasts(x.size, out) || to_.tensor(x.parts[0].tensor).element != to_.tensor(to_.outcome(id_)).element)
        return {};
    if (op->reads.size() == 2) return op;
    const std::size_t at = first_constant ? 0 : 1;
    const auto& c = tensors_.content(input(at));
    const auto size = c ? typed_tensors::image_of(c->shape) : std::nullopt;
    if (!size || c->type != to_.tensor(to_.operand(id_, 0)).element || !broadcasts(*size, out)) return {};
    const blob::axes axes{1, size->rows, size->columns, size->channels};
    auto b = tensors_.weights(*c, input(at), axes, packed(axes), -1);
    if (!b) return {};
    op->weights = to_.add(std::move(*b));
    return op;
  }

  found concat() {
    if (!has(concat_options) || !reads(info_->inputs.size())) return {};
    found op = to_.begin(id_, op_kind::copy, info_->inputs.size());
    if (!op) return {};
    const auto axis = axis_in_image(option(0), tensors_.shape(info_->outputs[0]));
    if (!axis || !fuse(*op, small_option(1))) return {};
    for (const index_t t : info_->inputs)
      if (tensors_.shape(t).size() != tensors_.shape(info_->outputs[0]).size()) return {};
    auto all = to_.side_by_side(op->reads, *axis, to_.outcome(id_));
    if (!all || all->size != op->writes[0].size) return {};
    op->reads = {std::move(*all)};
    return op;
  }

  found split() {
    const bool by_sizes = info_->kind == kind("SPLIT_V");
    const std::size_t x = by_sizes ? 0 : 1, where = by_sizes ? 2 : 0;
    found op = to_.begin(id_, op_kind::copy, 1, info_->outputs.size());
    if (!op || input(x) == none || constant_input(x) || !constant_input(where)) return {};
    const auto at = tensors_.integers(input(where));
    if (!at || at->size() != 1) return {};
    const auto axis = axis_in_image((*at)[0], tensors_.shape(input(x)));
    auto all = axis ? to_.side_by_side(op->writes, *axis, to_.operand(id_, 0)) : std::nullopt;
    if (!all || all->size != op->reads[0].size) return {};
    op->writes = {std::move(*all)};
    return op;
  }
  static std::optional<int> axis_in_image(std::int64_t axis, const typed_tensors::dimensions& shape) {
    const auto rank = static_cast<std::int64_t>(shape.size());
    if (axis < -rank || axis >= rank) return {};
    const int found_axis = typed_tensors::axis_of(shape, axis < 0 ? axis + rank : axis);
    if (found_axis < 0) return {};
    return found_axis;
  }

  /// A box of the operand: a result that lacks the rest of its image.
  found slice_of(kind_id k) {
    found op = to_.begin(id_, op_kind::copy, 1);
    const bool strided = k == kind("STRIDED_SLICE");
    if (!op || !reads(1) || info_->inputs.size() != (strided ? 4U : 3U)) return {};
    const typed_tensor &from = to_.tensor(to_.operand(id_, 0)), &result = to_.tensor(to_.outcome(id_));
    const auto& shape = tensors_.shape(input(0));
    const auto begin = tensors_.integers(input(1));
    const auto steps = strided ? tensors_.integers(input(3)) : std::vector<std::int64_t>(shape.size(), 1);
    if (!begin || !steps || begin->size() != shape.size() || steps->size() != shape.size()) return {};
    if (from.element != result.element || from.quant != result.quant) return {};
    if (tensors_.shape(info_->outputs[0]).size() != shape.size()) return {};
    // Ellipsis, new axes, dimensions that go, ends that count from the beginning: not understood.
    if (strided && (!has(strided_options) || option(2) != 0 || option(3) != 0 || option(4) != 0 ||
                    m_.file.number<std::uint8_t>(options_, {5, "offset"}) != 0))
      return {};
    box b{{0, result.size.rows}, {0, result.size.columns}, {0, result.size.channels}};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      std::int64_t first = strided && (option(0) >> d & 1) != 0 ? 0 : (*begin)[d];
      if (first < 0) first += shape[d];
      if ((*steps)[d] != 1 || first < 0 || first >= shape[d]) return {};
      const int axis = typed_tensors::axis_of(shape, static_cast<std::int64_t>(d));
      if (axis < 0) continue;
      interval& i = axis == 0 ? b.rows : axis == 1 ? b.columns : b.channels;
      i = {first, first + i.size()};
    }
    if (!whole(from.size).contains(b)) return {};
    op->writes[0] = {from.size, {{to_.outcome(id_), b.rows.first, b.columns.first, b.channels.first}}};
    return op;
  }

  found pad(kind_id k) {
    found op = to_.begin(id_, op_kind::pad, 1);
    if (!op || !reads(1) || info_->inputs.size() != (k == kind("PADV2") ? 3U : 2U)) return {};
    const typed_tensor &from = to_.tensor(to_.operand(id_, 0)), &result = to_.tensor(to_.outcome(id_));
    const auto& shape = tensors_.shape(input(0));
    const auto pads = tensors_.integers(input(1));
    if (!pads || pads->size() != 2 * shape.size() || from.element != result.element || from.quant != result.quant) return {};
    std::int64_t behind[3] = {0, 0, 0}, before[3] = {0, 0, 0};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::int64_t first = (*pads)[2 * d], last = (*pads)[2 * d + 1];
      if (first < 0 || last < 0 || first > 1 << 20 || last > 1 << 20) return {};
      const int axis = typed_tensors::axis_of(shape, static_cast<std::int64_t>(d));
      if (axis < 0 && (first != 0 || last != 0)) return {};
      if (axis >= 0) before[axis] = first, behind[axis] = last;
    }
    const extents& e = from.size;
    if (result.size !=
        extents{e.rows + before[0] + behind[0], e.columns + before[1] + behind[1], e.channels + before[2] + behind[2]})
      return {};
    op->does.win.pad_rows = before[0], op->does.win.pad_columns = before[1], op->does.win.pad_channels = before[2];
    if (k == kind("PADV2")) {
      const auto& c = tensors_.content(input(2));
      if (!c || c->type != from.element || c->data.size() != size_of(c->type)) return {};
      const bool is_byte = c->type == element::int8 || c->type == element::uint8;
      if (is_byte && from.quant.scale != 0)
        op->does.pad_value =
            from.quant.scale * static_cast<float>(little_integer(c->data, c->type == element::int8) - from.quant.zero_point);
      else if (c->type == element::float32) op->does.pad_value = little_float(c->data);
      else return {};
      if (!(std::abs(op->does.pad_value) <= std::numeric_limits<float>::max())) return {};
    }
    return op;
  }

  found resize(op_kind k) {
    found op = to_.begin(id_, k, 1);
    const bool bilinear = k == op_kind::resize_bilinear;
    if (!op || !reads(1) || !one_type() || op->reads[0].size.channels != op->writes[0].size.channels) return {};
    if (!has(bilinear ? bilinear_options : nearest_options)) return {};
    const bool corners = small_option(bilinear ? 2 : 0) != 0, centers = small_option(bilinear ? 3 : 1) != 0;
    if (corners && centers) return {};
    op->does.coordinates = corners   ? resize_coordinates::align_corners
                           : centers ? resize_coordinates::half_pixel
                                     : resize_coordinates::asymmetric;
    // To the nearest pixel: round(y * scale) with corners, floor((y + 0.5) * scale) with centers, else floor(y * scale).
    op->does.rounding = corners || centers ? resize_rounding::round_half_up : resize_rounding::floor;
    return op;
  }

  found depth_to_space() {
    found op = to_.begin(id_, op_kind::depth_to_space, 1);
    if (!op || !has(depth_options) || !reads(1) || !one_type()) return {};
    const std::int64_t q = option(0);
    const extents &in = op->reads[0].size, &out = op->writes[0].size;
    if (q < 1 || q > 4096 || out != extents{in.rows * q, in.columns * q, in.channels / (q * q)} ||
        in.channels % (q * q) != 0)
      return {};
    op->does.block = q;
    return op;
  }

  /// Also operators that drop or add dimensions of 1: the order of the elements stays.
  found reshape() {
    found op = to_.begin(id_, op_kind::reshape, 1);
    if (!op || info_->inputs.empty() || constant_input(0) || !one_type()) return {};
    if (op->reads[0].size.elements() != op->writes[0].size.elements()) return {};
    return op;
  }

  found softmax() {
    found op = elementwise(op_kind::softmax, activation::identity, false);
    if (!op || !has(softmax_options)) return {};
    op->does.alpha = m_.file.number<float>(options_, {0, "beta"});
    if (!(op->does.alpha > 0) || op->does.alpha > 1e30F) return {};
    return op;
  }

  /// Slopes by channel; one for each element is not understood.
  found prelu() {
    found op = to_.begin(id_, op_kind::prelu, 1);
    if (!op || !reads(1) || info_->inputs.size() != 2 || !one_type() || op->reads[0].size != op->writes[0].size) return {};
    const auto& c = tensors_.content(input(1));
    if (!c || c->type != to_.tensor(to_.operand(id_, 0)).element) return {};
    const std::int64_t n = elements(c->shape), channels = op->reads[0].size.channels;
    if (n != 1 && (n != channels || c->shape.empty() || c->shape.back() != channels)) return {};
    auto b = tensors_.weights(*c, input(1), {n, 1, 1, 1}, {1, 1, 1, 1}, -1);
    if (!b) return {};
    op->weights = to_.add(std::move(*b));
    return op;
  }

  found elementwise(op_kind k, activation act, bool converts) {
    found op = to_.begin(id_, k, 1);
    if (!op || !reads(1) || op->reads[0].size != op->writes[0].size || (!converts && !one_type())) return {};
    op->does.act = act;
    return op;
  }
  found other(const std::string& name) {
    found op = elementwise(op_kind::unary, activation::other, false);
    if (op) op->does.function = name;
    return op;
  }

  found unary(kind_id k) {
    const auto plain = [&](activation a) { return elementwise(op_kind::unary, a, false); };
    switch (k) {
      case kind("RELU"): return plain(activation::relu);
      case kind("RELU6"): return plain(activation::relu6);
      case kind("RELU_N1_TO_1"): return plain(activation::relu_n1_to_1);
      case kind("RELU_0_TO_1"): return plain(activation::relu_0_to_1);
      case kind("LOGISTIC"): return plain(activation::logistic);
      case kind("TANH"): return plain(activation::tanh);
      case kind("HARD_SWISH"): return plain(activation::hard_swish);
      case kind("EXP"): return plain(activation::exp);
      case kind("LOG"): return plain(activation::log);
      case kind("SQRT"): return plain(activation::square_root);
      case kind("ABS"): return plain(activation::absolute);
      case kind("NEG"): return plain(activation::negate);
      case kind("ELU"):
      case kind("LEAKY_RELU"): {
        found op = plain(k == kind("ELU") ? activation::elu : activation::leaky);
        if (!op || (k == kind("LEAKY_RELU") && !has(leaky_options))) return {};
        op->does.alpha = k == kind("ELU") ? 1 : m_.file.number<float>(options_, {0, "alpha"});
        if (!(std::abs(op->does.alpha) < 1e30F)) return {};
        return op;
      }
      case kind("GELU"): {
        if (!has(gelu_options)) return {};
        return small_option(0) != 0 ? other("GELU_TANH") : plain(activation::gelu);
      }
      case kind("RSQRT"):
      case kind("SQUARE"):
      case kind("SIN"):
      case kind("COS"):
      case kind("FLOOR"):
      case kind("CEIL"):
      case kind("ROUND"):
      case kind("SIGN"): return other(kind_name(k));
      default: return {};
    }
  }
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
