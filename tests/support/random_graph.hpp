// Random schedule graphs whose nodes have impacts of any sign.
#pragma once

#include <algorithm>

#include <memsched/graph/task_graph.hpp>

#include "support/random_problem.hpp"

namespace support {

/// `n` nodes, an edge between any two with `percent`, small numbers for ties, a base that no order can use up. Most are
/// renumbered.
inline memsched::cost_graph random_costs(std::uint64_t seed, std::uint32_t n, std::uint32_t percent = 25,
                                         std::uint32_t size = 8) {
  using namespace memsched;
  random r(seed);
  cost_graph c;
  for (node_id v = 0; v < n; ++v) {
    const delta impact = static_cast<delta>(r.below(2 * size + 1)) - static_cast<delta>(size);
    c.cost.push_back({std::max<delta>(impact, 0) + static_cast<delta>(r.chance(40) ? 0 : r.below(size)), impact});
    for (node_id u = 0; u < v; ++u)
      if (r.chance(percent)) c.edges.push_back({u, v});
  }
  c.base = n * size;
  const std::vector<std::uint32_t> place = random_places(seed, n);
  cost_graph other = c;
  for (node_id v = 0; v < n; ++v) other.cost[place[v]] = c.cost[v];
  for (precedence& e : other.edges) e = {place[e.before], place[e.after]};
  return other;
}

/// A series-parallel task graph of `n` channels: one channel, then n - 1 times a channel is split in series or doubled.
inline memsched::task_graph random_series_parallel(std::uint64_t seed, std::uint32_t n, std::uint32_t size = 10) {
  using namespace memsched;
  random r(seed);
  task_graph t{2, {{0, 1, r.below(size) + 1}}};
  while (t.channels.size() < n) {
    const std::size_t at = r.below(static_cast<std::uint32_t>(t.channels.size()));
    const task_channel old = t.channels[at];
    if (r.chance(50)) {
      t.channels.push_back({old.from, old.to, r.below(size)});
    } else {
      const node_id middle = static_cast<node_id>(t.tasks++);
      t.channels[at] = {old.from, middle, old.size};
      t.channels.push_back({middle, old.to, r.below(size) + (r.chance(20) ? 0 : 1)});
    }
  }
  return t;
}

}  // namespace support
