// The best interleaving of given orders of components, by hills and valleys.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// A stretch of an order, from one valley over a hill to the next.
struct hill {
  std::size_t begin = 0, end = 0;  ///< positions: its first, and the one after it
  node_id top = none;              ///< the node that runs at the highest level
  delta height = 0;                ///< that level; bytes above the start of the order
  delta start = 0;                 ///< the level before the hill; bytes above the start of the order
  delta valley = 0;                ///< that after it
  bool falls = false;              ///< whether it leads down to the lowest valley
};

/// The hills of an order of some components of g: those that fall lead to ever lower valleys and are ever higher, measured from
/// the level before them; those that rise lead to ever higher valleys and are ever lower, measured from the level after them.
/// O(nodes of the order + their edges) beside O(size of g).
MEMSCHED_FUNCTION std::vector<plain_vector<hill>> hills(const schedule_graph& g,
                                                        std::span<const std::vector<node_id>> orders);

/// An interleaving of orders.
struct interleaving {
  std::vector<node_id> order{};
  bytes peak = 0;
  std::size_t highest = 0;    ///< the component with the hill that makes the peak
  bool falls = false;         ///< whether that hill falls
  std::vector<index_t> at{};  ///< of each component, the hill that counts there: the highest itself, and of the others
                              ///< the last that rises before it, or, if it falls, the next that falls; none for none
};

/// The interleaving of orders of g's components, one for each, with the smallest peak that any interleaving of them has.
/// `of` has their hills. O(nodes + hills log hills).
///
/// Lemma (Liu 1987, An application of generalized tree pebbling to sparse matrix factorization, for orders that rise).
/// Premise: each order is cut into its hills. Conclusion: no interleaving has a smaller peak than that which runs hill by hill,
/// first those that fall, by rising height above the level before them, then those that rise, by falling height above the
/// level after them. Exchange: some interleaving of the smallest peak stands in the lowest valley of all orders at one time,
/// since an order that waits in its lowest valley until all others have reached theirs lowers every level before; likewise
/// after. From there on, let p be a hill that is cut by others in it. Run it in one piece when its top runs. Its nodes before
/// the top then run later, and its level there was no lower than the valley before it; its nodes after the top run earlier,
/// and its level there was no lower than the valley after it: no other node runs higher. Two hills p and q in one piece
/// side by side take max(p, p's valley + q) one way and max(q, q's valley + p) the other, above the valleys before both: p
/// first is no worse if p's height above p's valley is no lower than q's above q's. In one order these never rise, so the
/// order of all hills by them keeps each order. The falling ones are the mirror image.
MEMSCHED_FUNCTION interleaving interleave(const schedule_graph& g, std::span<const std::vector<node_id>> orders,
                                          std::span<const plain_vector<hill>> of);

/// The nodes at the tops of the hills that count, a layer of which the first member, or the last if the hills rise, takes as
/// much as the interleaving in which every top takes the least that its node can, and every valley is the lowest level on that
/// side of its top: beside the valleys of the others the highest hill is the lowest of these, by the order of hills.
inline std::vector<node_id> tops(const interleaving& all, std::span<const plain_vector<hill>> of) {
  std::vector<node_id> nodes;
  for (std::size_t c = 0; c < of.size(); ++c)
    if (all.at[c] != none) nodes.push_back(of[c][all.at[c]].top);
  return nodes;
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

#include <memsched/graph/walk.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

using structure::hill;

/// The levels of an order, above its start.
struct level_profile {
  plain_vector<delta> level{0};  // before each position, and at the end
  plain_vector<delta> height{};  // while the node there runs

  std::size_t size() const { return height.size(); }
};

/// The hills from the lowest level, before this position, to the end.
inline plain_vector<hill> rising_hills(const level_profile& p, std::span<const node_id> order, std::size_t low) {
  plain_vector<hill> found;
  const std::size_t n = p.size();
  plain_vector<std::size_t> top(n), valley(n + 1, n);  // from each position on: the last highest node, the last lowest level
  for (std::size_t i = n; i-- > low;) {
    top[i] = i + 1 < n && p.height[top[i + 1]] >= p.height[i] ? top[i + 1] : i;
    valley[i] = p.level[valley[i + 1]] <= p.level[i] ? valley[i + 1] : i;
  }
  for (std::size_t i = low; i < n;) {
    const std::size_t t = top[i], end = valley[t + 1];
    found.push_back({i, end, order[t], p.height[t], p.level[i], p.level[end]});
    i = end;
  }
  return found;
}

/// Those from the start to there.
inline plain_vector<hill> falling_hills(const level_profile& p, std::span<const node_id> order, std::size_t low) {
  plain_vector<hill> found;
  plain_vector<std::size_t> top(low + 1, 0), valley(low + 1, 0);  // up to each position: the first of these
  for (std::size_t i = 0; i < low; ++i) {
    top[i + 1] = i > 0 && p.height[top[i]] >= p.height[i] ? top[i] : i;
    valley[i + 1] = p.level[valley[i]] <= p.level[i + 1] ? valley[i] : i + 1;
  }
  for (std::size_t end = low; end > 0;) {
    const std::size_t t = top[end], first = valley[t];
    found.push_back({first, end, order[t], p.height[t], p.level[first], p.level[end], true});
    end = first;
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace detail

namespace structure {

MEMSCHED_FUNCTION std::vector<plain_vector<hill>> hills(const schedule_graph& g,
                                                        std::span<const std::vector<node_id>> orders) {
  std::vector<plain_vector<hill>> all;
  order_walk w(g);
  for (const auto& order : orders) {
    detail::level_profile p;
    const delta start = w.level();
    for (node_id v : order) {
      p.height.push_back(w.level() + w.effect(v).peak - start);
      w.fire(v);
      p.level.push_back(w.level() - start);
    }
    const auto low = static_cast<std::size_t>(std::min_element(p.level.begin(), p.level.end()) - p.level.begin());
    plain_vector<hill> found = detail::falling_hills(p, order, low);
    const plain_vector<hill> rising = detail::rising_hills(p, order, low);
    found.insert(found.end(), rising.begin(), rising.end());
    all.push_back(std::move(found));
  }
  return all;
}

MEMSCHED_FUNCTION interleaving interleave(const schedule_graph& g, std::span<const std::vector<node_id>> orders,
                                          std::span<const plain_vector<hill>> of) {
  struct turn {
    delta height;  // above the level before a hill that falls, after one that rises
    std::size_t component, place;
  };
  plain_vector<turn> falls, rises;
  for (std::size_t c = 0; c < of.size(); ++c)
    for (std::size_t i = 0; i < of[c].size(); ++i) {
      const hill& h = of[c][i];
      if (h.falls) falls.push_back({h.height - h.start, c, i});
      else rises.push_back({h.height - h.valley, c, i});
    }
  std::stable_sort(falls.begin(), falls.end(), [](const turn& a, const turn& b) { return a.height < b.height; });
  std::stable_sort(rises.begin(), rises.end(), [](const turn& a, const turn& b) { return a.height > b.height; });
  plain_vector<turn> turns = std::move(falls);
  turns.insert(turns.end(), rises.begin(), rises.end());

  interleaving all;
  auto level = static_cast<delta>(g.base), peak = level;
  plain_vector<std::size_t> ran(of.size(), 0);  // nodes of each order
  std::size_t most = turns.size();
  for (std::size_t k = 0; k < turns.size(); ++k) {
    const auto [height, c, i] = turns[k];
    const hill& h = of[c][i];
    if (level - h.start + h.height > peak) peak = level - h.start + h.height, most = k;
    level += h.valley - h.start;
    for (; ran[c] < h.end; ++ran[c]) all.order.push_back(orders[c][ran[c]]);
  }
  all.peak = static_cast<bytes>(peak);
  all.at.assign(of.size(), none);
  if (most == turns.size()) return all;
  const hill& top = of[turns[most].component][turns[most].place];
  all.highest = turns[most].component, all.falls = top.falls;
  const auto note = [&](std::size_t k) {
    const auto [height, c, i] = turns[k];
    if (of[c][i].falls == all.falls) all.at[c] = static_cast<index_t>(i);
  };
  if (all.falls)
    for (std::size_t k = turns.size(); k-- > most;) note(k);
  else
    for (std::size_t k = 0; k <= most; ++k) note(k);
  return all;
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
