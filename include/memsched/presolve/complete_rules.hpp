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

/// S1 and S2 under their general conditions, and transitive reduction, on the nodes alive in a graph of n nodes.
/// n^2/4 bytes. Rows and bits are positions in a topological order.
class general_rules {
 public:
  general_rules(compression_graph& g, search& context)
      : g_(g), context_(context), nodes_(g.order()), position_(g.size(), none) {
    const std::size_t n = nodes_.size();
    for (index_t i = 0; i < n; ++i) position_[nodes_[i]] = i;
    for (side s : both_sides) {
      reach(s) = bit_matrix(n, n);
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = s == side::later ? n - 1 - k : k;
        g_.for_each(nodes_[i], s, [&](index_t, node_id w) {
          set_bit(reach(s)[i], position_[w]);
          unite_bits(reach(s)[i], reach(s)[position_[w]]);
        });
      }
    }
    row_ = front_ = bit_set(n);
  }

  /// S1 for side::earlier: a node that does not grow goes before each node that waits for at least the same nodes
  /// and has no lower peak, unless they are ordered already. S2, the mirror image, for side::later.
  /// Lowest peaks first. Returns whether an edge was added.
  bool order(side s) {
    plain_vector<std::pair<delta, index_t>> movable;
    for (index_t i = 0; i < nodes_.size(); ++i)
      if (const node_cost c = cost(i, s); !g_.fixed(nodes_[i]) && c.impact <= 0) movable.emplace_back(c.peak, i);
    std::sort(movable.begin(), movable.end());
    std::uint64_t added = 0;
    for (const auto& [peak, i] : movable) {
      if (!context_.keep_going()) break;
      added += put_in_front(i, s);
    }
    (s == side::earlier ? context_.stats.rules.s1_general : context_.stats.rules.s2_general) += added;
    return added > 0;
  }

  /// Full transitive reduction. Whether an edge was dropped.
  bool reduce() {
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
    context_.stats.rules.global += dropped;
    return dropped > 0;
  }

 private:
  bit_matrix& reach(side s) { return reach_[static_cast<std::size_t>(s)]; }
  node_cost cost(index_t i, side s) const { return g_.cost(nodes_[i], mirror(s)); }

  std::uint64_t put_in_front(index_t i, side s) {
    const side ahead = mirror(s);
    bit_row candidates = row_, behind = front_;
    std::fill(candidates.begin(), candidates.end(), ~bit_word{0});
    g_.for_each(nodes_[i], s, [&](index_t, node_id u) { intersect(candidates, reach(ahead)[position_[u]]); });
    for (std::size_t k = 0; k < candidates.size(); ++k) candidates[k] &= ~reach(ahead)[i][k];
    reset_bit(candidates, i);
    std::fill(behind.begin(), behind.end(), 0);
    std::uint64_t added = 0;
    const auto consider = [&](std::size_t j) {
      if (j >= nodes_.size() || test_bit(behind, j) || g_.fixed(nodes_[j]) ||
          cost(static_cast<index_t>(j), s).peak < cost(i, s).peak)
        return;
      if (s == side::earlier) g_.note(proof::reduction::rule::s1, nodes_[i], nodes_[j]);
      else g_.note(proof::reduction::rule::s2, nodes_[j], nodes_[i]);
      g_.link(nodes_[i], nodes_[j], ahead);
      set_bit(behind, j);
      unite_bits(behind, reach(ahead)[j]);
      ++added;
    };
    // Nearest first: a node that follows one already behind needs no edge of its own.
    if (ahead == side::later) {
      for_each_bit(candidates, consider);
    } else {
      for (std::size_t j = nodes_.size(); j-- > 0;)
        if (test_bit(candidates, j)) consider(j);
    }
    if (added == 0) return 0;
    bit_set before(nodes_.size());
    unite_bits(before, reach(s)[i]);
    before.insert(i);
    for_each_bit(const_bit_row(before), [&](std::size_t j) { unite_bits(reach(ahead)[j], behind); });
    for_each_bit(behind, [&](std::size_t j) { unite_bits(reach(s)[j], before); });
    return added;
  }

  static void intersect(bit_row into, const_bit_row with) {
    for (std::size_t k = 0; k < into.size(); ++k) into[k] &= with[k];
  }

  compression_graph& g_;
  search& context_;
  std::vector<node_id> nodes_;
  std::vector<index_t> position_;
  std::array<bit_matrix, 2> reach_;
  bit_set row_, front_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
