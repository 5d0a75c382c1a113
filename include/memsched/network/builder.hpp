// A network written down by hand, layer by layer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/error.hpp>
#include <memsched/network/check.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The pad of a window: none; as much as a window of stride s needs to make ceil(n / s) rows of n, an odd row of pad at the
/// end; or `layer::around` on each side.
enum class padding : unsigned char { valid, same, around };

/// A square window layer for `network_builder`. Every member may be left out.
struct layer {
  coordinate channels = 0;  ///< that it writes; 0: as many as it reads (depthwise: times `multiplier`)
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  padding pad = padding::same;
  std::int64_t around = 0;
  std::int64_t groups = 1;
  std::int64_t multiplier = 1;
  activation act = activation::identity;
  bool bias = true;
  std::string name{};
  quantization quant{};  ///< of the result; absent: the builder's default
};

/// Collects layers; `build` checks them. A layer's result is a tensor id; if a layer is at fault, `build` says so, and
/// ids that come of it are `none`. Operators are called "<kind>_<number>" if they have no name.
class network_builder {
 public:
  /// All tensors have this element type, and this quantization if a layer does not say.
  explicit network_builder(std::string name, element e = element::float32, quantization quant = {})
      : element_(e), quant_(quant) {
    net_.name = std::move(name);
  }

  tensor_id input(const extents& size, std::string name = "input") {
    const tensor_id t = tensor(size, std::move(name));
    net_.tensors[t].input = true;
    return t;
  }
  void output(tensor_id t) {
    if (known(t, "output")) net_.tensors[t].output = true;
  }
  const extents& size(tensor_id t) const { return net_.tensors[t].size; }

  tensor_id convolution(tensor_id x, const layer& l) {
    if (!known(x, "convolution")) return none;
    const coordinate channels = l.channels == 0 ? size(x).channels : l.channels;
    return window_layer(op_kind::convolution, x, l, channels, size(x).channels / std::max<std::int64_t>(1, l.groups));
  }
  tensor_id depthwise(tensor_id x, const layer& l) {
    if (!known(x, "depthwise convolution")) return none;
    return window_layer(op_kind::depthwise, x, l, size(x).channels * l.multiplier, 1);
  }
  tensor_id max_pooling(tensor_id x, const layer& l) { return pooling(op_kind::max_pooling, x, l); }
  tensor_id average_pooling(tensor_id x, const layer& l) { return pooling(op_kind::average_pooling, x, l); }

  /// stride times as many rows and columns; pad is that of the convolution which it transposes.
  tensor_id transposed_convolution(tensor_id x, const layer& l) {
    if (!known(x, "transposed convolution")) return none;
    const extents in = size(x);
    const extents out{in.rows * l.stride, in.columns * l.stride, l.channels == 0 ? in.channels : l.channels};
    operation op = start(op_kind::transposed_convolution, l);
    op.does.win = window_of(l, {}, {});
    op.does.win.pad_rows = op.does.win.pad_columns = std::max<std::int64_t>(0, (l.kernel - l.stride) / 2);
    weigh(op, {out.channels, l.kernel, l.kernel, in.channels}, l.bias);
    return add_operation(std::move(op), {x}, out, l.quant);
  }

  tensor_id mean(tensor_id x, std::string name = {}) {
    if (!known(x, "mean")) return none;
    return add_operation(start(op_kind::mean, {.name = std::move(name)}), {x}, {1, 1, size(x).channels});
  }
  tensor_id dense(tensor_id x, coordinate outputs, activation act = activation::identity) {
    if (!known(x, "dense layer")) return none;
    operation op = start(op_kind::dense, {.act = act});
    weigh(op, {outputs, 1, 1, size(x).elements()}, true);
    return add_operation(std::move(op), {x}, {1, 1, outputs});
  }

  tensor_id add(tensor_id a, tensor_id b, activation act = activation::identity, bool in_place = false) {
    return binary(op_kind::add, a, b, act, in_place);
  }
  tensor_id multiply(tensor_id a, tensor_id b, activation act = activation::identity, bool in_place = false) {
    return binary(op_kind::multiply, a, b, act, in_place);
  }
  tensor_id unary(tensor_id x, activation act, bool in_place = false) {
    if (!known(x, "unary")) return none;
    operation op = start(op_kind::unary, {.act = act});
    if (in_place) op.overwrites = x;
    return add_operation(std::move(op), {x}, size(x));
  }
  tensor_id prelu(tensor_id x) {
    if (!known(x, "prelu")) return none;
    operation op = start(op_kind::prelu, {});
    weigh(op, {size(x).channels, 1, 1, 1}, false);
    return add_operation(std::move(op), {x}, size(x));
  }
  tensor_id softmax(tensor_id x) {
    if (!known(x, "softmax")) return none;
    operation op = start(op_kind::softmax, {});
    op.does.alpha = 1;
    return add_operation(std::move(op), {x}, size(x));
  }

  /// The operands side by side: channel by channel.
  tensor_id concat(const std::vector<tensor_id>& from, activation act = activation::identity) {
    operation op = start(op_kind::copy, {.act = act, .name = "concat_" + std::to_string(net_.operations.size())});
    image x;
    for (const tensor_id t : from) {
      if (!known(t, "concatenation")) return none;
      if (x.parts.empty()) x.size = {size(t).rows, size(t).columns, 0};
      if (size(t).rows != x.size.rows || size(t).columns != x.size.columns)
        return fault("a concatenation has parts of " + to_string(x.size) + " and " + to_string(size(t)));
      x.parts.push_back({t, 0, 0, x.size.channels});
      x.size.channels += size(t).channels;
    }
    if (from.empty()) return fault("a concatenation has no part");
    const extents out = x.size;
    op.reads.push_back(std::move(x));
    return write(std::move(op), out, {});
  }

  /// Rows, columns and channels of pad: before and after.
  struct pads {
    std::int64_t above = 0, below = 0, left = 0, right = 0, channels_before = 0, channels_behind = 0;
  };
  tensor_id pad(tensor_id x, const pads& p) {
    if (!known(x, "pad")) return none;
    operation op = start(op_kind::pad, {});
    op.does.win.pad_rows = p.above;
    op.does.win.pad_columns = p.left;
    op.does.win.pad_channels = p.channels_before;
    const extents in = size(x);
    return add_operation(
        std::move(op), {x},
        {in.rows + p.above + p.below, in.columns + p.left + p.right, in.channels + p.channels_before + p.channels_behind});
  }

  tensor_id resize_bilinear(tensor_id x, coordinate rows, coordinate columns,
                            resize_coordinates how = resize_coordinates::half_pixel) {
    return resize(op_kind::resize_bilinear, x, rows, columns, how);
  }
  tensor_id resize_nearest(tensor_id x, coordinate rows, coordinate columns,
                           resize_coordinates how = resize_coordinates::asymmetric) {
    return resize(op_kind::resize_nearest, x, rows, columns, how);
  }
  tensor_id depth_to_space(tensor_id x, std::int64_t block) {
    if (!known(x, "depth to space")) return none;
    const extents in = size(x);
    if (block < 1 || in.channels % (block * block) != 0)
      return fault("depth to space by " + std::to_string(block) + " of " + std::to_string(in.channels) + " channels");
    operation op = start(op_kind::depth_to_space, {});
    op.does.block = block;
    return add_operation(std::move(op), {x}, {in.rows * block, in.columns * block, in.channels / (block * block)});
  }
  /// A view: the result names x's storage.
  tensor_id reshape(tensor_id x, const extents& out) {
    if (!known(x, "reshape")) return none;
    if (out.elements() != size(x).elements()) return fault("a reshape of " + to_string(size(x)) + " to " + to_string(out));
    const tensor_id y = add_operation(start(op_kind::reshape, {}), {x}, out);
    net_.tensors[y].alias_of = x;
    return y;
  }
  /// An unknown operator: only its function's name, its inputs, and the extents of its results are known.
  std::vector<tensor_id> opaque(const std::vector<tensor_id>& from, const std::vector<extents>& results,
                                const std::string& function) {
    operation op = start(op_kind::opaque, {});
    op.does.function = function;
    for (const tensor_id t : from) {
      if (!known(t, "opaque operator")) return std::vector<tensor_id>(results.size(), none);
      op.reads.push_back(image_of(t));
    }
    std::vector<tensor_id> written;
    for (const extents& e : results) {
      written.push_back(tensor(e, op.name + ":" + std::to_string(written.size())));
      op.writes.push_back(image_of(written.back()));
    }
    op.origin = static_cast<op_id>(net_.operations.size());
    net_.operations.push_back(std::move(op));
    return written;
  }

  /// The network, or the first fault.
  result<network> build() const {
    if (!error_.message.empty()) return error_;
    if (graph_error e = check_network(net_); !e.message.empty()) return e;
    return net_;
  }

 private:
  tensor_id tensor(const extents& size, std::string name) {
    const auto t = static_cast<tensor_id>(net_.tensors.size());
    typed_tensor x;
    x.name = std::move(name), x.element = element_, x.size = size, x.quant = quant_, x.origin = t, x.part = whole(size);
    net_.tensors.push_back(std::move(x));
    return t;
  }
  image image_of(tensor_id t) const { return {size(t), {{t, 0, 0, 0}}}; }

  operation start(op_kind k, const layer& l) const {
    operation op;
    op.does.what = k;
    op.does.act = l.act;
    op.does.groups = l.groups;
    op.name = l.name.empty() ? std::string(to_string(k)) + "_" + std::to_string(net_.operations.size()) : l.name;
    std::replace(op.name.begin(), op.name.end(), ' ', '_');
    return op;
  }

  void weigh(operation& op, const blob::axes& size, bool bias) {
    // Weights of this scale, with stored values all over [-127, 127], keep the scale of their factors.
    const float scale = 1 / (73 * std::sqrt(static_cast<float>(size.rows * size.columns * size.inputs)));
    const auto add_blob = [&](const blob::axes& a, const char* what, element e) {
      blob b;
      b.name = op.name + what, b.element = e, b.size = a, b.stride = packed(a);
      if (quant_.scale != 0) b.scales = {scale};
      net_.blobs.push_back(std::move(b));
      return slice{static_cast<index_t>(net_.blobs.size() - 1), {0, a.outputs}, {0, a.inputs}};
    };
    const bool real = element_ == element::float32;
    op.weights = add_blob(size, "/weights", element_);
    if (bias) op.bias = add_blob({size.outputs, 1, 1, 1}, "/bias", real ? element::float32 : element::int32);
  }

  tensor_id add_operation(operation op, const std::vector<tensor_id>& from, const extents& out,
                          std::optional<quantization> quant = {}) {
    for (const tensor_id t : from) op.reads.push_back(image_of(t));
    return write(std::move(op), out, quant);
  }
  tensor_id write(operation op, const extents& out, std::optional<quantization> quant) {
    const tensor_id y = tensor(out, op.name + ":0");
    if (quant && quant->scale != 0) net_.tensors[y].quant = *quant;
    op.writes.push_back(image_of(y));
    op.origin = static_cast<op_id>(net_.operations.size());
    net_.operations.push_back(std::move(op));
    return y;
  }

  static coordinate windows(coordinate in, const layer& l) {
    const coordinate reach = (l.kernel - 1) * l.dilation + 1;
    if (l.pad == padding::same) return (in + l.stride - 1) / l.stride;
    return (in + (l.pad == padding::around ? 2 * l.around : 0) - reach) / l.stride + 1;
  }
  static window window_of(const layer& l, const extents& in, const extents& out) {
    const auto before = [&](coordinate n, coordinate m) {
      if (l.pad != padding::same) return l.pad == padding::around ? l.around : 0;
      return std::max<coordinate>(0, (m - 1) * l.stride + (l.kernel - 1) * l.dilation + 1 - n) / 2;
    };
    window w;
    w.kernel_rows = w.kernel_columns = l.kernel;
    w.stride_rows = w.stride_columns = l.stride;
    w.dilation_rows = w.dilation_columns = l.dilation;
    w.pad_rows = before(in.rows, out.rows), w.pad_columns = before(in.columns, out.columns);
    return w;
  }

  tensor_id window_layer(op_kind k, tensor_id x, const layer& l, coordinate channels, coordinate weight_inputs) {
    if (l.stride < 1 || l.kernel < 1 || l.dilation < 1) return fault("a layer has a kernel, stride or dilation below 1");
    const extents in = size(x), out{windows(in.rows, l), windows(in.columns, l), channels};
    if (out.rows < 1 || out.columns < 1)
      return fault("a window of " + std::to_string(l.kernel) + " does not fit " + to_string(in));
    operation op = start(k, l);
    op.does.win = window_of(l, in, out);
    if (weight_inputs > 0) weigh(op, {channels, l.kernel, l.kernel, weight_inputs}, l.bias);
    return add_operation(std::move(op), {x}, out, l.quant);
  }
  tensor_id pooling(op_kind k, tensor_id x, const layer& l) {
    return known(x, "pooling") ? window_layer(k, x, l, size(x).channels, 0) : none;
  }
  tensor_id binary(op_kind k, tensor_id a, tensor_id b, activation act, bool in_place) {
    if (!known(a, to_string(k)) || !known(b, to_string(k))) return none;
    const extents &x = size(a), &y = size(b);
    const extents out{std::max(x.rows, y.rows), std::max(x.columns, y.columns), std::max(x.channels, y.channels)};
    if (x.rows != y.rows && std::min(x.rows, y.rows) != 1)
      return fault(to_string(x) + " and " + to_string(y) + " have no sum");
    operation op = start(k, {.act = act});
    if (in_place) op.overwrites = a;
    return add_operation(std::move(op), {a, b}, out);
  }
  tensor_id resize(op_kind k, tensor_id x, coordinate rows, coordinate columns, resize_coordinates how) {
    if (!known(x, to_string(k))) return none;
    operation op = start(k, {});
    op.does.coordinates = how;
    op.does.rounding = resize_rounding::floor;
    return add_operation(std::move(op), {x}, {rows, columns, size(x).channels});
  }

  bool known(tensor_id t, const std::string& by) {
    if (t < net_.tensors.size()) return true;
    fault("a " + by + " reads a tensor that does not exist");
    return false;
  }
  tensor_id fault(const std::string& what) {
    if (error_.message.empty()) error_ = {error_code::bad_input, net_.name + ": " + what, {}, {}};
    return none;
  }

  element element_;
  quantization quant_;
  network net_;
  graph_error error_;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
