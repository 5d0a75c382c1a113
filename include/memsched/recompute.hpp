// The front door to schedules below the smallest peak of any order: recompute(graph, policy, options).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/numbering.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/recompute/policies.hpp>
#include <memsched/recompute/policy.hpp>
#include <memsched/recompute/recompute_result.hpp>
#include <memsched/recompute/run_policy.hpp>
#include <memsched/schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// First executions as given: `recompute(graph, keep_order{order}, options)`.
template <class Op>
struct keep_order {
  std::vector<Op> order;  ///< every operator once
};
template <class Op>
keep_order(std::vector<Op>) -> keep_order<Op>;

namespace detail {

/// The positions of handles among those of operators.
template <class Op>
result<std::vector<op_id>> numbered(const std::vector<Op>& ops, std::span<const Op> handles) {
  handle_numbers<Op> numbers;
  for (const Op& op : ops) numbers.insert(op);
  std::vector<op_id> order;
  for (const Op& op : handles) {
    order.push_back(numbers.find(op));
    if (order.back() == none)
      return graph_error{
          error_code::bad_order,
          "the order to keep names an operator that is not in the graph, at position " + std::to_string(order.size() - 1),
          {},
          {}};
  }
  return order;
}

/// The answer in the caller's handles. `solve` gets the problem and the order to keep in ids; an empty one keeps none.
template <class G, class Solve>
recompute_result<op_t<G>> recompute_lowered(const G& g, std::span<const op_t<G>> keep, const Solve& solve) {
  recompute_result<op_t<G>> r;
  const auto low = lower(g);
  if (!low) {
    r.error = low.error();
    return r;
  }
  const result<std::vector<op_id>> order = numbered(low->ops, keep);
  if (!order) {
    r.error = order.error();
    return r;
  }
  recompute_result<op_id> inner = solve(low->problem, *order);
  static_cast<recompute_facts&>(r) = std::move(static_cast<recompute_facts&>(inner));
  for (op_id op : inner.executions) r.executions.push_back(low->ops[op]);
  return r;
}

template <class G, class Solve>
auto recompute_any(const G& g, std::span<const op_t<G>> keep, const Solve& solve) {
  if constexpr (std::same_as<G, problem>) return solve(g, keep);
  else return recompute_lowered(g, keep, solve);
}

}  // namespace detail

/// `recompute(graph, options)` by a policy (recompute/policies.hpp), as `reruns::repair{} | reruns::improve{}`. Sets `error` if
/// it answers with what is not a schedule, or with a bound above the cost of a known one.
template <class G, rerun_policy P>
auto recompute(const G& g, const P& policy, const options& o, const offload& moves = {}) {
  return detail::recompute_any(g, std::span<const op_t<G>>(), [&](const problem& p, std::span<const op_id> order) {
    return recompute_problem(p, order, policy, o, moves);
  });
}
template <class G, class Op, rerun_policy P>
auto recompute(const G& g, const keep_order<Op>& keep, const P& policy, const options& o, const offload& moves = {}) {
  return detail::recompute_any(g, std::span<const Op>(keep.order), [&](const problem& p, std::span<const op_id> order) {
    return recompute_problem(p, order, policy, o, moves);
  });
}

/// Returns executions of g's operators, with repetitions, within a peak of `o.budget`, at little extra cost (hook
/// `cost`), and a lower bound of that cost. Operators with `pure(op) == false` run once. An order within the budget costs
/// nothing and is looked for first. If nothing within the budget was found, the executions are the order with the least
/// peak found: `fits()` says so, and `verdict()` whether the budget is proven to be out of reach. Sets `error` if the graph
/// has a fault. Limits are those of `options`; without any, the search ends by counted work. With `moves`, storages may also
/// leave memory and come back, at the cost that it says: `loads` of the result, for which `evaluate_executions` is the referee.
///
/// Sources: gap cover with prices (recompute/cover.hpp), repair, prune, destroy and repair (recompute/repair.hpp), exact
/// search of small graphs (recompute/exact.hpp). Compare Jain et al., Checkmate (MLSys 2020); Bartan et al., Moccasin (ICML
/// 2023).
template <class G>
auto recompute(const G& g, const options& o, const offload& moves = {}) {
  return recompute(g, reruns::automatic, o, moves);
}
/// The same for executions that keep an order in their first runs. The bound then holds for these alone.
template <class G, class Op>
auto recompute(const G& g, const keep_order<Op>& keep, const options& o, const offload& moves = {}) {
  return recompute(g, keep, reruns::automatic, o, moves);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
