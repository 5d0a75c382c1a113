// Series-parallel graphs: recognized and ordered optimally in one sweep (Fradet et al., section 5.4).
#pragma once

#include <optional>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace structure {

/// An order of the active nodes with the smallest peak if g, with a start before its sources and an end after its
/// sinks, is series-parallel; nothing if it is not, has credits, or `go_on()`, asked now and then, is false. An edge that
/// a path replaces counts as an edge. O(n log^2 n).
MEMSCHED_FUNCTION std::optional<std::vector<node_id>> series_parallel_order(const schedule_graph& g,
                                                                            function_ref<bool()> go_on);
inline std::optional<std::vector<node_id>> series_parallel_order(const schedule_graph& g) {
  return series_parallel_order(g, [] { return true; });
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// A run of nodes that nothing else need interrupt.
struct run {
  node_cost cost;
  node_id first, last;
};

/// An optimal order of the nodes on one side of a decomposition: first the runs that shrink, by rising peak, then those
/// that do not, by falling drop. Two such chains in parallel interleave by these keys; in series, only runs next to
/// the joint can merge.
class sorted_chain {
 public:
  /// This chain beside `other`. Moves the shorter one: O(short log long).
  void beside(sorted_chain&& other) {
    meld(shrinking_, other.shrinking_);
    meld(growing_, other.growing_);
  }

  /// This chain, then x, then `other`. `next` links the nodes of runs.
  void then(run x, sorted_chain&& other, std::vector<node_id>& next) {
    const auto joined = [&](run a, run b) {
      next[a.last] = b.first;
      const delta peak = std::max(a.cost.peak, a.cost.impact + b.cost.peak);
      return run{{peak, a.cost.impact + b.cost.impact}, a.first, b.last};
    };
    for (;;) {  // a run that grows and a shrinking one after it always belong together
      if (x.cost.impact >= 0 && !other.shrinking_.empty()) x = joined(x, take_first(other.shrinking_));
      else if (x.cost.impact < 0 && !growing_.empty()) x = joined(take_first(growing_), x);
      else break;
    }
    if (x.cost.impact < 0) {
      while (!shrinking_.empty() && x.cost.peak <= last(shrinking_).cost.drop()) x = joined(take_last(shrinking_), x);
      while (!other.shrinking_.empty() && first(other.shrinking_).cost.peak <= x.cost.drop())
        x = joined(x, take_first(other.shrinking_));
      shrinking_.emplace(x.cost.peak, x);
    } else {
      for (;;) {
        if (!other.growing_.empty() && x.cost.drop() <= last(other.growing_).cost.peak)
          x = joined(x, take_last(other.growing_));
        else if (!growing_.empty() && (x.cost.impact == 0 || first(growing_).cost.drop() <= x.cost.peak))
          x = joined(take_first(growing_), x);
        else break;
      }
      growing_.emplace(x.cost.drop(), x);
    }
    beside(std::move(other));
  }

  std::vector<node_id> nodes(const std::vector<node_id>& next) const {
    std::vector<node_id> all;
    const auto take = [&](const run& r) {
      for (node_id v = r.first; v != none; v = v == r.last ? none : next[v]) all.push_back(v);
    };
    for (const auto& [peak, r] : shrinking_) take(r);
    for (auto it = growing_.rbegin(); it != growing_.rend(); ++it) take(it->second);
    return all;
  }

 private:
  using runs = std::multimap<delta, run>;  // shrinking: by peak; growing: by drop, so that the last one runs first

  static const run& first(const runs& r) { return r.begin()->second; }
  static const run& last(const runs& r) { return std::prev(r.end())->second; }
  static run take_first(runs& r) { return r.extract(r.begin()).mapped(); }
  static run take_last(runs& r) { return r.extract(std::prev(r.end())).mapped(); }
  static void meld(runs& into, runs& from) {
    if (into.size() < from.size()) into.swap(from);
    into.merge(from);
  }

  runs shrinking_, growing_;
};

/// Replaces two edges in series and two edges in parallel by one, as long as there are such, with a chain on each edge.
/// A start before the sources and an end after the sinks are the terminals.
class series_parallel_reduction {
 public:
  explicit series_parallel_reduction(const schedule_graph& g)
      : g_(g),
        start_(static_cast<node_id>(g.size())),
        end_(start_ + 1),
        ends_{std::vector<tip>(g.size() + 2), std::vector<tip>(g.size() + 2)},
        next_(g.size(), none) {}

  /// Returns nothing, too, if `go_on()`, asked every 2^12 nodes, is false.
  std::optional<std::vector<node_id>> run(function_ref<bool()> go_on) {
    std::size_t steps = 0;
    const auto may_go_on = [&] { return (++steps & 0xfff) != 0 || go_on(); };
    edges_.reserve(2 * g_.preds.items() + g_.size());
    between_.reserve(g_.preds.items() + g_.size() / 8);
    for (node_id v = 0; v < g_.size(); ++v) {
      if (!may_go_on()) return std::nullopt;
      for (node_id u : g_.preds[v]) add(u, v, {});
      if (g_.preds[v].empty()) add(start_, v, {});
      if (g_.succs[v].empty()) add(v, end_, {});
    }
    while (!inner_.empty()) {
      const node_id v = inner_.back();
      inner_.pop_back();
      if (!is_inner(v)) continue;
      if (!may_go_on()) return std::nullopt;
      const index_t in = ends_[0][v].edges, out = ends_[1][v].edges;
      sorted_chain chain = std::move(edges_[in].chain);
      chain.then({g_.cost[v], v, v}, std::move(edges_[out].chain), next_);
      const node_id from = edges_[in].from, to = edges_[out].to;
      remove(in);
      remove(out);
      add(from, to, std::move(chain));
    }
    if (count_ > 1) return std::nullopt;
    return edges_[ends_[1][start_].edges].chain.nodes(next_);
  }

 private:
  struct edge {
    node_id from, to;
    sorted_chain chain;
  };
  struct tip {
    index_t degree = 0, edges = 0;  // edges: exclusive or of ids, so that of a single one its id
  };

  bool is_inner(node_id v) const { return v < start_ && ends_[0][v].degree == 1 && ends_[1][v].degree == 1; }
  static std::uint64_t key(node_id from, node_id to) { return std::uint64_t{from} << 32 | to; }

  void add(node_id from, node_id to, sorted_chain chain) {
    const auto [at, fresh] = between_.try_emplace(key(from, to), static_cast<index_t>(edges_.size()));
    if (!fresh) {
      edges_[at->second].chain.beside(std::move(chain));
    } else {
      edges_.push_back({from, to, std::move(chain)});
      ++count_;
      turn(at->second, 1);
    }
    for (node_id v : {from, to})
      if (is_inner(v)) inner_.push_back(v);
  }
  void remove(index_t e) {
    between_.erase(key(edges_[e].from, edges_[e].to));
    --count_;
    turn(e, none);
  }
  void turn(index_t e, index_t change) {
    for (tip* t : {&ends_[1][edges_[e].from], &ends_[0][edges_[e].to]}) t->degree += change, t->edges ^= e;
  }

  const schedule_graph& g_;
  node_id start_, end_;
  std::vector<tip> ends_[2];   // [0]: where edges end, [1]: where they start
  std::vector<node_id> next_;  // within a run
  std::vector<edge> edges_;
  std::unordered_map<std::uint64_t, index_t> between_;
  std::size_t count_ = 0;
  std::vector<node_id> inner_;
};

}  // namespace detail
namespace structure {

MEMSCHED_FUNCTION std::optional<std::vector<node_id>> series_parallel_order(const schedule_graph& g,
                                                                            function_ref<bool()> go_on) {
  if (g.size() == 0) return std::vector<node_id>{};
  if (g.credits.items() > 0 || g.preds.items() > 2 * g.size()) return std::nullopt;
  auto order = detail::series_parallel_reduction(g).run(go_on);
  if (order) std::erase_if(*order, [&](node_id v) { return g.is_release(v); });
  return order;
}

}  // namespace structure

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
