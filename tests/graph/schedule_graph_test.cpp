// The schedule graph against the referee.
#include <catch2/catch.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/greedy.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <memsched/schedulers/rpo.hpp>

#include "support/small_graphs.hpp"

using namespace memsched;
using namespace support;

TEST_CASE("the schedule graph says of every order what the referee says") {
  for (std::uint64_t seed = 0; seed < cases; ++seed)
    for (const options& o : models()) {
      const problem p = support::random_problem(seed, {.operators = 12});
      const schedule_graph g = make_schedule_graph(p, o.model());
      search context(o);
      for (const auto& order : {as_given{}(g, context).order, rpo{}(g, context).order, kahn{}(g, context).order,
                                greedy{}(g, context).order}) {
        INFO("seed " << seed);
        REQUIRE(peak_of(g, order) == evaluate(p, order, o.model()).value().peak);
      }
    }
}
