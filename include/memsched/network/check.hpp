// The check of a network: the faults that its arrays can have, without regard to where it comes from.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The form of a kind of operator: number of operands (-1: any number, at least one), and whether its operands are windows
/// of its result's places.
struct kind_facts {
  const char* name;
  int least_operands, most_operands;  // most: -1 for any
  bool weighs, may_sum, windows;
};

inline kind_facts facts_of(op_kind k) {
  switch (k) {
    case op_kind::convolution: return {"convolution", 1, 1, true, true, true};
    case op_kind::depthwise: return {"depthwise convolution", 1, 1, true, false, true};
    case op_kind::transposed_convolution: return {"transposed convolution", 1, 1, true, true, false};
    case op_kind::max_pooling: return {"max pooling", 1, 1, false, false, true};
    case op_kind::average_pooling: return {"average pooling", 1, 1, false, false, true};
    case op_kind::mean: return {"mean", 1, 1, false, true, false};
    case op_kind::dense: return {"dense", 1, 1, true, true, false};
    case op_kind::add: return {"add", 1, 2, false, false, false};
    case op_kind::subtract: return {"subtract", 1, 2, false, false, false};
    case op_kind::multiply: return {"multiply", 1, 2, false, false, false};
    case op_kind::divide: return {"divide", 1, 2, false, false, false};
    case op_kind::minimum: return {"minimum", 1, 2, false, false, false};
    case op_kind::maximum: return {"maximum", 1, 2, false, false, false};
    case op_kind::copy: return {"copy", 1, 1, false, false, false};
    case op_kind::pad: return {"pad", 1, 1, false, false, false};
    case op_kind::resize_bilinear: return {"bilinear resize", 1, 1, false, false, false};
    case op_kind::resize_nearest: return {"nearest resize", 1, 1, false, false, false};
    case op_kind::depth_to_space: return {"depth to space", 1, 1, false, false, false};
    case op_kind::reshape: return {"reshape", 1, 1, false, false, false};
    case op_kind::unary: return {"unary", 1, 1, false, false, false};
    case op_kind::prelu: return {"prelu", 1, 1, true, false, false};
    case op_kind::softmax: return {"softmax", 1, 1, false, false, false};
    case op_kind::add_sums: return {"sum of sums", 1, -1, false, false, false};
    case op_kind::finish: return {"finish", 1, -1, false, false, false};
    case op_kind::finish_mean: return {"finish of a mean", 1, -1, false, false, false};
    case op_kind::begin: return {"begin", 0, 0, false, false, false};
    case op_kind::read: return {"read", 0, 0, false, false, false};
    case op_kind::opaque: break;
  }
  return {"opaque", 0, -1, false, false, false};
}

class network_check {
 public:
  explicit network_check(const network& net) : net_(net) {}

  graph_error run() {
    for (index_t b = 0; b < net_.blobs.size(); ++b) check_blob(b);
    for (tensor_id t = 0; t < net_.tensors.size(); ++t) check_tensor(t);
    if (!error_.message.empty()) return std::move(error_);
    there_.assign(net_.tensors.size(), false);
    for (tensor_id t = 0; t < net_.tensors.size(); ++t) there_[t] = net_.tensors[t].input;
    for (op_id i = 0; i < net_.operations.size() && error_.message.empty(); ++i) check_operation(i);
    for (tensor_id t = 0; t < net_.tensors.size(); ++t)
      if (net_.tensors[t].output && !there_[t]) fault(t, "is an output, and no operator writes it");
    return std::move(error_);
  }

 private:
  void check_blob(index_t i) {
    const blob& b = net_.blobs[i];
    const auto complain = [&](const std::string& what) {
      keep({error_code::bad_input, labelled("weights ", i, b.name) + " " + what, {}, {}});
    };
    if (b.size.outputs < 1 || b.size.rows < 1 || b.size.columns < 1 || b.size.inputs < 1) return complain("are empty");
    const blob::axes& s = b.stride;
    if (s.outputs < 0 || s.rows < 0 || s.columns < 0 || s.inputs < 0) return complain("have a negative stride");
    if (size_of(b.element) == 0) return complain("are tokens");
    if (!b.scales.empty() && b.scales.size() != 1 && b.scales.size() != static_cast<std::size_t>(b.size.outputs))
      return complain("have " + std::to_string(b.scales.size()) + " scales for " + std::to_string(b.size.outputs) +
                      " channels");
    if (!b.zero_points.empty() && b.zero_points.size() != b.scales.size())
      return complain("have " + std::to_string(b.zero_points.size()) + " zero points for " +
                      std::to_string(b.scales.size()) + " scales");
    if (b.data.empty()) return;
    bytes last = 0;
    for (const auto& [n, step] : {std::pair{b.size.outputs, s.outputs}, std::pair{b.size.rows, s.rows},
                                  std::pair{b.size.columns, s.columns}, std::pair{b.size.inputs, s.inputs}}) {
      const bytes most = base::max_total / static_cast<bytes>(n);
      if (static_cast<bytes>(step) > most) return complain("reach past their bytes");
      last += static_cast<bytes>(n - 1) * static_cast<bytes>(step);
    }
    if (last >= b.data.size() / size_of(b.element)) complain("reach past their bytes");
  }

  void check_tensor(tensor_id t) {
    const typed_tensor& x = net_.tensors[t];
    if (x.size.rows < 0 || x.size.columns < 0 || x.size.channels < 0) return fault(t, "has a negative extent");
    bytes total = 16;  // more than an element
    for (const coordinate n : {x.size.rows, x.size.columns, x.size.channels}) {
      if (n != 0 && total > base::max_total / static_cast<bytes>(n)) return fault(t, "is too large: " + to_string(x.size));
      total *= static_cast<bytes>(n);
    }
    if (x.alias_of != none && x.alias_of >= net_.tensors.size())
      return fault(t, "is an alias of a tensor that does not exist");
    if (x.role != tensor_role::token && x.element == element::token) return fault(t, "is a token, but not by its role");
    if (x.origin != none && x.part.size() != x.size)
      return fault(t, "has extents " + to_string(x.size) + ", and its part of its origin " + to_string(x.part.size()));
  }

  void check_operation(op_id i) {
    const operation& op = net_.operations[i];
    const kind_facts facts = facts_of(op.does.what);
    const auto operands = static_cast<int>(op.reads.size()) - (continues_sum(op) ? 1 : 0);
    if (op.sum != summation::complete && !facts.may_sum)
      return fault_at(i, std::string("is part of a sum, and no ") + facts.name + " can be");
    if (operands < facts.least_operands || (facts.most_operands >= 0 && operands > facts.most_operands))
      return fault_at(i, "reads " + std::to_string(operands) + " operands, which no " + facts.name + " does");
    if (op.writes.empty()) return fault_at(i, "writes nothing");
    for (const image& x : op.reads) check_image(i, x, "reads");
    for (const image& x : op.reads)
      for (const placed& p : x.parts)
        if (error_.message.empty() && !there_[p.tensor])
          fault_at(i, "reads " + labelled("tensor ", p.tensor, net_.tensors[p.tensor].name) + " before it is there");
    for (const op_id before : op.after)
      if (before >= i) return fault_at(i, "runs after operator " + std::to_string(before) + ", which is not before it");
    for (const image& x : op.writes) check_image(i, x, "writes");
    if (!error_.message.empty()) return;
    for (const image& x : op.writes)
      for (const placed& p : x.parts) {
        if (there_[p.tensor])
          return fault_at(
              i, "writes " + labelled("tensor ", p.tensor, net_.tensors[p.tensor].name) + ", which is there already");
        there_[p.tensor] = true;
      }
    check_attributes(i, facts);
    check_weights(i, facts);
  }

  void check_image(op_id i, const image& x, const char* does) {
    const box all = whole(x.size);
    for (const placed& p : x.parts) {
      if (p.tensor >= net_.tensors.size()) return fault_at(i, std::string(does) + " a tensor that does not exist");
      if (net_.tensors[p.tensor].role == tensor_role::token) continue;
      if (const box b = box_of(net_, p); !all.contains(b))
        return fault_at(i, std::string(does) + " " + labelled("tensor ", p.tensor, net_.tensors[p.tensor].name) + " at " +
                               to_string(b) + " of an image of " + to_string(x.size));
    }
  }

  void check_attributes(op_id i, const kind_facts& facts) {
    const operation& op = net_.operations[i];
    const window& w = op.does.win;
    if (w.kernel_rows < 1 || w.kernel_columns < 1 || w.stride_rows < 1 || w.stride_columns < 1 || w.dilation_rows < 1 ||
        w.dilation_columns < 1)
      return fault_at(i, "has a window, stride or dilation below 1");
    const std::int64_t most = std::int64_t{1} << 30;
    for (const std::int64_t n : {w.kernel_rows, w.kernel_columns, w.stride_rows, w.stride_columns, w.dilation_rows,
                                 w.dilation_columns, w.pad_rows, w.pad_columns, w.pad_channels})
      if (n > most || n < -most) return fault_at(i, "has a window out of all proportion: " + std::to_string(n));
    if (op.does.block < 1) return fault_at(i, "has a block below 1");
    if (op.does.groups < 1) return fault_at(i, "has no group");
    if (facts.windows && op.sum == summation::complete) {
      const extents& in = op.reads[0].size;
      const extents& out = op.writes[0].size;
      if (!meets(out.rows, in.rows, w.kernel_rows, w.stride_rows, w.dilation_rows, w.pad_rows) ||
          !meets(out.columns, in.columns, w.kernel_columns, w.stride_columns, w.dilation_columns, w.pad_columns))
        return fault_at(i, "has windows outside the image");
    }
    if (op.does.what == op_kind::convolution) {
      const extents& in = op.reads[0].size;
      if (in.channels % op.does.groups != 0 || target(op).size.channels % op.does.groups != 0)
        return fault_at(i, "has " + std::to_string(op.does.groups) + " groups, which do not divide its channels");
    }
    if (op.does.what == op_kind::depthwise &&
        (op.reads[0].size.channels == 0 || op.writes[0].size.channels % op.reads[0].size.channels != 0))
      return fault_at(i, "has output channels that are no multiple of its input channels");
    if (op.overwrites != none) {
      for (const image& x : op.reads)
        for (const placed& p : x.parts)
          if (p.tensor == op.overwrites) return;
      fault_at(i, "overwrites what it does not read");
    }
  }

  /// Whether the first and the last window along an axis hold a cell of the image.
  static bool meets(coordinate out, coordinate in, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                    std::int64_t pad) {
    return out >= 1 && -pad + (kernel - 1) * dilation >= 0 && (out - 1) * stride - pad < in;
  }

  void check_weights(op_id i, const kind_facts& facts) {
    const operation& op = net_.operations[i];
    if (facts.weighs && !op.weights) return fault_at(i, std::string("is a ") + facts.name + " without weights");
    const bool constant = facts.least_operands == 1 && facts.most_operands == 2;
    if (constant && (op.reads.size() == 2) == static_cast<bool>(op.weights))
      return fault_at(i, "needs two operands, or one and a constant");
    for (const slice* s : {&op.weights, &op.bias}) {
      if (!*s) continue;
      if (s->of >= net_.blobs.size()) return fault_at(i, "uses weights that do not exist");
      const blob::axes& a = net_.blobs[s->of].size;
      if (!interval{0, a.outputs}.contains(s->outputs) || !interval{0, a.inputs}.contains(s->inputs))
        return fault_at(i, "uses weights that lie outside " + labelled("weights ", s->of, net_.blobs[s->of].name));
    }
    if (facts.windows && op.weights) {
      const blob::axes& a = net_.blobs[op.weights.of].size;
      if (a.rows != op.does.win.kernel_rows || a.columns != op.does.win.kernel_columns)
        fault_at(i, "has a kernel of other extents than its weights");
    }
  }

  void fault(tensor_id t, const std::string& what) {
    keep({error_code::bad_input, labelled("tensor ", t, net_.tensors[t].name) + " " + what, {}, {t}});
  }
  void fault_at(op_id i, const std::string& what) {
    keep({error_code::bad_input, labelled("operator ", i, net_.operations[i].name) + " " + what, {i}, {}});
  }
  void keep(graph_error e) {
    if (error_.message.empty()) error_ = std::move(e);
  }

  const network& net_;
  std::vector<bool> there_;
  graph_error error_;
};

}  // namespace detail

/// The name of a kind in messages.
inline const char* to_string(op_kind k) { return detail::facts_of(k).name; }

/// The first fault of a network, with the operator or tensor that has it; an empty message if there is none: ids that do
/// not exist, operators out of order, parts outside their image, extents and windows that do not agree, weights out of
/// range. O(size of the network).
MEMSCHED_FUNCTION graph_error check_network(const network& net);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION graph_error check_network(const network& net) { return detail::network_check(net).run(); }

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
