// The answer of `recompute`: executions, their cost, and a bound of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/error.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/proof/recompute_proof.hpp>
#include <memsched/recompute/rows.hpp>
#include <memsched/search/options.hpp>
#include <memsched/search/statistics.hpp>
#include <memsched/search/verdict.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The result of `recompute` without the executions. If `error` is set, no other member is.
struct recompute_facts {
  bytes peak = 0;                   ///< of the executions, by the referee
  bytes given_peak = 0;             ///< of the order in which the graph lists its operators, or of the order to keep
  bytes peak_bound = 0;             ///< no executions have a smaller peak, whatever they cost
  bytes budget = no_limit;          ///< as requested
  std::uint64_t base_cost = 0;      ///< of all operators, once each
  std::uint64_t extra_cost = 0;     ///< of executions beyond the first of each operator, and of moves
  std::uint64_t lower_bound = 0;    ///< a lower bound of the extra cost of executions of the scope within the budget
  std::vector<storage_load> loads;  ///< storages that come back, by `before`; tensors by their number (`tensors_of`)
  bound_scope scope = bound_scope::any_order;
  std::string_view found_by{};  ///< source of the executions: a policy, or "given" for the order of `given_peak`
  std::string_view bound_by{};  ///< source of the lower bound, or of the proof that nothing fits; empty: no policy found any
  bool refuted = false;         ///< no executions of the scope are within the budget
  stop_reason stopped = stop_reason::finished;
  statistics stats;
  /// Shows that the extra cost is at least the proof's own bound, which is at most `lower_bound` (`check_recompute`).
  recompute_proof proof;
  std::optional<graph_error> error;

  /// Whether the executions are within the budget.
  bool fits() const noexcept { return !error && peak <= budget; }
  memsched::verdict verdict() const noexcept {
    if (error) return memsched::verdict::failed;
    if (refuted || peak_bound > budget) return memsched::verdict::infeasible;
    if (!fits()) return memsched::verdict::unknown;
    return extra_cost == lower_bound ? memsched::verdict::optimal : memsched::verdict::feasible;
  }
};

/// The answer of `recompute`.
template <class Op>
struct [[nodiscard]] recompute_result : recompute_facts {
  std::vector<Op> executions;  ///< in the caller's handles, with repetitions

  /// Whether there is no error.
  explicit operator bool() const noexcept { return !error; }
  /// Returns the result itself. Throws bad_graph if there is an error; without exceptions prints it and aborts.
  const recompute_result& value() const& {
    if (error) detail::abort_with(*error);
    return *this;
  }
  recompute_result value() && {
    if (error) detail::abort_with(*error);
    return std::move(*this);
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
