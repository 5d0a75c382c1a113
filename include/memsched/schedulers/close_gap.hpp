// What `automatic` does with a part of a graph: cheap orders first, then bounds, then exact search on what is left.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <memsched/analysis/bounds.hpp>
#include <memsched/analysis/probe.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/probe.hpp>
#include <memsched/schedulers/beam.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/local_search.hpp>

namespace memsched {

/// The order of `best_heuristic` with the bound of minimum cuts, no less than the context's floor.
struct cheap_bounds {
  solution operator()(const schedule_graph& g, search& context) const {
    solution s = best_heuristic{}(g, context);
    context.report(peak_of(g, s.order), context.floor());
    const auto go_on = [&] { return ++context.stats.cuts, context.keep_going(); };
    s.lower_bound = best_cut_bound(g, s.order, std::max(context.floor(), g.base), go_on).bound;
    return s;
  }
};

/// Closes the gap between an order and a bound on a graph that is no longer divided, in rounds of growing effort:
/// probing and shaving (see `prober`, `shaver`), which prove a bound or narrow the graph, then a search of the narrowed
/// graph for an order just below the best so far, then local search.
struct close_gap {
  std::uint64_t short_search = 20000;  ///< states before anything else is tried
  std::size_t max_probed = 8192;       ///< nodes, releases included; larger graphs are searched without probing

  solution operator()(const schedule_graph& g, search& context) const;
};

namespace detail {

/// What suffices for most graphs, with so many states for each attempt.
inline solution short_attempts(const schedule_graph& g, search& context, std::uint64_t states) {
  solution s = cheap_bounds{}(g, context);
  const auto done = [&] { return s.lower_bound >= peak_of(g, s.order) || context.stopped(); };
  if (!done()) s = context.with_states(states, [&] { return best_first{}.improve(g, context, std::move(s)); });
  if (done()) return s;
  if (solution b = beam{}(g, context); peak_of(g, b.order) < peak_of(g, s.order)) s.order = std::move(b.order);
  if (!done()) s = context.with_states(states, [&] { return local_search{}.improve(g, context, std::move(s)); });
  return s;
}

class gap_closer {
 public:
  gap_closer(const close_gap& policy, const schedule_graph& g, search& context)
      : policy_(policy), g_(g), context_(context), best_(short_attempts(g, context, policy.short_search)),
        bound_(g, best_.lower_bound) {}

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
  bytes peak() const { return peak_of(g_, best_.order); }
  bool done() const { return best_.lower_bound >= peak() || context_.stopped(); }
  void take_if_better(std::vector<node> order) {
    if (peak_of(g_, order) < peak()) best_.order = std::move(order);
  }

  /// Probes; then asks for orders close above the bound that this gives. What is refuted is the new bound, and the next
  /// question goes further.
  void raise_bound(std::uint64_t effort) {
    const auto go_on = [&] {
      return ++context_.stats.cuts, context_.count_state() && context_.fits(bound_.bytes_held());
    };
    const auto settled = [&] { return bound_.unrefuted() == bound_.bound(); };
    const bool known = settled();
    context_.with_states(effort, [&] { return bound_.run(peak(), go_on), 0; });
    if (!known && settled()) step_ = 0;  // often the optimum
    best_.lower_bound = std::max(best_.lower_bound, next_possible_peak(g_, bound_.bound()));
    const unsigned patience = static_cast<unsigned>(4 * effort / policy_.short_search);
    for (bool answered = true; answered && !done() && bound_.unrefuted();) {
      const bytes asked = std::min(peak() - 1, best_.lower_bound + step_);
      answered = decide(asked, asked <= *bound_.unrefuted() ? bound_.edges() : bound_.edges_below_peak(), effort, patience);
      step_ = answered ? std::max(2 * step_, (peak() - best_.lower_bound) / 4) : step_ / 4;
    }
  }

  void lower_peak(std::uint64_t effort) {
    const local_search windows{.states = effort / 32};
    if (!done()) best_ = context_.with_states(2 * effort, [&] { return windows.improve(g_, context_, std::move(best_)); });
    if (!done()) decide(peak() - 1, bound_.edges_below_peak(), effort, 0);
  }

  /// Looks for an order with a peak of at most `asked` among those that keep `edges`, as all such orders do. False where it
  /// gave up.
  bool decide(bytes asked, std::span<const precedence> edges, std::uint64_t effort, unsigned patience) {
    const auto look = [&](const schedule_graph& h, search&) {
      auto found = best_first{}.between_from_both_ends(h, context_, asked, asked + 1, effort);
      return found.order ? solution{std::move(*found.order), asked} : solution{as_given{}(h, context_).order, found.bound};
    };
    const auto narrow = [&](const schedule_graph& h, search&) {
      const probe narrowing{.patience = patience, .max_nodes = policy_.max_probed, .max_cuts = 2 * effort};
      return narrowing.up_to(asked, h, context_, look);
    };
    solution s = context_.aside([&] { return compress{}(with_edges(g_, edges), context_, narrow); });
    const bool found = peak_of(g_, s.order) <= asked, refuted = s.lower_bound > asked;
    take_if_better(std::move(s.order));
    if (refuted) best_.lower_bound = std::max(best_.lower_bound, next_possible_peak(g_, asked + 1));
    return found || refuted;
  }

  const close_gap& policy_;
  const schedule_graph& g_;
  search& context_;
  solution best_;
  destructive_search bound_;
  bytes step_ = 0;  // from the bound to the next peak to ask for
};

}  // namespace detail

inline solution close_gap::operator()(const schedule_graph& g, search& context) const {
  return detail::gap_closer(*this, g, context).run();
}

}  // namespace memsched
