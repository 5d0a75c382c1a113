// Problems of two or three small components.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memsched/search/options.hpp>

#include "support/side_by_side.hpp"
#include "support/small_graphs.hpp"

namespace support {

/// Calls f(problem, options) with problems of two or three small components, under each of the models, for `count` seeds but
/// those where updates ask for a cycle.
template <class F>
void for_few_components(std::uint64_t count, F&& f) {
  for (std::uint64_t seed = 0; seed < seeds(count); ++seed) {
    random r(seed);
    const auto p =
        make_problem(random_components(seed, 2 + r.below(2), {.operators = 3 + r.below(3), .percent_updates = 5}));
    if (!p) continue;
    INFO("seed " << seed);
    for (const memsched::options& o : models()) f(*p, o);
  }
}

}  // namespace support
