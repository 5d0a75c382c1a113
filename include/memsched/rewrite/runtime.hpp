// The abilities of a runtime's kernels, and whether a network asks for no more.
#pragma once

#include <algorithm>
#include <string>

#include <memsched/base/linkage.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The abilities of a runtime's kernels.
enum class runtime : unsigned char {
  parts,  ///< read operands that lie in several parts, and write parts: generated code, lists of row pointers
  whole,  ///< standard operators: whole tensors in and out; parts are taken out by slices and put together by
          ///< concatenations, which copy
};

inline const char* to_string(runtime r) { return r == runtime::parts ? "parts" : "whole"; }

/// Names the first operator that is not a standard one, and its function; empty if all are.
/// An operator of parts must be a standard one of just the rows, columns and channels that it reads; its pads may differ on
/// the four sides. Sums in parts are convolutions and additions, of floats. Operators of the first network count as
/// standard.
MEMSCHED_FUNCTION std::string not_whole(const network& net);

/// Whether a sum of integers is computed in parts. Generated code can; operators of model files cannot, since their results
/// are rounded to eight bits.
inline bool splits_integer_sum(const network& net) {
  return std::any_of(net.tensors.begin(), net.tensors.end(),
                     [](const auto& t) { return t.role == tensor_role::sum && t.element != element::float32; });
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <cstddef>

#include <memsched/graph/error.hpp>
#include <memsched/network/windows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Whether an image is one tensor that holds the needed part, and no more than an operator of `all` may leave unread.
inline bool is_one_tensor(const network& net, const image& x, const box& wanted, bool all) {
  if (x.parts.size() != 1) return false;
  const box b = box_of(net, x.parts[0]);
  if (all && b == whole(x.size)) return true;
  // Columns are never cut; a stride may leave some unread.
  return b.rows == wanted.rows && b.columns == interval{0, x.size.columns} && b.channels == wanted.channels;
}

/// Whether a copy is a slice, a concatenation or a split.
inline bool is_standard_copy(const network& net, const operation& op) {
  const box read = hull_of(net, op.reads[0]), written = hull_of(net, op.writes[0]);
  if (op.reads[0].parts.size() == 1) return read.contains(written);
  coordinate elements = 0;
  for (const placed& p : op.reads[0].parts) elements += net.tensors[p.tensor].size.elements();
  return op.writes[0].parts.size() == 1 && read == written && elements == written.size().elements();
}

inline std::string why_not_whole(const network& net, const operation& op) {
  const op_kind k = op.does.what;
  if (k == op_kind::copy) return is_standard_copy(net, op) ? "" : "takes rows of several tensors and joins them at once";
  if (k == op_kind::read) return "reads an input part by part";
  if (k == op_kind::opaque) return "";
  if (k == op_kind::begin || continues_sum(op)) return "adds to a sum that is there";
  const bool sums =
      op.sum == summation::partial || k == op_kind::add_sums || k == op_kind::finish || k == op_kind::finish_mean;
  if (sums && (net.tensors[op.writes[0].parts[0].tensor].element != element::float32 || k == op_kind::finish_mean))
    return "is part of a sum that is not of floats";
  if (k == op_kind::finish && op.does.act != activation::identity) return "adds sums and applies an activation";
  if (k == op_kind::finish && op.bias) return "adds sums and a bias";
  for (const image& y : op.writes)
    if (y.parts.size() != 1) return "writes its result in parts";
  const box made = computes(net, op);
  const bool all = made == whole(target(op).size);
  for (std::size_t i = 0; i < op.reads.size(); ++i) {
    const image& x = op.reads[i];
    if (k == op_kind::add && x.size.channels != 1 && x.size.channels != op.writes[0].size.channels)
      return "adds an operand of fewer channels";
    const box wanted = needed(op, i, made);
    if (!is_one_tensor(net, x, wanted, all && op.sum == summation::complete))
      return "reads operand " + std::to_string(i) + " in parts, or rows that it does not use";
  }
  return "";
}

}  // namespace detail

MEMSCHED_FUNCTION std::string not_whole(const network& net) {
  for (op_id i = 0; i < net.operations.size(); ++i)
    if (const std::string why = detail::why_not_whole(net, net.operations[i]); !why.empty())
      return detail::labelled("operator ", i, net.operations[i].name) + " " + why;
  return "";
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
