// Laws of the relaxations behind the stage `releases`: folded graphs, and searches in which most nodes have no peak.
#include <catch2/catch.hpp>
#include <limits>
#include <memsched/bounds/folding.hpp>
#include <memsched/memsched.hpp>
#include <memsched/schedulers/release_search.hpp>
#include <utility>
#include <vector>

#include "fuzz/claims/oracle.hpp"
#include "support/random_problem.hpp"
#include "support/random_sums.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Sums of products or anything else, compressed or not, with and without credits.
schedule_graph any_graph(std::uint64_t seed, support::random& r) {
  if (r.chance(30)) return support::random_costs_of_sums(r);
  const options o{.default_firing = r.chance(30) ? firing::cbp : firing::pbc, .in_place = r.chance(50)};
  const bool sums = r.chance(60);
  const std::uint32_t values = 2 + r.below(3), n = 1 + r.below(3), percent = 30 + r.below(60);
  const problem p = sums
                        ? make_problem(support::random_sums(seed, {values, n, percent, 1 + r.below(3), r.below(40)})).value()
                        : support::random_problem(seed, {.operators = 4 + r.below(8)});
  schedule_graph g = make_schedule_graph(p, o.model());
  if (r.chance(50)) return g;
  search context(o);
  return presolve::compressed(g, context, {.series_parallel = r.chance(50)}).graph;
}

bytes optimum_of(const schedule_graph& g) {
  search context(options{});
  return peak_of(g, dp{}(g, context).order);
}

}  // namespace

TEST_CASE("no order of a graph has a smaller peak than the optimum of the graph with nodes folded") {
  std::size_t folded = 0, equal = 0, releases = 0, waits = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(20'000); ++seed) {
    support::random r(seed);
    const schedule_graph g = any_graph(seed, r);
    if (g.active == 0) continue;
    const bounds::folding f = bounds::fold(g);
    INFO("seed " << seed);
    if (f.folded == 0) {
      REQUIRE(f.graph.active == g.active);
      continue;
    }
    const bytes below = optimum_of(f.graph), optimum = optimum_of(g);
    REQUIRE(below <= optimum);
    search context(options{});
    const std::vector<node_id> order = f.expand(g, dp{}(f.graph, context).order);
    REQUIRE(order.size() == g.active);
    REQUIRE(peak_of(g, order) >= optimum);
    ++folded;
    equal += below == optimum;
    releases += f.graph.size() - f.graph.active < g.size() - g.active;
    waits += f.graph.credits.items() > 0;
  }
  CAPTURE(folded, equal, releases, waits);
  REQUIRE(folded > equal);
  REQUIRE(equal > folded / 2);
  REQUIRE(releases > 0);
  REQUIRE(waits > 0);
}

TEST_CASE("a search of releases is no higher than the optimum, and is the optimum where no node is light") {
  std::size_t lower = 0, equal = 0, credits = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(20'000); ++seed) {
    support::random r(seed);
    schedule_graph g = any_graph(seed, r);
    if (r.chance(60)) g = bounds::fold(g).graph;
    const bool any_credits = r.chance(20);
    if (any_credits) g = support::with_any_credits(std::move(g), r);
    if (g.active == 0) continue;
    const bytes optimum = optimum_of(g);
    const auto search_of = [&](delta light, bytes from) {
      search context(options{});
      return memsched::detail::release_search(g, context, light, from, no_limit / 4).run(no_limit / 4);
    };
    constexpr delta most = std::numeric_limits<delta>::max();
    INFO("seed " << seed);
    const delta light = r.chance(40) ? most : static_cast<delta>(r.below(12));
    const auto found = search_of(light, 0);
    REQUIRE(found.bound <= optimum);
    REQUIRE(found.order);
    REQUIRE(peak_of(g, *found.order) >= optimum);
    const auto exact = search_of(-most, r.chance(50) ? found.bound : 0);
    REQUIRE(exact.bound <= optimum);
    if (any_credits) continue;  // which may spare more than is freed
    REQUIRE(exact.bound == optimum);
    REQUIRE(peak_of(g, *exact.order) == optimum);
    lower += found.bound < optimum;
    equal += found.bound == optimum;
    credits += g.credits.items() > 0 && found.bound == optimum;
  }
  CAPTURE(lower, equal, credits);
  REQUIRE(lower > 0);
  REQUIRE(equal > lower);
  REQUIRE(credits > 0);
}
