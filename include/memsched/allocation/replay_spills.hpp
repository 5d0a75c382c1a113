// Spills: stretches of an order in which storages are outside a chip, and their referee.
#pragma once

#include <span>
#include <vector>

#include <memsched/allocation/traffic.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A stretch of steps of an order in which a storage is outside the chip.
struct spill {
  tensor_id storage = none;
  index_t from = 0;      ///< it leaves in front of this step
  index_t to = 0;        ///< it is back in front of this step; the number of steps for never
  bool written = false;  ///< it is written outside when it leaves; else its copy there is still good
  bool operator==(const spill&) const = default;
};

/// Plays an order with spills step by step, and counts the bytes that they move. Fails if they are not a plan of this order: an
/// operand is outside, the chip overflows, a storage that is not there leaves, or a copy outside is missing or old.
MEMSCHED_FUNCTION result<traffic_count> replay_spills(const problem& p, std::span<const op_id> order, bytes capacity,
                                                      memory_model model, std::span<const spill> spills);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <string>

#include <memsched/measure/evaluate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Plays a plan on a chip.
class spill_replay {
 public:
  spill_replay(const problem& p, std::span<const op_id> order, bytes capacity, memory_model model,
               std::span<const spill> spills)
      : p_(p),
        order_(order),
        capacity_(capacity),
        leaving_(spills.begin(), spills.end()),
        coming_(leaving_),
        at_(p.tensors().size()),
        operands_(p, order, capacity, traffic_model::resident, model),
        last_(p.tensors().size(), 0) {
    std::stable_sort(leaving_.begin(), leaving_.end(), [](const spill& a, const spill& b) { return a.from < b.from; });
    std::stable_sort(coming_.begin(), coming_.end(), [](const spill& a, const spill& b) { return a.to < b.to; });
    for (index_t k = 0; k < order.size(); ++k)
      for (tensor_id t : p.reads(order[k])) last_[t] = k;
    for (tensor_id t : p.tensors())
      if (p.storage(t) == t && p.kept(t) && p.producer(t) == none) put(t, true);
  }

  result<traffic_count> run() {
    for (const spill& s : leaving_)
      if (s.storage >= at_.size() || s.from > s.to || s.to > order_.size()) return fault(s, "has no such storage or steps");
    std::size_t left = 0, back = 0;
    for (index_t k = 0; k < order_.size(); ++k) {
      for (; left < leaving_.size() && leaving_[left].from == k; ++left)
        if (const char* why = leave(leaving_[left])) return fault(leaving_[left], why);
      if (k == 0 && held_ > capacity_) return overflow(k);
      for (; back < coming_.size() && coming_[back].to == k; ++back)
        if (const char* why = come_back(coming_[back])) return fault(coming_[back], why);
      if (const graph_error e = play(k); !e.message.empty()) return e;
    }
    for (; left < leaving_.size(); ++left)
      if (const char* why = leave(leaving_[left])) return fault(leaving_[left], why);
    return count_;
  }

 private:
  struct place {
    bool here = false, copied = false;
  };

  static graph_error fault(const spill& s, const std::string& why) {
    return {error_code::bad_input,
            "the spill of storage " + std::to_string(s.storage) + " in front of step " + std::to_string(s.from) + " " + why,
            {},
            {s.storage}};
  }
  static graph_error overflow(index_t k) {
    return {error_code::bad_input, "the chip overflows at step " + std::to_string(k), {}, {}};
  }

  const char* leave(const spill& s) {
    place& at = at_[s.storage];
    if (!at.here) return "is of one that is not on the chip";
    if (!s.written && !at.copied) return "has no copy outside";
    if (s.written) count_.writes += p_.size(s.storage), at.copied = true;
    put(s.storage, false);
    return nullptr;
  }
  const char* come_back(const spill& s) {
    const place& at = at_[s.storage];
    if (at.here || !at.copied) return "is of one that is not outside";
    count_.reads += p_.size(s.storage);
    put(s.storage, true);
    return nullptr;
  }
  void put(tensor_id t, bool here) {
    if (at_[t].here != here) held_ += here ? p_.size(t) : 0 - p_.size(t);  // modulo 2^64
    at_[t].here = here;
  }

  graph_error play(index_t k) {
    const op_id op = order_[k];
    bytes sum = held_;
    for (tensor_id t : p_.reads(op)) {
      if (!at_[t].here)
        return {
            error_code::bad_input, "storage " + std::to_string(t) + " is outside at step " + std::to_string(k), {op}, {t}};
      sum -= p_.size(t);
    }
    if (sum + operands_.working_set(k) > capacity_) return overflow(k);
    for (tensor_id t : p_.updates(op)) at_[p_.storage(t)].copied = false;
    for (tensor_id t : p_.reads(op))
      if (last_[t] == k && !p_.stays(t)) put(t, false), at_[t].copied = false;
    for (tensor_id t : p_.creates(op)) put(t, p_.kept(t));
    return {};
  }

  const problem& p_;
  std::span<const op_id> order_;
  bytes capacity_;
  std::vector<spill> leaving_, coming_;  ///< all spills, by the steps at which they begin and end
  std::vector<place> at_;
  bytes held_ = 0;  ///< bytes on the chip
  chip operands_;
  std::vector<index_t> last_;  ///< per storage, the last step that reads it
  traffic_count count_;
};

}  // namespace detail

MEMSCHED_FUNCTION result<traffic_count> replay_spills(const problem& p, std::span<const op_id> order, bytes capacity,
                                                      memory_model model, std::span<const spill> spills) {
  if (graph_error error = check_order(p, order); !error.message.empty()) return error;
  return detail::spill_replay(p, order, capacity, model, spills).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
