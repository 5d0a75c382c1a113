// The typed network: operators with their functions, tensors with their parts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/bytes.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/network/box.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The type of a tensor's elements. A token has none and takes no memory: it only says that its writer has run.
enum class element : unsigned char { float32, int8, uint8, int16, int32, int64, float16, float64, boolean, token };

/// Bytes of one element.
constexpr bytes size_of(element e) {
  switch (e) {
    case element::token: return 0;
    case element::int8:
    case element::uint8:
    case element::boolean: return 1;
    case element::int16:
    case element::float16: return 2;
    case element::float32:
    case element::int32: break;
    case element::int64:
    case element::float64: return 8;
  }
  return 4;
}

/// A stored integer q stands for the real number scale * (q - zero_point). Scale 0: the numbers stand for themselves.
struct quantization {
  float scale = 0;
  std::int32_t zero_point = 0;
  bool operator==(const quantization&) const = default;
};

/// Weights of one constant of the model. Axes by meaning, in any order of the file: a convolution has outputs x
/// rows x columns x inputs (inputs of one group); a depthwise one has one input; a dense layer has outputs and inputs;
/// bias, PReLU slopes: outputs only, or one; a constant operand of add or multiply: rows, columns, and its channels as
/// inputs. The element at (o, r, c, i) is number o * stride.outputs + r * stride.rows + c * stride.columns + i *
/// stride.inputs of `data`.
struct blob {
  struct axes {
    std::int64_t outputs = 1, rows = 1, columns = 1, inputs = 1;
    bool operator==(const axes&) const = default;
  };
  std::string name;
  memsched::element element = memsched::element::float32;
  axes size{}, stride{};
  std::vector<float> scales{};              ///< of quantized weights: one for all, or one per output channel
  std::vector<std::int32_t> zero_points{};  ///< likewise; empty: 0
  std::span<const std::byte> data{};        ///< little-endian, of the bytes that `network::holder` owns; empty: unknown
};

/// Strides of weights that are stored in the order outputs, rows, columns, inputs.
constexpr blob::axes packed(const blob::axes& a) {
  return {a.rows * a.columns * a.inputs, a.columns * a.inputs, a.inputs, 1};
}

/// A part of a blob: these output and input channels, whole kernels. `of` is none if the operator has no such weights.
struct slice {
  index_t of = none;
  interval outputs{}, inputs{};
  bool operator==(const slice&) const = default;
  explicit operator bool() const { return of != none; }
};

/// The role of a tensor.
enum class tensor_role : unsigned char {
  value,  ///< it holds elements of a tensor of the model
  sum,    ///< it holds sums that are not complete: no activation, no rounding, maybe no bias
  token,  ///< it holds nothing
};

/// A tensor: an image of one batch, stored row by row, pixel by pixel.
struct typed_tensor {
  std::string name;
  memsched::element element = memsched::element::float32;
  extents size{};
  quantization quant{};
  tensor_role role = tensor_role::value;
  bool input = false;         ///< of the network: no operator writes it, and it lives from the start
  bool output = false;        ///< of the network: it lives to the end
  tensor_id alias_of = none;  ///< the tensor whose storage it names (a reshape that copies nothing)
  /// Provenance: the tensor of the first network of which it holds `part`, in that tensor's coordinates. In a first network
  /// each tensor is its own origin. A sum holds sums for these elements; a token names the result of its writer.
  tensor_id origin = none;
  box part{};

  memsched::bytes bytes() const { return size_of(element) * static_cast<memsched::bytes>(size.elements()); }
};

/// A tensor in an image: its first element stands at this place.
struct placed {
  tensor_id tensor = none;
  coordinate row = 0, column = 0, channel = 0;
  bool operator==(const placed&) const = default;
};

/// An operand or a result of an operator: an image with the tensors that hold its parts. A
/// rewritten operator keeps the coordinates of the operator that it comes from: its images have the same extents, and only
/// some parts of them are there. So windows and pads are those of the first network, and a block needs none of its own.
struct image {
  extents size{};
  std::vector<placed> parts{};
};

/// The function of an operator.
enum class op_kind : unsigned char {
  convolution,             ///< of one operand; `groups` share its channels
  depthwise,               ///< output channel c reads input channel c / multiplier, multiplier = channels out / in
  transposed_convolution,  ///< output row y takes input row i with kernel row k where y = i * stride - pad + k * dilation
  max_pooling,
  average_pooling,  ///< an average divides by the number of cells inside the image (or see `count_pad`)
  mean,             ///< over all rows and columns; if `win.kernel_*` are these, the file calls it an average pooling
  dense,            ///< a product of a matrix and all elements of the operand, in the network's `order`
  /// Of two operands, or of one and a constant (`weights`); if `bias` is there, multiply adds it (batch normalization).
  /// An operand with extent 1 along an axis is repeated along it; with fewer channels, it counts for the first ones only.
  add,
  subtract,
  multiply,
  divide,
  minimum,
  maximum,
  /// Element (r, c, k) of the operand. Concatenation: an operand of several parts. Split: a result of several parts. Slice:
  /// a result that lacks parts. If element type or quantization of operand and result differ, it converts.
  copy,
  pad,  ///< constant: `win.pad_*` before the image; how much after it, the extents of the result say
  resize_bilinear,
  resize_nearest,
  depth_to_space,  ///< `block` x `block` pixels of each pixel's channels
  reshape,         ///< the same elements in the network's `order`, in an image of other extents
  unary,           ///< `act` of each element
  prelu,           ///< x, or slope * x if x < 0; `weights` has the slopes by channel
  softmax,         ///< over channels
  add_sums,        ///< the sum of all operands, which are sums (see `summation`)
  /// Rounding and activation of the sum of its operands, which are sums, or tokens. With a bias, adds that first. `weights`
  /// are those of the convolution, for their scales.
  finish,
  finish_mean,  ///< likewise for a mean: divides by the number of cells, which `win.kernel_*` says
  begin,        ///< writes a sum that starts with the bias, or with 0
  read,         ///< makes its result, a part of a network input, as a camera does line by line
  opaque,       ///< unknown to the library: each result depends on all of all operands
};

/// The share of a sum that one operator makes. Convolutions, depthwise ones excepted, dense layers, means.
/// `operation::reduces` is its range.
enum class summation : unsigned char {
  complete,  ///< all of it: bias, terms, rounding, activation
  partial,   ///< writes the terms of `reduces` (and the bias, if it has one) as a sum
  onto,      ///< the last operand is a sum: writes that and the terms of `reduces`; may overwrite it
  into,      ///< the last operand is a sum: changes it in place, and writes a token
  last,  ///< the last operand is a sum that lacks the terms of `reduces` only: adds these, rounds, applies the activation
};

enum class activation : unsigned char {
  identity,
  relu,
  relu6,
  relu_n1_to_1,
  relu_0_to_1,
  leaky,
  elu,
  logistic,
  tanh,
  hard_swish,
  hard_sigmoid,
  gelu,
  exp,
  log,
  square_root,
  absolute,
  negate,
  clip,   ///< to [alpha, beta]
  other,  ///< one that the library does not know: `function` names it
};

/// The point of the input that a resize finds for a row y of the output: (y + 0.5) * scale - 0.5, y * scale, or y * scale with
/// corners on corners. The extents give the scale, H_in / H_out or (H_in - 1) / (H_out - 1).
enum class resize_coordinates : unsigned char { half_pixel, asymmetric, align_corners };
/// The rounding of that point in a resize to the nearest pixel.
enum class resize_rounding : unsigned char { floor, round_half_up, round_half_down, ceil };

/// The position of a window along an axis. Output row y reads rows y * stride - pad + k * dilation, k < kernel. `pad` is the
/// part before the image; the part after it follows from the extents.
struct window {
  std::int64_t kernel_rows = 1, kernel_columns = 1;
  std::int64_t stride_rows = 1, stride_columns = 1;
  std::int64_t dilation_rows = 1, dilation_columns = 1;
  std::int64_t pad_rows = 0, pad_columns = 0, pad_channels = 0;  ///< the last of `pad` alone
  bool operator==(const window&) const = default;
};

/// The attributes of an operator, apart from its operands and results.
struct attributes {
  op_kind what = op_kind::opaque;
  window win{};
  activation act = activation::identity;
  float alpha = 0;  ///< of leaky and elu; of hard_sigmoid its slope (and beta its offset); softmax: of the exponent
  float beta = 0;
  std::int64_t groups = 1;
  std::int64_t block = 1;   ///< of depth_to_space
  bool depth_first = true;  ///< of depth_to_space: channel = (dy * block + dx) * C + c; else (c * block + dy) * block + dx
  bool count_pad = false;   ///< an average divides by the whole kernel
  float pad_value = 0;      ///< of pad; a quantized tensor's real value
  resize_coordinates coordinates = resize_coordinates::half_pixel;
  resize_rounding rounding = resize_rounding::round_half_down;
  std::string function{};  ///< of opaque and activation::other: equal names mean equal functions
  bool operator==(const attributes&) const = default;
};

/// The function of an opaque operator on elements in the order of the file: result element (i0, i1, i2, i3) is the mean,
/// toward zero, of `cells` elements of the operand, from the sum of i * stride on, `step` apart. Copies have one cell.
struct strided {
  std::array<std::int64_t, 4> extent{1, 1, 1, 1}, stride{};
  std::int64_t cells = 1, step = 0;
  bool operator==(const strided&) const = default;
};

/// An operator.
struct operation {
  std::string name{};
  attributes does{};
  std::vector<image> reads{}, writes{};
  slice weights{}, bias{};
  summation sum = summation::complete;
  /// The range of a partial sum: input channels of a convolution or dense layer (of all elements), rows of
  /// a mean. Empty if `sum` is complete.
  interval reduces{};
  tensor_id overwrites = none;          ///< an operand that gives its place to the first result
  std::vector<op_id> after{};           ///< operators that must run before it, beside the writers of its operands
  memsched::bytes workspace = 0;        ///< held while it runs
  op_id origin = none;                  ///< provenance: the operator of the first network that it does a part of
  index_t place = none;                 ///< of an operator from a file: its number in the file's list
  std::string kind{};                   ///< of an operator from a file: its name there
  std::optional<strided> definition{};  ///< of an opaque operator, if programs can run it all the same
  std::string not_understood{};  ///< of an opaque operator: why, as "weights that an operator computes"; empty: not known
};

/// An input or output of a network, as its file lists it.
struct network_end {
  tensor_id tensor = none;                           ///< of the first network, as origins name it; none: a constant
  std::optional<std::vector<std::int64_t>> shape{};  ///< in the file; none: that of the image
  bool operator==(const network_end&) const = default;
};

/// In which order reshape and dense take the elements of an image, and files store images.
enum class element_order : unsigned char { rows_columns_channels, channels_rows_columns };

/// A network. It is a `memory_graph`: `schedule(net)` works, with positions in `operations` as operators and in `tensors`
/// as tensors. A plain aggregate: after a change call `check_network` (network/check.hpp) before others rely on it.
///
/// In a first network (as an importer or the builder makes it) every image has one part, at place 0, of its own extents
/// (a concatenation or split: several side by side; a slice: a result at its place), and every tensor and operator is its
/// own origin.
struct network {
  std::string name;
  std::vector<typed_tensor> tensors;
  std::vector<operation> operations;  ///< in an order in which they can run
  std::vector<blob> blobs;
  element_order order = element_order::rows_columns_channels;
  std::shared_ptr<const void> holder{};  ///< keeps alive the bytes that blobs and `file` point into
  std::string_view file{};               ///< the model file, from which writers copy opaque operators; empty: none
  /// As the file lists them, one perhaps several times; rewritten networks keep the lists. Those that are in no list
  /// follow, by number: see `ends_of`.
  std::vector<network_end> listed_inputs{}, listed_outputs{};

  // The hooks of graph_traits.
  base::index_range ops() const { return base::index_range(operations.size()); }
  std::vector<tensor_id> inputs(op_id op) const { return listed(operations[op].reads); }
  std::vector<tensor_id> outputs(op_id op) const { return listed(operations[op].writes); }
  bytes size(tensor_id t) const { return tensors[t].bytes(); }
  const std::vector<op_id>& after(op_id op) const { return operations[op].after; }
  bytes workspace(op_id op) const { return operations[op].workspace; }
  bool live_out(tensor_id t) const { return tensors[t].output; }
  tensor_id alias_of(tensor_id t) const { return tensors[t].alias_of == none ? t : tensors[t].alias_of; }
  int overwrites(op_id op) const {
    if (operations[op].overwrites == none) return -1;
    const std::vector<tensor_id> list = inputs(op);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i] == operations[op].overwrites) return static_cast<int>(i);
    return static_cast<int>(list.size());  // no input: `lower` names the fault
  }
  std::string operator_name(op_id op) const { return operations[op].name; }
  std::string tensor_name(tensor_id t) const { return tensors[t].name; }

 private:
  static std::vector<tensor_id> listed(const std::vector<image>& images) {
    std::vector<tensor_id> list;
    for (const image& i : images)
      for (const placed& p : i.parts) list.push_back(p.tensor);
    return list;
  }
};

/// A network without tensors and operators, which a rewrite fills: name, weights and lists of ends are those of `net`.
inline network emptied(const network& net) {
  network out;
  out.name = net.name, out.blobs = net.blobs, out.order = net.order, out.holder = net.holder, out.file = net.file;
  out.listed_inputs = net.listed_inputs, out.listed_outputs = net.listed_outputs;
  return out;
}

/// The inputs or outputs (`is`: typed_tensor::input or ::output) of a network, rewritten or not, by their numbers in the
/// first one: in the order of the file, then those that the file does not list, by number. O(tensors x ends).
MEMSCHED_FUNCTION std::vector<network_end> ends_of(const network& net, bool typed_tensor::*is);

/// Whether an image holds nothing but that something is done.
inline bool is_token(const network& net, const image& x) {
  return std::all_of(x.parts.begin(), x.parts.end(),
                     [&](const placed& p) { return net.tensors[p.tensor].role == tensor_role::token; });
}

/// Where a tensor lies in an image.
inline box box_of(const network& net, const placed& p) {
  const extents& e = net.tensors[p.tensor].size;
  return {{p.row, p.row + e.rows}, {p.column, p.column + e.columns}, {p.channel, p.channel + e.channels}};
}

/// The smallest box of an image that holds its parts.
inline box hull_of(const network& net, const image& i) {
  box all;
  for (const placed& p : i.parts) all = hull(all, box_of(net, p));
  return all;
}

/// The image in whose coordinates the work of an operator is counted: its first result, or, if that is a token, its sum.
inline const image& target(const operation& op) { return op.sum == summation::into ? op.reads.back() : op.writes.front(); }

/// Whether the last operand is a sum that the operator adds to.
inline bool continues_sum(const operation& op) {
  return op.sum == summation::onto || op.sum == summation::into || op.sum == summation::last;
}

/// The number of operands that are data: all but the sum that the operator continues.
inline std::size_t data_operands(const operation& op) { return op.reads.size() - (continues_sum(op) ? 1 : 0); }

/// The blob's element at these places, as bytes. Precondition: the blob has data.
inline std::span<const std::byte> element_at(const blob& b, std::int64_t output, std::int64_t row, std::int64_t column,
                                             std::int64_t input) {
  const std::int64_t at =
      output * b.stride.outputs + row * b.stride.rows + column * b.stride.columns + input * b.stride.inputs;
  const auto width = static_cast<std::size_t>(size_of(b.element));
  return b.data.subspan(static_cast<std::size_t>(at) * width, width);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION std::vector<network_end> ends_of(const network& net, bool typed_tensor::*is) {
  std::vector<tensor_id> there;  // by number, each once
  for (tensor_id t = 0; t < net.tensors.size(); ++t)
    if (net.tensors[t].*is) there.push_back(net.tensors[t].origin == none ? t : net.tensors[t].origin);
  std::sort(there.begin(), there.end());
  there.erase(std::unique(there.begin(), there.end()), there.end());
  std::vector<network_end> ends;
  for (const network_end& e : is == &typed_tensor::input ? net.listed_inputs : net.listed_outputs)
    if (e.tensor == none || std::binary_search(there.begin(), there.end(), e.tensor)) ends.push_back(e);
  const std::size_t listed = ends.size();
  for (const tensor_id t : there)
    if (std::none_of(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(listed),
                     [&](const network_end& e) { return e.tensor == t; }))
      ends.push_back({t, {}});
  return ends;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
