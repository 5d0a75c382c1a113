// The draft of one ONNX graph, made operator after operator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/formats/model.hpp>
#include <memsched/formats/onnx/names.hpp>
#include <memsched/formats/onnx/value.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// The effects of one operator, beside the values it defines.
struct outcome {
  bool alias = false;                   ///< the first output names the storage of the first input
  std::vector<std::size_t> runs{};      ///< graphs that it holds, by place in the list of graphs
  std::vector<std::string> captured{};  ///< names of the graphs around, used in graphs that it holds
};

/// Where a graph stands in a model (see model_graph).
struct location {
  std::string place;
  std::vector<index_t> path;
};

/// Makes the draft of a graph whose values are in `here`. Operators are added in an order that can run.
class draft_maker {
 public:
  draft_maker(const onnx::GraphProto& graph, scope& here, location at) : where(std::move(at)), graph_(graph), here_(here) {
    made_.place = where.place;
    made_.path = where.path;
    made_.draft.name = graph.name();
    kept_.assign(static_cast<std::size_t>(graph.node_size()), none);
    name_list read;
    for (const auto& node : graph.node()) add_uses(node, read);
    for (const auto& x : graph.output()) read.add(x.name());
    read_.insert(read.names().begin(), read.names().end());
  }

  void add_input(const std::string& name, value& v) {
    v.id = add_tensor(name, v, none);
    draft().graph_inputs.push_back(v.id);
  }

  void add_operator(const onnx::NodeProto& node, int position, const outcome& o) {
    name_list reads;
    for (const auto& name : node.input()) reads.add(name);
    for (const auto& name : o.captured) reads.add(name);
    std::vector<tensor_id> writes;
    for (int i = 0; i < node.output_size(); ++i) {
      const std::string& name = node.output(i);
      if (name.empty() || (i > 0 && node.op_type() == "Dropout" && !read_.count(name))) continue;
      value& v = here_.values.at(name);
      if (v.constant) continue;
      const value* original = o.alias && i == 0 ? find(node.input(0)) : nullptr;
      v.id = add_tensor(name, v, original ? original->id : none);
      writes.push_back(v.id);
    }
    std::vector<op_id> after = after_shapes(reads);
    if (writes.empty() && node.output_size() > 0) return leave_out(node, position, std::move(after));
    const auto id = static_cast<op_id>(draft().operators.size());
    kept_[static_cast<std::size_t>(position)] = id;
    for (const auto& name : reads.names())
      if (const value* v = find(name); v && v->id != none) draft().reads.push(v->id);
    for (tensor_id t : writes) draft().writes.push(t);
    for (op_id before : after) draft().after.push(before);
    draft().reads.close();
    draft().writes.close();
    draft().after.close();
    draft().operators.push_back({.overwrites = overwritten(node, o)});
    draft().operator_names.push_back(node.name().empty() ? node.op_type() + "_" + std::to_string(position) : node.name());
    made_.positions.push_back(static_cast<index_t>(position));
    for (const std::size_t g : o.runs) made_.calls.push_back({id, g});
  }

  /// The draft, whose outputs are those of the graph that it makes itself.
  model_graph finish() {
    for (const auto& x : graph_.output())
      if (const value* v = find(x.name()); v && v->id != none) draft().graph_outputs.push_back(v->id);
    find_needs();
    std::sort(made_.eager.begin(), made_.eager.end());
    return std::move(made_);
  }

  const location where;

 private:
  problem_draft& draft() { return made_.draft; }

  /// The value of a name of this graph; none for names of the graphs around.
  const value* find(const std::string& name) const {
    const auto found = here_.values.find(name);
    return found == here_.values.end() ? nullptr : &found->second;
  }

  tensor_id add_tensor(const std::string& name, const value& v, tensor_id alias_of) {
    draft().tensors.push_back({.size = v.size, .alias_of = alias_of});
    draft().tensor_names.push_back(name);
    made_.forms.push_back({type_name(v.type), v.shape});
    return static_cast<tensor_id>(draft().tensors.size() - 1);
  }

  /// Operators after whose outputs those constants stand that are computed from shapes.
  std::vector<op_id> after_shapes(const name_list& reads) {
    std::vector<op_id> after;
    for (const auto& name : reads.names())
      if (const value* v = find(name)) after.insert(after.end(), v->after.begin(), v->after.end());
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    constexpr std::size_t most = std::size_t{1} << 22;
    shape_dependences_ += after.size();
    if (shape_dependences_ > most) refuse("the graph computes with too many shapes", error_code::too_large);
    return after;
  }

  /// An operator that makes weights, or numbers out of shapes.
  void leave_out(const onnx::NodeProto& node, int position, std::vector<op_id> after) {
    const value* in = node.input_size() > 0 ? find(node.input(0)) : nullptr;
    if ((node.op_type() == "Shape" || node.op_type() == "Size") && in && in->id != none) {
      made_.eager.push_back(static_cast<index_t>(position));
      if (in->producer >= 0) after.push_back(kept_[static_cast<std::size_t>(in->producer)]);
    }
    for (const auto& name : node.output())
      if (!name.empty()) here_.values.at(name).after = after;
  }

  /// The first input of an element-wise operator that has the element type (of Cast: the size) and, but for leading
  /// dimensions of 1, the shape of its output, so that it does not broadcast.
  tensor_id overwritten(const onnx::NodeProto& node, const outcome& o) const {
    static const std::unordered_set<std::string> element_wise{
        "Abs",   "Acos",     "Acosh",       "Add",       "And",
        "Asin",  "Asinh",    "Atan",        "Atanh",     "BitShift",
        "Cast",  "Ceil",     "Celu",        "Clip",      "Cos",
        "Cosh",  "Div",      "Elu",         "Erf",       "Exp",
        "Floor", "Gelu",     "HardSigmoid", "HardSwish", "LeakyRelu",
        "Log",   "Max",      "Mean",        "Min",       "Mish",
        "Mod",   "Mul",      "Neg",         "Not",       "Or",
        "PRelu", "Pow",      "Reciprocal",  "Relu",      "Round",
        "Selu",  "Shrink",   "Sigmoid",     "Sign",      "Sin",
        "Sinh",  "Softplus", "Softsign",    "Sqrt",      "Sub",
        "Sum",   "Swish",    "Tan",         "Tanh",      "ThresholdedRelu",
        "Xor"};
    if (o.alias || !one_of(node.op_type(), element_wise) || !(node.domain().empty() || node.domain() == "ai.onnx"))
      return none;
    const value* out = node.output_size() > 0 ? find(node.output(0)) : nullptr;
    if (!out) return none;
    const auto is_alike = [&](const value& v) {
      return v.size == out->size && (v.type == out->type || node.op_type() == "Cast") &&
             std::ranges::equal(form(v), form(*out));
    };
    for (const auto& name : node.input())
      if (const value* v = find(name); v && v->id != none && is_alike(*v)) return v->id;
    return none;
  }
  /// The shape of an activation without leading dimensions of 1.
  static std::span<const std::int64_t> form(const value& v) {
    const auto first = std::find_if(v.shape->begin(), v.shape->end(), [](std::int64_t d) { return d != 1; });
    return std::span(*v.shape).last(static_cast<std::size_t>(v.shape->end() - first));
  }

  void find_needs() {
    std::unordered_map<std::string, index_t> writer;
    for (int i = 0; i < graph_.node_size(); ++i)
      for (const auto& name : graph_.node(i).output())
        if (!name.empty()) writer.emplace(name, static_cast<index_t>(i));
    std::vector<index_t> last_reader(kept_.size(), none);
    for (int i = 0; i < graph_.node_size(); ++i) {
      name_list uses;
      add_uses(graph_.node(i), uses);
      for (const auto& name : uses.names())
        if (const auto found = writer.find(name);
            found != writer.end() &&
            std::exchange(last_reader[found->second], static_cast<index_t>(i)) != static_cast<index_t>(i))
          made_.needs.push(found->second);
      made_.needs.close();
    }
  }

  const onnx::GraphProto& graph_;
  scope& here_;
  std::unordered_set<std::string> read_;
  std::vector<op_id> kept_;  ///< per operator of the file: its id in the draft; none if it is left out
  std::size_t shape_dependences_ = 0;
  model_graph made_;
};

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
