// What `automatic` does with a part of a graph: cheap orders first, then bounds, then exact search on what is left.
#pragma once

#include <cstdint>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// The order of `best_heuristic` with the bound of minimum cuts, no less than the context's floor. Cuts take a tenth of the
/// time that is left at most.
struct cheap_bounds {
  std::size_t max_nodes = 1 << 14;  ///< larger graphs are cut only while each cut raises the bound
  std::uint64_t patience = std::uint64_t{3} << 22;  ///< see `best_cut_bound`
  std::size_t worth_a_thread = 1000;                ///< smaller graphs are cut by one

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

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <optional>
#include <utility>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/bounds/layer_bound.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/presolve/narrowing.hpp>
#include <memsched/schedulers/beam.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/local_search.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

/// Raises the bound of a solution by layers (`best_layer_bound`), for a tenth of the time that is left at most.
inline void raise_by_layers(const schedule_graph& g, search& context, solution& s) {
  if (!context.keep_going() || is_closed(g, context, s)) return;
  const auto go_on = [&] { return context.count_cut() && context.spend(1 + g.size() / 64); };
  const auto raised = [&] { return best_layer_bound(g, s.order, s.lower_bound, go_on).bound; };
  s.lower_bound = context.with_share(0.1, raised);
  context.report(peak_of(g, s.order), s.lower_bound);
}

/// Active nodes from which on an order is lowered before a long exact search. For smaller parts that search does, or local
/// search from one start.
inline constexpr std::size_t worth_lowering = 200;

/// What suffices for most graphs, with so many states for each attempt: an exact search that small graphs need no more than,
/// and where that does not do, or beside it, local search from two starts. Where there is no time to spare, what is good
/// early comes first; each has a share of the time.
inline solution short_attempts(const schedule_graph& g, search& context, std::uint64_t states, solution s) {
  const auto attempt = [&](search& c, double share, std::uint64_t most, solution& t, auto&& f) {
    if (!is_closed(g, c, t) && !c.stopped()) t = c.with_share(share, [&] { return c.with_states(most, f); });
    c.report(peak_of(g, t.order), t.lower_bound);
  };
  const auto exact = [&](search& c, double share, std::uint64_t most, solution& t) {
    attempt(c, share, most, t, [&] { return best_first{}.improve(g, c, std::move(t)); });
  };
  const auto local = [&](search& c, double share, std::uint64_t most, solution& t) {
    attempt(c, share, most, t, [&] { return local_search{}.improve(g, c, std::move(t)); });
  };
  constexpr double seconds_a_state = 20e-6, seconds_a_step = 150e-6;  // of the exact search and of a beam; for most graphs
  constexpr double beam_share = 0.4;
  const bool pressed = context.seconds_left() < 2 * seconds_a_state * static_cast<double>(states);
  if (pressed) {
    exact(context, 0.1, states / 10, s);
    local(context, 0.8, 4 * states, s);
  }
  solution other = s;
  const auto search_all = [&](search& c) { return exact(c, 0.4, states, s), is_closed(g, c, s); };
  const auto search_near = [&](search& c) {
    if (!pressed && g.active >= worth_lowering) local(c, 0.5, states / 2, other);
    const std::uint64_t steps = beam{}.width * g.active;
    // What a beam did that did not end would be lost.
    const bool beam_ends =
        4 * steps <= states && seconds_a_step * static_cast<double>(steps) <= beam_share * c.seconds_left();
    if (pressed && !beam_ends) return;  // there is no other start
    solution from_beam = other;
    const auto take_beam = [&] {
      solution t{beam{}(g, c).order, other.lower_bound};
      return c.stopped() ? std::move(from_beam) : std::move(t);
    };
    // Local search from a beam's order leads further than from others, even from better ones, which were lowered before as
    // far as that leads.
    if (beam_ends) attempt(c, beam_share, states, from_beam, take_beam);
    local(c, 0.5, states, from_beam);
    take_if_better(g, std::move(from_beam.order), other);
  };
  if (is_closed(g, context, s) || context.stopped() || !context.beside(search_all, search_near)) return s;
  take_if_better(g, std::move(other.order), s);
  context.report(peak_of(g, s.order), s.lower_bound);
  return s;
}

/// The rounds of `close_gap`, between which better orders and bounds may come from elsewhere. The policy, the graph and the
/// context must outlive it.
class gap_closer {
 public:
  gap_closer(const close_gap& policy, const schedule_graph& g, search& context, solution s)
      : policy_(policy), g_(g), context_(context), best_(std::move(s)) {}

  /// One round: the short attempts, or one with twice the effort of the round before. False where there was no need of it,
  /// or more effort will help no more.
  bool round() {
    if (done()) return false;
    if (effort_ == 0) {
      effort_ = policy_.short_search;
      best_ = short_attempts(g_, context_, effort_, std::move(best_));
      return true;
    }
    const auto before = std::pair(peak(), best_.lower_bound);
    context_.report(peak(), best_.lower_bound);
    if (g_.size() <= policy_.max_probed) raise_bound(effort_);
    lower_peak(effort_);
    if (context_.stopped()) return false;  // the next call goes on with this effort
    effort_ *= 2;
    // More effort helps no more where the graph, or what a search remembers, is too large.
    const bool full = g_.active > best_first{}.max_nodes || context_.stats.memory >= context_.opts().memory_limit;
    return done() || !full || before != std::pair(peak(), best_.lower_bound);
  }
  /// Rounds until the gap is closed or a limit is met. False where more time will help no more.
  bool run() {
    while (round()) {
    }
    return context_.stopped();
  }

  const solution& best() const { return best_; }
  bool closed() const { return is_closed(g_, context_, best_); }
  /// Takes over an order where it is better, and a bound, which may be the context's floor.
  void take(const solution& s) {
    take_if_better(g_, s.order, best_);
    best_.lower_bound = std::max(best_.lower_bound, s.lower_bound);
    if (bounds_ && best_.lower_bound > context_.floor()) bounds_->raise(best_.lower_bound);
  }

 private:
  /// What an order must stay below to be of use.
  bytes peak() const { return std::min(peak_of(g_, best_.order), context_.ceiling()); }
  bool done() const { return closed() || context_.stopped(); }

  /// The first peak from a bound on that the sizes allow. A bound that is no more than the floor is left as it is: orders
  /// below the floor, which may exist, are as good as those that reach it.
  bytes lifted(bytes bound) { return bound > context_.floor() ? next_possible(bound) : bound; }
  bytes next_possible(bytes least) {
    if (!peaks_) {
      possible_peaks all(g_, [&] { return !context_.over(); });
      if (context_.over()) return least;
      peaks_ = std::move(all);
    }
    return peaks_->next(least);
  }

  /// Narrows the graph, and asks for an order that reaches the bound where this settles one; then narrows it with more
  /// patience. A higher bound starts with the least again.
  void raise_bound(std::uint64_t effort) {
    if (!bounds_) bounds_.emplace(g_, lifted(best_.lower_bound), narrowing(g_, context_));
    const auto go_on = [&] { return context_.count_cut_as_state(bounds_->bytes_held(), g_.size()); };
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
    const local_search windows{.states = std::max(local_search{}.states, effort / 128)};
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
    best_.lower_bound = std::max(best_.lower_bound, next_possible(asked + 1));
    bounds_->raise(best_.lower_bound);
  }

  static constexpr unsigned least_patience = 8, most_patience = 1u << 24;

  const close_gap& policy_;
  const schedule_graph& g_;
  search& context_;
  solution best_;
  std::optional<destructive_search<narrowing>> bounds_;
  std::optional<possible_peaks> peaks_;
  std::uint64_t effort_ = 0;
  unsigned patience_ = 0;
};

}  // namespace detail

MEMSCHED_FUNCTION solution cheap_bounds::operator()(const schedule_graph& g, search& context) const {
  solution s = best_heuristic{}(g, context);
  context.report(peak_of(g, s.order), context.floor());
  const auto go_on = [&] { return context.count_cut() && context.spend(1 + g.size() / 64); };
  s.lower_bound = std::max(context.floor(), g.base);
  const auto cut = [&] {
    const auto over = [&] { return context.over(); };
    const helpers who{g.active >= worth_a_thread ? context.team() : nullptr, over};
    return best_cut_bound(g, s.order, s.lower_bound, go_on, g.active > max_nodes ? 0 : patience, who).bound;
  };
  s.lower_bound = context.with_share(0.1, cut);
  return s;
}

MEMSCHED_FUNCTION solution close_gap::improve(const schedule_graph& g, search& context, solution s) const {
  detail::gap_closer rounds(*this, g, context, std::move(s));
  if (!rounds.run() && !rounds.closed()) context.give_up();
  return rounds.best();
}

MEMSCHED_FUNCTION solution close_gap::operator()(const schedule_graph& g, search& context) const {
  return improve(g, context, cheap_bounds{}(g, context));
}

}  // namespace memsched

#endif
