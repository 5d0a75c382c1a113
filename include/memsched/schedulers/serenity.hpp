// SERENITY: divide and conquer, adaptive soft budgeting, dynamic programming (Figure 4, without graph rewriting).
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/passes/soft_budget.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// divide | soft_budget | dp, each of the first two if it is wanted. Optimal, unless a limit is met.
struct serenity {
  bool divides = true;
  bool budgets = true;
  bool direct = true;  ///< not in the paper, see `dp`
  soft_budget budget{};

  solution operator()(const schedule_graph& g, search& context) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/passes/divide.hpp>
#include <memsched/schedulers/dp.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION solution serenity::operator()(const schedule_graph& g, search& context) const {
  const dp last{.direct = direct};
  if (divides && budgets) return (divide{} | budget | last)(g, context);
  if (divides) return (divide{} | last)(g, context);
  if (budgets) return (budget | last)(g, context);
  return last(g, context);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
