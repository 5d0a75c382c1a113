// The check that actors of synchronous dataflow can fire as often as they should (Lee and Messerschmitt, 1987).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/bytes.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// The need of a channel: each firing of `from` adds `produced` tokens, each of `to` takes `consumed`, and
/// `tokens` are there at the start. Memory does not enter.
struct need {
  index_t from = none, to = none;
  bytes produced = 1, consumed = 1, tokens = 0;
};

/// The actor that takes from a need lacks `missing` tokens.
struct shortage {
  std::size_t need = 0;  ///< position in the list of needs
  bytes missing = 0;
};

enum class life : unsigned char {
  live,     ///< some order fires each actor as often as it should
  stuck,    ///< none does
  unknown,  ///< the limit on work was met
};

struct liveness {
  life verdict = life::live;
  std::vector<shortage> cycle;  ///< if stuck: actors that wait for each other, each for the one before it
  index_t actor = none;         ///< if unknown: one on the cycle that takes long
};

namespace detail {

/// The strongly connected component of each node, numbered from 0 in reverse topological order (Tarjan). O(nodes + edges).
MEMSCHED_FUNCTION std::vector<index_t> components(const adjacency& succs, index_t& count);

}  // namespace detail

/// Whether an order fires each actor a `repetitions[a]` times. The needs must balance: produced * repetitions[from] equals
/// consumed * repetitions[to], at most 2^61.
///
/// Only cycles can be stuck, so each strongly connected component is tried by itself. It is live if it can fire each actor
/// q = repetitions / (their greatest common divisor) times: that restores its tokens, and can be repeated. Conversely, an
/// order that fires more stays one when each actor skips its firings beyond q: `from` at q firings has produced all that
/// `to` consumes in q. Any order of trying finds out, as firing never takes tokens from another actor; an actor fires as
/// often at once as its tokens last. O(actors + needs) and the firings on cycles with few tokens, of which `limit` are
/// tried.
MEMSCHED_FUNCTION liveness check_liveness(std::span<const need> needs, std::span<const bytes> repetitions,
                                          std::uint64_t limit = std::uint64_t{1} << 26);

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <numeric>
#include <utility>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {
namespace detail {

MEMSCHED_FUNCTION std::vector<index_t> components(const adjacency& succs, index_t& count) {
  const index_t n = static_cast<index_t>(succs.size());
  std::vector<index_t> component(n, none), seen(n, none), low(n, 0), open;
  std::vector<std::pair<index_t, std::size_t>> path;
  index_t clock = 0;
  count = 0;
  for (index_t root = 0; root < n; ++root) {
    if (seen[root] != none) continue;
    path.emplace_back(root, 0);
    while (!path.empty()) {
      const index_t v = path.back().first;
      std::size_t& at = path.back().second;
      if (at == 0) seen[v] = low[v] = clock++, open.push_back(v);
      if (at < succs[v].size()) {
        const index_t w = succs[v][at++];
        if (seen[w] == none) path.emplace_back(w, 0);
        else if (component[w] == none) low[v] = std::min(low[v], seen[w]);
        continue;
      }
      if (low[v] == seen[v]) {
        for (index_t w = none; w != v; open.pop_back()) component[w = open.back()] = count;
        ++count;
      }
      path.pop_back();
      if (!path.empty()) low[path.back().first] = std::min(low[path.back().first], low[v]);
    }
  }
  return component;
}

}  // namespace detail

MEMSCHED_FUNCTION liveness check_liveness(std::span<const need> needs, std::span<const bytes> repetitions,
                                          std::uint64_t limit) {
  const std::size_t n = repetitions.size();
  liveness result;
  std::vector<std::pair<index_t, index_t>> pairs;
  std::vector<std::size_t> binding;  // needs that can make an actor wait
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const need& e = needs[i];
    if (e.from == e.to) {
      if (e.tokens >= e.consumed) continue;
      return {life::stuck, {{i, e.consumed - e.tokens}}, e.to};
    }
    if (e.tokens >= e.consumed * repetitions[e.to]) continue;
    binding.push_back(i);
    pairs.emplace_back(e.from, e.to);
  }
  index_t count = 0;
  const auto component = detail::components(adjacency::from_pairs(n, pairs), count);
  if (count == n) return result;

  std::vector<bytes> common(count, 0), left(repetitions.begin(), repetitions.end()), tokens(needs.size());
  for (std::size_t a = 0; a < n; ++a) common[component[a]] = std::gcd(common[component[a]], repetitions[a]);
  for (std::size_t a = 0; a < n; ++a) left[a] /= common[component[a]];
  std::vector<std::pair<index_t, index_t>> inputs, outputs;
  for (std::size_t i : binding) {
    if (component[needs[i].from] != component[needs[i].to]) continue;
    tokens[i] = needs[i].tokens;
    inputs.emplace_back(needs[i].to, static_cast<index_t>(i));
    outputs.emplace_back(needs[i].from, static_cast<index_t>(i));
  }
  const auto in = adjacency::from_pairs(n, inputs), out = adjacency::from_pairs(n, outputs);
  std::vector<index_t> waiting;
  std::vector<bool> queued(n, false);
  for (index_t a = 0; a < n; ++a)
    if (!in[a].empty()) waiting.push_back(a), queued[a] = true;
  while (!waiting.empty()) {
    const index_t a = waiting.back();
    waiting.pop_back();
    queued[a] = false;
    bytes times = left[a];
    for (index_t i : in[a]) times = std::min(times, tokens[i] / needs[i].consumed);
    if (times == 0) continue;
    if (limit-- == 0) return {life::unknown, {}, a};
    left[a] -= times;
    for (index_t i : in[a]) tokens[i] -= times * needs[i].consumed;
    for (index_t i : out[a]) {
      tokens[i] += times * needs[i].produced;
      if (!queued[needs[i].to]) queued[needs[i].to] = true, waiting.push_back(needs[i].to);
    }
  }
  // Back from an actor with firings left over needs that lack tokens, until an actor comes again.
  const auto short_input = [&](index_t a) {
    return *std::find_if(in[a].begin(), in[a].end(), [&](index_t i) { return tokens[i] < needs[i].consumed; });
  };
  index_t a = none;
  for (index_t b = 0; b < n && a == none; ++b)
    if (!in[b].empty() && left[b] > 0) a = b;
  if (a == none) return result;
  std::vector<bool> seen(n, false);
  for (; !seen[a]; a = needs[short_input(a)].from) seen[a] = true;
  result.verdict = life::stuck;
  const index_t first = a;
  do {
    const index_t i = short_input(a);
    result.cycle.push_back({i, needs[i].consumed - tokens[i]});
    a = needs[i].from;
  } while (a != first);
  return result;
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
