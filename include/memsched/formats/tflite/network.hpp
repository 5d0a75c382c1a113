// TensorFlow Lite models as typed networks. Opt-in: needs the headers of FlatBuffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/formats/tflite.hpp>
#include <memsched/formats/tflite/operators.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/network/check.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail::tflite {

/// The inputs and outputs that subgraph 0 lists, for a typed network.
class ends_reader {
 public:
  ends_reader(model_file& m, typed_tensors& tensors, const problem_draft& d, layers& to)
      : m_(m), tensors_(tensors), d_(d), to_(to) {}

  /// `ids`: those of the draft, which leaves out constants and lists variables besides.
  std::vector<network_end> read(const std::vector<index_t>& listed, const std::vector<tensor_id>& ids) {
    std::vector<network_end> ends;
    auto next = ids.begin();
    for (const index_t t : listed) {
      if (m_.subgraphs[0].origins[t] == origin::variable) return {};  // no end that a network has
      ends.push_back({});
      if (m_.subgraphs[0].constant(t)) continue;
      const std::string name = m_.file.text(m_.subgraphs[0].tensors[t], tensor_fields::name);
      next = std::find_if(next, ids.end(), [&](tensor_id id) { return d_.tensor_names[id] == name; });
      if (next == ids.end()) return {};
      ends.back() = {*next, tensors_.shape(t)};
      to_.describe(*next++, tensors_.facts(t));  // also if no operator uses it
    }
    return ends;
  }

 private:
  model_file& m_;
  typed_tensors& tensors_;
  const problem_draft& d_;
  layers& to_;
};

/// An order, or why there is none.
struct graph_order_or_fault : graph_order {
  std::optional<graph_error> error{};
};
/// The order of the file, for graphs that set variables up: no other one is possible if all of it is state.
inline graph_order_or_fault as_listed(const problem& p) {
  graph_order_or_fault found;
  for (const op_id i : p.ops()) found.order.push_back(i);
  const auto cost = evaluate(p, found.order);
  if (cost) found.peak = found.lower_bound = cost->peak;
  else found.error = cost.error();
  return found;
}

inline result<network> read_network(std::string file, const read_options& options) {
  const auto holder = std::make_shared<held_file>(held_file{std::move(file)});
  model_file m(holder->bytes);
  tensor_sizes sizes(m, options.shapes);
  result<model_graphs> read = read_model(m, sizes, options);
  if (!read) return read.error();
  model_graph& g = read->front();
  for (const graph_call& call : g.calls)
    if (m.subgraphs[0].operators[g.positions[call.op]].kind != kind("CALL_ONCE"))
      return graph_error{error_code::bad_input,
                         labelled("operator ", call.op, g.draft.operator_names[call.op]) +
                             " runs another subgraph, which no typed network can",
                         {call.op},
                         {}};
  const auto orders = schedule_graphs(*read, 1, as_listed);
  if (!orders) return orders.error();
  g.draft = with_workspace(*read, 0, *orders);
  if (result<problem> p = make_problem(g.draft); !p) return p.error();
  typed_tensors tensors(m, sizes, holder);
  layers to(g.draft);
  for (op_id i = 0; i < g.positions.size(); ++i) {
    const operator_info& op = m.subgraphs[0].operators[g.positions[i]];
    std::size_t k = 0;
    for (const auto* list : {&op.inputs, &op.outputs}) {
      const auto ids = list == &op.inputs ? g.draft.reads[i] : g.draft.writes[i];
      k = 0;
      for (const index_t t : *list)
        if (!m.subgraphs[0].constant(t)) to.describe(ids[k++], tensors.facts(t));
    }
  }
  ends_reader ends(m, tensors, g.draft, to);
  auto listed_inputs = ends.read(m.subgraphs[0].inputs, g.draft.graph_inputs);
  auto listed_outputs = ends.read(m.subgraphs[0].outputs, g.draft.graph_outputs);
  operator_reader reader(m, tensors, to);
  for (op_id i = 0; i < g.positions.size() && !m.file.failed(); ++i) reader.read(i, g.positions[i]);
  if (m.file.failed()) return m.file.error();
  network net = to.finish(holder, element_order::rows_columns_channels);
  net.file = holder->bytes;
  net.listed_inputs = std::move(listed_inputs), net.listed_outputs = std::move(listed_outputs);
  for (op_id i = 0; i < g.positions.size(); ++i) net.operations[i].place = g.positions[i];
  if (graph_error e = check_network(net); !e.message.empty()) return e;
  return net;
}

}  // namespace detail::tflite

/// The typed network of a TensorFlow Lite model: subgraph 0, with the tensors and operators of the first graph that
/// `read_tflite` gives, in its order, under its names, with its sizes. The network keeps the file's bytes, since its
/// weights point into it (only half-precision and quantized weights after a DEQUANTIZE are made anew). O(file).
///
/// * An image is a shape of up to four dimensions, the last ones rows, columns and channels, and of batch 1. A tensor of
///   another shape, of a type that `element` lacks, or with a scale for each channel is a row of bytes, and its readers and
///   writers are opaque. An operator without result (ASSIGN_VARIABLE) writes a token.
/// * Understood: CONV_2D (groups too), DEPTHWISE_CONV_2D, TRANSPOSE_CONV, MAX_POOL_2D, AVERAGE_POOL_2D, FULLY_CONNECTED (of
///   several vectors: as a 1 x 1 convolution), MEAN over rows and columns, ADD SUB MUL DIV MINIMUM MAXIMUM of two
///   activations
///   or of one and a constant after it (before it if they commute), CONCATENATION, SPLIT, SPLIT_V, SLICE and
///   STRIDED_SLICE of step 1 as copies, PAD, PADV2 of floats, RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR, DEPTH_TO_SPACE,
///   RESHAPE, SQUEEZE, EXPAND_DIMS, SOFTMAX, PRELU with slopes by channel, QUANTIZE, DEQUANTIZE, and the element-wise RELU,
///   RELU6, RELU_N1_TO_1, RELU_0_TO_1, LEAKY_RELU, ELU, GELU, LOGISTIC, TANH, HARD_SWISH, EXP, LOG, SQRT, ABS, NEG; RSQRT
///   SQUARE SIN COS FLOOR CEIL ROUND SIGN as functions without a definition.
/// * Everything else is opaque, and so is an operator of these kinds whose options, types, shapes or weights do not suit
///   the kind: weights that an operator computes, integer weights of float layers, fused SIGN_BIT, windows that do
///   not make the extents of the result, parts of a concatenation with scales of their own. Of custom operators MediaPipe's
///   Convolution2DTransposeBias is understood.
/// * Inputs and outputs are listed in the order of the file, with their shapes there.
/// * SAME pads follow from the whole image: the missing rows, halved, the odd row after it.
/// * Weights without bytes (of another file, sparse ones, results of other operators on constants) have `blob::data` empty.
///
/// * CALL_ONCE is opaque; its workspace is the peak of the subgraph that it runs, in the order of the file.
///
/// Errors are those of `read_tflite` and of `make_problem`; besides, a model whose subgraph 0 runs others by IF, WHILE or
/// CALL, scales that are not positive, and weights that lack bytes.
inline result<network> read_tflite_network(std::string file, const read_options& options = {}) {
  return detail::tflite::read_network(std::move(file), options);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
