// The lowest set of nodes that can have run, against all sets.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/bounds/lowest_set.hpp>
#include <memsched/graph/schedule_graph.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

TEST_CASE("with all nodes free, no set of nodes that can have run adds less") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed)
    for (const memory_model& model : {memory_model{}, memory_model{.default_firing = firing::cbp}}) {
      INFO("seed " << seed);
      const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 8}), model);
      if (g.size() > 16) continue;
      bounds::lowest_set lowest(g);
      lowest.clear();
      for (node_id v = 0; v < g.size(); ++v) lowest.add(v);
      const delta found = lowest.solve(g.preds);
      delta best = 0, held = 0;
      for (std::uint32_t set = 0; set < std::uint32_t{1} << g.size(); ++set) {
        delta sum = 0;
        bool closed = true;
        for (node_id v = 0; v < g.size(); ++v) {
          if (!(set >> v & 1)) continue;
          sum += g.cost[v].impact;
          closed = closed && std::all_of(g.preds[v].begin(), g.preds[v].end(), [&](node_id u) { return set >> u & 1; });
        }
        if (closed) best = std::min(best, sum);
      }
      REQUIRE(found == best);
      for (node_id v = 0; v < g.size(); ++v)
        if (lowest.holds(v)) held += g.cost[v].impact;
      REQUIRE(held == best);
    }
}

TEST_CASE("a node's credits count where all that their release waits for may have run") {
  std::size_t gained = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(800); ++seed) {
    INFO("seed " << seed);
    const problem p = support::random_problem(seed, {.operators = 7, .percent_inplace = 90});
    const schedule_graph g = make_schedule_graph(p);
    if (g.size() > 14) continue;
    bounds::lowest_set lowest(g);
    for (node_id v = 0; v < g.active; ++v) {
      if (g.credits[v].empty()) continue;
      // Free: all that neither waits for v nor runs before it.
      std::vector<int> when(g.size(), 0);  // 1: before, 2: after
      for (bool more = true; more;) {
        more = false;
        for (node_id w = 0; w < g.size(); ++w)
          for (node_id u : g.preds[w]) {
            if ((w == v || when[w] == 1) && when[u] != 1) when[u] = 1, more = true;
            if ((u == v || when[u] == 2) && when[w] != 2) when[w] = 2, more = true;
          }
      }
      lowest.clear();
      std::vector<node_id> free;
      for (node_id u = 0; u < g.size(); ++u)
        if (u != v && when[u] == 0) lowest.add(u), free.push_back(u);
      const delta found = lowest.solve(g.preds, v, [&](node_id u) { return when[u] == 1; });
      delta best = 0;
      bool any = false;
      for (std::uint32_t set = 0; set < std::uint32_t{1} << free.size(); ++set) {
        const auto ran = [&](node_id u) {
          if (u == v || when[u] == 1) return true;
          const auto at = std::find(free.begin(), free.end(), u);
          return at != free.end() && (set >> (at - free.begin()) & 1) != 0;
        };
        delta sum = 0;
        bool closed = true;
        for (node_id u : free)
          if (ran(u)) {
            sum += g.cost[u].impact;
            closed = closed && std::all_of(g.preds[u].begin(), g.preds[u].end(), ran);
          }
        for (const auto& c : g.credits[v]) {
          const auto readers = g.preds[c.release];
          if (std::all_of(readers.begin(), readers.end(), ran)) sum -= c.amount, any = any || closed;
        }
        if (closed) best = std::min(best, sum);
      }
      gained += any;
      REQUIRE(found == best);
    }
  }
  CHECK(gained > 50);
}
