// A row that the cheapest answers of a cover with needs leave over the budget.
#pragma once

#include <span>

#include <memsched/base/linkage.hpp>
#include <memsched/recompute/rows.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The row with the most bytes over the budget among all that are not `chosen` (sorted), if storages are absent only where
/// `answers` say so, and reads of their producers are needed; none if all are within the budget, or a limit is hit. A cover
/// with needs at this row may have a higher bound. O(rows * (gaps + uses)), and a minimum cut for each row.
MEMSCHED_FUNCTION index_t violated_row(const execution_table& table, memory_model model, const rerun_rows& r, bytes budget,
                                       std::span<const index_t> chosen, std::span<const rerun_decision> answers,
                                       search& context);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <vector>

#include <memsched/base/int128.hpp>
#include <memsched/recompute/needs.hpp>
#include <memsched/recompute/priced_closure.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION index_t violated_row(const execution_table& table, memory_model model, const rerun_rows& r, bytes budget,
                                       std::span<const index_t> chosen, std::span<const rerun_decision> answers,
                                       search& context) {
  const detail::priced_cover cover(r, budget, 1);
  index_t worst = none;
  int128 most = 0;
  for (std::size_t i = 0; i < cover.rows.size() && context.keep_going(); ++i) {
    const index_t k = cover.rows[i];
    if (std::ranges::binary_search(chosen, k)) continue;
    const rerun_needs needs = find_needs(table, model, r, std::span(&k, 1), budget);
    detail::priced_closure closure(r, needs, budget, 1);
    closure.decide({answers.begin(), answers.end()});
    std::vector<std::uint64_t> price(closure.wanted.size(), 0);
    const int128 paid = closure.exact(price).value;
    price[i] = 1;  // too little to pay for a rerun
    const int128 over = closure.exact(price).value - paid;
    if (over > most) most = over, worst = k;
  }
  return context.stopped() ? none : worst;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
