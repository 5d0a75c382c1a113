// The check that a network is a rewrite of another: by provenance, operator by operator. Shares no code with the rules.
#pragma once

#include <string>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The first fault of `after` as a rewrite of the first network `before`; empty if there is none. Then, for any
/// weights and inputs, `after` computes the outputs of `before`: over real numbers, and, if no operators changed
/// places, to the bit wherever sums of the same terms in another order are equal (always, over integers). Checked are:
///
/// 1. Every output element of `before` is computed by exactly one part of an output of `after`, and nothing else is output.
/// 2. The result of an operator is the part of its origin's result that its place says, and the elements that it reads (row
///    by row, as its window says, clipped to the image) is held by parts with these very elements of the origin's operand.
///    Plain concatenations are seen through; a convolution or addition may take over the zeros of its operand's pad.
/// 3. The partial sums of an element have reduction intervals that partition the range, one bias, and one end, which runs
///    after all of them.
/// 4. The intervals of weights and biases are those of the channels computed and summed over.
/// 5. An operator without origin is a copy, and each element that it writes is one that it reads at the same place.
/// 6. A resize whose only reader is a convolution of 1 x 1 without activation may have changed places with it; so may such
///    a convolution whose only reader is a mean over the image.
/// 7. Attributes are those of the origin; element types and quantization those of the tensors' origins.
///
/// O(operators times parts of their operands).
MEMSCHED_FUNCTION std::string check_rewrite(const network& before, const network& after);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/network/check.hpp>
#include <memsched/rewrite/check_sums.hpp>
#include <memsched/rewrite/provenance.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class rewrite_check : sum_check {
 public:
  using sum_check::sum_check;

  std::string run() {
    if (const graph_error e = check_network(after_); !e.message.empty()) return e.message;
    from_.emplace(before_, after_);
    for (tensor_id t = 0; t < after_.tensors.size() && fault_.empty(); ++t) check_tensor(t);
    if (fault_.empty()) check_outputs();
    for (op_id i = 0; i < after_.operations.size() && fault_.empty(); ++i) check_operation(i);
    return fault_;
  }

 private:
  void check_tensor(tensor_id t) {
    const typed_tensor& x = after_.tensors[t];
    if (x.role == tensor_role::token) {
      if (x.input || x.output) at_tensor(t, "is a token at the end of the network");
      return;
    }
    if (x.origin >= before_.tensors.size()) return at_tensor(t, "has no origin");
    const typed_tensor& from = before_.tensors[x.origin];
    if (!whole(from.size).contains(x.part)) return at_tensor(t, "holds " + to_string(x.part) + ", outside its origin");
    if (x.part.size() != x.size) return at_tensor(t, "has other extents than its part of its origin");
    if (x.role == tensor_role::sum) {
      const bool narrow = size_of(from.element) < 4;
      if (x.element != (narrow ? element::int32 : from.element)) at_tensor(t, "holds sums in elements that round them");
      if (x.input || x.output) at_tensor(t, "is a sum at the end of the network");
      return;
    }
    if (x.element != from.element) return at_tensor(t, "has another element type than its origin");
    if (!(x.quant == from.quant)) return at_tensor(t, "has another quantization than its origin");
    if (x.input && !from.input) return at_tensor(t, "is a graph input, and its origin is not");
    if (x.output && !from.output) return at_tensor(t, "is a graph output, and its origin is not");
  }

  void check_outputs() {
    std::vector<std::vector<box>> left(before_.tensors.size());
    for (tensor_id t = 0; t < before_.tensors.size(); ++t)
      if (before_.tensors[t].output) left[t] = {whole(before_.tensors[t].size)};
    std::vector<bytes> elements(before_.tensors.size(), 0);
    for (const typed_tensor& x : after_.tensors) {
      if (!x.output) continue;
      subtract(left[x.origin], x.part);
      elements[x.origin] += static_cast<bytes>(x.size.elements());
    }
    for (tensor_id t = 0; t < before_.tensors.size(); ++t) {
      if (!before_.tensors[t].output) continue;
      const std::string name = labelled("output ", t, before_.tensors[t].name);
      if (!left[t].empty()) return complain(name + " lacks " + to_string(left[t].front()));
      if (elements[t] != static_cast<bytes>(before_.tensors[t].size.elements()))
        return complain(name + " is computed twice in places");
    }
  }

  void check_operation(op_id i) {
    const operation& op = after_.operations[i];
    if (op.does.what == op_kind::read) return check_read(i);
    if (op.does.what == op_kind::copy && op.origin == none) return check_move(i);
    if (op.origin >= before_.operations.size()) return at_operator(i, "has no origin");
    const operation& from = before_.operations[op.origin];
    switch (op.does.what) {
      case op_kind::begin:
      case op_kind::finish:
      case op_kind::finish_mean:
      case op_kind::add_sums: return check_sum(i, from);
      default: break;
    }
    operation expected = from;
    take_over_pads(op, expected);
    attributes does = op.does;
    if (op.sum != summation::complete && op.sum != summation::last) does.act = expected.does.act;
    if (!(does == expected.does))
      return at_operator(i, "has other attributes than its origin, or a pad that its origin's operand does not have");
    if (op.sum != summation::complete && op.sum != summation::last && op.does.act != activation::identity)
      return at_operator(i, "applies an activation to a part of a sum");
    if (data_operands(op) != expected.reads.size()) return at_operator(i, "has other operands than its origin");
    for (std::size_t k = 0; k < expected.reads.size(); ++k)
      if (op.reads[k].size != expected.reads[k].size)
        return at_operator(i, "takes an operand of " + to_string(op.reads[k].size) + ", its origin one of " +
                                  to_string(expected.reads[k].size));
    check_results(i, expected);
    if (!fault_.empty()) return;
    const box part = hull_of(after_, target(op));
    check_weights(i, expected, part);
    for (const placed& p : target(op).parts)
      for (std::size_t k = 0; k < expected.reads.size() && fault_.empty(); ++k)
        check_operand(i, expected, k, box_of(after_, p));
    if (fault_.empty() && op.sum != summation::complete) check_part_of_sum(i, expected);
    check_alias(i);
  }

  void check_read(op_id i) {
    for (const image& x : after_.operations[i].writes)
      for (const placed& p : x.parts) {
        const typed_tensor& t = after_.tensors[p.tensor];
        if (t.role != tensor_role::value || !before_.tensors[t.origin].input)
          return at_operator(i, "reads from outside what is no graph input");
        if (box_of(after_, p) != t.part) return at_operator(i, "reads another part than its result holds");
      }
  }

  /// A slice or concatenation that the first network does not have: it moves elements, to their places.
  void check_move(op_id i) {
    const operation& op = after_.operations[i];
    attributes plain;
    plain.what = op_kind::copy;
    if (!(op.does == plain) || op.sum != summation::complete || op.weights || op.bias)
      return at_operator(i, "moves elements and does something else, too");
    for (const image& x : op.writes)
      for (const placed& p : x.parts)
        if (after_.tensors[p.tensor].role != tensor_role::value || after_.tensors[p.tensor].alias_of != none)
          return at_operator(i, "moves elements to what is no tensor of its own");
    const std::vector<piece> there = from_->pieces_after(op.reads[0]);
    for (const image& x : op.writes)
      for (const piece& want : from_->pieces_after(x)) {
        std::vector<box> missing{want.at};
        for (const piece& have : there)
          if (have.same(want)) subtract(missing, have.at);
          else if (!common(have.at, want.at).empty())
            return at_operator(i, "moves other elements than its result has at " + to_string(common(have.at, want.at)));
        if (!missing.empty()) return at_operator(i, "does not read " + to_string(missing.front()) + ", which it moves");
      }
  }

  /// If an operand of `op` lacks the zeros that a pad puts around its origin's, takes the origin for one with that pad.
  void take_over_pads(const operation& op, operation& expected) const {
    for (std::size_t k = 0; k < expected.reads.size() && k < op.reads.size(); ++k)
      while (expected.reads[k].size != op.reads[k].size && expected.reads[k].parts.size() == 1) {
        const op_id w = from_->writer(expected.reads[k].parts[0].tensor);
        if (w == none) return;
        const operation& pad = before_.operations[w];
        if (pad.does.what != op_kind::pad || pad.does.pad_value != 0) return;
        const extents &in = pad.reads[0].size, &out = pad.writes[0].size;
        const window& w2 = pad.does.win;
        if (out != expected.reads[k].size) return;
        for (const placed& p : pad.reads[0].parts)
          if (!(before_.tensors[p.tensor].quant == before_.tensors[pad.writes[0].parts[0].tensor].quant)) return;
        const bool linear = expected.does.what == op_kind::convolution || expected.does.what == op_kind::depthwise;
        const bool crops = w2.pad_rows < 0 || w2.pad_columns < 0 || in.rows + w2.pad_rows > out.rows ||
                           in.columns + w2.pad_columns > out.columns;
        if (linear && in.channels == out.channels && w2.pad_channels == 0 && !crops) {
          expected.does.win.pad_rows += w2.pad_rows;
          expected.does.win.pad_columns += w2.pad_columns;
        } else if (!(expected.does.what == op_kind::add && w2.pad_channels == 0 && in.channels > 1 &&
                     in.channels <= out.channels && in.rows == out.rows && in.columns == out.columns && w2.pad_rows == 0 &&
                     w2.pad_columns == 0)) {
          return;
        }
        expected.reads[k] = pad.reads[0];
      }
  }

  void check_results(op_id i, const operation& expected) {
    const operation& op = after_.operations[i];
    if (op.sum == summation::into) return check_place(i, op.reads.back(), expected.writes[0], tensor_role::sum);
    if (op.writes.size() != expected.writes.size()) return at_operator(i, "has other results than its origin");
    const bool value = op.sum == summation::complete || op.sum == summation::last;
    for (std::size_t k = 0; k < op.writes.size() && fault_.empty(); ++k)
      check_place(i, op.writes[k], expected.writes[k], value ? tensor_role::value : tensor_role::sum);
  }

  /// The elements of an operand that a part of a dense layer's sum reads, if they are whole rows (channels, if the
  /// network counts by channels first), or channels of a single pixel.
  bool dense_terms(const interval& reduces, const extents& n, std::vector<interval>& rows, interval& columns,
                   interval& channels) const {
    const bool by_rows = before_.order == element_order::rows_columns_channels;
    const bool pixel = n.rows == 1 && n.columns == 1;
    const coordinate each = pixel ? 1 : by_rows ? n.columns * n.channels : n.rows * n.columns;
    if (reduces.first % each != 0 || reduces.last % each != 0) return false;
    rows = {{0, n.rows}}, columns = {0, n.columns}, channels = {0, n.channels};
    const interval taken{reduces.first / each, reduces.last / each};
    if (by_rows && !pixel) rows = {taken};
    else channels = taken;
    return true;
  }

  void check_operand(op_id i, const operation& expected, std::size_t k, const box& out) {
    const operation& op = after_.operations[i];
    const extents &n = expected.reads[k].size, &m = expected.writes[0].size;
    std::vector<interval> rows;
    for (coordinate y = out.rows.first; y < out.rows.last; ++y)
      each_read(expected.does, true, y, n.rows, m.rows, [&](coordinate r) {
        if (!rows.empty() && rows.back().last == r) rows.back().last = r + 1;
        else if (std::none_of(rows.begin(), rows.end(), [&](const interval& in) { return in.contains(r); }))
          rows.push_back({r, r + 1});
      });
    interval columns;
    for (coordinate y = out.columns.first; y < out.columns.last; ++y)
      each_read(expected.does, false, y, n.columns, m.columns, [&](coordinate c) { columns = hull(columns, {c, c + 1}); });
    if (expected.does.what == op_kind::mean && op.sum != summation::complete) rows = {op.reduces};
    interval channels = channels_read(op, expected, n, m, out.channels);
    if (expected.does.what == op_kind::dense && op.sum != summation::complete)
      if (!dense_terms(op.reduces, n, rows, columns, channels))
        return at_operator(i, "sums over elements of its operand that fill no rows or channels");
    const std::vector<piece> there = from_->pieces_after(op.reads[k]);
    for (const interval r : rows)
      for (const piece& want : from_->pieces_before(expected.reads[k], {r, columns, channels})) {
        std::vector<box> missing{want.at};
        for (const piece& have : there)
          if (have.same(want)) subtract(missing, have.at);
        if (!missing.empty())
          return at_operator(i, "lacks " + to_string(missing.front()) + " of operand " + std::to_string(k) +
                                    ", elements of " + labelled("tensor ", want.tensor, before_.tensors[want.tensor].name));
      }
    // A place may not be held by other elements, too: kernels would read these.
    for (const piece& have : there)
      for (const piece& want : from_->pieces_before(expected.reads[k], have.at))
        if (!have.same(want) && !common(have.at, want.at).empty())
          return at_operator(i, "reads " + before_.tensors[have.tensor].name + " at " + to_string(common(have.at, want.at)) +
                                    " of operand " + std::to_string(k) + ", where its origin has other elements");
  }

  void check_weights(op_id i, const operation& expected, const box& part) {
    const operation& op = after_.operations[i];
    const bool bias_later = op.sum != summation::complete && op.sum != summation::last;
    if (op.weights.of != expected.weights.of) return at_operator(i, "uses other weights than its origin");
    if (op.bias.of != expected.bias.of && (op.bias.of != none || (!bias_later && op.sum != summation::last)))
      return at_operator(i, "uses another bias than its origin");
    if (op.weights && !same_slice(op.weights, expected.weights, op, expected, part, true))
      return at_operator(i, "uses weights for other channels than it computes or sums over");
    if (op.bias && !same_slice(op.bias, expected.bias, op, expected, part, false))
      return at_operator(i, "uses a bias for other channels than it computes");
  }
  std::optional<provenance> from_;
};

/// The first network with those operators in each other's place that `after` exchanged: where an operator derived from a
/// resize convolves, or one derived from a convolution averages. Nothing if there is no such exchange. A resize blends
/// pixels with weights that add to one, and so does a mean, so that they commute with functions linear in each pixel but for
/// a bias.
class exchange {
 public:
  exchange(const network& before, const network& after) : now_(before) {
    for (const bool means : {false, true}) {
      std::vector<bool>& list = means ? averages_ : convolves_;
      list.assign(before.operations.size(), false);
      for (const operation& op : after.operations) {
        const op_kind k = op.does.what;
        const bool is = means ? k == op_kind::mean || k == op_kind::finish_mean : k == op_kind::convolution;
        if (op.origin < list.size() && is) list[op.origin] = true;
      }
    }
  }
  std::optional<network> run() {
    bool any = false;
    for (bool changed = true; changed; any = any || changed) {
      changed = false;
      for (op_id i = 0; i < now_.operations.size() && !changed; ++i) changed = exchanged(i);
    }
    if (!any) return {};
    return std::move(now_);
  }

 private:
  static tensor_id only(const std::vector<image>& images) {
    return images.size() == 1 && images[0].parts.size() == 1 ? images[0].parts[0].tensor : none;
  }
  static bool is_linear(const operation& conv) {
    attributes plain;
    plain.what = op_kind::convolution;
    plain.win.dilation_rows = conv.does.win.dilation_rows, plain.win.dilation_columns = conv.does.win.dilation_columns;
    return conv.does == plain && conv.sum == summation::complete;
  }
  /// Puts the reader of operator i in front of it, if that is so in the other network and may be.
  bool exchanged(op_id i) {
    const operation& op = now_.operations[i];
    const bool resizes = op.does.what == op_kind::resize_bilinear || op.does.what == op_kind::resize_nearest;
    const tensor_id from = only(op.reads), t = only(op.writes);
    if (!(resizes ? convolves_[i] && op.does.act == activation::identity : averages_[i] && is_linear(op))) return false;
    if (from == none || t == none || now_.tensors[t].output || now_.tensors[from].size != op.reads[0].size) return false;
    op_id reader = none;
    std::size_t readers = 0;
    for (op_id j = 0; j < now_.operations.size(); ++j)
      for (const image& x : now_.operations[j].reads)
        for (const placed& p : x.parts)
          if (p.tensor == t) ++readers, reader = j;
    if (readers != 1 || only(now_.operations[reader].reads) != t) return false;
    const operation& next = now_.operations[reader];
    const bool averages =
        next.does.what == op_kind::mean && next.does.act == activation::identity && next.sum == summation::complete;
    const tensor_id to = only(next.writes);
    if (!(resizes ? is_linear(next) : averages) || to == none) return false;
    for (const typed_tensor& x : now_.tensors)
      if (x.alias_of == t) return false;
    if (now_.tensors[t].alias_of != none || now_.tensors[to].alias_of != none) return false;
    operation first = next, second = op;
    typed_tensor& middle = now_.tensors[t];
    const extents &in = second.reads[0].size, &out = first.writes[0].size;
    middle.size = resizes ? extents{in.rows, in.columns, out.channels} : extents{1, 1, in.channels};
    middle.part = whole(middle.size);
    middle.element = now_.tensors[to].element, middle.quant = now_.tensors[to].quant;
    const image result = first.writes[0], between{middle.size, {{t, 0, 0, 0}}};
    first.reads = second.reads, first.writes = {between};
    second.reads = {between}, second.writes = {result};
    now_.operations[i] = std::move(first), now_.operations[reader] = std::move(second);
    return true;
  }

  network now_;
  std::vector<bool> convolves_, averages_;  ///< per operator of the first network: whether operators derived from it do
};

}  // namespace detail

MEMSCHED_FUNCTION std::string check_rewrite(const network& before, const network& after) {
  if (const graph_error e = check_network(before); !e.message.empty()) return "the first network: " + e.message;
  const std::optional<network> moved = detail::exchange(before, after).run();
  return detail::rewrite_check(moved ? *moved : before, after).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
