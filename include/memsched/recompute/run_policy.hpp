// Runs a rerun policy on a checked problem.
#pragma once

#include <span>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/recompute/incumbent.hpp>
#include <memsched/recompute/policy.hpp>
#include <memsched/recompute/recompute_result.hpp>
#include <memsched/search/options.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

using inner_rerun_policy = base::function_ref<void(rerun_incumbent&, search&)>;

/// `policy`, on a checked problem. An empty `order` keeps none.
MEMSCHED_FUNCTION recompute_result<op_id> run_rerun_policy(const problem& p, std::span<const op_id> order,
                                                           inner_rerun_policy policy, const options& o,
                                                           const offload& moves);

}  // namespace detail

/// The cheapest executions of a checked problem within `o.budget`, in operator ids. An `order` is kept; if it is empty,
/// any will do. With `moves`, storages may leave memory and come back.
template <rerun_policy P>
recompute_result<op_id> recompute_problem(const problem& p, std::span<const op_id> order, const P& policy, const options& o,
                                          const offload& moves = {}) {
  const auto run = [&](rerun_incumbent& best, search& context) { reruns::apply(policy, best, context); };
  return detail::run_rerun_policy(p, order, run, o, moves);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <utility>
#include <vector>

#include <memsched/measure/evaluate.hpp>
#include <memsched/measure/execution_table.hpp>
#include <memsched/structure/list_schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

MEMSCHED_FUNCTION recompute_result<op_id> run_rerun_policy(const problem& p, std::span<const op_id> order,
                                                           inner_rerun_policy policy, const options& o,
                                                           const offload& moves) {
  const bool keep = !order.empty();
  std::vector<op_id> given(order.begin(), order.end());
  if (!keep) given = given_order(make_schedule_graph(p, o.model()));
  if (graph_error fault = check_order(p, given); !fault.message.empty()) {
    recompute_result<op_id> r;
    r.error = std::move(fault);
    return r;
  }
  options limits = o;  // a budget of executions is no question about orders
  limits.budget = no_limit;
  limits.on_progress = {};
  search context(std::move(limits));
  const execution_table table(p, moves);
  const detail::named_source own(context, "given");
  rerun_incumbent best(table, std::move(given), keep, o, context);
  policy(best, context);
  const bool done = best.done();
  recompute_result<op_id> r = best.take_result();
  r.stopped = done ? stop_reason::finished : context.control().reason();
  r.stats = std::move(context.control().stats);
  return r;
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
