// The data of the algorithms on synchronous dataflow: actors as costs, channels as needs; and its firings as nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/task_graph.hpp>
#include <memsched/sdf/graph.hpp>
#include <memsched/sdf/loops.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// An actor, or several that fire as one.
struct composite {
  bytes repetitions = 1;  ///< firings in all that is scheduled
  node_cost cost;         ///< effect of one firing on the level of memory
  loops body;             ///< the actors' firings that one firing stands for
};

/// A graph whose channels only order firings; memory is in the costs of the actors. Every token is counted once,
/// when it comes and when it goes, so that the level is `base` plus the impacts of the firings so far.
struct composite_graph {
  std::vector<composite> actors;
  std::vector<need> needs;  ///< between different actors; balanced by the repetitions
  bytes base = 0;           ///< level at the start

  /// Firings in all; 2^64 - 1 if there are more.
  bytes firings() const {
    bytes sum = 0;
    for (const composite& a : actors)
      if (__builtin_add_overflow(sum, a.repetitions, &sum)) return ~bytes{0};
    return sum;
  }
};

namespace detail {

/// A need as one that allows exactly the same orders, with coprime rates: p n(from) >= c n(to) - d means the same when
/// divided by the greatest common divisor of p and c and rounded down, as n(from) is whole.
inline need normal(need e) {
  const bytes g = std::gcd(e.produced, e.consumed);
  return {e.from, e.to, e.produced / g, e.consumed / g, e.tokens / g};
}

/// Needs in normal form, without those that never make anybody wait: self loops, which the order of an actor's own firings
/// meets, and those with all tokens there at the start. Of several with the same ends, the one with the fewest tokens
/// implies the others.
inline std::vector<need> binding(std::vector<need> needs, const std::vector<composite>& actors) {
  for (need& e : needs) e = normal(e);
  std::erase_if(needs, [&](const need& e) { return e.from == e.to || e.tokens >= e.consumed * actors[e.to].repetitions; });
  const auto key = [](const need& e) { return std::pair(e.from, e.to); };
  std::sort(needs.begin(), needs.end(),
            [&](const need& a, const need& b) { return std::pair(key(a), a.tokens) < std::pair(key(b), b.tokens); });
  needs.erase(std::unique(needs.begin(), needs.end(), [&](const need& a, const need& b) { return key(a) == key(b); }),
              needs.end());
  return needs;
}

}  // namespace detail

/// Each actor of g by itself. One firing produces the tokens of its outputs and consumes those of its inputs (Fradet et al.,
/// section 3): impact = produced - consumed, and peak = produced under `pbc`, max(0, impact) under `cbp`, either with
/// workspace. `iterations` of g run as one, which may interleave them; `overflow` if that is more than 2^61 bytes.
MEMSCHED_FUNCTION result<composite_graph> costs(const graph& g, firing rule = firing::pbc, bytes iterations = 1);

/// The firings of c as nodes, actor by actor, in a chain for each actor. Firing j of `to`, from 1 on, needs the firings of
/// `from` that produce tokens (j - 1) c - d + 1 to j c - d. The chain of `from` makes the last of them imply the others,
/// which are listed all the same: nodes with equal predecessors are what compression is quickest on. If they are more
/// than `most_producers`, the last stands alone.
///
/// An order of actors that is admissible, numbered in order, is an order of this graph, and the reverse: "enough tokens" is
/// p n(from) + d >= c n(to), which is what the last needed firing says.
///
/// `too_large` if there are more than `most_firings`. O(firings + edges).
MEMSCHED_FUNCTION result<cost_graph> expand(const composite_graph& c, bytes most_firings = bytes{1} << 22);

/// The same for each actor of a graph by itself.
MEMSCHED_FUNCTION result<cost_graph> expand(const graph& g, firing rule = firing::pbc, bytes iterations = 1,
                                            bytes most_firings = bytes{1} << 22);

/// The actor of each node that `expand` makes.
inline std::vector<index_t> actors_of_nodes(const composite_graph& c) {
  std::vector<index_t> actor;
  for (index_t a = 0; a < c.actors.size(); ++a)
    actor.insert(actor.end(), static_cast<std::size_t>(c.actors[a].repetitions), a);
  return actor;
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

MEMSCHED_FUNCTION result<composite_graph> costs(const graph& g, firing rule, bytes iterations) {
  composite_graph c;
  bytes total = 0;
  const auto add = [&](bytes one) {
    bytes all = 0;
    return __builtin_mul_overflow(one, iterations, &all) || __builtin_add_overflow(total, all, &total) ||
           total > base::max_total;
  };
  bool overflow = iterations == 0;
  std::vector<bytes> produced(g.actors()), consumed(g.actors());
  for (const channel& e : g.channels()) {
    produced[e.from] += e.produced * e.size;
    consumed[e.to] += e.consumed * e.size;
    overflow |= add(std::max<bytes>(e.size, 1) * (e.tokens + e.produced * g.repetitions()[e.from]));
  }
  for (index_t a = 0; a < g.actors(); ++a) {
    overflow |= add(g.repetitions()[a]);
    const delta made = static_cast<delta>(produced[a] + g.workspace(a)), taken = static_cast<delta>(consumed[a]);
    composite x;
    x.repetitions = g.repetitions()[a] * iterations;
    x.cost.impact = static_cast<delta>(produced[a]) - taken;
    x.cost.peak = rule == firing::pbc ? made : std::max<delta>(0, made - taken);
    x.body.fire(a);
    c.actors.push_back(std::move(x));
  }
  if (overflow)
    return graph_error{
        error_code::overflow, std::to_string(iterations) + " iterations are none, or move more than 2^61 bytes", {}, {}};
  c.base = g.base();
  c.needs = detail::binding(g.needs(), c.actors);
  return c;
}

MEMSCHED_FUNCTION result<cost_graph> expand(const composite_graph& c, bytes most_firings) {
  constexpr bytes most_producers = 300;
  if (c.firings() > std::min<bytes>(most_firings, none - 1))
    return graph_error{error_code::too_large,
                       std::to_string(c.firings()) + " firings are more than the " + std::to_string(most_firings) +
                           " that may be made nodes",
                       {},
                       {}};
  cost_graph g;
  g.base = c.base;
  g.left = c.base;
  g.cost.reserve(static_cast<std::size_t>(c.firings()));
  std::vector<node_id> first;
  for (const composite& a : c.actors) {
    first.push_back(static_cast<node_id>(g.cost.size()));
    for (bytes j = 0; j < a.repetitions; ++j) {
      if (j > 0) g.edges.push_back({static_cast<node_id>(g.cost.size() - 1), static_cast<node_id>(g.cost.size())});
      g.cost.push_back(a.cost);
    }
  }
  for (const need& e : c.needs)
    for (bytes j = 1; j <= c.actors[e.to].repetitions; ++j) {
      if (j * e.consumed <= e.tokens) continue;
      const bytes last = (j * e.consumed - e.tokens + e.produced - 1) / e.produced;
      const bytes before = (j - 1) * e.consumed;
      bytes i = before <= e.tokens ? 1 : (before - e.tokens) / e.produced + 1;
      if (last - i >= most_producers) i = last;
      for (; i <= last; ++i)
        g.edges.push_back({first[e.from] + static_cast<node_id>(i - 1), first[e.to] + static_cast<node_id>(j - 1)});
    }
  return g;
}

MEMSCHED_FUNCTION result<cost_graph> expand(const graph& g, firing rule, bytes iterations, bytes most_firings) {
  const auto c = costs(g, rule, iterations);
  if (!c) return c.error();
  return expand(*c, most_firings);
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
