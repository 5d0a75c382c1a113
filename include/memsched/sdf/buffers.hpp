// Bounds that need no schedule, and schedules for buffers of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <memsched/model/firing.hpp>
#include <memsched/sdf/fold.hpp>
#include <memsched/sdf/graph.hpp>

namespace memsched::inline MEMSCHED_ABI::sdf {

/// The most tokens that a channel holds at once, at the least, in any schedule of an iteration.
///
/// With g the greatest common divisor of the rates p and c, fills keep their remainder r = d mod g. Let there be room for
/// fewer than p + c - g + r. At a fill of c - g + r nobody can fire; below it `to` cannot, above it `from` cannot. So there
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

/// No schedule of an iteration takes less where each channel has memory of its own. O(channels).
inline bytes separate_bound(const graph& g, firing rule) {
  bytes sum = detail::largest_workspace(g);
  for (const channel& c : g.channels()) sum += c.size * least_fill(c, rule);
  return sum;
}

/// No schedule of an iteration has a smaller peak where the channels share one memory: the largest of what is there at the
/// start, of what each actor needs for one firing (inputs and outputs under `pbc`, either under `cbp`), and of each
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

namespace detail {

/// Fires whatever has tokens and room, with room for the least fill of each channel; more room where nobody has any.
class separate_run {
 public:
  separate_run(const graph& g, bytes iterations) : g_(g) {
    std::vector<std::pair<index_t, index_t>> in, out;
    for (index_t i = 0; i < g.channels().size(); ++i) {
      const channel& c = g.channels()[i];
      tokens_.push_back(c.tokens);
      room_.push_back(c.size == 0 ? ~bytes{0} : least_fill(c, firing::pbc));
      if (c.from == c.to) continue;
      in.emplace_back(c.to, i);
      out.emplace_back(c.from, i);
    }
    in_ = adjacency::from_pairs(g.actors(), in);
    out_ = adjacency::from_pairs(g.actors(), out);
    for (bytes q : g.repetitions()) left_.push_back(q * iterations);
    queued_.assign(g.actors(), true);
    for (index_t a = static_cast<index_t>(g.actors()); a-- > 0;) queue_.push_back(a);
  }

  loops run() {
    for (;;) {
      while (!queue_.empty()) {
        const index_t a = queue_.back();
        queue_.pop_back();
        queued_[a] = false;
        bytes times = left_[a];
        for (index_t i : in_[a]) times = std::min(times, tokens_[i] / g_.channels()[i].consumed);
        for (index_t i : out_[a]) times = std::min(times, (room_[i] - tokens_[i]) / g_.channels()[i].produced);
        if (times > 0) fire(a, times);
      }
      const index_t a = cheapest_to_unblock();
      if (a == none) break;
      for (index_t i : out_[a]) room_[i] = std::max(room_[i], tokens_[i] + g_.channels()[i].produced);
      wake(a);
    }
    std::vector<loops> bodies(symbols_.size());
    for (const auto& [what, symbol] : symbols_) bodies[symbol].fire(what.first, what.second);
    return fold(sequence_, bodies, std::uint64_t{1} << 24);
  }

 private:
  void wake(index_t a) {
    if (!queued_[a]) queued_[a] = true, queue_.push_back(a);
  }
  void fire(index_t a, bytes times) {
    left_[a] -= times;
    sequence_.push_back(symbols_.try_emplace({a, times}, static_cast<index_t>(symbols_.size())).first->second);
    for (index_t i : in_[a]) tokens_[i] -= times * g_.channels()[i].consumed, wake(g_.channels()[i].from);
    for (index_t i : out_[a]) tokens_[i] += times * g_.channels()[i].produced, wake(g_.channels()[i].to);
  }
  /// Of the actors that have tokens and firings left and lack only room, the one that needs the fewest bytes of it.
  index_t cheapest_to_unblock() const {
    index_t best = none;
    bytes least = 0;
    for (index_t a = 0; a < g_.actors(); ++a) {
      const bool ready = left_[a] > 0 && std::all_of(in_[a].begin(), in_[a].end(), [&](index_t i) {
        return tokens_[i] >= g_.channels()[i].consumed;
      });
      if (!ready) continue;
      bytes more = 0;
      for (index_t i : out_[a]) {
        const bytes wanted = tokens_[i] + g_.channels()[i].produced;
        more += (wanted - std::min(wanted, room_[i])) * g_.channels()[i].size;
      }
      if (best == none || more < least) best = a, least = more;
    }
    return best;
  }

  const graph& g_;
  std::vector<bytes> tokens_, room_, left_;
  adjacency in_, out_;
  std::vector<index_t> queue_, sequence_;
  std::vector<bool> queued_;
  std::map<std::pair<index_t, bytes>, index_t> symbols_;
};

}  // namespace detail

/// A schedule with a small sum of separate buffers: each channel has room for its least fill, and whatever has tokens and
/// room fires, until all have fired. Where that completes, the sum is `separate_bound` and so the least. Where it stops, the
/// cheapest channel gets room for one more firing, and the sum is only a good one. `replay` says which. O(firings).
inline loops least_buffers(const graph& g, bytes iterations = 1) { return detail::separate_run(g, iterations).run(); }

}  // namespace memsched::sdf
