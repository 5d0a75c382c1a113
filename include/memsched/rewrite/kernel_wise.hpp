// R2, kernel-wise: f(concat(x, y)) = concat(f(x), f(y)) if each channel of f depends on one channel of its operand alone.
#pragma once

#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/network/windows.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/edit.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Whether each output channel needs one input channel only: depthwise convolutions, pooling, means, element-wise operators,
/// resizes, pads along rows and columns, and concatenations with an activation.
inline bool is_channel_separable(const operation& op) {
  const op_kind k = op.does.what;
  if (k == op_kind::read || k == op_kind::begin || op.writes.size() != 1) return false;
  return is_local(op, axis::channels) && may_run_in_parts(op, {{}, {1}}) && op.does.win.pad_channels == 0;
}

/// The channels of an operator's result at which a part of one of its operands begins, ascending, without 0; output channels
/// c * m, ... belong to input channel c, if there are m times as many. Empty if the operands have one part each.
MEMSCHED_FUNCTION std::vector<coordinate> part_boundaries(const operation& op);

/// Whether all readers of a tensor can take it in parts, and nothing else needs it in one piece: it is a value, no graph
/// output, and no view, nor has it one.
MEMSCHED_FUNCTION bool may_be_in_parts(const network& net, const uses& use, tensor_id t);

/// Whether operator i may run once for each part of its operands.
MEMSCHED_FUNCTION bool may_split_kernels(const network& net, const uses& use, op_id i);

/// The network with operator i once for each part of its operands, which its readers then read in parts. Exact to the bit.
///
/// Lemma. Output channel c of i depends on input channel c / m alone, so that the channels of a part of its operand give the
/// channels of a part of its result. Precondition: may_split_kernels.
MEMSCHED_FUNCTION network split_kernels(const network& net, op_id i);

/// Whether the concatenation that operator i is can vanish (`may_gather`), and a reader may then be split by its parts.
MEMSCHED_FUNCTION bool may_split_readers(const network& net, const uses& use, op_id i);

/// The network without the concatenation that operator i is, its separable readers split by its parts. A reader that worked
/// in place of it works in place of the parts; of those that others read, too, the model saves nothing. Precondition:
/// may_split_readers.
MEMSCHED_FUNCTION network split_readers(network net, op_id i);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstddef>
#include <utility>

#include <memsched/rewrite/gather.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION std::vector<coordinate> part_boundaries(const operation& op) {
  std::vector<coordinate> points;
  const coordinate made = op.writes[0].size.channels;
  for (const image& x : op.reads) {
    if (x.size.channels == 0 || (x.size.channels == 1 && made > 1 && op.does.what != op_kind::depthwise)) continue;
    const coordinate times = op.does.what == op_kind::depthwise ? made / x.size.channels : 1;
    for (const placed& p : x.parts)
      if (p.channel > 0 && p.channel * times < made) points.push_back(p.channel * times);
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

MEMSCHED_FUNCTION bool may_be_in_parts(const network& net, const uses& use, tensor_id t) {
  const typed_tensor& x = net.tensors[t];
  if (x.role != tensor_role::value || x.output || x.alias_of != none) return false;
  for (const typed_tensor& y : net.tensors)
    if (y.alias_of == t) return false;
  return std::all_of(use.readers[t].begin(), use.readers[t].end(), [&](op_id r) { return reads_parts(net.operations[r]); });
}

MEMSCHED_FUNCTION bool may_split_kernels(const network& net, const uses& use, op_id i) {
  const operation& op = net.operations[i];
  if (!is_channel_separable(op) || op.writes[0].parts.size() != 1) return false;
  const placed& y = op.writes[0].parts[0];
  if (net.tensors[y.tensor].size.channels != op.writes[0].size.channels) return false;
  return !part_boundaries(op).empty() && may_be_in_parts(net, use, y.tensor);
}

MEMSCHED_FUNCTION network split_kernels(const network& net, op_id i) {
  std::vector<cut_points> cuts(net.tensors.size());
  cuts[net.operations[i].writes[0].parts[0].tensor].channels = part_boundaries(net.operations[i]);
  return cut(net, cuts).value();
}

MEMSCHED_FUNCTION bool may_split_readers(const network& net, const uses& use, op_id i) {
  if (!may_gather(net, use, i) || net.operations[i].reads[0].parts.size() < 2) return false;
  const std::vector<op_id>& readers = use.readers[net.operations[i].writes[0].parts[0].tensor];
  return std::any_of(readers.begin(), readers.end(), [&](op_id r) {
    const operation& op = net.operations[r];
    return is_channel_separable(op) && op.writes[0].parts.size() == 1 &&
           may_be_in_parts(net, use, op.writes[0].parts[0].tensor);
  });
}

MEMSCHED_FUNCTION network split_readers(network net, op_id i) {
  const tensor_id t = net.operations[i].writes[0].parts[0].tensor;
  std::vector<std::pair<op_id, bool>>
      readers;  // and whether in place; the last first, since each split moves those after it
  const uses use(net);
  for (const op_id r : use.readers[t]) readers.insert(readers.begin(), {r - 1, net.operations[r].overwrites == t});
  net = gather(std::move(net), i);
  for (const auto& [r, in_place] : readers) {
    if (!may_split_kernels(net, uses(net), r)) continue;
    const std::size_t before = net.operations.size();
    net = split_kernels(net, r);
    for (std::size_t n = r; in_place && n <= r + net.operations.size() - before; ++n) {
      operation& part = net.operations[n];
      for (const placed& p : part.reads[0].parts)
        if (!net.tensors[p.tensor].input && box_of(net, p) == hull_of(net, part.writes[0])) part.overwrites = p.tensor;
    }
  }
  return net;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
