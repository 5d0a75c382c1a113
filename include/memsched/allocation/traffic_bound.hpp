// A bound of off-chip traffic over all orders.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// No order moves less on and off a chip of `capacity` bytes, whatever leaves the chip when, under either model of
/// count_traffic; by bounds of peaks that a scheduler proves. Returns 0 if the operands of some operator may not fit together.
///
/// **Premise.** Every order has a peak of P or more, and all operands of an operator fit on the chip beside its workspace,
/// so that they are there while it runs. Let e = P - capacity.
///
/// **Moment.** Take an order, and the operator that runs when P or more is live. The chip holds at most `capacity` of that,
/// the operands among it: e bytes or more are outside, each of them idle or, under `paged`, just written and streamed out.
/// Or P is live at the start only, when there are only graph inputs. Those that are no ends (see below) fit, since the first
/// operator reads them all: the others are e or more, so that E >= e, and what is claimed is one move of each that is
/// outside.
///
/// **Price.** A byte outside was written there, and is read again: two moves of its own. With these exceptions:
/// * No move: an input that no operator reads and that is an output (V1 bytes in all); what the operator writes that no
///   operator reads and that is no output (V2 at most, over operators).
/// * One move, the **ends**: a graph output (it need not be read again), and a graph input (its first read is yet to come,
/// and
///   if not all inputs fit it may be outside from the start) unless every operator is or runs after a reader of it: then
///   it was on the chip. E bytes in all.
/// So e' = e - V1 - V2 bytes or more have a price, at most E of them of one move: traffic >= 2 e' - min(e', E).
///
/// **Without ends.** Take the ends as of no bytes, and let every order then have a peak of P or more. Of what
/// that counts, e bytes or more are outside again, by the same words. But if an output that is an end takes the place of
/// an input, the bytes that they share are gone from the chip with the input: as many of the output are on the chip, which
/// has that much less room for the rest, or outside, at one move each. E is then the most that one operator so writes.
///
/// Two runs of the scheduler, each under the counted limits of `o`, the first for half of its time and the second for the
/// rest; a budget or a gap in it is not asked for.
MEMSCHED_FUNCTION bytes traffic_bound(const problem& p, bytes capacity, inner_scheduler policy, options o = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <memsched/allocation/draft_of.hpp>
#include <memsched/base/adjacency.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// A bound of the peak of p with the storages that f names taken as of no bytes; 0 if the scheduler fails.
template <class F>
bytes peak_bound_without(const problem& p, F&& f, inner_scheduler policy, const options& o) {
  problem_draft d = draft_of(p);
  for (tensor_id t : p.tensors())
    if (f(p.storage(t))) d.tensors[t].size = 0;
  const auto less = make_problem(std::move(d));
  if (!less) return 0;
  search context(o);
  const solution s = policy(make_schedule_graph(*less, o.model()), context);
  return s.error ? 0 : s.lower_bound;
}

/// Whether each operator reads t or runs after one that does, in every order: from the first step on, t has been read.
inline bool read_first(const problem& p, tensor_id t) {
  std::vector<std::pair<op_id, op_id>> edges;
  for (op_id op : p.ops())
    for (op_id before : p.predecessors(op)) edges.emplace_back(before, op);
  const auto succs = adjacency::from_pairs(p.ops().size(), edges);
  std::vector<bool> behind(p.ops().size(), false);
  std::vector<op_id> todo(p.readers(t).begin(), p.readers(t).end());
  for (op_id op : todo) behind[op] = true;
  for (std::size_t k = 0; k < todo.size(); ++k)
    for (op_id next : succs[todo[k]])
      if (!behind[next]) behind[next] = true, todo.push_back(next);
  return todo.size() == p.ops().size();
}

}  // namespace detail

MEMSCHED_FUNCTION bytes traffic_bound(const problem& p, bytes capacity, inner_scheduler policy, options o) {
  o.budget = no_limit, o.gap = 0;
  const auto start = std::chrono::steady_clock::now();
  options first = o;
  if (o.has_time_limit()) first.time_limit /= 2;
  constexpr std::size_t many = 100;
  std::vector<bool> ends_at(p.tensors().size(), false);
  std::size_t inputs = 0;
  for (tensor_id t : p.tensors())
    ends_at[t] = p.stays(t) || (p.producer(t) == none && (++inputs > many || !detail::read_first(p, t)));
  const auto is_end = [&](tensor_id s) { return ends_at[s]; };
  bytes for_nothing = 0, written_for_nothing = 0, ends = 0, in_place_ends = 0;
  for (op_id op : p.ops()) {
    bytes operands = p.workspace(op), nothing = 0, in_place = 0;
    for (tensor_id t : p.reads(op)) operands += p.size(t);
    for (tensor_id t : p.creates(op)) {
      operands += p.size(t);
      if (!p.kept(t)) nothing += p.size(t);
    }
    for (const problem::storage_reuse& r : p.reuses(op))
      if (p.stays(r.output)) in_place += p.size(r.output);
    if (operands > capacity) return 0;
    written_for_nothing = std::max(written_for_nothing, nothing);
    in_place_ends = std::max(in_place_ends, in_place);
  }
  for (tensor_id t : p.tensors()) {
    if (p.storage(t) != t || !is_end(t)) continue;
    if (p.producer(t) == none && p.readers(t).empty()) for_nothing += p.size(t);
    else ends += p.size(t);
  }
  const auto moved = [&](bytes peak, bytes once) {
    bytes outside = peak - std::min(peak, capacity);
    outside -= std::min(outside, for_nothing + written_for_nothing);
    return 2 * outside - std::min(outside, once);
  };
  const bytes with_ends = detail::peak_bound_without(
      p, [](tensor_id) { return false; }, policy, first);
  if (moved(with_ends, 0) == 0) return 0;
  o.time_limit = o.time_left(start);
  return std::max(moved(with_ends, ends), moved(detail::peak_bound_without(p, is_end, policy, o), in_place_ends));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
