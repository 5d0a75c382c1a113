// R4 with R2 and R1: the channels between an expansion and a projection, slice by slice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/rewrite/edit.hpp>
#include <memsched/rewrite/split_sums.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The tensors between an expansion and a projection, the expansion's result first: each is read by the next operator alone.
/// Empty if operator i is no projection: an ungrouped convolution of one tensor that channel-separable operators of one
/// operand make of the result of another ungrouped convolution.
MEMSCHED_FUNCTION std::vector<tensor_id> expanded_by(const network& net, const uses& use, op_id i);

/// The network with the tensors of `expanded_by(net, i)` in n slices of channels: expansion (R4), the operators between (R2)
/// and the projection's terms (R1) come slice by slice. Multiply-accumulates stay.
///
/// Lemma. Output channels of a convolution do not depend on each other; then as for R2 and R1. Exact over integers; in
/// float32, as a chain in front of a projection of 1 x 1, to the bit: its terms come channel by channel in any case.
/// Precondition: expanded_by is not empty, and the expansion has n channels or more.
MEMSCHED_FUNCTION network slice_channels(const network& net, op_id i, coordinate n, sum_form form);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/kernel_wise.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION std::vector<tensor_id> expanded_by(const network& net, const uses& use, op_id i) {
  const auto is_dense = [](const operation& op) {
    return op.does.what == op_kind::convolution && op.does.groups == 1 && op.sum == summation::complete;
  };
  const auto is_plain = [&](const image& x) { return x.parts.size() == 1 && box_of(net, x.parts[0]) == whole(x.size); };
  std::vector<tensor_id> between;
  if (!is_dense(net.operations[i]) || net.operations[i].writes[0].parts.size() != 1) return between;
  for (op_id reader = i;;) {
    if (net.operations[reader].reads.size() != 1 || !is_plain(net.operations[reader].reads[0])) return {};
    const tensor_id t = net.operations[reader].reads[0].parts[0].tensor;
    if (use.writer[t] == none || use.readers[t].size() != 1 || !may_be_in_parts(net, use, t)) return {};
    const operation& writer = net.operations[use.writer[t]];
    if (writer.writes.size() != 1 || !is_plain(writer.writes[0])) return {};
    between.insert(between.begin(), t);
    if (is_dense(writer)) return between;
    if (!is_channel_separable(writer)) return {};
    reader = use.writer[t];
  }
}

MEMSCHED_FUNCTION network slice_channels(const network& net, op_id i, coordinate n, sum_form form) {
  const std::vector<tensor_id> between = expanded_by(net, uses(net), i);
  const coordinate least = net.tensors[between.front()].size.channels;
  std::vector<cut_points> cuts(net.tensors.size());
  for (const tensor_id t : between)
    for (const coordinate point : even_cuts(least, n))
      cuts[t].channels.push_back(point * net.tensors[t].size.channels / least);
  const network parts = cut(net, cuts).value();
  return split_sum(parts, static_cast<op_id>(parts.operations.size() - (net.operations.size() - i)), form);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
