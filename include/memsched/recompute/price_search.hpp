// Prices with a high value, by subgradient steps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include <memsched/recompute/priced_cover.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Limits of `improve_prices`.
struct price_steps {
  int most = 0;
  int patience = 0;  ///< steps without gain before steps get shorter
  double aim = 0;    ///< a value that is high enough: an upper bound of all values, from which lengths of steps follow
};

/// Improves prices from `p` on by subgradient steps (Polyak). `price(p, now)` sets the value of prices and the bytes that their
/// best answers cover. Returns the best that were found. A step costs one call of `price`.
template <class Price>
std::vector<double> improve_prices(const priced_cover& cover, std::vector<double> p, const price_steps& steps,
                                   search& context, priced_cover::valuation& now, const Price& price) {
  std::vector<double> best = p;
  double best_value = -1, factor = 1;
  int idle = 0;
  const auto missing = [&](std::size_t k) { return static_cast<double>(cover.wanted[k]) - now.covered[k]; };
  for (int step = 0; step < steps.most && factor > 1e-4; ++step) {
    price(p, now);
    const double value = now.value;
    if (!context.keep_going() || (step % 50 == 49 && !context.count_state())) break;
    if (value > best_value * (1 + 1e-9)) best_value = value, best = p, idle = 0;
    else if (++idle > steps.patience) idle = 0, factor *= 0.6, p = best, price(p, now);
    if (best_value >= steps.aim) break;
    double norm = 0;
    for (std::size_t k = 0; k < p.size(); ++k)
      if (const double g = missing(k); p[k] > 0 || g > 0) norm += g * g;
    if (norm == 0) break;
    const double length = factor * std::max(steps.aim - value, 1e-3 * steps.aim) / norm;
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = std::max(0.0, p[k] + length * missing(k));
  }
  return best;
}

/// Prices to begin with: one row after the other, from the highest excess on, gets the best price up to `most` beside those
/// before it. Near the best prices if few rows decide. `price` as above; O(100 rows * 50 of its calls).
template <class Price>
std::vector<double> ascend_rows(const priced_cover& cover, double most, search& context, priced_cover::valuation& now,
                                const Price& price) {
  constexpr std::size_t tried = 100;
  constexpr int halvings = 50;
  std::vector<std::size_t> rows(cover.rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::stable_sort(rows, std::ranges::greater(), [&](std::size_t k) { return cover.excess[k]; });
  rows.resize(std::min(rows.size(), tried));
  std::vector<double> p(cover.wanted.size(), 0);
  for (std::size_t k : rows) {
    double low = 0, high = most;
    for (int i = 0; i < halvings && context.keep_going(); ++i) {
      p[k] = (low + high) / 2;
      price(p, now);
      (now.covered[k] < static_cast<double>(cover.excess[k]) ? low : high) = p[k];
    }
    p[k] = low;
  }
  return p;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
