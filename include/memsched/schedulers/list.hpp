// All schedulers of the core, as one list: names, help, tables and laws come from it.
#pragma once

#include <cstddef>
#include <limits>
#include <string_view>
#include <tuple>

#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/automatic.hpp>
#include <memsched/schedulers/beam.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/schedulers/branch_and_bound.hpp>
#include <memsched/schedulers/dp.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/schedulers/fradet.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/hierarchical.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <memsched/schedulers/local_search.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <memsched/schedulers/serenity.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The role of a scheduler for users.
enum class scheduler_role : unsigned char {
  order,   ///< one order by a rule, to compare with
  method,  ///< of a paper or of this project, whole
  part,    ///< an ingredient of methods
};

/// One scheduler. Promises that all make (see schedule.hpp) are not repeated here.
template <scheduler S>
struct scheduler_row {
  using type = S;
  std::string_view name;      ///< the program's
  std::string_view alias{};   ///< another name that the program understands
  std::string_view write;     ///< how it is written in C++
  std::string_view about;     ///< one line
  std::string_view source{};  ///< authors; empty for this project
  memsched::scheduler_role role = scheduler_role::method;
  bool exact = false;  ///< ends with a proof of its order if no limit ends it
  std::size_t max_operators = std::numeric_limits<std::size_t>::max();  ///< more are answered with an error
};

/// Every scheduler, plain orders first. A new one is its header and a row here.
// clang-format off
inline constexpr std::tuple all_schedulers{
    scheduler_row<as_given>{.name = "file", .alias = "as_given", .write = "as_given{}",
        .about = "the order in which the graph lists its operators", .role = scheduler_role::order},
    scheduler_row<kahn>{.name = "kahn", .write = "kahn{}",
        .about = "breadth-first waves of ready operators", .role = scheduler_role::order},
    scheduler_row<rpo>{.name = "rpo", .write = "rpo{}",
        .about = "depth-first post-order from the outputs, as most compilers", .role = scheduler_role::order},
    scheduler_row<greedy>{.name = "greedy", .write = "greedy{}",
        .about = "list scheduling by memory freed", .role = scheduler_role::order},
    scheduler_row<exhaustive>{.name = "exhaustive", .write = "exhaustive{}",
        .about = "every set of operators; at most 24 operators", .exact = true, .max_operators = 24},
    scheduler_row<serenity>{.name = "serenity", .write = "serenity{}",
        .about = "divide and conquer, soft budgets, dynamic programming", .source = "Ahn et al.", .exact = true},
    scheduler_row<hierarchical>{.name = "hmcos", .alias = "hierarchical", .write = "hmcos",
        .about = "hierarchical graphs, taken apart where the peak is", .source = "Wang et al."},
    scheduler_row<fradet_scheduler>{.name = "fradet", .write = "fradet",
        .about = "compression, composition, branch and bound", .source = "Fradet et al.", .exact = true},
    scheduler_row<beam>{.name = "beam", .write = "beam{}",
        .about = "the best few sets of operators of each size", .role = scheduler_role::part},
    scheduler_row<local_search>{.name = "local_search", .write = "local_search{}",
        .about = "exact search of windows of an order, again and again", .role = scheduler_role::part},
    scheduler_row<dp>{.name = "dp", .write = "dp{}",
        .about = "dynamic programming over zero-indegree sets", .source = "Ahn et al.",
        .role = scheduler_role::part, .exact = true},
    scheduler_row<branch_and_bound>{.name = "branch_and_bound", .write = "branch_and_bound{}",
        .about = "depth-first branch and bound over orders", .source = "Fradet et al.",
        .role = scheduler_role::part, .exact = true},
    scheduler_row<best_first>{.name = "best_first", .write = "best_first{}",
        .about = "bottleneck best-first search over sets of operators", .role = scheduler_role::part, .exact = true},
    scheduler_row<automatic_scheduler>{.name = "automatic", .alias = "optimal", .write = "automatic",
        .about = "the smallest peak, with proof; at a limit the best so far and a bound", .exact = true},
};
// clang-format on

/// Calls f(row) for each.
template <class F>
constexpr void for_each_scheduler(F&& f) {
  std::apply([&f](const auto&... row) { (f(row), ...); }, all_schedulers);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched
