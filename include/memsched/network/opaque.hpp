// The operators of a network that are not understood, with the reasons.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Opaque operators of one kind, for one reason.
struct opaque_group {
  std::string kind;    ///< as the file calls it
  std::string reason;  ///< empty: not known
  std::size_t operators = 0;
  bool operator==(const opaque_group&) const = default;
};

/// The operators of a network that are not understood, the largest group first. No rewrite touches them, so that an optimum
/// for a network with such operators is none for the model: tensors that they keep whole might be cut. O(operators).
MEMSCHED_FUNCTION std::vector<opaque_group> opaque_groups(const network& net);

/// The same for people: "14 of 31 operators are not understood: 13 DEPTHWISE_CONV_2D (reason), 1 TRANSPOSE". Empty if all
/// are understood; the four largest groups otherwise.
MEMSCHED_FUNCTION std::string opaque_text(const std::vector<opaque_group>& groups, std::size_t operators);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION std::vector<opaque_group> opaque_groups(const network& net) {
  std::vector<opaque_group> groups;
  for (const operation& op : net.operations) {
    if (op.does.what != op_kind::opaque) continue;
    const auto same = [&](const opaque_group& g) { return g.kind == op.kind && g.reason == op.not_understood; };
    auto at = std::find_if(groups.begin(), groups.end(), same);
    if (at == groups.end()) at = groups.insert(at, {op.kind, op.not_understood, 0});
    ++at->operators;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const opaque_group& a, const opaque_group& b) { return a.operators > b.operators; });
  return groups;
}

MEMSCHED_FUNCTION std::string opaque_text(const std::vector<opaque_group>& groups, std::size_t operators) {
  constexpr std::size_t most = 4;
  std::size_t all = 0, behind = 0;
  std::string list;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const opaque_group& g = groups[i];
    all += g.operators;
    if (i >= most) {
      behind += g.operators;
      continue;
    }
    list += (i == 0 ? "" : ", ") + std::to_string(g.operators) + ' ' + (g.kind.empty() ? "of no kind" : g.kind);
    if (!g.reason.empty()) list += " (" + g.reason + ')';
  }
  if (all == 0) return "";
  if (behind != 0) list += ", " + std::to_string(behind) + " others";
  return std::to_string(all) + " of " + std::to_string(operators) + (operators == 1 ? " operator is" : " operators are") +
         " not understood: " + list;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
