// Laws of depth-first orders.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include <memsched/graph/builder.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/search/policy.hpp>
#include <memsched/structure/list_schedule.hpp>
#include <memsched/structure/mirror.hpp>
#include <memsched/structure/post_order.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// A random tree whose edges lead to the root, which is the last operator. `shape`: the most that lies between an operator and
/// the one that reads it.
problem random_tree(support::random& r, index_t operators, index_t shape) {
  problem_builder b;
  std::vector<std::vector<tensor_id>> reads(operators);
  for (index_t i = 0; i < operators; ++i) {
    const tensor_id out = b.tensor(1 + r.below(20));
    b.op({.reads = reads[i], .writes = {out}, .workspace = r.chance(30) ? r.below(30) : 0U});
    if (i + 1 < operators) reads[i + 1 + r.below(std::min(shape, operators - i - 1))].push_back(out);
  }
  return b.build().value();
}

/// The least peak of all post-orders of a tree from v, which begins at `level`.
delta least_peak(const schedule_graph& g, node_id v) {
  std::vector<node_id> children(g.preds[v].begin(), g.preds[v].end());
  std::sort(children.begin(), children.end());
  struct subtree {
    delta need = 0, left = 0;
  };
  std::vector<subtree> below(g.active);
  const auto impact = [&](const auto& self, node_id u) -> delta {
    delta sum = g.cost[u].impact;
    for (node_id w : g.preds[u]) sum += self(self, w);
    return sum;
  };
  for (node_id u : children) below[u] = {least_peak(g, u), impact(impact, u)};
  delta best = no_limit / 4;
  do {
    delta level = 0, top = 0;
    for (node_id u : children) top = std::max(top, level + below[u].need), level += below[u].left;
    best = std::min(best, std::max(top, level + g.cost[v].peak));
  } while (std::next_permutation(children.begin(), children.end()));
  return best;
}

}  // namespace

TEST_CASE("no post-order of a tree has a smaller peak than the best one") {
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const index_t operators = 1 + r.below(14);
    const schedule_graph g = make_schedule_graph(random_tree(r, operators, 1 + r.below(6)));
    const std::vector<node_id> order = structure::best_post_order(g);
    REQUIRE(detail::is_order(g, order));
    REQUIRE(static_cast<delta>(peak_of(g, order)) == static_cast<delta>(g.base) + least_peak(g, order.back()));
  }
}

TEST_CASE("post-orders are orders of the graph, of its mirror image, too") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    INFO("seed " << seed);
    const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 30}));
    REQUIRE(detail::is_order(g, structure::post_order(g)));
    REQUIRE(detail::is_order(g, structure::best_post_order(g)));
    REQUIRE(detail::is_order(g, structure::reflected(g, structure::best_post_order(structure::mirror_image(g)))));
  }
}

TEST_CASE("a post-order goes depth first where no tensor is an output of the graph, too") {
  problem_builder b;
  constexpr index_t leaves = 1024;
  std::vector<tensor_id> level;
  for (index_t i = 0; i < leaves; ++i) b.op({.writes = {level.emplace_back(b.tensor(1))}});
  while (level.size() > 1) {
    std::vector<tensor_id> next;
    for (std::size_t i = 0; i < level.size(); i += 2)
      b.op({.reads = {level[i], level[i + 1]}, .writes = {next.emplace_back(b.tensor(1))}});
    level = next;
  }
  const schedule_graph g = make_schedule_graph(b.build().value());
  REQUIRE(g.roots.empty());
  REQUIRE(peak_of(g, structure::given_order(g)) == leaves + 1);
  REQUIRE(peak_of(g, structure::post_order(g)) == 12);  // one more than the tree has levels
}
