// The smallest peak by enumeration of all downsets: on a problem by tensors, and on a schedule graph by nodes. Shares no
// code with the library's walks, searches and referee.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <memsched/graph/problem.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace claims {

using memsched::bytes;
using memsched::delta;

namespace detail {
inline constexpr delta any_peak = std::numeric_limits<delta>::max() - 1;
}

/// Goes through all downsets of up to 20 items, smaller ones first. `level(set)` is what is live after `set`,
/// `during(set, level, i)` what is live while item i runs after it, in bytes. Peaks above `most` are left out: the answer is
/// `most` + 1 where the smallest peak is higher.
template <class Level, class During>
bytes smallest_peak(const std::vector<std::uint32_t>& needs, delta most, Level&& level, During&& during) {
  constexpr delta unreached = std::numeric_limits<delta>::max();
  static std::vector<delta> best;  // unreached everywhere between calls
  static std::vector<std::uint32_t> sets;
  const std::size_t n = needs.size();
  if (best.size() < std::size_t{1} << n) best.resize(std::size_t{1} << n, unreached);
  sets.assign(1, 0);
  best[0] = 0;
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const std::uint32_t set = sets[k];
    const delta here = level(set), so_far = best[set] = std::max(best[set], here);
    if (so_far > most) continue;
    for (std::uint32_t left = ~set & ((std::uint32_t{1} << n) - 1); left != 0; left &= left - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
      if ((needs[i] & ~set) != 0) continue;
      const std::uint32_t after = set | std::uint32_t{1} << i;
      if (best[after] <= so_far) continue;
      const delta peak = std::max(so_far, during(set, here, i));
      if (peak > most) continue;
      if (best[after] == unreached) sets.push_back(after);
      best[after] = std::min(best[after], peak);
    }
  }
  const delta found = std::min(best[(std::size_t{1} << n) - 1], most + 1);
  for (const std::uint32_t set : sets) best[set] = unreached;
  return static_cast<bytes>(found);
}

/// Tensor by tensor, as the memory model says it.
inline bytes optimum_of(const memsched::problem& p, memsched::memory_model model) {
  using namespace memsched;
  const std::size_t n = p.ops().size();
  struct block {
    bytes size;
    std::uint32_t readers = 0;
    int writer = -1;
    bool stays = false;
  };
  std::vector<block> blocks(p.tensors().size());
  std::vector<std::uint32_t> needs(n, 0);
  const auto root = [&](tensor_id t) {
    while (p.alias_of(t) != t) t = p.alias_of(t);
    return t;
  };
  for (tensor_id t : p.tensors()) {
    blocks[t].size = p.alias_of(t) == t ? p.size(t) : 0;
    if (p.live_out(t)) blocks[root(t)].stays = true;
  }
  std::vector<int> maker(p.tensors().size(), -1);
  for (op_id o : p.ops())
    for (tensor_id t : p.outputs(o)) maker[t] = static_cast<int>(o);
  for (op_id o : p.ops()) {
    for (tensor_id t : p.outputs(o))
      if (root(t) == t) blocks[t].writer = static_cast<int>(o);
    for (tensor_id t : p.inputs(o)) {
      if (maker[t] >= 0) needs[o] |= std::uint32_t{1} << maker[t];
      if (blocks[root(t)].writer != static_cast<int>(o)) blocks[root(t)].readers |= std::uint32_t{1} << o;
    }
    for (op_id a : p.after(o)) needs[o] |= std::uint32_t{1} << a;
  }
  const auto live_after = [&](std::uint32_t set, const block& b) {
    const bool there = b.writer < 0 || (set >> b.writer & 1) != 0;
    return there && (b.stays || (b.readers & ~set) != 0);
  };
  const auto level = [&](std::uint32_t set) {
    bytes sum = 0;
    for (const block& b : blocks) sum += live_after(set, b) ? b.size : 0;
    return static_cast<delta>(sum);
  };
  std::vector<bytes> own(n);  // workspace and outputs
  for (op_id o : p.ops()) {
    own[o] = p.workspace(o);
    for (tensor_id t : p.outputs(o))
      if (root(t) == t) own[o] += p.size(t);
  }
  return smallest_peak(needs, detail::any_peak, level, [&](std::uint32_t set, delta here, std::uint32_t o) {
    const std::uint32_t after = set | std::uint32_t{1} << o;
    const auto freed = [&](tensor_id t) {
      return root(t) == t && live_after(set, blocks[t]) && !live_after(after, blocks[t]);
    };
    bytes room = 0;
    if (p.firing(o).value_or(model.default_firing) == firing::cbp) {
      for (tensor_id t : p.tensors()) room += freed(t) ? p.size(t) : 0;
    } else if (model.in_place && p.overwrites(o) >= 0 && !p.outputs(o).empty()) {
      const tensor_id from = root(p.inputs(o)[static_cast<std::size_t>(p.overwrites(o))]), to = p.outputs(o)[0];
      if (root(to) == to && p.size(to) <= p.size(from) && freed(from)) room = p.size(to);
    }
    return here + static_cast<delta>(own[o] - room);
  });
}

namespace detail {

/// A schedule graph as sets.
struct node_sets {
  const memsched::schedule_graph& g;
  std::vector<std::uint32_t> waits;  // per node, releases included

  explicit node_sets(const memsched::schedule_graph& graph) : g(graph), waits(g.size(), 0) {
    for (memsched::node_id v = 0; v < g.size(); ++v)
      for (memsched::node_id u : g.preds[v]) waits[v] |= std::uint32_t{1} << u;
  }
  std::vector<std::uint32_t> needs() const { return {waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(g.active)}; }
  delta level(std::uint32_t set) const {
    auto sum = static_cast<delta>(g.base);
    for (memsched::node_id v = 0; v < g.active; ++v) sum += (set >> v & 1) != 0 ? g.cost[v].impact : 0;
    for (auto v = static_cast<memsched::node_id>(g.active); v < g.size(); ++v)
      sum += (waits[v] & ~set) == 0 ? g.cost[v].impact : 0;
    return sum;
  }
  delta during(std::uint32_t set, delta here, std::uint32_t v) const {
    const std::uint32_t after = set | std::uint32_t{1} << v;
    delta peak = here + g.cost[v].peak;
    for (const auto& c : g.credits[v])
      if ((waits[c.release] & ~after) == 0) peak -= c.amount;
    return peak;
  }
};

}  // namespace detail

/// Node by node; nothing where there are too many. `most` + 1 where it is more than `most`, which is quicker.
inline std::optional<bytes> optimum_of(const memsched::schedule_graph& g, bytes most = bytes{detail::any_peak}) {
  if (g.active > 18) return std::nullopt;
  const detail::node_sets sets(g);
  return smallest_peak(
      sets.needs(), static_cast<delta>(most), [&](std::uint32_t set) { return sets.level(set); },
      [&](std::uint32_t set, delta here, std::uint32_t v) { return sets.during(set, here, v); });
}

/// For each downset the smallest peak of what is left, the level at its start included.
inline std::vector<bytes> smallest_peaks_to_go(const memsched::schedule_graph& g) {
  const detail::node_sets sets(g);
  const auto needs = sets.needs();
  std::vector<std::uint32_t> needed(std::size_t{1} << g.active, 0);  // by the items of a set
  std::vector<delta> best(needed.size(), std::numeric_limits<delta>::max());
  for (std::uint32_t set = 1; set < needed.size(); ++set)
    needed[set] = needed[set & (set - 1)] | needs[static_cast<std::size_t>(std::countr_zero(set))];
  for (auto set = static_cast<std::uint32_t>(best.size()); set-- > 0;) {
    if ((needed[set] & ~set) != 0) continue;
    const delta level = sets.level(set);
    if (set + 1 == best.size()) best[set] = std::max<delta>(level, 0);
    for (std::uint32_t v = 0; v < g.active; ++v)
      if ((set >> v & 1) == 0 && (needs[v] & ~set) == 0)
        best[set] = std::min(best[set], std::max({level, sets.during(set, level, v), best[set | std::uint32_t{1} << v]}));
  }
  return {best.begin(), best.end()};
}

}  // namespace claims
