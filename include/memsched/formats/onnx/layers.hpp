// Operators of ONNX models with weights or windows, for a typed network.
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
#include <memsched/formats/onnx/literal.hpp>
#include <memsched/formats/onnx/weights.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Inputs and attributes of one operator of a model's own graph, `node_`, which is number `id_` of `layers`.
class operand_reader {
 public:
  operand_reader(const onnx::ModelProto& model, const scope& names, weight_reader& weights, detail::layers& to)
      : graph_(model.graph()), names_(names), weights_(weights), to_(to) {
    for (const auto& o : model.opset_import())
      if (o.domain().empty() || o.domain() == "ai.onnx") opset_ = o.version();
  }

 protected:
  using found = std::optional<operation>;
  using extents_list = std::vector<std::int64_t>;

  const value* input(int k) const {
    return k < node_->input_size() && !node_->input(k).empty() ? names_.find(node_->input(k)) : nullptr;
  }
  const value* activation_at(int k) const {
    const value* v = input(k);
    return v != nullptr && v->id != none ? v : nullptr;
  }
  const value* constant_at(int k) const {
    const value* v = input(k);
    return v != nullptr && v->constant ? v : nullptr;
  }
  const value* result(int k = 0) const {
    return k < node_->output_size() && !node_->output(k).empty() ? names_.find(node_->output(k)) : nullptr;
  }
  /// An operator of operand 0 alone, an activation; further inputs are constants.
  found begin(op_kind k, std::size_t writes = 1) const {
    const value* x = activation_at(0);
    return x == nullptr ? found{} : to_.begin(id_, k, std::vector<tensor_id>{x->id}, writes);
  }
  bool one_type() const { return input(0)->type == result()->type; }
  bool real() const {
    return one_type() && (input(0)->type == onnx::TensorProto::FLOAT || input(0)->type == onnx::TensorProto::FLOAT16);
  }
  const dimensions& shape(int k) const { return *input(k)->shape; }
  std::size_t rank() const { return shape(0).size(); }

  extents_list ints(const char* name) const {
    const auto* a = attribute(*node_, name);
    return a ? extents_list(a->ints().begin(), a->ints().end()) : extents_list();
  }
  float number(const char* name, float otherwise) const {
    const auto* a = attribute(*node_, name);
    return a ? a->f() : otherwise;
  }
  std::string text(const char* name, const char* otherwise) const {
    const auto* a = attribute(*node_, name);
    return a ? a->s() : otherwise;
  }
  /// Integers of a constant input whose value is known.
  std::optional<extents_list> list(int k) const {
    const value* v = constant_at(k);
    if (v == nullptr || !v->content || is_real(v->content->type)) return {};
    extents_list values;
    for (const double x : v->content->values) values.push_back(to_integer(x));
    return values;
  }
  std::optional<double> scalar(int k) const {
    const value* v = constant_at(k);
    if (v == nullptr || !v->content || v->content->values.size() != 1) return {};
    return v->content->values[0];
  }

  /// A blob of a constant input of floats or halves, whose elements are counted from its shape.
  std::optional<blob> weights(int k, const blob::axes& size, const blob::axes& stride) {
    const value* v = constant_at(k);
    if (v == nullptr || (v->type != onnx::TensorProto::FLOAT && v->type != onnx::TensorProto::FLOAT16)) return {};
    blob b;
    b.name = node_->input(k);
    b.size = size, b.stride = stride;
    b.data = weights_.floats(node_->input(k), *v);
    return b;
  }
  bool weigh(operation& op, int k, const blob::axes& size, const blob::axes& stride, int bias) {
    auto w = weights(k, size, stride);
    if (!w) return false;
    std::optional<blob> b;
    if (input(bias) != nullptr) {
      if (constant_at(bias) == nullptr || !input(bias)->shape || *input(bias)->shape != dimensions{size.outputs})
        return false;
      b = weights(bias, {size.outputs, 1, 1, 1}, {1, 1, 1, 1});
      if (!b) return false;
    }
    op.weights = to_.add(std::move(*w));
    if (b) op.bias = to_.add(std::move(*b));
    return true;
  }

  const onnx::GraphProto& graph_;
  const scope& names_;
  weight_reader& weights_;
  detail::layers& to_;
  const onnx::NodeProto* node_ = nullptr;
  op_id id_ = 0;
  std::int64_t opset_ = 0;
};

/// Convolutions, pooling, means and products. Returns none for those that are not understood in every part.
class layer_reader : public operand_reader {
 protected:
  using operand_reader::operand_reader;

  // Windows ----------------------------------------------------------------------------------------------------------

  /// The pads before and after the image along rows and columns.
  struct window_pads {
    std::int64_t rows_before = 0, columns_before = 0, rows_behind = 0, columns_behind = 0;
  };

  /// Numbers for rows and columns of an attribute that has one for each spatial dimension; an image of one has one row.
  std::optional<std::pair<std::int64_t, std::int64_t>> spatial(const char* name) const {
    const extents_list v = ints(name);
    if (v.empty()) return std::pair<std::int64_t, std::int64_t>{1, 1};
    if (rank() == 4 && v.size() == 2) return std::pair{v[0], v[1]};
    if (rank() == 3 && v.size() == 1) return std::pair{std::int64_t{1}, v[0]};
    return {};
  }
  std::optional<window_pads> listed_pads() const {
    const extents_list v = ints("pads");
    if (v.empty()) return window_pads{};
    if (rank() == 4 && v.size() == 4) return window_pads{v[0], v[1], v[2], v[3]};
    if (rank() == 3 && v.size() == 2) return window_pads{0, v[0], 0, v[1]};
    return {};
  }

  /// Strides, dilations and pads of a window whose kernel is there, such that it makes the extents of the result.
  bool place(operation& op, bool may_ceil) const {
    window& w = op.does.win;
    const auto strides = spatial("strides"), dilations = spatial("dilations");
    auto pads = listed_pads();
    if (!strides || !dilations || !pads || rank() < 3 || rank() > 4) return false;
    std::tie(w.stride_rows, w.stride_columns) = *strides;
    std::tie(w.dilation_rows, w.dilation_columns) = *dilations;
    const std::string automatic = text("auto_pad", "NOTSET");
    const bool ceil = may_ceil && attribute(*node_, "ceil_mode", 0) != 0;
    const extents &in = op.reads[0].size, &out = op.writes[0].size;
    const auto line = [&](coordinate n, coordinate m, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                          std::int64_t& before, std::int64_t behind) {
      if (automatic == "VALID") before = behind = 0;
      if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
        const auto upper = detail::pad_before(n, m, kernel, stride, dilation, true);
        if (!upper) return false;
        const std::int64_t missing = std::max<std::int64_t>(0, (m - 1) * stride + (kernel - 1) * dilation + 1 - n);
        before = automatic == "SAME_UPPER" ? *upper : missing - *upper;
        return detail::windows_fit(n, m, kernel, stride, dilation, before);
      }
      if (!detail::windows_fit(n, m, kernel, stride, dilation, before) || behind < 0 || behind > 1 << 30) return false;
      const std::int64_t room = n + before + behind - ((kernel - 1) * dilation + 1);
      return room >= 0 && (m == room / stride + 1 || (ceil && m == (room + stride - 1) / stride + 1));
    };
    if (!line(in.rows, out.rows, w.kernel_rows, w.stride_rows, w.dilation_rows, pads->rows_before, pads->rows_behind) ||
        !line(in.columns, out.columns, w.kernel_columns, w.stride_columns, w.dilation_columns, pads->columns_before,
              pads->columns_behind))
      return false;
    w.pad_rows = pads->rows_before, w.pad_columns = pads->columns_before;
    return true;
  }

  /// Rows and columns of the kernel of weights.
  static std::pair<std::int64_t, std::int64_t> kernel_of(const dimensions& w) {
    return w.size() == 4 ? std::pair{w[2], w[3]} : std::pair{std::int64_t{1}, w[2]};
  }

  found convolution() {
    found op = begin(op_kind::convolution);
    if (!op || !real() || constant_at(1) == nullptr || !input(1)->shape || shape(1).size() != rank() || rank() < 3)
      return {};
    const auto [rows, columns] = kernel_of(shape(1));
    const std::int64_t inputs = shape(1)[1], groups = attribute(*node_, "group", 1);
    const blob::axes size{shape(1)[0], rows, columns, inputs};
    const extents &in = op->reads[0].size, &out = op->writes[0].size;
    if (groups < 1 || groups > in.channels || inputs < 1 || inputs * groups != in.channels || size.outputs != out.channels ||
        out.channels % groups != 0)
      return {};
    op->does.win.kernel_rows = rows, op->does.win.kernel_columns = columns;
    if (!place(*op, false)) return {};
    if (groups > 1 && inputs == 1) op->does.what = op_kind::depthwise;
    else op->does.groups = groups;
    if (!weigh(*op, 1, size, {inputs * rows * columns, columns, 1, rows * columns}, 2)) return {};
    return op;
  }

  found transposed() {
    found op = begin(op_kind::transposed_convolution);
    if (!op || !real() || constant_at(1) == nullptr || !input(1)->shape || shape(1).size() != rank() || rank() < 3 ||
        rank() > 4)
      return {};
    const auto [rows, columns] = kernel_of(shape(1));
    const blob::axes size{shape(1)[1], rows, columns, shape(1)[0]};
    const auto strides = spatial("strides"), dilations = spatial("dilations");
    const auto pads = listed_pads();
    const extents &in = op->reads[0].size, &out = op->writes[0].size;
    if (attribute(*node_, "group", 1) != 1 || size.inputs != in.channels || size.outputs != out.channels || !strides ||
        !dilations || !pads || attribute(*node_, "output_shape") || text("auto_pad", "NOTSET") != "NOTSET")
      return {};
    window& w = op->does.win;
    w.kernel_rows = rows, w.kernel_columns = columns;
    std::tie(w.stride_rows, w.stride_columns) = *strides;
    std::tie(w.dilation_rows, w.dilation_columns) = *dilations;
    w.pad_rows = pads->rows_before, w.pad_columns = pads->columns_before;
    constexpr std::int64_t most = 1 << 20;
    for (const std::int64_t n : {rows, columns, w.stride_rows, w.stride_columns, w.dilation_rows, w.dilation_columns})
      if (n < 1 || n > most) return {};
    for (const std::int64_t n : {pads->rows_before, pads->columns_before, pads->rows_behind, pads->columns_behind})
      if (n < 0 || n > most) return {};
    if (!weigh(*op, 1, size, {rows * columns, columns, 1, size.outputs * rows * columns}, 2)) return {};
    return op;
  }

  found pooling(op_kind k) {
    found op = begin(k);
    const auto kernel = op ? spatial("kernel_shape") : std::nullopt;
    if (!op || !real() || !kernel || ints("kernel_shape").empty()) return {};
    if (op->reads[0].size.channels != op->writes[0].size.channels || attribute(*node_, "storage_order", 0) != 0) return {};
    std::tie(op->does.win.kernel_rows, op->does.win.kernel_columns) = *kernel;
    if (!place(*op, true)) return {};
    return op;
  }
  found max_pooling() { return pooling(op_kind::max_pooling); }
  found average_pooling() {
    found op = pooling(op_kind::average_pooling);
    if (!op) return {};
    op->does.count_pad = attribute(*node_, "count_include_pad", 0) != 0;
    // Windows that reach beyond the pad divide by fewer cells than the kernel has.
    if (op->does.count_pad && attribute(*node_, "ceil_mode", 0) != 0) return {};
    return op;
  }

  found over_image(op_kind k) {
    found op = begin(k);
    if (!op || !real() || rank() < 3 || op->writes[0].size != extents{1, 1, op->reads[0].size.channels}) return {};
    return op;
  }
  found global_mean() { return over_image(op_kind::mean); }
  found global_maximum() {
    found op = over_image(op_kind::max_pooling);
    if (!op) return {};
    op->does.win.kernel_rows = op->reads[0].size.rows, op->does.win.kernel_columns = op->reads[0].size.columns;
    return op;
  }
  /// Over rows and columns.
  found reduced_mean() {
    found op = over_image(op_kind::mean);
    if (!op) return {};
    extents_list axes = ints("axes");
    if (input(1) != nullptr) {
      const auto given = list(1);
      if (!given) return {};
      axes = *given;
    }
    extents left = op->reads[0].size;
    for (const std::int64_t a : axes) {
      const auto axis = axis_in_image(a, rank());
      if (!axis || *axis == 2) return {};
      (*axis == 0 ? left.rows : left.columns) = 1;
    }
    if (left.rows != 1 || left.columns != 1) return {};
    return op;
  }

  // Products ---------------------------------------------------------------------------------------------------------

  found dense(bool transposed, int bias) {
    found op = begin(op_kind::dense);
    if (!op || !real() || rank() != 2 || constant_at(1) == nullptr || !input(1)->shape || shape(1).size() != 2) return {};
    const std::int64_t inputs = shape(1)[transposed ? 1 : 0], outputs = shape(1)[transposed ? 0 : 1];
    if (op->reads[0].size != extents{1, 1, inputs} || op->writes[0].size != extents{1, 1, outputs}) return {};
    const blob::axes stride = transposed ? blob::axes{inputs, inputs, inputs, 1} : blob::axes{1, 1, 1, outputs};
    if (!weigh(*op, 1, {outputs, 1, 1, inputs}, stride, bias)) return {};
    return op;
  }
  found gemm() {
    if (attribute(*node_, "transA", 0) != 0 || number("alpha", 1) != 1 || (input(2) != nullptr && number("beta", 1) != 1))
      return {};
    return dense(attribute(*node_, "transB", 0) != 0, 2);
  }
  found product() { return dense(false, 3); }

  /// As one product and one sum for each channel.
  found batch_normalization() {
    found op = begin(op_kind::multiply);
    if (!op || !real() || node_->input_size() != 5 || attribute(*node_, "training_mode", 0) != 0 || rank() < 2) return {};
    const std::int64_t n = op->reads[0].size.channels;
    std::vector<blob> given;
    bool known = true;
    for (int k = 1; k < 5; ++k) {
      if (constant_at(k) == nullptr || !input(k)->shape || shape(k) != dimensions{n}) return {};
      auto b = weights(k, {1, 1, 1, n}, {n, n, n, 1});
      if (!b) return {};
      known = known && b->data.size() >= 4 * static_cast<std::size_t>(n);
      given.push_back(std::move(*b));
    }
    const auto epsilon = static_cast<double>(number("epsilon", 1e-5F));
    blob scale = given[0], shift = given[1];
    scale.data = shift.data = {};
    if (known) {
      std::vector<double> factor, offset;
      for (std::size_t c = 0; c < static_cast<std::size_t>(n); ++c) {
        const auto at = [&](std::size_t k) {
          float x = 0;
          std::memcpy(&x, given[k].data.data() + 4 * c, 4);
          return static_cast<double>(x);
        };
        const double f = at(0) / std::sqrt(at(3) + epsilon);
        factor.push_back(f), offset.push_back(at(1) - at(2) * f);
      }
      scale.data = weights_.store(factor), shift.data = weights_.store(offset);
    }
    op->weights = to_.add(std::move(scale));
    op->bias = to_.add(std::move(shift));
    return op;
  }
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
