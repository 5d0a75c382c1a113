// A typed network, rewritten or not, as an ONNX graph of standard operators.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/formats/onnx/opaque_writer.hpp>
#include <memsched/network/check.hpp>
#include <memsched/network/numbers.hpp>
#include <memsched/network/windows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Writes one network whose origins are those of `first`. The error names a part that it cannot write.
class network_writer : opaque_writer {
 public:
  using opaque_writer::opaque_writer;

  result<onnx::ModelProto> run(std::span<const op_id> order, std::vector<std::size_t>* ends) {
    model_.set_ir_version(8);
    model_.set_producer_name("memsched");
    model_.add_opset_import()->set_version(opaque_nodes::written_set);
    graph_ = model_.mutable_graph();
    graph_->set_name(net_.name.empty() ? "network" : net_.name);
    add_ends(true);
    std::vector<bool> done(net_.operations.size(), false);
    for (const op_id i : order) {
      if (i >= done.size() || done[i])
        return graph_error{error_code::bad_order, "the order lists no operator, or one twice", {}, {}};
      done[i] = true;
      add_operation(i);
      if (!error_.message.empty()) return std::move(error_);
      if (ends != nullptr) ends->push_back(static_cast<std::size_t>(graph_->node_size()));
    }
    if (order.size() != net_.operations.size())
      return graph_error{error_code::bad_order, "the order does not list each operator", {}, {}};
    add_ends(false);
    if (!error_.message.empty()) return std::move(error_);
    return std::move(model_);
  }

 private:
  using integers = std::vector<std::int64_t>;
  /// Inputs as the first network has them, in the parts of this one; or outputs, from the parts.
  void add_ends(bool inputs) {
    op_ = nullptr;
    for (const network_end& e : ends_of(first_, inputs ? &typed_tensor::input : &typed_tensor::output)) {
      const tensor_id o = e.tensor;
      if (o == none) return fault(std::string("has an ") + (inputs ? "input" : "output") + " that is constant");
      const typed_tensor& end = first_.tensors[o];
      if (inputs && end.output) return fault("is input and output at once: " + detail::labelled("tensor ", o, end.name));
      if (end.element != element::float32)
        return fault("has an end that is not of float32: " + detail::labelled("tensor ", o, end.name));
      image all{end.size, {}};
      for (tensor_id t = 0; t < net_.tensors.size(); ++t) {
        const typed_tensor& x = net_.tensors[t];
        if (x.origin == o && (inputs ? x.input : x.output))
          all.parts.push_back({t, x.part.rows.first, x.part.columns.first, x.part.channels.first});
      }
      auto* info = inputs ? graph_->add_input() : graph_->add_output();
      const std::string name = end.name.empty() ? (inputs ? "input" : "output") + std::to_string(o) : end.name;
      info->set_name(name);
      auto* type = info->mutable_type()->mutable_tensor_type();
      type->set_elem_type(onnx::TensorProto::FLOAT);
      const integers shape = file_shape(e);
      type->mutable_shape();
      for (const std::int64_t d : shape) type->mutable_shape()->add_dim()->set_dim_value(d);
      if (inputs) {
        shapes_[name] = shape;
        for (const placed& p : all.parts) hold_part(p.tensor, name, end.size, box_of(net_, p));
      } else {
        if (written_.insert(o).second) node("Identity", {in_shape(all, shape)}, name);
      }
    }
  }
  /// Of an input or output in the file.
  integers file_shape(const network_end& e) const {
    const extents& size = first_.tensors[e.tensor].size;
    const integers as_image{1, size.channels, size.rows, size.columns};
    return e.shape && image_of(*e.shape) == size ? *e.shape : as_image;
  }

  // Operators --------------------------------------------------------------------------------------------------------

  void add_operation(op_id i) {
    op_ = &net_.operations[i];
    number_ = i;
    if (op_->does.what == op_kind::opaque) return copy_operator();
    for (const slice* s : {&op_->weights, &op_->bias})
      if (*s && net_.blobs[s->of].data.empty()) return fault("has weights that the model does not hold");
    for (const auto* images : {&op_->reads, &op_->writes})
      for (const image& x : *images)
        for (const placed& p : x.parts)
          if (net_.tensors[p.tensor].role != tensor_role::token && net_.tensors[p.tensor].element != element::float32)
            return fault("has values that are not float32");
    const box out = computes(net_, *op_);
    std::string y = compute(out);
    if (continues_sum(*op_)) y = added(y, assemble(op_->reads.back(), out));
    if (op_->sum == summation::last && op_->does.what == op_kind::mean) y = averaged(y, op_->reads[0].size);
    if (op_->sum == summation::complete || op_->sum == summation::last) y = activated(y);
    if (!error_.message.empty()) return;
    for (const placed& p : target(*op_).parts) {
      hold(p.tensor, cut(y, out, box_of(net_, p)));
    }
    if (op_->writes.size() > 1) fault("has several results");
  }

  std::string compute(const box& out) {
    switch (op_->does.what) {
      case op_kind::convolution:
      case op_kind::depthwise: return convolution(out);
      case op_kind::transposed_convolution: return transposed(out);
      case op_kind::max_pooling:
      case op_kind::average_pooling: return pooling(out);
      case op_kind::mean: return mean(out);
      case op_kind::add_sums:
      case op_kind::finish: return sum_of_all(out);
      case op_kind::finish_mean:
        return averaged(sum_of_all(out), {op_->does.win.kernel_rows, op_->does.win.kernel_columns, 1});
      case op_kind::begin: return start(out);
      case op_kind::dense: return dense(out);
      case op_kind::add: return binary("Add", out);
      case op_kind::subtract: return binary("Sub", out);
      case op_kind::multiply: return binary("Mul", out);
      case op_kind::divide: return binary("Div", out);
      case op_kind::minimum: return binary("Min", out);
      case op_kind::maximum: return binary("Max", out);
      case op_kind::copy:
      case op_kind::unary: return operand(0, out);
      case op_kind::pad: return pad(out);
      case op_kind::resize_bilinear:
      case op_kind::resize_nearest: return resize(out);
      case op_kind::depth_to_space: return depth_to_space(out);
      case op_kind::reshape: return reshape(out);
      case op_kind::prelu: return prelu(out);
      case op_kind::softmax: return softmax(out);
      default: break;
    }
    fault(std::string("is a ") + to_string(op_->does.what) + ", which no standard operator is");
    return {};
  }
  // Sums in parts are additions: a sum that is changed in place has a new name each time.
  std::string added(const std::string& a, const std::string& b) {
    const std::string y = fresh("sum");
    node("Add", {a, b}, y);
    return y;
  }
  std::string averaged(const std::string& x, const extents& of) {
    const std::string y = fresh("value");
    node("Div", {x, scalar(static_cast<float>(of.rows * of.columns))}, y);
    return y;
  }
  std::string mean(const box& out) {
    if (op_->sum == summation::complete) return single("GlobalAveragePool", operand(0, out));
    const std::string x = operand(0, out), y = fresh("sum");
    node("ReduceSum", {x, list({2, 3})}, y);
    return y;
  }
  std::string sum_of_all(const box& out) {
    std::string sum = op_->bias ? start(out) : std::string();
    for (const image& x : op_->reads) {
      if (is_token(net_, x)) continue;
      const std::string next = assemble(x, out);
      sum = sum.empty() ? next : added(sum, next);
    }
    return sum;
  }
  /// The bias, or zeros, of all elements of a sum.
  std::string start(const box& out) {
    const slice& s = op_->bias;
    const std::int64_t pixels = out.rows.size() * out.columns.size();
    return weights({1, out.channels.size(), out.rows.size(), out.columns.size()},
                   [&](std::int64_t n) { return s ? weight(s.of, s.outputs.first + n / pixels, 0, 0, 0) : 0; });
  }

  std::string single(const char* kind, const std::string& x) {
    const std::string y = fresh("value");
    node(kind, {x}, y);
    return y;
  }

  std::string activated(const std::string& x) {
    const attributes& d = op_->does;
    const auto clip = [&](float low, float high) {
      const std::string y = fresh("value");
      node("Clip", {x, scalar(low), scalar(high)}, y);
      return y;
    };
    const auto with_alpha = [&](const char* kind, bool beta) {
      const std::string y = fresh("value");
      auto& n = node(kind, {x}, y);
      set(n, "alpha", d.alpha);
      if (beta) set(n, "beta", d.beta);
      return y;
    };
    switch (d.act) {
      case activation::identity: return x;
      case activation::relu: return single("Relu", x);
      case activation::relu6: return clip(0, 6);
      case activation::relu_n1_to_1: return clip(-1, 1);
      case activation::relu_0_to_1: return clip(0, 1);
      case activation::clip: return clip(d.alpha, d.beta);
      case activation::leaky: return with_alpha("LeakyRelu", false);
      case activation::elu: return with_alpha("Elu", false);
      case activation::hard_sigmoid: return with_alpha("HardSigmoid", true);
      case activation::logistic: return single("Sigmoid", x);
      case activation::tanh: return single("Tanh", x);
      case activation::hard_swish: return single("HardSwish", x);
      case activation::exp: return single("Exp", x);
      case activation::log: return single("Log", x);
      case activation::square_root: return single("Sqrt", x);
      case activation::absolute: return single("Abs", x);
      case activation::negate: return single("Neg", x);
      case activation::gelu:
      case activation::other: break;
    }
    fault("applies a function that no standard operator of this version has");
    return {};
  }

  /// The pads of a window operator that computes `out` from the box `in` of its operand: where the whole one pads.
  integers pads(const box& out, const box& in) const {
    integers before, behind;
    for (const axis a : {axis::rows, axis::columns}) {
      const auto [kernel, stride, dilation, pad] = line_of(op_->does.win, a);
      const std::int64_t first = along(out, a).first * stride - pad;
      const std::int64_t last = (along(out, a).last - 1) * stride - pad + (kernel - 1) * dilation + 1;
      before.push_back(along(in, a).first - first);
      behind.push_back(last - along(in, a).last);
    }
    before.insert(before.end(), behind.begin(), behind.end());
    return before;
  }
  void set_window(onnx::NodeProto& n, const integers& pads, bool dilates) {
    const window& w = op_->does.win;
    set(n, "kernel_shape", integers{w.kernel_rows, w.kernel_columns});
    set(n, "strides", integers{w.stride_rows, w.stride_columns});
    if (dilates) set(n, "dilations", integers{w.dilation_rows, w.dilation_columns});
    set(n, "pads", pads);
  }
  std::string bias() {
    if (!op_->bias) return {};
    const slice& s = op_->bias;
    return weights({s.outputs.size()}, [&](std::int64_t o) { return weight(s.of, s.outputs.first + o, 0, 0, 0); });
  }
  /// Weights of a convolution: outputs, inputs, rows, columns; of a transposed one with inputs first.
  std::string kernel(bool inputs_first) {
    const slice& s = op_->weights;
    const std::int64_t outputs = s.outputs.size(), inputs = s.inputs.size(), rows = net_.blobs[s.of].size.rows,
                       columns = net_.blobs[s.of].size.columns;
    const std::int64_t second = inputs_first ? outputs : inputs;
    return weights({inputs_first ? inputs : outputs, second, rows, columns}, [&](std::int64_t n) {
      const std::int64_t c = n % columns, r = n / columns % rows, b = n / (columns * rows) % second,
                         a = n / (columns * rows * second);
      return weight(s.of, s.outputs.first + (inputs_first ? b : a), r, c, s.inputs.first + (inputs_first ? a : b));
    });
  }

  std::string convolution(const box& out) {
    const box in = needed(*op_, 0, out);
    const bool depthwise = op_->does.what == op_kind::depthwise;
    std::int64_t groups = depthwise ? in.channels.size() : op_->does.groups;
    if (depthwise ? groups == 0 || out.channels.size() % groups != 0
                  : groups > 1 && out.channels.size() != op_->writes[0].size.channels)
      return fault("computes a part of its groups"), std::string();
    std::vector<std::string> inputs{operand(0, out), kernel(false)};
    if (op_->bias) inputs.push_back(bias());
    const std::string y = fresh("value");
    auto& n = node("Conv", inputs, y);
    set_window(n, pads(out, in), true);
    set(n, "group", groups);
    return y;
  }
  bool whole_only(const box& out) {
    if (out != whole(op_->writes[0].size)) fault("computes a part, which the standard operator cannot");
    return error_.message.empty();
  }
  /// Its pads cut the rows and columns made beyond `out`.
  std::string transposed(const box& out) {
    const box in = needed(*op_, 0, out);
    integers before, behind, more;
    for (const axis a : {axis::rows, axis::columns}) {
      const auto [kernel_size, stride, dilation, pad] = line_of(op_->does.win, a);
      const std::int64_t first = along(out, a).first - (along(in, a).first * stride - pad);
      const std::int64_t surplus =
          (along(in, a).size() - 1) * stride + (kernel_size - 1) * dilation + 1 - first - along(out, a).size();
      if (first < 0) return fault("computes rows that no row of its operand reaches"), std::string();
      before.push_back(first), behind.push_back(std::max<std::int64_t>(0, surplus));
      more.push_back(std::max<std::int64_t>(0, -surplus));
    }
    before.insert(before.end(), behind.begin(), behind.end());
    std::vector<std::string> inputs{operand(0, out), kernel(true)};
    if (op_->bias) inputs.push_back(bias());
    const std::string y = fresh("value");
    auto& n = node("ConvTranspose", inputs, y);
    set_window(n, before, true);
    set(n, "output_padding", more);
    return y;
  }
  std::string pooling(const box& out) {
    const bool average = op_->does.what == op_kind::average_pooling;
    const std::string x = operand(0, out), y = fresh("value");
    auto& n = node(average ? "AveragePool" : "MaxPool", {x}, y);
    set_window(n, pads(out, needed(*op_, 0, out)), !average);
    if (average) set(n, "count_include_pad", std::int64_t{op_->does.count_pad});
    if (average && (op_->does.win.dilation_rows != 1 || op_->does.win.dilation_columns != 1))
      fault("averages dilated windows");
    return y;
  }

  /// Whether elements of an image come in another order in the network's file than in ONNX's.
  bool moves(const extents& e) const {
    return net_.order == element_order::rows_columns_channels && e.channels != 1 && e.rows * e.columns != 1;
  }
  /// Elements in the order of the file as one row.
  std::string flattened(std::string x) {
    if (moves(op_->reads[0].size)) x = permuted(x, {0, 2, 3, 1});
    return shaped(x, {1, -1});
  }
  std::string permuted(const std::string& x, const integers& order) {
    const std::string y = fresh("value");
    set(node("Transpose", {x}, y), "perm", order);
    return y;
  }
  std::string reshape(const box& out) {
    if (!whole_only(out)) return {};
    const std::string x = flattened(operand(0, out));
    const extents& e = op_->writes[0].size;
    if (!moves(e)) return shaped(x, {1, e.channels, e.rows, e.columns});
    return permuted(shaped(x, {1, e.rows, e.columns, e.channels}), {0, 3, 1, 2});
  }
  std::string dense(const box& out) {
    const slice& s = op_->weights;
    const std::int64_t outputs = s.outputs.size(), inputs = s.inputs.size();
    const std::string x = op_->sum == summation::complete ? operand(0, out) : assemble(op_->reads[0], dense_terms());
    std::vector<std::string> list_of_inputs{flattened(x), weights({outputs, inputs}, [&](std::int64_t n) {
                                              return weight(s.of, s.outputs.first + n / inputs, 0, 0,
                                                            s.inputs.first + n % inputs);
                                            })};
    if (op_->bias) list_of_inputs.push_back(bias());
    const std::string y = fresh("value");
    set(node("Gemm", list_of_inputs, y), "transB", std::int64_t{1});
    return shaped(y, {1, outputs, 1, 1});
  }

  /// Operand k with zeros for the channels that it lacks.
  std::string widened(std::size_t k, const box& out) {
    const coordinate channels = op_->reads[k].size.channels;
    const coordinate lacking = channels == 1 ? 0 : out.channels.last - std::max(channels, out.channels.first);
    if (lacking <= 0) return operand(k, out);
    if (op_->does.what != op_kind::add || lacking == out.channels.size())
      return fault("has an operand with fewer channels"), std::string();
    const std::string x = operand(k, out), y = fresh("value");
    node("Pad", {x, list({0, 0, 0, 0, 0, lacking, 0, 0}), scalar(0)}, y);
    return y;
  }
  std::string binary(const char* kind, const box& out) {
    const std::string a = widened(0, out);
    const std::string y = fresh("value");
    if (op_->reads.size() == 2) {
      const std::string b = widened(1, out);
      node(kind, {a, b}, y);
      return y;
    }
    node(kind, {a, constant(op_->weights, out)}, y);
    if (!op_->bias) return y;
    const std::string z = fresh("value");
    node("Add", {y, constant(op_->bias, out)}, z);
    return z;
  }
  /// The part of a constant operand that `out` needs: channels are its inputs.
  std::string constant(const slice& s, const box& out) {
    const blob::axes& a = net_.blobs[s.of].size;
    const interval rows = a.rows == 1 ? interval{0, 1} : out.rows, columns = a.columns == 1 ? interval{0, 1} : out.columns;
    const interval channels = a.inputs == 1 ? interval{0, 1} : s.inputs;
    return weights({1, channels.size(), rows.size(), columns.size()}, [&](std::int64_t n) {
      return weight(s.of, 0, rows.first + n / columns.size() % rows.size(), columns.first + n % columns.size(),
                    channels.first + n / (columns.size() * rows.size()));
    });
  }
  std::string prelu(const box& out) {
    const slice& s = op_->weights;
    const std::string x = operand(0, out), y = fresh("value");
    const std::int64_t n = net_.blobs[s.of].size.outputs == 1 ? 1 : s.outputs.size();
    node("PRelu",
         {x, weights({n, 1, 1}, [&](std::int64_t o) { return weight(s.of, (n == 1 ? 0 : s.outputs.first) + o, 0, 0, 0); })},
         y);
    return y;
  }
  std::string softmax(const box& out) {
    if (op_->does.alpha != 1) return fault("has an exponent that the standard operator lacks"), std::string();
    const std::string x = operand(0, out), y = fresh("value");
    set(node("Softmax", {x}, y), "axis", std::int64_t{1});
    return y;
  }

  std::string pad(const box& out) {
    const box in = needed(*op_, 0, out);
    const window& w = op_->does.win;
    const std::int64_t shift[] = {w.pad_channels, w.pad_rows, w.pad_columns};
    integers before{0}, behind{0};
    std::size_t k = 0;
    for (const axis a : {axis::channels, axis::rows, axis::columns}) {
      before.push_back(along(in, a).first - (along(out, a).first - shift[k]));
      behind.push_back(along(out, a).last - shift[k] - along(in, a).last);
      ++k;
    }
    before.insert(before.end(), behind.begin(), behind.end());
    const std::string x = operand(0, out), y = fresh("value");
    node("Pad", {x, list(before), scalar(op_->does.pad_value)}, y);
    return y;
  }
  std::string resize(const box& out) {
    if (out != whole(op_->writes[0].size)) return resized_block(out);
    const extents& e = op_->writes[0].size;
    static constexpr const char* coordinates[] = {"half_pixel", "asymmetric", "align_corners"};
    static constexpr const char* roundings[] = {"floor", "round_prefer_ceil", "round_prefer_floor", "ceil"};
    const std::string x = operand(0, out), y = fresh("value");
    auto& n = node("Resize", {x, "", "", list({1, e.channels, e.rows, e.columns})}, y);
    const bool nearest = op_->does.what == op_kind::resize_nearest;
    set(n, "mode", nearest ? "nearest" : "linear");
    set(n, "coordinate_transformation_mode", coordinates[static_cast<std::size_t>(op_->does.coordinates)]);
    if (nearest) set(n, "nearest_mode", roundings[static_cast<std::size_t>(op_->does.rounding)]);
    return y;
  }
  /// A block of a resize: rows and columns of the operand by number, and for a bilinear one their weighted sums.
  std::string resized_block(const box& out) {
    const box in = needed(*op_, 0, out);
    std::string x = operand(0, out);
    for (const axis a : {axis::columns, axis::rows}) {
      const coordinate n = along(whole(op_->reads[0].size), a).last, m = along(whole(op_->writes[0].size), a).last;
      integers low, high;
      std::vector<float> fraction;
      for (coordinate y = along(out, a).first; y < along(out, a).last; ++y) {
        if (op_->does.what == op_kind::resize_nearest) {
          low.push_back(nearest_row(y, n, m, op_->does) - along(in, a).first);
          continue;
        }
        const double f = std::clamp(resize_point(y, n, m, op_->does.coordinates), 0.0, static_cast<double>(n - 1));
        const auto row = static_cast<coordinate>(std::floor(f));
        fraction.push_back(static_cast<float>(f - static_cast<double>(row)));
        low.push_back(row - along(in, a).first);
        high.push_back(std::min(row + (fraction.back() == 0 ? 0 : 1), n - 1) - along(in, a).first);
      }
      const std::string first = gathered(x, low, a);
      if (fraction.empty()) {
        x = first;
        continue;
      }
      const auto count = static_cast<std::int64_t>(fraction.size());
      const integers shape = a == axis::rows ? integers{1, 1, count, 1} : integers{1, 1, 1, count};
      const auto at = [&](std::int64_t i) { return fraction[static_cast<std::size_t>(i)]; };
      const std::string left = fresh("value"), right = fresh("value"), sum = fresh("value");
      node("Mul", {first, weights(shape, [&](std::int64_t i) { return 1 - at(i); })}, left);
      node("Mul", {gathered(x, high, a), weights(shape, at)}, right);
      node("Add", {left, right}, sum);
      x = sum;
    }
    return x;
  }
  std::string gathered(const std::string& x, const integers& which, axis a) {
    const std::string y = fresh("value");
    set(node("Gather", {x, list(which)}, y), "axis", dimension(a));
    return y;
  }
  std::string depth_to_space(const box& out) {
    const std::int64_t q = op_->does.block;
    const box in = needed(*op_, 0, out);
    const std::string x = operand(0, out), y = fresh("value");
    auto& n = node("DepthToSpace", {x}, y);
    set(n, "blocksize", q);
    set(n, "mode", op_->does.depth_first ? "DCR" : "CRD");
    const box made{{in.rows.first * q, in.rows.last * q},
                   {in.columns.first * q, in.columns.last * q},
                   {0, op_->writes[0].size.channels}};
    return cut(y, made, out);
  }

  std::set<tensor_id> written_;  ///< outputs
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
