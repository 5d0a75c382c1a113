// The concepts of schedulers and passes, and their composition.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/base/type_name.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The answer of a scheduler: an order of the active nodes and a proven bound. Only the referee computes its peak.
struct solution {
  std::vector<node_id> order;
  bytes lower_bound = 0;               ///< no order of this graph has a smaller peak, except one within the query's target;
                                       ///< 0 claims nothing
  std::optional<graph_error> error{};  ///< set if the scheduler rejects this graph; then there is no order
};

namespace detail {

/// Replaces the order of s if another order of g has a smaller peak.
inline void take_if_better(const schedule_graph& g, std::vector<node_id> order, solution& s) {
  if (peak_of(g, order) < peak_of(g, s.order)) s.order = std::move(order);
}
/// Whether there is nothing to gain over s: its bound reaches its peak, or the cutoff. O(nodes + edges).
inline bool is_closed(const schedule_graph& g, const search& context, const solution& s) {
  return s.lower_bound >= context.asked().cutoff || s.lower_bound >= peak_of(g, s.order);
}

}  // namespace detail

/// A function from a schedule graph to a solution. It always answers with a valid order, limits or not.
template <class S>
concept scheduler = requires(const S& s, const schedule_graph& g, search& context) {
  { s(g, context) } -> std::same_as<solution>;
};

/// The scheduler that a pass is handed, of any type.
using inner_scheduler = base::function_ref<solution(const schedule_graph&, search&)>;

/// A function that solves a graph with the help of a scheduler for other graphs.
template <class P>
concept pass = !scheduler<P> && requires(const P& p, const schedule_graph& g, search& context, inner_scheduler inner) {
  { p(g, context, inner) } -> std::same_as<solution>;
};

namespace detail {

/// A scheduler that stands for an order of its own (rpo, the caller's order): never replaced by a better one.
template <class S>
concept baseline = scheduler<S> && S::is_baseline;

/// Whether `order` runs every active node of g once, each after its predecessors. O(nodes + edges).
MEMSCHED_FUNCTION bool is_order(const schedule_graph& g, std::span<const node_id> order);

/// Checks an answer of the scheduler `name`: sets its error if the order is not one of g.
MEMSCHED_FUNCTION solution checked(solution answer, std::string_view name, const schedule_graph& g);
/// The error of a policy, such as "the scheduler dp", that claims that no `thing`, such as "order has a peak", is below
/// `claimed` bytes, when one of `known` bytes is known.
MEMSCHED_FUNCTION graph_error contradiction(std::string_view policy, std::string_view thing, bytes claimed, bytes known);
/// The answer of a scheduler, checked.
template <scheduler S>
solution checked(const S& policy, const schedule_graph& g, search& context) {
  return checked(policy(g, context), base::type_name<S>(), g);
}

/// pass | scheduler, a scheduler.
template <pass P, scheduler S>
struct passed {
  P first;
  S second;
  solution operator()(const schedule_graph& g, search& context) const {
    const auto inner = [this](const schedule_graph& h, search& c) { return checked(second, h, c); };
    return first(g, context, inner);
  }
};

/// pass | pass, a pass.
template <pass P, pass Q>
struct chained {
  P first;
  Q second;
  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
    const auto rest = [&](const schedule_graph& h, search& c) { return second(h, c, inner); };
    return first(g, context, rest);
  }
};

}  // namespace detail

/// `|` is found by itself if one side is the library's; `using namespace memsched::composition` for two of one's own.
inline namespace composition {

template <pass P, scheduler S>
constexpr detail::passed<P, S> operator|(P p, S s) {
  return {std::move(p), std::move(s)};
}
template <pass P, pass Q>
constexpr detail::chained<P, Q> operator|(P p, Q q) {
  return {std::move(p), std::move(q)};
}

}  // namespace composition

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <string>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

MEMSCHED_FUNCTION bool is_order(const schedule_graph& g, std::span<const node_id> order) {
  if (order.size() != g.active) return false;
  plain_vector<bool> ran(g.active, false);
  for (node_id v : order) {
    if (v >= g.active || ran[v]) return false;
    for (node_id u : g.preds[v])
      if (!ran[u]) return false;
    ran[v] = true;
  }
  return true;
}

MEMSCHED_FUNCTION solution checked(solution answer, std::string_view name, const schedule_graph& g) {
  if (!answer.error && !is_order(g, answer.order))
    answer.error = graph_error{error_code::bad_policy,
                               "the scheduler " + std::string(name) + " answered with what is no order of the graph",
                               {},
                               {}};
  return answer;
}

MEMSCHED_FUNCTION graph_error contradiction(std::string_view policy, std::string_view thing, bytes claimed, bytes known) {
  return {error_code::bad_policy,
          std::string(policy) + " claims that no " + std::string(thing) + " below " + std::to_string(claimed) +
              " bytes, and one has " + std::to_string(known),
          {},
          {}};
}

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
