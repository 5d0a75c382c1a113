// Orders and bounds of large graphs, found where an order is highest.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// For graphs of thousands to millions of operators. A peak is a maximum, so only the highest places of an order matter, and
/// they are mostly local. Cuts the graph along valleys and orders the blocks between them; then lowers the highest node of
/// the order by exact search of windows around it and bisection of wider ones, and raises the bound by cuts and closed
/// windows around the highest nodes, in turns, until the two meet or more effort finds nothing more. Bounds need a graph
/// that knows its resources. Linear but for the windows, in practice.
struct bottleneck {
  unsigned efforts = 8;  ///< how often what is spent on a window is doubled
  bool bounds = true;    ///< false: looks for orders alone

  solution operator()(const schedule_graph& g, search& context) const { return improve(g, context, greedy{}(g, context)); }
  /// A better order or a better bound than those of `s`, or s.
  solution improve(const schedule_graph& g, search& context, solution s) const;
};

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/crew.hpp>
#include <memsched/bounds/closed_window.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/bounds/windowed_cut.hpp>
#include <memsched/graph/induced_subgraph.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/valleys.hpp>
#include <memsched/schedulers/bisect.hpp>
#include <memsched/schedulers/close_gap.hpp>
#include <memsched/schedulers/local_search.hpp>
#include <memsched/schedulers/lower_stretch.hpp>
#include <memsched/structure/line.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

/// The work of `bottleneck`, which may be stopped and goes on, and between whose pieces better orders and bounds may come
/// from elsewhere. The graph and the context must outlive it.
class bottleneck_search {
 public:
  bottleneck_search(const bottleneck& policy, const schedule_graph& g, search& context, solution s)
      : policy_(policy),
        g_(g),
        context_(context),
        line_(g, s.order),
        best_(std::move(s)),
        local_(1, std::vector<node_id>(g.size(), none)),
        bound_(std::max({best_.lower_bound, context.floor(), g.base, static_cast<bytes>(line_.level(line_.size()))})),
        unit_(peak_unit(g)) {
    bone_ = backbone(g.preds, g.succs, line_.nodes(0, line_.size()));
  }

  /// Goes on where it was, until the gap is closed, the effort is used up or a limit is met. False where more time will help
  /// no more.
  bool run() {
    if (!std::exchange(started_, true)) start();
    while (!done() && effort_ <= policy_.efforts) {
      const auto before = std::pair(line_.peak(), bound_);
      context_.report(line_.peak(), bound_);
      lower_highest(effort_);
      if (policy_.bounds && !done()) raise_by_cuts(std::size_t{1000} << effort_);
      if (policy_.bounds && !done()) raise_by_windows(effort_);
      if (before == std::pair(line_.peak(), bound_) && !context_.stopped()) ++effort_;
    }
    if (line_.peak() < peak_of(g_, best_.order)) best_.order = line_.order();
    best_.lower_bound = std::max(best_.lower_bound, std::min(bound_, peak_of(g_, best_.order)));
    return bound_ < ceiling(context_) && effort_ <= policy_.efforts;
  }

  const solution& best() const { return best_; }
  bool closed() const { return is_closed(g_, context_, best_); }
  /// Takes over an order where it is better, and a bound.
  void take(const solution& s) {
    bound_ = std::max(bound_, s.lower_bound);
    if (peak_of(g_, s.order) >= line_.peak()) return;
    line_ = order_line(g_, s.order);
    best_.order = s.order;
  }

 private:
  using blocks = std::vector<std::vector<node_id>>;
  static constexpr std::size_t max_flattened = std::size_t{1} << 15;  ///< nodes

  /// What an order must stay below to be of use.
  bytes ceiling(const search& c) const { return std::min(line_.peak(), c.ceiling()); }
  bool done() const { return bound_ >= ceiling(context_) || context_.stopped(); }
  bytes gap() const { return line_.peak() - std::min(bound_, line_.peak()); }
  /// A peak at this share of the gap above the bound, below the order's own.
  bytes aim(bytes numerator, bytes denominator) const {
    return bound_ + std::min(gap() / denominator * numerator + gap() % denominator * numerator / denominator,
                             gap() - std::min(gap(), unit_));
  }

  void start() {
    const std::vector<index_t> ends = order_blocks();
    if (policy_.bounds && !done()) raise_by_cuts(0);
    if (!done()) lower_blocks(ends);
  }

  // Orders.

  /// Lays the line out block by block, where that is better; returns the positions where blocks end.
  std::vector<index_t> order_blocks() {
    const auto go_on = [&] { return context_.keep_going(); };
    blocks best = valley_blocks(line_, bone_, go_on);
    std::vector<node_id> order = in_blocks(best);
    const bool several_strands = std::any_of(best.begin(), best.end(), [](const auto& b) { return b.size() > 1000; });
    if (several_strands && go_on()) {
      blocks slices = slice_blocks(line_, go_on);
      std::vector<node_id> other = in_blocks(slices);
      if (peak_of(g_, other) < peak_of(g_, order)) best = std::move(slices), order = std::move(other);
    }
    std::vector<index_t> ends;
    if (peak_of(g_, order) > line_.peak() &&
        std::any_of(best.begin(), best.end(), [&](const auto& b) { return b.size() > g_.size() / 2; }))
      return ends;
    line_ = order_line(g_, order);
    index_t end = 0;
    for (const auto& block : best) {
      for (node_id v : block)
        if (!g_.is_release(v)) end = std::max(end, line_.position(v));
      if (const auto legal = static_cast<index_t>(line_.legal_from(end + std::size_t{1}));
          ends.empty() || legal > ends.back())
        ends.push_back(legal);
    }
    return ends;
  }
  /// Each block in the line's order or a greedy one.
  std::vector<node_id> in_blocks(const blocks& chain) {
    std::vector<node_id> order;
    order.reserve(g_.active);
    delta level = static_cast<delta>(g_.base);
    for (const std::vector<node_id>& block : chain) {
      std::vector<node_id> members = block;
      std::sort(members.begin(), members.end());
      const schedule_graph part = induced_subgraph(g_, members, static_cast<bytes>(level), local_.front());
      solution s{order_within(g_, members, block)};
      if (context_.keep_going()) take_if_better(part, greedy{}(part, context_).order, s);
      for (node_id v : s.order) order.push_back(members[v]);
      for (node_id v : block) level += g_.cost[v].impact;
    }
    return order;
  }

  /// Lowers the blocks to falling aims, highest first, until one stays above. Blocks do not hang on each other: threads
  /// share those above an aim.
  void lower_blocks(const std::vector<index_t>& ends) {
    constexpr std::size_t group = 16;
    const auto start_of = [&](std::size_t i) -> std::size_t { return i == 0 ? 0 : ends[i - 1]; };
    const auto height_of = [&](std::size_t i) { return line_.highest_in(start_of(i), ends[i]); };
    while (!done()) {
      const bytes goal = aim(3, 5);
      std::vector<std::pair<delta, std::size_t>> high;
      for (std::size_t i = 0; i < ends.size(); ++i)
        if (const delta height = height_of(i); static_cast<bytes>(height) > goal) high.emplace_back(height, i);
      std::sort(high.rbegin(), high.rend());
      crew* const team = context_.team();
      local_.resize(std::max(local_.size(), threads_of(team)), std::vector<node_id>(g_.size(), none));
      const auto over = [&] { return context_.over(); };
      std::size_t begin = 0;
      const auto ask = [&](std::size_t k, std::size_t member) {
        const std::size_t i = high[begin + k].second, first = start_of(i), last = ends[i];
        search c = context_.branch(context_.opts().stop);
        const std::uint64_t states = states_of_block();
        auto order = c.with_states(states, [&] {
          auto lowered = lower_stretch(g_, line_, first, last, goal, 400, c, local_[member]);
          return lowered ? lowered : bisect_between(first, last, goal, c, local_[member]);
        });
        return block_order{std::move(order), std::move(c), states};
      };
      const auto use = [&](std::size_t k, auto&& asked) {
        if (!context_.keep_going()) return false;
        block_order found = asked();
        if (!found.context || found.states != states_of_block()) found = ask(k, 0);  // not asked, or with more left
        const std::size_t i = high[begin + k].second;
        replace(start_of(i), found.order);
        context_.absorb(*found.context);
        if (found.context->reason() == stop_reason::memory_limit) context_.out_of_memory();
        return static_cast<bytes>(height_of(i)) <= goal;
      };
      if (high.empty()) return;
      for (; begin < high.size(); begin += group)
        if (!ask_ahead({team, over}, std::min(group, high.size() - begin), ask, use)) return;
    }
  }
  /// What came of a block: a better order, and what it took to find.
  struct block_order {
    std::optional<std::vector<node_id>> order{};
    std::optional<search> context{};
    std::uint64_t states = 0;  ///< that it might have
  };
  /// Far more than a block takes. A search that has more states than that before a limit gives each the same.
  std::uint64_t states_of_block() const { return std::min(context_.states_left(), std::uint64_t{1} << 16); }

  /// Lowers the highest node, then the next, to falling aims; until one stays above.
  void lower_highest(unsigned effort) {
    while (!done()) {
      const bytes goal = aim(3, 4);
      while (line_.peak() > goal) {
        if (!context_.keep_going()) return;
        if (!lower_around(line_.highest(), goal, effort) && !lower_all_along(effort)) return;
        context_.report(line_.peak(), bound_);
      }
    }
  }
  bool lower_around(std::size_t at, bytes goal, unsigned effort) {
    const std::uint64_t states = std::uint64_t{400} << effort;
    for (std::size_t width : {40u, 80u, 160u, 320u})
      for (std::size_t quarter : {2u, 1u, 3u}) {
        const std::size_t before = width * quarter / 4;
        const std::size_t first = at - std::min(at, before);
        if (replace(first, lower_stretch(g_, line_, first, first + width, goal, states, context_, local_.front()))) return true;
        if (context_.stopped()) return false;
      }
    for (std::size_t width = 640; width <= std::size_t{640} << std::min(effort, 3u); width *= 2) {
      const std::size_t first = at - std::min(at, width / 2);
      if (replace(first, bisect_between(first, at + width / 2, goal, context_, local_.front()))) return true;
    }
    return false;
  }

  /// Lowers windows all along the order, which may open a way at the peak, where that is far above the bound: near it, bounds
  /// are what is missing. Whether the peak fell.
  bool lower_all_along(unsigned effort) {
    if (g_.active > max_flattened || gap() <= bound_ / 16 || done()) return false;
    const bytes before = line_.peak();
    solution s{line_.order(), bound_};
    const auto lower = [&] { return local_search{}.improve(g_, context_, std::move(s)); };
    s = context_.with_states(std::uint64_t{5000} << effort, lower);
    if (peak_of(g_, s.order) < before) line_ = order_line(g_, s.order);
    return line_.peak() < before;
  }

  bool replace(std::size_t first, const std::optional<std::vector<node_id>>& order) {
    if (order) line_.replace(line_.legal_from(first), *order);
    return order.has_value();
  }
  std::optional<std::vector<node_id>> bisect_between(std::size_t first, std::size_t last, bytes goal, search& c,
                                                     std::vector<node_id>& local) const {
    return change_stretch(g_, line_, first, last, c, local,
                          [&](const schedule_graph& part, const std::vector<node_id>& order, bytes) {
                            return bisect{}.improve(part, c, order, goal);
                          });
  }

  // Bounds.

  /// Cuts for the highest node of each stretch, highest first; then for so many of the nodes that are higher than the bound.
  void raise_by_cuts(std::size_t others) {
    if (g_.resources.empty()) return;
    const live_index live(line_);
    crew* const team = context_.team();
    std::vector<windowed_cut> cuts(threads_of(team), windowed_cut(line_, live, bone_));
    if (!raise_at(line_.heights(), cuts, team) || done() || others == 0) return;
    std::vector<index_t> high;
    for (index_t i = 0; i < line_.size(); ++i)
      if (static_cast<bytes>(line_.height(i)) > bound_ && !g_.is_release(line_.at(i))) high.push_back(i);
    const std::size_t most = std::min(high.size(), others);
    std::partial_sort(high.begin(), high.begin() + static_cast<std::ptrdiff_t>(most), high.end(),
                      [&](index_t a, index_t b) { return std::pair(-line_.height(a), a) < std::pair(-line_.height(b), b); });
    high.resize(most);
    raise_at(high, cuts, team);
  }
  /// Cuts for the nodes in some positions, highest first, up to one that is not above the bound, or until the patience of
  /// this effort is over; in groups, so that threads may share them. False where a limit ended it.
  bool raise_at(const std::vector<index_t>& positions, std::vector<windowed_cut>& cuts, crew* team) {
    constexpr std::size_t group = 32;
    const auto over = [&] { return context_.over(); };
    const std::size_t patience = std::size_t{128} << effort_;
    bool more = true;
    std::size_t in_vain = 0;
    for (std::size_t first = 0, end = 0; more && in_vain < patience && first < positions.size(); first = end) {
      end = std::min(positions.size(), first + group);
      const auto ask = [&, known = bound_](std::size_t k, std::size_t member) {
        return bound_around(cuts[member], positions[first + k], known);
      };
      const auto use = [&](std::size_t k, auto&& bound) {
        more = static_cast<bytes>(line_.height(positions[first + k])) > bound_;
        if (!more || done() || !context_.count_cut_as_state(0, 600)) return false;
        const bytes b = bound();
        in_vain = b > bound_ ? 0 : in_vain + 1;
        raise(b);
        return true;
      };
      if (!ask_ahead({team, over}, end - first, ask, use)) break;
    }
    return !context_.stopped();
  }
  /// The bound by cuts of the node in position i, in wider stretches while their slack may hide one above `known`.
  bytes bound_around(windowed_cut& cut, std::size_t i, bytes known) const {
    bytes bound = 0;
    if (g_.is_release(line_.at(i))) return bound;
    for (std::size_t reach = 300;; reach *= 2) {
      const auto [a, b] = line_.around(i, reach);
      const auto r = cut.at(line_.at(i), a, b);
      bound = std::max(bound, r.bound);
      const bytes slack = r.slack_before + r.slack_behind;
      if (slack == 0 || r.bound + slack <= std::max(bound, known) || reach >= 2400 || (a == 0 && b == line_.size()))
        return bound;
    }
  }
  /// Takes over that no order has a peak below b, or that none has that is not below the floor. Peaks differ from the base
  /// by multiples of a unit, to the next of which a bound is lifted: but not the floor itself, below which there may be
  /// orders.
  void raise(bytes b) {
    if (b > bound_) bound_ = peak_grid(g_.base, unit_).up(b);
  }

  /// Closed windows around the highest node. Of two that follow each other the wider one counts where the other does not
  /// help.
  void raise_by_windows(unsigned effort) {
    if (g_.resources.empty()) return;
    const live_index live(line_);
    constexpr std::array<std::size_t, 4> reaches{100, 200, 400, 800};
    for (std::size_t i = 0; i < reaches.size() && !done();) {
      window_bound one, next;
      const auto narrow = [&](search& c) {
        one = bound_by_window(live, reaches[i], effort, c);
        return one.bound > bound_ || one.whole;
      };
      const auto wide = [&](search& c) { next = bound_by_window(live, reaches[i + 1], effort, c); };
      const bool both = i + 1 < reaches.size() ? context_.beside(narrow, wide) : (narrow(context_), false);
      if (!both) next = {};
      raise(std::max(one.bound, next.bound));
      if (one.whole || next.whole) return;
      i += both ? 2 : 1;
    }
  }
  struct window_bound {
    bytes bound = 0;
    bool whole = false;  ///< the window is the whole graph
  };
  /// What a window that reaches so far proves, by cuts and by solving it to rising aims; no less than the bound so far.
  window_bound bound_by_window(const live_index& live, std::size_t reach, unsigned effort, search& c) const {
    const bytes peak = ceiling(c);  // not of context_: beside c, the other window sets bounds of its own
    window_bound known{bound_};
    const auto raise = [&](bytes b) {
      if (b > known.bound) known.bound = peak_grid(g_.base, unit_).up(b);
    };
    const auto open = [&] { return known.bound < peak && !c.stopped(); };
    const auto go_on = [&] { return c.count_cut_as_state(0, 2 * reach); };
    const auto [a, b] = windowed_cut(line_, live, bone_).best_ends(line_.highest(), reach, go_on, raise);
    if (!open()) return known;
    const auto window = close_window(line_, live, bone_, a, b);
    if (!window) return known;
    known.whole = a == 0 && b == line_.size();
    const std::uint64_t states = std::uint64_t{500} << effort;
    for (bool more = true; more && open();) {
      const bytes before = known.bound, goal = std::max(before + unit_, peak - (peak - before) * 3 / 4);
      const solution s = c.aside([&] { return solve(*window, before, goal, states, c); });
      raise(std::min(window->lowered(s.lower_bound), goal));
      more = known.bound >= goal && known.bound > before;
    }
    return known;
  }
  /// Whether a window has an order below `goal`: its bound is at least the goal where it has none. `bound` is known.
  static solution solve(const closed_window& w, bytes bound, bytes goal, std::uint64_t states, search& c) {
    const auto bounds_of = [&] {
      return c.with_states(states, [&] { return compress{}(w.graph, c, close_gap{.short_search = states / 4}); });
    };
    return c.with_bounds(std::max(bound + w.lift, w.graph.base), goal + w.lift, bounds_of);
  }

  bottleneck policy_;
  const schedule_graph& g_;
  search& context_;
  order_line line_;
  solution best_;  // so far: the line itself may be higher for a while
  backbone bone_;
  std::vector<std::vector<node_id>> local_;  // scratch of each thread
  bytes bound_, unit_;
  unsigned effort_ = 0;
  bool started_ = false;
};

}  // namespace detail

MEMSCHED_FUNCTION solution bottleneck::improve(const schedule_graph& g, search& context, solution s) const {
  if (g.active == 0 || !context.keep_going()) return s;
  detail::bottleneck_search turns(*this, g, context, std::move(s));
  turns.run();
  return turns.best();
}

}  // namespace memsched

#endif
