// What `automatic` does with a part of a graph: cheap orders first, then bounds, then exact search on what is left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/presolve/narrowing.hpp>
#include <memsched/schedulers/beam.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/local_search.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// The order of `best_heuristic` with the bound of minimum cuts, no less than the context's floor. Cuts take a tenth of the
/// time that is left at most.
struct cheap_bounds {
  std::size_t max_nodes = 1 << 14;  ///< larger graphs get no cuts

  solution operator()(const schedule_graph& g, search& context) const;
};

/// Closes the gap between an order and a bound on a graph that is no longer divided, in rounds of growing effort: probing
/// and shaving, which prove a bound and narrow the graph (see `narrowing`, `destructive_search`), searches of the narrowed
/// graphs for an order that reaches the bound and for one just below the best so far, and local search.
struct close_gap {
  std::uint64_t short_search = 20000;  ///< states before anything else is tried
  std::size_t max_probed = 8192;       ///< nodes, releases included; larger graphs are searched without probing

  solution operator()(const schedule_graph& g, search& context) const;
  /// Starts from an order and a bound that are known.
  solution improve(const schedule_graph& g, search& context, solution s) const;
};

namespace detail {

/// What suffices for most graphs, with so many states for each attempt: an exact search that small graphs need no more than;
/// then what is good early, each with a share of the time that is left.
inline solution short_attempts(const schedule_graph& g, search& context, std::uint64_t states, solution s) {
  const auto done = [&] {
    return s.lower_bound >= std::min(peak_of(g, s.order), context.ceiling()) || context.stopped();
  };
  const auto attempt = [&](double share, std::uint64_t most, auto&& f) {
    if (!done()) s = context.with_share(share, [&] { return context.with_states(most, f); });
    context.report(peak_of(g, s.order), s.lower_bound);
  };
  const auto exact = [&] { return best_first{}.improve(g, context, std::move(s)); };
  attempt(0.1, states / 10, exact);
  attempt(0.5, states / 4, [&] { return local_search{}.improve(g, context, std::move(s)); });
  attempt(0.4, states, exact);
  attempt(0.2, states, [&] {
    take_if_better(g, beam{}(g, context).order, s);
    return std::move(s);
  });
  attempt(0.5, states, [&] { return local_search{}.improve(g, context, std::move(s)); });
  return s;
}

class gap_closer {
 public:
  gap_closer(const close_gap& policy, const schedule_graph& g, search& context, solution s)
      : policy_(policy), g_(g), context_(context), best_(short_attempts(g, context, policy.short_search, std::move(s))) {}

  solution run() {
    for (std::uint64_t effort = policy_.short_search; !done(); effort *= 2) {
      const auto before = std::pair(peak(), best_.lower_bound);
      context_.report(peak(), best_.lower_bound);
      if (g_.size() <= policy_.max_probed) raise_bound(effort);
      lower_peak(effort);
      // More effort helps no more where the graph, or what a search remembers, is too large.
      const bool full = g_.active > best_first{}.max_nodes || context_.stats.memory >= context_.opts().memory_limit;
      if (full && !done() && before == std::pair(peak(), best_.lower_bound)) context_.out_of_memory();
    }
    return std::move(best_);
  }

 private:
  /// What an order must stay below to be of use.
  bytes peak() const { return std::min(peak_of(g_, best_.order), context_.ceiling()); }
  bool done() const { return best_.lower_bound >= peak() || context_.stopped(); }

  /// The first peak from a bound on that the sizes allow. A bound that is no more than the floor is left as it is: orders
  /// below the floor, which may exist, are as good as those that reach it.
  bytes lifted(bytes bound) const { return bound > context_.floor() ? next_possible_peak(g_, bound) : bound; }

  /// Narrows the graph, and asks for an order that reaches the bound where this settles one; then narrows it with more
  /// patience. A higher bound starts with the least again.
  void raise_bound(std::uint64_t effort) {
    if (!bounds_) bounds_.emplace(g_, lifted(best_.lower_bound), narrowing(g_, context_));
    const auto go_on = [&] { return context_.count_cut_as_state(bounds_->bytes_held()); };
    const std::uint64_t end = context_.stats.states + effort;
    for (bytes decided = 0; !done() && context_.stats.states < end;) {
      const bytes before = bounds_->bound();
      const auto narrow = [&] { return bounds_->run(peak(), patience_, go_on); };
      const bool settled = context_.with_states(end - context_.stats.states, narrow);
      best_.lower_bound = std::max(best_.lower_bound, lifted(bounds_->bound()));
      if (bounds_->bound() > before) patience_ = std::min(patience_, least_patience);
      if (done() || !settled) break;
      const bool asked = std::exchange(decided, bounds_->bound()) == bounds_->bound();
      if (!asked && decide(decided, effort)) continue;
      if (patience_ >= most_patience) break;  // there is nothing left to ask
      patience_ = std::max(least_patience, 2 * patience_);
    }
  }

  void lower_peak(std::uint64_t effort) {
    const local_search windows{.states = effort / 32};
    if (!done()) best_ = context_.with_states(2 * effort, [&] { return windows.improve(g_, context_, std::move(best_)); });
    if (!done() && bounds_) decide(peak() - 1, effort);
  }

  /// Looks for an order with a peak of at most `asked` on a graph narrowed for that. False where it gave up.
  bool decide(bytes asked, std::uint64_t effort) {
    const narrowing& narrowed = bounds_->known_up_to(asked);
    auto found = context_.aside(
        [&] { return best_first{}.between_from_both_ends(narrowed.graph(), context_, asked, asked + 1, effort); });
    if (found.order) best_.order = narrowed.expand(std::move(*found.order));
    else if (found.bound > asked) refuted(asked);
    return found.order || found.bound > asked;
  }
  void refuted(bytes asked) {
    best_.lower_bound = std::max(best_.lower_bound, next_possible_peak(g_, asked + 1));
    bounds_->raise(best_.lower_bound);
  }

  static constexpr unsigned least_patience = 8, most_patience = 1u << 24;

  const close_gap& policy_;
  const schedule_graph& g_;
  search& context_;
  solution best_;
  std::optional<destructive_search<narrowing>> bounds_;
  unsigned patience_ = 0;
};

}  // namespace detail

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched::inline MEMSCHED_ABI {

MEMSCHED_FUNCTION solution cheap_bounds::operator()(const schedule_graph& g, search& context) const {
  solution s = best_heuristic{}(g, context);
  context.report(peak_of(g, s.order), context.floor());
  const auto go_on = [&] { return context.count_cut(); };
  s.lower_bound = std::max(context.floor(), g.base);
  if (g.active > max_nodes) return s;
  const auto cut = [&] { return best_cut_bound(g, s.order, s.lower_bound, go_on).bound; };
  s.lower_bound = context.with_share(0.1, cut);
  return s;
}

MEMSCHED_FUNCTION solution close_gap::improve(const schedule_graph& g, search& context, solution s) const {
  return detail::gap_closer(*this, g, context, std::move(s)).run();
}

MEMSCHED_FUNCTION solution close_gap::operator()(const schedule_graph& g, search& context) const {
  return improve(g, context, cheap_bounds{}(g, context));
}

}  // namespace memsched

#endif
