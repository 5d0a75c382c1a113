// Exceptions of hooks, policies and callbacks pass through unchanged, and results answer questions without any.
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/plan.hpp>
#include <memsched/recompute.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <networks/networks.hpp>

namespace {

using namespace memsched;

struct fault {};

/// A chain of three operators, of which the size of one tensor throws where `throws` is set.
struct chain {
  bool throws = false;
  static std::vector<int> ops() { return {0, 1, 2}; }
  std::vector<int> inputs(int op) const { return op == 0 ? std::vector<int>{} : std::vector<int>{op - 1}; }
  std::vector<int> outputs(int op) const { return {op}; }
  bytes size(int tensor) const {
    if (throws && tensor == 1) throw fault{};
    return 4;
  }
};

struct throwing_scheduler {
  solution operator()(const schedule_graph&, search&) const { throw fault{}; }
};
struct throwing_reruns {
  void operator()(rerun_incumbent&, search&) const { throw fault{}; }
};

static_assert(noexcept(schedule_result<int>{}.verdict()) && noexcept(schedule_result<int>{}.fits()));
static_assert(noexcept(static_cast<bool>(std::declval<const schedule_result<int>&>())));
static_assert(noexcept(static_cast<bool>(std::declval<const recompute_result<int>&>())));
static_assert(noexcept(static_cast<bool>(std::declval<const plan_result<int, int>&>())));
static_assert(noexcept(static_cast<bool>(std::declval<const result<int>&>())));
static_assert(noexcept(to_string(verdict::optimal)) && noexcept(to_string(stop_reason::finished)));

}  // namespace

TEST_CASE("an exception of a hook passes through") {
  const chain c{.throws = true};
  REQUIRE_THROWS_AS(schedule(c), fault);
  REQUIRE_THROWS_AS(recompute(c, options{}), fault);
  REQUIRE(schedule(chain{}));
}

TEST_CASE("an exception of a policy passes through") {
  const problem p = make_problem(networks::make("windowed:60:10").value()).value();
  REQUIRE_THROWS_AS(schedule(p, throwing_scheduler{}), fault);
  const problem step = make_problem(networks::make("transformer_step:2:2").value()).value();
  REQUIRE_THROWS_AS(recompute(step, throwing_reruns{}, options{.budget = schedule(step, as_given{}).peak - 1}), fault);
}

TEST_CASE("an exception of a callback passes through, with one thread and with two") {
  const problem p = make_problem(networks::make("windowed:300:30").value()).value();
  for (const unsigned threads : {1U, 2U}) {
    options o;
    o.threads = threads;
    o.state_limit = 20000;
    o.on_progress = [](const progress&) { throw fault{}; };
    REQUIRE_THROWS_AS(schedule(p, o), fault);
    o.on_progress = {};
    REQUIRE(schedule(p, o));  // the problem is as it was
  }
}
