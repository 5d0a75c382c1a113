// R8: a convolution of 1 x 1 changes places with a resize in front of it, or with a mean after it.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/rewrite/edit.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Whether an operator computes each pixel from that pixel alone, linearly but for a bias: a convolution of 1 x 1,
/// ungrouped, without stride, pad or activation. An activation would be applied to other values.
inline bool is_pointwise_linear(const operation& op) {
  const window& w = op.does.win;
  return op.does.what == op_kind::convolution && op.sum == summation::complete && op.does.groups == 1 &&
         op.does.act == activation::identity && w.kernel_rows == 1 && w.kernel_columns == 1 && w.stride_rows == 1 &&
         w.stride_columns == 1 && w.pad_rows == 0 && w.pad_columns == 0;
}

/// Whether operator i and its only reader may change places: a resize and a pointwise linear convolution, or that and a mean
/// over the image, of whole tensors. With a second reader, the tensor between them would be made all the same. For first
/// networks, before anything is cut. A convolution after a mean stays: in front of it, it would run for every pixel, and a
/// mean takes no memory once its image comes in rows (R9).
MEMSCHED_FUNCTION bool may_commute(const network& net, const uses& use, op_id i);

/// The network with the reader of operator i in front of it. The result is a first network, which other rules may rewrite
/// further; `check_rewrite` sees the exchange by their origins.
///
/// Lemma. A resize makes each pixel a sum of pixels with weights that do not depend on the channel and add to one; so does a
/// mean over the image, with equal weights. A linear map of the channels commutes with such a sum, and a bias b comes out as
/// b. Precondition: may_commute. Exact over the reals only: rounded numbers are blended instead of blends rounded.
/// Multiply-accumulates fall if the resize enlarges, and in front of a mean to those of one pixel.
MEMSCHED_FUNCTION network commute(network net, op_id i);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <utility>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION bool may_commute(const network& net, const uses& use, op_id i) {
  const auto is_whole = [&](const image& x) {
    return x.parts.size() == 1 && box_of(net, x.parts[0]) == whole(x.size) &&
           net.tensors[x.parts[0].tensor].alias_of == none;
  };
  const operation& op = net.operations[i];
  const op_kind k = op.does.what;
  const bool resizes = k == op_kind::resize_bilinear || k == op_kind::resize_nearest;
  if (!(resizes && op.does.act == activation::identity) && !is_pointwise_linear(op)) return false;
  if (!is_whole(op.reads[0]) || op.writes.size() != 1 || !is_whole(op.writes[0]) || !op.after.empty()) return false;
  const tensor_id t = op.writes[0].parts[0].tensor;
  if (net.tensors[t].output || use.readers[t].size() != 1) return false;
  for (const typed_tensor& x : net.tensors)
    if (x.alias_of == t) return false;
  const operation& reader = net.operations[use.readers[t][0]];
  const bool averages =
      reader.does.what == op_kind::mean && reader.sum == summation::complete && reader.does.act == activation::identity;
  if (!(resizes ? is_pointwise_linear(reader) : averages)) return false;
  if (reader.writes.size() != 1 || !is_whole(reader.writes[0]) || !reader.after.empty()) return false;
  for (const operation& other : net.operations)
    for (const op_id before : other.after)
      if (before == i || before == use.readers[t][0]) return false;
  return op.overwrites == none && reader.overwrites == none;
}

MEMSCHED_FUNCTION network commute(network net, op_id i) {
  const tensor_id t = net.operations[i].writes[0].parts[0].tensor;
  const op_id j = uses(net).readers[t][0];
  operation first = net.operations[j], second = net.operations[i];
  typed_tensor& between = net.tensors[t];
  const typed_tensor& made = net.tensors[first.writes[0].parts[0].tensor];
  between.size = second.reads[0].size;
  if (first.does.what == op_kind::mean) between.size.rows = between.size.columns = 1;
  else between.size.channels = made.size.channels;
  between.part = whole(between.size), between.quant = made.quant, between.element = made.element;
  first.reads = second.reads;
  second.writes = first.writes;
  first.writes = {{between.size, {{t, 0, 0, 0}}}};
  second.reads = first.writes;
  first.origin = i, second.origin = j;
  net.operations[i] = std::move(first);
  net.operations[j] = std::move(second);
  return net;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
