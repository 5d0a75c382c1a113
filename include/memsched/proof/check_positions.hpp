// The check of facts about where nodes can run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <memsched/proof/certificate.hpp>
#include <memsched/proof/check_flow.hpp>
#include <memsched/proof/proof_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// For each node the first k at which it may be in E(k), and the k from which on it is due, in orders below a level
/// (docs/proofs.md, section 2).
class position_checker {
 public:
  explicit position_checker(const proof_graph& g) : g_(g), first_(g.size()), due_(g.size()) {
    for (node_id v = 0; v < g.size(); ++v) {
      if (weight(v) == 0) continue;
      delta rise = g.cost(v).peak;
      for (const auto& c : g.given().credits[v]) rise -= c.amount;
      rise_ = std::min(rise_, rise);
      ++counted_;
    }
    rise_ = std::max<delta>(rise_, 0);
    std::vector<std::pair<std::size_t, node_id>> sorted;
    for (node_id v = 0; v < g.size(); ++v) {
      const node_set above = g.above(v);
      sorted.emplace_back(std::count(above.begin(), above.end(), true), v);
      first_[v] = counted(above) + weight(v);
      due_[v] = counted_ - counted(g.below(v)) - weight(v) + 1;
    }
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [before, v] : sorted) topological_.push_back(v);
  }

  /// The fault of a step; empty if it holds. Then `level` is the least that its facts show, and `refuted` tells that no order
  /// is below that; else its edges follow.
  std::string run(const proof::proof_step& s, delta& level, bool& refuted) {
    level = std::numeric_limits<delta>::max(), refuted = false;
    if (!s.flow.empty() || s.v != none || s.other != none || !s.then.empty() || !s.otherwise.empty() || !s.layer.empty())
      return "positions have facts and edges, and nothing else";
    delta total = g_.base();
    for (node_id v = 0; v < g_.size(); ++v) total += std::abs(g_.cost(v).impact);
    if (total > limit / parts) return "sizes are too large for positions";
    for (std::size_t i = 0; i < s.positions.size(); ++i) {
      const std::string place = "positions[" + std::to_string(i) + "]: ";
      if (refuted) return place + "the proof has ended";
      if (const std::string why = fault(s.positions[i], level); !why.empty()) return place + why;
      refuted = !narrow(s.positions[i]) || !spread();
    }
    if (refuted != s.edges.empty()) return "edges: follow unless the proof ends";
    for (const precedence& e : s.edges) {
      if (e.before >= g_.size() || e.after >= g_.size() || e.before == e.after)
        return "edges: name a node that does not exist";
      if (weight(e.before) == 0 || due_[e.before] > first_[e.after]) return "edges: one does not follow";
    }
    return {};
  }

 private:
  static constexpr delta parts = proof::position_fact::parts, limit = delta{1} << 60;

  index_t weight(node_id v) const { return g_.cost(v).peak > 0 ? 1 : 0; }
  index_t counted(const node_set& set) const {
    index_t n = 0;
    for (node_id u = 0; u < g_.size(); ++u) n += set[u] ? weight(u) : 0;
    return n;
  }

  /// The fault of a fact; empty if it holds. Lowers `level` to the level of the fact.
  std::string fault(const proof::position_fact& x, delta& level) const {
    if (x.k >= counted_ || (x.v != none && (x.v >= g_.size() || weight(x.v) == 0)))
      return "names no position, or no counted node";
    if (std::abs(x.price) > limit / static_cast<delta>(counted_ + 1)) return "the price is out of range";
    node_set in(g_.size()), out(g_.size());
    if (x.v != none) (x.inside ? in : out) = x.inside ? g_.above(x.v) : g_.below(x.v), (x.inside ? in : out)[x.v] = true;
    std::vector<delta> keeps(g_.size());
    delta value = parts * g_.base() - x.price * static_cast<delta>(x.k);
    for (node_id u = 0; u < g_.size(); ++u) {
      if (due_[u] <= x.k) in[u] = true;
      if (first_[u] > x.k) out[u] = true;
      const delta adds = parts * g_.cost(u).impact + x.price * static_cast<delta>(weight(u));
      if (in[u]) value += adds;
      else if (!out[u]) keeps[u] = adds;
    }
    const auto free = [&](node_id u) { return u < g_.size() && !in[u] && !out[u]; };
    const auto has_arc = [&](node_id from, node_id to) {
      return free(from) && free(to) && std::count(g_.preds(to).begin(), g_.preds(to).end(), from) > 0;
    };
    if (std::string why = check_flow(x.flow, std::move(keeps), limit, has_arc, value); !why.empty()) return why;
    level = std::min(level, (std::max<delta>(value, 0) + parts - 1) / parts + rise_);
    return {};
  }

  /// Returns false if no position is left, as in `spread`.
  bool narrow(const proof::position_fact& x) {
    if (x.v == none) return false;
    if (x.inside) first_[x.v] = std::max(first_[x.v], x.k + 1);
    else due_[x.v] = std::min(due_[x.v], x.k);
    return true;
  }
  bool spread() {
    for (node_id v : topological_)
      for (node_id u : g_.preds(v)) first_[v] = std::max(first_[v], first_[u] + weight(v));
    for (std::size_t i = topological_.size(); i-- > 0;) {
      const node_id v = topological_[i];
      if (first_[v] > due_[v]) return false;
      for (node_id u : g_.preds(v)) due_[u] = std::min(due_[u], due_[v] - weight(v));
    }
    return true;
  }

  const proof_graph& g_;
  index_t counted_ = 0;
  delta rise_ = std::numeric_limits<delta>::max();  // the least that a counted node takes above the level at which it runs
  std::vector<index_t> first_, due_;
  std::vector<node_id> topological_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
