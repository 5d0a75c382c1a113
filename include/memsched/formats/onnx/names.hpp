// The names that the operators of an ONNX graph use, and an order in which these can run.
#pragma once

#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include <memsched/base/linkage.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace onnx_detail {

/// Calls f on each graph that an operator holds.
template <class F>
void for_each_graph(const onnx::NodeProto& node, F f) {
  for (const auto& a : node.attribute()) {
    if (a.has_g()) f(a.g());
    for (const auto& g : a.graphs()) f(g);
  }
}

/// A list of names, each once, in order of first appearance.
class name_list {
 public:
  void add(const std::string& name) {
    if (!name.empty() && seen_.insert(name).second) names_.push_back(name);
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::unordered_set<std::string> seen_;
  std::vector<std::string> names_;
};

/// Names that a graph uses and does not define: those of the graphs around it. Nesting is as deep as protobuf parses.
inline void add_captured(const onnx::GraphProto& graph, name_list& list) {
  std::unordered_set<std::string> own;
  for (const auto& x : graph.input()) own.insert(x.name());
  for (const auto& x : graph.initializer()) own.insert(x.name());
  for (const auto& x : graph.sparse_initializer()) own.insert(x.values().name());
  for (const auto& node : graph.node()) own.insert(node.output().begin(), node.output().end());
  name_list used;
  for (const auto& node : graph.node()) {
    for (const auto& name : node.input()) used.add(name);
    for_each_graph(node, [&](const auto& inner) { add_captured(inner, used); });
  }
  for (const auto& x : graph.output()) used.add(x.name());
  for (const auto& name : used.names())
    if (!own.count(name)) list.add(name);
}

inline void add_uses(const onnx::NodeProto& node, name_list& list) {
  for (const auto& name : node.input()) list.add(name);
  for_each_graph(node, [&](const auto& inner) { add_captured(inner, list); });
}

/// The operators in an order that can run, the file's own if that can; empty if they wait for each other.
inline std::optional<std::vector<int>> execution_order(const onnx::GraphProto& graph) {
  std::unordered_map<std::string, int> writer;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const auto& name : graph.node(i).output())
      if (!name.empty()) writer.emplace(name, i);
  const auto count = static_cast<std::size_t>(graph.node_size());
  std::vector<std::vector<int>> next(count);
  std::vector<int> waits(count, 0);
  for (int i = 0; i < graph.node_size(); ++i) {
    name_list uses;
    add_uses(graph.node(i), uses);
    for (const auto& name : uses.names())
      if (const auto found = writer.find(name); found != writer.end()) {
        next[static_cast<std::size_t>(found->second)].push_back(i);
        ++waits[static_cast<std::size_t>(i)];
      }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < graph.node_size(); ++i)
    if (waits[static_cast<std::size_t>(i)] == 0) ready.push(i);
  std::vector<int> order;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int later : next[static_cast<std::size_t>(i)])
      if (--waits[static_cast<std::size_t>(later)] == 0) ready.push(later);
  }
  if (order.size() != count) return std::nullopt;
  return order;
}

}  // namespace onnx_detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
