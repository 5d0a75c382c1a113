// Memory-aware fusion (Zhong et al., section IV-B): groups of nodes that some optimal order runs in one go.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/graph/contract.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Replaces groups of nodes by one node each that runs them in their best order, until none is left to be found
/// (Algorithm 1). The optimum stays the same. Two theorems say which groups:
///
/// IV.1, for neighbours u -> v of a chain. If memory does not fall at u and v peaks at least as high, u may as well
/// wait for v; if memory does not rise at v and u peaks at least as high, v may as well follow at once.
///
/// IV.2, for a group with one way in and one way out. The paper asks that no state inside it takes less memory than
/// either end, and looks at the states of one order. That is not enough: another order of the group may pass a valley
/// in which a parallel branch should run. Here the condition is on every set of the group's nodes that can have run.
/// Then the group can be run where memory is lowest among the moments at which its nodes ran.
///
/// Nodes with credits are left alone, and those that share a release with them. A release with readers inside and
/// outside of a group must be read by its last node: otherwise when the group runs decides what it takes.
struct fuse {
  std::size_t max_size = 32;    ///< nodes of one group and round, Algorithm 1's M; at most 64
  std::size_t max_sets = 2048;  ///< sets of nodes looked at for one group; if there are more, it stays
  bool as_printed = false;      ///< the states of one order only, as the paper says, and not safe

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;

  /// The fused graph. Each round O(nodes * max_size^2) and the sets it looks at; stops between rounds at a limit.
  fused_graph apply(const schedule_graph& g, search& context) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <memsched/base/topology.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Finds the groups of one round.
class fusion_round {
 public:
  fusion_round(const schedule_graph& g, const fuse& policy)
      : g_(g),
        policy_(policy),
        order_(base::topological_order(g.preds, g.succs)),
        position_(g.size()),
        blocked_(g.active, false),
        inside_(g.size(), none),
        entry_(g.size(), none),
        outside_succs_(g.active, 0) {
    for (index_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
    for (node_id v = 0; v < g.active; ++v)
      if (g.preds[v].empty()) sources_.push_back(v);
    for (node_id v = 0; v < g.active; ++v)
      for (const auto& c : g.credits[v]) {
        blocked_[v] = true;
        for (node_id reader : g.preds[c.release]) blocked_[reader] = true;
      }
  }

  std::vector<node_group> run() {
    for (node_id u : order_)
      if (!g_.is_release(u) && !blocked_[u]) fuse_neighbours(u);
    for (node_id u : order_)
      if (!g_.is_release(u) && !blocked_[u]) fuse_from(u);
    return std::move(found_);
  }

 private:
  static constexpr std::size_t most = 64;

  void take(node_group found) {
    for (node_id v : found.order) blocked_[v] = true;
    found_.push_back(std::move(found));
  }

  /// Theorem IV.1.
  void fuse_neighbours(node_id u) {
    const node_id v = only_active(g_, g_.succs[u]);
    if (v == none || blocked_[v] || g_.preds[v].size() != 1) return;
    bool u_releases = false;  // together with others than v
    node_cost before = g_.cost[u], after = g_.cost[v];
    for (node_id r : g_.succs[u]) {
      if (!g_.is_release(r)) continue;
      const auto readers = g_.preds[r];
      const bool with_v = std::find(readers.begin(), readers.end(), v) != readers.end();
      if (readers.size() == 1) before.impact += g_.cost[r].impact;
      else if (!with_v) u_releases = true;
      else if (readers.size() == 2) after.impact += g_.cost[r].impact;
    }
    for (node_id r : g_.succs[v])
      if (g_.is_release(r) && g_.preds[r].size() == 1) after.impact += g_.cost[r].impact;
    const bool rising = before.impact >= 0 && before.peak <= before.impact + after.peak && !u_releases;
    const bool falling = after.impact <= 0 && before.impact + after.peak <= before.peak;
    if (rising || falling) take({{u, v}, {std::max(before.peak, before.impact + after.peak), before.impact + after.impact}});
  }

  /// Theorem IV.2: grows a group from u, or from all nodes with u's predecessors, until it closes and is legal.
  void fuse_from(node_id u) {
    if (grow({&u, 1})) return;
    const auto preds = g_.preds[u];
    std::vector<node_id> siblings;
    const auto is_sibling = [&](node_id s) {
      return !g_.is_release(s) && std::is_permutation(preds.begin(), preds.end(), g_.preds[s].begin(), g_.preds[s].end());
    };
    const auto others = preds.empty() ? std::span<const node_id>(sources_) : g_.succs[preds[0]];
    if (others.size() > policy_.max_size) return;
    for (node_id s : others)
      if (is_sibling(s)) siblings.push_back(s);
    if (siblings.size() > 1 && siblings.front() == u) grow(siblings);
  }

  bool grow(std::span<const node_id> seeds) {
    const std::size_t limit = std::min(policy_.max_size, most);
    ++walk_;
    for (node_id p : g_.preds[seeds[0]]) entry_[p] = walk_;
    members_.clear();
    open_ = 0;
    for (node_id s : seeds) {
      if (blocked_[s] || members_.size() >= limit) return false;
      join(s);
    }
    std::vector<node_id> next;
    const auto offer = [&](node_id v) {
      for (node_id s : g_.succs[v])
        if (!g_.is_release(s) && inside_[s] != walk_ && !blocked_[s] && can_join(s) &&
            std::find(next.begin(), next.end(), s) == next.end())
          next.push_back(s);
    };
    for (node_id s : seeds) offer(s);
    while (!next.empty() && members_.size() < limit) {
      const auto first =
          std::min_element(next.begin(), next.end(), [&](node_id a, node_id b) { return position_[a] < position_[b]; });
      const node_id v = *first;
      next.erase(first);
      join(v);
      offer(v);
      if (open_ != 1) continue;
      if (auto found = closed_group()) return take(std::move(*found)), true;
    }
    return false;
  }

  bool can_join(node_id v) const {
    for (node_id p : g_.preds[v])
      if (inside_[p] != walk_ && entry_[p] != walk_) return false;
    return true;
  }

  /// Adds v and counts the nodes that a node outside waits for, or no node at all. One of them: the group has one way out.
  void join(node_id v) {
    members_.push_back(v);
    inside_[v] = walk_;
    index_t outside = 0;
    for (node_id s : g_.succs[v])
      if (!g_.is_release(s)) ++outside;
    outside_succs_[v] = outside;
    ++open_;
    for (node_id p : g_.preds[v])
      if (inside_[p] == walk_ && --outside_succs_[p] == 0) --open_;
  }

  /// Collects the part of the group's releases that is inside; false if one of them makes the group illegal.
  bool collect_releases(node_id last) {
    releases_.clear();
    ++check_;
    for (node_id v : members_)
      for (node_id r : g_.succs[v]) {
        if (!g_.is_release(r) || std::exchange(inside_[r], check_) == check_) continue;
        std::uint64_t readers = 0;
        bool all = true, by_last = false;
        for (node_id u : g_.preds[r]) {
          by_last |= u == last;
          if (inside_[u] == walk_) readers |= bit_of(u);
          else all = false;
        }
        if (all) releases_.push_back({readers, g_.cost[r].impact});
        else if (!by_last) return false;
      }
    return true;
  }
  std::uint64_t bit_of(node_id v) const { return std::uint64_t{1} << local_.at(v); }

  /// The group's best order, if every set of its nodes that can have run takes at least as much as both ends.
  std::optional<node_group> closed_group() {
    std::sort(members_.begin(), members_.end(), [&](node_id a, node_id b) { return position_[a] < position_[b]; });
    local_.clear();
    for (index_t i = 0; i < members_.size(); ++i) local_[members_[i]] = i;
    if (!collect_releases(members_.back())) return std::nullopt;
    const std::size_t n = members_.size();
    std::vector<std::uint64_t> needs(n, 0);
    for (std::size_t i = 0; i < n; ++i)
      for (node_id p : g_.preds[members_[i]])
        if (inside_[p] == walk_) needs[i] |= bit_of(p);
    const std::uint64_t full = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    delta total = 0;
    for (node_id v : members_) total += g_.cost[v].impact;
    for (const auto& r : releases_) total += r.impact;
    const delta shore = std::max<delta>(0, total);

    struct state {
      delta level, peak;
      index_t last;
    };
    std::vector<std::unordered_map<std::uint64_t, state>> layers(n + 1);
    layers[0][0] = {0, 0, none};
    std::size_t sets = 0;
    for (std::size_t k = 0; k < n; ++k)
      for (const auto& [set, here] : layers[k])
        for (index_t i = 0; i < n; ++i) {
          const std::uint64_t bit = std::uint64_t{1} << i;
          if ((set & bit) != 0 || (needs[i] & ~set) != 0) continue;
          const std::uint64_t then = set | bit;
          delta level = here.level + g_.cost[members_[i]].impact;
          for (const auto& r : releases_)
            if ((r.readers & bit) != 0 && (r.readers & ~then) == 0) level += r.impact;
          if (!policy_.as_printed && then != full && level < shore) return std::nullopt;
          const delta peak = std::max({here.peak, here.level + g_.cost[members_[i]].peak, level});
          const auto [at, fresh] = layers[k + 1].try_emplace(then, state{level, peak, i});
          if (fresh && ++sets > policy_.max_sets) return std::nullopt;
          if (!fresh && std::pair(peak, i) < std::pair(at->second.peak, at->second.last))
            at->second.peak = peak, at->second.last = i;
        }
    node_group found;
    found.cost = {layers[n].at(full).peak, total};
    std::uint64_t set = full;
    for (std::size_t k = n; k > 0; --k) {
      const state& s = layers[k].at(set);
      if (set != full && s.level < shore) return std::nullopt;
      found.order.push_back(members_[s.last]);
      set &= ~(std::uint64_t{1} << s.last);
    }
    std::reverse(found.order.begin(), found.order.end());
    return found;
  }

  struct inner_release {
    std::uint64_t readers;
    delta impact;
  };
  const schedule_graph& g_;
  const fuse& policy_;
  std::vector<node_id> order_, sources_;
  std::vector<index_t> position_;
  std::vector<bool> blocked_;            // has credits, or is in a group of this round
  std::vector<index_t> inside_, entry_;  // the last walk (check, for releases) that met a node inside, or before
  std::vector<index_t> outside_succs_;
  std::vector<node_id> members_;
  std::unordered_map<node_id, index_t> local_;
  std::vector<inner_release> releases_;
  std::vector<node_group> found_;
  index_t walk_ = 0, check_ = 0;
  std::size_t open_ = 0;
};

}  // namespace detail

MEMSCHED_FUNCTION solution fuse::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  const fused_graph f = apply(g, context);
  const solution fused = inner(f.graph, context);
  solution s{{}, fused.lower_bound, fused.error};
  s.order.reserve(g.active);
  for (node_id v : fused.order)
    for (node_id u : f.members[v]) s.order.push_back(u);
  return s;
}

MEMSCHED_FUNCTION fused_graph fuse::apply(const schedule_graph& g, search& context) const {
  fused_graph f = unfused(g);
  while (context.keep_going()) {
    const auto groups = detail::fusion_round(f.graph, *this).run();
    if (groups.empty()) break;
    f = contract(f, groups);
  }
  return f;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
