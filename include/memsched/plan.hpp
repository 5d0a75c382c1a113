// The front door for arenas: plan(graph, order, planner, options), plan_jointly(graph, policy, planner, options).
#pragma once

#include <concepts>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <memsched/allocation/exact_fit.hpp>
#include <memsched/allocation/first_fit.hpp>
#include <memsched/allocation/minimize.hpp>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/allocation/plan_order_and_offsets.hpp>
#include <memsched/allocation/valley_fit.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Bytes of handles of the caller's graph.
template <class Handle>
using bytes_by_handle = std::unordered_map<Handle, bytes, detail::handle_hash>;

/// An order, the offsets of its tensors, and the bounds of the arena. If `arena.error` is set, no other member is.
template <class Op, class Tensor>
struct [[nodiscard]] plan_result {
  std::vector<Op> order;
  bytes peak = 0;
  bytes_by_handle<Tensor> offset;  ///< of each tensor that has bytes and is ever live, aliases included
  bytes_by_handle<Op> workspace;   ///< offset of the workspace of each operator that has one
  order_buffers held;              ///< the buffers themselves; tensors and operators by their number
  arena_plan arena;                ///< `plan`: its bound is about this order; `plan_jointly`: about all orders

  /// Whether there is no error.
  explicit operator bool() const noexcept { return !arena.error; }
  /// Returns the result itself. Throws bad_graph if there is an error; without exceptions prints it and aborts.
  const plan_result& value() const& {
    if (arena.error) detail::abort_with(*arena.error);
    return *this;
  }
  plan_result value() && {
    if (arena.error) detail::abort_with(*arena.error);
    return std::move(*this);
  }
};

namespace detail {

template <class G>
using plan_result_of = plan_result<op_t<G>, tensor_t<G>>;

template <memory_graph G>
plan_result_of<G> in_handles(const G& g, const std::vector<op_t<G>>& ops, joint_plan j) {
  plan_result_of<G> r;
  for (const op_id op : j.order) r.order.push_back(ops[op]);
  r.peak = j.peak;
  if (!j.plan.error) {
    const auto see = [&](const auto& t, std::size_t number) {
      if (const index_t b = j.held.of_tensor[number]; b != none) r.offset.emplace(t, j.plan.offset[b]);
    };
    if constexpr (std::same_as<G, problem>) {
      for (tensor_id t : g.tensors()) see(t, t);
    } else {
      const auto tensors = tensors_of(g);
      for (std::size_t i = 0; i < tensors.size(); ++i) see(tensors[i], i);
    }
    for (index_t b = 0; b < j.held.workspace_of.size(); ++b)
      if (const op_id op = j.held.workspace_of[b]; op != none) r.workspace.emplace(ops[op], j.plan.offset[b]);
  }
  r.held = std::move(j.held);
  r.arena = std::move(j.plan);
  return r;
}

template <memory_graph G>
result<lowered<op_t<G>>> lowered_of(const G& g) {
  if constexpr (std::same_as<G, problem>) {
    lowered<op_id> same{g, {}};
    for (op_id op : g.ops()) same.ops.push_back(op);
    return same;
  } else {
    return lower(g);
  }
}

}  // namespace detail

/// Returns the offsets of the tensors of an order of g's operators, and a lower bound of the arenas of this order. Sets
/// `arena.error` if the graph has a fault, if `order` is not an order of it, or if the planner's answer is invalid.
template <memory_graph G, planner P = minimize>
auto plan(const G& g, std::span<const op_t<G>> order, const P& how = {}, const options& o = {}) {
  joint_plan j;
  auto low = detail::lowered_of(g);
  if (!low) {
    j.plan.error = low.error();
    return detail::in_handles(g, {}, std::move(j));
  }
  std::unordered_map<op_t<G>, op_id, detail::handle_hash> number;
  for (op_id i = 0; i < low->ops.size(); ++i) number.emplace(low->ops[i], i);
  for (const auto& op : order) {
    const auto found = number.find(op);
    j.order.push_back(found == number.end() ? none : found->second);
  }
  auto held = buffers_of(low->problem, j.order, o.model());
  if (!held) {
    j.order.clear();
    j.plan.error = held.error();
    return detail::in_handles(g, low->ops, std::move(j));
  }
  j.held = std::move(*held);
  for (buffer& b : j.held.buffers) b.alignment = o.alignment;
  j.peak = evaluate(low->problem, j.order, o.model())->peak;
  j.plan = plan_offsets(j.held.buffers, how, o);
  return detail::in_handles(g, low->ops, std::move(j));
}

/// The same with the default planner.
template <memory_graph G>
auto plan(const G& g, std::span<const op_t<G>> order, const options& o) {
  return plan(g, order, minimize{}, o);
}

/// Returns an order of g's operators with offsets of its tensors in the smallest arena found, and a lower bound of the arenas
/// of all orders. Errors as for `plan`, and contradictions of the policy.
template <memory_graph G, scheduler S = automatic_scheduler, planner P = minimize>
auto plan_jointly(const G& g, const S& policy = {}, const P& how = {}, const options& o = {}) {
  auto low = detail::lowered_of(g);
  joint_plan j;
  if (!low) {
    j.plan.error = low.error();
  } else {
    const auto checked_policy = [&policy](const schedule_graph& s, search& context) {
      return detail::checked(policy, s, context);
    };
    j = plan_order_and_offsets(low->problem, checked_policy, any_planner(how), o, o.alignment, base::type_name<S>());
  }
  return detail::in_handles(g, low ? low->ops : std::vector<op_t<G>>{}, std::move(j));
}

/// The same with the default scheduler and planner.
template <memory_graph G>
auto plan_jointly(const G& g, const options& o) {
  return plan_jointly(g, automatic, minimize{}, o);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
