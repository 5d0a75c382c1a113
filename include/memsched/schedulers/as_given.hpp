// The order that the caller's graph came in.
#pragma once

#include <memsched/search/policy.hpp>
#include <memsched/structure/list_schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The order in which the caller lists the operators, wherever that is one (see `given_order`).
struct as_given {
  static constexpr bool is_baseline = true;

  solution operator()(const schedule_graph& g, search&) const { return {structure::given_order(g)}; }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
