// Probing on graphs of some size, where it takes many cuts.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <string>
#include <utility>
#include <vector>

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

TEST_CASE("helpers change no answer of probing and shaving, and not how often they ask, wherever they are stopped") {
  crew three(3);
  const auto over = [] { return false; };
  const helpers who{&three, over};
  for (int seed = 1; seed <= 6; ++seed) {
    const problem p = check(networks::make("windowed:60:20:" + std::to_string(seed)).value()).value();
    const schedule_graph g = make_schedule_graph(p);
    const bytes optimum = schedule(p).peak;
    for (const bytes asked : {optimum - 1, optimum})
      for (const std::size_t slice : {std::size_t{5}, std::size_t{100}, std::size_t{1000000}}) {
        INFO("seed " << seed << " slice " << slice);
        prober one(g), several(g);
        const auto run = [&](prober& q, const helpers& h) {
          std::vector<std::size_t> cuts;
          prober::outcome o = prober::outcome::stopped;
          while (o == prober::outcome::stopped) {
            cuts.push_back(0);
            o = q.run(asked, [&] { return ++cuts.back() <= slice; }, h);
          }
          if (o != prober::outcome::open) return std::pair(o, cuts);
          shaver s(q);
          cuts.push_back(0);
          o = s.run(q, 8, [&] { return ++cuts.back() <= 400; }, h);
          return std::pair(o, cuts);
        };
        REQUIRE(run(one, {}) == run(several, who));
        const auto same = [](const precedence& a, const precedence& b) {
          return a.before == b.before && a.after == b.after;
        };
        REQUIRE(std::equal(one.edges().begin(), one.edges().end(), several.edges().begin(), several.edges().end(), same));
        REQUIRE(one.next() == several.next());
        REQUIRE(one.bytes_held() == several.bytes_held());
      }
  }
}
