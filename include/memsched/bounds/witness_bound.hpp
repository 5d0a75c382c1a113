// A bound on what is left after a downset, kept from one downset to the next.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/bounds/lowest_set.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched::inline MEMSCHED_ABI::detail {

/// Whether each node that is left can still run below a peak. When v runs, what has run is a set with the downset and v's
/// ancestors, without v and its descendants. A set that was low enough once (a witness) is tried first, with the downset
/// added; a minimum cut looks for another only where it is too high. O(nodes^2 / 64) for a downset, and few cuts.
class witness_bound {
 public:
  explicit witness_bound(const schedule_graph& g)
      : g_(g), reach_(g), witness_(g.active), ran_(g.size()), last_failed_(g.active), lowest_(g) {
    for (node_id i = 0; i < g.active; ++i) last_failed_[i] = i;
  }

  /// False where no order that starts with `downset` stays below the peak.
  bool may_end_below(delta peak, const_bit_row downset) {
    ran_.clear();
    std::copy(downset.begin(), downset.end(), bit_row(ran_).begin());
    for (node_id r = static_cast<node_id>(g_.active); r < g_.size(); ++r)
      if (complete(r, ran_)) ran_.insert(r);
    for (std::size_t i = 0; i < last_failed_.size(); ++i) {
      const node_id v = last_failed_[i];
      if (ran_[v] || stands(v, peak) || find(v, peak)) continue;
      const auto failed = last_failed_.begin() + static_cast<std::ptrdiff_t>(i);
      std::rotate(last_failed_.begin(), failed, failed + 1);
      return false;
    }
    return true;
  }

 private:
  struct witness {
    bit_set set;
    delta height = 0;  ///< level of the set plus the peak of its node
  };

  bool complete(node_id release, const bit_set& set) const {
    const auto readers = g_.preds[release];
    return std::all_of(readers.begin(), readers.end(), [&](node_id u) { return set[u]; });
  }

  /// Whether v's witness, with the downset added, is low enough.
  bool stands(node_id v, delta peak) {
    if (!witness_[v]) return false;
    auto& [set, height] = *witness_[v];
    const const_bit_row in = set, ran = ran_;
    bool grew = false;
    for (std::size_t k = 0; k < in.size(); ++k)
      for (bit_word w = ran[k] & ~in[k]; w != 0; w &= w - 1) {
        height += g_.cost[k * 64 + static_cast<std::size_t>(std::countr_zero(w))].impact;
        grew = true;
      }
    if (grew) unite_bits(set, ran_);
    return height < peak;
  }

  /// A lowest set becomes v's witness; false where it is too high.
  bool find(node_id v, delta peak) {
    bit_set set = ran_;
    unite_bits(set, reach_.ancestors[v]);
    lowest_.clear();
    for (node_id u = 0; u < g_.size(); ++u)
      if (u != v && !set[u] && !test_bit(reach_.descendants[v], u)) lowest_.add(u);
    delta height = static_cast<delta>(g_.base) + g_.cost[v].peak;
    height += lowest_.solve(g_.preds, v, [&](node_id u) { return set[u]; });
    for_each_bit(set, [&](std::size_t u) { height += g_.cost[u].impact; });
    for (node_id u : lowest_.free())
      if (lowest_.holds(u)) set.insert(u);
    witness_[v] = witness{std::move(set), height};
    return height < peak;
  }

  const schedule_graph& g_;
  reachability reach_;
  std::vector<std::optional<witness>> witness_;
  bit_set ran_;
  std::vector<node_id> last_failed_;  ///< active nodes, those first that ended a downset last
  lowest_set lowest_;
};

}  // namespace memsched::detail
