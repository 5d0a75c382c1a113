// Order and offsets together: the smallest arena over all orders, with proof.
#pragma once

#include <string_view>
#include <vector>

#include <memsched/allocation/plan.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// An order and a plan of its buffers.
struct joint_plan {
  std::vector<op_id> order;
  bytes peak = 0;      ///< of the order
  order_buffers held;  ///< the buffers of the arena, with alignment
  arena_plan plan;     ///< its lower bound is about all orders, unlike that of `plan_offsets`
};

/// The order and the offsets with the smallest arena. An order of the smallest peak comes first; if its arena is the
/// bound of the peak, both are proven. Else a local search among orders of that peak; then the exact search (J1), from the
/// bound upwards. A claim is exact if scheduler and planner prove theirs; if a limit leaves one open, so does this. With
/// `options.budget`, it ends at a plan within it or a bound above it. The scheduler must not know of the arena; its peaks
/// and bounds are those of `schedule`. Answers of the scheduler or the planner that contradict known facts are the error
/// `bad_policy`; `name` is the scheduler's there.
MEMSCHED_FUNCTION joint_plan plan_order_and_offsets(const problem& p, inner_scheduler scheduler, any_planner how,
                                                    const options& o = {}, bytes alignment = 1,
                                                    std::string_view name = "handed in");

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include <memsched/allocation/improve_order.hpp>
#include <memsched/allocation/joint_search.hpp>
#include <memsched/measure/evaluate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION joint_plan plan_order_and_offsets(const problem& p, inner_scheduler scheduler, any_planner how,
                                                    const options& o, bytes alignment, std::string_view name) {
  joint_plan best;
  if (alignment == 0) {
    best.plan.error = graph_error{error_code::bad_input, "an alignment of 0", {}, {}};
    return best;
  }
  search context(o);
  detail::joint_search joint(p, scheduler, how, alignment, context, name);
  solution s = joint.ask_scheduler(p, no_limit);
  if (s.error) {
    best.plan.error = std::move(s.error);
    return best;
  }
  constexpr std::uint64_t first_nodes = 20'000;
  bytes bound = s.lower_bound;
  const auto take = [&](std::vector<op_id> order, arena_plan plan) {
    best.held = joint.buffers(p, order);
    best.peak = evaluate(p, order, o.model())->peak;
    best.order = std::move(order);
    best.plan = std::move(plan);
  };
  const auto plan_order = [&](std::span<const op_id> order, std::uint64_t nodes) {
    const order_buffers held = joint.buffers(p, order);
    return context.control().with_states(nodes, [&] { return how(held.buffers, o.budget, context); });
  };
  {
    arena_plan first = plan_order(s.order, first_nodes);
    take(std::move(s.order), std::move(first));
  }
  const auto done = [&] {
    return best.plan.size <= bound || bound > o.budget || (o.budget != no_limit && best.plan.size <= o.budget) ||
           context.stopped();
  };
  if (!done()) {
    const auto cost = [&](std::span<const op_id> order) { return plan_order(order, 2 * order.size() + 100).size; };
    std::vector<op_id> other = improve_order(p, best.order, std::max(best.peak, bound), cost, o.model(), context,
                                             {.tries = 200, .seed = 1, .floor = bound});
    if (arena_plan plan = plan_order(other, first_nodes); plan.size < best.plan.size)
      take(std::move(other), std::move(plan));
  }
  // Every arena of every order is a sum of sizes if nothing is aligned.
  bytes step = 0;
  for (tensor_id t : p.tensors()) step = std::gcd(step, p.size(t));
  for (op_id op : p.ops()) step = std::gcd(step, p.workspace(op));
  if (alignment > 1 || step == 0) step = 1;
  for (std::uint64_t nodes = first_nodes; !done();) {
    const bytes target = o.budget == no_limit ? bound : o.budget;
    using answer = detail::joint_search::answer;
    const answer a = joint.decide(target, nodes);
    if (a == answer::fits) take(joint.order(), joint.plan());
    else if (a == answer::no) bound = target / step * step + step;
    else if (joint.error() || nodes > no_limit / 8) break;
    else nodes *= 4;
  }
  best.plan.error = joint.error();
  if (bound > best.plan.size)
    best.plan.error = detail::contradiction("the scheduler " + std::string(name) + " or the planner", "order has an arena",
                                            bound, best.plan.size);
  best.plan.lower_bound = bound;
  best.plan.capacity = o.budget;
  best.plan.stopped = context.control().reason();
  best.plan.stats = context.control().stats;
  if (best.plan.error) return best;
  if (graph_error error = check_plan(best.held.buffers, best.plan.offset, best.plan.size); !error.message.empty())
    best.plan.error = std::move(error);
  return best;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
