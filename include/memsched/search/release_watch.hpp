// Sets of nodes that have run, and the releases that happen with the next one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// A set of nodes that have run. Each release that frees memory is watched at one of the nodes that it waits for: until that
/// one runs, the release cannot happen, and other nodes run without a look at it.
///
/// Invariant: a release that waits for a node outside the set is watched at such a node; likewise for the set of the last
/// `start`, so that another `start` from there costs nothing. `run` keeps both: it moves a release to a node outside the set,
/// which is part of no smaller set; a release that happens stays at the node that ran last, which was outside before.
class release_watch {
 public:
  explicit release_watch(const schedule_graph& g)
      : g_(g), set_(g.active), start_(g.active), first_(g.active, none), links_(g.size()) {
    for (std::size_t r = g.active; r < g.size(); ++r)
      if (frees(static_cast<node_id>(r)) && !g.preds[r].empty()) put(static_cast<node_id>(r), g.preds[r].front());
  }

  const_bit_row set() const { return set_; }

  /// Makes `ran` the set. O(nodes / 64), and for each node in which it differs from that of the last `start`, its releases.
  void start(const_bit_row ran) {
    std::copy(ran.begin(), ran.end(), bit_row(set_).begin());
    if (std::ranges::equal(ran, const_bit_row(start_))) return;
    for_each_bit_beyond(ran, start_, [&](std::size_t u) {
      for (node_id r : g_.succs[u])
        if (g_.is_release(r) && frees(r) && set_[links_[r].watched]) move(r, static_cast<node_id>(u));
    });
    for_each_bit_beyond(start_, ran, [&](std::size_t v) { leave(static_cast<node_id>(v), [](node_id) {}); });
    std::copy(ran.begin(), ran.end(), bit_row(start_).begin());
  }
  /// Adds v, which is not in the set. Calls f(r) for each release r that frees memory then.
  template <class F>
  void run(node_id v, F&& f) {
    set_.insert(v);
    leave(v, f);
  }

 private:
  struct link {
    node_id watched = none;                ///< a node that the release waits for
    node_id before = none, behind = none;  ///< other releases that are watched there
  };

  bool frees(node_id release) const { return g_.cost[release].impact != 0; }

  /// Watches the releases of v, which is in the set, elsewhere; calls f(r) for those that wait for nothing more.
  template <class F>
  void leave(node_id v, F&& f) {
    for (node_id r = first_[v]; r != none;) {
      const node_id next = links_[r].behind;
      const auto readers = g_.preds[r];
      const auto u = std::find_if(readers.begin(), readers.end(), [&](node_id reader) { return !set_[reader]; });
      if (u == readers.end()) f(r);
      else move(r, *u);
      r = next;
    }
  }
  void move(node_id r, node_id u) {
    const link old = links_[r];
    (old.before == none ? first_[old.watched] : links_[old.before].behind) = old.behind;
    if (old.behind != none) links_[old.behind].before = old.before;
    put(r, u);
  }
  void put(node_id r, node_id u) {
    links_[r] = {u, none, first_[u]};
    if (first_[u] != none) links_[first_[u]].before = r;
    first_[u] = r;
  }

  const schedule_graph& g_;
  bit_set set_, start_;         // the set; the set of the last `start`
  std::vector<node_id> first_;  // per node, of the releases that are watched there
  std::vector<link> links_;     // per release
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
