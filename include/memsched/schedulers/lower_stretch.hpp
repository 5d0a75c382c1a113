// Better orders of a stretch of an order, by exact search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/graph/walk.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/both_ends.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/induced_subgraph.hpp>
#include <memsched/structure/line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Asks `change` for another order of the nodes of a line from position `first` up to `last`, each moved to where the line
/// may be cut: given as a graph, its order, and the peak of that. The answer as nodes of the line; nothing if its peak is
/// not lower. `local` is scratch, see `induced_subgraph`.
template <class Change>
std::optional<std::vector<node_id>> change_stretch(const schedule_graph& g, const order_line& line, std::size_t first,
                                                   std::size_t last, search& context, std::vector<node_id>& local,
                                                   Change change) {
  first = line.legal_from(first);
  last = line.legal_from(std::min(last, line.size()));
  if (first >= last || !context.keep_going()) return std::nullopt;
  const auto base = static_cast<bytes>(line.level(first)), peak = static_cast<bytes>(line.highest_in(first, last));
  if (peak <= base) return std::nullopt;
  const auto nodes = line.nodes(first, last);
  std::vector<node_id> members(nodes.begin(), nodes.end());
  std::sort(members.begin(), members.end());  // releases are last
  const schedule_graph part = induced_subgraph(g, members, base, local);
  std::vector<node_id> order = change(part, order_within(g, members, nodes), peak);
  if (peak_of(part, order) >= peak) return std::nullopt;
  for (node_id& v : order) v = members[v];
  return order;
}

/// Searches a stretch for an order with a lower peak, with `states` states; one within the goal is good enough.
inline std::optional<std::vector<node_id>> lower_stretch(const schedule_graph& g, const order_line& line, std::size_t first,
                                                         std::size_t last, bytes goal, std::uint64_t states, search& context,
                                                         std::vector<node_id>& local) {
  const auto lower = [&](const schedule_graph& part, std::vector<node_id> order, bytes peak) {
    const auto below_peak = [&](const schedule_graph& h, search& c) {
      auto found = both_ends{}.between(h, c, std::min(std::max(goal, part.base), peak - 1), peak, states);
      return found.order ? solution{std::move(*found.order)} : as_given{}(h, c);
    };
    solution s{std::move(order)};
    take_if_better(part, context.control().aside([&] { return compress{}(part, context, below_peak); }).order, s);
    return std::move(s.order);
  };
  return change_stretch(g, line, first, last, context, local, lower);
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
