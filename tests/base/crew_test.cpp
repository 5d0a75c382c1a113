// Threads that share tasks and do jobs.
#include <atomic>
#include <catch2/catch.hpp>
#include <memsched/base/crew.hpp>
#include <vector>

using namespace memsched;

TEST_CASE("a crew runs each task once, and no member two at a time") {
  for (const unsigned threads : {1U, 2U, 5U}) {
    crew c(threads);
    REQUIRE(c.size() == threads);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{200}}) {
      std::vector<int> runs(count, 0);
      std::vector<std::atomic<int>> busy(threads);
      std::atomic<bool> alone = true;
      c.run(count, [&](std::size_t i, std::size_t member) {
        if (++busy[member] != 1) alone = false;
        ++runs[i];
        --busy[member];
      });
      REQUIRE(runs == std::vector<int>(count, 1));
      REQUIRE(alone);
    }
  }
}

TEST_CASE("a job is done once by the time it is finished, while tasks go on; or never where it is not needed") {
  crew c(2);
  for (int i = 0; i < 300; ++i) {
    int done = 0, other = 0;
    std::atomic<int> tasks = 0;
    const auto what = [&] { ++done; };
    const auto second = [&] { ++other; };
    crew::job j(what), k(second);
    c.start(j);
    c.start(k);
    c.run(4, [&](std::size_t, std::size_t) { ++tasks; });
    c.finish(j, true);
    c.finish(k, i % 2 == 0);
    REQUIRE(done == 1);
    REQUIRE(tasks == 4);
    REQUIRE(other <= 1);
    if (i % 2 == 0) REQUIRE(other == 1);
  }
}

TEST_CASE("what is asked ahead is used in order, up to the first that is enough") {
  for (const unsigned threads : {1U, 2U, 5U})
    for (const std::size_t last : {std::size_t{0}, std::size_t{3}, std::size_t{100}}) {
      crew c(threads);
      const auto never = [] { return false; };
      const helpers who{threads == 1 ? nullptr : &c, never};
      std::atomic<std::size_t> asked = 0;
      std::vector<std::size_t> used;
      const auto ask = [&](std::size_t i, std::size_t member) { return ++asked, member < threads ? 10 * i : 0; };
      const auto use = [&](std::size_t i, auto&& answer) { return used.push_back(answer()), i != last; };
      REQUIRE(ask_ahead(who, 9, ask, use) == (last > 8));
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < 9 && i <= last; ++i) expected.push_back(10 * i);
      REQUIRE(used == expected);
      REQUIRE(asked == (threads == 1 ? used.size() : 9));
    }
}
