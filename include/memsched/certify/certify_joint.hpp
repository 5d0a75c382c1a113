// Proofs that no order of a graph has a smaller arena.
#pragma once

#include <optional>
#include <span>

#include <memsched/allocation/plan.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/certify/certify_packing.hpp>
#include <memsched/proof/joint_proof.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A joint proof that no order of p has an arena of less than `arena` bytes, which `plan_order_and_offsets` claims with the
/// same scheduler, planner, options and alignment; nothing if a limit of `o` or `limits` is met, or that is not so.
/// `order` is one of a small peak. `check_joint` has accepted it. If no order has a peak below `arena`, that is all of the
/// proof; else the exact search for order and offsets runs again.
MEMSCHED_FUNCTION std::optional<joint_proof> certify_joint(const problem& p, std::span<const op_id> order, bytes arena,
                                                           inner_scheduler scheduler, any_planner how, const options& o = {},
                                                           bytes alignment = 1, const packing_limits& limits = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <utility>
#include <vector>

#include <memsched/allocation/plan_order_and_offsets.hpp>
#include <memsched/certify/certify.hpp>
#include <memsched/proof/check_joint.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION std::optional<joint_proof> certify_joint(const problem& p, std::span<const op_id> order, bytes arena,
                                                           inner_scheduler scheduler, any_planner how, const options& o,
                                                           bytes alignment, const packing_limits& limits) {
  joint_proof proof{.arena = arena};
  if (arena == 0) return proof;
  search context(o);
  const auto go_on = [&] { return context.keep_going(); };
  const schedule_graph g = make_schedule_graph(p, o.model());
  const auto accepted = [&]() -> std::optional<joint_proof> {
    if (!check_joint(p, proof, o.model(), alignment).empty()) return std::nullopt;
    return std::move(proof);
  };
  // A search for a peak that there is would be in vain: some order of a smaller peak says so at once.
  detail::joint_search joint(p, scheduler, how, alignment, context);
  if (const auto e = evaluate(p, order, o.model()); e && e->peak >= arena) {
    certificate c = certify(g, order, arena, go_on);
    if (c.bound >= arena) {
      proof.refutations.push_back({.peak = std::move(c)});
      return accepted();
    }
  }
  std::vector<detail::joint_no> why;
  if (joint.decide(arena - 1, limits.nodes, &why) != detail::joint_search::answer::no) return std::nullopt;
  for (detail::joint_no& no : why) {
    proof::joint_refutation r;
    for (const auto& [before, after] : no.edges) r.edges.push_back({before, after});
    if (no.conflict.empty()) {
      const schedule_graph extended = bounds::with_edges(g, r.edges);
      r.peak = certify(extended, no.order, arena, go_on);
      if (r.peak->bound < arena) return std::nullopt;
    } else {
      const order_buffers held = joint.buffers(p, no.order);
      auto packing = detail::certify_conflict(held.buffers, arena, std::move(no.conflict), context, limits);
      if (!packing) return std::nullopt;
      r.packing = std::move(*packing);
      r.order = std::move(no.order);
    }
    proof.refutations.push_back(std::move(r));
  }
  return accepted();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
