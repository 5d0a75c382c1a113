// The default scheduler.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Proves an order optimal where it can: heuristics and minimum cuts first, which suffice for many networks; rows in step
/// (`in_step`) where most nodes are rows; then the parts of the graph one by one, compressed. A large part is looked at
/// where its order is highest (`bottleneck`) and as a whole (`close_gap`), in turns; a very large one first there, with most
/// of the time that is left. Graphs that are large for the time there is get an order by rows in step or by local search
/// before anything else.
struct automatic_scheduler {
  solution operator()(const schedule_graph& g, search& context) const;
};

inline constexpr automatic_scheduler automatic{};

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstdint>
#include <utility>

#include <memsched/passes/compress.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/passes/in_step.hpp>
#include <memsched/schedulers/bottleneck.hpp>
#include <memsched/schedulers/close_gap.hpp>
#include <memsched/schedulers/in_turns.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

/// The better of two orders.
inline solution cheap_order(const schedule_graph& g, search& context) {
  solution s = as_given{}(g, context);
  s.lower_bound = std::max(context.floor(), g.base);
  if (context.keep_going()) take_if_better(g, greedy{}(g, context).order, s);
  return s;
}

/// Lowers an order by local search for this share of the time that is left.
inline solution lowered_locally(const schedule_graph& g, search& context, solution s, double share,
                                local_search policy = {}) {
  if (!context.keep_going()) return s;
  s = context.with_share(share, [&] { return policy.improve(g, context, std::move(s)); });
  context.report(peak_of(g, s.order), s.lower_bound);
  return s;
}

/// Lowers an order near its peak, for a few states.
inline solution near_peak(const schedule_graph& g, search& context, solution s) {
  const auto lower = [&] { return lowered_locally(g, context, std::move(s), 0.7, {.flatten = false}); };
  return context.with_states(std::min<std::uint64_t>(6000, 2 * g.active), lower);
}

/// Lowers an order where it is highest, and looks for no bound.
inline solution lowered_order(const schedule_graph& g, search& context, solution s) {
  return bottleneck{.efforts = 0, .bounds = false}.improve(g, context, std::move(s));
}

/// What does for a graph that leaves little to choose: a short exact search, which suffices for many, or else the order
/// lowered where it is highest.
struct quick_search {
  std::uint64_t states = 100;

  solution operator()(const schedule_graph& g, search& context) const {
    solution s = cheap_order(g, context);
    const auto all = [&] { return best_first{}.improve(g, context, std::move(s)); };
    s = context.with_states(states, all);
    if (is_closed(g, context, s)) return s;
    return lowered_order(g, context, std::move(s));
  }
};

/// Whether most nodes are rows: of networks cut in rows three in four or more follow another in step, of grids with random
/// edges at most one in two.
inline bool has_rows(const schedule_graph& g) { return 3 * in_step::edges(g).size() >= 2 * g.active; }

/// Gives s an order that runs rows in step, where that is better, in this share of the time that is left at most. Whether it
/// did.
inline bool take_in_step(const schedule_graph& g, search& context, solution& s, double share) {
  if (!context.keep_going()) return false;
  const bytes before = peak_of(g, s.order);
  const auto policy = in_step{} | divide{} | compress{} | quick_search{};
  const auto rows = [&] { return context.with_share(share, [&] { return policy(g, context); }); };
  take_if_better(g, context.with_floor(s.lower_bound, rows).order, s);
  context.report(peak_of(g, s.order), s.lower_bound);
  return peak_of(g, s.order) < before;
}

/// Whether less time is left than this for each node, and they are many. With less than 100 microseconds, compression and
/// cuts hardly get done: some passes over the graph take longer. With less than 10, nothing gets done but local search.
inline bool is_pressed(const schedule_graph& g, const search& context, double seconds_a_node) {
  return g.active > 400 && context.seconds_left() < seconds_a_node * static_cast<double>(g.active);
}

struct part_scheduler {
  bool rows_help;  // whether rows in step gave the whole a better order: then they may give a part one, compressed
  static constexpr std::size_t large = 400;                 // active nodes
  static constexpr std::uint64_t some = 600, many = 2000;   // states

  solution operator()(const schedule_graph& g, search& context) const {
    return g.active <= large ? small_part(g, context) : large_part(g, context);
  }

 private:
  /// States of a short exact search. Parts of most networks need no more.
  static std::uint64_t enough_for_most(const schedule_graph& g) { return 2 * g.active; }

  solution small_part(const schedule_graph& g, search& context) const {
    solution s = cheap_bounds{}(g, context);
    const auto all = [&] { return best_first{}.improve(g, context, std::move(s)); };
    if (!is_closed(g, context, s)) s = context.with_share(0.1, [&] { return context.with_states(enough_for_most(g), all); });
    if (rows_help && !is_closed(g, context, s)) take_in_step(g, context, s, 0.2);
    const auto lower = [&] { return lowered_order(g, context, std::move(s)); };
    if (g.active >= worth_lowering && !is_closed(g, context, s))
      s = context.with_share(0.2, [&] { return context.with_states(some, lower); });
    if (g.active >= worth_lowering || rows_help) raise_by_layers(g, context, s);
    return close_gap{}.improve(g, context, std::move(s));
  }

  solution large_part(const schedule_graph& g, search& context) const {
    solution s = cheap_order(g, context);
    if (rows_help) raise_by_layers(g, context, s);  // the order says which layers are asked
    const auto all = [&] { return best_first{}.improve(g, context, std::move(s)); };
    const bool rows = rows_help && !is_closed(g, context, s) && take_in_step(g, context, s, 0.2);
    s = rows ? context.with_states(many, all) : near_peak(g, context, std::move(s));
    raise_by_layers(g, context, s);
    if (g.size() <= close_gap{}.max_probed) return in_turns{}.improve(g, context, std::move(s));
    s = context.with_share(0.9, [&] { return bottleneck{}.improve(g, context, std::move(s)); });
    return close_gap{}.improve(g, context, std::move(s));
  }
};

}  // namespace detail

MEMSCHED_FUNCTION solution automatic_scheduler::operator()(const schedule_graph& g, search& context) const {
  const bool pressed = detail::is_pressed(g, context, 100e-6), very_pressed = detail::is_pressed(g, context, 10e-6);
  solution s = pressed ? detail::cheap_order(g, context) : cheap_bounds{}(g, context);
  if (is_closed(g, context, s) || context.stopped()) return s;
  const bool rows_help = detail::has_rows(g) && detail::take_in_step(g, context, s, pressed ? 0.9 : 0.2);
  if (pressed && !rows_help) s = detail::lowered_locally(g, context, std::move(s), very_pressed ? 1 : 0.7);
  if (is_closed(g, context, s) || context.stopped()) return s;
  const auto in_parts = compress{.share = 0.15} | detail::part_scheduler{rows_help};
  const bytes ceiling = std::min(peak_of(g, s.order), context.ceiling());
  const auto below = [&] { return context.with_ceiling(ceiling, [&] { return divide{}(g, context, in_parts); }); };
  solution t = context.with_floor(s.lower_bound, below);
  take_if_better(g, std::move(t.order), s);
  s.lower_bound = std::max(s.lower_bound, t.lower_bound);
  return s;
}

}  // namespace memsched

#endif
