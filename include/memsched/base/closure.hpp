// Minimum closures: the cheapest set that holds, with each member, the members that it rests on. One minimum cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/bytes.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/plain_vector.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace base {

/// Members with impacts in bytes, and the members that each requires. Solved by maximum flow (Dinic): bytes that members add
/// are balanced, along the edges, against bytes that the members after them free; the excess of freed bytes is the minimum.
/// Working memory is kept from one use to the next.
class closure_problem {
 public:
  /// Bytes that the flow carries from a member to one that rests on it.
  struct arc {
    index_t from, to;
    delta flow;
  };

  void clear() {
    supply_.clear();
    demand_.clear();
    out_.clear();
    in_.clear();
    arcs_.clear();
    next_out_.clear();
    next_in_.clear();
  }
  /// A member; its id counts up from 0.
  index_t add(delta impact) {
    supply_.push_back(std::max<delta>(impact, 0));
    demand_.push_back(std::max<delta>(-impact, 0));
    out_.push_back(none);
    in_.push_back(none);
    return static_cast<index_t>(supply_.size() - 1);
  }
  /// A set with `to` must hold `from`.
  void add_arc(index_t from, index_t to) {
    const index_t e = static_cast<index_t>(arcs_.size());
    arcs_.push_back({from, to, 0});
    next_out_.push_back(std::exchange(out_[from], e));
    next_in_.push_back(std::exchange(in_[to], e));
  }

  /// The smallest sum of impacts over all closed sets; at most 0, the empty set's. O(V^2 E), near linear in practice.
  delta solve() {
    return solve([] { return true; });
  }
  /// The same; asks `go_on` whenever a few million members and arcs were visited. If that says no, returns a number that no
  /// closed set is below: any flow shows as much. `holds` then says nothing.
  delta solve(function_ref<bool()> go_on) {
    at_out_.resize(supply_.size());
    at_in_.resize(supply_.size());
    constexpr std::uint64_t long_time = std::uint64_t{1} << 22;
    std::uint64_t asked = work_;
    bool more = true;
    const auto heed = [&] {
      if (work_ - asked > long_time) asked = work_, more = go_on();
      return more;
    };
    send_forward();
    const auto one_level_down = [&](index_t& v) { return step(v); };
    while (heed() && find_levels())
      for (auto v = queue_.begin(); v != queue_.end() && heed(); ++v)
        while (supply_[*v] > 0 && augment(*v, one_level_down)) {
        }
    delta unmet = 0;
    for (delta d : demand_) unmet += d;
    return -unmet;
  }

  // After `solve`:
  /// Whether the cheapest set holds v: the smallest of those, or after `widen` the largest.
  bool holds(index_t v) const { return level_[v] != none; }
  /// O(V + E).
  void widen() {
    level_.assign(supply_.size(), 0);
    queue_.clear();
    const auto visit = [&](index_t v) {
      if (std::exchange(level_[v], none) != none) queue_.push_back(v);
    };
    for (index_t v = 0; v < supply_.size(); ++v)
      if (supply_[v] > 0) visit(v);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      for (index_t e = out_[queue_[i]]; e != none; e = next_out_[e]) visit(arcs_[e].to);
      for (index_t e = in_[queue_[i]]; e != none; e = next_in_[e])
        if (arcs_[e].flow > 0) visit(arcs_[e].from);
    }
  }
  /// Members and arcs that `solve` visited in all, since this was made.
  std::uint64_t work() const { return work_; }
  /// The flow, which proves that no closed set is cheaper.
  const plain_vector<arc>& arcs() const { return arcs_; }

 private:
  /// Sends as much as edges alone allow, later members' first. No edge is ever full, so a member that leads nowhere
  /// stays one: all of it takes as long as the edges and the paths. It saves breadth-first searches. (Flow that this leaves
  /// undone if edges form a circle is sent by these.)
  void send_forward() {
    constexpr index_t open = 0, on_path = 1;  // or none, a dead end
    level_.assign(supply_.size(), open);
    at_out_.assign(out_.begin(), out_.end());
    const auto any_open = [&](index_t& v) {
      level_[v] = on_path;
      for (index_t& e = at_out_[v]; e != none; e = next_out_[e])
        if (level_[arcs_[e].to] == open) return path_.push_back({e, true}), v = arcs_[e].to, true;
      return false;
    };
    for (auto v = static_cast<index_t>(supply_.size()); v-- > 0;)
      while (supply_[v] > 0 && augment(v, any_open))
        for (const hop& h : path_) level_[arcs_[h.arc].from] = open;
  }

  /// Breadth-first levels in the residual graph, counted from members that still have demand: those are few. Returns whether
  /// supply is left that can be sent there.
  bool find_levels() {
    level_.assign(supply_.size(), none);
    queue_.clear();
    for (index_t v = 0; v < demand_.size(); ++v)
      if (demand_[v] > 0) level_[v] = 0, queue_.push_back(v);
    index_t nearest = none;  // level of supply
    for (std::size_t i = 0; i < queue_.size() && level_[queue_[i]] < nearest; ++i) {
      const index_t v = queue_[i];
      work_ += 2;
      if (supply_[v] > 0) nearest = level_[v];
      const auto visit = [&](index_t u) {
        ++work_;
        if (level_[u] == none) level_[u] = level_[v] + 1, queue_.push_back(u);
      };
      for (index_t e = in_[v]; e != none; e = next_in_[e]) visit(arcs_[e].from);
      for (index_t e = out_[v]; e != none; e = next_out_[e])
        if (arcs_[e].flow > 0) visit(arcs_[e].to);
    }
    for (index_t v : queue_) at_out_[v] = out_[v], at_in_[v] = in_[v];
    return nearest != none;
  }

  /// Sends as much as fits along one path from `source` to an unmet demand; false if there is none. `step` goes on from a
  /// member that is no dead end, and returns whether it could.
  template <class Step>
  bool augment(index_t source, const Step& step) {
    path_.clear();
    index_t v = source;
    while (demand_[v] == 0) {
      ++work_;
      if (step(v)) continue;
      level_[v] = none;  // a dead end for this phase
      if (v == source) return false;
      v = back();
    }
    delta amount = std::min(supply_[source], demand_[v]);
    for (const hop& h : path_)
      if (!h.forward) amount = std::min(amount, arcs_[h.arc].flow);
    for (const hop& h : path_) arcs_[h.arc].flow += h.forward ? amount : -amount;
    supply_[source] -= amount;
    demand_[v] -= amount;
    return true;
  }
  bool step(index_t& v) {
    if (level_[v] == 0) return false;
    for (index_t& e = at_out_[v]; e != none; e = next_out_[e])
      if (level_[arcs_[e].to] == level_[v] - 1) return path_.push_back({e, true}), v = arcs_[e].to, true;
    for (index_t& e = at_in_[v]; e != none; e = next_in_[e])
      if (arcs_[e].flow > 0 && level_[arcs_[e].from] == level_[v] - 1)
        return path_.push_back({e, false}), v = arcs_[e].from, true;
    return false;
  }
  index_t back() {
    const hop h = path_.back();
    path_.pop_back();
    return h.forward ? arcs_[h.arc].from : arcs_[h.arc].to;
  }

  struct hop {
    index_t arc;
    bool forward;
  };
  plain_vector<delta> supply_, demand_;
  std::vector<index_t> out_, in_, next_out_, next_in_, at_out_, at_in_, level_, queue_;
  plain_vector<arc> arcs_;
  plain_vector<hop> path_;
  std::uint64_t work_ = 0;
};

}  // namespace base

}  // namespace MEMSCHED_ABI
}  // namespace memsched
