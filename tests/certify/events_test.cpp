// Families of events: what the checker accepts is true, whatever made it, and what `find_events` makes is accepted.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/certify/certify.hpp>
#include <memsched/certify/certify_graph.hpp>
#include <memsched/certify/find_events.hpp>
#include <memsched/graph/check.hpp>
#include <memsched/proof/check_certificate.hpp>

#include "support/event_families.hpp"
#include "support/optimum.hpp"
#include "support/random_graph.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Random graphs without credits: sparse products, any operators, and nodes with impacts of any sign.
template <class F>
void for_each_plain_graph(std::uint64_t seeds, F&& f) {
  for (std::uint64_t seed = 0; seed < support::seeds(seeds); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const memory_model model{.in_place = false};
    f(make_schedule_graph(make_problem(support::sparse_product(r)).value(), model), r);
    f(make_schedule_graph(support::random_problem(seed, {.operators = 4 + r.below(6)}), model), r);
    f(make_schedule_graph(support::random_costs(seed, 4 + r.below(6))).value(), r);
  }
}

}  // namespace

TEST_CASE("no family of events proves more than the optimum, whichever nodes are folded or light") {
  std::size_t exact = 0, folded = 0, light = 0, grown = 0, mirrored = 0;
  for_each_plain_graph(1500, [&](const schedule_graph& g, support::random& r) {
    const bytes best = support::optimum(g);
    if (best == detail::level_at_ends(g)) return;
    certificate c = support::any_events(g, best, r);
    for (bytes more = 1; more < 4; ++more) {
      certificate wrong = c;
      wrong.bound = wrong.family->level = best + more;
      REQUIRE_FALSE(support::add_missing_sets(g, wrong, 400));
    }
    if (!support::add_missing_sets(g, c, 400)) return;
    ++exact, folded += !c.family->events->folded.empty(), light += c.family->events->most_light > 0;
    grown += c.family->sets.size() > 2, mirrored += c.family->mirrored;
  });
  REQUIRE(exact > support::seeds(1200));
  REQUIRE(std::min({folded, light, grown, mirrored}) > support::seeds(200));
}

TEST_CASE("the families of events that are found hold, and there is none above the optimum") {
  std::size_t found = 0, light = 0, folded = 0;
  for_each_plain_graph(700, [&](const schedule_graph& g, support::random&) {
    const bytes best = support::optimum(g);
    if (best == detail::level_at_ends(g)) return;
    const auto always = [] { return true; };
    const presolve::compressed_graph form = detail::compressed_for_proof(g);
    REQUIRE_FALSE(detail::find_events(g, form.reductions, best + 1, 4096, always));
    certificate c{.bound = best, .family = detail::find_events(g, form.reductions, best, 4096, always)};
    if (!c.family) return;
    REQUIRE(check_certificate(g, c) == "");
    ++found, light += c.family->events->most_light > 0, folded += !c.family->events->folded.empty();
  });
  REQUIRE(found > support::seeds(1000));
  REQUIRE(std::min(light, folded) > support::seeds(250));
}

TEST_CASE("an event after which no more is live is no reason to leave out one that frees memory before") {
  // One node adds 3 bytes, and 4 are freed after it; another adds 3, and 2 are freed after both. A node of 10 bytes runs
  // best after the first of these, at 9 bytes.
  const schedule_graph g =
      make_schedule_graph(cost_graph{{{3, 3}, {3, 3}, {0, -4}, {0, -2}, {10, 0}}, {{0, 2}, {0, 3}, {1, 3}}, 10, {}}).value();
  REQUIRE(support::optimum(g) == 19);
  const proof::set_family f{.level = 20, .events = proof::event_model{}, .sets = {{0, 3}}};
  REQUIRE(check_certificate(g, {.bound = 20, .family = f}) == "family: set 0: event 2 leads out of the family");
}
