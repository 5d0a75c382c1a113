// Stages that raise the bound of a part, and exact searches for an order just above it.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/crew.hpp>
#include <memsched/bounds/closed_window.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/folding.hpp>
#include <memsched/bounds/peak_cuts.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/schedulers/automatic/part_search.hpp>
#include <memsched/schedulers/both_ends.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/release_search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// One minimum cut for each node, the highest of the incumbent first.
inline bool part_search::cut_nodes() {
  const auto over = [&] { return context_.control().over(); };
  crew* const team = g_.active >= 1000 ? context_.control().team() : nullptr;  // smaller graphs do not pay for a thread
  const auto go_on = [&] { return context_.control().count_cut(); };
  const auto best = best_cut_bound(g_, order_, from(), go_on, slice_ * search_control::visits_of_a_unit, {team, over});
  if (best.v != none) raise(best.bound);
  context_.control().spend_visits(best.work);
  return context_.stopped() || best.gave_up;
}

/// Minimum cuts for the first and the last members of layers. The incumbent says which layers are asked.
inline bool part_search::cut_layers() {
  if (!layers_) layers_.emplace(g_);
  const auto go_on = [&] { return context_.control().count_cut(); };
  const auto best = layers_->run(order_, from(), go_on, slice_ * search_control::visits_of_a_unit);
  if (!best.members.empty()) raise(best.bound);
  context_.control().spend_visits(best.work);
  const bool more = facts_.rows || context_.stopped() || best.gave_up;
  if (!more) layers_.reset();
  return more;
}

/// Cuts over stretches of the line around its highest positions; more of them from turn to turn.
inline bool part_search::cut_near_peak() {
  constexpr unsigned most_effort = 8;
  const auto over = [&] { return context_.control().over(); };
  const auto known = [&] { return from(); };
  const auto go_on = [&] { return !done() && context_.control().count_cut(); };
  const auto raises_bound = [&](bytes bound, std::uint64_t visits) {
    const bytes before = bound_;
    raise(bound);
    context_.control().spend(1 + visits / search_control::visits_of_a_unit);
    return bound_ > before;
  };
  order_line& l = line();
  peak_cuts cuts(l, bone(), {context_.control().team(), over});
  cut_effort_ = std::min(cut_effort_, most_effort);  // once more if it ended at another peak
  while (!done() && cut_effort_ <= most_effort && cuts.run(cut_effort_, known, go_on, raises_bound)) ++cut_effort_;
  return cut_effort_ <= most_effort;
}

/// Closed windows around the highest position, with more work for each from turn to turn. Of two that follow each other the
/// wider one counts if the other does not help.
inline bool part_search::close_windows() {
  constexpr unsigned most_effort = 8;
  constexpr std::array<std::size_t, 4> reaches{100, 200, 400, 800};
  line();
  bone();
  const live_index live(*line_);
  window_effort_ = std::min(window_effort_, most_effort);
  for (; !done() && window_effort_ <= most_effort; window_effort_ += !context_.stopped())
    for (std::size_t i = 0; i < reaches.size() && !done();) {
      window_bound one, next;
      const auto narrow = [&](search& c) {
        one = bound_by_window(live, reaches[i], c);
        return one.bound > bound_ || one.whole;
      };
      const auto wide = [&](search& c) { next = bound_by_window(live, reaches[i + 1], c); };
      const bool two = i + 1 < reaches.size() ? context_.control().beside(narrow, wide) : (narrow(context_), false);
      if (!two) next = {};
      raise(std::max(one.bound, next.bound));
      if (one.whole || next.whole) break;
      i += two ? 2 : 1;
    }
  return window_effort_ <= most_effort;
}

/// The bound that a window of this reach proves, by cuts and by solving it for rising aims; at least the bound so far.
inline part_search::window_bound part_search::bound_by_window(const live_index& live, std::size_t reach, search& c) {
  const bytes peak = std::min(line_->peak(), query_.cutoff), start = from();
  window_bound known{bound_};
  const auto raise = [&](bytes b) {
    if (b > known.bound) known.bound = peak_grid(g_.base, grid_).up(b);
  };
  bytes most = peak;  // that the window may bound
  const auto open = [&] { return std::max(known.bound, start) < most && !c.stopped(); };
  const auto go_on = [&] { return c.control().count_cut_as_state(0, 16 * reach); };
  const std::size_t at = line_->highest();
  const auto [a, b] = windowed_cut(*line_, live, *bone_).best_ends(at, reach, go_on, raise);
  if (!open()) return known;
  const auto window = close_window(*line_, live, *bone_, a, b, line_->at(at));
  known.whole = a == 0 && b == line_->size();
  const bool closes = g_.size() > most_closed && g_.size() <= compression_rules{}.max_closure;
  if (!window || (known.whole && closes)) return known;  // `closed` solves the whole
  most = std::min(most, line_->peak() - std::min(window->slack, line_->peak()));
  const std::uint64_t work = std::uint64_t{500} << window_effort_;
  for (bool more = true; more && open();) {
    const bytes before = std::max(known.bound, start);
    const bytes goal = std::min(most, std::max(before + grid_, peak - (peak - before) / 2));
    const query q{std::max(before + window->lift, window->graph.base), goal + window->lift};
    const auto solve = [&](const schedule_graph& h, search&) {
      part_search inner(h, c, {.window = true}, greedy{}(h, c).order, work / 8);
      inner.run(q);
      return solution{inner.order(), inner.bound()};
    };
    const solution s =
        c.control().aside([&] { return c.control().with_work(work, [&] { return compress{}(window->graph, c, solve); }); });
    raise(std::min(window->lowered(s.lower_bound), goal));
    more = known.bound >= goal && known.bound > before;
  }
  return known;
}

/// The first peak from `least` on that the sizes allow.
inline bytes part_search::next_possible(bytes least) {
  if (!possible_) {
    possible_peaks all(g_, [&] { return !context_.control().over(); });
    if (context_.control().over()) return least;
    possible_ = std::move(all);
  }
  return possible_->next(least);
}

/// A part with nodes folded into those that they feed, and a search of its releases.
struct part_search::releases {
  bounds::folding form;
  static constexpr delta all_light = std::numeric_limits<delta>::max();
  delta most_light = all_light;
  std::optional<release_search> search{};
  work_growth growth{};
  std::uint64_t work = 0;
};

/// Searches the releases, with fewer light nodes each time that the order that was found takes more than the bound. Ends if its
/// bound stays further below the best one than that is below the peak.
inline bool part_search::search_releases() {
  constexpr std::uint64_t enough = 4 * unit;
  constexpr std::size_t most_nodes = 1024;  // of larger graphs its bound stays behind those of cuts
  if (!releases_) releases_ = std::make_shared<releases>(releases{bounds::fold(g_)});
  releases& r = *releases_;
  const schedule_graph& h = r.form.graph;
  if (h.size() > most_nodes) return false;
  while (!done()) {
    // The first search begins below the known bound, so that its own shows how far it has got.
    if (!r.search) r.search.emplace(h, context_, r.most_light, r.most_light == r.all_light ? 0 : from(), below());
    const std::uint64_t before = context_.control().work();
    const auto found = r.search->run(below());
    const std::uint64_t work = context_.control().work() - before;
    if (found.bound > r.search->from()) raise(found.bound);
    if (!found.order) {
      r.work += work;
      again_ = r.growth.expected(static_cast<double>(work), found.bound, below(), grid_) < expected_soon;
      const bool behind = r.work > enough && found.bound + below() < 2 * from();
      const bool more = context_.stopped() && !behind && has_room(r.search->bytes_held());
      if (!more) r.search.reset();
      return more;
    }
    const std::vector<node_id> order = r.form.expand(g_, *found.order);
    take(order);
    if (!done()) take(lowered_locally({}, order));
    const auto next = r.search->next_most_light(*found.order, found.bound);
    r.search.reset();
    if (!next) return false;
    r.most_light = *next;
  }
  return true;
}

/// Narrows the graph for peaks between the bound and the incumbent (`narrowing`), which refutes some. If nothing more is
/// refuted, asks for an order that reaches the bound; then narrows with more patience.
inline bool part_search::probe() {
  constexpr unsigned least_patience = 8, most_patience = 1U << 24;
  if (!narrowed_) narrowed_.emplace(g_, from(), narrowing(g_, context_));
  const auto go_on = [&](std::uint64_t visits) {
    return context_.control().count_cut_as_state(narrowed_->bytes_held(), visits);
  };
  for (bytes asked = 0; !done();) {
    const bytes before = narrowed_->bound();
    const bool settled = narrowed_->run(below(), patience_, go_on);
    if (narrowed_->bound() > before) {
      raise(next_possible(narrowed_->bound()));
      patience_ = std::min(patience_, least_patience);
    }
    if (done() || !settled) break;
    if (asked != narrowed_->bound()) {
      asked = narrowed_->bound();
      if (decide(asked, slice_ / 2)) continue;
    }
    if (patience_ >= most_patience) return false;
    patience_ = std::max(least_patience, 2 * patience_);
  }
  return true;
}

/// Looks for an order just below the incumbent, on a graph narrowed for that.
inline bool part_search::search_below() {
  if (narrowed_ && below() > 0) decide(below() - 1, slice_);
  return true;
}

/// Looks for an order with a peak of at most `asked`, on a graph narrowed for that. Returns whether that was decided.
inline bool part_search::decide(bytes asked, std::uint64_t states) {
  const narrowing& narrow = narrowed_->known_up_to(asked);
  auto found =
      context_.control().aside([&] { return both_ends{}.between(narrow.graph(), context_, asked, asked + 1, states); });
  if (found.order) {
    take(narrow.expand(std::move(*found.order)));
  } else if (found.bound > asked) {
    raise(next_possible(asked + 1));
  }
  return found.order || found.bound > asked;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
