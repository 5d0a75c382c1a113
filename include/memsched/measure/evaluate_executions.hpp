// The referee of schedules that run operators more than once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/measure/execution_table.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The memory and the cost of a sequence of executions.
struct executions_evaluation {
  bytes peak = 0;
  std::vector<bytes> during;     ///< while each execution runs
  std::vector<bytes> after;      ///< between it and the next
  std::uint64_t cost = 0;        ///< of all executions
  std::uint64_t extra_cost = 0;  ///< of those that are no operator's first: reruns, loads, and their writes
};

/// Checks that ids of executions are a schedule. Returns the reason if they are not, else an empty message. Every operator runs
/// at least once, the first time after the first times of all its predecessors; an operator that must not run again
/// (`runs_again`) runs once; a load comes after the first creation of a storage that may leave (`may_leave`); and a view (an
/// alias of a storage that its operator reads) is made again before it is read, once its storage was created or loaded again.
/// Departures come after all else. O(executions + uses).
MEMSCHED_FUNCTION graph_error check_executions(const execution_table& table, std::span<const op_id> executions);

/// Returns the memory and the cost of `executions` with `loads`, at `prices`; an error that names step and operator if they
/// are not a schedule of p, or cost more than 2^62. A reader reads the latest copy of a storage: the one that the last
/// execution of its producer, or the last load, before it created. A copy lives from there to its last reader before the
/// next is created; the last copy of a storage that stays lives to the end, and a copy that is never read dies with its
/// creation. All graph inputs are there at the start; each lives to its last reader anywhere, or before its next load. With
/// `prices.ends_outside`, an input that is loaded before its first use may be outside from the start, and a storage with a load
/// at the end leaves after its last use. If no operator
/// runs twice and nothing is loaded, the numbers are those of `evaluate`. O(executions + uses).
MEMSCHED_FUNCTION result<executions_evaluation> evaluate_executions(const problem& p, std::span<const op_id> executions,
                                                                    memory_model model = {},
                                                                    std::span<const storage_load> loads = {},
                                                                    const offload& prices = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <string>
#include <utility>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The effect of each execution on memory, walking back so that each use knows whether it is the last of its copy. Sets `live`
/// to the bytes after the start that are not moved away at once.
inline std::vector<firing_effect> effects(const execution_table& table, std::span<const op_id> executions,
                                          memory_model model, bytes& live) {
  const problem& p = table.graph();
  std::vector<firing_effect> effects(executions.size());
  std::vector<bool> needed(p.tensors().size());  // per storage: the next event is no creation
  for (tensor_id t : p.tensors()) needed[t] = p.stays(t);
  for (std::size_t i = executions.size(); i-- > 0;) {
    const op_id e = executions[i];
    firing_effect& effect = effects[i];
    effect.workspace = table.workspace(e);
    for (tensor_id t : table.reads(e)) {
      if (needed[t]) continue;
      effect.freed += p.size(t);
      effect.overwritten += table.spared(e, t, model);
    }
    for (tensor_id t : table.creates(e)) {
      effect.produced += table.created(e, t);
      if (needed[t]) effect.kept += table.created(e, t);
    }
    for (tensor_id t : table.creates(e)) needed[t] = false;
    for (tensor_id t : table.reads(e)) needed[t] = true;
  }
  live = 0;
  for (tensor_id t : p.tensors())
    if (p.storage(t) == t && p.writer(t) == none && needed[t]) live += p.size(t);
  return effects;
}

/// Checks that each load is of a tensor, and that their places exist and ascend. Returns the reason if not, else an empty
/// message.
inline graph_error check_places(const problem& p, std::span<const op_id> executions, std::span<const storage_load> loads) {
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const auto fault = [&](const char* message) {
      return graph_error{error_code::bad_order, "load " + std::to_string(i) + message, {}, {}};
    };
    if (loads[i].storage >= p.tensors().size()) return fault(" is of a tensor that does not exist");
    if (loads[i].before > executions.size()) return fault(" comes after the end");
    if (i > 0 && loads[i].before < loads[i - 1].before) return fault(" stands before the load in front of it");
  }
  return {};
}

}  // namespace detail

MEMSCHED_FUNCTION graph_error check_executions(const execution_table& table, std::span<const op_id> executions) {
  const problem& p = table.graph();
  std::vector<bool> ran(p.ops().size(), false);
  view_ages views(table);
  const auto name = [&](op_id op) { return base::one_line(p.operator_name(op)); };
  const auto fault = [](std::string message, std::vector<op_id> ops, std::vector<tensor_id> tensors = {}) {
    return graph_error{error_code::bad_order, std::move(message), std::move(ops), std::move(tensors)};
  };
  std::size_t runs = 0, loads = 0;
  bool ends = false;
  for (const op_id op : executions) {
    if (op >= p.ops().size() && op < p.ops().size() + p.tensors().size() && !table.prices())
      return fault("load " + std::to_string(loads) + ": nothing leaves memory here", {});
    if (op >= table.size())
      return fault("step " + std::to_string(runs) + " names operator " + std::to_string(op) + ", which does not exist",
                   {op});
    if (ends && !table.is_departure(op)) return fault("a storage leaves for good before the end", {});
    ends = table.is_departure(op);
    if (table.is_move(op)) {
      const tensor_id t = table.moved(op);
      const std::string at = "load " + std::to_string(loads++) + " of " + base::one_line(p.tensor_name(t));
      if (!table.may_repeat(op)) return fault(at + (ends ? ": it cannot end outside" : ": it cannot leave memory"), {}, {t});
      if (const op_id producer = p.producer(t); producer != none && !ran[producer])
        return fault(at + " stands before it was made", {}, {t});
      views.execute(op);
      continue;
    }
    const auto at_step = [&](std::string what, std::vector<op_id> ops) {
      return fault("step " + std::to_string(runs) + " " + std::move(what), std::move(ops));
    };
    if (!ran[op]) {
      for (op_id before : p.predecessors(op))
        if (!ran[before]) return at_step("runs " + name(op) + " before " + name(before) + ", which it needs", {op, before});
    } else if (!table.may_repeat(op)) {
      return at_step("runs " + name(op) + " a second time, which it must not", {op});
    }
    for (tensor_id t : p.inputs(op))
      if (const op_id view = p.writer(t); views.is_stale(t))
        return at_step(
            "runs " + name(op) + " on a view that " + name(view) + " has not made again since its storage came back",
            {op, view});
    views.execute(op);
    ran[op] = true;
    ++runs;
  }
  const auto missing = std::find(ran.begin(), ran.end(), false);
  if (missing == ran.end()) return {};
  const auto op = static_cast<op_id>(missing - ran.begin());
  return fault("the executions lack " + name(op), {op});
}

MEMSCHED_FUNCTION result<executions_evaluation> evaluate_executions(const problem& p, std::span<const op_id> executions,
                                                                    memory_model model, std::span<const storage_load> loads,
                                                                    const offload& prices) {
  if (graph_error error = detail::check_places(p, executions, loads); !error.message.empty()) return error;
  const execution_table table(p, prices);
  const std::vector<op_id> all = with_loads(table, executions, loads);
  if (graph_error error = check_executions(table, all); !error.message.empty()) return error;
  executions_evaluation e;
  bytes live = 0;
  const std::vector<detail::firing_effect> effects = detail::effects(table, all, model, live);
  std::uint64_t first = 0;
  for (op_id op : p.ops()) first += p.cost(op);
  e.peak = table.at_start(live);
  std::vector<bool> written(p.tensors().size(), false);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const detail::footprint f = fire(table.rule(all[i], model), live, effects[i]);
    live = f.after;
    e.during.push_back(f.during);
    e.after.push_back(f.after);
    e.peak = std::max(e.peak, f.during);
    e.cost += table.cost(all[i]);
    if (table.is_move(all[i]) && !written[table.moved(all[i])]) {
      written[table.moved(all[i])] = true;
      e.cost += table.write_cost(all[i]);
    }
    if (e.cost > std::uint64_t{1} << 62)
      return graph_error{
          error_code::overflow, "the executions up to step " + std::to_string(i) + " cost more than 2^62", {}, {}};
  }
  e.extra_cost = e.cost - first;
  return e;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
