// R1 and R9, sums in parts: a convolution of a concatenation as a sum over its parts, a mean or dense layer as a sum over
// blocks of its operand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/network/windows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The way in which partial sums come together.
enum class sum_form : unsigned char {
  together,   ///< each for itself, and one operator adds all (SERENITY's channel-wise partitioning)
  in_pairs,   ///< each for itself, and binary additions in place
  chain,      ///< each adds its terms to the sum before it, in place, in the given order
  any_order,  ///< each changes one accumulator, which is there before all; the scheduler chooses their order
};

/// The range of the sum that an operator makes of one part of its operand: channels of a convolution, rows of a mean,
/// elements of a dense layer in the network's order. Empty if these are no interval.
inline interval terms_of(const network& net, const operation& op, const placed& p) {
  const box b = box_of(net, p);
  if (op.does.what == op_kind::mean) return b.rows;
  if (op.does.what != op_kind::dense) return b.channels;
  const extents& n = op.reads[0].size;
  const bool by_rows = net.order == element_order::rows_columns_channels;
  const coordinate first = by_rows ? (b.rows.first * n.columns + b.columns.first) * n.channels + b.channels.first
                                   : (b.channels.first * n.rows + b.rows.first) * n.columns + b.columns.first;
  const interval i{first, first + b.size().elements()};
  return box_of_elements(n, i, net.order) == b ? i : interval{};
}

/// The ranges of operator i's sum, part by part of its operand. Empty if the parts are fewer than two, or overlap and do
/// not lie side by side along the range.
inline std::vector<interval> terms_of(const network& net, const operation& op) {
  std::vector<interval> list;
  for (const placed& p : op.reads[0].parts) {
    const interval i = terms_of(net, op, p);
    if (std::find(list.begin(), list.end(), i) == list.end()) list.push_back(i);
  }
  std::vector<interval> sorted = list;
  std::sort(sorted.begin(), sorted.end(), [](const interval& a, const interval& b) { return a.first < b.first; });
  coordinate reached = 0;
  for (const interval& i : sorted) {
    if (i.first != reached || i.empty()) return {};
    reached = i.last;
  }
  const extents& n = op.reads[0].size;
  const op_kind k = op.does.what;
  const coordinate all = k == op_kind::mean ? n.rows : k == op_kind::dense ? n.elements() : n.channels;
  return list.size() > 1 && reached == all ? list : std::vector<interval>{};
}

/// Whether operator i is a sum that may be split: an ungrouped convolution whose operand's parts lie side by side by
/// channels, a mean whose operand's parts do by rows, or a dense layer of parts that are intervals of its elements; with one
/// result. A group of a grouped convolution may straddle two parts.
MEMSCHED_FUNCTION bool may_split_sum(const network& net, op_id i);

namespace detail {

class sum_splitting {
 public:
  sum_splitting(network net, op_id i, sum_form form)
      : net_(std::move(net)), at_(i), op_(net_.operations[i]), form_(form), terms_(terms_of(net_, op_)) {}

  network run() {
    switch (form_) {
      case sum_form::together: together(); break;
      case sum_form::in_pairs: in_pairs(); break;
      case sum_form::chain: chain(); break;
      case sum_form::any_order: any_order(); break;
    }
    const auto shift = static_cast<op_id>(made_.size() - 1);
    for (op_id later = at_ + 1; later < net_.operations.size(); ++later)
      for (op_id& before : net_.operations[later].after)
        if (before >= at_) before += shift;  // an operator after the split one is after its end
    const auto place = net_.operations.begin() + static_cast<std::ptrdiff_t>(at_);
    *place = std::move(made_.back());
    made_.pop_back();
    net_.operations.insert(place, std::make_move_iterator(made_.begin()), std::make_move_iterator(made_.end()));
    return std::move(net_);
  }

 private:
  bool mean() const { return op_.does.what == op_kind::mean; }

  tensor_id sum_tensor(const std::string& suffix, tensor_role role = tensor_role::sum) {
    const typed_tensor& y = net_.tensors[op_.writes[0].parts[0].tensor];
    typed_tensor x = y;
    x.name += suffix;
    x.role = role;
    x.output = false;
    x.alias_of = none;
    x.quant = net_.tensors[op_.reads[0].parts[0].tensor].quant;
    x.element = role == tensor_role::token ? element::token : size_of(y.element) < 4 ? element::int32 : y.element;
    net_.tensors.push_back(std::move(x));
    return static_cast<tensor_id>(net_.tensors.size() - 1);
  }
  image image_of(tensor_id t) const {
    image x = op_.writes[0];
    x.parts[0].tensor = t;
    return x;
  }
  image result_image() const { return op_.writes[0]; }

  operation part(std::size_t n, summation how) const {
    operation p = op_;
    p.name += "/part" + std::to_string(n);
    p.sum = how;
    p.overwrites = none;
    p.reduces = terms_[n];
    if (how != summation::last) p.does.act = activation::identity;
    std::erase_if(p.reads[0].parts, [&](const placed& q) { return terms_of(net_, op_, q) != terms_[n]; });
    if (!mean()) {
      const coordinate first = op_.weights.inputs.first;
      p.weights.inputs = {first + terms_[n].first, first + terms_[n].last};
    }
    if (n != 0 || form_ == sum_form::any_order || form_ == sum_form::together) p.bias = {};
    p.writes.clear();
    return p;
  }
  operation end(std::vector<image> sums) const {
    operation e = op_;
    e.name += "/end";
    e.does.what = mean() ? op_kind::finish_mean : op_kind::finish;
    e.does.win = {};
    if (mean()) e.does.win.kernel_rows = op_.reads[0].size.rows, e.does.win.kernel_columns = op_.reads[0].size.columns;
    e.reads = std::move(sums);
    if (form_ != sum_form::together) e.bias = {};
    e.overwrites = form_ == sum_form::together ? none : e.reads[0].parts[0].tensor;
    e.after.clear();
    return e;
  }

  void together() {
    std::vector<image> sums;
    for (std::size_t n = 0; n < terms_.size(); ++n) {
      made_.push_back(part(n, summation::partial));
      sums.push_back(image_of(sum_tensor("/sum" + std::to_string(n))));
      made_.back().writes = {sums.back()};
    }
    made_.push_back(end(std::move(sums)));
  }

  void in_pairs() {
    image sum;
    for (std::size_t n = 0; n < terms_.size(); ++n) {
      made_.push_back(part(n, summation::partial));
      const image next = image_of(sum_tensor("/sum" + std::to_string(n)));
      made_.back().writes = {next};
      if (n == 0) {
        sum = next;
      } else if (n + 1 == terms_.size()) {
        made_.push_back(end({sum, next}));
      } else {
        operation add = end({sum, next});
        add.name = op_.name + "/add" + std::to_string(n);
        add.does = {};
        add.does.what = op_kind::add_sums;
        add.weights = {};
        sum = image_of(sum_tensor("/sum0+" + std::to_string(n)));
        add.writes = {sum};
        made_.push_back(std::move(add));
      }
    }
  }

  void chain() {
    image sum;
    for (std::size_t n = 0; n < terms_.size(); ++n) {
      const bool first = n == 0, last = n + 1 == terms_.size();
      operation p = part(n, first ? summation::partial : last ? summation::last : summation::onto);
      if (!first) p.overwrites = sum.parts[0].tensor, p.reads.push_back(sum);
      if (!last) sum = image_of(sum_tensor("/sum" + std::to_string(n)));
      p.writes = {last ? result_image() : sum};
      made_.push_back(std::move(p));
    }
  }

  void any_order() {
    const image sum = image_of(sum_tensor("/sum"));
    operation begin;
    begin.name = op_.name + "/begin";
    begin.does.what = op_kind::begin;
    begin.bias = op_.bias;
    begin.origin = op_.origin;
    begin.writes = {sum};
    begin.after = op_.after;
    made_.push_back(std::move(begin));
    std::vector<image> ends{sum};
    for (std::size_t n = 0; n < terms_.size(); ++n) {
      operation p = part(n, summation::into);
      p.reads.push_back(sum);
      ends.push_back(image_of(sum_tensor("/token" + std::to_string(n), tensor_role::token)));
      p.writes = {ends.back()};
      made_.push_back(std::move(p));
    }
    made_.push_back(end(std::move(ends)));
  }

  network net_;
  op_id at_;
  operation op_;
  sum_form form_;
  std::vector<interval> terms_;
  std::vector<operation> made_;
};

}  // namespace detail

/// The network with operator i as partial sums. Exact over integers; in float32 the order of the terms changes: channel by
/// channel instead of tap by tap. The bias comes once, at the start; rounding and activation once, at the end; a weight's
/// input channel is its place in the concatenation, whatever the order of execution. Sums of eight-bit values take four
/// bytes an element.
///
/// Lemma. A convolution is linear in each channel of its operand, so that it is the sum of its values for the intervals of
/// any partition of the channels, with zeros elsewhere. Precondition: may_split_sum.
inline network split_sum(const network& net, op_id i, sum_form form) { return detail::sum_splitting(net, i, form).run(); }

/// R9 wherever it may be applied: means and dense layers over blocks. As a chain, blocks of a mean come in the order of the
/// rows, those of a dense layer in the order of its elements, so that float32 gives the same bits.
MEMSCHED_FUNCTION network split_reductions(network net, sum_form form);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/rewrite/edit.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION bool may_split_sum(const network& net, op_id i) {
  const operation& op = net.operations[i];
  const bool linear = op.does.what == op_kind::convolution || op.does.what == op_kind::transposed_convolution;
  const bool reduction = op.does.what == op_kind::mean || op.does.what == op_kind::dense;
  if ((!linear && !reduction) || op.sum != summation::complete || op.does.groups != 1) return false;
  return op.writes[0].parts.size() == 1 && !terms_of(net, op).empty();
}

MEMSCHED_FUNCTION network split_reductions(network net, sum_form form) {
  const auto reduces = [](op_kind k) { return k == op_kind::mean || k == op_kind::dense; };
  for (op_id i = 0; i < net.operations.size(); ++i)
    if (reduces(net.operations[i].does.what) && may_split_sum(net, i)) net = split_sum(net, i, form);
  return net;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
