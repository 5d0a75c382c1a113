// Sets of nodes that have run: stepping against a walk, and the table.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memsched/graph/walk.hpp>
#include <memsched/search/downset_moves.hpp>
#include <memsched/search/downsets.hpp>
#include <tuple>
#include <vector>

#include "fuzz/claims/oracle.hpp"
#include "support/random_problem.hpp"
#include "support/random_sums.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Runs nodes in a random order, each when it is ready.
class random_run {
 public:
  random_run(const schedule_graph& g, support::random& r) : walk(g), r_(r) {
    for (node_id v = 0; v < g.active; ++v)
      if (g.preds[v].empty()) ready_.push_back(v);
  }
  bool is_over() const { return ready_.empty(); }
  node_id next() {
    std::swap(ready_[r_.below(static_cast<std::uint32_t>(ready_.size()))], ready_.back());
    const node_id v = ready_.back();
    ready_.pop_back();
    walk.fire(v, [&](node_id s) { ready_.push_back(s); });
    return v;
  }

  order_walk walk;

 private:
  support::random& r_;
  std::vector<node_id> ready_;
};

problem any_sums(std::uint64_t seed, support::random& r) {
  const std::uint32_t values = 2 + r.below(3), sums = 1 + r.below(3), percent = 30 + r.below(60);
  return make_problem(support::random_sums(seed, {values, sums, percent, 1 + r.below(3), r.below(40)})).value();
}

/// Checks that from random downsets of g some move leads on to the smallest peak, and that safe moves do.
void check_that_moves_suffice(const schedule_graph& g, support::random& r) {
  search context{options{}};
  memsched::detail::downset_moves moves(g, context, true);
  const std::vector<bytes> to_go = claims::smallest_peaks_to_go(g);
  for (int k = 0; k < 8; ++k) {
    random_run run(g, r);
    base::bit_set ran(g.active), reached(g.active);
    for (std::size_t left = r.below(static_cast<std::uint32_t>(g.active)); left > 0; --left) ran.insert(run.next());
    const delta level = run.walk.level();
    const bytes optimum = to_go[base::const_bit_row(ran)[0]];
    bytes best = no_limit;
    for (const auto& m : moves.from(ran, level)) {
      moves.reach(m.target, ran, reached);
      best = std::min(best, std::max(static_cast<bytes>(m.peak), to_go[base::const_bit_row(reached)[0]]));
    }
    REQUIRE(best == optimum);
    delta here = level;
    while (const auto m = moves.safe_from(ran, here, static_cast<delta>(optimum))) {
      moves.reach(m->target, ran, reached);
      ran = reached;
      here = m->level;
      REQUIRE(to_go[base::const_bit_row(ran)[0]] <= optimum);
    }
  }
}

}  // namespace

TEST_CASE("from any downset some move leads on to the smallest peak, and so do safe moves") {
  for (std::uint64_t seed = 0; seed < support::seeds(8000); ++seed)
    for (const options& o : {options{}, options{.default_firing = firing::cbp}, options{.in_place = false}}) {
      INFO("seed " << seed);
      support::random r(seed);
      const schedule_graph sums = make_schedule_graph(any_sums(seed, r), o.model());
      if (sums.active <= 15) check_that_moves_suffice(sums, r);
      check_that_moves_suffice(support::random_costs_of_sums(r), r);
      if (seed % 4 == 0)
        check_that_moves_suffice(make_schedule_graph(support::random_problem(seed, {.operators = 9}), o.model()), r);
    }
}

TEST_CASE("a stepper on sets has the levels, peaks and releases of a walk") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed)
    for (const memory_model& model : {memory_model{}, memory_model{.default_firing = firing::cbp}}) {
      INFO("seed " << seed);
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12}), model);
      support::random r(seed);
      random_run run(g, r);
      const order_walk& w = run.walk;
      memsched::detail::downset_stepper step(g);
      base::bit_set ran(g.active);
      step.start(ran, w.level());
      while (!run.is_over()) {
        const node_id v = run.next();
        step.run(v);
        ran.insert(v);
        REQUIRE(step.level() == w.level());
        REQUIRE(step.peak() == w.peak());
        if (r.chance(30)) {  // from there on, as from anywhere else
          const delta peak = step.peak();
          step.start(ran, w.level());
          REQUIRE(step.peak() == w.level());
          REQUIRE(peak >= step.peak());
          break;
        }
      }
    }
}

TEST_CASE("a stepper runs on from any set, wherever it was before") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const schedule_graph g = seed % 2 == 0 ? make_schedule_graph(any_sums(seed, r))
                                           : make_schedule_graph(support::random_problem(seed, {.operators = 12}));
    memsched::detail::downset_stepper step(g);
    for (int k = 0; k < 20; ++k) {
      random_run run(g, r);
      base::bit_set ran(g.active);
      for (std::size_t left = r.below(static_cast<std::uint32_t>(g.active)); left > 0; --left) ran.insert(run.next());
      const delta level = run.walk.level();
      for (int again = 0; again < 2; ++again) {  // two ways on from one set
        step.start(ran, level);
        random_run way = run;
        while (!way.is_over() && r.chance(80)) {
          step.run(way.next());
          REQUIRE(step.level() == way.walk.level());
        }
      }
    }
  }
}

TEST_CASE("moves from a downset are the same wherever moves were asked for before") {
  using moves = memsched::detail::downset_moves;
  const auto listed = [](const auto& list) {
    std::vector<std::tuple<node_id, delta, delta>> all;
    for (const auto& m : list) all.emplace_back(m.target, m.peak, m.level);
    return all;
  };
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(400); ++seed)
    for (const options& o : {options{}, options{.default_firing = firing::cbp}, options{.in_place = false}}) {
      INFO("seed " << seed);
      support::random r(seed);
      const schedule_graph g = make_schedule_graph(
          seed % 2 == 0 ? any_sums(seed, r)
                        : support::random_problem(seed, {.operators = 4 + r.below(20), .max_inputs = 1 + r.below(4)}),
          o.model());
      search context(o);
      const bool macros = r.chance(80);
      moves asked_before(g, context, macros);
      for (int k = 0; k < 20; ++k) {
        random_run run(g, r);
        const order_walk& w = run.walk;
        base::bit_set ran(g.active);
        for (std::size_t left = r.below(static_cast<std::uint32_t>(g.active)); left > 0; --left) ran.insert(run.next());
        REQUIRE(listed(asked_before.from(ran, w.level())) == listed(moves(g, context, macros).from(ran, w.level())));
        const delta peak = w.level() + r.below(100);
        memsched::detail::downset_stepper by_hand(g);
        by_hand.start(ran, w.level());
        while (const auto safe = asked_before.safe_from(ran, by_hand.level(), peak)) {
          const auto again = moves(g, context, macros).safe_from(ran, by_hand.level(), peak);
          REQUIRE((again && again->target == safe->target));
          for (node_id v : asked_before.path_to(safe->target, ran)) by_hand.run(v);
          REQUIRE(by_hand.peak() <= peak);
          REQUIRE(by_hand.level() == safe->level);
          base::bit_set reached(g.active);
          asked_before.reach(safe->target, ran, reached);
          ran = reached;
          REQUIRE(std::ranges::equal(base::const_bit_row(ran), by_hand.set()));
        }
        const delta level = by_hand.level();
        const auto after = listed(asked_before.from(ran, level));
        REQUIRE(after == listed(moves(g, context, macros).from(ran, level)));
        for (const auto& [target, highest, end] : after) {
          by_hand.start(ran, level);
          for (node_id v : asked_before.path_to(target, ran)) by_hand.run(v);
          REQUIRE(by_hand.peak() == highest);
          REQUIRE(by_hand.level() == end);
        }
        compared += after.size();
      }
    }
  REQUIRE(compared > support::seeds(10000));
}

TEST_CASE("a table knows equal sets again and hands out places in order, through growth") {
  memsched::detail::downset_table table(130);
  std::map<std::vector<base::bit_word>, index_t> model;
  support::random r(1);
  for (int i = 0; i < 20000; ++i) {
    const std::vector<base::bit_word> row{r.below(20), r.chance(50) ? 0 : ~base::bit_word{0}, r.below(200)};
    const auto [place, fresh] = table.insert(row);
    const auto [known, first] = model.emplace(row, static_cast<index_t>(model.size()));
    REQUIRE(fresh == first);
    REQUIRE(place == known->second);
  }
  REQUIRE(table.size() == model.size());
  for (const auto& [row, place] : model) REQUIRE(std::equal(row.begin(), row.end(), table[place].begin()));
  REQUIRE(table.bytes_held() >= table.size() * 3 * sizeof(base::bit_word));
}
