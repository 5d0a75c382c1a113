// R7, pad: a convolution with pad of its own instead of a convolution of a padded tensor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/network/network.hpp>
#include <memsched/rewrite/edit.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Whether an operator pads with zeros: a quantized tensor with its zero point.
inline bool pads_with_zero(const network& net, const operation& op) {
  if (op.does.what != op_kind::pad || op.does.pad_value != 0 || op.writes[0].parts.size() != 1) return false;
  const typed_tensor& y = net.tensors[op.writes[0].parts[0].tensor];
  return std::all_of(op.reads[0].parts.begin(), op.reads[0].parts.end(),
                     [&](const placed& p) { return net.tensors[p.tensor].quant == y.quant; });
}

/// Whether a reader of a padded tensor may take over the pad: a convolution or depthwise one spatial pad, in front of none
/// or more of its own, since zeros add nothing to a sum. An average would divide by other numbers, a maximum would see
/// zeros.
inline bool takes_spatial_pad(const operation& reader) {
  return reader.does.what == op_kind::convolution || reader.does.what == op_kind::depthwise;
}

/// Whether a reader of a tensor with channels of zeros after its own may do without these: an addition of it and a tensor
/// that has all channels. A tensor of one channel would be repeated, so that there must be more.
inline bool takes_channel_pad(const operation& reader, tensor_id padded) {
  if (reader.does.what != op_kind::add || reader.reads.size() != 2) return false;
  const auto is_padded = [&](const image& x) { return x.parts.size() == 1 && x.parts[0].tensor == padded; };
  return is_padded(reader.reads[0]) != is_padded(reader.reads[1]) && reader.reads[0].size == reader.writes[0].size &&
         reader.reads[1].size == reader.writes[0].size;
}

/// Whether operator i pads with zeros and every reader takes over its pad.
MEMSCHED_FUNCTION bool may_fold_pad(const network& net, const uses& use, op_id i);

/// Whether the result of an addition may take the place of this operand: of the same extents and elements.
inline bool takes_other_place(const network& net, const operation& op, const image& x) {
  if (op.does.what != op_kind::add || x.parts.size() != 1 || x.size != op.writes[0].size) return false;
  const typed_tensor &from = net.tensors[x.parts[0].tensor], &to = net.tensors[op.writes[0].parts[0].tensor];
  return from.size == to.size && from.element == to.element && !from.input;
}

/// The network with the pad that operator i makes in its readers. Exact: zeros add nothing to a sum (-0.0 + 0.0 is 0.0,
/// which equals the -0.0 that stays without it). Precondition: may_fold_pad.
inline network fold_pad(network net, op_id i) {
  const operation pad = net.operations[i];
  const tensor_id t = pad.writes[0].parts[0].tensor;
  for (operation& op : net.operations)
    for (image& x : op.reads) {
      if (x.parts.size() != 1 || x.parts[0].tensor != t) continue;
      x = pad.reads[0];
      if (!takes_spatial_pad(op)) continue;
      op.does.win.pad_rows += pad.does.win.pad_rows;
      op.does.win.pad_columns += pad.does.win.pad_columns;
    }
  for (operation& op : net.operations) {
    if (op.overwrites != t) continue;
    op.overwrites = none;  // an addition in place of a padded operand is one in place of the other
    for (const image& x : op.reads)
      if (takes_other_place(net, op, x)) op.overwrites = x.parts[0].tensor;
  }
  std::vector<bool> dropped(net.operations.size(), false);
  dropped[i] = true;
  return without(net, dropped);
}

/// R7 wherever it may be applied.
inline network fold_pads(network net) {
  for (op_id i = 0; i < net.operations.size();)
    if (may_fold_pad(net, uses(net), i)) net = fold_pad(std::move(net), i);
    else ++i;
  return net;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION bool may_fold_pad(const network& net, const uses& use, op_id i) {
  const operation& op = net.operations[i];
  if (!pads_with_zero(net, op)) return false;
  const window& w = op.does.win;
  const extents &from = op.reads[0].size, &to = op.writes[0].size;
  const bool channels = from.rows == to.rows && from.columns == to.columns && w.pad_rows == 0 && w.pad_columns == 0;
  const bool spatial = from.channels == to.channels && w.pad_channels == 0;
  const tensor_id t = op.writes[0].parts[0].tensor;
  if (net.tensors[t].output || use.readers[t].empty() || (!channels && !spatial)) return false;
  if (w.pad_rows < 0 || w.pad_columns < 0 || to.rows < from.rows + w.pad_rows || to.columns < from.columns + w.pad_columns)
    return false;  // it crops
  for (const typed_tensor& x : net.tensors)
    if (x.alias_of == t) return false;
  return std::all_of(use.readers[t].begin(), use.readers[t].end(), [&](op_id r) {
    const operation& reader = net.operations[r];
    if (spatial) return takes_spatial_pad(reader) && reader.reads[0].parts.size() == 1 && reader.reads[0].size == to;
    return w.pad_channels == 0 && from.channels > 1 && from.channels <= to.channels && takes_channel_pad(reader, t);
  });
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
