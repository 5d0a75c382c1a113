// ONNX models as typed networks. Opt-in: needs the same libraries as memsched/formats/onnx.hpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <memsched/formats/onnx.hpp>
#include <memsched/formats/onnx/foreign.hpp>
#include <memsched/formats/onnx/operators.hpp>
#include <memsched/network/check.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace onnx_detail {

/// The inputs or outputs that a graph lists, with the values that a network has of them.
template <class List>
std::vector<network_end> listed_ends(const List& list, const std::unordered_map<std::string, value>& values, bool inputs) {
  std::vector<network_end> ends;
  for (const auto& x : list) {
    const auto v = values.find(x.name());
    const bool there = v != values.end() && v->second.id != none;
    if (inputs && !there) continue;  // an initializer, or an input that always has one value
    ends.push_back(there ? network_end{v->second.id, v->second.shape} : network_end{});
  }
  return ends;
}

inline result<network> read_network(std::string_view file, const read_options& options) {
  const auto held = std::make_shared<held_model>();
  parse(file, held->proto);
  reader graphs(held->proto, options);
  const model_graphs read = graphs.run();
  const model_graph& g = read.front();
  if (!g.calls.empty())
    return graph_error{error_code::bad_input,
                       detail::labelled("operator ", g.calls[0].op, g.draft.operator_names[g.calls[0].op]) +
                           " runs another graph, which no typed network can",
                       {g.calls[0].op},
                       {}};
  if (memsched::result<problem> p = make_problem(g.draft); !p) return p.error();
  detail::layers to(g.draft);
  for (const auto& [name, v] : graphs.names().values)
    if (v.id != none) to.describe(v.id, {.element = element_of(v.type), .size = image_of(*v.shape)});
  weight_reader weights(held);
  operator_reader operators(held->proto, graphs.names(), weights, to);
  for (op_id i = 0; i < g.positions.size(); ++i) operators.read(i, static_cast<int>(g.positions[i]));
  network net = to.finish(held, element_order::channels_rows_columns);
  keep_opaque(*held, graphs.names().values, g.positions, net);
  net.listed_inputs = listed_ends(held->proto.graph().input(), graphs.names().values, true);
  net.listed_outputs = listed_ends(held->proto.graph().output(), graphs.names().values, false);
  if (graph_error e = check_network(net); !e.message.empty()) return e;
  return net;
}

}  // namespace onnx_detail

/// The typed network of an ONNX model: its own graph, with the tensors and operators of the first graph that `read_onnx`
/// gives, in its order, under its names, with its sizes. The network keeps the parsed model, since its weights point into it
/// (halves, lists of typed data, and the factors of batch normalizations are made anew). O(file).
///
/// * An image is a shape of batch 1: batch, channels, rows and columns; batch, channels, columns; batch and channels; or
///   channels alone. A tensor of another shape or of a type that `element` lacks is a row of bytes, and its readers and
///   writers are opaque.
/// * Understood: Conv and ConvTranspose of one or two spatial dimensions, MaxPool, AveragePool, GlobalAveragePool,
///   GlobalMaxPool, ReduceMean over rows and columns, Gemm and MatMul of one vector, BatchNormalization, Add Sub Mul Div Min
///   Max Sum of two activations or of one and a constant after it (before it if they commute), Concat, Split, Slice of
///   step 1, Pad with a constant, Resize and Upsample (nearest, linear), DepthToSpace, Softmax over channels, PRelu with
///   slopes by channel, Clip, Relu, LeakyRelu, Elu, Sigmoid, HardSigmoid, HardSwish, Gelu, Tanh, Exp, Log, Sqrt, Abs, Neg;
///   Reshape, Flatten, Squeeze, Unsqueeze, Identity and Dropout, which name their operand again; as functions without a
///   definition Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Floor Mish Reciprocal Round Sign Sin Sinh Softplus
///   Softsign Tan.
/// * Inputs and outputs are listed in the order of the file, with their shapes there.
/// * Everything else is opaque, quantized operators among it, and so is an operator of these kinds whose attributes, types,
///   shapes or weights do not suit the kind: computed weights, transposed convolutions of groups, scales of a
///   Resize that are not those of its extents.
/// * Weights without bytes (external data, values computed from constants and not followed) have `blob::data` empty.
///
/// Errors are those of `read_onnx` and of `make_problem`; besides, a model whose graph runs others (If, Loop, Scan), and
/// weights that lack bytes.
inline result<network> read_onnx_network(std::string_view file, const read_options& options = {}) {
  return onnx_detail::guarded<network>([&] { return onnx_detail::read_network(file, options); });
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
