// Probing on graphs of some size, where it takes many cuts.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <memsched/base/crew.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/bounds/shaving.hpp>
#include <memsched/memsched.hpp>
#include <networks/networks.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/small_graphs.hpp"

using namespace memsched;

TEST_CASE("a probe that is stopped and goes on finds what an uninterrupted one finds") {
  for (int seed = 1; seed <= 12; ++seed) {
    const problem p = make_problem(networks::make("windowed:60:20:" + std::to_string(seed)).value()).value();
    const schedule_graph g = make_schedule_graph(p);
    const bytes high = schedule(p, greedy{}).peak, optimum = schedule(p).peak;
    bounds::destructive_search whole(g, g.base);
    whole.run(high, [](auto) { return true; });
    for (const std::size_t slice : {std::size_t{1}, std::size_t{7}, std::size_t{40}}) {
      bounds::destructive_search sliced(g, g.base);
      for (int calls = 0; sliced.bound() < high && sliced.unrefuted() != sliced.bound(); ++calls) {
        INFO("seed " << seed << " slice " << slice);
        std::size_t cuts = slice;
        sliced.run(high, [&](auto) { return cuts-- > 0; });
        REQUIRE(sliced.bound() <= optimum);
        REQUIRE(calls < 100000);
      }
      REQUIRE(sliced.bound() == whole.bound());
    }
  }
}

TEST_CASE("helpers change no answer of probing and shaving, and no cut that they count, wherever they are stopped") {
  base::crew three(3);
  const auto over = [] { return false; };
  const base::helpers who{&three, over};
  for (int seed = 1; seed <= 6; ++seed) {
    const problem p = make_problem(networks::make("windowed:60:20:" + std::to_string(seed)).value()).value();
    const schedule_graph g = make_schedule_graph(p);
    const bytes optimum = schedule(p).peak;
    for (const bytes asked : {optimum - 1, optimum})
      for (const std::size_t slice : {std::size_t{5}, std::size_t{100}, std::size_t{1000000}}) {
        INFO("seed " << seed << " slice " << slice);
        bounds::prober one(g), several(g);
        const auto run = [&](bounds::prober& q, const base::helpers& h) {
          std::vector<std::vector<std::uint64_t>> cuts;  // of each call
          const auto up_to = [&](std::size_t most) {
            return [&cuts, most](std::uint64_t visits) { return cuts.back().push_back(visits), cuts.back().size() <= most; };
          };
          bounds::prober::outcome o = bounds::prober::outcome::stopped;
          while (o == bounds::prober::outcome::stopped) {
            cuts.emplace_back();
            o = q.run(asked, up_to(slice), h);
          }
          if (o != bounds::prober::outcome::open) return std::pair(o, cuts);
          bounds::shaver s;
          cuts.emplace_back();
          o = s.run(q, 8, up_to(400), h);
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

TEST_CASE("shaving that is stopped while it collects its questions goes on, and finds what it finds at once") {
  for (int seed = 1; seed <= 3; ++seed) {
    INFO("seed " << seed);
    const problem p = make_problem(networks::make("windowed:120:40:" + std::to_string(seed)).value()).value();
    const schedule_graph g = make_schedule_graph(p);
    const auto go_on = [](auto) { return true; };
    bounds::prober whole(g), sliced(g);
    for (bounds::prober* q : {&whole, &sliced}) REQUIRE(q->run(schedule(p).peak, go_on) == bounds::prober::outcome::open);
    const auto found = bounds::shaver().run(whole, 8, go_on);
    bounds::shaver s;
    for (int stops = 0; stops < 4; ++stops) {
      const std::uint64_t held = s.bytes_held();
      REQUIRE(s.run(sliced, 8, [](auto) { return false; }) == bounds::prober::outcome::stopped);
      REQUIRE(s.bytes_held() > held);
    }
    REQUIRE(s.run(sliced, 8, go_on) == found);
    const auto same = [](const precedence& a, const precedence& b) { return a.before == b.before && a.after == b.after; };
    REQUIRE(std::equal(whole.edges().begin(), whole.edges().end(), sliced.edges().begin(), sliced.edges().end(), same));
  }
}

TEST_CASE("probing asks whether to go on where sets that it knows answer its questions, too") {
  const schedule_graph g = make_schedule_graph(make_problem(networks::make("layered:3:300:1").value()).value());
  bounds::prober p(g);
  std::size_t cuts = 0, without = 0;
  const auto count = [&](std::uint64_t visits) { return ++cuts, without += visits == g.size(), true; };
  REQUIRE(p.run(no_limit / 4, count) == bounds::prober::outcome::open);
  INFO(cuts << " cuts");
  REQUIRE(without > g.active);
}

TEST_CASE("a probe that is asked again asks for no cut; sets that are reused hide no edge") {
  for (const char* name : {"windowed:60:20:1", "windowed:60:20:2", "windowed:40:20:22", "windowed:60:40:21"}) {
    const problem p = make_problem(networks::make(name).value()).value();
    const schedule_graph g = make_schedule_graph(p);
    const bytes optimum = schedule(p).peak;
    bounds::prober quick(g), plain(g, false);
    const auto go_on = [](auto) { return true; };
    INFO(name);
    for (const bytes peak : {optimum + optimum / 8, optimum, optimum - optimum / 50}) {
      const bounds::prober::outcome found = quick.run(peak, go_on);
      REQUIRE(plain.run(peak, go_on) == found);
      if (found == bounds::prober::outcome::refuted) break;
      for (node_id u = 0; u < g.active; ++u)
        for (node_id v = 0; v < g.active; ++v)
          if (quick.ordered(u, v) != plain.ordered(u, v)) FAIL("peak " << peak << ": nodes " << u << " and " << v);
      for (bounds::prober* again : {&quick, &plain})
        REQUIRE(again->run(peak, [](auto) { return false; }) == bounds::prober::outcome::open);
    }
  }
}

TEST_CASE("probing refutes a peak below which some node cannot run, whatever has run before it") {
  int with_credit = 0;
  support::for_small_graphs(300, [&](const schedule_graph& g, search&, bytes) {
    std::vector<delta> least(g.active, std::numeric_limits<delta>::max()), without_credit = least;
    detail::downset_stepper step(g);
    std::map<std::vector<base::bit_word>, delta> known;
    const auto visit = [&](const auto& self, const base::bit_set& ran, delta level) -> void {
      const base::const_bit_row row = ran;
      if (!known.try_emplace({row.begin(), row.end()}, level).second) return;
      for (node_id v = 0; v < g.active; ++v) {
        const auto before = g.preds[v];
        if (ran[v] || !std::all_of(before.begin(), before.end(), [&](node_id u) { return ran[u]; })) continue;
        step.start(row, level);
        step.run(v);
        least[v] = std::min(least[v], step.peak());
        without_credit[v] = std::min(without_credit[v], level + g.cost[v].peak);
        base::bit_set next = ran;
        next.insert(v);
        self(self, next, step.level());
      }
    };
    visit(visit, base::bit_set(g.active), static_cast<delta>(g.base));
    const auto most = *std::max_element(least.begin(), least.end());
    with_credit += most < *std::max_element(without_credit.begin(), without_credit.end());
    if (most == static_cast<delta>(g.base)) return;
    bounds::prober below(g);
    REQUIRE(below.run(static_cast<bytes>(most - 1), [](auto) { return true; }) == bounds::prober::outcome::refuted);
  });
  REQUIRE(with_credit > 0);
}
