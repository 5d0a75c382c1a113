// The referee: the only code that computes the cost of an order. It knows operators and tensors only.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The cost of an order, in bytes.
struct evaluation {
  bytes peak = 0;
  std::vector<bytes> during;            ///< while each operator of the order runs
  std::vector<bytes> after;             ///< between it and the next
  std::size_t peak_step = 0;            ///< the first that reaches the peak; the order's length if only the start does
  std::vector<tensor_id> live_at_peak;  ///< storages that are live there, ascending, its outputs included
};

namespace detail {

/// Plays an order tensor by tensor: a tensor lives from its producer to its last reader, under the rule of each operator.
class referee {
 public:
  referee(const problem& p, memory_model model)
      : p_(p), model_(model), left_(p.tensors().size()), here_(p.tensors().size()) {
    for (tensor_id t : p.tensors()) {
      left_[t] = static_cast<index_t>(p.readers(t).size());
      here_[t] = p.storage(t) == t && p.writer(t) == none && p.kept(t);
      if (here_[t]) live_ += p.size(t);
    }
  }

  bytes live() const { return live_; }

  footprint play(op_id op) {
    firing_effect e{.workspace = p_.workspace(op)};
    for (tensor_id t : p_.reads(op))
      if (--left_[t] == 0 && !p_.stays(t)) {
        e.freed += p_.size(t);
        here_[t] = false;
        if (model_.in_place)
          for (const problem::storage_reuse& r : p_.reuses(op))
            if (r.input == t) e.overwritten += r.spared;
      }
    for (tensor_id t : p_.creates(op)) {
      e.produced += p_.size(t);
      if (!p_.kept(t)) continue;
      e.kept += p_.size(t);
      here_[t] = true;
    }
    const footprint f = fire(rule(op), live_, e);
    live_ = f.after;
    return f;
  }

  /// Storages that are live while `next` runs, which is the next to run; now if it is none. Ascending.
  std::vector<tensor_id> live_tensors(op_id next) const {
    plain_vector<bool> here = here_;
    if (next != none) {
      if (rule(next) == firing::cbp)
        for (tensor_id t : p_.reads(next))
          if (left_[t] == 1 && !p_.stays(t)) here[t] = false;
      for (tensor_id t : p_.creates(next)) here[t] = true;
    }
    std::vector<tensor_id> live;
    for (tensor_id t : p_.tensors())
      if (here[t]) live.push_back(t);
    return live;
  }

 private:
  firing rule(op_id op) const { return p_.firing(op).value_or(model_.default_firing); }

  const problem& p_;
  memory_model model_;
  std::vector<index_t> left_;
  plain_vector<bool> here_;
  bytes live_ = 0;
};

}  // namespace detail

/// Checks that `order` is an order of p. Returns a graph_error if it is not, else an empty message. O(operators + uses).
MEMSCHED_FUNCTION graph_error check_order(const problem& p, std::span<const op_id> order);

/// The cost of `order`; an error that says why, if it is not an order of p. O(operators + uses).
MEMSCHED_FUNCTION result<evaluation> evaluate(const problem& p, std::span<const op_id> order, memory_model model = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION graph_error check_order(const problem& p, std::span<const op_id> order) {
  base::plain_vector<bool> done(p.ops().size(), false);
  const auto fault = [](std::string message, std::vector<index_t> ops) {
    return graph_error{error_code::bad_order, std::move(message), std::move(ops), {}};
  };
  const auto name = [&](op_id op) { return base::one_line(p.operator_name(op)); };
  const auto at_step = [&](std::size_t i, const std::string& message, std::vector<index_t> ops) {
    return fault("step " + std::to_string(i) + message, std::move(ops));
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const op_id op = order[i];
    if (op >= done.size()) return at_step(i, " names operator " + std::to_string(op) + ", which does not exist", {op});
    if (done[op]) return at_step(i, " runs " + name(op) + " a second time", {op});
    for (op_id before : p.predecessors(op))
      if (!done[before])
        return at_step(i, " runs " + name(op) + " before " + name(before) + ", which it needs", {op, before});
    done[op] = true;
  }
  if (order.size() == done.size()) return {};
  const auto missing = static_cast<op_id>(std::find(done.begin(), done.end(), false) - done.begin());
  return fault("the order lacks " + name(missing), {missing});
}

MEMSCHED_FUNCTION result<evaluation> evaluate(const problem& p, std::span<const op_id> order, memory_model model) {
  if (graph_error error = check_order(p, order); !error.message.empty()) return error;
  evaluation e;
  detail::referee play(p, model);
  e.peak = play.live();
  for (op_id op : order) {
    const detail::footprint f = play.play(op);  // f.during is never less than f.after
    e.during.push_back(f.during);
    e.after.push_back(f.after);
    e.peak = std::max(e.peak, f.during);
  }
  e.peak_step = static_cast<std::size_t>(std::find(e.during.begin(), e.during.end(), e.peak) - e.during.begin());

  detail::referee again(p, model);
  if (e.peak_step == order.size()) {
    e.live_at_peak = again.live_tensors(none);
  } else {
    for (op_id op : order.first(e.peak_step)) again.play(op);
    e.live_at_peak = again.live_tensors(order[e.peak_step]);
  }
  return e;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
