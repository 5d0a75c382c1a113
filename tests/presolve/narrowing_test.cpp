// A graph that is narrowed for a peak keeps what stays within it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/memsched.hpp>
#include <memsched/presolve/narrowing.hpp>
#include <networks/networks.hpp>

#include "support/small_graphs.hpp"

using namespace memsched;
using namespace support;

TEST_CASE("a narrowed graph has an order within the peak where the graph has one") {
  for_small_graphs(cases / 3, [&](const schedule_graph& g, search& context, bytes optimum) {
    presolve::narrowing n(g, context);
    for (const bytes b : {optimum + optimum / 4, optimum + 1, optimum})
      for (std::size_t slice : {3u, 100000u}) {
        n.run(b, 2, [&](auto) { return slice-- > 0; });
        const solution s = exhaustive{}(n.graph(), context);
        const bytes reached = peak_of(g, n.expand(s.order));
        REQUIRE(reached <= s.lower_bound);
        REQUIRE(reached == optimum);
      }
    if (n.run(optimum - 1, 2, [](auto) { return true; }) == bounds::prober::outcome::refuted) REQUIRE(n.next() <= optimum);
  });
}
