// The front door: schedule(graph, policy, options).
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/type_name.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/graph/lower.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/proof/certificate.hpp>
#include <memsched/schedulers/automatic.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/search/verdict.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The result of `schedule` without the order. If `error` is set, no other member is.
struct schedule_facts {
  bytes peak = 0;               ///< of the order, by the referee
  bytes lower_bound = 0;        ///< no order has a smaller peak
  bytes given_peak = 0;         ///< of the order in which the graph lists its operators (see `as_given`)
  std::string_view order_by{};  ///< source of the order: a stage of `automatic`, a policy, or "given" for the graph's own
  std::string_view bound_by{};  ///< source of the bound, likewise; "footprint" for the largest need of one operator
  std::vector<bytes> profile;   ///< bytes while each operator of the order runs
  stop_reason stopped = stop_reason::finished;
  statistics stats;
  bytes budget = no_limit;  ///< as requested
  /// Set if `options.certify` is: a proof that no order has a peak below the certificate's own bound, which is at most
  /// `lower_bound` (`check_certificate`). Nodes are those of `make_schedule_graph`: operators first, in the graph's order.
  std::optional<memsched::certificate> certificate;
  std::optional<graph_error> error;

  memsched::verdict verdict() const noexcept {
    if (error) return memsched::verdict::failed;
    if (lower_bound > budget) return memsched::verdict::infeasible;
    return peak == lower_bound ? memsched::verdict::optimal : memsched::verdict::feasible;
  }
  /// Whether there is an order within the budget.
  bool fits() const noexcept { return !error && peak <= budget; }
};

/// The answer of `schedule`.
template <class Op>
struct [[nodiscard]] schedule_result : schedule_facts {
  std::vector<Op> order;  ///< every operator of the graph, in the caller's handles

  /// Whether there is no error.
  explicit operator bool() const noexcept { return !error; }
  /// Returns the result itself. Throws bad_graph if there is an error; without exceptions prints it and aborts.
  const schedule_result& value() const& {
    if (error) detail::abort_with(*error);
    return *this;
  }
  /// Returns by value, so that a range-for over a member of a temporary is safe.
  schedule_result value() && {
    if (error) detail::abort_with(*error);
    return std::move(*this);
  }
};

namespace detail {

/// `keep_order`: whether the policy's order stands even if the caller's own is better. `name`: of the policy, for errors.
MEMSCHED_FUNCTION schedule_result<op_id> run_policy(const problem& p, inner_scheduler policy, std::string_view name,
                                                    bool keep_order, const options& o);

/// Schedules a checked problem. Orders hold operator ids.
template <scheduler S>
schedule_result<op_id> schedule_problem(const problem& p, const S& policy, const options& o) {
  const auto checked_policy = [&policy](const schedule_graph& g, search& context) { return checked(policy, g, context); };
  return run_policy(p, checked_policy, base::type_name<S>(), baseline<S>, o);
}

}  // namespace detail

/// Returns an order of g's operators with the smallest peak that `policy` finds within the limits of `o`, and a lower bound
/// of all orders, as a schedule_result<op_t<G>>. Sets `error` if the graph has a fault or if the policy contradicts itself.
/// Calls share no state and may run in several threads at once.
template <class G, class S = automatic_scheduler>
auto schedule(const G& g, const S& policy = {}, const options& o = {}) {
  static_assert(!pass<S>, "memsched: the policy is a pass and lacks its scheduler: write pass | scheduler");
  static_assert(pass<S> || scheduler<S>,
                "memsched: the policy is no scheduler: solution operator()(const schedule_graph&, search&) const");
  if constexpr (!memory_graph<G>) {
    static_assert(detail::demand_graph<G>());
    return schedule_result<int>{};  // so that the caller's uses of it are no errors
  } else if constexpr (!scheduler<S>) {
    return schedule_result<op_t<G>>{};
  } else if constexpr (std::same_as<G, problem>) {
    return detail::schedule_problem(g, policy, o);
  } else {
    auto low = lower(g);
    schedule_result<op_t<G>> r;
    if (!low) {
      r.error = low.error();
      return r;
    }
    schedule_result<op_id> inner = detail::schedule_problem(low->problem, policy, o);
    static_cast<schedule_facts&>(r) = std::move(static_cast<schedule_facts&>(inner));
    for (op_id op : inner.order) r.order.push_back(low->ops[op]);
    return r;
  }
}

/// The same with the default scheduler.
template <class G>
auto schedule(const G& g, const options& o) {
  return schedule(g, automatic, o);
}

/// Returns the workspace of an operator that runs another graph (a call, a region), in bytes: the peak inside less the bytes
/// that enter and leave. `inner` is the answer of `schedule` for that graph; `in` and `out` are the bytes of its parameters
/// and of its results. Empty if `inner` is an error, so that the hook `workspace` may return it.
///
/// Lemma. Let the inner graph count its parameters and results, and keep both to its end (`live_out`; `tensors` lists
/// parameters that it does not read). Let the operator read the arguments, write the results, fire under `pbc` and overwrite
/// nothing. While it runs, the caller counts exactly what is live at the inner peak, if arguments outlive the call. If the
/// inner graph may free an argument earlier, the caller counts no less than that.
/// Proof. The caller counts in + out + workspace, beside what the call does not touch. At the end of the inner graph in and
/// out are live. So its peak is no less, and the sum is that peak. An argument that is freed earlier only lowers it.
///
/// Parameters that the inner graph frees after their last reader do not do: an argument may outlive the call, and the caller
/// would count too little.
inline std::optional<bytes> workspace_of(const schedule_facts& inner, bytes in, bytes out) {
  if (inner.error) return std::nullopt;
  return inner.peak - std::min(inner.peak, in + out);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <chrono>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/structure/list_schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// One run of a policy.
struct policy_run {
  solution answer;
  statistics stats;
  stop_reason stopped;
  bool answered;  ///< stopped early because a reported result answers the caller's question
  progress known{};
};

inline policy_run run_once(const schedule_graph& g, inner_scheduler policy, bytes given_peak, bytes bound,
                           const options& o) {
  search context(o);
  const auto known = [&](std::string_view source, bytes peak, bytes lower_bound) {
    const named_source by(context, source);
    context.report(peak, lower_bound);
  };
  known("footprint", no_limit, bound);
  known("given", given_peak, 0);
  if (context.control().answered()) return {{{}, bound}, {}, stop_reason::finished, true};
  solution s = policy(g, context);
  search_control& c = context.control();
  return {std::move(s), std::move(c.stats), c.reason(), c.answered(), c.known()};
}

MEMSCHED_FUNCTION schedule_result<op_id> run_policy(const problem& p, inner_scheduler policy, std::string_view name,
                                                    bool keep_order, const options& o) {
  const auto start = std::chrono::steady_clock::now();
  const memory_model model = o.model();
  const schedule_graph g = make_schedule_graph(p, model);
  std::vector<op_id> given = given_order(g);
  evaluation given_cost = evaluate(p, given, model).value();
  const bytes bound = std::min(footprint_bound(p, model), given_cost.peak);

  schedule_result<op_id> r;
  r.budget = o.budget;
  r.given_peak = given_cost.peak;
  options limits = o;
  if (keep_order) limits.budget = no_limit, limits.gap = 0;  // the caller wants its order
  limits.time_limit = o.time_left(start);
  for (;;) {
    policy_run run = run_once(g, policy, given_cost.peak, bound, limits);
    solution& s = run.answer;
    r.error = std::move(s.error);
    if (r.error) return r;
    const bool as_given = s.order.empty() || s.order == given;
    evaluation cost = as_given ? given_cost : evaluate(p, s.order, model).value();
    r.order = s.order.empty() ? given : std::move(s.order);
    if (const bytes known = std::min(cost.peak, given_cost.peak); s.lower_bound > known) {
      r.error = contradiction("the scheduler " + std::string(name), "order has a peak", s.lower_bound, known);
      r.order.clear();
      return r;
    }
    if (!keep_order && given_cost.peak < cost.peak) cost = given_cost, r.order = given;
    r.peak = cost.peak;
    r.lower_bound = std::max(s.lower_bound, bound);
    r.profile = std::move(cost.during);
    const auto by = [&](bool reported, std::string_view stage) { return reported && !stage.empty() ? stage : name; };
    r.order_by = r.order == given ? "given" : by(run.known.peak == r.peak, run.known.order_by);
    r.bound_by = r.lower_bound == bound ? "footprint" : by(run.known.lower_bound == r.lower_bound, run.known.bound_by);
    const bool closed = r.peak == r.lower_bound;
    r.stopped = closed && run.stopped == stop_reason::gave_up ? stop_reason::finished : run.stopped;
    r.stats = std::move(run.stats);
    if (!run.answered || detail::search_control::answers(limits, r.peak, r.lower_bound)) break;
    limits.budget = no_limit, limits.gap = 0;  // it reported an order and gave another: let it end by itself
  }
  if (o.certify != nullptr) {
    search context(o);
    r.certificate = o.certify(g, r.order, r.lower_bound, [&] { return context.keep_going(); }, {});
  }
  return r;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
