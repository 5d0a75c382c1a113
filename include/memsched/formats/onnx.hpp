// Reads ONNX files. Opt-in: needs libonnx (1.12) and protobuf, and exceptions, which do not leave.
#pragma once

#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <google/protobuf/stubs/logging.h>

#include <memsched/formats/onnx/infer.hpp>
#include <memsched/formats/onnx/wire.hpp>
#include <memsched/graph/check.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace onnx_detail {

/// Makes the drafts of one model.
class reader {
 public:
  reader(const onnx::ModelProto& model, const read_options& options)
      : graph_(model.graph()), options_(options), graphs_(1), inference_(model, graphs_) {}

  model_graphs run() {
    inference_.open(graph_, top_);
    draft_maker maker(graph_, top_, {});
    add_inputs(maker);
    const auto order = execution_order(graph_);
    if (!order) refuse_cycle();
    for (int position : *order) {
      const auto& node = graph_.node(position);
      maker.add_operator(node, position, inference_.infer(node, position, top_, {}));
    }
    for (const auto& x : graph_.output())
      if (!top_.find(x.name()))
        refuse("graph output " + in_quotes(x.name()) + " is no operator's output, no graph input and no initializer",
               error_code::no_producer);
    graphs_[0] = maker.finish();
    return std::move(graphs_);
  }
  /// The meaning of the names of the model's own graph.
  const scope& names() const { return top_; }

 private:
  void add_inputs(draft_maker& maker) {
    std::unordered_set<std::string> inputs;
    for (const auto& x : graph_.input()) {
      if (const value* v = top_.find(x.name()); v && v->constant) continue;  // an initializer, named here until IR 3
      if (x.name().empty()) refuse("a graph input has no name");
      inputs.insert(x.name());
      const std::string who = "graph input " + in_quotes(x.name());
      partial p = facts(x.type(), who);
      const auto given = options_.shapes.find(x.name());
      if (given != options_.shapes.end()) apply_shape(p, given->second, who);
      else if (!p.fixed()) refuse_open_input(x, p);
      value v;
      if (const auto fixed = options_.values.find(x.name()); fixed != options_.values.end()) {
        v = constant_input(p, fixed->second, who);
      } else {
        inference::make_activation(v, p, who);
        maker.add_input(x.name(), v);
      }
      inference::define(x.name(), std::move(v), "another graph input", top_);
    }
    for (const auto& [name, dims] : options_.shapes)
      if (!inputs.count(name)) refuse("a shape is given for " + in_quotes(name) + ", which is no graph input");
    for (const auto& [name, number] : options_.values)
      if (!inputs.count(name)) refuse("a value is given for " + in_quotes(name) + ", which is no graph input");
  }

  static value constant_input(const partial& p, std::int64_t number, const std::string& who) {
    const auto fitting = fit(p.type, static_cast<double>(number));
    if (element_count(p.dims, 1) != 1 || !fitting)
      refuse("the value " + std::to_string(number) + " given for " + who + " does not fit: its type is " +
             std::to_string(p.type) + ", its shape " + to_string(p));
    return {.type = p.type, .shape = p.dims, .content = literal{p.type, p.dims, {*fitting}}, .constant = true};
  }

  static void apply_shape(partial& p, const dimensions& dims, const std::string& who) {
    const std::string text = "the shape " + to_string(partial{0, true, dims}) + " given for " + who;
    for (std::int64_t d : dims)
      if (d <= 0) refuse(text + " has a dimension that is not positive");
    if (p.ranked && p.dims.size() != dims.size())
      refuse(text + " has " + std::to_string(dims.size()) + " dimensions, the file " + std::to_string(p.dims.size()));
    for (std::size_t i = 0; p.ranked && i < dims.size(); ++i)
      if (p.dims[i] >= 0 && p.dims[i] != dims[i]) refuse(text + " contradicts the file's " + to_string(p));
    p.ranked = true;
    p.dims = dims;
  }

  [[noreturn]] static void refuse_open_input(const onnx::ValueInfoProto& x, const partial& p) {
    std::string shape, example;
    for (std::size_t i = 0; i < p.dims.size(); ++i) {
      const auto& d = x.type().tensor_type().shape().dim(static_cast<int>(i));
      const char* comma = i ? "," : "";
      const std::string fixed = std::to_string(p.dims[i]);
      shape += comma + (p.dims[i] >= 0 ? fixed : d.dim_param().empty() ? "?" : base::one_line(d.dim_param(), 60));
      example += comma + (p.dims[i] >= 0 ? fixed : i == 0 ? "1" : "224");
    }
    if (!p.ranked) example = "1,3,224,224";
    refuse("graph input " + in_quotes(x.name()) + (p.ranked ? " has open dimensions, [" + shape + "]" : " has no shape") +
           ": give them, as in --shape " + base::one_line(x.name(), 120) + "=" + example);
  }

  /// Says which operators wait for each other, in the words of `make_problem`: no shape is known of them.
  [[noreturn]] void refuse_cycle() const {
    problem_draft skeleton;
    std::unordered_map<std::string, tensor_id> ids;
    const auto id = [&](const std::string& name) {
      const auto [at, fresh] = ids.try_emplace(name, static_cast<tensor_id>(skeleton.tensors.size()));
      if (fresh) {
        skeleton.tensors.emplace_back();
        skeleton.tensor_names.push_back(base::one_line(name, 120));
      }
      return at->second;
    };
    std::unordered_set<std::string> written;
    for (const auto& node : graph_.node()) {
      name_list uses, outputs;
      add_uses(node, uses);
      for (const auto& name : node.output()) outputs.add(name);
      for (const auto& name : uses.names()) skeleton.reads.push(id(name));
      for (const auto& name : outputs.names()) skeleton.writes.push(id(name));
      written.insert(outputs.names().begin(), outputs.names().end());
      skeleton.reads.close();
      skeleton.writes.close();
      skeleton.after.close();
      skeleton.operators.emplace_back();
      skeleton.operator_names.push_back(base::one_line(node.name().empty() ? node.op_type() : node.name(), 120));
    }
    for (const auto& [name, t] : ids)
      if (!written.count(name)) skeleton.graph_inputs.push_back(t);
    throw import_failure{make_problem(std::move(skeleton)).error()};
  }

  const onnx::GraphProto& graph_;
  const read_options& options_;
  model_graphs graphs_;
  inference inference_;
  scope top_;
};

/// Parses a file into `model`.
inline void parse(std::string_view file, onnx::ModelProto& model) {
  if (file.empty()) refuse("the file is empty");
  if (file.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    refuse("the file is larger than the 2 GiB that protobuf reads");
  if (!model.ParseFromArray(file.data(), static_cast<int>(file.size())))
    refuse("this is no ONNX file, or not the whole of one: protobuf cannot parse it");
  constexpr std::int64_t newest = 255;
  if (!model.has_ir_version() || model.ir_version() < 1 || model.ir_version() > newest)
    refuse("this is no ONNX file: it states no IR version, or one that does not exist");
  if (!model.has_graph() || (model.graph().node_size() == 0 && model.graph().output_size() == 0))
    refuse("the file holds no graph");
  if (model.opset_import_size() == 0) refuse("the file imports no operator set, or is not whole");
}

/// The result of f, or the error with which it ends.
template <class T, class F>
result<T> guarded(F f) {
  const auto failure = [](std::string message) { return graph_error{error_code::bad_input, std::move(message), {}, {}}; };
  try {
    const google::protobuf::LogSilencer silence;
    return f();
  } catch (const import_failure& e) {
    return e.error;
  } catch (const std::bad_alloc&) {
    return failure("not enough memory for this ONNX file");
  } catch (const std::exception& e) {
    return failure("ONNX: " + base::one_line(e.what()));
  }
}

}  // namespace onnx_detail

/// The graphs of an ONNX model, as activations and operators on them; hand the drafts to `make_problem`.
///
/// file      the bytes of the file
/// options   dimensions for graph inputs that the file leaves open, values for those that are always the same
///
/// * Sizes are elements times bytes of the element type, rounded up for types of 4 bits. Every activation needs a
///   static shape: shapes come from ONNX's own inference functions and from folding the constants, shapes among
///   them, with which models compute shapes; declarations of the file fill gaps and must not contradict.
/// * Weights are left out: initializers, constants, values computed from them and from static shapes alone; so are
///   operators that make nothing else. External data is never opened. The elements of large weights are neither copied nor
///   touched, so that a file may be mapped and larger than protobuf's 2 GiB.
/// * Aliases of their first input: Reshape, Flatten, Squeeze, Unsqueeze, Identity, and Dropout, whose mask is left out
///   if no operator reads it.
/// * `overwrites`: an element-wise operator names its first input that is an activation of the element type (Cast: of as
///   many bytes) and, but for leading dimensions of 1, the shape of its output: no operand that broadcasts.
/// * An operator that holds graphs (If, Loop, Scan) reads the values that they capture and runs them; an If with a condition
///   that is constant runs one alone. Captured values are weights to a graph inside; its results and its formal inputs are
///   not. A loop's carried values must keep their shape.
/// * An operator that needs a number computed from the shape of an activation runs after the producer of that activation.
/// * An operator that this ONNX library does not know needs a declared shape. Functions of the file, sequences, maps,
///   optionals, sparse activations and strings are refused.
/// * Operators are named as in the file, else by type and position ("Relu_3"), and keep the file's order if that
///   can run; tensors are named as in the file.
///
/// Errors: `bad_input` mostly; the fitting code for cycles, missing or double producers and overflow. One line that
/// names operator or tensor and reason. Nothing is thrown or printed. O(size of the file).
inline result<model_graphs> read_onnx(std::string_view file, const read_options& options = {}) {
  return onnx_detail::guarded<model_graphs>([&]() -> result<model_graphs> {
    const std::optional<std::string> bare = onnx_wire::weight_stripper(file).run();
    onnx::ModelProto model;
    onnx_detail::parse(bare ? *bare : file, model);
    return onnx_detail::reader(model, options).run();
  });
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
