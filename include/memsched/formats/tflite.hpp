// TensorFlow Lite models as graphs. Opt-in: needs the headers of FlatBuffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/formats/model.hpp>
#include <memsched/formats/tflite/sizes.hpp>
#include <memsched/formats/tflite/subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail::tflite {

/// The order constraints of an operator that no tensor shows.
struct effects {
  bool state = false, random = false, custom = false;
  void add(const effects& e) {
    state |= e.state;
    random |= e.random;
    custom |= e.custom;
  }
};

/// Makes the draft of one subgraph; those that it runs are done.
class draft_maker {
 public:
  draft_maker(model_file& m, tensor_sizes& sizes, std::size_t s, const std::vector<effects>& of_subgraphs,
              const std::vector<std::size_t>& graphs, bool pure_custom)
      : m_(m),
        sizes_(sizes),
        s_(s),
        g_(m.subgraphs[s]),
        of_subgraphs_(of_subgraphs),
        graphs_(graphs),
        pure_custom_(pure_custom) {}

  model_graph run() {
    ids_.assign(g_.tensors.size(), none);
    made_.place = "subgraphs[" + std::to_string(s_) + "]";
    made_.path = {static_cast<index_t>(s_)};
    draft_.name = m_.file.text(g_.data, subgraph_fields::name);
    list(g_.inputs, draft_.graph_inputs);
    const adjacency controls = control_predecessors();
    std::vector<op_id> kept(g_.operators.size(), none);
    for (std::size_t i = 0; i < g_.operators.size() && !m_.file.failed(); ++i) {
      if (g_.operators[i].folded) continue;
      kept[i] = static_cast<op_id>(draft_.operators.size());
      for (const index_t before : controls[i]) draft_.after.push(kept[before]);
      add_operator(i);
    }
    list(g_.outputs, draft_.graph_outputs);
    if (g_.loop_condition) list(g_.inputs, draft_.graph_outputs);
    find_needs();
    made_.draft = std::move(draft_);
    return std::move(made_);
  }

  effects found;  ///< of all its operators

 private:
  adjacency control_predecessors() const {
    std::vector<std::pair<index_t, index_t>> pairs;
    for (const auto& [from, to] : g_.edges) pairs.emplace_back(to, from);
    return adjacency::from_pairs(g_.operators.size(), pairs);
  }

  /// Variables are listed when they are met, constants never.
  void list(const std::vector<index_t>& tensors, std::vector<tensor_id>& into) {
    for (index_t t : tensors)
      if (!g_.constant(t)) {
        const tensor_id id = tensor(t);
        if (g_.origins[t] != origin::variable) into.push_back(id);
      }
  }

  tensor_id tensor(index_t t) {
    if (ids_[t] != none) return ids_[t];
    ids_[t] = static_cast<tensor_id>(draft_.tensors.size());
    draft_.tensors.push_back({.size = sizes_.size(s_, t)});
    draft_.tensor_names.push_back(m_.file.text(g_.tensors[t], tensor_fields::name));
    made_.forms.push_back(sizes_.form(s_, t));
    if (g_.origins[t] == origin::variable) {
      draft_.graph_inputs.push_back(ids_[t]);
      draft_.graph_outputs.push_back(ids_[t]);
    }
    return ids_[t];
  }

  void add_operator(std::size_t position) {
    const operator_info& op = g_.operators[position];
    const op_id id = static_cast<op_id>(draft_.operators.size());
    refuse_ethos_u(op);
    effects own{among(stateful, op.kind), among(random, op.kind), op.kind == custom && !pure_custom_};
    for (const std::size_t s : op.runs) {
      own.add(of_subgraphs_[s]);
      made_.calls.push_back({id, graphs_[s]});
    }
    bool acts = own.state || own.random || own.custom;
    for (index_t t : op.inputs)
      if (!g_.constant(t)) {
        draft_.reads.push(tensor(t));
        if (g_.origins[t] != origin::variable) continue;
        if (may_change_variables(op)) draft_.updates.push(tensor(t));
        acts = own.state = true;
      }
    for (index_t t : op.outputs)
      if (!g_.constant(t)) draft_.writes.push(tensor(t));
    if (among(stateful, op.kind) || of_calls_state(op)) run_after(std::exchange(last_stateful_, id), id);
    if (own.random) run_after(std::exchange(last_random_, id), id);
    if (acts) keep_order_with_custom(own.custom, id);
    found.add(own);
    problem_draft::operator_data data;
    if (among(views, op.kind)) share(op);
    else if (among(overwriting, op.kind)) data.overwrites = overwritten(op);
    draft_.reads.close();
    draft_.writes.close();
    draft_.after.close();
    draft_.updates.close();
    draft_.operators.push_back(data);
    draft_.operator_names.push_back(m_.kind_of(op) + "_" + std::to_string(position));
    made_.positions.push_back(static_cast<index_t>(position));
  }

  /// A model that Vela compiled has its order and its places already: its operators read scratch that no operator writes.
  void refuse_ethos_u(const operator_info& op) {
    if (op.kind != custom || m_.kind_of(op) != "ethos-u") return;
    for (const index_t t : op.inputs)
      if (g_.origins[t] == origin::nowhere)
        m_.file.fault(error_code::bad_input, op.data.where.text() + ": reads " + m_.label(g_.tensors[t]) +
                                                 ", the scratch of an Ethos-U: Vela has ordered and placed this model; give "
                                                 "the model that Vela was given");
  }

  /// Whether an operator may change a variable that it reads, and not read it only.
  static bool may_change_variables(const operator_info& op) {
    const bool known = op.kind >= 0 && static_cast<std::size_t>(op.kind) < std::size(builtin_names);
    return !known || op.kind == custom || op.rule != nullptr || among(changing_variables, op.kind);
  }

  bool of_calls_state(const operator_info& op) const {
    return std::any_of(op.runs.begin(), op.runs.end(), [&](std::size_t s) { return of_subgraphs_[s].state; });
  }

  /// A custom operator may do anything: it stays on its side of all operators that act on state which no tensor shows.
  void keep_order_with_custom(bool is_custom, op_id id) {
    if (!is_custom) {
      run_after(last_custom_, id);
      acts_since_custom_.push_back(id);
      return;
    }
    run_after(std::exchange(last_custom_, id), id);
    for (const op_id before : std::exchange(acts_since_custom_, {})) run_after(before, id);
  }

  void run_after(op_id before, op_id op) {
    const auto listed = draft_.after.open();
    if (before != none && before != op && (listed.empty() || listed.back() != before)) draft_.after.push(before);
  }

  /// Makes the output of a view an alias of its input, if that is as large.
  void share(const operator_info& op) {
    const tensor_id out = first_result(op);
    if (out == none || op.inputs.empty() || !is_activation(op.inputs[0])) return;
    const tensor_id in = ids_[op.inputs[0]];
    if (draft_.tensors[in].size == draft_.tensors[out].size) draft_.tensors[out].alias_of = in;
  }

  /// The first activation among the inputs whose elements the operator reads no later than it writes those of its output.
  tensor_id overwritten(const operator_info& op) {
    if (first_result(op) == none) return none;
    // A slice is written into the first operand; the others are no element-wise ones.
    const std::size_t candidates = op.kind == kind("DYNAMIC_UPDATE_SLICE") ? 1 : op.inputs.size();
    for (std::size_t i = 0; i < std::min(candidates, op.inputs.size()); ++i)
      if (is_activation(op.inputs[i]) && sizes_.alike(s_, op.inputs[i], op.outputs[0])) return ids_[op.inputs[i]];
    return none;
  }

  tensor_id first_result(const operator_info& op) const { return op.outputs.empty() ? none : ids_[op.outputs[0]]; }
  bool is_activation(index_t t) const { return !g_.constant(t) && g_.origins[t] != origin::variable; }

  void find_needs() {
    std::vector<index_t> producer(g_.tensors.size(), none);
    for (std::size_t i = 0; i < g_.operators.size(); ++i)
      for (const index_t t : g_.operators[i].outputs) producer[t] = static_cast<index_t>(i);
    std::vector<index_t> last_reader(g_.operators.size(), none);
    for (std::size_t i = 0; i < g_.operators.size(); ++i) {
      for (const index_t t : g_.operators[i].inputs)
        if (const index_t p = producer[t]; p != none && std::exchange(last_reader[p], static_cast<index_t>(i)) != i)
          made_.needs.push(p);
      made_.needs.close();
    }
  }

  model_file& m_;
  tensor_sizes& sizes_;
  std::size_t s_;
  const subgraph_info& g_;
  const std::vector<effects>& of_subgraphs_;
  const std::vector<std::size_t>& graphs_;
  bool pure_custom_;
  std::vector<tensor_id> ids_;  ///< per tensor of the subgraph: its id in the draft
  op_id last_stateful_ = none, last_random_ = none, last_custom_ = none;
  std::vector<op_id> acts_since_custom_;
  model_graph made_;
  problem_draft draft_;
};

/// `sizes` are those of m.
inline result<model_graphs> read_model(model_file& m, tensor_sizes& sizes, const read_options& options) {
  if (!m.read()) return m.file.error();
  sizes.infer();
  const std::vector<std::size_t>& order = m.callers_first;
  std::vector<std::size_t> graphs(m.subgraphs.size(), 0);
  for (std::size_t g = 0; g < order.size(); ++g) graphs[order[g]] = g;
  std::vector<effects> of_subgraphs(m.subgraphs.size());
  model_graphs made(order.size());
  for (std::size_t g = order.size(); g-- > 0 && !m.file.failed();) {
    draft_maker maker(m, sizes, order[g], of_subgraphs, graphs, options.pure_custom);
    made[g] = maker.run();
    of_subgraphs[order[g]] = maker.found;
  }
  if (m.file.failed()) return m.file.error();
  return made;
}

}  // namespace detail::tflite

/// The graphs of a TensorFlow Lite model (a flatbuffer with identifier "TFL3"), their operators in the order of the
/// file; hand the drafts to `make_problem`. O(file) time and memory beside the weights, which are not read; bytes that do
/// not start at an 8-byte boundary are copied first.
///
/// * The first is subgraph 0, the others are those that it runs, directly or not; a subgraph that several operators run
///   is one graph. Signatures are ignored.
/// * Constants are left out: tensors with data in the file (or in an external one), empty ones that no operator writes, tensors
///   computed from constants alone, such as DEQUANTIZE of float16 weights, and inputs of a subgraph for which all
///   operators that run it pass a constant on (in a loop: which the body returns as it came). Operators that compute
///   constants are left out too, unless custom, random, stateful, or named by a control dependency: their results stay
///   for the whole run, as weights do.
/// * A variable (is_variable) lives from start to end: it is a graph input and a graph output. Operators that may change it
///   (recurrent layers, SVDF, custom operators) update it: others read it on their side of that. The order of the file
///   stands among those with hidden state (READ_VARIABLE,
///   ASSIGN_VARIABLE, HASHTABLE_FIND, _IMPORT and _SIZE, CALL_ONCE); among those that draw random numbers; between a
///   custom operator and all of these and other custom ones, unless `options.pure_custom`; and along the metadata
///   `model_control_dependencies`. Rules for the operators of a subgraph hold for the operator that runs it.
/// * A size is shape times element width, packed for elements below a byte; no shape is a scalar. Dimensions that
///   shape_signature leaves open are given for graph inputs in `options.shapes` and followed from there through
///   subgraph 0. If nothing but the batch is open, the first of two or more dimensions, and none is given, the shape
///   beside the signature holds, as it does for runtimes (`assumed_shapes` names such inputs). Others are errors, as are
///   STRING and VARIANT, except on tensors that are left out. A RESOURCE is a handle of 4 bytes.
/// * A model that Vela compiled for an Ethos-U is an error: it has its order and its places.
/// * The output of RESHAPE, SQUEEZE, EXPAND_DIMS and BITCAST is an alias of the first input, if that is an activation
///   of the same size and no variable.
/// * In place, first output over the first activation of its element type and shape (but for leading dimensions of 1, so
///   that it does not broadcast) among the inputs: ADD SUB MUL DIV FLOOR_DIV
///   FLOOR_MOD MAXIMUM MINIMUM POW SQUARED_DIFFERENCE ADD_N ATAN2 LOGICAL_OR LOGICAL_AND LOGICAL_NOT BITWISE_XOR
///   RIGHT_SHIFT RELU RELU_N1_TO_1 RELU_0_TO_1 RELU6 LEAKY_RELU PRELU ELU GELU HARD_SWISH LOGISTIC TANH EXP LOG SIN COS
///   SQRT RSQRT SQUARE ABS NEG SIGN FLOOR CEIL ROUND SOFTMAX; of DYNAMIC_UPDATE_SLICE, over the first input alone.
/// * IF, WHILE, CALL, CALL_ONCE, STABLEHLO_WHILE and STABLEHLO_COMPOSITE run their subgraphs on copies of their inputs.
///   The inputs of a loop's condition live to its end, since the next turn needs them. STABLEHLO_CASE is an error.
///   Workspace of kernels is not in the file, and counts as 0.
/// * Operators are named after kind (custom ones: their code) and position in the file: CONV_2D_3; unknown kinds
///   BUILTIN_N, its number. Tensors have their names of the file. Both may hold any byte.
inline result<model_graphs> read_tflite(std::string_view file, const read_options& options = {}) {
  detail::tflite::model_file m(file);
  detail::tflite::tensor_sizes sizes(m, options.shapes);
  return detail::tflite::read_model(m, sizes, options);
}

/// The graph inputs with an open batch for which `read_tflite` takes the shape that the file holds, one line each. O(file).
inline std::vector<std::string> assumed_shapes(std::string_view file, const read_options& options = {}) {
  detail::tflite::model_file m(file);
  if (!m.read()) return {};
  detail::tflite::tensor_sizes sizes(m, options.shapes);
  sizes.infer();
  return sizes.assumed();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
