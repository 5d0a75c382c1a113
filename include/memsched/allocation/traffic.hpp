// Off-chip traffic of an order on a chip with less memory than its peak.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memsched/allocation/improve_order.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The tensors that must be on the chip while an operator runs.
enum class traffic_model : unsigned char {
  paged,  ///< bytes move one by one: an operator reads its inputs in turn, then writes, and may stream; for every capacity
  resident,  ///< all operands and the workspace; whole tensors move; no less than the largest working set
};

/// Bytes moved between chip and outside by one order: activations only. Graph inputs start on the chip (the part that does
/// not fit is written outside first), graph outputs may end there.
struct traffic_count {
  bytes reads = 0, writes = 0;
  bytes lower_bound = 0;  ///< no policy moves less for this order
  bytes total() const { return reads + writes; }
};

/// The bytes that an order moves on and off a chip of `capacity` bytes. Fails if it is not an order, or under `resident` if an
/// operator does not fit. O(operators times live tensors).
MEMSCHED_FUNCTION result<traffic_count> count_traffic(const problem& p, std::span<const op_id> order, bytes capacity,
                                                      traffic_model how = traffic_model::paged, memory_model model = {});

/// An order that moves no more than `order`, of any peak: local search. Under `resident` the operators must fit.
MEMSCHED_FUNCTION std::vector<op_id> reduce_traffic(const problem& p, std::vector<op_id> order, bytes capacity,
                                                    traffic_model how, memory_model model, search& context,
                                                    order_search steps = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include <memsched/measure/evaluate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Whether an operator updates a storage, by any of its names.
inline bool updates_storage(const problem& p, op_id op, tensor_id storage) {
  const auto updated = p.updates(op);
  return std::any_of(updated.begin(), updated.end(), [&](tensor_id t) { return p.storage(t) == storage; });
}

/// Plays an order on a chip. Evicts the tensor that is used furthest in the future (Belady's rule); of equals the smaller
/// tensor, then the lower index; of one tensor first the bytes with a copy outside. With sizes and write-backs that is a
/// heuristic.
class chip {
 public:
  /// A storage that leaves, and the step in front of which it is back; the number of steps for never.
  struct eviction {
    tensor_id storage;
    std::size_t to;
  };

  /// Appends evictions to `log`, if there is one.
  chip(const problem& p, std::span<const op_id> order, bytes capacity, traffic_model how, memory_model model,
       std::vector<eviction>* log = nullptr)
      : log_(log),
        p_(p),
        order_(order),
        capacity_(capacity),
        how_(how),
        model_(model),
        here_(p.tensors().size()),
        copied_(p.tensors().size()),
        next_(p.tensors().size(), never),
        read_at_(p.tensors().size(), never),
        uses_(p.tensors().size()) {
    for (std::size_t k = order.size(); k-- > 0;)
      for (tensor_id t : p.reads(order[k])) uses_[t].push_back(k);
    for (tensor_id t : p.tensors()) {
      if (p.storage(t) != t || !p.kept(t)) continue;
      next_[t] = uses_[t].empty() ? order.size() : uses_[t].back();
      if (p.writer(t) != none) continue;
      here_[t] = p.size(t);
      live_.push_back(t);
    }
  }

  result<traffic_count> run() {
    make_room(capacity_);
    for (std::size_t k = 0; k < order_.size(); ++k) {
      note_bound(k);
      if (how_ == traffic_model::paged) {
        run_paged(k);
      } else if (const bytes needed = working_set(k); needed > capacity_) {
        return graph_error{error_code::bad_input,
                           base::one_line(p_.operator_name(order_[k])) + " needs " + std::to_string(needed) +
                               " bytes on the chip while it runs, which are more than " + std::to_string(capacity_),
                           {order_[k]},
                           {}};
      } else {
        run_resident(k);
      }
    }
    return count_;
  }

  /// Bytes of operands and workspace while step k runs. Under `resident` all operands are there at once before any is consumed.
  bytes working_set(std::size_t k) const {
    bytes sum = p_.workspace(order_[k]), operands = 0;
    for_each_shared(k, [&](tensor_id, bytes spared) { sum -= spared; });  // modulo 2^64; the inputs below make up for it
    for (tensor_id t : p_.reads(order_[k]))
      if (rule(order_[k]) == firing::pbc || !dies(t, k)) sum += p_.size(t);
    for (tensor_id t : p_.creates(order_[k])) sum += p_.size(t);
    if (how_ == traffic_model::paged) return sum;
    for (tensor_id t : p_.reads(order_[k])) operands += p_.size(t);
    return std::max(sum, operands);
  }

 private:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  firing rule(op_id op) const { return p_.firing(op).value_or(model_.default_firing); }
  bool dies(tensor_id t, std::size_t k) const { return !p_.stays(t) && uses_[t].front() == k; }

  /// Calls f with each input that gives its place to an output at step k, and the bytes they share.
  template <class F>
  void for_each_shared(std::size_t k, F&& f) const {
    if (!model_.in_place || rule(order_[k]) != firing::pbc) return;
    for (const problem::storage_reuse& r : p_.reuses(order_[k]))
      if (r.spared > 0 && dies(r.input, k)) f(r.input, r.spared);
  }

  /// At a step whose operands fit, live bytes beyond the capacity are idle and outside: each of them was written before and
  /// is read again. Once only: outputs waiting for the end, and inputs not used yet, which may have started
  /// outside. Not at all: both of these. Under `paged` that also holds for outputs that the operator writes: they may stream
  /// out, and cost nothing if no operator reads them.
  void note_bound(std::size_t k) {
    const bytes operands = working_set(k);
    if (operands > capacity_) return;
    const op_id op = order_[k];
    bytes idle = 0, for_nothing = 0, once = 0;
    const auto reads = p_.reads(op);
    for (const tensor_id t : live_) {
      if (std::find(reads.begin(), reads.end(), t) != reads.end()) continue;
      idle += p_.size(t);
      const bool ends = next_[t] == order_.size(), fresh = p_.writer(t) == none && read_at_[t] == never;
      if (ends && fresh) for_nothing += p_.size(t);
      else if (ends || fresh) once += p_.size(t);
    }
    if (how_ == traffic_model::paged)
      for (tensor_id t : p_.creates(op)) {
        if (!p_.kept(t)) for_nothing += p_.size(t);
        else if (p_.readers(t).empty()) once += p_.size(t);
      }
    bytes excess = operands + idle - std::min(operands + idle, capacity_);
    excess -= std::min(excess, for_nothing);
    count_.lower_bound = std::max(count_.lower_bound, 2 * excess - std::min(excess, once));
  }

  /// Evicts until the tensors on the chip take at most `room`.
  void make_room(bytes room) {
    bytes held = 0;
    for (const tensor_id t : live_) held += here_[t];
    if (held <= room) return;
    std::vector<std::tuple<std::size_t, bytes, tensor_id>> by_use;  // furthest first
    for (const tensor_id t : live_)
      if (here_[t] > 0) by_use.emplace_back(never - next_[t], p_.size(t), t);
    std::sort(by_use.begin(), by_use.end());
    for (const auto& [use, size, t] : by_use) {
      if (held <= room) return;
      const bytes out = how_ == traffic_model::resident ? here_[t] : std::min(here_[t], held - room);
      const bytes clean = here_[t] - std::min(here_[t], size - copied_[t]);
      held -= out;
      here_[t] -= out;
      if (log_ != nullptr) log_->push_back({t, next_[t]});
      if (out <= clean || next_[t] == never) continue;
      count_.writes += out - clean;
      copied_[t] += out - clean;
    }
  }
  /// The next use of a storage after the running operator.
  std::size_t after_now(tensor_id t) const {
    if (!p_.kept(t)) return never;
    if (next_[t] != now_) return next_[t];
    const auto& list = uses_[t];  // descending; the one now is at the back
    if (list.size() > 1) return list[list.size() - 2];
    return p_.stays(t) ? order_.size() : never;
  }

  /// The copy outside of a storage that the running operator updates is no longer good.
  void read(tensor_id t) {
    count_.reads += p_.size(t) - here_[t];
    here_[t] = p_.size(t);
    read_at_[t] = now_;
    if (updates_storage(p_, order_[now_], t)) copied_[t] = 0;
  }
  void write(tensor_id t) {
    here_[t] = p_.size(t);
    live_.push_back(t);
  }
  void drop(tensor_id t) {
    here_[t] = 0;
    live_.erase(std::find(live_.begin(), live_.end(), t));
  }
  void end_uses(std::size_t k) {
    for (tensor_id t : p_.reads(order_[k])) {
      next_[t] = after_now(t);
      uses_[t].pop_back();
      if (next_[t] == never && std::find(live_.begin(), live_.end(), t) != live_.end()) drop(t);
    }
    for (tensor_id t : p_.creates(order_[k]))
      if (!p_.kept(t)) drop(t);
  }
  bytes room_beside(bytes taken) const { return capacity_ - std::min(capacity_, taken); }

  void run_paged(std::size_t k) {
    now_ = k;
    for (tensor_id t : p_.reads(order_[k])) {
      read(t);
      make_room(capacity_);
    }
    for_each_shared(k, [&](tensor_id old, bytes spared) { here_[old] -= std::min(here_[old], spared); });
    if (rule(order_[k]) == firing::cbp)
      for (tensor_id t : p_.reads(order_[k]))
        if (after_now(t) == never) drop(t);
    for (tensor_id t : p_.creates(order_[k])) write(t);
    make_room(room_beside(p_.workspace(order_[k])));
    end_uses(k);
    make_room(capacity_);
  }

  void run_resident(std::size_t k) {
    now_ = k;
    const op_id op = order_[k];
    const bytes needed = working_set(k);
    std::vector<tensor_id> operands(p_.reads(op).begin(), p_.reads(op).end()), all = live_;
    const auto is_operand = [&](tensor_id t) { return std::find(operands.begin(), operands.end(), t) != operands.end(); };
    live_.erase(std::remove_if(live_.begin(), live_.end(), is_operand), live_.end());
    make_room(capacity_ - needed);  // evicts idle tensors
    live_ = std::move(all);
    for (tensor_id t : operands) read(t);
    for (tensor_id t : p_.creates(op)) write(t);
    end_uses(k);
  }

  std::vector<eviction>* log_;
  const problem& p_;
  std::span<const op_id> order_;
  bytes capacity_;
  traffic_model how_;
  memory_model model_;
  std::size_t now_ = never;
  std::vector<bytes> here_, copied_;            ///< per storage: bytes on the chip, and bytes that have a copy outside
  std::vector<std::size_t> next_;               ///< next use; the order's length for "until the end"
  std::vector<std::size_t> read_at_;            ///< the last step that read it
  std::vector<std::vector<std::size_t>> uses_;  ///< steps still to come that read it, descending
  std::vector<tensor_id> live_;
  traffic_count count_;
};

}  // namespace detail

MEMSCHED_FUNCTION result<traffic_count> count_traffic(const problem& p, std::span<const op_id> order, bytes capacity,
                                                      traffic_model how, memory_model model) {
  if (graph_error error = check_order(p, order); !error.message.empty()) return error;
  return detail::chip(p, order, capacity, how, model).run();
}

MEMSCHED_FUNCTION std::vector<op_id> reduce_traffic(const problem& p, std::vector<op_id> order, bytes capacity,
                                                    traffic_model how, memory_model model, search& context,
                                                    order_search steps) {
  const auto cost = [&](std::span<const op_id> o) {
    const auto count = count_traffic(p, o, capacity, how, model);
    return count ? count->total() : no_limit;
  };
  return improve_order(p, std::move(order), no_limit, cost, model, context, steps);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
