// R6, stripes: a region of operators once per stripe of rows of its results, with the rows where stripes overlap made anew.
#pragma once

#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/network/windows.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/runtime.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The operators first, ..., last - 1 of a network. They are convex, since they stand side by side in an order that can run:
/// a path between two of them leads through none after the last and none before the first.
struct region {
  op_id first = 0, last = 0;
  bool operator==(const region&) const = default;
};

/// Whether an operator can run on a stripe: it is local along rows, has one result of one part, is no part of a sum, comes
/// from no outside, and waits for nothing but the writers of its operands.
inline bool may_run_in_stripes(const network& net, const operation& op) {
  const op_kind k = op.does.what;
  if (!may_run_in_parts(op, {}) || !is_local(op, axis::rows) || k == op_kind::read || !op.after.empty()) return false;
  return op.writes[0].parts.size() == 1 && net.tensors[op.writes[0].parts[0].tensor].role == tensor_role::value;
}

/// Per tensor: whether a region makes it for others: a graph output, or read outside the region. It is made once, in n
/// blocks, not once per stripe.
MEMSCHED_FUNCTION std::vector<bool> seen_outside(const network& net, const region& r);

/// Whether a region may run in n stripes: each of its operators may, no operator outside waits for one of them by a control
/// edge, no view names storage that is cut, and tensors read outside have n rows or more.
MEMSCHED_FUNCTION bool may_stripe(const network& net, const region& r, coordinate n);

/// The network with a region in n stripes, stripe by stripe. Each value is computed as before, some more than once:
/// multiply-accumulates rise by those of the overlaps. For `runtime::whole`, slices take from each operand the rows that are
/// read, no more, and concatenations put together the tensors that the region makes for others.
///
/// Lemma. Each part holds the values of the first network in its rows. Proof, by induction over an order: an operator of a
/// stripe computes the rows that the operators of that stripe after it need, reads rows that `needed` says, from parts that
/// hold them, and has pad where the whole tensor has it, since it works in the coordinates of the whole image.
///
/// The peak may rise: measure it. An error names an operator of which a stripe reads nothing but pad where
/// `runtime::whole` needs an operand. Precondition: may_stripe. O(parts + uses times the parts of a tensor).
MEMSCHED_FUNCTION result<network> stripes(const network& net, const region& r, coordinate n,
                                          runtime profile = runtime::parts);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <memsched/rewrite/edit.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class striping {
 public:
  striping(const network& net, const region& r, coordinate n, runtime profile)
      : net_(net), region_(r), n_(n), whole_(profile == runtime::whole), seen_(seen_outside(net, r)) {}

  result<network> run() {
    out_ = emptied(net_);
    find_rows();
    make_tensors();
    became_.assign(net_.operations.size(), none);
    for (op_id i = 0; i < region_.first; ++i) keep(i);
    for (op_id i = region_.first; i < region_.last; ++i)
      for (coordinate s = 0; s < n_; ++s) make(i, s);
    if (!error_.message.empty()) return std::move(error_);
    if (whole_)
      for (tensor_id t = 0; t < net_.tensors.size(); ++t)
        if (inside_[t] && seen_[t]) join(t);
    std::stable_sort(made_.begin(), made_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [stripe, op] : made_) out_.operations.push_back(std::move(op));
    for (op_id i = region_.last; i < net_.operations.size(); ++i) keep(i);
    return std::move(out_);
  }

 private:
  /// A part of a tensor of the region: its rows, counted in the tensor.
  struct part {
    tensor_id tensor;
    interval rows;
    coordinate stripe;
  };

  const placed& result_of(op_id i) const { return net_.operations[i].writes[0].parts[0]; }
  static interval moved(const interval& i, coordinate by) { return {i.first + by, i.last + by}; }

  /// The part of its result's image that operator i computes for these rows of its result.
  box computed(op_id i, const interval& rows) const {
    box b = box_of(net_, result_of(i));
    b.rows = moved(rows, result_of(i).row);
    return b;
  }

  /// The rows of each tensor of the region that each stripe makes: blocks of tensors read outside, else the needed rows.
  void find_rows() {
    inside_.assign(net_.tensors.size(), false);
    rows_.assign(net_.tensors.size(), {});
    for (op_id i = region_.first; i < region_.last; ++i) {
      const tensor_id t = result_of(i).tensor;
      inside_[t] = true;
      rows_[t].resize(static_cast<std::size_t>(n_));
      const coordinate size = net_.tensors[t].size.rows;
      for (coordinate s = 0; s < n_ && seen_[t]; ++s)
        rows_[t][static_cast<std::size_t>(s)] = {s * size / n_, (s + 1) * size / n_};
    }
    for (op_id i = region_.last; i-- > region_.first;)
      for (std::size_t s = 0; s < static_cast<std::size_t>(n_); ++s) {
        const operation& op = net_.operations[i];
        const interval made = rows_[result_of(i).tensor][s];
        if (made.empty()) continue;
        for (std::size_t k = 0; k < op.reads.size(); ++k) {
          const box wanted = needed(op, k, computed(i, made));
          for (const placed& p : op.reads[k].parts) {
            if (!inside_[p.tensor] || seen_[p.tensor]) continue;
            const box read = common(box_of(net_, p), wanted);
            if (!read.empty()) rows_[p.tensor][s] = hull(rows_[p.tensor][s], moved(read.rows, -p.row));
          }
        }
      }
  }

  tensor_id add_part(tensor_id t, const interval& rows, coordinate stripe, const std::string& suffix) {
    typed_tensor x = net_.tensors[t];
    x.size.rows = rows.size();
    x.name += suffix + to_string(rows);
    x.part.rows = moved(rows, x.part.rows.first);
    x.alias_of = none;
    if (whole_) x.output = false;
    x.input = false;
    out_.tensors.push_back(std::move(x));
    stripe_of_.push_back(stripe);
    return static_cast<tensor_id>(out_.tensors.size() - 1);
  }

  void make_tensors() {
    number_.assign(net_.tensors.size(), none);
    parts_.resize(net_.tensors.size());
    for (tensor_id t = 0; t < net_.tensors.size(); ++t) {
      if (inside_[t] && !(whole_ && seen_[t])) continue;
      number_[t] = static_cast<tensor_id>(out_.tensors.size());
      out_.tensors.push_back(net_.tensors[t]);
      stripe_of_.push_back(0);
    }
    for (typed_tensor& x : out_.tensors)
      if (x.alias_of != none) x.alias_of = number_[x.alias_of];
    for (op_id i = region_.first; i < region_.last; ++i) {
      const tensor_id t = result_of(i).tensor;
      for (coordinate s = 0; s < n_; ++s)
        if (const interval rows = rows_[t][static_cast<std::size_t>(s)]; !rows.empty())
          parts_[t].push_back({add_part(t, rows, s, seen_[t] ? "" : "/" + std::to_string(s)), rows, s});
    }
  }

  /// The parts of the tensor at p that a stripe may read and that meet these rows of the image; all blocks for stripe -1.
  std::vector<placed> at(const placed& p, coordinate stripe, const box& wanted) const {
    std::vector<placed> list;
    if (!inside_[p.tensor] || (whole_ && stripe < 0)) {
      if (stripe < 0 || !common(box_of(net_, p), wanted).empty())
        list.push_back({number_[p.tensor], p.row, p.column, p.channel});
      return list;
    }
    for (const part& q : parts_[p.tensor]) {
      const bool mine = seen_[p.tensor] || q.stripe == stripe;
      box b = box_of(net_, p);
      b.rows = moved(q.rows, p.row);
      if (mine && (stripe < 0 || !common(b, wanted).empty())) list.push_back({q.tensor, b.rows.first, p.column, p.channel});
    }
    return list;
  }

  /// An operator outside the region.
  void keep(op_id i) {
    operation op = net_.operations[i];
    for (std::vector<image>* images : {&op.reads, &op.writes})
      for (image& x : *images) {
        std::vector<placed> parts;
        for (const placed& p : x.parts)
          for (const placed& q : at(p, -1, {})) parts.push_back(q);
        x.parts = std::move(parts);
      }
    if (op.overwrites != none) op.overwrites = number_[op.overwrites];
    std::vector<op_id> after;
    for (const op_id before : op.after) after.push_back(became_[before]);
    op.after = std::move(after);
    became_[i] = static_cast<op_id>(out_.operations.size());
    out_.operations.push_back(std::move(op));
  }

  /// Operator i of the region in stripe s.
  void make(op_id i, coordinate s) {
    const operation& from = net_.operations[i];
    const placed& to = result_of(i);
    const auto mine =
        std::find_if(parts_[to.tensor].begin(), parts_[to.tensor].end(), [&](const part& q) { return q.stripe == s; });
    if (mine == parts_[to.tensor].end()) return;  // no operator needs it there
    const box b = computed(i, mine->rows);
    operation op = from;
    op.name += "/" + std::to_string(s);
    op.overwrites = none;
    coordinate stripe = s;
    for (std::size_t k = 0; k < op.reads.size(); ++k) {
      const box wanted = needed(from, k, b);
      std::vector<placed> parts;
      for (const placed& p : from.reads[k].parts) {
        std::vector<placed> there = at(p, s, wanted);
        const box rows = common(box_of(net_, p), wanted);
        if (whole_ && !rows.empty()) there = {exactly(p, there, rows.rows, s)};
        for (const placed& q : there) {
          parts.push_back(q);
          stripe = std::max(stripe, stripe_of_[q.tensor]);
          const bool own = !whole_ || q.tensor != number_[p.tensor];
          if (p.tensor == from.overwrites && own && box_of(out_, q) == b) op.overwrites = q.tensor;
        }
      }
      if (whole_ && parts.empty())
        error_ = {error_code::bad_input,
                  labelled("operator ", i, from.name) + " has a stripe that reads nothing but pad",
                  {i},
                  {}};
      op.reads[k].parts = std::move(parts);
    }
    op.writes[0].parts = {{mine->tensor, b.rows.first, to.column, to.channel}};
    stripe_of_[mine->tensor] = stripe;
    made_.push_back({stripe, std::move(op)});
  }

  /// These rows of the image that p stands in, as one tensor: one of those there, a slice of one, or a concatenation.
  placed exactly(const placed& p, std::vector<placed> there, const interval& rows, coordinate s) {
    if (there.size() == 1 && box_of(out_, there[0]).rows == rows) return there[0];
    if (there.size() > 1)
      for (placed& q : there) q = exactly(p, {q}, common(box_of(out_, q).rows, rows), s);
    operation copy;
    coordinate stripe = s;
    for (const placed& q : there) stripe = std::max(stripe, stripe_of_[q.tensor]);
    const tensor_id made = add_part(p.tensor, moved(rows, -p.row), stripe, "/" + std::to_string(s) + "=");
    const placed to{made, rows.first, p.column, p.channel};
    copy.name = (there.size() > 1 ? "join " : "slice ") + out_.tensors[made].name;
    copy.does.what = op_kind::copy;
    const box b = box_of(net_, p);
    const extents size{b.rows.last, b.columns.last, b.channels.last};
    copy.reads = {{size, there}}, copy.writes = {{size, {to}}};
    made_.push_back({stripe, std::move(copy)});
    return to;
  }

  /// The concatenation of the blocks of a tensor that others read.
  void join(tensor_id t) {
    operation copy;
    copy.name = "join " + net_.tensors[t].name;
    copy.does.what = op_kind::copy;
    image blocks{net_.tensors[t].size, {}};
    coordinate stripe = n_;
    for (const part& q : parts_[t]) blocks.parts.push_back({q.tensor, q.rows.first, 0, 0});
    copy.reads = {std::move(blocks)};
    copy.writes = {{net_.tensors[t].size, {{number_[t], 0, 0, 0}}}};
    made_.push_back({stripe, std::move(copy)});
  }

  const network& net_;
  region region_;
  coordinate n_;
  bool whole_;
  std::vector<bool> seen_, inside_;          // per tensor
  std::vector<std::vector<interval>> rows_;  // per tensor of the region and stripe
  std::vector<std::vector<part>> parts_;
  std::vector<tensor_id> number_;
  std::vector<op_id> became_;
  std::vector<coordinate> stripe_of_;  // per tensor made: the stripe after which it is there
  std::vector<std::pair<coordinate, operation>> made_;
  network out_;
  graph_error error_;
};

}  // namespace detail

MEMSCHED_FUNCTION std::vector<bool> seen_outside(const network& net, const region& r) {
  std::vector<bool> seen(net.tensors.size(), false);
  for (tensor_id t = 0; t < net.tensors.size(); ++t) seen[t] = net.tensors[t].output;
  for (op_id i = 0; i < net.operations.size(); ++i) {
    if (r.first <= i && i < r.last) continue;
    for (const image& x : net.operations[i].reads)
      for (const placed& p : x.parts) seen[p.tensor] = true;
  }
  return seen;
}

MEMSCHED_FUNCTION bool may_stripe(const network& net, const region& r, coordinate n) {
  if (r.first >= r.last || r.last > net.operations.size() || n < 2) return false;
  const std::vector<bool> seen = seen_outside(net, r);
  std::vector<bool> inside(net.tensors.size(), false);
  for (op_id i = r.first; i < r.last; ++i) {
    const operation& op = net.operations[i];
    if (!may_run_in_stripes(net, op)) return false;
    const tensor_id t = op.writes[0].parts[0].tensor;
    inside[t] = true;
    if (seen[t] && net.tensors[t].size.rows < n) return false;
  }
  for (tensor_id t = 0; t < net.tensors.size(); ++t)
    if (const tensor_id of = net.tensors[t].alias_of; of != none && (inside[t] || inside[of])) return false;
  for (const operation& op : net.operations)
    for (const op_id before : op.after)
      if (r.first <= before && before < r.last) return false;
  return true;
}

MEMSCHED_FUNCTION result<network> stripes(const network& net, const region& r, coordinate n, runtime profile) {
  return detail::striping(net, r, n, profile).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
