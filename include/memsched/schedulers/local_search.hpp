// Local search on orders: exact re-optimization of windows.
#pragma once

#include <utility>

#include <memsched/base/linkage.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Takes a stretch of an order, a window, and looks for an order of the same nodes with a smaller peak. Windows around the
/// first peak of the whole order come first, wider and wider ones; when they help no more, windows all along it, whose own
/// peaks are lowered, which may open a way at the peak. Any success there starts over. Claims no bound of its own.
struct local_search {
  std::size_t min_window = 24, max_window = 400;
  std::uint64_t states = 400;  ///< for one window, at the smallest width
  bool flatten = true;         ///< windows beside the peak too

  solution operator()(const schedule_graph& g, search& context) const { return improve(g, context, greedy{}(g, context)); }
  /// A better order than `s`, or s.
  solution improve(const schedule_graph& g, search& context, solution s) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <vector>

#include <memsched/schedulers/lower_stretch.hpp>
#include <memsched/structure/line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

class window_search {
 public:
  window_search(const schedule_graph& g, search& context, const std::vector<node_id>& order)
      : g_(g), context_(context), line_(g, order), local_(g.size(), none) {}

  bytes peak() const { return line_.peak(); }
  std::vector<node_id> take() const { return line_.order(); }

  /// Tries windows that hold the first peak; returns true if one of them is lower now.
  bool lower_at_peak(std::size_t width, std::uint64_t states) {
    const std::size_t at = line_.highest();
    for (std::size_t quarter : {2u, 1u, 3u, 0u}) {
      const std::size_t before = width * quarter / 4;
      if (lower(at > before ? at - before : 0, width, states)) return true;
      if (context_.stopped()) return false;
    }
    return false;
  }

  /// Tries windows all along the order; returns true if one of them is lower now.
  bool lower_anywhere(std::size_t width, std::uint64_t states) {
    bool any = false;
    for (std::size_t first = 0; first < line_.size() && context_.keep_going(); first += width / 2)
      any |= lower(first, width, states);
    return any;
  }

 private:
  bool lower(std::size_t first, std::size_t width, std::uint64_t states) {
    first = line_.legal_from(first);
    const auto order = lower_stretch(g_, line_, first, first + width, any_lower, states, context_, local_);
    if (order) line_.replace(first, *order);
    return order.has_value();
  }

  static constexpr bytes any_lower = no_limit;  // a goal that any lower peak reaches

  const schedule_graph& g_;
  search& context_;
  order_line line_;
  std::vector<node_id> local_;
};

}  // namespace detail

MEMSCHED_FUNCTION solution local_search::improve(const schedule_graph& g, search& context, solution s) const {
  detail::window_search windows(g, context, s.order);
  const bytes goal = std::max(context.asked().target, s.lower_bound);
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

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
