// A typed network, rewritten or not, as a TensorFlow Lite model of standard operators.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <memsched/formats/tflite/foreign.hpp>
#include <memsched/formats/tflite/signatures.hpp>
#include <memsched/formats/tflite/window_writer.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// Writes one network whose origins are those of `first`. The error names a part that it cannot write.
class network_writer : window_writer {
 public:
  network_writer(const network& first, const network& net, std::vector<std::size_t>* ends)
      : window_writer(net), first_(first), ends_(ends) {}

  result<std::string> run(std::span<const op_id> order) {
    add_inputs();
    std::vector<bool> done(net_.operations.size(), false);
    for (const op_id i : order) {
      if (i >= done.size() || done[i])
        return graph_error{error_code::bad_order, "the order lists no operator, or one twice", {}, {}};
      done[i] = true;
      add_operation(i);
      if (failed()) return std::move(error_);
      if (ends_ != nullptr) ends_->push_back(model_.operators());
    }
    if (order.size() != net_.operations.size())
      return graph_error{error_code::bad_order, "the order does not list each operator", {}, {}};
    add_outputs();
    if (failed()) return std::move(error_);
    return model_.write(net_.name.empty() ? "network" : net_.name, inputs_, outputs_,
                        signatures_of(first_.file, inputs_, outputs_));
  }

 private:
  void add_inputs() {
    for (const network_end& e : ends_of(first_, &typed_tensor::input)) {
      if (e.tensor == none) return fault("has an input that is constant");
      const typed_tensor& end = first_.tensors[e.tensor];
      const std::string label = labelled("tensor ", e.tensor, end.name);
      if (end.output) return fault("is input and output at once: " + label);
      const list shape = file_shape(e);
      if (failed()) return;
      const file_value x{model_.tensor(shape, type_of(end.element, end.quant), name_of(e.tensor)), end.size};
      inputs_.push_back(x.tensor);
      for (tensor_id t = 0; t < net_.tensors.size(); ++t)
        if (net_.tensors[t].origin == e.tensor && net_.tensors[t].input) hold_part(t, x, end.size, net_.tensors[t].part);
    }
  }
  void add_outputs() {
    op_ = nullptr;
    std::map<tensor_id, std::int32_t> written;
    for (const network_end& e : ends_of(first_, &typed_tensor::output)) {
      if (e.tensor == none) return fault("has an output that is constant");
      const tensor_id o = e.tensor;
      if (const auto known = written.find(o); known != written.end()) {
        outputs_.push_back(known->second);
        continue;
      }
      const typed_tensor& end = first_.tensors[o];
      image all{end.size, {}};
      for (tensor_id t = 0; t < net_.tensors.size(); ++t) {
        const box& b = net_.tensors[t].part;
        if (net_.tensors[t].origin == o && net_.tensors[t].output)
          all.parts.push_back({t, b.rows.first, b.columns.first, b.channels.first});
      }
      const list shape = file_shape(e);
      std::int32_t y = in_shape(all, shape);
      if (failed()) return;
      const auto listed = [&](const list& l) { return std::find(l.begin(), l.end(), y) != l.end(); };
      if (listed(inputs_) || listed(outputs_)) y = shaped_anew(y, shape);
      model_.rename(y, name_of(o));
      outputs_.push_back(y);
      written.emplace(o, y);
    }
  }
  /// The shape of an input or output in the file: the given one if images lie in it as they do here. Only opaque operators
  /// use tensors that are no images.
  list file_shape(const network_end& e) {
    const extents& size = first_.tensors[e.tensor].size;
    const bool same = e.shape && typed_tensors::image_of(*e.shape) == size;
    if (!same && (!e.shape || first_.order != element_order::rows_columns_channels)) return dimensions(size);
    list shape;
    for (const std::int64_t n : *e.shape) {
      if (n < 0 || n > std::numeric_limits<std::int32_t>::max()) return fault("has an end of an open shape"), list();
      shape.push_back(static_cast<std::int32_t>(n));
    }
    return shape;
  }
  /// A whole image in a shape of the file.
  std::int32_t in_shape(const image& x, const list& to) {
    const file_value* held = held_alone(x);
    if (held != nullptr && model_.dimensions(held->tensor) == to) return held->tensor;
    const file_value y = assemble(x, whole(x.size));
    if (failed()) return -1;
    return model_.dimensions(y.tensor) == to ? y.tensor : shaped_anew(y.tensor, to);
  }
  /// The same elements in another shape. SQUEEZE leaves one without dimensions.
  std::int32_t shaped_anew(std::int32_t x, const list& to) {
    const std::int32_t y = model_.tensor(to, model_.type(x), (op_ == nullptr ? net_.name : op_->name) + "/shape");
    if (to.empty()) model_.add(kind("SQUEEZE"), {x}, y, {30, {}});
    else model_.add(kind("RESHAPE"), {x, model_.integers(to)}, y, {});
    return y;
  }
  std::string name_of(tensor_id o) const {
    const typed_tensor& end = first_.tensors[o];
    return end.name.empty() ? (end.input ? "input" : "output") + std::to_string(o) : end.name;
  }

  void add_operation(op_id i) {
    op_ = &net_.operations[i];
    number_ = i;
    if (op_->does.what == op_kind::opaque) return copy_operator();
    if (op_->writes.size() != 1 || target(*op_).parts.empty()) return fault("has not one result");
    result_ = target(*op_).parts[0].tensor;
    const box out = computes(net_, *op_);
    for (const image& x : op_->reads)
      for (const placed& p : x.parts)
        if (net_.tensors[p.tensor].role == tensor_role::sum && net_.tensors[p.tensor].element != element::float32)
          return fault("adds to a sum of integers");
    if (quantized() && op_->sum != summation::complete) return fault("makes a part of a sum of integers");
    file_value y = compute(out);
    if (continues_sum(*op_)) y = added(y, assemble(op_->reads.back(), out));
    if (op_->sum == summation::last && op_->does.what == op_kind::mean) y = averaged(y, op_->reads[0].size);
    if ((op_->sum == summation::complete || op_->sum == summation::last) && !fuses()) y = activated(y);
    if (failed()) return;
    for (const placed& p : target(*op_).parts) hold(p.tensor, cut(y, out, box_of(net_, p)));
  }

  file_value compute(const box& out) {
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
      case op_kind::add: return binary(kind("ADD"), 11, out);
      case op_kind::subtract: return binary(kind("SUB"), 28, out);
      case op_kind::multiply: return binary(kind("MUL"), 21, out);
      case op_kind::divide: return binary(kind("DIV"), 29, out);
      case op_kind::minimum: return binary(kind("MINIMUM"), 0, out);
      case op_kind::maximum: return binary(kind("MAXIMUM"), 0, out);
      case op_kind::copy: return copied(out);
      case op_kind::unary: return operand(0, out);
      case op_kind::pad: return pad(out);
      case op_kind::resize_bilinear:
      case op_kind::resize_nearest: return resize(out);
      case op_kind::depth_to_space: return depth_to_space(out);
      case op_kind::reshape: return whole_only(out) ? reshaped(operand(0, out), out.size()) : file_value();
      case op_kind::prelu: return prelu(out);
      case op_kind::softmax: {
        const file_value x = operand(0, out);
        return node(kind("SOFTMAX"), {x.tensor}, x.size, {9, {float_option(0, op_->does.alpha)}});
      }
      case op_kind::read:
      case op_kind::opaque: break;
    }
    fault(std::string("is a ") + to_string(op_->does.what) + ", which no standard operator is");
    return {};
  }

  // Opaque operators -------------------------------------------------------------------------------------------------

  /// An operator as it stands in the file that the first network was read from, of whole tensors, in their shapes there.
  void copy_operator() {
    if (op_->place == none || first_.file.empty()) return fault("is opaque, and no file says what it is");
    if (!foreign_) foreign_ = std::make_unique<foreign_operators>(first_.file);
    std::string why;
    auto copy = foreign_->find(op_->place, why);
    if (!copy) return fault("is opaque, and " + why);
    list inputs, outputs;
    std::size_t k = 0;
    for (const std::int32_t t : copy->inputs) {
      if (t < 0) {
        inputs.push_back(-1);
        continue;
      }
      const auto as = foreign_->tensor(t);
      if (!as || foreign_->is_variable(t)) return fault("is opaque, and reads what cannot be copied");
      if (foreign_->is_constant(t)) {
        inputs.push_back(model_.constant(as->dimensions, as->type, as->name, as->data));
        continue;
      }
      if (k >= op_->reads.size()) return fault("is opaque, and stands otherwise in its file");
      inputs.push_back(in_shape(op_->reads[k], as->dimensions));
      if (failed()) return;
      if (model_.type(inputs.back()) != as->type) return fault("is opaque, and reads a type that typed networks lack");
      ++k;
    }
    for (std::size_t r = 0; r < copy->outputs.size(); ++r) {
      const auto as = foreign_->tensor(copy->outputs[r]);
      if (!as || r >= op_->writes.size() || is_token(net_, op_->writes[r]) || op_->writes[r].parts.size() != 1)
        return fault("is opaque, and writes what cannot be copied");
      outputs.push_back(model_.tensor(as->dimensions, as->type, as->name));
    }
    if (k != op_->reads.size() || outputs.size() != op_->writes.size())
      return fault("is opaque, and stands otherwise in its file");
    model_.add(std::move(copy->code), std::move(inputs), outputs, std::move(copy->options));
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      hold(op_->writes[r].parts[0].tensor, {outputs[r], op_->writes[r].size});
    }
  }

  // Sums -------------------------------------------------------------------------------------------------------------

  file_value added(const file_value& a, const file_value& b) {
    return node(kind("ADD"), {a.tensor, b.tensor}, a.size, {11, {}});
  }
  file_value averaged(const file_value& x, const extents& of) {
    const std::int32_t cells = scalar(static_cast<float>(of.rows * of.columns), {element::float32});
    return node(kind("DIV"), {x.tensor, cells}, x.size, {29, {}});
  }
  file_value mean(const box& out) {
    const file_value x = operand(0, out);
    const bool all = op_->sum == summation::complete;
    if (is_pooled_mean())
      return node(kind("AVERAGE_POOL_2D"), {x.tensor}, {1, 1, x.size.channels},
                  {5,
                   {byte_option(0, valid_pad), word_option(1, 1), word_option(2, 1), word_option(3, x.size.columns),
                    word_option(4, x.size.rows), fused(5)}});
    return node(all ? kind("MEAN") : kind("SUM"), {x.tensor, model_.integers({1, 2})}, {1, 1, x.size.channels},
                {27, {byte_option(0, 1)}});
  }
  file_value sum_of_all(const box& out) {
    std::optional<file_value> sum;
    if (op_->bias) sum = start(out);
    for (const image& x : op_->reads) {
      if (is_token(net_, x)) continue;
      const file_value next = assemble(x, out);
      sum = sum ? added(*sum, next) : next;
    }
    return sum.value_or(file_value());
  }
  /// The bias, or zeros, of all elements of a sum: a constant.
  file_value start(const box& out) {
    if (op_->bias && net_.blobs[op_->bias.of].data.empty())
      return fault("has weights that the model does not hold"), file_value();
    const extents size = out.size();
    std::vector<std::byte> data(4 * static_cast<std::size_t>(size.elements()));
    for (std::int64_t i = 0; op_->bias && i < size.elements(); ++i) {
      const auto from = element_at(net_.blobs[op_->bias.of], op_->bias.outputs.first + i % size.channels, 0, 0, 0);
      std::copy(from.begin(), from.end(), data.begin() + static_cast<std::ptrdiff_t>(4 * i));
    }
    return {model_.constant(dimensions(size), {element::float32}, op_->name, std::move(data)), size};
  }

  // Others -----------------------------------------------------------------------------------------------------------

  bool whole_only(const box& out) {
    if (out != whole(op_->writes[0].size)) fault("computes a part, which the standard operator cannot");
    return !failed();
  }
  file_value dense(const box& out) {
    file_value x = op_->sum == summation::complete ? operand(0, out) : assemble(op_->reads[0], dense_terms());
    if (x.size != extents{1, 1, x.size.elements()}) x = reshaped(x, {1, 1, x.size.elements()});
    list inputs{x.tensor, weights(op_->weights, layout::matrix)};
    if (op_->bias) inputs.push_back(bias());
    return node(kind("FULLY_CONNECTED"), std::move(inputs), out.size(), {8, {fused(0), byte_option(2, 1)}});
  }
  /// Operand k with zeros for the channels that it lacks.
  file_value widened(std::size_t k, const box& out) {
    const coordinate channels = op_->reads[k].size.channels;
    const coordinate lacking = channels == 1 ? 0 : out.channels.last - std::max(channels, out.channels.first);
    if (lacking <= 0) return operand(k, out);
    if (op_->does.what != op_kind::add || lacking == out.channels.size())
      return fault("has an operand with fewer channels"), file_value();
    return padded(operand(k, out), {0, 0, 0}, {0, 0, lacking});
  }
  file_value binary(kind_id k, std::uint8_t tag, const box& out) {
    const file_value a = widened(0, out);
    const option_table options{tag, tag == 0 ? std::vector<option_field>() : std::vector{fused(0)}};
    if (op_->reads.size() == 2) return node(k, {a.tensor, widened(1, out).tensor}, out.size(), options);
    if (!op_->bias) return node(k, {a.tensor, constant(op_->weights, out)}, out.size(), options);
    if (quantized()) return fault("multiplies and adds integers, rounding once"), file_value();
    const file_value y = node(k, {a.tensor, constant(op_->weights, out)}, out.size(), {tag, {}});
    return node(kind("ADD"), {y.tensor, constant(op_->bias, out)}, out.size(), {11, {fused(0)}});
  }
  /// The part of a constant operand that `out` needs: channels are its inputs.
  std::int32_t constant(const slice& s, const box& out) {
    const blob::axes& a = net_.blobs[s.of].size;
    const interval one{0, 1};
    return part_of({s.of, one, a.inputs == 1 ? one : s.inputs}, a.rows == 1 ? one : out.rows,
                   a.columns == 1 ? one : out.columns, layout::image);
  }
  file_value prelu(const box& out) {
    const file_value x = operand(0, out);
    slice s = op_->weights;
    if (net_.blobs[s.of].size.outputs == 1) s.outputs = {0, 1};
    return node(kind("PRELU"), {x.tensor, weights(s, layout::slopes)}, x.size);
  }
  /// A conversion if types or quantization differ.
  file_value copied(const box& out) {
    const file_value x = operand(0, out);
    if (failed()) return {};
    const value_type to = type_of(result_);
    const element from = model_.type(x.tensor).element;
    if (model_.type(x.tensor) == to) return x;
    if (to.element != element::float32 && !to.scales.empty()) return node(kind("QUANTIZE"), {x.tensor}, x.size);
    if (to.element == element::float32 && from != element::float32) return node(kind("DEQUANTIZE"), {x.tensor}, x.size);
    fault("converts between types that no standard operator does");
    return {};
  }
  file_value pad(const box& out) {
    const box in = needed(*op_, 0, out);
    const window& w = op_->does.win;
    const extents before{in.rows.first - out.rows.first + w.pad_rows, in.columns.first - out.columns.first + w.pad_columns,
                         in.channels.first - out.channels.first + w.pad_channels};
    const extents all = out.size(), inner = in.size();
    const extents behind{all.rows - inner.rows - before.rows, all.columns - inner.columns - before.columns,
                         all.channels - inner.channels - before.channels};
    const file_value x = operand(0, out);
    if (op_->does.pad_value == 0) return padded(x, before, behind);
    if (failed() || !quantized()) return padded(x, before, behind, scalar(op_->does.pad_value, {element::float32}));
    const quantization& q = net_.tensors[result_].quant;
    const long stored = std::lround(op_->does.pad_value / (q.scale == 0 ? 1 : q.scale)) + q.zero_point;
    const bool is_signed = net_.tensors[result_].element == element::int8;
    return padded(x, before, behind,
                  is_signed ? scalar(static_cast<std::int8_t>(stored), type_of(result_))
                            : scalar(static_cast<std::uint8_t>(stored), type_of(result_)));
  }
  file_value depth_to_space(const box& out) {
    if (!op_->does.depth_first) return fault("takes channels in an order that the standard operator lacks"), file_value();
    const std::int64_t q = op_->does.block;
    const box in = needed(*op_, 0, out);
    const file_value x = operand(0, out);
    const box made{{in.rows.first * q, in.rows.last * q},
                   {in.columns.first * q, in.columns.last * q},
                   {0, op_->writes[0].size.channels}};
    return cut(node(kind("DEPTH_TO_SPACE"), {x.tensor}, made.size(), {94, {word_option(0, q)}}), made, out);
  }
  /// A block of a resize by whole numbers is a block of the resize of the rows that it needs: its points and fractions are
  /// the same there.
  file_value resize(const box& out) {
    const extents &n = op_->reads[0].size, &m = op_->writes[0].size;
    const bool corners = op_->does.coordinates == resize_coordinates::align_corners;
    const bool centers = op_->does.coordinates == resize_coordinates::half_pixel;
    const bool nearest = op_->does.what == op_kind::resize_nearest;
    const auto standard = corners || centers ? resize_rounding::round_half_up : resize_rounding::floor;
    if (nearest && op_->does.rounding != standard)
      return fault("rounds in a way that the standard operator lacks"), file_value();
    box in = needed(*op_, 0, out), made = out;
    for (const axis a : {axis::rows, axis::columns}) {
      if (along(out, a) == along(whole(m), a)) {
        along(in, a) = along(whole(n), a);
        continue;
      }
      const coordinate rows = along(whole(n), a).last, times = along(whole(m), a).last / rows;
      if (corners || times * rows != along(whole(m), a).last)
        return fault("computes a part of a resize that is not by a whole number"), file_value();
      along(made, a) = {along(in, a).first * times, along(in, a).last * times};
    }
    const file_value x = assemble(op_->reads[0], in);
    const auto to = made.size();
    const std::int32_t size = model_.integers({static_cast<std::int32_t>(to.rows), static_cast<std::int32_t>(to.columns)});
    const auto coordinates = static_cast<flatbuffers::voffset_t>(nearest ? 0 : 2);
    const auto next = static_cast<flatbuffers::voffset_t>(coordinates + 1);
    const option_table options{static_cast<std::uint8_t>(nearest ? 74 : 15),
                               {byte_option(coordinates, corners), byte_option(next, centers)}};
    const kind_id k = nearest ? kind("RESIZE_NEAREST_NEIGHBOR") : kind("RESIZE_BILINEAR");
    return cut(node(k, {x.tensor, size}, to, options), made, out);
  }

  const network& first_;
  std::vector<std::size_t>* ends_;
  list inputs_, outputs_;
  std::unique_ptr<foreign_operators> foreign_;  ///< once an opaque operator is met
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
