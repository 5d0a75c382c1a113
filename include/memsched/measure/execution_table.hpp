// Executions of a schedule with reruns and loads: their reads, their creations and their cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/graph/runs_again.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Runs of operators, and moves of storages, as executions of one kind. Ids of moves follow those of operators. A load brings
/// back a storage that left memory: it reads nothing and creates the storage. A departure ends a storage that stays: after all
/// else it creates a copy without bytes, which is outside (`offload::ends_outside`). Refers to the problem.
class execution_table {
 public:
  explicit execution_table(const problem& p, const offload& o = {})
      : p_(&p), offload_(o), again_(runs_again(p)), storages_(o ? p.tensors().size() : 0) {
    if (!o) return;
    const std::vector<bool> may = may_leave(p);
    again_.insert(again_.end(), may.begin(), may.end());
    for (tensor_id t : p.tensors()) storages_[t] = t;
    if (!o.ends_outside) return;
    for (tensor_id t : p.tensors()) again_.push_back(may[t] && p.stays(t));
  }

  const problem& graph() const { return *p_; }
  const offload& prices() const { return offload_; }
  /// The number of ids.
  std::size_t size() const { return again_.size(); }
  bool is_move(op_id e) const { return e >= p_->ops().size(); }
  bool is_departure(op_id e) const { return e >= p_->ops().size() + storages_.size(); }
  /// The storage of a load or departure.
  tensor_id moved(op_id e) const {
    return e - static_cast<op_id>(p_->ops().size() + (is_departure(e) ? storages_.size() : 0));
  }
  /// The load of a storage; `none` if it cannot leave.
  op_id load_of(tensor_id storage) const { return move_at(p_->ops().size() + storage); }
  /// The departure of a storage; `none` if it cannot end outside.
  op_id departure_of(tensor_id storage) const { return move_at(p_->ops().size() + storages_.size() + storage); }
  /// Whether an operator may run more than once, or a move may be at all.
  bool may_repeat(op_id e) const { return again_[e]; }
  /// Whether a storage that is there no more can be there again.
  bool returns(tensor_id storage) const {
    const op_id producer = p_->producer(storage);
    return (producer != none && again_[producer]) || load_of(storage) != none;
  }

  std::span<const tensor_id> reads(op_id e) const {
    return is_move(e) ? std::span<const tensor_id>() : std::span<const tensor_id>(p_->reads(e));
  }
  std::span<const tensor_id> inputs(op_id e) const {
    return is_move(e) ? std::span<const tensor_id>() : std::span<const tensor_id>(p_->inputs(e));
  }
  std::span<const tensor_id> creates(op_id e) const {
    return is_move(e) ? std::span<const tensor_id>(&storages_[moved(e)], 1) : std::span<const tensor_id>(p_->creates(e));
  }
  /// The bytes in memory of t, which e creates.
  bytes created(op_id e, tensor_id t) const { return is_departure(e) ? 0 : p_->size(t); }
  bytes workspace(op_id e) const { return is_move(e) ? 0 : p_->workspace(e); }
  firing rule(op_id e, const memory_model& model) const {
    return is_move(e) ? model.default_firing : p_->firing(e).value_or(model.default_firing);
  }
  /// The bytes of e's outputs that take the place of its read t, if nothing reads t later.
  bytes spared(op_id e, tensor_id t, const memory_model& model) const {
    bytes sum = 0;
    if (model.in_place && !is_move(e))
      for (const problem::storage_reuse& r : p_->reuses(e))
        if (r.input == t) sum += r.spared;
    return sum;
  }
  /// The cost of one execution; of a move, without the write that it rests on.
  std::uint64_t cost(op_id e) const {
    if (is_departure(e)) return 0;
    return is_move(e) ? offload_.read_cost(p_->size(moved(e))) : p_->cost(e);
  }
  /// The cost to write the storage of a move once.
  std::uint64_t write_cost(op_id move) const { return offload_.write_cost(p_->size(moved(move))); }
  /// The bytes that count at the start, of which `live` do not leave at once.
  bytes at_start(bytes live) const { return offload_.ends_outside ? live : p_->live_at_start(); }

 private:
  op_id move_at(std::size_t id) const { return id < size() && again_[id] ? static_cast<op_id>(id) : none; }

  const problem* p_;
  offload offload_;
  std::vector<bool> again_;
  std::vector<tensor_id> storages_;  // each its own number, so that a load has a list of its creations
};

/// Follows executions, and tells whether a view is older than the copy of its storage. Refers to the table.
class view_ages {
 public:
  explicit view_ages(const execution_table& table)
      : table_(&table), ran_(table.graph().ops().size(), 0), made_(table.graph().tensors().size(), 0) {}

  /// Whether t is a view that was not made again since its storage was created or loaded. Views by the operator that creates
  /// the storage, and those that no operator makes, come back with it.
  bool is_stale(tensor_id t) const {
    const problem& p = table_->graph();
    const tensor_id storage = p.storage(t);
    const op_id view = p.writer(t);
    return storage != t && view != none && view != p.producer(storage) && ran_[view] < made_[storage];
  }
  void execute(op_id e) {
    ++step_;
    for (tensor_id t : table_->creates(e)) made_[t] = step_;
    if (!table_->is_move(e)) ran_[e] = step_;
  }

 private:
  const execution_table* table_;
  std::vector<std::size_t> ran_, made_;  // the latest step per operator and storage; 0: none
  std::size_t step_ = 0;
};

/// Runs and moves in one sequence of ids. The loads must be in ascending order of their places, of which none is after the
/// end; those at the end are departures if these may be.
inline std::vector<op_id> with_loads(const execution_table& table, std::span<const op_id> executions,
                                     std::span<const storage_load> loads) {
  const auto operators = static_cast<op_id>(table.graph().ops().size());
  std::vector<op_id> all;
  std::size_t next = 0;
  for (index_t k = 0; k <= executions.size(); ++k) {
    for (; next < loads.size() && loads[next].before == k; ++next) {
      const op_id departure = k == executions.size() ? table.departure_of(loads[next].storage) : none;
      all.push_back(departure != none ? departure : operators + loads[next].storage);
    }
    if (k < executions.size()) all.push_back(executions[k]);
  }
  return all;
}

/// The inverse of `with_loads`: runs, and loads with their places among them.
inline std::pair<std::vector<op_id>, std::vector<storage_load>> without_loads(const execution_table& table,
                                                                              std::span<const op_id> all) {
  std::pair<std::vector<op_id>, std::vector<storage_load>> out;
  for (op_id e : all)
    if (!table.is_move(e)) out.first.push_back(e);
    else out.second.push_back({table.moved(e), static_cast<index_t>(out.first.size())});
  return out;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
