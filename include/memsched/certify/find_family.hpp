// Families of sets that no order below a peak leaves, found by search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/certify/merge_costs.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/certificate.hpp>
#include <memsched/search/downsets.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Walks through the sets of nodes that orders below a level run through, in the graph that a certificate's steps and
/// reductions make. From each it goes on to the next node that takes more while it runs than it adds, with all nodes that it
/// waits for; if one of these adds nothing in all and stays below the level, only the set that it leads to is followed.
class family_search {
 public:
  family_search(const schedule_graph& g, const certificate& c)
      : g_(g),
        cost_(g.cost),
        preds_(g.size()),
        succs_(g.size()),
        idle_(g.size()),
        plain_(g.size()),
        seen_(g.size()),
        base_(static_cast<delta>(g.base)),
        level_(static_cast<delta>(c.family->level)),
        sets_(g.size()) {
    for (node_id v = 0; v < g.size(); ++v) preds_[v].assign(g.preds[v].begin(), g.preds[v].end());
    for (const proof::proof_step& s : c.steps) {
      apply(s.reductions);
      for (const precedence& e : s.edges) preds_[e.after].push_back(e.before);
      if (s.other == none || s.cases) continue;
      if (s.v_first) preds_[s.other].push_back(s.v);
      else preds_[s.v].push_back(s.other);
    }
    apply(c.family->reductions);
    std::vector<bool> tied(g.size());
    for (node_id v = 0; v < g.size(); ++v) {
      for (const auto& k : g.credits[v]) {
        tied[k.release] = true;
        for (node_id r : g.preds[k.release]) tied[r] = true;
      }
      for (node_id u : preds_[v]) succs_[u].push_back(v);
    }
    if (c.family->mirrored) mirror();
    for (node_id v = 0; v < g.size(); ++v) {
      idle_[v] = cost_[v].peak == 0 && cost_[v].impact <= 0 && (g.is_release(v) || !tied[v]);
      plain_[v] = !idle_[v] && !tied[v] && cost_[v].impact >= 0 && cost_[v].peak == cost_[v].impact;
    }
  }

  /// The family; false if it would have more than `most` sets beside the first, if an order below the level exists, or
  /// if `go_on` said no.
  bool run(std::vector<proof::set_family::grown_set>& sets, std::size_t most, function_ref<bool()> go_on) {
    std::vector<node_id> all;
    for (node_id v = 0; v < g_.size(); ++v) all.push_back(v);
    sets_.insert(grown(std::vector<bit_word>(words_for(g_.size())), all));
    std::vector<bit_word> ran;
    for (index_t i = 0; i < sets_.size(); ++i) {
      if (!go_on() || sets_.size() > most + 1 || count_bits(sets_[i]) == g_.size()) return false;
      ran.assign(sets_[i].begin(), sets_[i].end());
      const auto moves = next(ran);
      if (!moves) return false;
      for (const move& m : *moves) {
        std::vector<bit_word> larger = ran;
        for (node_id u : m.nodes) set_bit(larger, u);
        if (sets_.insert(grown(std::move(larger), m.nodes)).second) sets.push_back({i, m.nodes.front()});
      }
    }
    return true;
  }

 private:
  struct move {
    std::vector<node_id> nodes;  // the one that is next, and those that it waits for
  };

  void mirror() {
    for (node_cost& c : cost_) base_ += c.impact, c = {c.drop(), -c.impact};
    std::swap(preds_, succs_);
  }
  void apply(const std::vector<proof::reduction>& list) {
    for (const proof::reduction& r : list) {
      if (adds_edge(r)) preds_[r.second].push_back(r.first);
      else merge_costs(cost_, r);
    }
  }

  /// With all idle nodes that are ready, of those after some nodes or among them.
  std::vector<bit_word> grown(std::vector<bit_word> ran, std::vector<node_id> fresh) const {
    const auto try_run = [&](node_id u) {
      if (!idle_[u] || test_bit(ran, u)) return;
      if (!std::all_of(preds_[u].begin(), preds_[u].end(), [&](node_id x) { return test_bit(ran, x); })) return;
      set_bit(ran, u), fresh.push_back(u);
    };
    for (std::size_t i = 0, given = fresh.size(); i < given; ++i) try_run(fresh[i]);
    for (std::size_t i = 0; i < fresh.size(); ++i)
      if (test_bit(ran, fresh[i]))
        for (node_id u : succs_[fresh[i]]) try_run(u);
    return ran;
  }

  /// v and the nodes that it waits for; nothing if one of those takes more while it runs than it adds.
  std::optional<move> to(node_id v, const_bit_row ran) {
    const auto waits_for = [&](node_id u) { return !plain_[u] && !test_bit(ran, u); };
    if (std::any_of(preds_[v].begin(), preds_[v].end(), waits_for)) return std::nullopt;  // as most do
    move m{{v}};
    bool fits = true;
    for (std::size_t i = 0; i < m.nodes.size() && fits; ++i)
      for (node_id u : preds_[m.nodes[i]]) {
        if (test_bit(ran, u) || seen_[u]) continue;
        fits = fits && plain_[u];
        seen_[u] = true;
        m.nodes.push_back(u);
      }
    for (node_id u : m.nodes) seen_[u] = false;
    return fits ? std::optional(std::move(m)) : std::nullopt;
  }

  /// Where an order below the level may go next; nothing if it may end.
  std::optional<std::vector<move>> next(const_bit_row ran) {
    delta here = base_, end = here;
    for (node_id u = 0; u < g_.size(); ++u) {
      end += cost_[u].impact;
      if (test_bit(ran, u)) here += cost_[u].impact;
    }
    std::vector<move> all;
    bool any = false;
    for (node_id v = 0; v < g_.size(); ++v) {
      if (test_bit(ran, v) || plain_[v]) continue;
      auto m = to(v, ran);
      if (!m) continue;
      any = true;
      delta before = here, takes = cost_[v].peak;
      for (std::size_t i = 1; i < m->nodes.size(); ++i) before += cost_[m->nodes[i]].impact;
      for (const auto& k : g_.credits[v]) {
        const auto readers = g_.preds[k.release];
        if (std::all_of(readers.begin(), readers.end(), [&](node_id r) { return r == v || test_bit(ran, r); }))
          takes -= k.amount;
      }
      if (before + std::max<delta>(takes, 0) >= level_) continue;
      if (before + cost_[v].impact <= here) return std::vector<move>{std::move(*m)};
      all.push_back(std::move(*m));
    }
    if (!any && end < level_) return std::nullopt;
    return all;
  }

  const schedule_graph& g_;
  std::vector<node_cost> cost_;
  std::vector<std::vector<node_id>> preds_, succs_;
  std::vector<bool> idle_, plain_, seen_;
  delta base_, level_;
  downset_table sets_;
};

}  // namespace detail

/// Gives c, which has a family but for its sets, those sets; false if more than `most` would be needed, or if `go_on`,
/// which is asked before each, said no. g is the graph that c's steps are about. O(sets * (nodes + edges)).
inline bool find_family(const schedule_graph& g, certificate& c, std::size_t most, base::function_ref<bool()> go_on) {
  return detail::family_search(g, c).run(c.family->sets, most, go_on);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
