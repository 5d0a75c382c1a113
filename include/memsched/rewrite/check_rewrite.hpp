// Whether a network is a rewrite of another: by provenance, operator by operator. Shares no code with the rules.
#pragma once

#include <string>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/network.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// The first fault of `after` as a rewrite of the first network `before`; empty where there is none. Then, whatever the
/// weights and inputs are, `after` computes the outputs of `before`: over real numbers, and to the bit wherever sums of the
/// same terms in another order are equal (always, over integers). Checked are:
///
/// 1. Every output element of `before` is computed by exactly one part of an output of `after`, and nothing else is output.
/// 2. What an operator writes is the part of its origin's result that its place says, and what it reads there (row by row,
///    as its window says, clipped to the image) is held by parts with these very elements of the origin's operand. Plain
///    concatenations are seen through; a convolution or addition may take over the zeros of its operand's pad.
/// 3. The partial sums of an element have reduction intervals that partition the range, one bias, and one end, which runs
///    behind all of them.
/// 4. The intervals of weights and biases are those of the channels computed and summed over.
/// 5. Attributes are those of the origin; element types and quantization those of the tensors' origins.
///
/// O(operators times parts of their operands).
MEMSCHED_FUNCTION std::string check_rewrite(const network& before, const network& after);

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/network/check.hpp>
#include <memsched/rewrite/provenance.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

class rewrite_check {
 public:
  rewrite_check(const network& before, const network& after) : before_(before), after_(after) {}

  std::string run() {
    if (const graph_error e = check_network(before_); !e.message.empty()) return "the first network: " + e.message;
    if (const graph_error e = check_network(after_); !e.message.empty()) return e.message;
    from_.emplace(before_, after_);
    for (tensor_id t = 0; t < after_.tensors.size() && fault_.empty(); ++t) check_tensor(t);
    if (fault_.empty()) check_outputs();
    sums_.resize(after_.tensors.size());
    for (op_id i = 0; i < after_.operations.size() && fault_.empty(); ++i) check_operation(i);
    return fault_;
  }

 private:
  /// What a sum has in it.
  struct ledger {
    int biases = 0;
    std::size_t changes = 0;  ///< operators that change it in place
    bool taken = false;       ///< by an operator that needs it complete: nobody may change it any more
    std::vector<interval> reduces{};
    op_id origin = none;
  };

  void complain(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }
  void at_tensor(tensor_id t, const std::string& what) {
    complain(labelled("tensor ", t, after_.tensors[t].name) + " " + what);
  }
  void at_operator(op_id i, const std::string& what) {
    complain(labelled("operator ", i, after_.operations[i].name) + " " + what);
  }

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
    if (op.origin >= before_.operations.size()) return at_operator(i, "has no origin");
    const operation& from = before_.operations[op.origin];
    switch (op.does.what) {
      case op_kind::begin:
      case op_kind::finish:
      case op_kind::finish_mean:
      case op_kind::add_sums:
        return check_sum(i, from);
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

  /// Where an operand of `op` lacks the zeros that a pad puts around its origin's, takes the origin for one with that pad.
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

  /// Whether the parts of an image are those parts of the origin's result that their places say.
  void check_place(op_id i, const image& x, const image& expected, tensor_role role) {
    if (x.size != expected.size)
      return at_operator(i, "has a result of " + to_string(x.size) + ", its origin one of " + to_string(expected.size));
    for (const placed& p : x.parts) {
      const typed_tensor& t = after_.tensors[p.tensor];
      if (t.role != role) return at_operator(i, "writes " + t.name + ", which has another role");
      const bool fits = std::any_of(expected.parts.begin(), expected.parts.end(), [&](const placed& q) {
        return q.tensor == t.origin && shifted(t.part, q.row, q.column, q.channel) == box_of(after_, p);
      });
      if (!fits)
        return at_operator(
            i, "writes " + t.name + " at " + to_string(box_of(after_, p)) + ", where its origin has other elements");
    }
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
    const interval channels = channels_read(op, expected, n, m, out.channels);
    if (expected.does.what == op_kind::mean && op.sum != summation::complete) rows = {op.reduces};
    if (expected.does.what == op_kind::dense && op.sum != summation::complete)
      return at_operator(i, "is a part of a dense layer's sum, which is not checked");
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
  bool same_slice(const slice& s, const slice& of, const operation& op, const operation& expected, const box& part,
                  bool weights) const {
    const kind_facts facts = facts_of(expected.does.what);
    const bool constant = facts.least_operands == 1 && facts.most_operands == 2;
    const blob::axes& size = before_.blobs[of.of].size;
    slice want = of;
    const coordinate all = expected.writes[0].size.channels;
    const auto narrow = [&](interval& channels, std::int64_t there) {
      if (there == 1 && all != 1) return;
      channels = {channels.first + part.channels.first, channels.first + part.channels.last};
    };
    if (constant) narrow(want.inputs, size.inputs);
    else if (expected.does.what != op_kind::opaque) narrow(want.outputs, size.outputs);
    if (weights && op.sum != summation::complete)
      want.inputs = {of.inputs.first + op.reduces.first, of.inputs.first + op.reduces.last};
    return s == want;
  }

  void check_part_of_sum(op_id i, const operation& expected) {
    const operation& op = after_.operations[i];
    if (expected.does.what == op_kind::convolution && expected.does.groups != 1)
      return at_operator(i, "sums parts of a grouped convolution");
    const coordinate range =
        expected.does.what == op_kind::mean ? expected.reads[0].size.rows : expected.reads[0].size.channels;
    if (op.reduces.empty() || !interval{0, range}.contains(op.reduces))
      return at_operator(i, "sums over " + to_string(op.reduces) + " of " + std::to_string(range));
    ledger sum{op.bias ? 1 : 0, 0, false, {op.reduces}, op.origin};
    if (continues_sum(op)) {
      if (!check_sum_operand(i, op.reads.back(), hull_of(after_, target(op)))) return;
      ledger& old = sums_[op.reads.back().parts[0].tensor];
      if (old.origin != op.origin) return at_operator(i, "continues a sum of another operator");
      if (op.sum == summation::into) {
        ledger& to = sums_[op.reads.back().parts[0].tensor];
        if (to.taken) return at_operator(i, "changes a sum that another operator has taken");
        to.biases += sum.biases, ++to.changes, to.reduces.push_back(op.reduces);
        return;
      }
      if (old.changes != 0) return at_operator(i, "continues a sum that others change in place");
      old.taken = true;
      sum.biases += old.biases;
      sum.reduces.insert(sum.reduces.end(), old.reduces.begin(), old.reduces.end());
    }
    if (op.sum == summation::last) return check_complete(i, expected, sum, range);
    for (const placed& p : op.writes[0].parts) sums_[p.tensor] = sum;
  }

  /// Whether an operand is one tensor of sums for exactly these elements.
  bool check_sum_operand(op_id i, const image& x, const box& part) {
    const bool good = x.parts.size() == 1 && after_.tensors[x.parts[0].tensor].role == tensor_role::sum &&
                      box_of(after_, x.parts[0]) == part;
    if (!good) at_operator(i, "adds to a sum of other elements");
    return good;
  }

  void check_sum(op_id i, const operation& from) {
    const operation& op = after_.operations[i];
    const bool mean = from.does.what == op_kind::mean;
    const bool ends = op.does.what == op_kind::finish || op.does.what == op_kind::finish_mean;
    if (!mean && from.does.what != op_kind::convolution && from.does.what != op_kind::transposed_convolution)
      return at_operator(i, "is part of a sum that its origin does not make");
    if (ends && mean != (op.does.what == op_kind::finish_mean))
      return at_operator(i, "ends another kind of sum than its origin makes");
    check_place(i, op.writes[0], from.writes[0], ends ? tensor_role::value : tensor_role::sum);
    if (!fault_.empty()) return;
    const box part = hull_of(after_, op.writes[0]);
    if (op.bias && (op.bias.of != from.bias.of || !same_slice(op.bias, from.bias, op, from, part, false)))
      return at_operator(i, "uses a bias for other channels than it computes");
    ledger sum{op.bias ? 1 : 0, 0, false, {}, op.origin};
    std::size_t changes = 0, tokens = 0;
    for (const image& x : op.reads) {
      for (const placed& p : x.parts)
        if (after_.tensors[p.tensor].role == tensor_role::token) ++tokens;
      if (!x.parts.empty() && after_.tensors[x.parts[0].tensor].role == tensor_role::token) continue;
      if (!check_sum_operand(i, x, part)) return;
      const typed_tensor& in = after_.tensors[x.parts[0].tensor];
      const typed_tensor& data = before_.tensors[from.reads[0].parts[0].tensor];
      if (!(in.quant == data.quant))
        return at_operator(i, "takes a sum with another quantization than its origin's operand");
      ledger& l = sums_[x.parts[0].tensor];
      l.taken = true;
      if (l.origin != op.origin) return at_operator(i, "takes a sum of another operator");
      changes += l.changes;
      sum.biases += l.biases;
      sum.reduces.insert(sum.reduces.end(), l.reduces.begin(), l.reduces.end());
    }
    if (changes != tokens) return at_operator(i, "does not wait for all that change its sum");
    if (!ends) {
      if (changes != 0) return at_operator(i, "takes a sum that others change in place");
      if (op.does.act != activation::identity) return at_operator(i, "applies an activation to a part of a sum");
      for (const placed& p : op.writes[0].parts) sums_[p.tensor] = sum;
      return;
    }
    if (!mean && (op.weights.of != from.weights.of ||
                  op.weights.outputs != interval{from.weights.outputs.first + part.channels.first,
                                                 from.weights.outputs.first + part.channels.last}))
      return at_operator(i, "rounds by the weights of other channels");
    const extents& n = from.reads[0].size;
    if (mean && (op.does.win.kernel_rows != n.rows || op.does.win.kernel_columns != n.columns))
      return at_operator(i, "divides by another number of cells");
    if (op.does.act != from.does.act || op.does.alpha != from.does.alpha || op.does.beta != from.does.beta ||
        op.does.function != from.does.function)
      return at_operator(i, "has another activation than its origin");
    check_complete(i, from, sum, mean ? n.rows : n.channels);
    check_alias(i);
  }

  void check_complete(op_id i, const operation& from, ledger& sum, coordinate range) {
    if (sum.biases != (from.bias ? 1 : 0))
      return at_operator(i, "ends a sum with the bias " + std::to_string(sum.biases) + " times");
    std::sort(sum.reduces.begin(), sum.reduces.end(),
              [](const interval& a, const interval& b) { return a.first < b.first; });
    coordinate reached = 0;
    for (const interval& r : sum.reduces) {
      if (r.first != reached)
        return at_operator(i, "ends a sum that has " + std::to_string(std::min(r.first, reached)) +
                                  (r.first > reached ? " not at all" : " twice"));
      reached = r.last;
    }
    if (reached != range) at_operator(i, "ends a sum that lacks what is behind " + std::to_string(reached));
  }

  /// A result may name the storage of what a view reads.
  void check_alias(op_id i) {
    const operation& op = after_.operations[i];
    for (const image& y : op.writes)
      for (const placed& p : y.parts) {
        const tensor_id of = after_.tensors[p.tensor].alias_of;
        if (of == none) continue;
        const op_kind k = op.does.what;
        const bool reads = std::any_of(op.reads.begin(), op.reads.end(), [&](const image& x) {
          return x.parts.size() == 1 && x.parts[0].tensor == of;
        });
        if (!reads || (k != op_kind::reshape && k != op_kind::copy && k != op_kind::opaque))
          return at_operator(i, "writes into the storage of another tensor");
      }
  }

  const network &before_, &after_;
  std::optional<provenance> from_;
  std::vector<ledger> sums_;
  std::string fault_;
};

}  // namespace detail

MEMSCHED_FUNCTION std::string check_rewrite(const network& before, const network& after) {
  return detail::rewrite_check(before, after).run();
}

}  // namespace memsched

#endif
