// The front door for arenas: plan(graph, order, planner, options), plan_jointly(graph, policy, planner, options).
#pragma once

#include <concepts>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <memsched/allocation/plan_jointly.hpp>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/schedule.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// An order, where its tensors lie, and what is known of the arena. Where `arena.error` is set, nothing else is.
template <class Op, class Tensor>
struct planned {
  std::vector<Op> order;
  bytes peak = 0;
  std::unordered_map<Tensor, bytes> offset;  ///< of each tensor that has bytes and is ever live, aliases included
  std::unordered_map<Op, bytes> workspace;   ///< offset of the workspace of each operator that has one
  order_buffers held;                        ///< the buffers themselves; tensors and operators by their number
  arena_plan arena;                          ///< `plan`: its bound is about this order; `plan_jointly`: about all orders

  const planned& value() const {
    arena.value();
    return *this;
  }
};

/// What `plan` asks for beside `options`, whose budget is the capacity of the arena.
struct plan_options : options {
  bytes alignment = 1;  ///< of every offset
};

namespace detail {

template <class G>
using planned_of = planned<op_t<G>, tensor_t<G>>;

/// The caller's tensors, by their number in the problem: in order of first appearance, as `lower` numbers them.
template <memory_graph G>
std::unordered_map<tensor_t<G>, tensor_id> tensor_numbers(const G& g) {
  std::unordered_map<tensor_t<G>, tensor_id> number;
  const auto see = [&](const auto& t) { number.try_emplace(t, static_cast<tensor_id>(number.size())); };
  for (const auto& op : graph_traits<G>::ops(g)) {
    for (const auto& t : graph_traits<G>::inputs(g, op)) see(t);
    for (const auto& t : graph_traits<G>::outputs(g, op)) see(t);
  }
  return number;
}
inline std::unordered_map<tensor_id, tensor_id> tensor_numbers(const problem& p) {
  std::unordered_map<tensor_id, tensor_id> number;
  for (tensor_id t : p.tensors()) number.emplace(t, t);
  return number;
}

template <memory_graph G>
planned_of<G> in_handles(const G& g, const std::vector<op_t<G>>& ops, joint_plan j) {
  planned_of<G> r;
  for (const op_id op : j.order) r.order.push_back(ops[op]);
  r.peak = j.peak;
  if (!j.plan.error) {
    for (const auto& [t, i] : tensor_numbers(g))
      if (i < j.held.of_tensor.size() && j.held.of_tensor[i] != none)
        r.offset.emplace(t, j.plan.offset[j.held.of_tensor[i]]);
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

/// Where the tensors of an order of g's operators lie, by a planner.
template <memory_graph G, planner P = minimize>
auto plan(const G& g, std::span<const op_t<G>> order, const P& how = {}, const plan_options& o = {}) {
  joint_plan j;
  auto low = detail::lowered_of(g);
  if (!low) {
    j.plan.error = low.error();
    return detail::in_handles(g, {}, std::move(j));
  }
  std::unordered_map<op_t<G>, op_id> number;
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

/// An order of g's operators and offsets of its tensors with the smallest arena over all orders.
template <memory_graph G, scheduler S = automatic_scheduler, planner P = minimize>
auto plan_jointly(const G& g, const S& policy = {}, const P& how = {}, const plan_options& o = {}) {
  auto low = detail::lowered_of(g);
  joint_plan j;
  if (!low) j.plan.error = low.error();
  else j = plan_jointly(low->problem, inner_scheduler(policy), any_planner(how), o, o.alignment);
  return detail::in_handles(g, low ? low->ops : std::vector<op_t<G>>{}, std::move(j));
}

}  // namespace memsched
