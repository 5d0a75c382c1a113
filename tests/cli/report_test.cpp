// Tests the reasons, savings and timelines of a report against every order of small random graphs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cli/report/reason.hpp>
#include <cli/report/timeline.hpp>
#include <memsched/graph/check.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>

#include "support/all_orders.hpp"
#include "support/random_problem.hpp"

using namespace memsched;

namespace {

const memory_model models[] = {{firing::pbc, true}, {firing::cbp, true}, {firing::pbc, false}};

bytes sum(const std::vector<cli::part>& parts) {
  bytes total = 0;
  for (const cli::part& x : parts) total += x.size;
  return total;
}

bool holds(const std::vector<cli::part>& parts, tensor_id t) {
  return std::any_of(parts.begin(), parts.end(), [&](const cli::part& x) { return x.tensor == t; });
}

options with(memory_model model) {
  options o;
  o.default_firing = model.default_firing;
  o.in_place = model.in_place;
  return o;
}

}  // namespace

TEST_CASE("the parts of a timeline are what the referee counts, and its moments are the largest of their steps") {
  std::size_t in_place = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const problem p = support::random_problem(seed, {.operators = 12});
    for (const memory_model model : models) {
      const auto order = schedule(p, as_given{}, with(model)).order;
      const evaluation e = evaluate(p, order, model).value();
      const cli::timeline all = cli::make_timeline(p, order, model, order.size());
      REQUIRE(all.moments.size() == order.size());
      for (std::size_t i = 0; i < order.size(); ++i) {
        CHECK(all.moments[i].step == i);
        CHECK(all.moments[i].during == e.during[i]);
        CHECK(sum(all.moments[i].parts) == e.during[i]);
        for (const tensor_id t : p.creates(order[i])) {
          const auto& parts = all.moments[i].parts;
          const auto at = std::find_if(parts.begin(), parts.end(), [&](const cli::part& x) { return x.tensor == t; });
          in_place += (at == parts.end() ? 0 : at->size) < p.size(t);
        }
        for (const cli::part& x : all.moments[i].parts) {
          if (x.tensor == none) continue;
          CHECK(all.lives[x.tensor].first <= i);
          CHECK(all.lives[x.tensor].last >= i);
        }
      }
      for (const std::size_t close : {0U, 1U}) {
        const cli::timeline few = cli::make_timeline(p, order, model, 5, close);
        std::size_t next = 0;
        for (const cli::moment& m : few.moments) {
          CHECK(m.first == next);
          CHECK((m.step >= m.first && m.step < m.first + m.steps));
          for (std::size_t i = m.first; i < m.first + m.steps; ++i) CHECK(e.during[i] <= m.during);
          CHECK(sum(m.parts) == m.during);
          const auto apart = m.first < e.peak_step ? e.peak_step - m.first : m.first - e.peak_step;
          if (close > 0 && apart <= close) CHECK(m.steps == 1);
          next += m.steps;
        }
        CHECK(next == order.size());
      }
    }
  }
  CHECK(in_place > 100);
}

TEST_CASE("what must be together while an operator runs is, in every order, and takes no more than the bound") {
  std::size_t reasons = 0, others = 0, befores = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const problem p = support::random_problem(seed, {.operators = 6});
    for (const memory_model model : models) {
      const auto found = schedule(p, with(model));
      const cli::reason r = cli::find_reason(p, found.order, with(model));
      CHECK(r.bound <= found.peak);
      if (r.op == none) continue;
      ++reasons;
      CHECK(r.together_bytes <= r.bound);
      others += r.together_bytes < r.bound;
      bytes least = ~bytes{0};
      const auto look = [&](const std::vector<op_id>& order) {
        const auto step = static_cast<std::size_t>(std::find(order.begin(), order.end(), r.op) - order.begin());
        const cli::timeline t = cli::make_timeline(p, order, model, order.size());
        const evaluation e = evaluate(p, order, model).value();
        const bytes before = step == 0 ? p.live_at_start() : e.after[step - 1];
        least = std::min(least, r.before ? before : e.during[step]);
        befores += r.before;
        for (const tensor_id x : r.together) {
          if (!r.before && (p.producer(x) == r.op || holds(t.moments[step].parts, x))) continue;
          const cli::lifetime& life = t.lives[x];
          if (!r.before || (p.producer(x) != none && life.first >= step) || life.last < step)
            FAIL_CHECK("tensor " << x << " is not there");
        }
      };
      std::vector<op_id> prefix;
      support::for_each_order(p, prefix, look);
      CHECK(least >= r.bound);
    }
  }
  CHECK(reasons > 600);
  CHECK(others > 100);
  CHECK(befores > 0);
}

TEST_CASE("a saving is what the smallest peak without a tensor is") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const problem p = support::random_problem(seed, {.operators = 6});
    const auto found = schedule(p);
    std::vector<tensor_id> tensors;
    for (const tensor_id t : evaluate(p, found.order).value().live_at_peak) tensors.push_back(t);
    for (const cli::saving& s : cli::find_savings(p, found.order, tensors, true, {})) {
      problem_draft draft = p.draft();
      draft.tensors[s.tensor].size = 0;
      const problem without = make_problem(std::move(draft)).value();
      bytes least = ~bytes{0};
      const auto look = [&](const std::vector<op_id>& order) { least = std::min(least, evaluate(without, order)->peak); };
      std::vector<op_id> prefix;
      support::for_each_order(without, prefix, look);
      CHECK(s.best_order == least);
      CHECK(s.bound == least);
      CHECK(s.same_order == evaluate(without, found.order)->peak);
    }
  }
}
