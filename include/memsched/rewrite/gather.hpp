// R0 and R3, gather and flatten: the readers of a concatenation read its parts, and the concatenation goes.
#pragma once

#include <algorithm>
#include <cstddef>

#include <memsched/base/linkage.hpp>
#include <memsched/network/network.hpp>
#include <memsched/rewrite/edit.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Whether an operator only lays its operand's parts side by side: no activation, no conversion, and each part whole. uint8
/// models may rescale in a concatenation; that rounding has to stay.
inline bool is_plain_concat(const network& net, const operation& op) {
  if (op.does.what != op_kind::copy || op.does.act != activation::identity) return false;
  if (op.reads.size() != 1 || op.writes.size() != 1 || op.writes[0].parts.size() != 1) return false;
  const placed& to = op.writes[0].parts[0];
  const typed_tensor& y = net.tensors[to.tensor];
  const box all = box_of(net, to);
  return std::all_of(op.reads[0].parts.begin(), op.reads[0].parts.end(), [&](const placed& p) {
    const typed_tensor& x = net.tensors[p.tensor];
    return x.element == y.element && x.quant == y.quant && x.role == tensor_role::value && all.contains(box_of(net, p));
  });
}

/// Whether an operator can take an operand in parts: one of which nothing is known, or a view, needs it in one piece.
inline bool reads_parts(const operation& op) {
  return op.does.what != op_kind::opaque && op.does.what != op_kind::reshape && op.does.what != op_kind::dense;
}

/// Whether the concatenation that operator i is can vanish: it is a plain one, its result is no graph output, nothing names
/// or overwrites its storage, and every reader can take parts. One reader left, and the concatenation would still be made.
inline bool may_gather(const network& net, const uses& use, op_id i) {
  const operation& op = net.operations[i];
  if (!is_plain_concat(net, op)) return false;
  const tensor_id t = op.writes[0].parts[0].tensor;
  if (net.tensors[t].output || net.tensors[t].alias_of != none || use.readers[t].empty()) return false;
  for (const typed_tensor& x : net.tensors)
    if (x.alias_of == t) return false;
  return std::all_of(use.readers[t].begin(), use.readers[t].end(), [&](op_id r) { return reads_parts(net.operations[r]); });
}

/// The network without the concatenation that operator i is. Exact to the bit: its readers read the same numbers, in the
/// order in which they read them before. Precondition: may_gather.
MEMSCHED_FUNCTION network gather(network net, op_id i);

/// R3: concatenations of concatenations as one. Concatenations whose readers all are concatenations are gathered.
MEMSCHED_FUNCTION network flatten_concats(network net);

/// R0 wherever it may be applied.
inline network gather_all(network net) {
  for (op_id i = 0; i < net.operations.size();)
    if (may_gather(net, uses(net), i)) net = gather(std::move(net), i);
    else ++i;
  return net;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <vector>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION network gather(network net, op_id i) {
  const placed to = net.operations[i].writes[0].parts[0];
  const std::vector<placed> from = net.operations[i].reads[0].parts;
  for (operation& op : net.operations) {
    for (image& x : op.reads) {
      std::vector<placed> parts;
      for (const placed& p : x.parts) {
        if (p.tensor != to.tensor) {
          parts.push_back(p);
          continue;
        }
        for (const placed& q : from)
          parts.push_back(
              {q.tensor, p.row + q.row - to.row, p.column + q.column - to.column, p.channel + q.channel - to.channel});
      }
      x.parts = std::move(parts);
    }
    if (op.overwrites == to.tensor) op.overwrites = none;
  }
  std::vector<bool> dropped(net.operations.size(), false);
  dropped[i] = true;
  return without(net, dropped);
}

MEMSCHED_FUNCTION network flatten_concats(network net) {
  for (op_id i = 0; i < net.operations.size();) {
    const uses use(net);
    const auto is_copy = [&](op_id r) { return net.operations[r].does.what == op_kind::copy; };
    if (may_gather(net, use, i) && std::all_of(use.readers[net.operations[i].writes[0].parts[0].tensor].begin(),
                                               use.readers[net.operations[i].writes[0].parts[0].tensor].end(), is_copy))
      net = gather(std::move(net), i);
    else ++i;
  }
  return net;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
