// Pictures of graphs in Graphviz's language. The standard library alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/structure/hierarchy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The label of a node in a picture.
using node_label = base::function_ref<std::string(node_id)>;

namespace detail {

/// Any text as a quoted DOT string: escapes characters that would end or format it, other control characters become spaces.
inline std::string dot_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\', quoted += c;
    else if (c == '\n') quoted += "\\n";
    else quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return quoted + '"';
}

inline std::string dot_open(std::string_view name) {
  return "digraph " + dot_quoted(name) + " {\n  rankdir=TB;\n  node [shape=box, fontsize=10];\n";
}

/// The end, with a legend below the picture; frames would inherit one that is set before them.
inline std::string dot_close(std::string_view legend) {
  return "  label=" + dot_quoted(legend) + ";\n  labelloc=b;\n  fontsize=11;\n}\n";
}

/// Explains the nodes of a schedule graph; `box` names the meaning of a box.
inline std::string dot_legend(std::string_view box) {
  return "A box is " + std::string(box) +
         ".\npeak: how many bytes more than before it are in memory while it runs; impact: how many more after it.\n"
         "A dashed ellipse frees a tensor that several operators read, once all that lead to it have run.";
}

inline std::string dot_node(char kind, index_t i, std::string_view label, std::string_view attributes = {}) {
  return "  " + std::string(1, kind) + std::to_string(i) + " [label=" + dot_quoted(label) + std::string(attributes) + "];\n";
}

inline std::string dot_edge(char from_kind, index_t from, char to_kind, index_t to) {
  return "  " + std::string(1, from_kind) + std::to_string(from) + " -> " + std::string(1, to_kind) + std::to_string(to) +
         ";\n";
}

/// Additions to the label, in front, and to the attributes of a node.
struct dot_mark {
  std::string label{};
  std::string_view attributes{};
};
using dot_marks = function_ref<dot_mark(index_t)>;

inline constexpr const char* problem_legend =
    "A box is an operator, an ellipse a tensor with its bytes.\nA dashed edge leads to another name of the same bytes, a "
    "dotted one to an operator that must run later.";

inline std::string problem_dot(const problem& p, std::string_view name, std::string_view legend, dot_marks mark_op,
                               dot_marks mark_tensor) {
  std::string text = dot_open(name);
  for (op_id op : p.ops()) {
    const dot_mark mark = mark_op(op);
    text += dot_node('o', op, mark.label + p.operator_name(op), mark.attributes);
  }
  for (tensor_id t : p.tensors()) {
    const dot_mark mark = mark_tensor(t);
    text += dot_node('t', t, mark.label + p.tensor_name(t) + "\n" + std::to_string(p.size(t)),
                     ", shape=ellipse" + std::string(mark.attributes));
    if (p.alias_of(t) != t)
      text += "  t" + std::to_string(p.alias_of(t)) + " -> t" + std::to_string(t) + " [style=dashed];\n";
  }
  for (op_id op : p.ops()) {
    for (tensor_id t : p.inputs(op)) text += dot_edge('t', t, 'o', op);
    for (tensor_id t : p.outputs(op)) text += dot_edge('o', op, 't', t);
    for (op_id before : p.after(op))
      text += "  o" + std::to_string(before) + " -> o" + std::to_string(op) + " [style=dotted];\n";
  }
  return text + dot_close(legend);
}

/// Releases as dashed circles, and all edges.
inline std::string dot_edges(const schedule_graph& g) {
  std::string text;
  for (node_id r = static_cast<node_id>(g.active); r < g.size(); ++r)
    text += dot_node('n', r, std::to_string(g.cost[r].impact), ", shape=ellipse, style=dashed");
  for (node_id v = 0; v < g.size(); ++v)
    for (node_id u : g.preds[v]) text += dot_edge('n', u, 'n', v);
  return text;
}

}  // namespace detail

/// Operators as boxes, tensors as ellipses with their bytes; dashed edges for names of another tensor's storage and
/// dotted ones for control.
inline std::string to_dot(const problem& p, std::string_view name = "problem") {
  const auto plain = [](index_t) { return detail::dot_mark{}; };
  return detail::problem_dot(p, name, detail::problem_legend, plain, plain);
}

/// The same with the peak of an order: each operator by its place in the order, counted from 1; the operator at the peak in
/// red, and the tensors in memory there in yellow. `e` is the order's `evaluate`.
inline std::string to_dot(const problem& p, std::span<const op_id> order, const evaluation& e,
                          std::string_view name = "problem") {
  std::vector<std::size_t> place(p.ops().size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const auto op = [&](op_id v) {
    return detail::dot_mark{std::to_string(place[v] + 1) + ": ",
                            place[v] == e.peak_step ? ", style=filled, fillcolor=\"#f2b8b0\"" : ""};
  };
  const auto tensor = [&](tensor_id t) {
    const bool live = std::binary_search(e.live_at_peak.begin(), e.live_at_peak.end(), p.storage(t));
    return detail::dot_mark{"", live ? ", style=filled, fillcolor=\"#f7e3a1\"" : ""};
  };
  const std::string peak = "\nThe peak is " + std::to_string(e.peak) +
                           " bytes: red is the operator that runs then, yellow are the tensors in memory then. Operators "
                           "are numbered as they run.";
  return detail::problem_dot(p, name, detail::problem_legend + peak, op, tensor);
}

/// Active nodes as boxes with their peak and impact, releases as dashed ellipses with the bytes they free.
inline std::string to_dot(const schedule_graph& g, node_label label, std::string_view name = "schedule graph") {
  std::string text = detail::dot_open(name);
  for (node_id v = 0; v < g.active; ++v)
    text += detail::dot_node(
        'n', v, label(v) + "\npeak " + std::to_string(g.cost[v].peak) + ", impact " + std::to_string(g.cost[v].impact));
  return text + detail::dot_edges(g) + detail::dot_close(detail::dot_legend("an operator"));
}

/// Sequences as boxes that list their nodes, groups as frames around them. `label` is asked for nodes of the graph that
/// was hierarchized.
inline std::string to_dot(const structure::hierarchical_graph& h, node_label label,
                          std::string_view name = "hierarchical graph") {
  std::string text = detail::dot_open(name);
  const auto sequence = [&](node_id i) {
    std::string lines;
    for (node_id v : h.sequences[i]) lines += label(v) + "\n";
    lines += "peak " + std::to_string(h.graph.cost[i].peak) + ", impact " + std::to_string(h.graph.cost[i].impact);
    return detail::dot_node('n', i, lines);
  };
  for (index_t group = 0; group < h.groups.size(); ++group) {
    text += "  subgraph cluster_" + std::to_string(group) + " {\n  label=\"group " + std::to_string(group) + "\";\n";
    for (node_id i : h.groups[group]) text += sequence(i);
    text += "  }\n";
  }
  for (node_id i = 0; i < h.graph.active; ++i)
    if (h.group[i] == none) text += sequence(i);
  return text + detail::dot_edges(h.graph) +
         detail::dot_close(detail::dot_legend("a sequence of operators that run in a row, a frame a group of sequences"));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
