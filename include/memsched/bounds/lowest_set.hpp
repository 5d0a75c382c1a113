// The lowest set of nodes that can have run.
#pragma once

#include <algorithm>
#include <vector>

#include <memsched/base/closure.hpp>
#include <memsched/graph/schedule_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// Given nodes that are free to have run or not, the choice among them that leaves the lowest level, or lets a node v run
/// the lowest, which counts v's credits. One minimum cut. Working memory is kept from one use to the next; g must outlive
/// this.
class lowest_set {
 public:
  explicit lowest_set(const schedule_graph& g) : g_(&g), member_(g.size(), none) {}

  void clear() {
    for (node_id u : free_) member_[u] = none;
    free_.clear();
    closure_.clear();
  }
  /// Makes u free, once.
  void add(node_id u) {
    member_[u] = closure_.add(g_->cost[u].impact);
    free_.push_back(u);
  }
  const std::vector<node_id>& free() const { return free_; }
  bool is_free(node_id u) const { return member_[u] != none; }

  /// The bytes that the free nodes in the set add to the level; at most 0. A node has run only if those of
  /// `preds[u]` that are free have; the others must have run.
  template <class Preds>
  delta solve(const Preds& preds) {
    return solve(preds, [] { return true; });
  }
  /// The same; a smaller number if `go_on`, which is asked now and then in a long cut, says no. `holds` then says
  /// nothing.
  template <class Preds>
  delta solve(const Preds& preds, function_ref<bool()> go_on) {
    rest_on(preds);
    return closure_.solve(go_on);
  }
  /// The same with the room that v gains, which is not free: it has a credit if all others that its release waits
  /// for have run, either as `ran(u)` says or as free nodes.
  template <class Preds, class Ran>
  delta solve(const Preds& preds, node_id v, Ran ran) {
    return solve(preds, v, ran, [] { return true; });
  }
  /// The same; a smaller number if `go_on`, which is asked now and then in a long cut, says no. `holds` then says
  /// nothing.
  template <class Preds, class Ran>
  delta solve(const Preds& preds, node_id v, Ran ran, function_ref<bool()> go_on) {
    rest_on(preds);
    for (const auto& c : g_->credits[v]) {
      const auto readers = g_->preds[c.release];
      const auto may_have_run = [&](node_id r) { return r == v || is_free(r) || ran(r); };
      if (!std::all_of(readers.begin(), readers.end(), may_have_run)) continue;
      const index_t gain = closure_.add(-c.amount);
      for (node_id r : readers)
        if (is_free(r)) closure_.add_arc(member_[r], gain);
    }
    return closure_.solve(go_on);
  }

  /// Nodes and edges visited by all minimum cuts so far.
  std::uint64_t work() const { return closure_.work(); }

  // After `solve`:
  /// Whether u is free and has run in the lowest set: the smallest of those, or after `widen` the largest.
  bool holds(node_id u) const { return is_free(u) && closure_.holds(member_[u]); }
  void widen() { closure_.widen(); }

 private:
  template <class Preds>
  void rest_on(const Preds& preds) {
    for (node_id u : free_)
      for (node_id needed : preds[u])
        if (is_free(needed)) closure_.add_arc(member_[needed], member_[u]);
  }

  const schedule_graph* g_;
  std::vector<index_t> member_;  // of the closure problem
  std::vector<node_id> free_;
  closure_problem closure_;
};

}  // namespace bounds

}  // namespace MEMSCHED_ABI
}  // namespace memsched
