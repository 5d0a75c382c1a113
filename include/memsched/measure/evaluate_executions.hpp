// The referee of schedules that run operators more than once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The memory and the cost of a sequence of executions.
struct executions_evaluation {
  bytes peak = 0;
  std::vector<bytes> during;     ///< while each execution runs
  std::vector<bytes> after;      ///< between it and the next
  std::uint64_t cost = 0;        ///< of all executions
  std::uint64_t extra_cost = 0;  ///< of those that are no operator's first
};

/// Why `executions` is no schedule of p; an empty message where it is one. Every operator runs at least once, its first time
/// behind the first times of all its predecessors; an operator that must not run again (`runs_again`) runs once; and a view
/// (an alias of a storage that its operator reads) is made again before it is read, once its storage was created again.
/// O(executions + uses), and the cost of `runs_again`.
MEMSCHED_FUNCTION graph_error check_executions(const problem& p, std::span<const op_id> executions);

/// The memory and the cost of `executions`; an error that names step and operator where they are no schedule of p, or cost
/// more than 2^62. A reader reads the latest copy of a storage: the one that the last execution of its producer before it
/// created. A copy lives from there to its last reader before the next is created; the last copy of a storage that stays
/// lives to the end, and a copy that nobody reads dies with its creation. Graph inputs live from the start to their last
/// reader anywhere. Where no operator runs twice, the numbers are those of `evaluate`. O(executions + uses).
MEMSCHED_FUNCTION result<executions_evaluation> evaluate_executions(const problem& p, std::span<const op_id> executions,
                                                                    memory_model model = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <string>
#include <utility>

#include <memsched/graph/runs_again.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The next event of each storage, behind one place of a sequence that is walked from its end to its start.
class next_events {
 public:
  explicit next_events(const problem& p) : p_(p), needed_(p.tensors().size()) {
    for (tensor_id t : p.tensors()) needed_[t] = p.stays(t);
  }
  /// Whether somebody reads the copy that is there, or it stays: the next event is no creation.
  bool needed(tensor_id storage) const { return needed_[storage]; }
  /// Steps back over an execution.
  void step_over(op_id op) {
    for (tensor_id t : p_.creates(op)) needed_[t] = false;
    for (tensor_id t : p_.reads(op)) needed_[t] = true;
  }

 private:
  const problem& p_;
  std::vector<bool> needed_;
};

/// The effect of each execution on memory.
inline std::vector<firing_effect> effects(const problem& p, std::span<const op_id> executions, memory_model model,
                                          bytes& live_at_start) {
  std::vector<firing_effect> effects(executions.size());
  next_events next(p);
  for (std::size_t i = executions.size(); i-- > 0;) {
    const op_id op = executions[i];
    firing_effect& e = effects[i];
    e.workspace = p.workspace(op);
    for (tensor_id t : p.reads(op)) {
      if (next.needed(t)) continue;
      e.freed += p.size(t);
      if (model.in_place)
        for (const storage_reuse& r : p.reuses(op))
          if (r.input == t) e.overwritten += r.spared;
    }
    for (tensor_id t : p.creates(op)) {
      e.produced += p.size(t);
      if (next.needed(t)) e.kept += p.size(t);
    }
    next.step_over(op);
  }
  live_at_start = 0;
  for (tensor_id t : p.tensors())
    if (p.storage(t) == t && p.writer(t) == none && next.needed(t)) live_at_start += p.size(t);
  return effects;
}

}  // namespace detail

MEMSCHED_FUNCTION graph_error check_executions(const problem& p, std::span<const op_id> executions) {
  const std::size_t never = executions.size();
  std::vector<std::size_t> last(p.ops().size(), never);
  const std::vector<bool> again = runs_again(p);
  const auto name = [&](op_id op) { return one_line(p.operator_name(op)); };
  const auto fault = [](std::string message, std::vector<op_id> ops) {
    return graph_error{error_code::bad_order, std::move(message), std::move(ops), {}};
  };
  for (std::size_t i = 0; i < executions.size(); ++i) {
    const op_id op = executions[i];
    const auto at_step = [&](std::string what, std::vector<op_id> ops) {
      return fault("step " + std::to_string(i) + " " + std::move(what), std::move(ops));
    };
    if (op >= last.size()) return at_step("names operator " + std::to_string(op) + ", which does not exist", {op});
    if (last[op] == never) {
      for (op_id before : p.predecessors(op))
        if (last[before] == never)
          return at_step("runs " + name(op) + " before " + name(before) + ", which it needs", {op, before});
    } else if (!again[op]) {
      return at_step("runs " + name(op) + " a second time, which it must not", {op});
    }
    for (tensor_id t : p.inputs(op)) {
      const op_id view = p.writer(t), creator = p.producer(p.storage(t));
      if (view != creator && creator != none && last[view] < last[creator])
        return at_step("runs " + name(op) + " on a view that " + name(view) + " has not made again since " + name(creator) +
                           " ran again",
                       {op, view, creator});
    }
    last[op] = i;
  }
  const auto missing = std::find(last.begin(), last.end(), never);
  if (missing == last.end()) return {};
  const auto op = static_cast<op_id>(missing - last.begin());
  return fault("the executions lack " + name(op), {op});
}

MEMSCHED_FUNCTION result<executions_evaluation> evaluate_executions(const problem& p, std::span<const op_id> executions,
                                                                    memory_model model) {
  if (graph_error error = check_executions(p, executions); !error.message.empty()) return error;
  executions_evaluation e;
  bytes live = 0;
  const std::vector<detail::firing_effect> effects = detail::effects(p, executions, model, live);
  std::uint64_t first = 0;
  for (op_id op : p.ops()) first += p.cost(op);
  e.peak = live;
  for (std::size_t i = 0; i < executions.size(); ++i) {
    const op_id op = executions[i];
    const detail::footprint f = fire(p.firing(op).value_or(model.default_firing), live, effects[i]);
    live = f.after;
    e.during.push_back(f.during);
    e.after.push_back(f.after);
    e.peak = std::max(e.peak, f.during);
    e.cost += p.cost(op);
    if (e.cost > std::uint64_t{1} << 62)
      return graph_error{
          error_code::overflow, "the executions up to step " + std::to_string(i) + " cost more than 2^62", {op}, {}};
  }
  e.extra_cost = e.cost - first;
  return e;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
