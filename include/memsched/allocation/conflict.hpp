// Explains why buffers do not fit: finds a few of them that do not fit by themselves.
#pragma once

#include <span>
#include <vector>

#include <memsched/base/adjacency.hpp>
#include <memsched/base/buffer.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Buffers that do not fit into a capacity by themselves.
struct buffer_conflict {
  std::vector<index_t> buffers;  ///< ascending; empty if none is proven
  bool irreducible = false;      ///< whether all but any one of them do fit; false if a limit left that open
};

/// An irreducible subset of buffers that does not fit into `capacity`: a deletion filter, which leaves out halves, quarters
/// and at last single buffers as long as the rest does not fit. `nodes` limits each question; undecided buffers stay in.
MEMSCHED_FUNCTION buffer_conflict find_conflict(std::span<const buffer> buffers, bytes capacity, search& context,
                                                std::uint64_t nodes = 100'000);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>

#include <memsched/allocation/fit_restarts.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Whether buffers are proven not to fit, by at most `nodes` nodes. `open` is set if those do not suffice.
inline bool never_fit(std::span<const buffer> buffers, bytes capacity, std::uint64_t nodes, search& context, bool& open) {
  if (simple_bound(buffers) > capacity) return true;
  if (quick_plan(buffers, capacity, context).size <= capacity) return false;
  packing p(buffers);
  if (!p.list_sections()) return open = true, false;
  const auto answer = fit_restarts(p, capacity, {}, 1).run(nodes, {}, context);
  open |= answer == fit_answer::stopped;
  return answer == fit_answer::never;
}

}  // namespace detail

MEMSCHED_FUNCTION buffer_conflict find_conflict(std::span<const buffer> buffers, bytes capacity, search& context,
                                                std::uint64_t nodes) {
  buffer_conflict found;
  bool open = false;
  std::vector<index_t> core;
  for (index_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].empty()) core.push_back(i);
  const auto never = [&](const std::vector<index_t>& chosen) {
    std::vector<buffer> some;
    some.reserve(chosen.size());
    for (const index_t i : chosen) some.push_back(buffers[i]);
    return detail::never_fit(some, capacity, nodes, context, open);
  };
  if (!never(core)) return found;
  for (std::size_t chunk = std::max<std::size_t>(core.size() / 2, 1);; chunk /= 2) {
    open = false;
    for (std::size_t at = 0; at < core.size();) {
      std::vector<index_t> rest(core.begin(), core.begin() + static_cast<std::ptrdiff_t>(at));
      rest.insert(rest.end(), core.begin() + static_cast<std::ptrdiff_t>(std::min(at + chunk, core.size())), core.end());
      if (never(rest)) core = std::move(rest);
      else at += chunk;
    }
    if (chunk == 1) break;
  }
  found.buffers = std::move(core);
  found.irreducible = !open;
  return found;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
