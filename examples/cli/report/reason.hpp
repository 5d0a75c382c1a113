// The reason for a peak: the storages that are alive together in any order, and the cost of each tensor at the peak.
#pragma once

#include <cstddef>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>
#include <memsched/search/options.hpp>
#include <span>
#include <vector>

namespace cli {

/// The memory that any order needs while one operator runs, or right before it. Sizes in bytes.
struct reason {
  memsched::op_id op = memsched::none;        ///< none where what lives at the start or the end says as much
  bool before = false;                        ///< right before `op`: it frees more than it takes (`cbp`)
  memsched::bytes bound = 0;                  ///< what no order takes less than at that moment: a minimum cut
  std::vector<memsched::tensor_id> together;  ///< storages that are alive at that moment in every order
  memsched::bytes workspace = 0;
  memsched::bytes spared = 0;                 ///< what `op` may spare by working in place
  memsched::bytes together_bytes = 0;         ///< of all that, less what is spared; at most `bound`
  std::vector<memsched::tensor_id> cheapest;  ///< further storages that are alive in a case that takes no more than `bound`
  std::size_t ran = 0;                        ///< operators that have run before `op` in that case
};

/// The best reason that a minimum cut gives. Looks first where `order` takes the most; `stop` ends the search early.
reason find_reason(const memsched::problem& p, std::span<const memsched::op_id> order, const memsched::options& limits);

/// The peaks that would be left if a storage took nothing.
struct saving {
  memsched::tensor_id tensor = memsched::none;
  memsched::bytes same_order = 0;  ///< the peak of the order at hand
  memsched::bytes best_order = 0;  ///< the smallest peak found; at most `same_order`
  memsched::bytes bound = 0;       ///< no order has less; 0 where none was looked for
};

inline constexpr std::size_t search_anew_up_to = 5000;  ///< operators for which commands search that long

/// Savings of some storages, each scheduled anew within `limits` where `search_anew`.
std::vector<saving> find_savings(const memsched::problem& p, std::span<const memsched::op_id> order,
                                 std::span<const memsched::tensor_id> tensors, bool search_anew,
                                 const memsched::options& limits);

}  // namespace cli
