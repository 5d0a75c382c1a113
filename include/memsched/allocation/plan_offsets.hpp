// The front door for buffers: plan_offsets(buffers, planner, options).
#pragma once

#include <span>
#include <utility>

#include <memsched/allocation/minimize.hpp>
#include <memsched/allocation/plan.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Where buffers lie, by a planner. `options.budget` is the capacity asked for; `state_limit` counts nodes of exact
/// searches. Buffers with a fault are an error that names the first; so are fixed buffers across each other. A planner is
/// not trusted: a plan that `check_plan` refuses, or a bound above its size, is an error.
template <planner P = minimize>
arena_plan plan_offsets(std::span<const buffer> buffers, const P& how = {}, const options& o = {}) {
  arena_plan plan;
  const auto refuse = [&](graph_error error) {
    plan = {};
    plan.error = std::move(error);
    return plan;
  };
  if (graph_error error = check_buffers(buffers); !error.message.empty()) return refuse(std::move(error));
  if (graph_error error = check_fixed(buffers); !error.message.empty()) return refuse(std::move(error));
  search context(o);
  plan = how(buffers, o.budget, context);
  plan.capacity = o.budget;
  if (graph_error error = check_plan(buffers, plan.offset, plan.size); !error.message.empty()) {
    error.message = "the planner's plan: " + error.message;
    return refuse(std::move(error));
  }
  if (plan.lower_bound > plan.size) return refuse({error_code::bad_input, "the planner's bound is above its plan", {}, {}});
  return plan;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
