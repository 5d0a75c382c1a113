// The common parts of the checker of rewrites, and its check of sums in parts: one bias, every term once, one end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/check.hpp>
#include <memsched/network/network.hpp>
#include <memsched/rewrite/provenance.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Checks the operators that make sums in parts, in the order in which they run.
class sum_check {
 public:
  sum_check(const network& before, const network& after) : before_(before), after_(after), sums_(after.tensors.size()) {}

 protected:
  /// The terms of a sum so far.
  struct ledger {
    int biases = 0;
    std::size_t changes = 0;  ///< operators that change it in place
    bool taken = false;       ///< by an operator that needs it complete: no operator may change it any more
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

  /// Whether the parts of an image are those parts of the origin's result that their places say.
  void check_place(op_id i, const image& x, const image& expected, tensor_role role) {
    if (x.size != expected.size)
      return at_operator(i, "has a result of " + to_string(x.size) + ", its origin one of " + to_string(expected.size));
    for (const placed& p : x.parts) {
      const typed_tensor& t = after_.tensors[p.tensor];
      // An operator of the first network that only acts writes a token there, too.
      const bool acts = t.origin < before_.tensors.size() && before_.tensors[t.origin].role == tensor_role::token;
      if (t.role != (acts ? tensor_role::token : role))
        return at_operator(i, "writes " + t.name + ", which has another role");
      const bool fits = std::any_of(expected.parts.begin(), expected.parts.end(), [&](const placed& q) {
        return q.tensor == t.origin && shifted(t.part, q.row, q.column, q.channel) == box_of(after_, p);
      });
      if (!fits)
        return at_operator(
            i, "writes " + t.name + " at " + to_string(box_of(after_, p)) + ", where its origin has other elements");
    }
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
    const coordinate range = terms_in_all(expected);
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

  /// The number of terms of a sum: rows of a mean, elements of a dense layer's operand, else channels.
  static coordinate terms_in_all(const operation& from) {
    const extents& n = from.reads[0].size;
    if (from.does.what == op_kind::dense) return n.elements();
    return from.does.what == op_kind::mean ? n.rows : n.channels;
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
    if (!mean && from.does.what != op_kind::convolution && from.does.what != op_kind::transposed_convolution &&
        from.does.what != op_kind::dense)
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
    check_complete(i, from, sum, terms_in_all(from));
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
    if (reached != range) at_operator(i, "ends a sum that lacks what follows " + std::to_string(reached));
  }

  /// A result may name the storage of a view's operand.
  void check_alias(op_id i) {
    const operation& op = after_.operations[i];
    for (const image& y : op.writes)
      for (const placed& p : y.parts) {
        const tensor_id of = after_.tensors[p.tensor].alias_of;
        if (of == none) continue;
        const op_kind k = op.does.what;
        const bool reads = std::any_of(op.reads.begin(), op.reads.end(),
                                       [&](const image& x) { return x.parts.size() == 1 && x.parts[0].tensor == of; });
        if (!reads || (k != op_kind::reshape && k != op_kind::copy && k != op_kind::opaque))
          return at_operator(i, "writes into the storage of another tensor");
      }
  }

  const network &before_, &after_;
  std::vector<ledger> sums_;  ///< per tensor of `after_`
  std::string fault_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
