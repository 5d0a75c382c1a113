// Depth-first branch and bound over orders (Fradet et al., section 7).
#pragma once

#include <functional>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The paper's two orders of ready nodes, as list schedulers (section 7.1).
/// Looks at the clock if there are more than 2^16 nodes. O((nodes + edges) log nodes).
struct ready_list {
  enum class rule : unsigned char {
    impact,  ///< H1: least impact first; among equals, the one with a successor of the least impact
    peak,    ///< H2: shrinking nodes by rising peak, then growing ones by falling drop (the order of independent tasks)
  };
  rule by = rule::peak;

  solution operator()(const schedule_graph& g, search& context) const;
};

/// The best of both rules on a graph and on its mirror image; of a large graph, those for which there is time.
struct four_starts {
  solution operator()(const schedule_graph& g, search& context) const;
};

/// Extends a partial order by each ready node in turn, those first that `ready_list` would take first, and gives up
/// if the peak is no lower than that of the best order known. At a limit it answers with the incumbent and the
/// lowest peak that is still open.
struct branch_and_bound {
  bool starts = true;             ///< begin with `four_starts`, else with the order that H2 gives
  bool fast_backtracking = true;  ///< from a complete order straight back to before its peak (section 7.2.1)
  bool direct_negatives = true;   ///< run a node that shrinks and fits at once; others with more need can wait (7.2.2)
  bool remember = true;           ///< do not look at the same set of nodes twice (not in the paper)
  bool cuts = true;               ///< stop at the bound that minimum cuts give (not in the paper)

  solution operator()(const schedule_graph& g, search& context) const;
  /// Starts from an order that is known.
  solution improve(const schedule_graph& g, search& context, solution incumbent) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/structure/list_schedule.hpp>
#include <memsched/structure/mirror.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// H2's key: smaller first.
inline auto by_peak_then_drop(node_cost c, node_id v) {
  return c.impact <= 0 ? std::tuple(delta{0}, c.peak, v) : std::tuple(delta{1}, c.impact - c.peak, v);
}

class branch_and_bound_search {
 public:
  branch_and_bound_search(const schedule_graph& g, search& context, const branch_and_bound& policy, solution incumbent)
      : g_(g), context_(context), policy_(policy), walk_(g), ran_(g.active), seen_(g.active), best_(std::move(incumbent)) {
    cutoff_ = static_cast<delta>(std::min(context.asked().cutoff, peak_of(g, best_.order)));
    target_ = static_cast<delta>(std::max({context.asked().target, best_.lower_bound, g.base}));
  }

  solution run() {
    context_.control().stats.nodes = std::max<std::uint64_t>(context_.control().stats.nodes, g_.active);
    if (target_ >= cutoff_) return done(cutoff_);
    for (node_id v = 0; v < g_.active; ++v)
      if (walk_.ready(v)) ready_.push_back(v);
    open_frame(none, static_cast<delta>(g_.base), 0);
    while (!frames_.empty()) {
      frame& f = frames_.back();
      if (f.next == f.end) {
        close_frame();
        continue;
      }
      const node_id v = choices_[f.next];
      if (!context_.count_state()) return done(open_bound());
      ++f.next;
      const delta peak = std::max(f.peak, walk_.level() + walk_.effect(v).peak);
      if (peak < cutoff_) descend(v, peak);
      if (cutoff_ <= target_) return done(cutoff_);
    }
    return done(cutoff_);
  }

 private:
  struct frame {
    node_id chosen;                // the choice that led here
    delta peak;                    // so far
    std::size_t ready, next, end;  // its ready nodes start at `ready`; its choices that are left are [next, end)
  };

  void descend(node_id v, delta peak) {
    const std::size_t ready = ready_.size();
    for (std::size_t i = frames_.back().ready; i < ready; ++i)
      if (ready_[i] != v) ready_.push_back(ready_[i]);
    walk_.fire(v, [&](node_id u) { ready_.push_back(u); });
    order_.push_back(v);
    ran_.insert(v);
    const bool whole = order_.size() == g_.active;
    if (!whole && (!policy_.remember || is_new(peak))) return open_frame(v, peak, ready);
    if (whole) accept(peak);
    ready_.resize(ready);
    take_back(v);
    if (whole && policy_.fast_backtracking)
      while (!frames_.empty() && frames_.back().peak >= cutoff_) close_frame();
  }

  /// Whether this set of nodes that have run is new. A set that was looked at with a peak below the cutoff has no
  /// completion below it, or the cutoff would have come down to that.
  bool is_new(delta peak) {
    // A table that grows is copied to twice its room.
    if (3 * (seen_.bytes_held() + seen_peak_.capacity() * sizeof(delta)) > context_.opts().memory_limit) return true;
    const auto [place, fresh] = seen_.insert(ran_);
    if (fresh) seen_peak_.push_back(peak);
    else if (seen_peak_[place] < cutoff_) return false;
    seen_peak_[place] = peak;
    return true;
  }

  void accept(delta peak) {
    best_.order = order_;
    cutoff_ = peak;
    context_.report(static_cast<bytes>(cutoff_), static_cast<bytes>(target_));
  }

  void open_frame(node_id chosen, delta peak, std::size_t ready) {
    keyed_.clear();
    for (std::size_t i = ready; i < ready_.size(); ++i)
      keyed_.push_back(by_peak_then_drop(walk_.effect(ready_[i]), ready_[i]));
    std::sort(keyed_.begin(), keyed_.end());
    if (policy_.direct_negatives) prune(peak);
    const std::size_t first = choices_.size();
    for (const auto& k : keyed_) choices_.push_back(std::get<2>(k));
    frames_.push_back({chosen, peak, ready, first, choices_.size()});
  }

  /// The first choice shrinks: if it fits under the peak so far, it alone; else without those that need as much room.
  /// Moved to the front of any completion it runs at the level now, and the nodes that it overtakes run no higher.
  void prune(delta peak) {
    if (keyed_.empty() || std::get<0>(keyed_[0]) != 0) return;
    const auto room = std::get<1>(keyed_[0]);
    if (walk_.level() + room <= peak) return keyed_.resize(1);
    const auto first = keyed_[0];
    std::erase_if(keyed_, [&](const auto& k) { return k != first && walk_.effect(std::get<2>(k)).peak >= room; });
  }

  void close_frame() {
    const frame f = frames_.back();
    frames_.pop_back();
    ready_.resize(f.ready);
    choices_.resize(frames_.empty() ? 0 : frames_.back().end);
    if (f.chosen != none) take_back(f.chosen);
  }
  void take_back(node_id v) {
    walk_.take_back(v);
    order_.pop_back();
    ran_.erase(v);
  }

  /// The lowest peak that some order which was not looked at may have.
  delta open_bound() {
    delta bound = cutoff_;
    while (!frames_.empty()) {
      const frame f = frames_.back();
      for (std::size_t i = f.next; i < f.end; ++i)
        bound = std::min(bound, std::max(f.peak, walk_.level() + walk_.effect(choices_[i]).peak));
      close_frame();
    }
    return std::max(bound, std::min(target_, cutoff_));
  }

  solution done(delta bound) {
    best_.lower_bound = std::max(best_.lower_bound, static_cast<bytes>(std::min(bound, cutoff_)));
    return std::move(best_);
  }

  const schedule_graph& g_;
  search& context_;
  const branch_and_bound& policy_;
  retractable_walk walk_;
  bit_set ran_;
  downset_table seen_;
  std::vector<delta> seen_peak_;
  std::vector<frame> frames_;
  std::vector<node_id> ready_, choices_, order_;
  std::vector<std::tuple<delta, delta, node_id>> keyed_;
  solution best_;
  delta cutoff_ = 0, target_ = 0;
};

}  // namespace detail

MEMSCHED_FUNCTION solution ready_list::operator()(const schedule_graph& g, search& context) const {
  const auto key = [&](const order_walk& w, node_id v, index_t) {
    const node_cost c = w.effect(v);
    if (by == rule::peak) return detail::by_peak_then_drop(c, v);
    delta least = std::numeric_limits<delta>::max();
    for (node_id u : g.succs[v]) least = std::min(least, g.cost[u].impact);
    return std::tuple(c.impact, least, v);
  };
  return {structure::list_schedule(g, key, [&] { return !context.control().over(); })};
}

MEMSCHED_FUNCTION solution four_starts::operator()(const schedule_graph& g, search& context) const {
  constexpr std::size_t large = 1 << 12;  // nodes, from where on each start takes time
  solution best;
  bytes peak = no_limit;
  std::optional<schedule_graph> image;
  for (const auto by : {ready_list::rule::impact, ready_list::rule::peak})
    for (bool mirrored : {false, true}) {
      if (peak != no_limit && g.active > large && context.control().over()) return best;
      if (mirrored && !image) image = structure::mirror_image(g);
      solution s = ready_list{by}(mirrored ? *image : g, context);
      if (mirrored) s.order = structure::reflected(g, std::move(s.order));
      if (const bytes p = peak_of(g, s.order); p < peak) peak = p, best = std::move(s);
    }
  return best;
}

MEMSCHED_FUNCTION solution branch_and_bound::improve(const schedule_graph& g, search& context, solution incumbent) const {
  if (cuts) {
    const auto go_on = [&] { return context.control().count_cut(); };
    const bytes start = std::max({context.asked().target, incumbent.lower_bound, g.base});
    incumbent.lower_bound = bounds::best_cut_bound(g, incumbent.order, start, go_on).bound;
  }
  return detail::branch_and_bound_search(g, context, *this, std::move(incumbent)).run();
}

MEMSCHED_FUNCTION solution branch_and_bound::operator()(const schedule_graph& g, search& context) const {
  return improve(g, context, starts ? four_starts{}(g, context) : ready_list{}(g, context));
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
