// Minimum closures against all closed sets.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/base/closure.hpp>
#include <vector>

#include "support/random_problem.hpp"

using namespace memsched;

namespace {

struct instance {
  std::vector<delta> impacts;
  std::vector<std::pair<unsigned, unsigned>> needs;  // (needed, who needs it)

  bool closed(unsigned set) const {
    return std::all_of(needs.begin(), needs.end(), [&](auto e) { return !(set >> e.second & 1) || (set >> e.first & 1); });
  }
  delta sum(unsigned set) const {
    delta s = 0;
    for (std::size_t i = 0; i < impacts.size(); ++i)
      if (set >> i & 1) s += impacts[i];
    return s;
  }
};

/// Impacts between -9 and 9; needs in any direction, cycles among them.
instance random_instance(support::random& r) {
  instance x;
  const std::uint32_t n = 1 + r.below(9);
  for (std::uint32_t i = 0; i < n; ++i) x.impacts.push_back(static_cast<delta>(r.below(19)) - 9);
  for (std::uint32_t i = r.below(2 * n + 1); i > 0; --i)
    if (const std::uint32_t a = r.below(n), b = r.below(n); a != b) x.needs.emplace_back(a, b);
  return x;
}

}  // namespace

TEST_CASE("the cheapest closed set, the smallest and the largest of those, and a flow that proves it") {
  support::random r(1);
  base::closure_problem c;
  for (int run = 0; run < 3000; ++run) {
    INFO("run " << run);
    const instance x = random_instance(r);
    c.clear();
    for (delta d : x.impacts) c.add(d);
    for (auto [needed, by] : x.needs) c.add_arc(needed, by);
    const delta found = c.solve();

    const unsigned sets = 1u << x.impacts.size();
    delta best = 0;
    for (unsigned s = 0; s < sets; ++s)
      if (x.closed(s)) best = std::min(best, x.sum(s));
    REQUIRE(found == best);
    unsigned smallest = sets - 1, largest = 0;
    for (unsigned s = 0; s < sets; ++s)
      if (x.closed(s) && x.sum(s) == best) smallest &= s, largest |= s;
    const auto held = [&] {
      unsigned s = 0;
      for (index_t i = 0; i < x.impacts.size(); ++i) s |= static_cast<unsigned>(c.holds(i)) << i;
      return s;
    };
    REQUIRE(held() == smallest);

    // The flow: no node sends more than it has, and what members keep below 0 is the minimum.
    std::vector<delta> keeps = x.impacts;
    for (const auto& a : c.arcs()) {
      REQUIRE(a.flow >= 0);
      keeps[a.from] -= a.flow, keeps[a.to] += a.flow;
    }
    delta below = 0;
    for (delta k : keeps) below += std::min<delta>(k, 0);
    REQUIRE(below == best);

    c.widen();
    REQUIRE(held() == largest);
  }
}
