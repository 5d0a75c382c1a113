// The layout that TensorFlow Lite Micro gives a model in its arena: the judge of orders and of offsets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/allocation/buffers.hpp>
#include <memsched/formats/tflite/sizes.hpp>
#include <memsched/formats/tflite/subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// A tensor that lies in the arena's head, at the clock of TensorFlow Lite Micro: operator i of a subgraph runs at the
/// time at which it starts plus i, from 1. Never created or used: -1.
struct micro_buffer {
  std::size_t subgraph = 0;
  index_t tensor = 0;
  bytes size = 0;                         ///< rounded up to 16
  std::int64_t created = -1, used = -1;   ///< both inclusive
  std::int64_t offset = runtime_decides;  ///< fixed by a plan
};

/// Tensors of all subgraphs that the runtime places. A subgraph runs within the operator that runs it, and time goes on
/// meanwhile. The file is read once, for any number of orders.
class micro_buffers {
 public:
  micro_buffers(model_file& m, tensor_sizes& sizes) : m_(m), of_(m.subgraphs.size()) {
    for (const std::size_t s : m_.callers_first) of_[s].resize(m_.subgraphs[s].tensors.size());
    for (std::size_t s = 0; s < of_.size(); ++s)
      for (index_t t = 0; t < of_[s].size() && !m_.file.failed(); ++t) {
        if (!placed(s, t)) continue;
        const bytes size = round_up(sizes.size(s, t), 16);
        if (size > 0) list_.push_back({s, t, size, -1, -1, runtime_decides});
      }
  }

  /// The tensors with their lifetimes. `order` lists the operators of subgraph 0 by position; empty: as in the file.
  /// O(operators that run + tensors).
  std::vector<micro_buffer> run(const std::vector<index_t>& order) {
    for (auto& lifetimes : of_) lifetimes.assign(lifetimes.size(), {});
    clock_ = 0, steps_ = 0;
    mark(0, order);
    std::vector<micro_buffer> list = list_;
    for (micro_buffer& b : list) {
      b.created = of_[b.subgraph][b.tensor].created;
      b.used = of_[b.subgraph][b.tensor].used;
    }
    return list;
  }

 private:
  struct lifetime {
    std::int64_t created = -1, used = -1;
  };

  /// Tensors with data in the file are not placed in the head, nor are variables.
  bool placed(std::size_t s, index_t t) {
    const subgraph_info& g = m_.subgraphs[s];
    const table& data = g.tensors[t];
    return g.origins[t] != origin::variable && !m_.holds_data(data);
  }

  void create(std::size_t s, index_t t) {
    if (of_[s][t].created < 0) of_[s][t].created = clock_;
  }
  void use(std::size_t s, index_t t) { of_[s][t].used = clock_; }

  void mark(std::size_t s, const std::vector<index_t>& order) {
    const subgraph_info& g = m_.subgraphs[s];
    for (const index_t t : g.inputs) create(s, t);
    for (std::size_t i = 0; i < g.operators.size(); ++i) {
      const operator_info& op = g.operators[s == 0 && !order.empty() ? order[i] : i];
      ++clock_;
      for (const index_t t : op.outputs) create(s, t);
      // A subgraph that is run again keeps its first marks, and time goes on all the same.
      for (const std::size_t inner : op.runs)
        if (steps_ < most_steps) mark(inner, order);
      steps_ += 1;
      for (const index_t t : op.inputs) use(s, t);
      for (const index_t t : op.outputs) use(s, t);
    }
    for (const index_t t : g.outputs) use(s, t);
  }

  static constexpr std::size_t most_steps = std::size_t{1} << 22;
  model_file& m_;
  std::vector<micro_buffer> list_;
  std::vector<std::vector<lifetime>> of_;  ///< per subgraph and tensor
  std::int64_t clock_ = 0;
  std::size_t steps_ = 0;
};

/// The bytes of the head, and the offset of each buffer. The planner of TensorFlow Lite Micro (GreedyMemoryPlanner):
/// buffers with a fixed offset first, in their order; then the others by decreasing size, the later of equal ones first,
/// each in the lowest gap between those that are there at the same time. O(n^2).
inline bytes place_greedily(std::vector<micro_buffer>& buffers) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].offset >= 0) order.push_back(i);
  const auto fixed = static_cast<std::ptrdiff_t>(order.size());
  for (std::size_t i = buffers.size(); i-- > 0;)
    if (buffers[i].offset < 0) order.push_back(i);
  std::stable_sort(order.begin() + fixed, order.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].size > buffers[b].size; });
  std::vector<std::size_t> placed;  // by offset
  bytes head = 0;
  for (const std::size_t i : order) {
    micro_buffer& b = buffers[i];
    if (b.offset < 0) {
      std::int64_t candidate = 0;
      for (const std::size_t other : placed) {
        const micro_buffer& o = buffers[other];
        if (o.created > b.used || b.created > o.used) continue;
        if (o.offset - candidate >= static_cast<std::int64_t>(b.size)) break;
        candidate = std::max(candidate, o.offset + static_cast<std::int64_t>(o.size));
      }
      b.offset = candidate;
    }
    const auto behind = std::upper_bound(placed.begin(), placed.end(), b.offset,
                                         [&](std::int64_t at, std::size_t other) { return at < buffers[other].offset; });
    placed.insert(behind, i);
    head = std::max(head, static_cast<bytes>(b.offset) + b.size);
  }
  return head;
}

}  // namespace detail::tflite
}  // namespace MEMSCHED_ABI
}  // namespace memsched
