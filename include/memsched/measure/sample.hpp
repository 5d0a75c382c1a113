// Random topological orders, to compare other orders with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/random.hpp>
#include <memsched/graph/walk.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The peak of one random order, in bytes, and how many orders it stands for.
struct order_sample {
  bytes peak = 0;
  double log2_orders = 0;  ///< -log2 of the probability with which it was drawn
};

/// `count` random topological orders, all from one stream that `seed` starts. Each step runs one of the ready nodes, all
/// with the same probability. So an order with k1, k2, ... ready nodes at its steps has the probability 1/(k1 k2 ...):
/// the distribution of a scheduler without any preference, which is not uniform over orders. Each sample holds k1 k2 ... as
/// a logarithm; weighted by it, shares estimate those among all orders (Knuth: Estimating the efficiency of backtrack
/// programs, 1975), with a variance that grows with the graph. O(count * (nodes + edges)); ends early if `go_on`
/// says so.
inline std::vector<order_sample> sample_orders(const schedule_graph& g, std::size_t count, std::uint64_t seed,
                                               base::function_ref<bool()> go_on = {}) {
  base::random_source random(seed);
  const order_walk start(g);
  std::vector<node_id> sources;
  for (node_id v = 0; v < g.active; ++v)
    if (start.ready(v)) sources.push_back(v);
  std::vector<order_sample> samples;
  for (std::size_t i = 0; i < count && (!go_on || go_on()); ++i) {
    order_walk w = start;
    std::vector<node_id> ready = sources;
    order_sample s;
    while (!ready.empty()) {
      s.log2_orders += std::log2(static_cast<double>(ready.size()));
      std::swap(ready[static_cast<std::size_t>(random.below(ready.size()))], ready.back());
      const node_id v = ready.back();
      ready.pop_back();
      w.fire(v, [&](node_id u) { ready.push_back(u); });
    }
    s.peak = static_cast<bytes>(w.peak());
    samples.push_back(s);
  }
  return samples;
}

/// The share of the orders that need no more than `peak`, among the samples and among all; both in [0, 1].
struct order_share {
  bytes peak = 0;
  double drawn = 0;  ///< of the samples
  double all = 0;    ///< of all orders, as estimated
};

/// The cumulative distribution: one step for each peak that was drawn, ascending. O(samples log samples).
inline std::vector<order_share> cumulative(std::span<const order_sample> samples) {
  std::vector<order_sample> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.peak < b.peak; });
  double largest = 0, weight_of_all = 0;
  for (const auto& s : sorted) largest = std::max(largest, s.log2_orders);
  const auto weight = [&](const order_sample& s) { return std::exp2(s.log2_orders - largest); };
  for (const auto& s : sorted) weight_of_all += weight(s);

  std::vector<order_share> shares;
  double weight_so_far = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    weight_so_far += weight(sorted[i]);
    if (i + 1 < sorted.size() && sorted[i + 1].peak == sorted[i].peak) continue;
    const bool last = i + 1 == sorted.size();
    shares.push_back({sorted[i].peak, static_cast<double>(i + 1) / static_cast<double>(sorted.size()),
                      last ? 1.0 : weight_so_far / weight_of_all});
  }
  return shares;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
