// A model of a file: its graphs, which operator runs which, and how they are scheduled from the innermost outwards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/check.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Options for reading a model file.
struct read_options {
  /// Dimensions of graph inputs that the file leaves open, by name.
  std::map<std::string, std::vector<std::int64_t>> shapes{};
  /// ONNX: graph inputs of one element that always have this value, by name. Values that depend on them alone are constant,
  /// and so is the branch of an If that runs.
  std::map<std::string, std::int64_t> values{};
  /// TensorFlow Lite: custom operators keep no state, so that nothing but tensors orders them.
  bool pure_custom = false;
};

/// An operator that runs another graph of its model.
struct graph_call {
  op_id op = none;        ///< of the graph that runs
  std::size_t graph = 0;  ///< that is run
};

/// The type and the dimensions of a tensor as its file states them.
struct tensor_form {
  std::string type{};                                ///< in the words of the format: INT8, FLOAT; empty if unknown
  std::optional<std::vector<std::int64_t>> shape{};  ///< -1 for an open dimension; none if unknown
};

/// One graph of a model. The file lists its operators; the draft holds those that make activations, the others
/// (those computed from constants and shapes alone) are left out; if one of the former needs the result of one of
/// the latter that reads a shape, the draft orders it after the producer of the tensor of that shape.
struct model_graph {
  std::string place;               ///< in the file, for messages: "subgraphs[1]"
  std::vector<index_t> path;       ///< in the file: the subgraph; in ONNX, from outside in, operator and which of its graphs
  problem_draft draft;             ///< workspace of an operator that runs graphs: 0, see `with_workspace`
  std::vector<tensor_form> forms;  ///< per tensor of the draft; empty if the format has none or none are asked for
  std::vector<index_t> positions;  ///< per operator of the draft: its place in the file's list
  std::vector<graph_call> calls;   ///< ascending by operator
  adjacency needs;                 ///< per listed operator: the producers of its operands, each once
  std::vector<index_t> eager;      ///< left out, but read the shape of an activation; ascending
};

/// The first is the model itself; a graph runs only such as stand after it.
using model_graphs = std::vector<model_graph>;

/// An order of one graph of a model.
struct graph_order {
  std::vector<op_id> order;
  bytes peak = 0;         ///< with the orders found for the graphs that it runs
  bytes lower_bound = 0;  ///< for any orders of all of them
};

/// The draft of graph g in which an operator that runs graphs has as workspace the largest peak (or bound) of these:
/// they run one after another, and values that they capture count where they come from.
inline problem_draft with_workspace(const model_graphs& m, std::size_t g, const std::vector<graph_order>& orders,
                                    bytes graph_order::*amount = &graph_order::peak) {
  problem_draft draft = m[g].draft;
  for (const graph_call& call : m[g].calls) {
    bytes& workspace = draft.operators[call.op].workspace;
    workspace = std::max(workspace, orders[call.graph].*amount);
  }
  return draft;
}

/// Whether the bounds of all graphs that graph g runs are their peaks.
inline bool calls_are_proven(const model_graphs& m, std::size_t g, const std::vector<graph_order>& orders) {
  return std::all_of(m[g].calls.begin(), m[g].calls.end(),
                     [&](const graph_call& call) { return orders[call.graph].peak == orders[call.graph].lower_bound; });
}

/// Orders of the graphs from the last to `first`, so that each has the peaks of those that it runs. `schedule` makes of
/// a problem something with order, peak, lower_bound and an optional error (`schedule_result`). If a graph that is
/// run has no proven order, its caller is scheduled once more with bounds in place of peaks: the least that it can take.
template <class Schedule>
result<std::vector<graph_order>> schedule_graphs(const model_graphs& m, std::size_t first, Schedule schedule) {
  std::vector<graph_order> orders(m.size());
  for (std::size_t g = m.size(); g-- > first;) {
    const auto located = [&](graph_error error) {
      if (g > 0) error.message = m[g].place + ": " + error.message;
      return error;
    };
    const auto solve = [&](bytes graph_order::*amount) -> result<graph_order> {
      const result<problem> p = make_problem(with_workspace(m, g, orders, amount));
      if (!p) return located(p.error());
      auto found = schedule(*p);
      if (found.error) return located(*found.error);
      return graph_order{std::move(found.order), found.peak, found.lower_bound};
    };
    result<graph_order> order = solve(&graph_order::peak);
    if (!order) return order.error();
    if (!calls_are_proven(m, g, orders)) {
      const result<graph_order> least = solve(&graph_order::lower_bound);
      if (!least) return least.error();
      order->lower_bound = std::min(order->lower_bound, least->lower_bound);
    }
    orders[g] = std::move(*order);
  }
  return orders;
}

/// Whether `order` lists each operator of g's draft once.
inline bool lists_operators(const model_graph& g, const std::vector<op_id>& order) {
  std::vector<bool> there(g.positions.size(), false);
  for (const op_id op : order) {
    if (op >= there.size() || there[op]) return false;
    there[op] = true;
  }
  return order.size() == there.size();
}

/// All operators that the file lists for g, by place in the list, in an order that holds `order` of the draft. One that
/// is left out and reads an activation stands right after the producer of that, so that it keeps nothing alive; any
/// other stands just before its first reader. O(operators + uses).
inline std::vector<index_t> file_order(const model_graph& g, const std::vector<op_id>& order) {
  const std::size_t n = g.needs.size();
  std::vector<bool> kept(n, false), placed(n, false);
  for (const index_t at : g.positions) kept[at] = true;
  std::vector<index_t> found, path;
  found.reserve(n);
  // Places an operator after the left-out producers of its operands. They form chains of any length: no recursion.
  const auto place = [&](index_t last) {
    path.push_back(last);
    while (!path.empty()) {
      const index_t at = path.back();
      const auto needs = g.needs[at];
      const auto missing =
          std::find_if(needs.begin(), needs.end(), [&](index_t need) { return !kept[need] && !placed[need]; });
      if (missing != needs.end()) {
        path.push_back(*missing);
        continue;
      }
      if (!placed[at]) found.push_back(at);
      placed[at] = true;
      path.pop_back();
    }
  };
  std::vector<std::pair<index_t, index_t>> pairs;  // producer, or n for a graph input, and the left-out reader
  for (const index_t at : g.eager) {
    const auto needs = g.needs[at];
    pairs.emplace_back(needs.empty() ? static_cast<index_t>(n) : needs[0], at);
  }
  const adjacency behind = adjacency::from_pairs(n + 1, pairs);
  for (const index_t at : behind[n]) place(at);
  for (const op_id op : order) {
    place(g.positions[op]);
    for (const index_t at : behind[g.positions[op]]) place(at);
  }
  for (index_t at = 0; at < n; ++at) place(at);
  return found;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
