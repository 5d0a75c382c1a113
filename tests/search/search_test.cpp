// The context of a search: which limit ends what, and what goes on after it.
#include <catch2/catch.hpp>
#include <memsched/base/crew.hpp>
#include <memsched/search/search.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace memsched;
using namespace std::chrono_literals;

namespace {

/// Counts states until told to stop, `most` at most. Returns the number of states counted.
std::uint64_t count_states(search& c, std::uint64_t most = 1000) {
  std::uint64_t n = 0;
  while (n < most && (++n, c.count_state())) {
  }
  return n;
}

}  // namespace

TEST_CASE("a state limit ends a search at that state") {
  search c(options{.state_limit = 10});
  CHECK(count_states(c) == 10);
  CHECK(c.stopped());
  CHECK(c.control().reason() == stop_reason::state_limit);
  CHECK(c.control().stats.states == 10);
  CHECK(!c.keep_going());
}

TEST_CASE("a slice of states ends what runs in it, and the search goes on after it") {
  search c(options{.state_limit = 100});
  CHECK(c.control().with_states(10, [&] { return count_states(c); }) == 10);
  CHECK(!c.stopped());
  CHECK(c.control().reason() == stop_reason::finished);
  CHECK(c.control().states_left() == 90);
  SECTION("an inner slice is no longer than the outer one") {
    c.control().with_states(20, [&] {
      CHECK(c.control().states_left() == 20);
      CHECK(c.control().with_states(50, [&] { return count_states(c); }) == 20);
      CHECK(c.stopped());  // the outer slice is used up
      return 0;
    });
    CHECK(!c.stopped());
  }
  SECTION("a slice that reaches the limit of the whole ends the whole") {
    CHECK(c.control().with_states(90, [&] { return count_states(c); }) == 90);
    CHECK(c.stopped());
    CHECK(c.control().reason() == stop_reason::state_limit);
  }
  SECTION("a slice without end is no slice") {
    CHECK(c.control().with_states(no_limit, [&] { return count_states(c); }) == 90);
    CHECK(c.stopped());
  }
}

TEST_CASE("a slice of work ends what runs in it, in branches too") {
  search c(options{});
  c.control().with_work(20, [&] {
    search branch = c.control().branch({});
    CHECK(count_states(branch, 10) == 10);
    c.control().absorb(branch.control());
    CHECK(!c.stopped());
    CHECK(c.control().with_work(50, [&] { return count_states(c); }) == 10);
    CHECK(c.stopped());  // the outer slice is used up
    return 0;
  });
  CHECK(!c.stopped());
  c.control().with_work(10, [&] {
    search branch = c.control().branch({});
    count_states(branch, 10);
    c.control().absorb(branch.control());
    CHECK(c.stopped());
    return 0;
  });
  CHECK(!c.stopped());
}

TEST_CASE("a search has as many threads as it may, up to sixteen, and none for itself alone") {
  const auto threads = [](unsigned n) {
    search c(options{.threads = n});
    const base::crew* team = c.control().team();
    return team == nullptr ? 1 : team->size();
  };
  CHECK(threads(1) == 1);
  CHECK(threads(3) == 3);
  CHECK(threads(100) == 16);
}

TEST_CASE("a trial's limits end the trial, and say which") {
  search c(options{.memory_limit = 100});
  SECTION("states of one step") {
    const auto [counted, end] = c.control().with_trial({.step_states = 5}, [&] {
      const std::uint64_t first = count_states(c, 4);
      CHECK(!c.stopped());
      c.control().begin_step();  // a step of its own
      return first + count_states(c);
    });
    CHECK(counted == 4 + 6);  // the sixth is one too many
    CHECK(end == detail::trial_end::step);
    CHECK(!c.stopped());
  }
  SECTION("memory") {
    const auto [fits, end] = c.control().with_trial({}, [&] { return c.fits(101); });
    CHECK(!fits);
    CHECK(end == detail::trial_end::memory);
    CHECK(!c.stopped());  // the next trial may need less
    CHECK(c.control().reason() == stop_reason::finished);
  }
  SECTION("time of one step") {
    const auto [unused, end] = c.control().with_trial({.step_time = 1ms}, [&] {
      std::this_thread::sleep_for(5ms);
      CHECK(!c.keep_going());
      return 0;
    });
    CHECK(end == detail::trial_end::step);
    CHECK(!c.stopped());
  }
  SECTION("time that is enough") {
    const auto [unused, end] = c.control().with_trial({.step_time = 1h}, [&] { return c.keep_going(); });
    CHECK(unused);
    CHECK(end == detail::trial_end::finished);
    CHECK(c.control().seconds() < 3600);
  }
  SECTION("nothing") {
    const auto [unused, end] = c.control().with_trial({.step_states = 5}, [&] { return count_states(c, 5); });
    CHECK(end == detail::trial_end::finished);
  }
}

TEST_CASE("outside a trial, tables beyond the memory limit end the search; what is asked is not what is held") {
  search c(options{.memory_limit = 100});
  CHECK(c.fits(60));
  CHECK(c.control().stats.memory == 60);
  CHECK(c.fits(40));
  CHECK(c.control().stats.memory == 60);
  CHECK(!c.fits(no_limit));
  CHECK(c.control().stats.memory == 100);
  CHECK(c.control().reason() == stop_reason::memory_limit);
}

TEST_CASE("a share of the time ends what runs in it alone; without a time limit there is none") {
  search c(options{.time_limit = 10s});
  c.control().with_share(0, [&] {
    CHECK(!c.keep_going());
    return 0;
  });
  CHECK(c.keep_going());
  search endless(options{});
  endless.control().with_share(0, [&] {
    CHECK(endless.keep_going());
    return 0;
  });
}

TEST_CASE("what is left of a time limit is never negative, and endless without one") {
  using std::chrono::nanoseconds;
  const auto now = std::chrono::steady_clock::now();
  const options limited{.time_limit = 10s};
  CHECK(limited.has_time_limit());
  CHECK(limited.time_left(now) <= 10s);
  CHECK(limited.time_left(now + 5s) > 10s);
  CHECK(limited.time_left(now - 5s) <= 5s);
  CHECK(limited.time_left(now - 11s) == 0s);
  CHECK(options{.time_limit = nanoseconds::min()}.time_left(now) == 0s);
  CHECK(!options{}.has_time_limit());
  CHECK(options{}.time_left(now) == nanoseconds::max());
  CHECK(search(limited).control().time_left() <= 10s);
  CHECK(search(options{.time_limit = 0s}).control().time_left() == 0s);
  CHECK(search(options{}).control().time_left() == nanoseconds::max());
}

TEST_CASE("a stop token ends a search; the first reason stands") {
  std::stop_source stop;
  search c(options{.state_limit = 3, .stop = stop.get_token()});
  CHECK(c.keep_going());
  stop.request_stop();
  CHECK(!c.keep_going());
  CHECK(c.control().reason() == stop_reason::cancelled);
  count_states(c);
  CHECK(c.control().reason() == stop_reason::cancelled);
}

TEST_CASE("who sees that no more effort helps ends a search as a memory limit does, but not after its deadline") {
  search early(options{});
  early.control().out_of_memory();
  CHECK(early.control().reason() == stop_reason::memory_limit);
  search late(options{.time_limit = 0ns});
  CHECK(late.control().reason() == stop_reason::finished);  // it has not looked at the clock
  late.control().out_of_memory();
  CHECK(late.control().reason() == stop_reason::time_limit);
}

TEST_CASE("a query holds while what it asks runs, and comes back, also after an exception") {
  search c(options{.state_limit = 100});
  c.ask(c.asked().from(10), [&] {
    CHECK(c.asked().target == 10);
    CHECK(c.asked().from(5).target == 10);
    c.ask({3, 7}, [&] {
      CHECK(c.asked().target == 3);
      CHECK(c.asked().cutoff == 7);
      return 0;
    });
    CHECK(c.asked().cutoff == no_limit);
    return 0;
  });
  CHECK(c.asked().target == 0);
  const auto fails = [&]() -> int { throw std::runtime_error("of a policy"); };
  const auto asks = [&] {
    return c.control().with_states(1, [&] { return c.control().with_share(0, [&] { return c.ask({3, 7}, fails); }); });
  };
  CHECK_THROWS(asks());
  CHECK(c.asked().cutoff == no_limit);
  CHECK(c.control().states_left() == 100);
  CHECK(c.keep_going());
}

TEST_CASE("what is told is the best of all that was told; asides are not told") {
  std::vector<progress> told;
  search c(options{.on_progress = [&](const progress& p) { told.push_back(p); }});
  c.report(no_limit, 5);  // no order yet: nothing to tell
  CHECK(told.empty());
  c.report(50, 0);
  c.report(60, 7);
  c.control().aside([&] { return (c.report(1, 100), 0); });
  REQUIRE(told.size() == 3);
  CHECK(told[0].peak == 50);
  CHECK(told[0].lower_bound == 5);
  CHECK(told[1].peak == 50);
  CHECK(told[1].lower_bound == 7);
  CHECK(told[2].peak == 50);
  CHECK(told[2].lower_bound == 7);
  c.control().with_rest(55, [&] { return (c.report(20, 0), 0); });  // of a part beside which others take 55
  CHECK(told.back().peak == 50);
}

TEST_CASE("a budget and a gap are answered by what is told") {
  SECTION("an order that fits") {
    search c(options{.budget = 40});
    c.report(50, 10);
    CHECK(!c.control().answered());
    c.report(40, 10);
    CHECK(c.control().answered());
    CHECK(c.stopped());
    CHECK(c.control().reason() == stop_reason::finished);
  }
  SECTION("a bound above it") {
    search c(options{.budget = 40});
    c.report(50, 41);
    CHECK(c.control().answered());
  }
  SECTION("a bound that equals it says nothing") {
    search c(options{.budget = 40});
    c.report(50, 40);
    CHECK(!c.control().answered());
  }
  SECTION("a gap") {
    search c(options{.gap = 0.25});
    c.report(51, 40);
    CHECK(!c.control().answered());
    c.report(50, 40);
    CHECK(c.control().answered());
  }
}

TEST_CASE("two searches beside each other: the first may decide, else both count") {
  for (bool decides : {false, true}) {
    search c(options{});
    c.control().beside([&](search& here) { return count_states(here, 10), decides; },
                       [&](search& there) { count_states(there, 20); });
    CHECK(c.control().stats.states == (decides ? 10u : 30u));
    CHECK(!c.stopped());
  }
}

TEST_CASE("a branch counts for itself until what it counted is taken over, once") {
  search c(options{.state_limit = 100});
  c.control().stats.nodes = 5, c.control().stats.memory = 7;
  count_states(c, 10);
  search branch = c.control().branch({});
  CHECK(branch.control().stats.states == 0);
  CHECK(branch.control().states_left() == 90);
  count_states(branch, 20);
  branch.control().stats.nodes = 3, branch.control().stats.memory = 9, branch.control().stats.cuts = 2,
  branch.control().stats.parts = 4;
  CHECK(c.control().stats.states == 10);
  c.control().absorb(branch.control());
  CHECK(c.control().stats.states == 30);
  CHECK(c.control().stats.cuts == 2);
  CHECK(c.control().stats.parts == 4);
  CHECK(c.control().stats.nodes == 5);
  CHECK(c.control().stats.memory == 9);
  CHECK(branch.control().states_left() == 70);
  c.control().absorb(branch.control());
  CHECK(c.control().stats.states == 30);
  CHECK(c.control().stats.memory == 9);
  CHECK(!c.stopped());
  count_states(branch, 70);
  c.control().absorb(branch.control());
  CHECK(c.control().reason() == stop_reason::state_limit);
}
