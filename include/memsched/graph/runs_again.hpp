// Operators that may run a second time.
#pragma once

#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Whether each operator may run more than once. It may if it is pure, changes no input, creates no storage that an operator
/// changes, and reads none that is changed, except after the last change of it: a second run then reads and makes the same
/// as the first. O(operators + uses), and as much again for each changed storage.
MEMSCHED_FUNCTION std::vector<bool> runs_again(const problem& p);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Whether each operator runs after `first`, in every order.
inline std::vector<bool> runs_behind(const adjacency& successors, op_id first) {
  std::vector<bool> found(successors.size(), false);
  std::vector<op_id> open{first};
  while (!open.empty()) {
    const op_id op = open.back();
    open.pop_back();
    for (op_id next : successors[op])
      if (!found[next]) found[next] = true, open.push_back(next);
  }
  return found;
}

}  // namespace detail

MEMSCHED_FUNCTION std::vector<bool> runs_again(const problem& p) {
  std::vector<bool> again(p.ops().size());
  std::vector<std::pair<tensor_id, op_id>> changes;
  for (op_id op : p.ops()) {
    again[op] = p.pure(op) && p.updates(op).empty();
    for (tensor_id t : p.updates(op)) changes.emplace_back(p.storage(t), op);
  }
  if (changes.empty()) return again;
  const adjacency successors = base::transpose(p.predecessors(), p.ops().size());
  for (const auto& [storage, update] : changes) {
    if (p.producer(storage) != none) again[p.producer(storage)] = false;
    const std::vector<bool> later = detail::runs_behind(successors, update);
    for (op_id reader : p.readers(storage))
      if (!later[reader]) again[reader] = false;
  }
  return again;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
