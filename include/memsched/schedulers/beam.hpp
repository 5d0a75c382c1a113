// Beam search: the best few downsets of each size.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Steps from downsets to downsets by the moves of `best_first` and keeps the `width` best of each size: lowest peak so
/// far first, then lowest level. Claims no bound. O(nodes * width * moves), and at most as many states, of nodes / 8 bytes
/// each, are kept.
struct beam {
  std::size_t width = 4;
  std::size_t max_nodes = 1 << 14;  ///< larger graphs are answered with `greedy`

  solution operator()(const schedule_graph& g, search& context) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/search/downset_moves.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution beam::operator()(const schedule_graph& g, search& context) const {
  if (g.active > max_nodes) return context.control().give_up(), greedy{}(g, context);
  detail::downset_moves moves(g, context, true);
  if (!moves.usable()) return context.keep_going(), greedy{}(g, context);
  struct state {
    delta peak, level;
    base::plain_vector<base::bit_word> set;
    index_t parent;
    node_id target;
  };
  std::vector<state> kept;  // expanded states, for the way back
  std::map<std::size_t, std::vector<state>> open;
  const std::uint64_t bytes_each = sizeof(state) + base::words_for(g.active) * sizeof(base::bit_word);
  std::uint64_t held = 1;  // states, kept and open
  const delta base = static_cast<delta>(g.base);
  const auto after = [&](index_t at, const auto& m) {
    state next{std::max(kept[at].peak, m.peak), m.level, kept[at].set, at, m.target};
    moves.reach(m.target, kept[at].set, next.set);
    return next;
  };
  open[0].push_back({base, base, base::plain_vector<base::bit_word>(base::words_for(g.active)), none, none});
  while (open.begin()->first < g.active) {
    auto bucket = std::move(open.begin()->second);
    open.erase(open.begin());
    const auto better = [](const state& a, const state& b) {
      return std::tie(a.peak, a.level, a.set) < std::tie(b.peak, b.level, b.set);
    };
    held -= bucket.size();
    std::sort(bucket.begin(), bucket.end(), better);
    const auto same = [](const state& a, const state& b) { return a.set == b.set; };
    bucket.erase(std::unique(bucket.begin(), bucket.end(), same), bucket.end());
    if (bucket.size() > width) bucket.resize(width);
    held += bucket.size();
    for (state& s : bucket) {
      if (!context.count_state() || !context.fits(held * bytes_each)) return greedy{}(g, context);
      const index_t at = static_cast<index_t>(kept.size());
      kept.push_back(std::move(s));
      const auto on = base::plain_vector(moves.from(kept[at].set, kept[at].level));
      if (context.stopped()) return greedy{}(g, context);
      for (const auto& m : on) {
        state next = after(at, m);
        while (const auto safe = moves.safe_from(next.set, next.level, next.peak)) {
          kept.push_back(std::move(next));
          next = after(static_cast<index_t>(kept.size() - 1), *safe);
          ++held;
        }
        if (context.stopped()) return greedy{}(g, context);
        ++held;
        open[base::count_bits(next.set)].push_back(std::move(next));
      }
    }
  }
  auto& full = open.begin()->second;
  const state best =
      *std::min_element(full.begin(), full.end(), [](const state& a, const state& b) { return a.peak < b.peak; });
  kept.push_back(best);

  std::vector<index_t> path;
  for (index_t i = static_cast<index_t>(kept.size() - 1); kept[i].parent != none; i = kept[i].parent) path.push_back(i);
  solution s;
  for (std::size_t i = path.size(); i-- > 0;) {
    const auto& nodes = moves.path_to(kept[path[i]].target, kept[kept[path[i]].parent].set);
    s.order.insert(s.order.end(), nodes.begin(), nodes.end());
  }
  return s;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
