// The front door: schedule(graph, policy, options).
#pragma once

#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/graph/lower.hpp>
#include <memsched/graph/overlay.hpp>
#include <memsched/schedulers/automatic.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/search/verdict.hpp>

namespace memsched {

/// What `schedule` says beside the order. Where `error` is set, nothing else is.
struct schedule_facts {
  bytes peak = 0;                   ///< of the order, by the referee
  bytes lower_bound = 0;            ///< no order has a smaller peak
  std::vector<bytes> profile;       ///< bytes while each operator of the order runs
  stop_reason stopped = stop_reason::finished;
  statistics stats;
  bytes budget = no_limit;          ///< that was asked for
  std::optional<graph_error> error;

  memsched::verdict verdict() const {
    if (lower_bound > budget) return memsched::verdict::infeasible;
    return peak == lower_bound ? memsched::verdict::optimal : memsched::verdict::feasible;
  }
  bool fits() const { return peak <= budget; }
};

/// The answer of `schedule`.
template <class Op>
struct schedule_result : schedule_facts {
  std::vector<Op> order;  ///< every operator of the graph, in the caller's handles

  /// The result itself; throws bad_graph where there is an error (aborts without exceptions).
  const schedule_result& value() const {
    if (error) fail(*error);
    return *this;
  }
};

namespace detail {

/// `keep_order`: whether the policy's order stands even where the caller's own is better.
MEMSCHED_FUNCTION schedule_result<op_id> run_policy(const problem& p, inner_scheduler policy, bool keep_order,
                                                    const options& o);

}  // namespace detail

/// Schedules a problem that is checked already. Orders hold operator ids.
template <scheduler S>
schedule_result<op_id> schedule_problem(const problem& p, const S& policy, const options& o) {
  return detail::run_policy(p, policy, baseline<S>, o);
}

/// An order of g's operators with a small peak, and how far it is from the best: schedule_result<op_t<G>>.
template <class G, class S = automatic_scheduler>
auto schedule(const G& g, const S& policy = {}, const options& o = {}) {
  static_assert(!pass<S>, "memsched: the policy is a pass and lacks its scheduler: write pass | scheduler");
  static_assert(pass<S> || scheduler<S>,
                "memsched: the policy is no scheduler: solution operator()(const schedule_graph&, search&) const");
  if constexpr (!memory_graph<G>) {
    return lower(g);  // says what the graph lacks
  } else if constexpr (!scheduler<S>) {
    return;
  } else if constexpr (std::same_as<G, problem>) {
    return schedule_problem(g, policy, o);
  } else {
    auto low = lower(g);
    schedule_result<op_t<G>> r;
    if (!low) {
      r.error = low.error();
      return r;
    }
    schedule_result<op_id> inner = schedule_problem(low->problem, policy, o);
    static_cast<schedule_facts&>(r) = std::move(static_cast<schedule_facts&>(inner));
    for (op_id op : inner.order) r.order.push_back(low->ops[op]);
    return r;
  }
}

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedulers/as_given.hpp>

namespace memsched {

MEMSCHED_FUNCTION schedule_result<op_id> detail::run_policy(const problem& p, inner_scheduler policy, bool keep_order,
                                                            const options& o) {
  search context(o);
  const schedule_graph g = make_schedule_graph(p, o.model());
  solution s = policy(g, context);
  schedule_result<op_id> r;
  if (s.error) {
    r.error = std::move(s.error);
    return r;
  }
  r.order = std::move(s.order);
  evaluation e = evaluate(p, r.order, o.model()).value();
  if (!keep_order) {
    std::vector<op_id> given = as_given{}(g, context).order;
    if (evaluation other = evaluate(p, given, o.model()).value(); other.peak < e.peak) {
      e = std::move(other);
      r.order = std::move(given);
    }
  }
  r.peak = e.peak;
  r.lower_bound = std::min(std::max(s.lower_bound, footprint_bound(p, o.model())), r.peak);
  r.profile = std::move(e.during);
  r.stopped = context.reason();
  r.stats = context.stats;
  r.budget = o.budget;
  return r;
}

}  // namespace memsched

#endif
