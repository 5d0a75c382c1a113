// Steps about positions, made from facts that placing found.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/certify/certifier.hpp>
#include <memsched/proof/certificate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// For each node the first k at which it may be in E(k), and the k from which on it is due, as facts move them (docs/proofs.md, section 2).
class known_positions {
 public:
  using lists = std::vector<std::vector<node_id>>;

  known_positions(const std::vector<node_cost>& cost, lists preds, const lists& succs)
      : cost_(cost), preds_(std::move(preds)), first_(cost.size()), due_(cost.size()) {
    for (node_id v = 0; v < cost.size(); ++v) counted_ += weight(v);
    std::vector<std::pair<std::size_t, node_id>> sorted;
    for (node_id v = 0; v < cost.size(); ++v) {
      const auto [nodes, before] = reached(v, preds_);
      sorted.emplace_back(nodes, v);
      first_[v] = before + weight(v);
      due_[v] = counted_ - reached(v, succs).second - weight(v) + 1;
    }
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [before, v] : sorted) topological_.push_back(v);
  }

  bool is_due(node_id v, index_t k) const { return due_[v] <= k; }
  bool may_be_in(node_id v, index_t k) const { return first_[v] <= k; }
  index_t weight(node_id v) const { return cost_[v].peak > 0 ? 1 : 0; }
  bool orders(const precedence& e) const { return weight(e.before) != 0 && due_[e.before] <= first_[e.after]; }

  /// Returns false where a node has no position left.
  bool take(const proof::position_fact& x) {
    if (x.v == none) return false;
    if (x.inside) first_[x.v] = std::max(first_[x.v], x.k + 1);
    else due_[x.v] = std::min(due_[x.v], x.k);
    for (node_id v : topological_)
      for (node_id u : preds_[v]) first_[v] = std::max(first_[v], first_[u] + weight(v));
    for (std::size_t i = topological_.size(); i-- > 0;) {
      const node_id v = topological_[i];
      if (first_[v] > due_[v]) return false;
      for (node_id u : preds_[v]) due_[u] = std::min(due_[u], due_[v] - weight(v));
    }
    return true;
  }

 private:
  /// How many nodes a walk from v meets, and how many of them are counted.
  std::pair<std::size_t, index_t> reached(node_id v, const lists& next) const {
    std::vector<bool> seen(cost_.size());
    std::vector<node_id> met{v};
    index_t counted = 0;
    for (std::size_t i = 0; i < met.size(); ++i)
      for (node_id x : next[met[i]])
        if (!seen[x]) seen[x] = true, met.push_back(x), counted += weight(x);
    return {met.size(), counted};
  }

  const std::vector<node_cost>& cost_;
  lists preds_;
  index_t counted_ = 0;
  std::vector<index_t> first_, due_;
  std::vector<node_id> topological_;
};

/// The least level of E(k) where a fact says; bytes. Stores the flow.
inline bytes certifier::show(const known_positions& positions, proof::position_fact& x) {
  constexpr delta parts = proof::position_fact::parts;
  const tree own = x.v == none ? tree(g_.size()) : reach({x.v}, x.inside ? preds_ : succs_);
  delta value = parts * static_cast<delta>(g_.base) - x.price * static_cast<delta>(x.k);
  closure_.clear();
  members_.clear();
  edge_of_arc_.clear();
  std::vector<index_t> local(g_.size(), none);
  std::vector<delta> kept;
  for (node_id u = 0; u < g_.size(); ++u) {
    const bool is_own = own[u].cost != none;
    const delta adds = parts * cost_[u].impact + x.price * static_cast<delta>(positions.weight(u));
    if (positions.is_due(u, x.k) || (is_own && x.inside)) value += adds;
    else if (positions.may_be_in(u, x.k) && !is_own)
      local[u] = closure_.add(adds), members_.push_back(u), kept.push_back(adds);
  }
  for (node_id v : members_)
    for (const edge_end& e : preds_[v])
      if (local[e.at] != none && carries(e)) closure_.add_arc(local[e.at], local[v]), edge_of_arc_.push_back(e.edge);
  value += closure_.solve();
  x.flow = make_flow(std::move(kept));
  return value > 0 ? static_cast<bytes>((value + parts - 1) / parts) : 0;
}

inline std::optional<proof::proof_step> certifier::prove_positions(const std::vector<proof::position_fact>& facts,
                                                                   const std::vector<precedence>& shown) {
  known_positions::lists preds(g_.size()), succs(g_.size());
  for (node_id v = 0; v < g_.size(); ++v)
    for (const edge_end& e : preds_[v]) preds[v].push_back(e.at), succs[e.at].push_back(v);
  known_positions positions(cost_, std::move(preds), succs);
  const auto follows = [&](const precedence& e) { return positions.orders(e); };
  proof::proof_step s{.level = base::max_total, .edges = shown};
  bool possible = true, ends = false;
  for (std::size_t i = 0; i < facts.size() && !ends; ++i) {
    if (!go_on_()) return std::nullopt;
    proof::position_fact& x = s.positions.emplace_back(facts[i]);
    s.level = std::min(s.level, show(positions, x));
    possible = positions.take(x);
    ends = !possible || (!shown.empty() && std::all_of(shown.begin(), shown.end(), follows));
  }
  if (!ends || s.level < bound_) return std::nullopt;
  if (!possible) s.edges.clear();
  for (const auto& list : preds_)
    for (const edge_end& e : list)
      if (e.edge != none) needed_[e.edge] = true;
  return s;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
