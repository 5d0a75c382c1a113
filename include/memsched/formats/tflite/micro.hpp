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
#include <memsched/formats/tflite/micro_scratch.hpp>
#include <memsched/formats/tflite/sizes.hpp>
#include <memsched/formats/tflite/subgraph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail::tflite {

/// A tensor that lies in the arena's head, or a buffer that a kernel asks for while it runs, at the clock of TensorFlow Lite
/// Micro: operator i of a subgraph runs at the time at which it starts plus i, from 1. Never created or used: -1.
struct micro_buffer {
  std::size_t subgraph = 0;
  index_t tensor = 0;                     ///< none: of a kernel
  bytes size = 0;                         ///< rounded up to 16
  std::int64_t created = -1, used = -1;   ///< both inclusive
  std::int64_t offset = runtime_decides;  ///< fixed by a plan
};

/// Tensors and kernels' buffers of all subgraphs that the runtime places. A subgraph runs within the operator that runs it,
/// and time goes on meanwhile. The file is read once, for any number of orders.
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
    micro_scratch scratch(m_, sizes);
    requests_.resize(of_.size());
    runs_.resize(of_.size());
    for (const std::size_t s : m_.callers_first)
      for (const operator_info& op : m_.subgraphs[s].operators) requests_[s].push_back(scratch.of(s, op).sizes);
  }

  /// The tensors and after them the kernels' buffers, with their lifetimes. `order` lists the operators of subgraph 0 by
  /// position; empty: as in the file. O(operators that run + tensors).
  std::vector<micro_buffer> run(const std::vector<index_t>& order) {
    for (auto& lifetimes : of_) lifetimes.assign(lifetimes.size(), {});
    for (std::size_t s = 0; s < runs_.size(); ++s) runs_[s].assign(requests_[s].size(), {});
    clock_ = 0, steps_ = 0;
    mark(0, order);
    std::vector<micro_buffer> list = list_;
    for (micro_buffer& b : list) {
      b.created = of_[b.subgraph][b.tensor].created;
      b.used = of_[b.subgraph][b.tensor].used;
    }
    // Kernels ask in the order in which the file lists the operators.
    for (std::size_t s = 0; s < requests_.size(); ++s)
      for (std::size_t i = 0; i < requests_[s].size(); ++i) {
        const std::size_t op = place(s, order, i);
        for (const bytes asked : requests_[s][op])
          if (runs_[s][op].created >= 0)
            list.push_back({s, none, round_up(asked, 16), runs_[s][op].created, runs_[s][op].used, runtime_decides});
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

  static std::size_t place(std::size_t s, const std::vector<index_t>& order, std::size_t i) {
    return s == 0 && !order.empty() ? order[i] : i;
  }
  void create(lifetime& l) const {
    if (l.created < 0) l.created = clock_;
  }
  void create(std::size_t s, index_t t) { create(of_[s][t]); }
  void use(std::size_t s, index_t t) { of_[s][t].used = clock_; }

  void mark(std::size_t s, const std::vector<index_t>& order) {
    const subgraph_info& g = m_.subgraphs[s];
    for (const index_t t : g.inputs) create(s, t);
    for (std::size_t i = 0; i < g.operators.size(); ++i) {
      const std::size_t at = place(s, order, i);
      const operator_info& op = g.operators[at];
      ++clock_;
      create(runs_[s][at]);
      for (const index_t t : op.outputs) create(s, t);
      // A subgraph that is run again keeps its first marks, and time goes on all the same.
      for (const std::size_t inner : op.runs)
        if (steps_ < most_steps) mark(inner, order);
      steps_ += 1;
      for (const index_t t : op.inputs) use(s, t);
      for (const index_t t : op.outputs) use(s, t);
      runs_[s][at].used = clock_;
    }
    for (const index_t t : g.outputs) use(s, t);
  }

  static constexpr std::size_t most_steps = std::size_t{1} << 22;
  model_file& m_;
  std::vector<micro_buffer> list_;
  std::vector<std::vector<lifetime>> of_;                  ///< per subgraph and tensor
  std::vector<std::vector<lifetime>> runs_;                ///< per subgraph and operator
  std::vector<std::vector<std::vector<bytes>>> requests_;  ///< of kernels, per subgraph and operator
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
