// Steps about positions, made from facts that placing found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/bounds/position_ranges.hpp>
#include <memsched/certify/certifier.hpp>
#include <memsched/proof/certificate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The least level of E(k) where a fact says; bytes. Stores the flow.
inline bytes certifier::show(const position_ranges& positions, proof::position_fact& x) {
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
    if (positions.is_due(x.k, u) || (is_own && x.inside)) value += adds;
    else if (positions.may_hold(x.k, u) && !is_own)
      local[u] = closure_.add(adds), members_.push_back(u), kept.push_back(adds);
  }
  for (node_id v : members_)
    for (const edge_end& e : preds_[v])
      if (local[e.at] != none && carries(e)) closure_.add_arc(local[e.at], local[v]), edge_of_arc_.push_back(e.edge);
  value += closure_.solve();
  x.flow = make_flow(std::move(kept));
  return static_cast<bytes>((std::max<delta>(value, 0) + parts - 1) / parts);
}

inline std::optional<proof::proof_step> certifier::prove_positions(const std::vector<proof::position_fact>& facts,
                                                                   const std::vector<precedence>& shown) {
  position_ranges positions(cost_);
  position_ranges::lists preds(g_.size());
  for (node_id v = 0; v < g_.size(); ++v)
    for (const edge_end& e : preds_[v]) preds[v].push_back(e.at);
  // The nodes that a walk from v meets, and the counted ones of them.
  const auto met = [&](node_id v, const links& next) {
    std::vector<bool> seen(g_.size());
    std::vector<node_id> nodes{v};
    index_t counted = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (const edge_end& e : next[nodes[i]])
        if (!seen[e.at]) seen[e.at] = true, nodes.push_back(e.at), counted += positions.weight(e.at);
    return std::pair(nodes.size(), counted);
  };
  positions.follow([&](node_id v) {
    const auto [nodes, before] = met(v, preds_);
    return position_ranges::surroundings{nodes, before, met(v, succs_).second};
  });
  const auto follows = [&](const precedence& e) { return positions.orders(e.before, e.after); };
  proof::proof_step s{.level = base::max_total, .edges = shown};
  bool possible = true, ends = false;
  for (std::size_t i = 0; i < facts.size() && !ends; ++i) {
    if (!go_on_()) return std::nullopt;
    proof::position_fact& x = s.positions.emplace_back(facts[i]);
    s.level = std::min(s.level, show(positions, x));
    if (x.v != none) positions.narrow(x.k, x.v, x.inside);
    possible = x.v != none && positions.spread(preds);
    ends = !possible || (!shown.empty() && std::all_of(shown.begin(), shown.end(), follows));
  }
  if (!ends) return std::nullopt;
  s.level += static_cast<bytes>(bounds::least_rise(g_, cost_));
  if (s.level < bound_) return std::nullopt;
  if (!possible) s.edges.clear();
  for (const auto& list : preds_)
    for (const edge_end& e : list)
      if (e.edge != none) needed_[e.edge] = true;
  return s;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
