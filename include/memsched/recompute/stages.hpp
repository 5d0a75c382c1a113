// Schedules as first runs and the reruns and loads before each, and the memory that they take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/measure/execution_table.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// First runs, and the executions that come again right before each of them and at the end: ids of an `execution_table`, in
/// the order of the operators' first runs, loads after those of the operators that make their storages, departures at the end.
struct rerun_stages {
  std::vector<op_id> order;
  std::vector<std::vector<op_id>> again;  ///< per place in the order, and one more for the end

  explicit rerun_stages(std::vector<op_id> o) : order(std::move(o)), again(order.size() + 1) {}
  std::vector<op_id> executions() const {
    std::vector<op_id> all;
    for (std::size_t k = 0; k < again.size(); ++k) {
      all.insert(all.end(), again[k].begin(), again[k].end());
      if (k < order.size()) all.push_back(order[k]);
    }
    return all;
  }
  std::size_t reruns() const {
    std::size_t n = 0;
    for (const auto& stage : again) n += stage.size();
    return n;
  }
};

/// The stages of executions. Each stage has an execution once, in the order that `rerun_stages` asks for, so that
/// `executions()` of the result may differ.
inline rerun_stages stages_of(const execution_table& table, std::span<const op_id> executions) {
  const problem& p = table.graph();
  rerun_stages s({});
  std::vector<index_t> place(p.ops().size(), none);
  for (op_id e : executions) {
    if (table.is_move(e) || place[e] != none) {
      s.again.back().push_back(e);
      continue;
    }
    place[e] = static_cast<index_t>(s.order.size());
    s.order.push_back(e);
    s.again.emplace_back();
  }
  const auto place_of = [&](op_id e) {
    const op_id maker = table.is_move(e) ? p.producer(table.moved(e)) : e;
    if (table.is_departure(e)) return std::pair(none, e);
    return std::pair(maker == none ? index_t{0} : place[maker], e);
  };
  for (auto& stage : s.again) {
    std::ranges::sort(stage, {}, place_of);
    stage.erase(std::unique(stage.begin(), stage.end()), stage.end());
  }
  return s;
}

/// The cost of the reruns and loads, and of the writes of loaded storages.
inline std::uint64_t extra_cost(const execution_table& table, const rerun_stages& s) {
  std::uint64_t sum = 0;
  std::vector<bool> written(table.graph().tensors().size(), false);
  for (const auto& stage : s.again)
    for (op_id e : stage) {
      sum += table.cost(e);
      if (!table.is_move(e) || written[table.moved(e)]) continue;
      written[table.moved(e)] = true;
      sum += table.write_cost(e);
    }
  return sum;
}

/// Plays stages, again and again: keeps its tables. Like `evaluate_executions`, without its checks.
class stage_player {
 public:
  stage_player(const execution_table& table, memory_model model)
      : p_(table.graph()), table_(table), model_(model), needed_(p_.tensors().size()) {
    for (op_id e = 0; e < table.size(); ++e) {
      bytes sum = 0;
      for (tensor_id t : table.creates(e)) sum += table.created(e, t);
      produced_.push_back(sum);
    }
  }

  struct level {
    bytes peak = 0;
    double over = 0;  ///< bytes over the budget, summed over executions
    bool operator==(const level&) const = default;
  };

  /// O(executions + uses).
  level play(const rerun_stages& s, bytes budget) {
    run_.clear(), stage_.clear();
    for (index_t k = 0; k < s.again.size(); ++k) {
      for (op_id op : s.again[k]) run_.push_back(op), stage_.push_back(k);
      if (k < s.order.size()) run_.push_back(s.order[k]), stage_.push_back(k);
    }
    bytes live = find_effects();
    level result{table_.at_start(live), 0};
    during_.resize(run_.size());
    live_.assign(1, live);
    for (std::size_t i = 0; i < run_.size(); ++i) {
      const detail::footprint f = fire(rule(run_[i]), live, effects_[i]);
      live = f.after;
      live_.push_back(live);
      during_[i] = f.during;
      if (f.during > budget) result.over += static_cast<double>(f.during - budget);
      if (f.during > result.peak) result.peak = f.during;
    }
    return result;
  }

  // Of the last call of `play`:
  const std::vector<op_id>& run() const { return run_; }
  const std::vector<index_t>& stage() const { return stage_; }
  const std::vector<bytes>& during() const { return during_; }
  /// Bytes in memory before each execution, and at the end.
  const std::vector<bytes>& live() const { return live_; }

  firing rule(op_id e) const { return table_.rule(e, model_); }
  /// The bytes of all that op creates.
  bytes produced(op_id op) const { return produced_[op]; }
  /// The bytes of e's outputs that take the place of its read t, if nothing reads t later.
  bytes spared(op_id e, tensor_id t) const { return table_.spared(e, t, model_); }

 private:
  /// Walks back, so that each use knows whether it is the last of its copy. Returns the bytes that are live after the start.
  bytes find_effects() {
    for (tensor_id t : p_.tensors()) needed_[t] = p_.stays(t);
    effects_.resize(run_.size());
    for (std::size_t i = run_.size(); i-- > 0;) {
      const op_id op = run_[i];
      detail::firing_effect e{.produced = produced_[op], .workspace = table_.workspace(op)};
      for (tensor_id t : table_.creates(op)) {
        if (needed_[t]) e.kept += table_.created(op, t);
        needed_[t] = false;
      }
      for (tensor_id t : table_.reads(op)) {
        if (needed_[t]) continue;
        needed_[t] = true;
        e.freed += p_.size(t);
        e.overwritten += spared(op, t);
      }
      effects_[i] = e;
    }
    bytes live = 0;
    for (tensor_id t : p_.tensors())
      if (p_.storage(t) == t && p_.writer(t) == none && needed_[t]) live += p_.size(t);
    return live;
  }

  const problem& p_;
  const execution_table& table_;
  memory_model model_;
  std::vector<unsigned char> needed_;
  std::vector<bytes> produced_, during_, live_;
  std::vector<op_id> run_;
  std::vector<index_t> stage_;
  std::vector<detail::firing_effect> effects_;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
