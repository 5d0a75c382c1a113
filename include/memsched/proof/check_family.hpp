// The check that no order below a level leaves a family of sets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/proof/check_sets.hpp>
#include <memsched/proof/proof_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Sets of nodes that have run, and where an order may go from there (docs/proofs.md, section 6).
class family_checker {
 public:
  explicit family_checker(const proof_graph& g) : g_(g), idle_(g.size()), plain_(g.size()), state_(g.size()) {
    for (node_id v = 0; v < g.size(); ++v) {
      idle_[v] = g.is_idle(v);
      plain_[v] = !idle_[v] && !g.in_credit(v) && g.cost(v).impact >= 0 && g.cost(v).peak == g.cost(v).impact;
    }
  }

  std::string run(const proof::set_family& f) {
    for (node_id v = 0; v < g_.size(); ++v) {
      if (g_.cost(v).peak < g_.cost(v).impact) return ": a node's impact is above its peak";
      for (const auto& k : g_.given().credits[v])
        if (k.amount > -g_.cost(k.release).impact) return ": a credit is more than its release frees";
    }
    const auto grow = [&](const node_set& ran, node_id v) {
      return v < g_.size() && leads(ran, v) ? std::optional(behind(ran, v)) : std::nullopt;
    };
    const auto fault = [&](const node_set& ran, const set_table& known) { return fault_of(ran, known, f.level); };
    return check_sets(f, grown(node_set(g_.size()), all()), "a node", grow, fault);
  }

 private:
  /// Whether an order below the level can only go on, or may go on, into a larger set.
  std::string fault_of(const node_set& ran, const set_table& known, bytes level) {
    if (std::find(ran.begin(), ran.end(), false) == ran.end()) return " holds all nodes";
    delta here = g_.base();
    for (node_id u = 0; u < g_.size(); ++u)
      if (ran[u]) here += g_.cost(u).impact;
    std::string left;
    bool any = false;
    for (node_id v = 0; v < g_.size(); ++v) {
      if (ran[v] || plain_[v] || !leads(ran, v)) continue;
      any = true;
      delta before = here;  // the level where v runs
      for (node_id u : waits_) before += g_.cost(u).impact;
      if (before + std::max<delta>(peak_behind(v, ran), 0) >= static_cast<delta>(level)) continue;
      const bool commits = before + g_.cost(v).impact <= here;
      const bool inside = known.contains(behind(ran, v));
      if (inside && commits) return {};
      if (!inside && left.empty()) left = ": node " + std::to_string(v) + " leads out of the family";
    }
    if (!any && g_.level_at_end() < static_cast<delta>(level)) return ": an order leads out of the family to the end";
    return left;
  }

  /// Whether v has not run, and waits for nothing but nodes that add as much as they take while they run. These are `waits_`
  /// then.
  bool leads(const node_set& ran, node_id v) {
    waits_.clear();
    if (ran[v]) return false;
    bool all_plain = true;
    const auto wait = [&](node_id u) {
      for (node_id x : g_.preds(u)) {
        if (ran[x] || state_[x]) continue;
        all_plain = all_plain && plain_[x];
        state_[x] = true, waits_.push_back(x);
      }
    };
    wait(v);
    for (std::size_t i = 0; i < waits_.size() && all_plain; ++i) wait(waits_[i]);
    for (node_id u : waits_) state_[u] = false;
    return all_plain;
  }
  /// The nodes that have run once v and all nodes that it waits for have.
  node_set behind(node_set ran, node_id v) {
    if (!leads(ran, v)) return ran;
    std::vector<node_id> fresh = waits_;
    fresh.push_back(v);
    for (node_id u : fresh) ran[u] = true;
    return grown(std::move(ran), std::move(fresh));
  }
  /// With all idle nodes that are ready, again and again, of those after `fresh` or in it.
  node_set grown(node_set ran, std::vector<node_id> fresh) const {
    const auto try_run = [&](node_id u) {
      if (ran[u] || !idle_[u]) return;
      const auto& before = g_.preds(u);
      if (!std::all_of(before.begin(), before.end(), [&](node_id x) { return ran[x]; })) return;
      ran[u] = true;
      fresh.push_back(u);
    };
    for (std::size_t i = 0, given = fresh.size(); i < given; ++i) try_run(fresh[i]);
    for (std::size_t i = 0; i < fresh.size(); ++i)
      if (ran[fresh[i]])
        for (node_id u : g_.succs(fresh[i])) try_run(u);
    return ran;
  }
  std::vector<node_id> all() const {
    std::vector<node_id> nodes;
    for (node_id v = 0; v < g_.size(); ++v) nodes.push_back(v);
    return nodes;
  }
  /// v's peak, less its credits whose other readers have run. (No node that v waits for has a part in a credit.)
  delta peak_behind(node_id v, const node_set& ran) const {
    delta peak = g_.cost(v).peak;
    for (const auto& k : g_.given().credits[v]) {
      const auto readers = g_.given().preds[k.release];
      if (std::all_of(readers.begin(), readers.end(), [&](node_id r) { return r == v || ran[r]; })) peak -= k.amount;
    }
    return peak;
  }

  const proof_graph& g_;
  node_set idle_, plain_;  // plain: takes no more than it adds, and has no part in a credit
  node_set state_;
  std::vector<node_id> waits_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
