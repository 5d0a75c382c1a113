// Among orders within a peak, one that costs little by another measure: a caller's planner, off-chip traffic.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The cost of an order, in bytes, by a measure of the caller's: the arena of a runtime's own planner, traffic.
using order_cost = base::function_ref<bytes(std::span<const op_id>)>;

/// Options of `improve_order`.
struct order_search {
  std::uint64_t tries = 2000;  ///< orders looked at, each a state of the context
  std::uint64_t seed = 1;
  bytes floor = 0;  ///< known lower bound of the cost: it ends there
};

/// An order with peak at most `peak` that costs no more than `order`: a local search that moves one operator at a time
/// between its predecessors and successors, and keeps moves that cost no more. It proves nothing. Each try takes one call of
/// `cost` and O(operators + uses).
MEMSCHED_FUNCTION std::vector<op_id> improve_order(const problem& p, std::vector<op_id> order, bytes peak, order_cost cost,
                                                   memory_model model, search& context, order_search how = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>

#include <memsched/base/random.hpp>
#include <memsched/measure/evaluate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION std::vector<op_id> improve_order(const problem& p, std::vector<op_id> order, bytes peak, order_cost cost,
                                                   memory_model model, search& context, order_search how) {
  base::random_source random(how.seed);
  const std::size_t n = order.size();
  std::vector<std::size_t> place(n);
  bytes now = cost(order);
  std::vector<op_id> next;
  for (std::uint64_t k = 0; k < how.tries && n > 1 && now > how.floor && context.count_state(); ++k) {
    for (std::size_t i = 0; i < n; ++i) place[order[i]] = i;
    const auto from = static_cast<std::size_t>(random.below(n));
    const op_id op = order[from];
    std::size_t first = 0, last = n - 1;
    for (const op_id before : p.predecessors(op)) first = std::max(first, place[before] + 1);
    for (std::size_t i = from + 1; i < n && last == n - 1; ++i) {
      const auto preds = p.predecessors(order[i]);
      if (std::find(preds.begin(), preds.end(), op) != preds.end()) last = i - 1;
    }
    if (first == last) continue;
    const std::size_t to = first + static_cast<std::size_t>(random.below(last - first + 1));
    if (to == from) continue;
    next = order;
    const auto at = [&](std::size_t i) { return next.begin() + static_cast<std::ptrdiff_t>(i); };
    if (to < from) std::rotate(at(to), at(from), at(from + 1));
    else std::rotate(at(from), at(from + 1), at(to + 1));
    const auto e = evaluate(p, next, model);
    if (!e || e->peak > peak) continue;
    if (const bytes then = cost(next); then <= now) now = then, order.swap(next);
  }
  return order;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
