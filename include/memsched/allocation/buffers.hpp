// Buffers of an arena, and those of an order of a problem.
//
//   const auto held = buffers_of(problem, order, model).value();              // lifetimes, storages merged if in place
//   const arena_plan plan = plan_offsets(held.buffers, minimize{}, options);  // allocation/minimize.hpp, plan_offsets.hpp
//   plan.offset[held.of_tensor[t]]                                            // where tensor t lies
//
// Other planners: by_birth, by_size (first_fit.hpp), valley_fit, exact_fit. `check_plan` (plan.hpp) is the referee.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/buffer.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

constexpr bytes round_up(bytes n, bytes multiple) { return (n + multiple - 1) / multiple * multiple; }

/// One change of the live bytes; `moments` has them in order of time, falls before rises.
struct level_change {
  std::int64_t at = 0;
  bool rises = false;
  index_t buffer = 0;
  bytes before = 0, after = 0;
};

MEMSCHED_FUNCTION std::vector<level_change> moments(std::span<const buffer> buffers);

}  // namespace detail

/// The largest sum of sizes that are live at once: no arena is smaller. O(n log n).
MEMSCHED_FUNCTION bytes load_of(std::span<const buffer> buffers);

/// Checks buffers, except for two that are fixed across each other. Returns an empty message if they are valid. O(n).
MEMSCHED_FUNCTION graph_error check_buffers(std::span<const buffer> buffers);

/// The buffers of an order, and the storages that each holds.
struct order_buffers {
  std::vector<buffer> buffers;      ///< of storages by their first tensor, then of workspaces in order of running
  std::vector<index_t> of_tensor;   ///< the buffer of each tensor; none if it has no bytes or is never live
  std::vector<op_id> workspace_of;  ///< per buffer, the operator that uses it as workspace; none if it holds tensors
};

/// The buffers of `order`, or why it is not an order of p. O(operators + uses).
///
/// Time is in half-steps: 2k is the moment before the k-th operator of the order, 2k+1 while it runs; the end is 2n+1.
/// A graph input lives from 0, another storage from 2k+1 of its producer k, to 2k+2 of its last reader k (`pbc`), or 2k+1
/// (`cbp`); a graph output lives to the end, and a tensor without readers lives while its producer runs. An operator that
/// takes the storage of its dying input in place makes one buffer of both, whose size drops at 2k+2 if the output is
/// smaller.
/// Law: the load of these buffers is `evaluate(p, order, model)->peak`.
MEMSCHED_FUNCTION result<order_buffers> buffers_of(const problem& p, std::span<const op_id> order, memory_model model = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <numeric>
#include <string>

#include <memsched/measure/evaluate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

MEMSCHED_FUNCTION std::vector<level_change> moments(std::span<const buffer> buffers) {
  std::vector<level_change> list;
  list.reserve(2 * buffers.size());
  for (index_t i = 0; i < buffers.size(); ++i) {
    const buffer& b = buffers[i];
    if (b.empty()) continue;
    list.push_back({b.lower, true, i, 0, b.size});
    bytes size = b.size;
    for (const size_drop& d : b.drops) list.push_back({d.at, false, i, size, d.size}), size = d.size;
    list.push_back({b.upper, false, i, size, 0});
  }
  std::sort(list.begin(), list.end(), [](const level_change& a, const level_change& b) {
    return a.at != b.at           ? a.at < b.at
           : a.rises != b.rises   ? !a.rises
           : a.buffer != b.buffer ? a.buffer < b.buffer
                                  : a.after > b.after;
  });
  return list;
}

}  // namespace detail

MEMSCHED_FUNCTION bytes load_of(std::span<const buffer> buffers) {
  bytes live = 0, most = 0;
  for (const auto& change : detail::moments(buffers)) most = std::max(most, live = live - change.before + change.after);
  return most;
}

MEMSCHED_FUNCTION result<order_buffers> buffers_of(const problem& p, std::span<const op_id> order, memory_model model) {
  if (graph_error error = check_order(p, order); !error.message.empty()) return error;
  std::vector<std::int64_t> step(p.ops().size());
  for (std::size_t k = 0; k < order.size(); ++k) step[order[k]] = static_cast<std::int64_t>(k);
  const auto end = static_cast<std::int64_t>(2 * order.size() + 1);
  const auto rule = [&](op_id op) { return p.firing(op).value_or(model.default_firing); };
  const auto last_reader = [&](tensor_id t) {
    const auto readers = p.readers(t);
    return *std::max_element(readers.begin(), readers.end(), [&](op_id a, op_id b) { return step[a] < step[b]; });
  };

  order_buffers held;
  std::vector<buffer> life(p.tensors().size());
  std::vector<tensor_id> into(p.tensors().size(), none);  // the storage that hands its place to this one
  for (tensor_id t : p.tensors()) {
    const bool read = !p.readers(t).empty();
    if (p.storage(t) != t || p.size(t) == 0 || (p.producer(t) == none && !p.kept(t))) continue;
    buffer& b = life[t];
    b.size = p.size(t);
    b.lower = p.producer(t) == none ? 0 : 2 * step[p.producer(t)] + 1;
    if (p.stays(t)) b.upper = end;
    else if (!read) b.upper = b.lower + 1;
    else b.upper = 2 * step[last_reader(t)] + (rule(last_reader(t)) == firing::cbp ? 1 : 2);
  }
  for (op_id op : order)
    for (const problem::storage_reuse& r : p.reuses(op))
      if (r.spared > 0 && model.in_place && rule(op) == firing::pbc && last_reader(r.input) == op) into[r.output] = r.input;
  // Along the order, an output comes after the input that it replaces.
  std::vector<tensor_id> root(p.tensors().size());
  std::iota(root.begin(), root.end(), tensor_id{0});
  for (op_id op : order)
    for (tensor_id t : p.creates(op)) {
      if (into[t] == none) continue;
      root[t] = root[into[t]];
      buffer& b = life[root[t]];
      const std::int64_t at = b.upper;
      if (life[t].upper == at) continue;
      if (life[t].size < b.size_at(at - 1)) b.drops.push_back({at, life[t].size});
      b.upper = life[t].upper;
    }
  held.of_tensor.assign(p.tensors().size(), none);
  for (tensor_id t : p.tensors()) {
    if (p.storage(t) != t || life[t].size == 0 || root[t] != t) continue;
    held.of_tensor[t] = static_cast<index_t>(held.buffers.size());
    held.buffers.push_back(life[t]);
  }
  for (tensor_id t : p.tensors())
    if (const tensor_id s = p.storage(t); life[s].size > 0) held.of_tensor[t] = held.of_tensor[root[s]];
  held.workspace_of.assign(held.buffers.size(), none);
  for (op_id op : order) {
    if (p.workspace(op) == 0) continue;
    held.buffers.push_back({.lower = 2 * step[op] + 1, .upper = 2 * step[op] + 2, .size = p.workspace(op)});
    held.workspace_of.push_back(op);
  }
  return held;
}

MEMSCHED_FUNCTION graph_error check_buffers(std::span<const buffer> buffers) {
  const auto fault = [](error_code code, std::size_t i, const std::string& message) {
    return graph_error{code, "buffer " + std::to_string(i) + ' ' + message, {}, {}};
  };
  bytes left = base::max_total;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const buffer& b = buffers[i];
    if (b.upper < b.lower)
      return fault(error_code::bad_input, i,
                   "ends at " + std::to_string(b.upper) + ", before it starts at " + std::to_string(b.lower));
    if (b.alignment == 0) return fault(error_code::bad_input, i, "has an alignment of 0");
    if (b.offset != no_offset && b.offset % b.alignment != 0)
      return fault(
          error_code::bad_input, i,
          "is fixed at " + std::to_string(b.offset) + ", no multiple of its alignment, " + std::to_string(b.alignment));
    for (const bytes part : {b.size, b.alignment, b.offset == no_offset ? 0 : b.offset}) {
      if (part > left)
        return fault(error_code::overflow, i, "takes the sum of sizes, alignments and offsets above 2^61 bytes");
      left -= part;
    }
    bytes size = b.size;
    std::int64_t at = b.lower;
    for (const size_drop& d : b.drops) {
      if (d.at <= at || d.at >= b.upper)
        return fault(error_code::bad_input, i, "drops its size outside its lifetime, or too early");
      if (d.size >= size || d.size == 0) return fault(error_code::bad_input, i, "has a drop that does not lessen its size");
      at = d.at, size = d.size;
    }
  }
  if (buffers.size() >= none) return {error_code::too_large, "more than 2^32 - 2 buffers", {}, {}};
  return {};
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
