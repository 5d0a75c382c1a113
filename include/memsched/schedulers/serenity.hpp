// SERENITY: divide and conquer, adaptive soft budgeting, dynamic programming (Figure 4, without graph rewriting).
#pragma once

#include <memsched/passes/divide.hpp>
#include <memsched/passes/soft_budget.hpp>
#include <memsched/policy/policy.hpp>
#include <memsched/schedulers/dp.hpp>

namespace memsched {

/// divide | soft_budget | dp, each of the first two where it is wanted. Optimal, unless a limit is met.
struct serenity {
  bool divides = true;
  bool budgets = true;
  soft_budget budget{};

  solution operator()(const schedule_graph& g, search& context) const {
    if (divides && budgets) return (divide{} | budget | dp{})(g, context);
    if (divides) return (divide{} | dp{})(g, context);
    if (budgets) return (budget | dp{})(g, context);
    return dp{}(g, context);
  }
};

}  // namespace memsched
