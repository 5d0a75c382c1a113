// Laws of the search of components, on random problems side by side and on copies of networks.
#include <catch2/catch.hpp>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <vector>

#include "support/few_components.hpp"
#include "support/never_worse.hpp"

using namespace memsched;
using namespace support;

namespace {

problem copies(const char* name, std::size_t n) {
  const std::vector<problem_draft> drafts(n, networks::make(name).value());
  return make_problem(side_by_side(drafts)).value();
}

}  // namespace

TEST_CASE("the search of components finds and claims nothing below the optimum, and mostly the optimum itself") {
  std::size_t asked = 0, found = 0, proven = 0;
  for_few_components(1500, [&](const problem& p, const options& o) {
    const schedule_graph g = make_schedule_graph(p, o.model());
    search context(o), other(o);
    const solution s = detail::apart_search{}(g, context);
    const bytes optimum = exhaustive{}(g, other).lower_bound, peak = peak_of(g, s.order);
    REQUIRE(detail::is_order(g, s.order));
    REQUIRE(peak >= optimum);
    REQUIRE(s.lower_bound <= optimum);
    REQUIRE((s.lower_bound == peak || context.control().reason() == stop_reason::gave_up));
    ++asked, found += peak == optimum, proven += s.lower_bound == optimum;
    for (std::uint64_t states = 1; states < 200; states += 1 + states / 3) {  // ends in the middle of something
      options limited = o;
      limited.state_limit = states;
      search cut_short(limited);
      REQUIRE(detail::apart_search{}(g, cut_short).lower_bound <= optimum);
    }
    const auto a = schedule(p, automatic, o);
    REQUIRE(a.peak == optimum);
    REQUIRE(a.lower_bound == optimum);
  });
  CAPTURE(asked, found, proven);
  REQUIRE(found > asked * 95 / 100);
  REQUIRE(proven > asked * 80 / 100);
}

TEST_CASE("copies of a graph that is proven alone are proven") {
  for (const char* name : {"windowed:60:12:1", "windowed:100:20:2", "layered:20:6:1", "watts_strogatz:40:1", "randwire:2"})
    for (const std::size_t n : {2U, 3U}) {
      INFO(n << " of " << name);
      const problem one = copies(name, 1), several = copies(name, n);
      const options o{.state_limit = 300000};
      REQUIRE(schedule(one, automatic, o).verdict() == verdict::optimal);
      const auto r = schedule(several, automatic, o);
      CAPTURE(r.peak, r.lower_bound);
      CHECK(r.verdict() == verdict::optimal);
    }
}

TEST_CASE("with more work the search of components is never worse") {
  for (const char* name : {"windowed:60:12:1", "layered:20:6:1"}) {
    INFO(name);
    check_never_worse(copies(name, 2));
  }
}
