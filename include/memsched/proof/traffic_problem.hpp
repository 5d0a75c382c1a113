// Off-chip traffic of an order as a problem of offload, and the checker of its bound.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/proof/recompute_proof.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A problem with executions in one order, of which the extra cost by `moves` is the traffic of an order of another problem:
/// bytes that whole storages move while each operator has all its operands on the chip. Its operators run as they are numbered.
/// Each is a step of the order. A step that consumes its inputs first is two operators: all operands are there at once at the
/// first, and those of later use at the second, too, which has the workspace and the outputs. A storage has a tensor for each
/// value that it holds: an update reads one and creates the next in its place, since a copy outside of the one before is old.
struct traffic_problem {
  static constexpr offload moves{.read = 1, .write = 1, .ends_outside = true};
  static constexpr memory_model model{};

  problem graph;
  std::vector<index_t> step_of;       ///< per operator
  std::vector<tensor_id> storage_of;  ///< per tensor, the storage of which it is a value
};

/// The traffic of `order` under `model`. Fails if it is not an order of p, or values of updated storages have more than 2^61
/// bytes in all. O(operators + uses).
MEMSCHED_FUNCTION result<traffic_problem> make_traffic_problem(const problem& p, std::span<const op_id> order,
                                                               memory_model model);

/// Checks that `proof` shows that `order` moves at least `proof.bound` bytes on a chip of `capacity` bytes, whatever leaves it,
/// and whenever. Returns the reason if it does not, else an empty string (`check_recompute`).
MEMSCHED_FUNCTION std::string check_traffic(const problem& p, std::span<const op_id> order, bytes capacity,
                                            memory_model model, const recompute_proof& proof);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

#include <memsched/graph/check.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/proof/check_recompute.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class traffic_problem_maker {
 public:
  traffic_problem_maker(const problem& p, std::span<const op_id> order, memory_model model)
      : p_(p), order_(order), model_(model), value_(p.tensors().size(), none), last_(p.tensors().size(), none) {}

  result<traffic_problem> run() {
    if (graph_error fault = check_order(p_, order_); !fault.message.empty()) return fault;
    for (index_t k = 0; k < order_.size(); ++k)
      for (tensor_id t : p_.reads(order_[k])) last_[t] = k;
    for (tensor_id t : p_.tensors())
      if (p_.storage(t) == t && p_.kept(t) && p_.producer(t) == none) draft_.graph_inputs.push_back(begin_value(t));
    for (index_t k = 0; k < order_.size(); ++k) add_step(k);
    for (tensor_id t : p_.tensors())
      if (p_.storage(t) == t && p_.stays(t)) draft_.graph_outputs.push_back(value_[t]);
    auto graph = make_problem(std::move(draft_));
    if (!graph) return graph.error();
    return traffic_problem{std::move(*graph), std::move(step_of_), std::move(storage_of_)};
  }

 private:
  bool needed_behind(index_t k, tensor_id t) const { return p_.stays(t) || last_[t] > k; }

  tensor_id begin_value(tensor_id t) {
    value_[t] = static_cast<tensor_id>(storage_of_.size());
    storage_of_.push_back(t);
    draft_.tensors.push_back({.size = p_.size(t)});
    return value_[t];
  }
  /// Its reads and writes are in the draft.
  void end_operator(index_t step, bytes workspace) {
    draft_.operators.push_back({.workspace = workspace, .rule = firing::pbc, .cost = 0, .pure = false});
    step_of_.push_back(step);
    draft_.reads.close(), draft_.writes.close(), draft_.after.close(), draft_.overwrites.close();
  }

  void add_step(index_t k) {
    const op_id op = order_[k];
    const firing rule = p_.firing(op).value_or(model_.default_firing);
    for (tensor_id t : p_.reads(op)) draft_.reads.push(value_[t]);
    if (rule == firing::cbp) {
      end_operator(k, 0);
      for (tensor_id t : p_.reads(op))
        if (needed_behind(k, t)) draft_.reads.push(value_[t]);
    }
    std::vector<tensor_id> updated;
    for (tensor_id t : p_.updates(op))
      if (needed_behind(k, p_.storage(t))) updated.push_back(p_.storage(t));
    std::ranges::sort(updated);
    updated.erase(std::unique(updated.begin(), updated.end()), updated.end());
    const std::vector<tensor_id> before = value_;
    const auto create = [&](tensor_id t) { draft_.writes.push(begin_value(t)); };
    for (tensor_id t : p_.creates(op)) create(t);
    for (tensor_id t : updated) create(t), draft_.overwrites.push({value_[t], before[t]});
    if (model_.in_place && rule == firing::pbc)
      for (const problem::storage_reuse& r : p_.reuses(op))
        if (!needed_behind(k, r.input)) draft_.overwrites.push({value_[r.output], before[r.input]});
    end_operator(k, p_.workspace(op));
  }

  const problem& p_;
  std::span<const op_id> order_;
  memory_model model_;
  std::vector<tensor_id> value_;  // per storage, the tensor of its value at the time
  std::vector<index_t> last_;     // per storage, the last step that reads it
  problem_draft draft_;
  std::vector<index_t> step_of_;
  std::vector<tensor_id> storage_of_;
};

}  // namespace detail

MEMSCHED_FUNCTION result<traffic_problem> make_traffic_problem(const problem& p, std::span<const op_id> order,
                                                               memory_model model) {
  return detail::traffic_problem_maker(p, order, model).run();
}

MEMSCHED_FUNCTION std::string check_traffic(const problem& p, std::span<const op_id> order, bytes capacity,
                                            memory_model model, const recompute_proof& proof) {
  const result<traffic_problem> t = make_traffic_problem(p, order, model);
  if (!t) return t.error().message;
  if (proof.any_order) return "the rows are those of any order";
  if (!std::ranges::is_sorted(proof.rows)) return "the rows are not in the order";
  return check_recompute(t->graph, traffic_problem::model, capacity, proof, traffic_problem::moves);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
