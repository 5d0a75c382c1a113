// Probing on graphs of some size, where it takes many cuts.
#include <catch2/catch.hpp>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <string>

using namespace memsched;

TEST_CASE("a probe that is stopped and goes on finds what an uninterrupted one finds") {
  for (int seed = 1; seed <= 12; ++seed) {
    const problem p = check(networks::make("windowed:60:20:" + std::to_string(seed)).value()).value();
    const schedule_graph g = make_schedule_graph(p);
    const bytes high = schedule(p, greedy{}).peak, optimum = schedule(p).peak;
    destructive_search whole(g, g.base);
    whole.run(high, [] { return true; });
    for (const std::size_t slice : {std::size_t{1}, std::size_t{7}, std::size_t{40}}) {
      destructive_search sliced(g, g.base);
      for (int calls = 0; sliced.bound() < high && sliced.unrefuted() != sliced.bound(); ++calls) {
        INFO("seed " << seed << " slice " << slice);
        std::size_t cuts = slice;
        sliced.run(high, [&] { return cuts-- > 0; });
        REQUIRE(sliced.bound() <= optimum);
        REQUIRE(calls < 100000);
      }
      REQUIRE(sliced.bound() == whole.bound());
    }
  }
}

TEST_CASE("a probe that is asked again asks for no cut; sets that are reused hide no edge") {
  for (const char* name : {"windowed:60:20:1", "windowed:60:20:2", "windowed:40:20:22", "windowed:60:40:21"}) {
    const problem p = check(networks::make(name).value()).value();
    const schedule_graph g = make_schedule_graph(p);
    const bytes optimum = schedule(p).peak;
    prober quick(g), plain(g, false);
    const auto go_on = [] { return true; };
    INFO(name);
    for (const bytes peak : {optimum + optimum / 8, optimum, optimum - optimum / 50}) {
      const prober::outcome found = quick.run(peak, go_on);
      REQUIRE(plain.run(peak, go_on) == found);
      if (found == prober::outcome::refuted) break;
      for (node_id u = 0; u < g.active; ++u)
        for (node_id v = 0; v < g.active; ++v)
          if (quick.ordered(u, v) != plain.ordered(u, v)) FAIL("peak " << peak << ": nodes " << u << " and " << v);
      for (prober* again : {&quick, &plain})
        REQUIRE(again->run(peak, [] { return false; }) == prober::outcome::open);
    }
  }
}
