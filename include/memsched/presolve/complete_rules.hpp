// The rules of compression that need the whole transitive closure (Fradet et al., section 4.3 and Algorithm 1).
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/presolve/compression_graph.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Whether to look at the i-th node: now and then asks the clock.
inline bool goes_on(search& context, std::size_t i) { return (i & 63) != 63 || context.keep_going(); }

/// S1 and S2 under their general conditions, and transitive reduction, on the nodes alive in a graph of n nodes.
/// n^2/8 bytes for reduction alone, n^2/4 with S1 and S2. Rows and bits are positions in a topological order.
class general_rules {
 public:
  general_rules(compression_graph& g, search& context)
      : g_(g), context_(context), nodes_(g.order()), position_(g.size(), none) {
    row_ = front_ = before_ = bit_set(nodes_.size());
    for (index_t i = 0; i < nodes_.size(); ++i) position_[nodes_[i]] = i;
  }

  /// S1 for side::earlier: a node that does not grow goes before each node that waits for at least the same nodes
  /// and has no lower peak, unless they are ordered already. S2, the mirror image, for side::later.
  /// Lowest peaks first. Returns whether an edge was added.
  bool order(side s) {
    for (side towards : both_sides) close(towards);
    plain_vector<std::pair<delta, index_t>> movable, by_peak;
    bit_set tall(nodes_.size());  // nodes that may have others put in front of them
    for (index_t i = 0; i < nodes_.size(); ++i) {
      if (g_.fixed(nodes_[i])) continue;
      const node_cost c = cost(i, s);
      tall.insert(i);
      by_peak.emplace_back(c.peak, i);
      if (c.impact <= 0) movable.emplace_back(c.peak, i);
    }
    std::sort(movable.begin(), movable.end());
    std::sort(by_peak.begin(), by_peak.end());
    std::uint64_t added = 0;
    auto next = by_peak.begin();
    for (std::size_t k = 0; k < movable.size() && goes_on(context_, k); ++k) {
      const auto& [peak, i] = movable[k];
      for (; next->first < peak; ++next) tall.erase(next->second);
      added += put_in_front(i, tall, s);
    }
    (s == side::earlier ? context_.control().stats.rules.s1_general : context_.control().stats.rules.s2_general) += added;
    return added > 0;
  }

  /// Full transitive reduction. Returns whether an edge was dropped.
  bool reduce() {
    close(side::later);
    std::uint64_t dropped = 0;
    for (index_t i = 0; i < nodes_.size(); ++i) {
      bit_row beyond = row_;
      std::fill(beyond.begin(), beyond.end(), 0);
      g_.for_each(nodes_[i], side::later, [&](index_t, node_id w) { unite_bits(beyond, reach(side::later)[position_[w]]); });
      g_.for_each(nodes_[i], side::later, [&](index_t e, node_id w) {
        if (!test_bit(beyond, position_[w])) return set_bit(beyond, position_[w]);  // a second edge to w goes
        g_.unlink(e);
        ++dropped;
      });
    }
    context_.control().stats.rules.global += dropped;
    return dropped > 0;
  }

 private:
  bit_matrix& reach(side s) { return reach_[static_cast<std::size_t>(s)]; }
  node_cost cost(index_t i, side s) const { return g_.cost(nodes_[i], mirror(s)); }

  /// Fills the closure towards that side, once.
  void close(side s) {
    const std::size_t n = nodes_.size();
    if (std::exchange(closed_[static_cast<std::size_t>(s)], true)) return;
    reach(s) = bit_matrix(n, n);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = s == side::later ? n - 1 - k : k;
      const bit_row row = reach(s)[i];
      g_.for_each(nodes_[i], s, [&](index_t, node_id w) {
        if (test_bit(row, position_[w])) return;
        set_bit(row, position_[w]);
        unite_bits(row, reach(s)[position_[w]]);
      });
    }
  }

  /// Puts node i in front of those of `tall` that wait for at least the same nodes. Returns the number of edges added.
  std::uint64_t put_in_front(index_t i, const_bit_row tall, side s) {
    const side ahead = mirror(s);
    bit_row candidates = row_, behind = front_;
    std::copy(tall.begin(), tall.end(), candidates.begin());
    g_.for_each(nodes_[i], s, [&](index_t, node_id u) { intersect(candidates, reach(ahead)[position_[u]]); });
    for (std::size_t k = 0; k < candidates.size(); ++k) candidates[k] &= ~reach(ahead)[i][k];
    reset_bit(candidates, i);
    std::fill(behind.begin(), behind.end(), 0);
    added_.clear();
    // Nearest first: a node that follows one already in `behind` needs no edge of its own.
    const auto consider = [&](std::size_t j) {
      if (test_bit(behind, j)) return;
      if (s == side::earlier) g_.note(proof::reduction::rule::s1, nodes_[i], nodes_[j]);
      else g_.note(proof::reduction::rule::s2, nodes_[j], nodes_[i]);
      g_.link(nodes_[i], nodes_[j], ahead);
      set_bit(behind, j);
      unite_bits(behind, reach(ahead)[j]);
      added_.push_back(j);
    };
    if (ahead == side::later) for_each_bit(candidates, consider);
    else for_each_bit_down(candidates, consider);
    if (!added_.empty()) take_edges_from(i, behind, s);
    return added_.size();
  }

  /// Brings the closure up to date: i now reaches the nodes of `added_`, and so all of `behind`. A node that reached all of
  /// `added_` before, or was reached from i, gains nothing.
  void take_edges_from(index_t i, const_bit_row behind, side s) {
    const side ahead = mirror(s);
    before_.clear();
    unite_bits(before_, reach(s)[i]);
    before_.insert(i);
    for_each_bit(const_bit_row(before_), [&](std::size_t j) {
      const bit_row from = reach(ahead)[j];
      if (!std::all_of(added_.begin(), added_.end(), [&](std::size_t k) { return test_bit(from, k); }))
        unite_bits(from, behind);
    });
    for_each_bit(behind, [&](std::size_t j) {
      if (!test_bit(reach(s)[j], i)) unite_bits(reach(s)[j], before_);
    });
  }

  static void intersect(bit_row into, const_bit_row with) {
    for (std::size_t k = 0; k < into.size(); ++k) into[k] &= with[k];
  }

  compression_graph& g_;
  search& context_;
  std::vector<node_id> nodes_;
  std::vector<index_t> position_;
  std::array<bit_matrix, 2> reach_;
  std::array<bool, 2> closed_{};
  bit_set row_, front_, before_;
  plain_vector<std::size_t> added_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
