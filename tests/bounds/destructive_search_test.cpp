// Laws of the destructive search alone: with a refuter that only keeps count of the peaks for which its facts hold.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/search/options.hpp>

#include "support/random_order.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Refutes peaks below what its patience suffices for, and is stopped now and then. `optimum` is on the grid of peaks.
struct weak_refuter {
  using outcome = bounds::prober::outcome;

  support::random* random;
  bytes optimum;
  bytes facts = no_limit;   // hold for orders with at most this peak
  bytes before = no_limit;  // those from before this peak was asked for do
  bytes asked = no_limit, proven = 0;

  outcome run(bytes peak, bytes patience) {
    REQUIRE(peak <= facts);  // facts of a lower peak are none
    if (peak != asked) asked = peak, before = facts;
    facts = peak;
    if (random->chance(20)) return outcome::stopped;
    if (peak >= optimum - std::min(optimum, patience)) return outcome::open;
    proven = before < optimum ? no_limit / 2 : peak + 1 + random->below(static_cast<std::uint32_t>(optimum - peak));
    return outcome::refuted;
  }
  bytes next() const { return proven; }
  std::uint64_t bytes_held() const { return 0; }
};

}  // namespace

TEST_CASE("a destructive search hands out facts that hold for the peak asked for, and bounds by facts that hold") {
  std::uint64_t below_optimum = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(5000); ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 10}));
    support::random r(seed);
    const bytes optimum = peak_of(g, support::random_order(g, r));
    const bounds::peak_grid peaks(g);
    bytes high = peaks.up(optimum + r.below(static_cast<std::uint32_t>(optimum + 1)));
    INFO("seed " << seed << ", optimum " << optimum);
    bounds::destructive_search<weak_refuter> search(g, g.base, weak_refuter{&r, optimum});
    for (bytes patience = optimum; patience > 0; patience /= 2) {  // what it falls short by
      const bool ended = search.run(high, patience);
      REQUIRE(search.bound() <= optimum);
      if (ended) REQUIRE((search.settled() || search.bound() >= high));
      for (bytes b = search.bound(); b < high; b += std::max<bytes>(1, (high - search.bound()) / 8)) {
        REQUIRE(search.known_up_to(b).facts >= peaks.down(b));
        below_optimum += search.unrefuted().value_or(optimum) < optimum;
      }
      if (r.chance(30)) high = peaks.up(optimum + r.below(static_cast<std::uint32_t>(high - optimum + 1)));
      if (r.chance(10)) search.raise(search.bound() + r.below(static_cast<std::uint32_t>(optimum - search.bound() + 1)));
    }
  }
  CHECK(below_optimum > 1000);
}
