// The difference between two drafts.
#pragma once

#include <algorithm>
#include <string>

#include <memsched/graph/problem.hpp>

namespace support {

/// The first difference, in words; empty where there is none. Lists of names that hold nothing count as absent, and so do
/// lists of overwrites and updates.
inline std::string difference(const memsched::problem_draft& a, const memsched::problem_draft& b) {
  using namespace memsched;
  const auto same_names = [](const auto& x, const auto& y) {
    const auto nothing = [](const auto& names) {
      return std::all_of(names.begin(), names.end(), [](const std::string& n) { return n.empty(); });
    };
    return x == y || (nothing(x) && nothing(y));
  };
  if (a.name != b.name) return "name";
  if (a.graph_inputs != b.graph_inputs) return "graph inputs";
  if (a.graph_outputs != b.graph_outputs) return "graph outputs";
  if (!same_names(a.operator_names, b.operator_names)) return "operator names";
  if (!same_names(a.tensor_names, b.tensor_names)) return "tensor names";
  if (a.operators.size() != b.operators.size()) return "number of operators";
  if (a.tensors.size() != b.tensors.size()) return "number of tensors";
  for (tensor_id t = 0; t < a.tensors.size(); ++t)
    if (a.tensors[t].size != b.tensors[t].size || a.tensors[t].alias_of != b.tensors[t].alias_of)
      return "tensor " + std::to_string(t);
  const auto same = [](const auto& x, const auto& y) { return std::equal(x.begin(), x.end(), y.begin(), y.end()); };
  const auto list = [](const auto& lists, op_id op) { return op < lists.size() ? lists[op] : decltype(lists[op]){}; };
  for (op_id op = 0; op < a.operators.size(); ++op) {
    const problem_draft::operator_data &x = a.operators[op], &y = b.operators[op];
    const std::string who = " of operator " + std::to_string(op);
    if (!same(a.reads[op], b.reads[op])) return "inputs" + who;
    if (!same(a.writes[op], b.writes[op])) return "outputs" + who;
    if (!same(a.after[op], b.after[op])) return "control" + who;
    if (x.workspace != y.workspace) return "workspace" + who;
    if (x.overwrites != y.overwrites) return "input in place" + who;
    if (x.rule != y.rule) return "firing rule" + who;
    if (x.cost != y.cost) return "cost" + who;
    if (x.pure != y.pure) return "pure" + who;
    if (x.scope != y.scope) return "scope" + who;
    if (!same(list(a.updates, op), list(b.updates, op))) return "updates" + who;
    const auto pairs = list(a.overwrites, op), others = list(b.overwrites, op);
    if (!std::equal(pairs.begin(), pairs.end(), others.begin(), others.end(),
                    [](const auto& p, const auto& q) { return p.output == q.output && p.input == q.input; }))
      return "overwrites" + who;
  }
  return {};
}

}  // namespace support
