// Converts a problem back to the draft that makes it.
#pragma once

#include <cstddef>

#include <memsched/graph/check.hpp>
#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The draft of a problem, so that it can be changed and checked again.
inline problem_draft draft_of(const problem& p) {
  problem_draft d;
  for (tensor_id t : p.tensors()) {
    d.tensors.push_back({p.size(t), p.alias_of(t) == t ? none : p.alias_of(t)});
    if (p.writer(t) == none) d.graph_inputs.push_back(t);
  }
  d.graph_outputs.assign(p.graph_outputs().begin(), p.graph_outputs().end());
  for (op_id op : p.ops()) {
    const int old = p.overwrites(op);
    d.operators.push_back(
        {p.workspace(op), old < 0 ? none : p.inputs(op)[static_cast<std::size_t>(old)], p.firing(op), p.scope(op)});
    for (tensor_id t : p.inputs(op)) d.reads.push(t);
    for (tensor_id t : p.outputs(op)) d.writes.push(t);
    for (op_id before : p.after(op)) d.after.push(before);
    for (const auto& o : p.further_overwrites(op)) d.overwrites.push(o);
    for (tensor_id t : p.updates(op)) d.updates.push(t);
    d.reads.close(), d.writes.close(), d.after.close(), d.overwrites.close(), d.updates.close();
  }
  return d;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
