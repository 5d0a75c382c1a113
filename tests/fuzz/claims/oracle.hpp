// The smallest peak by enumeration of all downsets: on a problem by tensors, and on a schedule graph by nodes. Shares no
// code with the library's walks, searches and referee.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <memsched/graph/problem.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace claims {

using memsched::bytes;
using memsched::delta;

/// Goes through all downsets of up to 20 items by rising numbers: whatever a set rests on has a smaller number.
/// `step(set, i)` is the highest level while item i runs after `set`, in bytes.
template <class Step>
bytes smallest_peak(const std::vector<std::uint32_t>& needs, bytes start, Step&& step) {
  const std::size_t n = needs.size();
  constexpr bytes unreached = std::numeric_limits<bytes>::max();
  std::vector<bytes> best(std::size_t{1} << n, unreached);
  best[0] = start;
  for (std::uint32_t set = 0; set + 1 < best.size(); ++set) {
    if (best[set] == unreached) continue;
    for (std::uint32_t i = 0; i < n; ++i) {
      if ((set >> i & 1) != 0 || (needs[i] & ~set) != 0) continue;
      bytes& to = best[set | std::uint32_t{1} << i];
      to = std::min(to, std::max(best[set], step(set, i)));
    }
  }
  return best.back();
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
    return sum;
  };
  return smallest_peak(needs, level(0), [&](std::uint32_t set, std::uint32_t o) {
    const std::uint32_t after = set | std::uint32_t{1} << o;
    const bool cbp = p.firing(o).value_or(model.default_firing) == firing::cbp;
    bytes held = level(set) + p.workspace(o), room = 0;
    for (tensor_id t : p.outputs(o))
      if (root(t) == t) held += p.size(t);
    for (tensor_id t : p.tensors()) {
      if (root(t) != t || !live_after(set, blocks[t]) || live_after(after, blocks[t])) continue;
      if (cbp) room += p.size(t);
      else if (model.in_place && p.overwrites(o) >= 0 && !p.outputs(o).empty() && root(p.outputs(o)[0]) == p.outputs(o)[0] &&
               root(p.inputs(o)[static_cast<std::size_t>(p.overwrites(o))]) == t && p.size(p.outputs(o)[0]) <= p.size(t))
        room += p.size(p.outputs(o)[0]);
    }
    return held - room;
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
    for (memsched::node_id v = 0; v < g.size(); ++v)
      if (v < g.active ? (set >> v & 1) != 0 : (waits[v] & ~set) == 0) sum += g.cost[v].impact;
    return sum;
  }
  bytes step(std::uint32_t set, std::uint32_t v) const {
    const std::uint32_t after = set | std::uint32_t{1} << v;
    delta peak = g.cost[v].peak;
    for (const memsched::credit& c : g.credits[v])
      if ((waits[c.release] & ~after) == 0) peak -= c.amount;
    return static_cast<bytes>(std::max({level(set) + peak, level(after), delta{0}}));
  }
};

}  // namespace detail

/// Node by node; nothing where there are too many.
inline std::optional<bytes> optimum_of(const memsched::schedule_graph& g) {
  if (g.active > 18) return std::nullopt;
  const detail::node_sets sets(g);
  return smallest_peak(sets.needs(), g.base, [&](std::uint32_t set, std::uint32_t v) { return sets.step(set, v); });
}

/// For each downset the smallest peak of what is left, the level at its start included.
inline std::vector<bytes> smallest_peaks_to_go(const memsched::schedule_graph& g) {
  const detail::node_sets sets(g);
  const auto needs = sets.needs();
  std::vector<bytes> best(std::size_t{1} << g.active, std::numeric_limits<bytes>::max());
  for (std::uint32_t set = static_cast<std::uint32_t>(best.size()); set-- > 0;) {
    bool closed = true;
    for (std::uint32_t v = 0; v < g.active; ++v) closed &= (set >> v & 1) == 0 || (needs[v] & ~set) == 0;
    if (!closed) continue;
    const auto level = static_cast<bytes>(std::max<delta>(sets.level(set), 0));
    if (set + 1 == best.size()) best[set] = level;
    for (std::uint32_t v = 0; v < g.active; ++v)
      if ((set >> v & 1) == 0 && (needs[v] & ~set) == 0)
        best[set] = std::min(best[set], std::max({level, sets.step(set, v), best[set | std::uint32_t{1} << v]}));
  }
  return best;
}

}  // namespace claims
