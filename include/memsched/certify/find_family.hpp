// Families of sets that no order below a peak leaves, found by search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/certify/certifier.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/certificate.hpp>
#include <memsched/search/downsets.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

/// Walks through the sets of nodes that orders below a level run through, in the graph that a certificate's steps and
/// reductions make. Where some ready node adds no memory and stays below the level, only what it leads to is looked at.
class family_search {
 public:
  family_search(const schedule_graph& g, const certificate& c)
      : g_(g), cost_(g.cost), preds_(g.size()), idle_(g.size()), level_(static_cast<delta>(c.family->level)),
        sets_(g.size()) {
    for (node_id v = 0; v < g.size(); ++v) preds_[v].assign(g.preds[v].begin(), g.preds[v].end());
    for (const cut_step& s : c.steps) {
      apply(s.reductions);
      if (s.other == none) continue;
      if (s.v_first) preds_[s.other].push_back(s.v);
      else preds_[s.v].push_back(s.other);
    }
    apply(c.family->reductions);
    std::vector<bool> tied(g.size());
    for (node_id v = 0; v < g.size(); ++v)
      for (const credit& k : g.credits[v])
        for (node_id r : g.preds[k.release]) tied[r] = true;
    for (node_id v = 0; v < g.size(); ++v)
      idle_[v] = cost_[v].peak == 0 && cost_[v].impact <= 0 && (g.is_release(v) || !tied[v]);
  }

  /// The family; false where it would have more than `most` sets beside the first, where an order below the level exists, or
  /// where `go_on` said no.
  bool run(std::vector<set_family::grown_set>& sets, std::size_t most, function_ref<bool()> go_on) {
    grow(std::vector<bit_word>(words_for(g_.size())));
    for (index_t i = 0; i < sets_.size(); ++i) {
      if (!go_on() || sets_.size() > most + 1 || count_bits(sets_[i]) == g_.size()) return false;
      for (node_id v : next(sets_[i])) {
        std::vector<bit_word> larger(sets_[i].begin(), sets_[i].end());
        set_bit(larger, v);
        if (grow(std::move(larger))) sets.push_back({i, v});
      }
    }
    return true;
  }

 private:
  void apply(const std::vector<reduction>& list) {
    for (const reduction& r : list) {
      if (r.by == reduction::rule::s1 || r.by == reduction::rule::s2) preds_[r.second].push_back(r.first);
      else merge_costs(cost_, r);
    }
  }

  bool is_ready(node_id v, const_bit_row ran) const {
    return !test_bit(ran, v) && std::all_of(preds_[v].begin(), preds_[v].end(), [&](node_id u) { return test_bit(ran, u); });
  }

  /// Adds what is idle and ready; whether the set is new.
  bool grow(std::vector<bit_word> ran) {
    for (bool more = true; more;) {
      more = false;
      for (node_id u = 0; u < g_.size(); ++u)
        if (idle_[u] && is_ready(u, ran)) set_bit(ran, u), more = true;
    }
    return sets_.insert(ran).second;
  }

  /// The nodes that an order below the level may run next: one of them if that one adds no memory, else all.
  std::vector<node_id> next(const_bit_row ran) const {
    delta here = static_cast<delta>(g_.base);
    for (node_id u = 0; u < g_.size(); ++u)
      if (test_bit(ran, u)) here += cost_[u].impact;
    std::vector<node_id> all;
    for (node_id v = 0; v < g_.size(); ++v) {
      if (!is_ready(v, ran)) continue;
      delta takes = here + cost_[v].peak;
      for (const credit& k : g_.credits[v]) {
        const auto readers = g_.preds[k.release];
        if (std::all_of(readers.begin(), readers.end(), [&](node_id r) { return r == v || test_bit(ran, r); }))
          takes -= k.amount;
      }
      if (takes >= level_) continue;
      if (cost_[v].impact <= 0) return {v};
      all.push_back(v);
    }
    return all;
  }

  const schedule_graph& g_;
  std::vector<node_cost> cost_;
  std::vector<std::vector<node_id>> preds_;
  std::vector<bool> idle_;
  delta level_;
  downset_table sets_;
};

}  // namespace detail

/// Gives c, which has a family but for its sets, those sets; false where more than `most` would be needed, or where `go_on`,
/// which is asked before each, said no. O(sets * nodes * (nodes + edges)).
inline bool find_family(const schedule_graph& g, certificate& c, std::size_t most, function_ref<bool()> go_on) {
  return detail::family_search(g, c).run(c.family->sets, most, go_on);
}

}  // namespace memsched
