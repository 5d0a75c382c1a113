// Bounds that need no schedule.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include <memsched/model/firing.hpp>
#include <memsched/sdf/graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// The most tokens that a channel holds at once, at the least, in any schedule of an iteration.
///
/// With g the greatest common divisor of the rates p and c, fills keep their remainder r = d mod g. Let there be room for
/// fewer than p + c - g + r. At a fill of c - g + r no actor can fire; below it `to` cannot, above it `from` cannot. So there
/// is one way to go on, and the fills of the p/g + c/g firings that return to d differ: those are more than fit. A self loop
/// holds d, and its produced tokens as well while it fires under `pbc`.
inline bytes least_fill(const channel& c, firing rule) {
  if (c.from == c.to) return c.tokens + (rule == firing::pbc ? c.produced : 0);
  const bytes g = std::gcd(c.produced, c.consumed);
  return std::max(c.tokens, c.produced + c.consumed - g + c.tokens % g);
}

namespace detail {

inline bytes largest_workspace(const graph& g) {
  bytes most = 0;
  for (index_t a = 0; a < g.actors(); ++a) most = std::max(most, g.workspace(a));
  return most;
}

}  // namespace detail

/// No schedule of an iteration takes less if each channel has memory of its own. O(channels).
inline bytes separate_bound(const graph& g, firing rule) {
  bytes sum = detail::largest_workspace(g);
  for (const channel& c : g.channels()) sum += c.size * least_fill(c, rule);
  return sum;
}

/// No schedule of an iteration has a smaller peak if the channels share one memory: the largest of the fills at the
/// start, of the need of each actor for one firing (inputs and outputs under `pbc`, either under `cbp`), and of each
/// channel's least fill; the states of all self loops are always there. O(channels).
inline bytes shared_bound(const graph& g, firing rule) {
  bytes states = 0;
  std::vector<bytes> in(g.actors(), 0), out(g.actors(), 0);
  for (const channel& c : g.channels()) {
    if (c.from != c.to) {
      in[c.to] += c.size * c.consumed;
      out[c.from] += c.size * c.produced;
      continue;
    }
    states += c.size * c.tokens;
    if (rule == firing::pbc) out[c.from] += c.size * c.produced;
  }
  bytes bound = g.base();
  for (index_t a = 0; a < g.actors(); ++a) {
    const bytes made = out[a] + g.workspace(a);
    bound = std::max(bound, states + (rule == firing::pbc ? in[a] + made : std::max(in[a], made)));
  }
  for (const channel& c : g.channels())
    bound = std::max(bound, c.size * least_fill(c, rule) + (c.from == c.to ? states - c.size * c.tokens : states));
  return bound;
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched
