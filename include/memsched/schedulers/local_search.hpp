// Local search on orders: exact re-optimization of windows.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <memsched/graph/subgraph.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// Takes a stretch of an order, a window, and looks for an order of the same nodes with a smaller peak. Windows around the
/// first peak of the whole order come first, wider and wider ones; where they help no more, windows all along it, whose own
/// peaks are lowered, which may open a way at the peak. Any success there starts over. Claims no bound of its own.
struct local_search {
  std::size_t min_window = 24, max_window = 400;
  std::uint64_t states = 400;  ///< for one window, at the smallest width
  bool flatten = true;         ///< windows beside the peak too

  solution operator()(const schedule_graph& g, search& context) const { return improve(g, context, greedy{}(g, context)); }
  /// A better order than `s`, or s.
  solution improve(const schedule_graph& g, search& context, solution s) const;
};

namespace detail {

class window_search {
 public:
  window_search(const schedule_graph& g, search& context, std::vector<node> order)
      : g_(g), context_(context), order_(std::move(order)), local_(g.size(), none) {}

  bytes peak() const { return peak_of(g_, order_); }
  std::vector<node> take() { return std::move(order_); }

  /// Tries windows that hold the first peak; true where one of them is lower now.
  bool lower_at_peak(std::size_t width, std::uint64_t states) {
    const delta peak = static_cast<delta>(this->peak());
    walk w(g_);
    std::size_t at = 0;
    while (at < order_.size() && w.level() + w.effect(order_[at]).peak < peak) w.fire(order_[at++]);
    for (std::size_t quarter : {2u, 1u, 3u, 0u}) {
      const std::size_t before = width * quarter / 4;
      if (lower(at > before ? at - before : 0, width, states)) return true;
      if (context_.stopped()) return false;
    }
    return false;
  }

  /// Tries windows all along the order; true where one of them is lower now.
  bool lower_anywhere(std::size_t width, std::uint64_t states) {
    bool any = false;
    for (std::size_t first = 0; first < order_.size() && !context_.stopped(); first += width / 2)
      any |= lower(first, width, states);
    return any;
  }

 private:
  bool lower(std::size_t first, std::size_t width, std::uint64_t states) {
    const std::size_t last = std::min(order_.size(), first + width);
    std::vector<node> members(order_.begin() + static_cast<std::ptrdiff_t>(first),
                              order_.begin() + static_cast<std::ptrdiff_t>(last));
    walk w(g_);
    for (std::size_t i = 0; i < first; ++i) w.fire(order_[i]);
    const bytes base = static_cast<bytes>(w.level());
    std::vector<node> releases;
    delta highest = 0;
    for (node v : members) {
      highest = std::max(highest, w.level() + w.effect(v).peak);
      for (node r : g_.succs[v])
        if (g_.is_release(r) && w.waits(r) == 1) releases.push_back(r);
      w.fire(v);
    }
    const bytes peak = static_cast<bytes>(highest);
    if (peak <= base) return false;
    std::sort(members.begin(), members.end());
    std::sort(releases.begin(), releases.end());
    members.insert(members.end(), releases.begin(), releases.end());
    const schedule_graph part = subgraph(g_, members, base, local_);

    const auto below_peak = [&](const schedule_graph& h, search&) {
      auto found = best_first{}.between_from_both_ends(h, context_, peak - 1, peak, states);
      return found.order ? solution{std::move(*found.order)} : as_given{}(h, context_);
    };
    const solution found = context_.aside([&] { return compress{}(part, context_, below_peak); });
    if (peak_of(part, found.order) >= peak) return false;
    for (std::size_t i = first; i < last; ++i) order_[i] = members[found.order[i - first]];
    return true;
  }

  const schedule_graph& g_;
  search& context_;
  std::vector<node> order_, local_;
};

}  // namespace detail

inline solution local_search::improve(const schedule_graph& g, search& context, solution s) const {
  detail::window_search windows(g, context, std::move(s.order));
  const bytes goal = std::max(context.floor(), s.lower_bound);
  const auto widen = [&](auto&& lower) {  // the smallest windows that help
    std::uint64_t effort = states;
    for (std::size_t width = min_window; !context.stopped() && windows.peak() > goal;
         width += width / 2, effort += effort / 2) {
      if (lower(width, effort)) return true;
      if (width >= std::min(max_window, g.active)) break;
    }
    return false;
  };
  const auto at_peak = [&](std::size_t width, std::uint64_t effort) { return windows.lower_at_peak(width, effort); };
  const auto anywhere = [&](std::size_t width, std::uint64_t effort) { return windows.lower_anywhere(width, effort); };
  do
    while (widen(at_peak)) {
    }
  while (flatten && widen(anywhere));
  s.order = windows.take();
  return s;
}

}  // namespace memsched
