// R10, rematerialization: a copy of a cheap operator for each of its readers, instead of a tensor that lives for all.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/rewrite/edit.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Whether operator i may run once for each of its readers: one result, which at least two operators read, which is no graph
/// output and whose storage nothing names; and no part of a sum, or a read from outside, which happens once. No operator
/// waits for it by a control edge.
inline bool may_rematerialize(const network& net, const uses& use, op_id i) {
  const operation& op = net.operations[i];
  if (op.sum != summation::complete || op.does.what == op_kind::read || op.does.what == op_kind::begin) return false;
  if (op.writes.size() != 1 || op.writes[0].parts.size() != 1 || op.overwrites != none) return false;
  const tensor_id t = op.writes[0].parts[0].tensor;
  const typed_tensor& y = net.tensors[t];
  if (y.role != tensor_role::value || y.output || y.alias_of != none || use.readers[t].size() < 2) return false;
  for (const typed_tensor& x : net.tensors)
    if (x.alias_of == t) return false;
  for (const operation& other : net.operations)
    for (const op_id before : other.after)
      if (before == i) return false;
  return true;
}

/// The network with a copy of operator i in front of each of its readers. Exact to the bit; costs the operator's
/// multiply-accumulates once for each further reader. Its operands live longer, so that the peak may rise: measure it.
/// Precondition: may_rematerialize.
MEMSCHED_FUNCTION network rematerialize(const network& net, op_id i);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION network rematerialize(const network& net, op_id i) {
  const uses use(net);
  const tensor_id t = net.operations[i].writes[0].parts[0].tensor;
  network out = net;
  out.operations.clear();
  std::vector<std::vector<op_id>> became(net.operations.size());
  const auto add = [&](op_id from, operation op) {
    op.after.clear();
    for (const op_id before : net.operations[from].after)
      op.after.insert(op.after.end(), became[before].begin(), became[before].end());
    became[from].push_back(static_cast<op_id>(out.operations.size()));
    out.operations.push_back(std::move(op));
  };
  std::size_t copies = 0;
  for (op_id j = 0; j < net.operations.size(); ++j) {
    if (j == i) continue;
    operation op = net.operations[j];
    bool reads = false;
    for (const op_id r : use.readers[t]) reads = reads || r == j;
    if (reads) {
      operation copy = net.operations[i];
      tensor_id made = t;
      if (copies++ > 0) {
        copy.name += "/again" + std::to_string(copies - 1);
        typed_tensor again = net.tensors[t];
        again.name += "/again" + std::to_string(copies - 1);
        made = static_cast<tensor_id>(out.tensors.size());
        out.tensors.push_back(std::move(again));
        copy.writes[0].parts[0].tensor = made;
      }
      add(i, std::move(copy));
      for (image& x : op.reads)
        for (placed& p : x.parts)
          if (p.tensor == t) p.tensor = made;
      if (op.overwrites == t) op.overwrites = made;
    }
    add(j, std::move(op));
  }
  return out;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
