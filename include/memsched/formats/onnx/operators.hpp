// Which operator of a typed network an operator of an ONNX model is.
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
#include <memsched/formats/onnx/fold.hpp>
#include <memsched/formats/onnx/weights.hpp>

namespace memsched::inline MEMSCHED_ABI::onnx_detail {

/// Reads attributes and weights of the operators of a model's own graph and puts them into `layers`. What is not understood
/// in every part stays opaque.
class operator_reader {
 public:
  operator_reader(const onnx::ModelProto& model, const scope& names, weight_reader& weights, detail::layers& to)
      : graph_(model.graph()), names_(names), weights_(weights), to_(to) {
    for (const auto& o : model.opset_import())
      if (o.domain().empty() || o.domain() == "ai.onnx") opset_ = o.version();
  }

  /// Operator `id` of the draft, number `position` of the file.
  void read(op_id id, int position) {
    node_ = &graph_.node(position);
    id_ = id;
    if (!node_->domain().empty() && node_->domain() != "ai.onnx") return;
    if (found op = make(node_->op_type())) to_.replace(id, std::move(*op));
  }

 private:
  using found = std::optional<operation>;
  using extents_list = std::vector<std::int64_t>;

  found make(const std::string& k) {
    static const std::unordered_map<std::string, found (operator_reader::*)()> layers{
        {"Conv", &operator_reader::convolution}, {"ConvTranspose", &operator_reader::transposed},
        {"MaxPool", &operator_reader::max_pooling}, {"AveragePool", &operator_reader::average_pooling},
        {"GlobalAveragePool", &operator_reader::global_mean}, {"ReduceMean", &operator_reader::reduced_mean},
        {"GlobalMaxPool", &operator_reader::global_maximum}, {"Gemm", &operator_reader::gemm},
        {"MatMul", &operator_reader::product}, {"BatchNormalization", &operator_reader::batch_normalization},
        {"Concat", &operator_reader::concat}, {"Split", &operator_reader::split}, {"Slice", &operator_reader::box_of},
        {"Pad", &operator_reader::pad}, {"Resize", &operator_reader::resize}, {"Upsample", &operator_reader::resize},
        {"DepthToSpace", &operator_reader::depth_to_space}, {"Reshape", &operator_reader::reshape},
        {"Flatten", &operator_reader::reshape}, {"Squeeze", &operator_reader::reshape},
        {"Unsqueeze", &operator_reader::reshape}, {"Identity", &operator_reader::reshape},
        {"Dropout", &operator_reader::reshape}, {"Softmax", &operator_reader::softmax}, {"PRelu", &operator_reader::prelu},
        {"Clip", &operator_reader::clip}};
    static const std::unordered_map<std::string, op_kind> binaries{
        {"Add", op_kind::add}, {"Sub", op_kind::subtract}, {"Mul", op_kind::multiply}, {"Div", op_kind::divide},
        {"Min", op_kind::minimum}, {"Max", op_kind::maximum}, {"Sum", op_kind::add}};
    if (const auto at = layers.find(k); at != layers.end()) return (this->*at->second)();
    if (const auto at = binaries.find(k); at != binaries.end()) return binary(at->second);
    return unary(k);
  }

  // Operands ---------------------------------------------------------------------------------------------------------

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

  // Windows ----------------------------------------------------------------------------------------------------------

  /// What lies before and behind the image along rows and columns.
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
    // Windows that reach behind the pad divide by fewer cells than the kernel has.
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
        {"Relu", activation::relu}, {"Sigmoid", activation::logistic}, {"Tanh", activation::tanh},
        {"HardSwish", activation::hard_swish}, {"Exp", activation::exp}, {"Log", activation::log},
        {"Sqrt", activation::square_root}, {"Abs", activation::absolute}, {"Neg", activation::negate}};
    static const std::unordered_map<std::string, float> with_alpha{
        {"LeakyRelu", 0.01F}, {"Elu", 1.0F}, {"HardSigmoid", 0.2F}};
    static const std::unordered_set<std::string> others{
        "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Floor", "Mish", "Reciprocal",
        "Round", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Tan"};
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
    if (op->writes[0].size != extents{e.rows + before[0] + behind[0], e.columns + before[1] + behind[1],
                                      e.channels + before[2] + behind[2]})
      return {};
    op->does.win.pad_rows = before[0], op->does.win.pad_columns = before[1], op->does.win.pad_channels = before[2];
    return op;
  }

  /// To the nearest pixel or bilinear, where scales and extents agree.
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
        {"round_prefer_floor", resize_rounding::round_half_down}, {"round_prefer_ceil", resize_rounding::round_half_up},
        {"floor", resize_rounding::floor}, {"ceil", resize_rounding::ceil}};
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

  /// Also what only names its operand again.
  found reshape() {
    if (to_.outcomes(id_) != 1) return {};
    found op = begin(op_kind::reshape);
    if (!op || !one_type() || op->reads[0].size.elements() != op->writes[0].size.elements()) return {};
    if (to_.tensor(result()->id).alias_of == none) return {};
    return op;
  }

  const onnx::GraphProto& graph_;
  const scope& names_;
  weight_reader& weights_;
  detail::layers& to_;
  const onnx::NodeProto* node_ = nullptr;
  op_id id_ = 0;
  std::int64_t opset_ = 0;
};

}  // namespace memsched::onnx_detail
