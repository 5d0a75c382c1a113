// R5 and R4, row blocks and channel slices: tensors in parts, and each operator once for each part of its result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/windows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Where a tensor is cut: rows and channels at which a part begins, ascending, without 0. Empty: nowhere.
struct cut_points {
  std::vector<coordinate> rows{}, channels{};
  bool none() const { return rows.empty() && channels.empty(); }
};

/// n parts of nearly equal size of [0, size): part i begins at floor(i * size / n). At most `size` parts.
inline std::vector<coordinate> even_cuts(coordinate size, coordinate n) {
  std::vector<coordinate> points;
  n = std::min(n, size);
  for (coordinate i = 1; i < n; ++i) points.push_back(i * size / n);
  return points;
}

/// Whether an operator may be run once for each part of its only result.
inline bool may_run_in_parts(const operation& op, const cut_points& result) {
  if (op.writes.size() != 1 || op.sum != summation::complete) return false;
  switch (op.does.what) {
    case op_kind::reshape:
    case op_kind::opaque:
    case op_kind::add_sums:
    case op_kind::finish:
    case op_kind::finish_mean:
    case op_kind::begin: return false;
    case op_kind::softmax:
    case op_kind::depth_to_space: return result.channels.empty();
    default: return true;
  }
}

/// The network with its tensors cut at these points, one entry per tensor. Every value is computed once:
/// multiply-accumulates stay, and so does each bit, if a kernel sums in the same order for a part as for the whole.
///
/// Lemma. Each part holds the values of the first network in its box. Proof, by induction over an order: its operator reads
/// the rows that `needed` says, each from a part that holds them, and has pad where the whole tensor has pad, since it works
/// in the coordinates of the whole image.
///
/// Lemma (refinement). If each operator that works in place has its input and result cut alike, and no view is cut, the
/// best peak does not rise. Proof: run the parts of each operator of a best order one after the other; what is live is then,
/// at any time, part of what was live.
///
/// Unknown operators, views, and parts of sums run once and read all parts. An error names the tensor
/// with points that are none. O(parts + uses times the parts of a tensor).
MEMSCHED_FUNCTION result<network> cut(const network& net, const std::vector<cut_points>& cuts);

/// Every tensor in up to n blocks of rows, if its writer may run in parts: results of operators that are local along
/// rows, and graph inputs; never a view or the tensor that one names.
inline std::vector<cut_points> row_cuts(const network& net, coordinate n) {
  std::vector<cut_points> cuts(net.tensors.size());
  std::vector<bool> cuttable(net.tensors.size(), false);
  for (tensor_id t = 0; t < net.tensors.size(); ++t) cuttable[t] = net.tensors[t].input;
  for (const operation& op : net.operations)
    for (const image& x : op.writes)
      for (const placed& p : x.parts)
        cuttable[p.tensor] =
            net.tensors[p.tensor].role == tensor_role::value && may_run_in_parts(op, {}) && is_local(op, axis::rows);
  for (const typed_tensor& x : net.tensors)
    if (x.alias_of != none)
      cuttable[x.alias_of] = false, cuttable[static_cast<std::size_t>(&x - net.tensors.data())] = false;
  for (tensor_id t = 0; t < net.tensors.size(); ++t)
    if (cuttable[t]) cuts[t].rows = even_cuts(net.tensors[t].size.rows, n);
  return cuts;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <string>
#include <utility>

#include <memsched/network/check.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Restricts the weights of an operator to those that it needs to compute `part` only.
inline void restrict_weights(const network& net, operation& op, const box& all, const box& part) {
  const coordinate shift = part.channels.first - all.channels.first, n = part.channels.size();
  for (slice* s : {&op.weights, &op.bias}) {
    if (!*s) continue;
    const bool constant = facts_of(op.does.what).most_operands == 2;  // its channels are inputs
    interval& channels = constant ? s->inputs : s->outputs;
    const blob::axes& size = net.blobs[s->of].size;
    if ((constant ? size.inputs : size.outputs) == 1 && all.channels.size() != 1) continue;  // one number for all channels
    channels = {channels.first + shift, channels.first + shift + n};
  }
}

class cutting {
 public:
  cutting(const network& net, const std::vector<cut_points>& cuts) : net_(net), cuts_(cuts) {}

  network run() {
    out_ = emptied(net_);
    blocks_.resize(net_.tensors.size());
    for (tensor_id t = 0; t < net_.tensors.size(); ++t) cut_tensor(t);
    for (tensor_id t = 0; t < net_.tensors.size(); ++t) keep_alias(t);
    became_.resize(net_.operations.size());
    for (op_id i = 0; i < net_.operations.size(); ++i) cut_operation(i);
    return std::move(out_);
  }

 private:
  struct block {
    tensor_id tensor;
    box part;  ///< of the tensor that was cut, in its own coordinates
  };

  static std::vector<interval> pieces(const std::vector<coordinate>& points, coordinate size) {
    std::vector<interval> list;
    coordinate from = 0;
    for (const coordinate p : points) list.push_back({from, p}), from = p;
    list.push_back({from, size});
    return list;
  }

  void cut_tensor(tensor_id t) {
    const typed_tensor& x = net_.tensors[t];
    if (cuts_[t].none()) {
      blocks_[t].push_back({static_cast<tensor_id>(out_.tensors.size()), whole(x.size)});
      out_.tensors.push_back(x);
      return;
    }
    for (const interval rows : pieces(cuts_[t].rows, x.size.rows))
      for (const interval channels : pieces(cuts_[t].channels, x.size.channels)) {
        typed_tensor part = x;
        const box b{rows, {0, x.size.columns}, channels};
        part.size = b.size();
        if (!cuts_[t].rows.empty()) part.name += to_string(rows);
        if (!cuts_[t].channels.empty()) part.name += "c" + to_string(channels);
        if (x.origin != none) {
          part.part.rows = {x.part.rows.first + rows.first, x.part.rows.first + rows.last};
          part.part.channels = {x.part.channels.first + channels.first, x.part.channels.first + channels.last};
        }
        blocks_[t].push_back({static_cast<tensor_id>(out_.tensors.size()), b});
        out_.tensors.push_back(std::move(part));
      }
  }

  /// A view of a tensor that is cut, or one that is, copies.
  void keep_alias(tensor_id t) {
    const tensor_id of = net_.tensors[t].alias_of;
    if (of == none) return;
    const bool keeps = cuts_[t].none() && cuts_[of].none();
    for (const block& b : blocks_[t]) out_.tensors[b.tensor].alias_of = keeps ? blocks_[of].front().tensor : none;
  }

  static box moved(const box& b, const placed& by) {
    return {{b.rows.first + by.row, b.rows.last + by.row},
            {b.columns.first + by.column, b.columns.last + by.column},
            {b.channels.first + by.channel, b.channels.last + by.channel}};
  }

  /// The parts of an image that meet a box; all if there is none.
  image parts_of(const image& x, const box* wanted) const {
    image y{x.size, {}};
    for (const placed& p : x.parts)
      for (const block& b : blocks_[p.tensor]) {
        const box at = moved(b.part, p);
        const bool token = net_.tensors[p.tensor].role == tensor_role::token;
        if (wanted == nullptr || token || !common(at, *wanted).empty())
          y.parts.push_back({b.tensor, at.rows.first, at.columns.first, at.channels.first});
      }
    return y;
  }

  void cut_operation(op_id i) {
    const operation& op = net_.operations[i];
    bool in_parts = op.writes.size() == 1;
    for (const placed& p : op.writes.front().parts) in_parts = in_parts && may_run_in_parts(op, cuts_[p.tensor]);
    if (!in_parts) {
      operation all = op;
      for (image& x : all.reads) x = parts_of(x, nullptr);
      for (image& x : all.writes) x = parts_of(x, nullptr);
      all.overwrites = none;
      if (op.overwrites != none && cuts_[op.overwrites].none()) all.overwrites = blocks_[op.overwrites].front().tensor;
      add(i, std::move(all));
      return;
    }
    const image written = parts_of(op.writes.front(), nullptr);
    const box all = computes(net_, op);
    const bool one = written.parts.size() == op.writes.front().parts.size();
    if (one) {
      operation same = op;
      finish(i, same, all, written);
      return;
    }
    for (std::size_t n = 0; n < written.parts.size(); ++n) {
      operation part = op;
      part.name += "#" + std::to_string(n);
      const image result{written.size, {written.parts[n]}};
      const box b = box_of(out_, written.parts[n]);
      restrict_weights(net_, part, all, b);
      finish(i, part, b, result);
    }
  }

  /// Completes the operator that computes box b of operator i's result.
  void finish(op_id i, operation part, const box& b, const image& result) {
    const operation& op = net_.operations[i];
    for (std::size_t k = 0; k < op.reads.size(); ++k) {
      const box wanted = needed(op, k, b);
      part.reads[k] = parts_of(op.reads[k], &wanted);
    }
    part.writes = {result};
    part.overwrites = none;
    if (op.overwrites != none)
      for (const image& x : part.reads)
        for (const placed& p : x.parts)
          if (is_block_of(p.tensor, op.overwrites) && box_of(out_, p) == b) part.overwrites = p.tensor;
    add(i, std::move(part));
  }
  bool is_block_of(tensor_id piece, tensor_id t) const {
    return std::any_of(blocks_[t].begin(), blocks_[t].end(), [&](const block& b) { return b.tensor == piece; });
  }

  void add(op_id i, operation part) {
    part.after.clear();
    for (const op_id before : net_.operations[i].after)
      part.after.insert(part.after.end(), became_[before].begin(), became_[before].end());
    became_[i].push_back(static_cast<op_id>(out_.operations.size()));
    out_.operations.push_back(std::move(part));
  }

  const network& net_;
  const std::vector<cut_points>& cuts_;
  std::vector<std::vector<block>> blocks_;
  std::vector<std::vector<op_id>> became_;
  network out_;
};

}  // namespace detail

MEMSCHED_FUNCTION result<network> cut(const network& net, const std::vector<cut_points>& cuts) {
  const auto fault = [&](tensor_id t, const char* what) {
    return graph_error{error_code::bad_input, detail::labelled("tensor ", t, net.tensors[t].name) + what, {}, {t}};
  };
  if (cuts.size() != net.tensors.size())
    return graph_error{
        error_code::bad_input,
        "there are cuts for " + std::to_string(cuts.size()) + " tensors, not for " + std::to_string(net.tensors.size()),
        {},
        {}};
  for (tensor_id t = 0; t < cuts.size(); ++t) {
    if (!cuts[t].none() && net.tensors[t].role != tensor_role::value) return fault(t, " is no value and cannot be cut");
    for (const axis a : {axis::rows, axis::channels}) {
      coordinate from = 0;
      for (const coordinate p : a == axis::rows ? cuts[t].rows : cuts[t].channels) {
        if (p <= from || p >= along(net.tensors[t].size, a)) return fault(t, " is cut outside itself, or not in order");
        from = p;
      }
    }
  }
  return detail::cutting(net, cuts).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
