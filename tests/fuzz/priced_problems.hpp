// Small graphs with costs and a budget that asks for reruns, for inputs that prove what these cost.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/measure/evaluate.hpp>
#include <memsched/recompute/exact.hpp>
#include <memsched/recompute/least_peak.hpp>
#include <memsched/structure/list_schedule.hpp>

#include "../recompute/priced.hpp"
#include "../support/random_problem.hpp"

namespace fuzz {

struct priced_problem {
  memsched::problem graph;
  memsched::bytes budget = 0;
  memsched::offload moves{};
};

/// Eight graphs of 7 operators; of the last four, costs are multiples of 5. Then eight with almost all sizes in whole units,
/// four in which a storage may be made twice between two uses, two in which a rerun itself takes much memory, and four in which
/// storages may be moved.
inline std::vector<priced_problem> priced_problems() {
  std::vector<priced_problem> all;
  const auto add = [&](memsched::problem p, const memsched::offload& moves = {}) {
    const auto order = memsched::structure::given_order(memsched::make_schedule_graph(p));
    const memsched::bytes low = memsched::least_peak_with_reruns(p, {}, moves),
                          high = memsched::evaluate(p, order).value().peak;
    memsched::search context{memsched::options{}};
    const memsched::bytes budget = low + (high - low) / 4;
    const auto least = memsched::cheapest_executions(memsched::execution_table(p, moves), {}, budget, {}, context);
    if (least.found && least.extra_cost > 0) all.push_back({std::move(p), budget, moves});
  };
  for (std::uint64_t seed = 0; all.size() < 8; ++seed) {
    memsched::problem_draft d = support::random_draft(seed, {.operators = 7});
    support::random r(seed + 1);
    for (memsched::problem_draft::operator_data& op : d.operators) op.cost = (all.size() < 4 ? 1 : 5) + r.below(4) * 5;
    if (auto p = memsched::make_problem(std::move(d))) add(std::move(*p));
  }
  for (std::uint64_t seed = 0; all.size() < 16; ++seed) {
    support::random r(seed);
    add(recompute_test::in_units(seed % 2 == 0 ? recompute_test::with_late_reader(seed) : recompute_test::trained(seed, 2),
                                 r));
  }
  for (std::uint64_t seed = 12; all.size() < 20; ++seed) add(recompute_test::there_and_back(seed, 4));
  for (std::uint64_t seed : {16U, 52U}) add(recompute_test::with_reader_before_rerun(seed));
  for (std::uint64_t seed = 0; all.size() < 26; ++seed)
    add(recompute_test::priced(seed, 5), seed % 2 == 0 ? recompute_test::dear_moves : recompute_test::outer_moves);
  return all;
}

}  // namespace fuzz
