// Prices of a byte at which orders of weighed problems may bound the extra cost of executions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <memsched/base/int128.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/measure/execution_table.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The arguments of `weighed_problem` but for a price.
struct weighing {
  std::vector<tensor_id> charged;  ///< per operator: its largest output, which bears its cost; or none
  double middle_price = 0;         ///< the median of the prices at which a charged output weighs its operator's cost
  unsigned scale = 0;              ///< costs are shifted left by it; leaves room for prices of up to twice the middle one

  std::uint64_t scaled(double price) const {
    return static_cast<std::uint64_t>(std::llround(std::ldexp(price, static_cast<int>(scale))));
  }
  /// The extra cost that a least peak of the weighed problem shows at a scaled price: costs are multiples of `unit`.
  std::uint64_t extra_cost(bytes least_peak, std::uint64_t scaled_price, bytes budget, std::uint64_t unit) const {
    const int128 above = static_cast<int128>(least_peak) - static_cast<int128>(scaled_price) * static_cast<int128>(budget);
    const int128 step = static_cast<int128>(unit) << scale;
    return above <= 0 ? 0 : static_cast<std::uint64_t>((above + step - 1) / step) * unit;
  }
};

/// The weighing of the table's graph; nothing if no storage with bytes has a cost to come back. O(operators + uses).
MEMSCHED_FUNCTION std::optional<weighing> weighing_of(const execution_table& table);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION std::optional<weighing> weighing_of(const execution_table& table) {
  const problem& p = table.graph();
  weighing w{.charged = std::vector<tensor_id>(p.ops().size(), none)};
  std::vector<double> prices;
  double bytes_in_all = 0;
  for (op_id op : p.ops()) {
    tensor_id& charged = w.charged[op];
    for (tensor_id t : p.creates(op))
      if (charged == none || p.size(t) > p.size(charged)) charged = t;
    bytes_in_all += static_cast<double>(p.workspace(op));
    for (const auto& storages : {p.creates(op), p.reads(op)})
      for (tensor_id t : storages) bytes_in_all += 2 * static_cast<double>(p.size(t));
    if (charged == none || p.size(charged) == 0) continue;
    std::uint64_t cost = table.may_repeat(op) || !table.prices() ? p.cost(op) : ~std::uint64_t{0};
    for (const op_id move : {table.load_of(charged), table.departure_of(charged)})
      if (move != none) cost = std::min(cost, table.cost(move) + table.write_cost(move));
    if (cost > 0) prices.push_back(static_cast<double>(cost) / static_cast<double>(p.size(charged)));
  }
  if (prices.empty()) return std::nullopt;
  const auto middle = prices.begin() + static_cast<std::ptrdiff_t>(prices.size() / 2);
  std::nth_element(prices.begin(), middle, prices.end());
  w.middle_price = *middle;
  constexpr unsigned largest_scale = 40;
  constexpr double most = 0x1p59;
  while (w.scale < largest_scale && std::ldexp(4 * w.middle_price * bytes_in_all, static_cast<int>(w.scale) + 1) < most)
    ++w.scale;
  return w;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
