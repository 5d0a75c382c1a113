// HMCOS as a value: its defaults and switches.
#pragma once

#include <cstddef>
#include <cstdint>

#include <memsched/base/function_ref.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/hierarchy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Schedules a hierarchical graph, takes the groups apart that have to do with tensors live at the peak, and starts
/// again, until no group is left there or a bound proves the peak. Never worse than `rpo`. Without groups it is exact,
/// unless a search is cut; with them it claims the bound of minimum cuts, and no more.
struct hierarchical {
  structure::hierarchy_level level = structure::hierarchy_level::groups;
  bool adaptive_budget = true;   ///< optimization 1: no peak above the last iteration's
  bool simple_schedules = true;  ///< optimization 2: a group takes its reverse post-order if that lifts no peak
  bool memoize = true;           ///< optimization 3: the schedules of a group are kept, by context
  bool by_levels = false;        ///< Algorithm 2 as printed: all states of one size after another; else the lowest peak
                                 ///< first
  bool safe_moves = true;        ///< units that free memory under the peak so far run at once; others wait for
                                 ///< their readers (not with `by_levels`)
  bool readers = true;           ///< if no group defines a value live at the peak, take those apart that read one
  bool bounds = true;            ///< minimum cuts, where searches start and iterations may stop
  std::size_t max_cell = 64;     ///< sequences in a cell that the library finds
  std::uint64_t group_states = 1 << 15;  ///< for one schedule of one group; then it takes the order of `beam`
  std::uint64_t round_states = 1 << 19;  ///< for one round; then the order of `beam`, or the one so far, is the answer
  std::size_t max_units = 1 << 14;       ///< if groups and free sequences are more, nothing is searched

  /// One round of Algorithm 1.
  struct iteration {
    bytes peak = 0;
    std::size_t sequences = 0;  ///< of the graph
    std::size_t freed = 0;      ///< of groups that were taken apart before this round
    std::uint64_t states = 0;   ///< looked at in this round
  };

  solution operator()(const schedule_graph& g, search& context) const {
    return run(g, context, [](const iteration&) {});
  }
  /// Calls `each` after every round.
  solution run(const schedule_graph& g, search& context, base::function_ref<void(const iteration&)> each) const;
};

inline constexpr hierarchical hmcos{};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
