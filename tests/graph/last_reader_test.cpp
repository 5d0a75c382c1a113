// The reader of a tensor that always runs last, and parts of schedule graphs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include <memsched/base/plain_vector.hpp>
#include <memsched/graph/last_reader.hpp>
#include <memsched/structure/induced_subgraph.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

struct readers_found {
  int last = 0, none_last = 0;
};

/// Compares what is found of all tensors of p with what all ancestors say.
void compare(const problem& p, readers_found& found) {
  const std::size_t n = p.ops().size();
  const adjacency succs = base::transpose(p.predecessors(), n);
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
  for (const op_id op : base::topological_order(p.predecessors(), succs))
    for (const op_id b : p.predecessors(op)) {
      before[b][op] = true;
      for (op_id a = 0; a < n; ++a)
        if (before[a][b]) before[a][op] = true;
    }
  detail::last_reader_finder finder(p);
  for (const tensor_id t : p.tensors()) {
    const auto readers = p.readers(t);
    if (readers.size() < 2) continue;
    op_id last = none;
    base::plain_vector<bool> before_another(readers.size(), false);
    for (std::size_t i = 0; i < readers.size(); ++i) {
      const auto comes_before = [&](op_id r) { return r == readers[i] || before[r][readers[i]]; };
      if (std::all_of(readers.begin(), readers.end(), comes_before)) last = readers[i];
      before_another[i] = std::any_of(readers.begin(), readers.end(), [&](op_id r) { return before[readers[i]][r]; });
    }
    INFO("tensor " << t);
    REQUIRE(finder.always_last(readers) == last);
    base::plain_vector<bool> marked;
    finder.mark(readers, marked);
    REQUIRE(marked == before_another);
    ++(last == none ? found.none_last : found.last);
  }
}

}  // namespace

TEST_CASE("the reader that always runs last is the one that all others come before, however operators are numbered") {
  readers_found found;
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed) {
    INFO("seed " << seed);
    compare(support::random_problem(seed, {.operators = 14, .max_inputs = 4}), found);
  }
  REQUIRE(found.last > 100);
  REQUIRE(found.none_last > 100);
}

TEST_CASE("readers of a dense graph, where walks do not suffice, are decided all the same") {
  readers_found found;
  compare(support::random_problem(1, {.operators = 1000, .max_inputs = 20}), found);
  REQUIRE(found.last > 0);
  REQUIRE(found.none_last > 0);
}

TEST_CASE("a part of a schedule graph has its nodes' edges, costs and scopes, and leaves the scratch as it was") {
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 12, .percent_inplace = 50}));
    for (node_id v = 0; v < g.active; ++v) g.scope.push_back(v % 3);
    support::random r(seed);
    std::vector<node_id> members;
    for (node_id v = 0; v < g.size(); ++v)
      if (r.chance(60)) members.push_back(v);
    std::vector<node_id> local(g.size(), none);
    const schedule_graph part = structure::induced_subgraph(g, members, 7, local);
    INFO("seed " << seed);
    REQUIRE(std::all_of(local.begin(), local.end(), [](node_id v) { return v == none; }));
    REQUIRE(part.base == 7);
    REQUIRE(part.size() == members.size());
    REQUIRE(part.scope.size() == part.active);
    const auto in_part = [&](node_id v) { return std::binary_search(members.begin(), members.end(), v); };
    for (node_id i = 0; i < part.size(); ++i) {
      const node_id v = members[i];
      REQUIRE(part.is_release(i) == g.is_release(v));
      REQUIRE(part.cost[i].peak == g.cost[v].peak);
      REQUIRE(part.cost[i].impact == g.cost[v].impact);
      if (!part.is_release(i)) REQUIRE(part.scope[i] == g.scope[v]);
      std::vector<node_id> preds, succs;
      for (node_id u : g.preds[v])
        if (in_part(u)) preds.push_back(u);
      for (node_id s : g.succs[v])
        if (in_part(s)) succs.push_back(s);
      for (const auto& [lists, whole] : {std::pair(&part.preds, &preds), {&part.succs, &succs}}) {
        REQUIRE((*lists)[i].size() == whole->size());
        for (std::size_t k = 0; k < whole->size(); ++k) REQUIRE(members[(*lists)[i][k]] == (*whole)[k]);
      }
    }
  }
}
