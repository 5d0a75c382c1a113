// Convolutions, pooling and activations of a TensorFlow Lite model.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/formats/tflite/image_writer.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// Adds operators with windows. Standard ones pad as SAME or VALID say; other pads, such as those of an inner block, whose
/// columns have pad and whose rows have none, are operators of their own.
class window_writer : protected image_writer {
 protected:
  using image_writer::image_writer;

  enum : int { same_pad = 0, valid_pad = 1 };
  /// The rows that a window operator reads, and its pads: by itself, or those that must be added.
  struct placement {
    box in{};
    int padding = valid_pad;
    extents before{0, 0, 0}, behind{0, 0, 0};
    bool complete() const { return before == extents{0, 0, 0} && behind == extents{0, 0, 0}; }
  };

  /// Whether `in` rows give exactly `out` windows, the first of which starts `before` rows before them.
  static bool fits(const window_line& w, coordinate in, coordinate out, coordinate before, coordinate behind, int padding) {
    if (padding == same_pad) {
      const auto pad = pad_before(in, out, w.kernel, w.stride, w.dilation, true);
      return pad && *pad == before;
    }
    return before == 0 && behind == 0 && pad_before(in, out, w.kernel, w.stride, w.dilation, false).has_value();
  }

  placement place_window(const box& out) const {
    const box in = needed(*op_, 0, out);
    placement p{in};
    std::array<coordinate, 2> before{}, behind{};
    std::array<window_line, 2> lines{line_of(op_->does.win, axis::rows), line_of(op_->does.win, axis::columns)};
    const std::array<axis, 2> both{axis::rows, axis::columns};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& [kernel, stride, dilation, pad] = lines[i];
      const interval o = along(out, both[i]), n = along(in, both[i]);
      before[i] = n.first - (o.first * stride - pad);
      behind[i] = (o.last - 1) * stride - pad + (kernel - 1) * dilation + 1 - n.last;
    }
    // A tensor that is there is read whole if no window reaches its last rows, which would cost a slice.
    box longer = in;
    for (const placed& part : op_->reads[0].parts) {
      const box b = box_of(net_, part);
      if (!b.contains(in)) continue;
      for (const axis a : both) along(longer, a).last = along(b, a).last;
    }
    for (const int padding : {valid_pad, same_pad}) {
      std::array<bool, 2> good{};
      for (std::size_t i = 0; i < 2; ++i) {
        const coordinate m = along(out, both[i]).size();
        for (const box* b : {static_cast<const box*>(&longer), &in}) {
          if (good[i] || !fits(lines[i], along(*b, both[i]).size(), m, before[i], behind[i], padding)) continue;
          along(p.in, both[i]) = along(*b, both[i]);
          good[i] = true;
        }
      }
      p.padding = padding;
      if (good[0] && good[1]) return p;
      p.in = in;
    }
    p.padding = valid_pad;
    p.before = {before[0], before[1], 0}, p.behind = {behind[0], behind[1], 0};
    return p;
  }

  // Activations ------------------------------------------------------------------------------------------------------

  /// Whether the operator is a mean that its file calls an average pooling.
  bool is_pooled_mean() const {
    if (op_->does.what != op_kind::mean || op_->sum != summation::complete) return false;
    const window& w = op_->does.win;
    const extents& n = op_->reads[0].size;
    return n.rows * n.columns > 1 && w.kernel_rows == n.rows && w.kernel_columns == n.columns;
  }
  /// Whether the operator of the file applies the activation itself.
  bool fuses() const {
    const op_kind k = op_->does.what;
    const bool can = k == op_kind::convolution || k == op_kind::depthwise || k == op_kind::dense ||
                     k == op_kind::max_pooling || k == op_kind::average_pooling || k == op_kind::add ||
                     k == op_kind::subtract || k == op_kind::multiply || k == op_kind::divide ||
                     k == op_kind::transposed_convolution;
    return (can || is_pooled_mean()) && op_->sum == summation::complete && number_of(op_->does.act) >= 0;
  }
  static int number_of(activation a) {
    switch (a) {
      case activation::identity: return 0;
      case activation::relu: return 1;
      case activation::relu_n1_to_1: return 2;
      case activation::relu6: return 3;
      default: return -1;
    }
  }
  option_field fused(flatbuffers::voffset_t at) const { return byte_option(at, fuses() ? number_of(op_->does.act) : 0); }

  file_value activated(const file_value& x) {
    if (failed() || op_->does.act == activation::identity) return x;
    const bool whole_function = op_->does.what == op_kind::unary;
    if (quantized() && !whole_function && number_of(op_->does.act) < 0)
      return fault("applies a function to integers that are rounded already"), file_value();
    const attributes& d = op_->does;
    const auto single = [&](kind_id k) { return node(k, {x.tensor}, x.size); };
    const auto bounded = [&](kind_id k, const file_value& of, float limit) {
      return node(k, {of.tensor, scalar(limit, {element::float32})}, x.size);
    };
    switch (d.act) {
      case activation::relu: return single(kind("RELU"));
      case activation::relu6: return single(kind("RELU6"));
      case activation::relu_n1_to_1: return single(kind("RELU_N1_TO_1"));
      case activation::relu_0_to_1: return single(kind("RELU_0_TO_1"));
      case activation::leaky: return node(kind("LEAKY_RELU"), {x.tensor}, x.size, {75, {float_option(0, d.alpha)}});
      case activation::elu:
        if (d.alpha == 1) return single(kind("ELU"));
        break;
      case activation::logistic: return single(kind("LOGISTIC"));
      case activation::tanh: return single(kind("TANH"));
      case activation::hard_swish: return single(kind("HARD_SWISH"));
      case activation::gelu: return node(kind("GELU"), {x.tensor}, x.size, {116, {}});
      case activation::exp: return single(kind("EXP"));
      case activation::log: return single(kind("LOG"));
      case activation::square_root: return single(kind("SQRT"));
      case activation::absolute: return single(kind("ABS"));
      case activation::negate: return single(kind("NEG"));
      case activation::clip:
        if (!quantized()) return bounded(kind("MAXIMUM"), bounded(kind("MINIMUM"), x, d.beta), d.alpha);
        break;
      case activation::other: return named(x);
      default: break;
    }
    fault("applies a function that no standard operator has");
    return {};
  }
  file_value named(const file_value& x) {
    for (const kind_id k :
         {kind("RSQRT"), kind("SQUARE"), kind("SIN"), kind("COS"), kind("FLOOR"), kind("CEIL"), kind("ROUND"), kind("SIGN")})
      if (op_->does.function == kind_name(k)) return node(k, {x.tensor}, x.size);
    if (op_->does.function == "GELU_TANH") return node(kind("GELU"), {x.tensor}, x.size, {116, {byte_option(0, 1)}});
    fault("applies a function that no standard operator has");
    return {};
  }

  // Layers -----------------------------------------------------------------------------------------------------------

  /// A bias of integers has the scales of the products that it is added to.
  value_type bias_type(element e, coordinate outputs) const {
    value_type type{e};
    const blob& w = net_.blobs[op_->weights.of];
    const float in = net_.tensors[op_->reads[0].parts[0].tensor].quant.scale;
    const bool one = w.scales.size() <= 1;
    if (e == element::float32 || w.scales.empty()) return type;
    for (coordinate o = 0; o < (one ? 1 : outputs); ++o)
      type.scales.push_back(in * w.scales[static_cast<std::size_t>(one ? 0 : op_->weights.outputs.first + o)]);
    type.zero_points.assign(type.scales.size(), 0);
    return type;
  }
  std::int32_t bias() {
    const slice& s = op_->bias;
    const blob &b = net_.blobs[s.of], &w = net_.blobs[op_->weights.of];
    if (failed() || b.element == element::float32 || !b.scales.empty() || w.scales.empty())
      return weights(s, layout::vector);
    if (b.data.empty()) return fault("has weights that the model does not hold"), -1;
    std::vector<std::byte> data;
    for (coordinate o = s.outputs.first; o < s.outputs.last; ++o) {
      const auto bytes = element_at(b, o, 0, 0, 0);
      data.insert(data.end(), bytes.begin(), bytes.end());
    }
    const coordinate n = s.outputs.size();
    return model_.constant({static_cast<std::int32_t>(n)}, bias_type(b.element, n), b.name, std::move(data));
  }
  std::int32_t bias_of_zeros() {
    const coordinate n = op_->weights.outputs.size();
    const value_type type = bias_type(quantized() ? element::int32 : element::float32, n);
    std::vector<std::byte> zeros(4 * static_cast<std::size_t>(n));
    return model_.constant({static_cast<std::int32_t>(n)}, type, "zeros", std::move(zeros));
  }

  file_value convolution(const box& out) {
    const bool depthwise = op_->does.what == op_kind::depthwise;
    const placement p = place_window(out);
    if (p.in.empty()) return fault("reads nothing but pad"), file_value();
    if (op_->does.groups > 1 && out.channels.size() != op_->writes[0].size.channels)
      return fault("computes a part of its groups"), file_value();
    const coordinate channels = p.in.channels.size();
    if (depthwise && out.channels.size() % channels != 0) return fault("computes a part of its groups"), file_value();
    const file_value x = padded(assemble(op_->reads[0], p.in), p.before, p.behind);
    // The kernel of CONV_2D wants a bias, although the schema does not.
    const list inputs{x.tensor, weights(op_->weights, depthwise ? layout::depthwise : layout::kernel),
                      op_->bias ? bias() : bias_of_zeros()};
    const window& w = op_->does.win;
    option_table options{1, {byte_option(0, p.padding), word_option(1, w.stride_columns), word_option(2, w.stride_rows)}};
    if (depthwise) {
      options.tag = 2;
      options.fields.push_back(word_option(3, out.channels.size() / channels));
    }
    const auto next = static_cast<flatbuffers::voffset_t>(depthwise ? 4 : 3);
    options.fields.push_back(fused(next));
    options.fields.push_back(word_option(static_cast<flatbuffers::voffset_t>(next + 1), w.dilation_columns));
    options.fields.push_back(word_option(static_cast<flatbuffers::voffset_t>(next + 2), w.dilation_rows));
    return node(depthwise ? kind("DEPTHWISE_CONV_2D") : kind("CONV_2D"), inputs, out.size(), std::move(options));
  }

  /// Pads must not be seen: an average divides by the cells inside, a maximum would see zeros. The rows that SAME makes of
  /// those that a block needs, and of some more, have the block's rows among them.
  file_value pooling(const box& out) {
    const bool average = op_->does.what == op_kind::average_pooling;
    const window& w = op_->does.win;
    if (w.dilation_rows != 1 || w.dilation_columns != 1) return fault("pools dilated windows"), file_value();
    placement p = place_window(out);
    if (p.in.empty()) return fault("reads nothing but pad"), file_value();
    if (average && op_->does.count_pad && p.padding == same_pad) p = explicit_pads(out, p);
    box made = out;
    if (!p.complete() && !(average && op_->does.count_pad)) {
      const auto rows = among_same(p, out, axis::rows), columns = among_same(p, out, axis::columns);
      if (!rows || !columns) return fault("pools a block whose pads no standard operator has"), file_value();
      made = {rows->made, columns->made, out.channels};
      p.in.rows = rows->in, p.in.columns = columns->in;
      p.padding = same_pad, p.before = {rows->before, columns->before, 0}, p.behind = {rows->behind, columns->behind, 0};
    }
    const file_value x = padded(assemble(op_->reads[0], p.in), p.before, p.behind);
    const option_table options{5,
                               {byte_option(0, p.padding), word_option(1, w.stride_columns), word_option(2, w.stride_rows),
                                word_option(3, w.kernel_columns), word_option(4, w.kernel_rows), fused(5)}};
    return cut(node(average ? kind("AVERAGE_POOL_2D") : kind("MAX_POOL_2D"), {x.tensor}, made.size(), options), made, out);
  }
  struct larger {
    interval in, made;
    coordinate before, behind;
  };
  /// Rows that a SAME operator reads so that it makes those of `out` among others: more rows of the tensor, or zeros where
  /// no window of `out` reaches. None if there are none.
  std::optional<larger> among_same(const placement& p, const box& out, axis a) const {
    const window_line l = line_of(op_->does.win, a);
    const coordinate before = a == axis::rows ? p.before.rows : p.before.columns;
    const coordinate behind = a == axis::rows ? p.behind.rows : p.behind.columns;
    const interval rows = along(p.in, a), wanted = along(out, a);
    interval there = rows;
    for (const placed& part : op_->reads[0].parts)
      if (const box b = box_of(net_, part); b.contains(p.in)) there = along(b, a);
    for (const bool zeros : {false, true})
      for (coordinate more = 0; more <= 2 * l.stride; ++more)
        for (coordinate front = 0; front <= more; ++front) {
          const interval read{rows.first - front, rows.last + more - front}, real = common(read, there);
          if (real != read &&
              (!zeros || (real.first != read.first && before != 0) || (real.last != read.last && behind != 0)))
            continue;
          const coordinate m = (read.size() + l.stride - 1) / l.stride;
          const coordinate pad = std::max<coordinate>(0, (m - 1) * l.stride + l.kernel - read.size()) / 2;
          const coordinate shift = front - before + pad;
          if (shift < 0 || shift % l.stride != 0 || m - shift / l.stride < wanted.size()) continue;
          const coordinate first = wanted.first - shift / l.stride;
          return larger{real, {first, first + m}, real.first - read.first, read.last - real.last};
        }
    return {};
  }
  /// The same windows with all pads added.
  placement explicit_pads(const box& out, const placement& like) const {
    placement p{needed(*op_, 0, out)};
    p.before = {p.in.rows.first - out.rows.first * op_->does.win.stride_rows + op_->does.win.pad_rows,
                p.in.columns.first - out.columns.first * op_->does.win.stride_columns + op_->does.win.pad_columns, 0};
    const extents reach{(out.rows.size() - 1) * op_->does.win.stride_rows + op_->does.win.kernel_rows,
                        (out.columns.size() - 1) * op_->does.win.stride_columns + op_->does.win.kernel_columns, 0};
    p.behind = {reach.rows - p.before.rows - p.in.rows.size(), reach.columns - p.before.columns - p.in.columns.size(), 0};
    p.padding = valid_pad;
    return like.complete() && p.complete() ? like : p;
  }

  /// VALID makes all that the rows which it reads reach: of that, `out` is cut. The whole one may be SAME.
  file_value transposed(const box& out) {
    const window& w = op_->does.win;
    if (w.dilation_rows != 1 || w.dilation_columns != 1) return fault("is a dilated transposed convolution"), file_value();
    const box in = needed(*op_, 0, out);
    box made = out;
    bool same = true;
    for (const axis a : {axis::rows, axis::columns}) {
      const auto [kernel, stride, dilation, pad] = line_of(w, a);
      const coordinate n = along(in, a).size(), first = along(in, a).first * stride - pad;
      along(made, a) = {first, first + (n - 1) * stride + kernel};
      const auto expected = pad_before(along(out, a).size(), n, kernel, stride, 1, true);
      same = same && expected && *expected == along(out, a).first - first;
      if (!along(made, a).contains(along(out, a)) && !same)
        return fault("computes rows that no row of its operand reaches"), file_value();
    }
    if (same) made = out;
    const file_value x = operand(0, out);
    list shape = dimensions(made.size());
    list inputs{model_.integers(shape), weights(op_->weights, layout::kernel), x.tensor};
    if (op_->bias) inputs.push_back(bias());
    const option_table options{49,
                               {byte_option(0, same ? same_pad : valid_pad), word_option(1, w.stride_columns),
                                word_option(2, w.stride_rows), fused(3)}};
    return cut(node(kind("TRANSPOSE_CONV"), std::move(inputs), made.size(), options), made, out);
  }
};

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
