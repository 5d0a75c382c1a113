// ONNX models with another order of their operators, written on the wire; and the order in which ONNX Runtime runs one.
// Needs nothing but the standard library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/formats/model.hpp>
#include <memsched/formats/onnx/wire.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace onnx_wire {

/// Numbers of the fields that lead to operators.
inline constexpr std::uint64_t model_graph_field = 7, graph_node = 1, node_attribute = 5, attribute_graph = 6,
                               attribute_graphs = 11;

/// The bytes of the graph at a path (see model_graph::path), found in a file whose graphs have their old order.
inline std::optional<record> find_graph(std::string_view bytes, const std::vector<index_t>& path) {
  const auto only = [](const std::vector<record>& list, std::uint64_t field) -> std::optional<record> {
    std::optional<record> found;
    for (const record& r : list) {
      if (r.field != field || r.type != 2) continue;
      if (found) return std::nullopt;  // protobuf would merge the two
      found = r;
    }
    return found;
  };
  const auto model = fields_of(bytes, 0, bytes.size());
  if (!model) return std::nullopt;
  auto graph = only(*model, model_graph_field);
  for (std::size_t step = 0; graph && step + 1 < path.size(); step += 2) {
    const auto of_graph = fields_of(bytes, graph->payload, graph->end);
    if (!of_graph) return std::nullopt;
    index_t nodes = 0, graphs = 0;
    graph.reset();
    for (const record& node : *of_graph) {
      if (node.field != graph_node || node.type != 2 || nodes++ != path[step]) continue;
      const auto of_node = fields_of(bytes, node.payload, node.end);
      if (!of_node) return std::nullopt;
      for (const record& a : *of_node) {
        if (a.field != node_attribute || a.type != 2) continue;
        const auto of_attribute = fields_of(bytes, a.payload, a.end);
        if (!of_attribute) return std::nullopt;
        if (const auto inner = only(*of_attribute, attribute_graph); inner && graphs++ == path[step + 1]) graph = inner;
        for (const record& g : *of_attribute)
          if (g.field == attribute_graphs && g.type == 2 && graphs++ == path[step + 1]) graph = g;
      }
    }
  }
  return graph;
}

/// Puts the operators of a graph in another order: the bytes of each as they are, all other fields where they are
/// between them.
inline bool permute(std::string& bytes, const record& graph, const std::vector<index_t>& order) {
  const auto fields = fields_of(bytes, graph.payload, graph.end);
  if (!fields) return false;
  std::vector<record> nodes;
  for (const record& r : *fields)
    if (r.field == graph_node && r.type == 2) nodes.push_back(r);
  if (nodes.size() != order.size()) return false;
  if (nodes.empty()) return true;
  const std::size_t begin = nodes.front().begin, end = nodes.back().end;  // weights follow, as a rule
  std::string made;
  made.reserve(end - begin);
  std::size_t next = 0;
  for (const record& r : *fields) {
    if (r.begin < begin || r.end > end) continue;
    const record& from = r.field == graph_node && r.type == 2 ? nodes[order[next++]] : r;
    made.append(bytes, from.begin, from.end - from.begin);
  }
  bytes.replace(begin, made.size(), made);
  return true;
}

}  // namespace onnx_wire

/// An ONNX file with other orders of its operators.
///
/// orders    per graph of `graphs`, which `read_onnx` made of this file: operators of its draft; empty: as it was
///
/// Operators move as they stand in the bytes, unknown fields included; the length and all else stay. Refused: files in
/// which protobuf would merge two graphs, or with groups. External data are found from the folder of the file: the
/// result belongs there. O(file), and O(operators of the graphs around) for each graph that an operator holds.
inline result<std::string> write_onnx(std::string_view file, const model_graphs& graphs,
                                      const std::vector<std::vector<op_id>>& orders) {
  std::string made(file);
  // Graphs inside come last in the list. They keep their length, so that those around are found in their old order.
  for (std::size_t g = std::min(graphs.size(), orders.size()); g-- > 0;) {
    if (orders[g].empty()) continue;
    if (!lists_operators(graphs[g], orders[g]))
      return graph_error{error_code::bad_order, graphs[g].place + ": the order does not list each operator once", {}, {}};
    const std::vector<index_t> order = file_order(graphs[g], orders[g]);
    if (std::is_sorted(order.begin(), order.end())) continue;
    const auto graph = onnx_wire::find_graph(made, graphs[g].path);
    if (!graph || !onnx_wire::permute(made, *graph, order))
      return graph_error{
          error_code::bad_input, graphs[g].place + ": its operators cannot be told apart in the file", {}, {}};
  }
  return made;
}

/// The order in which ONNX Runtime (1.30, default settings, one thread) runs the operators of a graph: depth first from
/// those with results that no operator reads, the last of them in the file first, and from an operator to those before it by
/// decreasing place in the file. O(operators + uses log uses).
inline std::vector<op_id> onnxruntime_order(const problem& p) {
  const std::size_t n = p.ops().size();
  std::vector<bool> read(n, false), seen(n, false);
  for (const op_id op : p.ops())
    for (const op_id before : p.predecessors(op)) read[before] = true;
  std::vector<std::pair<op_id, bool>> stack;  // whether all before it have run
  for (const op_id op : p.ops())
    if (!read[op]) stack.emplace_back(op, false);
  std::vector<op_id> order;
  while (!stack.empty()) {
    const auto [op, done] = stack.back();
    stack.pop_back();
    if (done) order.push_back(op);
    if (seen[op]) continue;
    seen[op] = true;
    stack.emplace_back(op, true);
    const auto preds = p.predecessors(op);
    std::vector<op_id> before(preds.begin(), preds.end());
    std::sort(before.begin(), before.end());
    for (const op_id b : before)
      if (!seen[b]) stack.emplace_back(b, false);
  }
  return order;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
