// Plans of spills: when storages leave a chip and come back, so that an order moves few bytes.
#pragma once

#include <span>
#include <vector>

#include <memsched/allocation/replay_spills.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/proof/recompute_proof.hpp>
#include <memsched/search/options.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The answer of `plan_spills`.
struct spill_plan {
  std::vector<spill> spills;  ///< ascending by `from`, then by storage
  traffic_count count;        ///< bytes that they move
  recompute_proof proof;      ///< of a lower bound; without cases if there is none (`check_traffic`)
};

/// Plans which whole storages leave a chip of `capacity` bytes and when, so that each operator of an order has all its operands
/// and its workspace there: `traffic_model::resident`. Moves no more than `count_traffic`, and proves a lower bound for this
/// order. Fails as `count_traffic` does. It is the cheapest way to keep the order of a `traffic_problem` within the capacity:
/// `recompute` with moves alone, by a few policies that end by counted work. Limits are those of `o`.
MEMSCHED_FUNCTION result<spill_plan> plan_spills(const problem& p, std::span<const op_id> order, bytes capacity,
                                                 const options& o = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <string_view>
#include <utility>

#include <memsched/measure/execution_table.hpp>
#include <memsched/proof/traffic_problem.hpp>
#include <memsched/recompute/policies.hpp>
#include <memsched/recompute/policy.hpp>
#include <memsched/recompute/repair.hpp>
#include <memsched/recompute/run_policy.hpp>
#include <memsched/recompute/stages.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Loads for what Belady's rule evicts, in operators of the traffic problem.
inline std::vector<storage_load> loads_of(const traffic_problem& t, std::span<const chip::eviction> evicted) {
  const problem& graph = t.graph;
  std::vector<storage_load> loads;
  for (const auto& [storage, to] : evicted) {
    const auto first = std::lower_bound(t.step_of.begin(), t.step_of.end(), to);
    const auto before = static_cast<op_id>(first - t.step_of.begin());
    const auto values = before < graph.ops().size() ? graph.reads(before) : graph.graph_outputs();
    for (tensor_id value : values)
      if (t.storage_of[value] == storage) loads.push_back({value, before});
  }
  std::ranges::stable_sort(loads, {}, &storage_load::before);
  return loads;
}

/// Spills for loads of values: each leaves right after its last use before.
inline std::vector<spill> spills_of(const traffic_problem& t, std::span<const storage_load> loads) {
  const problem& graph = t.graph;
  const index_t steps = t.step_of.empty() ? 0 : t.step_of.back() + 1;
  std::vector<spill> spills;
  std::vector<bool> written(graph.tensors().size(), false);
  for (const auto& [value, before] : loads) {
    op_id last = graph.producer(value);
    for (op_id reader : graph.readers(value))
      if (reader < before && (last == none || last < reader)) last = reader;
    const index_t from = last == none ? 0 : t.step_of[last] + 1;
    const index_t to = before < t.step_of.size() ? t.step_of[before] : steps;
    spills.push_back({t.storage_of[value], from, to, !written[value]});
    written[value] = true;
  }
  std::ranges::sort(spills, {}, [](const spill& s) { return std::pair(s.from, s.storage); });
  return spills;
}

/// Begins with executions that are known, but for those that the budget does not need.
struct known_executions {
  std::span<const op_id> executions;
  static constexpr std::string_view name = "Belady's rule";
  void operator()(rerun_incumbent& best, search& context) const {
    rerun_stages s = stages_of(best.table(), executions);
    rerun_search(best.table(), best.model(), best.budget(), context, 1).prune(s);
    best.offer(std::move(s));
  }
};

}  // namespace detail

MEMSCHED_FUNCTION result<spill_plan> plan_spills(const problem& p, std::span<const op_id> order, bytes capacity,
                                                 const options& o) {
  const result<traffic_problem> t = make_traffic_problem(p, order, o.model());
  if (!t) return t.error();
  std::vector<detail::chip::eviction> evicted;
  const auto belady = detail::chip(p, order, capacity, traffic_model::resident, o.model(), &evicted).run();
  if (!belady) return belady.error();

  std::vector<op_id> keep(t->graph.ops().begin(), t->graph.ops().end());
  options within = o;
  within.budget = capacity, within.in_place = traffic_problem::model.in_place;
  const execution_table table(t->graph, traffic_problem::moves);
  const std::vector<op_id> known = with_loads(table, keep, detail::loads_of(*t, evicted));
  const auto policy = detail::known_executions{known} | reruns::within{0.5, reruns::exact{}} | reruns::repair{} |
                      reruns::cover{64} | reruns::repair_by_prices{} | reruns::cover_with_needs{64};
  recompute_result<op_id> found = recompute_problem(t->graph, keep, policy, within, traffic_problem::moves);
  if (found.error) return *found.error;

  std::vector<spill> spills = detail::spills_of(*t, found.loads);
  result<traffic_count> count = replay_spills(p, order, capacity, o.model(), spills);
  if (!count) return count.error();
  count->lower_bound = std::max(belady->lower_bound, found.lower_bound);
  return spill_plan{std::move(spills), *count, std::move(found.proof)};
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
