// The check of a family, set by set.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <memsched/proof/certificate.hpp>
#include <memsched/proof/proof_graph.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

using set_table = std::unordered_set<node_set>;

/// Grows the sets of a family from the first one, and checks each. `grow(set, v)` gives the set that grows by v, or nothing if
/// v may not be the next; `fault_of(set, known)` the fault of one, or nothing. Errors name v as `grower`.
template <class Grow, class FaultOf>
std::string check_sets(const proof::set_family& f, node_set first, const std::string& grower, Grow grow, FaultOf fault_of) {
  std::vector<node_set> sets{std::move(first)};
  for (std::size_t i = 0; i < f.sets.size(); ++i) {
    const auto [from, by] = f.sets[i];
    std::optional<node_set> next = from <= i ? grow(sets[from], by) : std::nullopt;
    if (!next)
      return ".sets[" + std::to_string(i) + "]: grows from no set before it by " + grower + " that may be the next there";
    sets.push_back(std::move(*next));
  }
  const set_table known(sets.begin(), sets.end());
  for (std::size_t i = 0; i < sets.size(); ++i)
    if (const std::string why = fault_of(sets[i], known); !why.empty()) return ": set " + std::to_string(i) + why;
  return {};
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
