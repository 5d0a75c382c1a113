// Maps operators of an ONNX model to operators of a typed network.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/formats/layers.hpp>
#include <memsched/formats/onnx/layers.hpp>
#include <memsched/formats/onnx/literal.hpp>
#include <memsched/formats/onnx/weights.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Reads attributes and weights of the operators of a model's own graph and puts them into `layers`. Operators that are not
/// understood in every part stay opaque.
class operator_reader : public layer_reader {
 public:
  using layer_reader::layer_reader;

  /// Operator `id` of the draft, number `position` of the file.
  void read(op_id id, int position) {
    node_ = &graph_.node(position);
    id_ = id;
    const bool standard = node_->domain().empty() || node_->domain() == "ai.onnx";
    if (found op = standard ? make(node_->op_type()) : found()) to_.replace(id, std::move(*op));
    to_.explain(id, node_->op_type(), standard ? "" : "of the domain " + node_->domain());
  }

 private:
  found make(const std::string& k) {
    static const std::unordered_map<std::string, found (operator_reader::*)()> layers{
        {"Conv", &operator_reader::convolution},
        {"ConvTranspose", &operator_reader::transposed},
        {"MaxPool", &operator_reader::max_pooling},
        {"AveragePool", &operator_reader::average_pooling},
        {"GlobalAveragePool", &operator_reader::global_mean},
        {"ReduceMean", &operator_reader::reduced_mean},
        {"GlobalMaxPool", &operator_reader::global_maximum},
        {"Gemm", &operator_reader::gemm},
        {"MatMul", &operator_reader::product},
        {"BatchNormalization", &operator_reader::batch_normalization},
        {"Concat", &operator_reader::concat},
        {"Split", &operator_reader::split},
        {"Slice", &operator_reader::box_of},
        {"Pad", &operator_reader::pad},
        {"Resize", &operator_reader::resize},
        {"Upsample", &operator_reader::resize},
        {"DepthToSpace", &operator_reader::depth_to_space},
        {"Reshape", &operator_reader::reshape},
        {"Flatten", &operator_reader::reshape},
        {"Squeeze", &operator_reader::reshape},
        {"Unsqueeze", &operator_reader::reshape},
        {"Identity", &operator_reader::reshape},
        {"Dropout", &operator_reader::reshape},
        {"Softmax", &operator_reader::softmax},
        {"PRelu", &operator_reader::prelu},
        {"Clip", &operator_reader::clip}};
    static const std::unordered_map<std::string, op_kind> binaries{
        {"Add", op_kind::add},     {"Sub", op_kind::subtract}, {"Mul", op_kind::multiply}, {"Div", op_kind::divide},
        {"Min", op_kind::minimum}, {"Max", op_kind::maximum},  {"Sum", op_kind::add}};
    if (const auto at = layers.find(k); at != layers.end()) return (this->*at->second)();
    if (const auto at = binaries.find(k); at != binaries.end()) return binary(at->second);
    return unary(k);
  }

  // Element by element -----------------------------------------------------------------------------------------------

  /// The extents of a shape that broadcasts to one of such a rank.
  static std::optional<extents> broadcast_image(dimensions shape, std::size_t rank) {
    if (shape.size() > rank) return {};
    shape.insert(shape.begin(), rank - shape.size(), 1);
    return image_of(shape);
  }

  found binary(op_kind k) {
    if (node_->input_size() != 2 || result() == nullptr || input(0) == nullptr || input(1) == nullptr) return {};
    const std::size_t out_rank = result()->shape->size();
    const auto out = image_of(*result()->shape);
    if (!out) return {};
    std::vector<tensor_id> reads;
    for (int i = 0; i < 2; ++i) {
      if (!input(i)->shape || input(i)->type != result()->type) return {};
      const auto size = broadcast_image(shape(i), out_rank);
      if (!size || !detail::broadcasts(*size, *out)) return {};
      if (const value* v = activation_at(i)) {
        if (!to_.is_image(v->id) || to_.size(v->id) != *size) return {};
        reads.push_back(v->id);
      }
    }
    found op = to_.begin(id_, k, reads);
    if (!op || reads.size() == 2) return op;
    const int at = constant_at(0) != nullptr ? 0 : 1;
    if (reads.empty() || (at == 0 && (k == op_kind::subtract || k == op_kind::divide))) return {};
    const extents size = *broadcast_image(shape(at), out_rank);
    auto b = weights(at, {1, size.rows, size.columns, size.channels},
                     {size.elements(), size.columns, 1, size.rows * size.columns});
    if (!b) return {};
    op->weights = to_.add(std::move(*b));
    return op;
  }

  found elementwise(op_kind k, activation act) {
    found op = begin(k);
    if (!op || !one_type() || op->reads[0].size != op->writes[0].size) return {};
    op->does.act = act;
    return op;
  }

  found unary(const std::string& k) {
    static const std::unordered_map<std::string, activation> plain{
        {"Relu", activation::relu},        {"Sigmoid", activation::logistic},
        {"Tanh", activation::tanh},        {"HardSwish", activation::hard_swish},
        {"Exp", activation::exp},          {"Log", activation::log},
        {"Sqrt", activation::square_root}, {"Abs", activation::absolute},
        {"Neg", activation::negate}};
    static const std::unordered_map<std::string, float> with_alpha{
        {"LeakyRelu", 0.01F}, {"Elu", 1.0F}, {"HardSigmoid", 0.2F}};
    static const std::unordered_set<std::string> others{
        "Acos",  "Acosh", "Asin",       "Asinh", "Atan", "Atanh", "Ceil", "Cos",      "Cosh",     "Erf",
        "Floor", "Mish",  "Reciprocal", "Round", "Sign", "Sin",   "Sinh", "Softplus", "Softsign", "Tan"};
    if (node_->input_size() != 1) return {};
    if (const auto at = plain.find(k); at != plain.end()) return elementwise(op_kind::unary, at->second);
    if (const auto at = with_alpha.find(k); at != with_alpha.end()) {
      found op = elementwise(op_kind::unary, k == "LeakyRelu" ? activation::leaky
                                             : k == "Elu"     ? activation::elu
                                                              : activation::hard_sigmoid);
      if (!op) return {};
      op->does.alpha = number("alpha", at->second);
      if (k == "HardSigmoid") op->does.beta = number("beta", 0.5F);
      if (!(std::abs(op->does.alpha) < 1e30F) || !(std::abs(op->does.beta) < 1e30F)) return {};
      return op;
    }
    if (k == "Gelu" && text("approximate", "none") == "none") return elementwise(op_kind::unary, activation::gelu);
    if (!others.contains(k)) return {};
    found op = elementwise(op_kind::unary, activation::other);
    if (op) op->does.function = k;
    return op;
  }

  /// Bounds are attributes until opset 10, then inputs.
  found clip() {
    found op = elementwise(op_kind::unary, activation::clip);
    if (!op || !real()) return {};
    constexpr float most = std::numeric_limits<float>::max();
    float low = number("min", -most), high = number("max", most);
    for (int k = 1; k < 3; ++k) {
      if (input(k) == nullptr) continue;
      const auto bound = scalar(k);
      if (!bound) return {};
      (k == 1 ? low : high) = static_cast<float>(*bound);
    }
    if (!(low <= high)) return {};
    if (low == 0 && high == 6) op->does.act = activation::relu6;
    else if (low == 0 && high == most) op->does.act = activation::relu;
    else op->does.alpha = low, op->does.beta = high;
    return op;
  }

  /// Slopes by channel, or one.
  found prelu() {
    found op = elementwise(op_kind::prelu, activation::identity);
    if (!op || !real() || constant_at(1) == nullptr || !input(1)->shape) return {};
    const auto size = broadcast_image(shape(1), rank());
    if (!size || size->rows != 1 || size->columns != 1 || !detail::broadcasts(*size, op->reads[0].size)) return {};
    auto b = weights(1, {size->channels, 1, 1, 1}, {1, 1, 1, 1});
    if (!b) return {};
    op->weights = to_.add(std::move(*b));
    return op;
  }

  /// Over channels alone. Until opset 12, over all dimensions from `axis` on.
  found softmax() {
    found op = elementwise(op_kind::softmax, activation::identity);
    if (!op || !real()) return {};
    const bool old = opset_ < 13;
    const auto axis = axis_in_image(attribute(*node_, "axis", old ? 1 : -1), rank());
    const extents& e = op->reads[0].size;
    if (axis != 2 || (old && (e.rows != 1 || e.columns != 1))) return {};
    op->does.alpha = 1;
    return op;
  }

  // Elsewhere ----------------------------------------------------------------------------------------------------------

  found concat() {
    std::vector<tensor_id> reads;
    for (int k = 0; k < node_->input_size(); ++k) {
      const value* v = activation_at(k);
      if (v == nullptr || v->shape->size() != result()->shape->size()) return {};
      reads.push_back(v->id);
    }
    found op = to_.begin(id_, op_kind::copy, reads);
    if (!op) return {};
    const auto axis = axis_in_image(attribute(*node_, "axis", 1), rank());
    auto all = axis ? to_.side_by_side(op->reads, *axis, result()->id) : std::nullopt;
    if (!all || all->size != op->writes[0].size) return {};
    op->reads = {std::move(*all)};
    return op;
  }

  found split() {
    found op = begin(op_kind::copy, to_.outcomes(id_));
    if (!op || op->writes.size() != static_cast<std::size_t>(node_->output_size())) return {};
    const auto axis = axis_in_image(attribute(*node_, "axis", 0), rank());
    auto all = axis ? to_.side_by_side(op->writes, *axis, input(0)->id) : std::nullopt;
    if (!all || all->size != op->reads[0].size) return {};
    op->writes = {std::move(*all)};
    return op;
  }

  /// A Slice of step 1: a result that lacks the rest of its image.
  found box_of() {
    found op = begin(op_kind::copy);
    if (!op || !one_type() || result()->shape->size() != rank()) return {};
    extents_list starts = ints("starts"), axes = ints("axes");
    if (node_->input_size() > 1) {
      const auto listed = list(1), along = list(3);
      if (!listed || (input(3) != nullptr && !along)) return {};
      starts = *listed;
      axes = along.value_or(extents_list{});
      if (input(4) != nullptr) {
        const auto steps = list(4);
        if (!steps || std::any_of(steps->begin(), steps->end(), [](auto s) { return s != 1; })) return {};
      }
    }
    if (axes.empty())
      for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (axes.size() != starts.size()) return {};
    const extents& in = op->reads[0].size;
    placed at{result()->id, 0, 0, 0};
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const auto n = static_cast<std::int64_t>(rank());
      if (axes[i] < -n || axes[i] >= n) return {};
      const std::int64_t length = shape(0)[static_cast<std::size_t>(axes[i] < 0 ? axes[i] + n : axes[i])];
      const std::int64_t first = std::clamp<std::int64_t>(starts[i] < 0 ? starts[i] + length : starts[i], 0, length);
      if (const auto axis = axis_in_image(axes[i], rank()))
        (*axis == 0 ? at.row : *axis == 1 ? at.column : at.channel) = first;
      else if (first != 0) return {};
    }
    const extents out = op->writes[0].size;
    if (at.row + out.rows > in.rows || at.column + out.columns > in.columns || at.channel + out.channels > in.channels)
      return {};
    op->writes[0] = {in, {at}};
    return op;
  }

  /// Pads and value are attributes until opset 10, then inputs.
  found pad() {
    found op = begin(op_kind::pad);
    if (!op || !one_type() || text("mode", "constant") != "constant" || input(3) != nullptr) return {};
    extents_list pads = ints("pads");
    if (pads.empty()) pads = ints("paddings");
    op->does.pad_value = number("value", 0);
    if (node_->input_size() > 1) {
      const auto listed = list(1);
      const auto value = input(2) != nullptr ? scalar(2) : std::optional<double>(0);
      if (!listed || !value) return {};
      pads = *listed;
      op->does.pad_value = static_cast<float>(*value);
    }
    if (pads.size() != 2 * rank() || !(std::abs(op->does.pad_value) <= std::numeric_limits<float>::max())) return {};
    std::int64_t before[3] = {0, 0, 0}, behind[3] = {0, 0, 0};
    for (std::size_t d = 0; d < rank(); ++d) {
      const std::int64_t first = pads[d], last = pads[d + rank()];
      if (first < 0 || last < 0 || first > 1 << 20 || last > 1 << 20) return {};
      if (const auto axis = axis_in_image(static_cast<std::int64_t>(d), rank())) before[*axis] = first, behind[*axis] = last;
      else if (first != 0 || last != 0) return {};
    }
    const extents& e = op->reads[0].size;
    if (op->writes[0].size !=
        extents{e.rows + before[0] + behind[0], e.columns + before[1] + behind[1], e.channels + before[2] + behind[2]})
      return {};
    op->does.win.pad_rows = before[0], op->does.win.pad_columns = before[1], op->does.win.pad_channels = before[2];
    return op;
  }

  /// To the nearest pixel or bilinear, if scales and extents agree.
  found resize() {
    const bool upsample = node_->op_type() == "Upsample";
    const std::string mode = text("mode", "nearest");
    found op = begin(mode == "nearest" ? op_kind::resize_nearest : op_kind::resize_bilinear);
    if (!op || !real() || rank() != 4 || (mode != "nearest" && mode != "linear" && mode != "bilinear")) return {};
    if (op->reads[0].size.channels != op->writes[0].size.channels || attribute(*node_, "axes") ||
        attribute(*node_, "antialias", 0) != 0 || text("keep_aspect_ratio_policy", "stretch") != "stretch")
      return {};
    const bool old = upsample || opset_ < 11;
    if (!scales_agree(old ? 1 : 2)) return {};
    const std::string where = text("coordinate_transformation_mode", old ? "asymmetric" : "half_pixel");
    const extents& out = op->writes[0].size;
    if (where == "half_pixel" || (where == "pytorch_half_pixel" && out.rows > 1 && out.columns > 1))
      op->does.coordinates = resize_coordinates::half_pixel;
    else if (where == "align_corners") op->does.coordinates = resize_coordinates::align_corners;
    else if (where == "asymmetric") op->does.coordinates = resize_coordinates::asymmetric;
    else return {};
    static const std::unordered_map<std::string, resize_rounding> roundings{
        {"round_prefer_floor", resize_rounding::round_half_down},
        {"round_prefer_ceil", resize_rounding::round_half_up},
        {"floor", resize_rounding::floor},
        {"ceil", resize_rounding::ceil}};
    const auto rounding = roundings.find(text("nearest_mode", old ? "floor" : "round_prefer_floor"));
    if (rounding == roundings.end()) return {};
    op->does.rounding = rounding->second;
    return op;
  }
  /// Whether the scales that are given, in an input or an attribute, are those of the extents. Sizes always are.
  bool scales_agree(int k) const {
    std::vector<double> scales;
    if (const auto* a = attribute(*node_, "scales")) scales.assign(a->floats().begin(), a->floats().end());
    if (const value* v = input(k); v != nullptr && !(v->shape && *v->shape == dimensions{0})) {
      if (!v->content) return false;
      scales = v->content->values;
    }
    if (scales.empty()) return input(3) != nullptr;
    if (scales.size() != rank()) return false;
    for (std::size_t d = 0; d < rank(); ++d)
      if (scales[d] * static_cast<double>(shape(0)[d]) != static_cast<double>((*result()->shape)[d])) return false;
    return true;
  }

  found depth_to_space() {
    found op = begin(op_kind::depth_to_space);
    if (!op || !one_type() || rank() != 4) return {};
    const std::int64_t q = attribute(*node_, "blocksize", 0);
    const extents &in = op->reads[0].size, &out = op->writes[0].size;
    if (q < 1 || q > 4096 || in.channels % (q * q) != 0 ||
        out != extents{in.rows * q, in.columns * q, in.channels / (q * q)})
      return {};
    op->does.block = q;
    const std::string mode = text("mode", "DCR");
    op->does.depth_first = mode == "DCR";
    if (mode != "DCR" && mode != "CRD") return {};
    return op;
  }

  /// Also operators that only name their operand again.
  found reshape() {
    if (to_.outcomes(id_) != 1) return {};
    found op = begin(op_kind::reshape);
    if (!op || !one_type() || op->reads[0].size.elements() != op->writes[0].size.elements()) return {};
    if (to_.tensor(result()->id).alias_of == none) return {};
    return op;
  }
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
