// Particulars of single operators of ONNX: their shapes, their names in older sets, and the graph that an If or a loop runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/formats/onnx/call.hpp>
#include <memsched/formats/onnx/literal.hpp>
#include <memsched/formats/onnx/names.hpp>
#include <memsched/formats/onnx/value.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// The branch that an If with a constant condition takes.
inline const onnx::GraphProto* chosen_branch(const call& c) {
  if (c.node.op_type() != "If" || !domain_of(c.node.domain()).empty() || c.inputs.size() != 1) return nullptr;
  const value* condition = c.inputs[0];
  if (!condition || !condition->content || condition->content->values.size() != 1) return nullptr;
  const auto* a = attribute(c.node, condition->content->values[0] != 0 ? "then_branch" : "else_branch");
  return a && a->has_g() ? &a->g() : nullptr;
}

/// Whether a graph that an operator holds has an operator of these types.
inline bool holds_random(const onnx::NodeProto& node, const std::unordered_set<std::string>& random) {
  bool found = false;
  for_each_graph(node, [&](const onnx::GraphProto& graph) {
    for (const auto& inner : graph.node()) found = found || one_of(inner.op_type(), random) || holds_random(inner, random);
  });
  return found;
}

/// An operator of an opset after 17 in terms of 17, as far as shapes go: reductions take their axes as an input as
/// ReduceSum does before, and some attributes that say nothing of a shape are new.
inline onnx::NodeProto adapt(const onnx::NodeProto& node) {
  static const std::unordered_set<std::string> reductions{"ReduceL1",        "ReduceL2",   "ReduceLogSum",
                                                          "ReduceLogSumExp", "ReduceMax",  "ReduceMean",
                                                          "ReduceMin",       "ReduceProd", "ReduceSumSquare"};
  static const std::unordered_set<std::string> shapeless{
      "num_outputs", "antialias", "saturate", "block_size", "output_dtype", "keep_aspect_ratio_policy", "round_mode"};
  onnx::NodeProto copy = node;
  if (one_of(node.op_type(), reductions)) copy.set_op_type("ReduceSum");
  auto& list = *copy.mutable_attribute();
  list.erase(std::remove_if(list.begin(), list.end(), [](const auto& a) { return one_of(a.name(), shapeless); }),
             list.end());
  return copy;
}

/// ONNX 1.12 infers an Einsum's rank only.
inline void infer_einsum(call& c) {
  std::string equation = attribute(c.node, "equation") ? attribute(c.node, "equation")->s() : "";
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  if (equation.find('.') != std::string::npos || c.types.size() != 1) return;  // an ellipsis
  const std::size_t arrow = equation.find("->");
  std::map<char, std::pair<std::int64_t, int>> labels;  // size and number of uses
  std::size_t operand = 0, axis = 0;
  const auto shape = [&] {
    return operand < c.inputs.size() && c.inputs[operand] ? c.inputs[operand]->shape : std::nullopt;
  };
  for (char letter : equation.substr(0, arrow)) {
    if (letter == ',') {
      ++operand;
      axis = 0;
      continue;
    }
    const auto dims = shape();
    if (!dims) return;
    if (axis >= dims->size())
      refuse(c.who + ": the equation has more letters than input " + std::to_string(operand) + " has dimensions");
    auto& [size, uses] = labels.try_emplace(letter, 1, 0).first->second;
    const std::int64_t d = (*dims)[axis++];
    if (size != 1 && d != 1 && size != d) refuse(c.who + ": the sizes of a letter of the equation differ");
    size = size == 1 ? d : size;
    ++uses;
  }
  std::string result = arrow == std::string::npos ? "" : equation.substr(arrow + 2);
  if (arrow == std::string::npos)
    for (const auto& [letter, l] : labels)
      if (l.second == 1) result += letter;
  partial p{c.types[0].type, true, {}};
  for (char letter : result) {
    const auto found = labels.find(letter);
    if (found == labels.end() || p.dims.size() == max_rank) refuse(c.who + ": the equation's result is wrong");
    p.dims.push_back(found->second.first);
  }
  c.types[0] = std::move(p);
}

/// Gives a loop's carried values the shape with which they enter, if they leave the body with the same.
inline void fix_loop_shapes(call& c) {
  if (c.bodies.size() != 1) return;
  const auto& outputs = c.bodies[0].outputs;
  for (std::size_t i = 0; i + 2 < c.inputs.size() && i < c.types.size() && i + 1 < outputs.size(); ++i) {
    const value* initial = c.inputs[i + 2];
    if (!initial || !initial->shape || !outputs[i + 1].shape) continue;
    if (*initial->shape != *outputs[i + 1].shape)
      refuse(c.who + ": the shape of carried value " + std::to_string(i) + " changes from turn to turn");
    c.types[i].ranked = true;
    c.types[i].dims = *initial->shape;
  }
}

/// Types of a Dropout's results that its definition leaves open, as the mask of operator sets below 10: the operand's.
inline void complete_dropout(call& c) {
  if (c.inputs.empty() || !c.inputs[0] || !c.inputs[0]->shape) return;
  for (partial& p : c.types) {
    if (p.fixed()) continue;
    if (p.type == onnx::TensorProto::UNDEFINED) p.type = c.inputs[0]->type;
    p.ranked = true;
    p.dims = *c.inputs[0]->shape;
  }
}

/// Refuses a rearrangement that does not keep the number of elements.
inline void check_element_counts(const call& c) {
  static const std::unordered_set<std::string> rearranging{"Reshape",  "Flatten",   "Squeeze",      "Unsqueeze",
                                                           "Identity", "Transpose", "DepthToSpace", "SpaceToDepth"};
  if (!one_of(c.node.op_type(), rearranging) || !domain_of(c.node.domain()).empty()) return;
  if (c.inputs.empty() || !c.inputs[0] || !c.inputs[0]->shape || c.types.empty() || !c.types[0].fixed()) return;
  constexpr auto limit = static_cast<std::int64_t>(base::max_total);
  if (element_count(*c.inputs[0]->shape, limit) != element_count(c.types[0].dims, limit))
    refuse(c.who + ": the elements of " + to_string(partial{0, true, *c.inputs[0]->shape}) + " do not fit " +
           to_string(c.types[0]));
}

/// Operators whose first output is the first input under another shape or name.
inline bool is_alias(const call& c) {
  static const std::unordered_set<std::string> set{"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"};
  if (!one_of(c.node.op_type(), set) || !domain_of(c.node.domain()).empty()) return false;
  if (c.inputs.empty() || !c.inputs[0] || c.inputs[0]->constant) return false;
  if (c.node.op_type() != "Dropout" || c.inputs.size() < 3 || !c.inputs[2]) return true;
  const auto& training = c.inputs[2]->content;
  return training && training->values.size() == 1 && training->values[0] == 0;
}

/// The result of Shape or Size for an input of known shape; none for other operators.
inline std::vector<literal> shape_as_literal(const call& c) {
  const std::string& op = c.node.op_type();
  if ((op != "Shape" && op != "Size") || c.inputs.empty() || !c.inputs[0] || !c.inputs[0]->shape) return {};
  const dimensions& dims = *c.inputs[0]->shape;
  if (op == "Size") {
    const auto n = element_count(dims, std::int64_t{1} << 53);
    if (!n) return {};
    return {literal{onnx::TensorProto::INT64, {}, {static_cast<double>(*n)}}};
  }
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto bound = [rank](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t from = bound(attribute(c.node, "start", 0));
  const std::int64_t to = std::max(from, bound(attribute(c.node, "end", rank)));
  literal l{onnx::TensorProto::INT64, {to - from}, {}};
  for (std::int64_t i = from; i < to; ++i) l.values.push_back(static_cast<double>(dims[static_cast<std::size_t>(i)]));
  return {std::move(l)};
}

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
