// Certificates of bounds: those that are found hold, and mutated ones that claim too much do not.
#include <catch2/catch.hpp>
#include <memsched/analysis/bounds.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "support/random_problem.hpp"

using namespace memsched;

namespace {

const memory_model models[] = {{}, {.in_place = false}, {.default_firing = firing::cbp}};

/// One change at random.
cut_certificate mutated(cut_certificate c, support::random& r, const schedule_graph& g) {
  switch (r.below(6)) {
    case 0: c.bound += 1 + r.below(9); break;
    case 1: c.v = r.below(static_cast<std::uint32_t>(g.active)); break;
    case 2:
      if (!c.ran.empty()) c.ran.erase(c.ran.begin() + r.below(static_cast<std::uint32_t>(c.ran.size())));
      break;
    case 3: c.ran.push_back(r.below(static_cast<std::uint32_t>(g.size() + 1))); break;
    case 4:
      if (!c.flow.empty()) c.flow[r.below(static_cast<std::uint32_t>(c.flow.size()))].amount += r.below(2) * 2 - 1;
      break;
    default:
      c.flow.push_back({r.below(static_cast<std::uint32_t>(g.size() + 2)), r.below(static_cast<std::uint32_t>(g.size() + 2)), 1 + r.below(5)});
  }
  return c;
}

}  // namespace

TEST_CASE("every bound of a node comes with a certificate that holds") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    for (const memory_model& model : models) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12}), model);
      cut_bound cut(g);
      for (node v = 0; v < g.active; ++v) {
        INFO("seed " << seed << " node " << v);
        REQUIRE(check_certificate(g, cut.certificate(cut.at(v))) == "");
      }
    }
}

TEST_CASE("no certificate that is accepted exceeds the optimum, whatever is done to it") {
  support::random r(7);
  std::size_t rejected = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    for (const memory_model& model : models) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 8}), model);
      const options o;
      search context(o);
      const bytes optimum = exhaustive{}(g, context).lower_bound;
      cut_bound cut(g);
      for (node v = 0; v < g.active; ++v) {
        const cut_certificate good = cut.certificate(cut.at(v));
        for (int i = 0; i < 8; ++i) {
          const cut_certificate bad = mutated(good, r, g);
          if (!check_certificate(g, bad).empty()) ++rejected;
          else REQUIRE(bad.bound <= optimum);
        }
        cut_certificate above = good;
        above.bound = optimum + 1;
        REQUIRE(check_certificate(g, above) != "");
      }
    }
  REQUIRE(rejected > 10000);
}

TEST_CASE("a peak is the next possible one from itself on, and none is passed over") {
  for (std::uint64_t seed = 0; seed < 500; ++seed)
    for (const memory_model& model : models) {
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12, .max_size = 200}), model);
      const options o;
      search context(o);
      for (const auto& order : {as_given{}(g, context).order, kahn{}(g, context).order, rpo{}(g, context).order, greedy{}(g, context).order}) {
        const bytes peak = peak_of(g, order), below = peak - std::min<bytes>(peak, 3);
        INFO("seed " << seed);
        REQUIRE(next_possible_peak(g, peak) == peak);
        REQUIRE(next_possible_peak(g, below) >= below);
        REQUIRE(next_possible_peak(g, below) <= peak);
      }
    }
}

TEST_CASE("sizes of one branch do not blur the peaks of what runs after it") {
  // x of 7 bytes becomes two branches of 100s; what joins them leaves 1 byte.
  problem_builder b;
  const tensor_id x = b.input(7), a = b.tensor(300), c = b.tensor(200), d = b.tensor(100), e = b.tensor(400), out = b.tensor(1);
  b.op({.reads = {x}, .writes = {a, c}});
  b.op({.reads = {a}, .writes = {d}});
  b.op({.reads = {c}, .writes = {e}});
  b.op({.reads = {d, e}, .writes = {out}});
  b.output(out);
  const schedule_graph g = make_schedule_graph(b.build().value());
  REQUIRE(next_possible_peak(g, 8) == 100);    // a multiple of 100 while either branch runs
  REQUIRE(next_possible_peak(g, 502) == 507);  // the first operator
  REQUIRE(next_possible_peak(g, 601) == 700);
}
