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
