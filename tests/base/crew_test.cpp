// Threads that share tasks and do jobs.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memsched/base/crew.hpp>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

using namespace memsched;

TEST_CASE("a crew runs each task once, and no member two at a time") {
  for (const unsigned threads : {1U, 2U, 5U}) {
    base::crew c(threads);
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
  base::crew c(2);
  for (int i = 0; i < 300; ++i) {
    int done = 0, other = 0;
    std::atomic<int> tasks = 0;
    const auto what = [&] { ++done; };
    const auto second = [&] { ++other; };
    base::crew::job j(what), k(second);
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
      base::crew c(threads);
      const auto never = [] { return false; };
      const base::helpers who{threads == 1 ? nullptr : &c, never};
      std::atomic<std::size_t> asked = 0;
      std::vector<std::size_t> used;
      const auto ask = [&](std::size_t i, std::size_t member) { return ++asked, member < threads ? 10 * i : 0; };
      const auto use = [&](std::size_t i, auto&& answer) { return used.push_back(answer()), i != last; };
      REQUIRE(base::ask_ahead(who, 9, ask, use) == (last > 8));
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < 9 && i <= last; ++i) expected.push_back(10 * i);
      REQUIRE(used == expected);
      REQUIRE(asked == (threads == 1 ? used.size() : 9));
    }
}

namespace {

/// Starts `left` threads and then none.
struct few_threads {
  unsigned left;
  std::thread operator()(std::function<void()> f) {
    if (left == 0) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    --left;
    return std::thread(std::move(f));
  }
};

struct fault {};

}  // namespace

TEST_CASE("a crew has the threads that the system gives, and does all tasks and jobs with them") {
  for (const unsigned given : {0U, 1U, 3U}) {
    base::crew c(8, few_threads{given});
    REQUIRE(c.size() == given + 1);
    std::atomic<int> runs = 0, jobs = 0;
    c.run(100, [&](std::size_t, std::size_t member) { runs += member < c.size() ? 1 : 1000; });
    REQUIRE(runs == 100);
    base::run_beside(
        &c, [] { return true; }, [&] { ++jobs; });
    REQUIRE(jobs == 1);
  }
}

TEST_CASE("an exception of a task comes out of run when all that began have ended, and the crew goes on") {
  for (const unsigned threads : {1U, 2U, 5U}) {
    base::crew c(threads);
    for (std::size_t bad = 0; bad < 40; ++bad) {
      std::atomic<int> inside = 0;
      std::vector<int> begun(40, 0);
      const auto task = [&](std::size_t i, std::size_t) {
        ++inside, ++begun[i];
        if (i == bad) {
          --inside;
          throw fault{};
        }
        std::this_thread::yield();
        --inside;
      };
      REQUIRE_THROWS_AS(c.run(begun.size(), task), fault);
      REQUIRE(inside == 0);
      REQUIRE(begun[bad] == 1);
      std::atomic<int> runs = 0;
      c.run(7, [&](std::size_t, std::size_t) { ++runs; });
      REQUIRE(runs == 7);
    }
    const auto always = [](std::size_t, std::size_t) { throw fault{}; };
    REQUIRE_THROWS_AS(c.run(100, always), fault);
  }
}

TEST_CASE("an exception of one of two that run side by side is the caller's, and the other has ended") {
  for (const bool with_crew : {false, true})
    for (int round = 0; round < 200; ++round) {
      base::crew c(2);
      base::crew* const team = with_crew ? &c : nullptr;
      std::atomic<int> inside = 0;
      const auto linger = [&] {
        ++inside;
        std::this_thread::yield();
        --inside;
      };
      const auto throws = [] { throw fault{}; };
      const auto says = [](bool needed) { return [needed] { return needed; }; };
      const auto throws_here = [&]() -> bool { throw fault{}; };
      REQUIRE_THROWS_AS(base::run_beside(team, throws_here, linger), fault);
      REQUIRE(inside == 0);
      REQUIRE_THROWS_AS(base::run_beside(team, says(true), throws), fault);
      REQUIRE_NOTHROW(base::run_beside(team, says(false), throws));  // nobody asked for it
      REQUIRE_THROWS_AS(base::run_beside(team, throws_here, throws), fault);
      base::run_beside(team, says(true), linger);
      REQUIRE(inside == 0);
    }
}
