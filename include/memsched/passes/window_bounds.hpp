// Bounds by closed windows around the highest position of an order.
#pragma once

#include <memsched/base/linkage.hpp>

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <memsched/base/backbone.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/bounds/closed_window.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/bounds/windowed_cut.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Closed windows around the highest position of a line, of growing reach, each bounded by minimum cuts and then solved for
/// rising aims. The line, the backbone and the context must outlive it, and the line must not change.
class window_bounds {
 public:
  /// Solves a compressed window with at most so much work. Its bound is one whatever the query's target.
  using solver = base::function_ref<solution(const schedule_graph&, search&, std::uint64_t)>;

  /// `solves_whole`: also a window that is the whole graph.
  window_bounds(const order_line& l, const backbone& bone, search& context, bool solves_whole)
      : line_(l), bone_(bone), context_(context), solves_whole_(solves_whole), live_(l), grid_(l.graph()) {}

  /// `work`: for each window. `asked()`: the best bound as the target, and the peak from which on bounds are of no use.
  /// `raise(bound)` takes one that is better. Of two windows that follow each other the wider one counts if the other does not
  /// help.
  void run(std::uint64_t work, solver solve, base::function_ref<query()> asked,
           base::function_ref<void(bytes)> raise) const {
    constexpr std::array<std::size_t, 4> reaches{100, 200, 400, 800};
    for (std::size_t i = 0; i < reaches.size() && !context_.stopped();) {
      const query q = asked();
      if (q.target >= q.cutoff) break;
      finding one, next;
      const auto narrow = [&](search& c) {
        one = look_at(reaches[i], q, work, solve, c);
        return one.bound > q.target || one.whole;
      };
      const auto wide = [&](search& c) { next = look_at(reaches[i + 1], q, work, solve, c); };
      const bool two = i + 1 < reaches.size() ? context_.control().beside(narrow, wide) : (narrow(context_), false);
      if (!two) next = {};
      if (const bytes best = std::max(one.bound, next.bound); best > q.target) raise(best);
      if (one.whole || next.whole) break;
      i += two ? 2 : 1;
    }
  }

 private:
  struct finding {
    bytes bound = 0;     ///< the target if nothing better is known
    bool whole = false;  ///< the window is the whole graph
  };

  finding look_at(std::size_t reach, const query& q, std::uint64_t work, solver solve, search& c) const {
    finding found{q.target};
    const auto raise = [&](bytes b) {
      if (b > found.bound) found.bound = grid_.up(b);
    };
    bytes most = q.cutoff;  // that the window may bound
    const auto open = [&] { return found.bound < most && !c.stopped(); };
    const auto go_on = [&] { return c.control().count_cut_as_state(0, 16 * reach); };
    const std::size_t at = line_.highest();
    const auto [a, b] = bounds::windowed_cut(line_, live_, bone_).best_ends(at, reach, go_on, raise);
    if (!open()) return found;
    found.whole = a == 0 && b == line_.size();
    const auto window = bounds::close_window(line_, live_, bone_, a, b, line_.at(at));
    if (!window || (found.whole && !solves_whole_)) return found;
    most = std::min(most, line_.peak() - std::min(window->slack, line_.peak()));
    for (bool more = true; more && open();) {
      const bytes before = found.bound;
      const bytes goal = std::min(most, std::max(before + grid_.step(), q.cutoff - (q.cutoff - before) / 2));
      const query aim{std::max(before + window->lift, window->graph.base), goal + window->lift};
      const solution s = c.control().aside([&] {
        const auto inner = [&](const schedule_graph& h, search&) { return c.ask(aim, [&] { return solve(h, c, work); }); };
        return c.control().with_work(work, [&] { return compress{}(window->graph, c, inner); });
      });
      raise(std::min(window->lowered(s.lower_bound), goal));
      more = found.bound >= goal && found.bound > before;
    }
    return found;
  }

  const order_line& line_;
  const backbone& bone_;
  search& context_;
  bool solves_whole_;
  bounds::live_index live_;
  bounds::peak_grid grid_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
