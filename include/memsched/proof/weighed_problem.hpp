// Memory and reruns in one unit: the orders of a weighed problem bound the extra cost of schedules with reruns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/int128.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The problem p with weights for sizes, at a price of a byte (price and weights are multiples of 2^-scale of the unit of
/// costs): a storage weighs its bytes at that price or the cost to make it again or to write and load it, whichever is
/// least. `charged` names, per operator, the output that bears its cost; others cost nothing. Sets an error if the weights
/// sum to more than 2^61. O(operators + uses).
///
/// Lemma. Executions of p with peak <= B have an extra cost of at least (peak of their first runs as an order of the weighed
/// problem - price * B) / 2^scale. So the least peak of the weighed problem bounds the extra cost of all executions.
/// Proof. Consider the first run of an operator u. A storage that an earlier first run made and a later one reads is in
/// memory, or its producer runs again after u, or it is loaded after u. The first take at most price * B together with u's
/// own reads, outputs and workspace. The others cost, together, at most the extra cost: their producers differ, but for outputs
/// of one operator, of which one is charged, and each is written for itself. Each weighs at most that. A storage that u reads
/// or makes weighs its bytes while u runs: the workspace of u makes up for the lack of their weights. An output that may take
/// the storage of an input weighs no more than that input, so that the order's peak has that saving, too.
MEMSCHED_FUNCTION result<problem> weighed_problem(const problem& p, memory_model model, std::span<const tensor_id> charged,
                                                  std::uint64_t price, unsigned scale, const offload& moves = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/base/topology.hpp>
#include <memsched/graph/check.hpp>
#include <memsched/graph/runs_again.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION result<problem> weighed_problem(const problem& p, memory_model model, std::span<const tensor_id> charged,
                                                  std::uint64_t price, unsigned scale, const offload& moves) {
  const std::vector<bool> again = runs_again(p), leaves = may_leave(p);
  const int128 most = static_cast<int128>(base::max_total) + 1;  // more than any problem may have
  const auto priced = [&](bytes size) { return std::min(most, static_cast<int128>(price) * static_cast<int128>(size)); };
  std::vector<int128> weight(p.tensors().size(), 0);
  std::vector<bool> reused(p.tensors().size(), false);
  for (tensor_id t : p.tensors()) {
    if (p.storage(t) != t) continue;
    weight[t] = priced(p.size(t));
    const auto cost_at_most = [&](int128 cost) { weight[t] = std::min(weight[t], cost << std::min(scale, 64U)); };
    const op_id op = p.producer(t);
    if (op != none && again[op]) cost_at_most(charged[op] == t ? static_cast<int128>(p.cost(op)) : 0);
    if (moves && leaves[t])
      cost_at_most(static_cast<int128>(moves.ends_outside && p.stays(t) ? 0 : moves.read_cost(p.size(t))) +
                   static_cast<int128>(moves.write_cost(p.size(t))));
  }
  for (op_id op : base::topological_order(p.predecessors(), base::transpose(p.predecessors(), p.ops().size())))
    for (const problem::storage_reuse& r : p.reuses(op)) {
      weight[r.output] = std::min(weight[r.output], weight[r.input]);
      reused[r.input] = reused[r.output] = true;
    }
  problem_draft d = p.draft();
  for (tensor_id t : p.tensors()) d.tensors[t].size = p.storage(t) == t ? static_cast<bytes>(weight[t]) : 0;
  for (op_id op : p.ops()) {
    int128 workspace = priced(p.workspace(op));
    const auto fill_up = [&](std::span<const tensor_id> storages) {
      for (tensor_id t : storages)
        if (!reused[t]) workspace = std::min(most, workspace + priced(p.size(t)) - weight[t]);
    };
    fill_up(p.creates(op));
    if (p.firing(op).value_or(model.default_firing) == firing::pbc) fill_up(p.reads(op));
    d.operators[op].workspace = static_cast<bytes>(workspace);
  }
  return make_problem(std::move(d));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
