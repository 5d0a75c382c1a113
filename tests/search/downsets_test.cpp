// Sets of nodes that have run: stepping against a walk, and the table.
#include <catch2/catch.hpp>
#include <map>
#include <memsched/graph/walk.hpp>
#include <memsched/search/downsets.hpp>

#include "support/random_problem.hpp"

using namespace memsched;

TEST_CASE("a stepper on sets has the levels, peaks and releases of a walk") {
  for (std::uint64_t seed = 0; seed < 500; ++seed)
    for (const memory_model& model : {memory_model{}, memory_model{.default_firing = firing::cbp}}) {
      INFO("seed " << seed);
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12}), model);
      support::random r(seed);
      order_walk w(g);
      memsched::detail::downset_stepper step(g);
      base::bit_set ran(g.active);
      step.start(ran, w.level());
      std::vector<node_id> ready;
      for (node_id v = 0; v < g.active; ++v)
        if (g.preds[v].empty()) ready.push_back(v);
      while (!ready.empty()) {
        std::swap(ready[r.below(static_cast<std::uint32_t>(ready.size()))], ready.back());
        const node_id v = ready.back();
        ready.pop_back();
        w.fire(v, [&](node_id s) { ready.push_back(s); });
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
