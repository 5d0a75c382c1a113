// Dominator trees against their definition and against Lengauer and Tarjan's algorithm.
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <catch2/catch.hpp>
#include <memsched/base/dominators.hpp>
#include <memsched/base/topology.hpp>
#include <numeric>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;
using vertex = memsched::index_t;  // <strings.h> has an index too

namespace {

/// Predecessors in a random graph whose edges run from lower to higher vertices.
adjacency random_dag(std::uint64_t seed, vertex n, std::uint32_t most_edges) {
  support::random r(seed);
  std::vector<std::pair<vertex, vertex>> edges;
  for (vertex v = 1; v < n; ++v)
    for (std::uint32_t i = r.below(most_edges + 1); i > 0; --i) edges.emplace_back(v, r.below(v));
  return adjacency::from_pairs(n, edges);
}

std::vector<vertex> ascending(vertex n) {
  std::vector<vertex> order(n);
  std::iota(order.begin(), order.end(), vertex{0});
  return order;
}

/// Whether every path from a source to v holds u: v is out of reach where u is taken away.
bool dominates_by_definition(const adjacency& preds, vertex u, vertex v) {
  if (u == v) return true;
  std::vector<bool> reached(preds.size(), false);
  for (vertex x = 0; x < preds.size(); ++x) {
    if (x == u) continue;
    reached[x] = preds[x].empty();
    for (vertex p : preds[x])
      if (reached[p]) reached[x] = true;
  }
  return !reached[v];
}

}  // namespace

TEST_CASE("dominators are what every path holds") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const vertex n = static_cast<vertex>(1 + seed % 25);
    const adjacency preds = random_dag(seed, n, static_cast<std::uint32_t>(1 + seed % 3));
    const base::dominator_tree tree(preds, ascending(n));
    for (vertex v = 0; v < n; ++v) {
      vertex dominated = 0;
      for (vertex u = 0; u < n; ++u) {
        INFO("seed " << seed << ": does " << u << " dominate " << v);
        REQUIRE(tree.dominates(u, v) == dominates_by_definition(preds, u, v));
        dominated += tree.dominates(v, u);
      }
      REQUIRE(tree.dominated(v) == dominated);
      REQUIRE(tree.dominates(tree.root(), v));
    }
  }
}

TEST_CASE("the tree is Boost.Graph's") {
  using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    const vertex n = static_cast<vertex>(2 + seed % 120);
    const adjacency preds = random_dag(seed, n, 3);
    const base::dominator_tree tree(preds, ascending(n));
    graph g(n + 1);
    for (vertex v = 0; v < n; ++v) {
      if (preds[v].empty()) boost::add_edge(n, v, g);
      for (vertex u : preds[v]) boost::add_edge(u, v, g);
    }
    std::vector<graph::vertex_descriptor> parent(n + 1, graph::null_vertex());
    boost::lengauer_tarjan_dominator_tree(g, n,
                                          boost::make_iterator_property_map(parent.begin(), get(boost::vertex_index, g)));
    INFO("seed " << seed);
    for (vertex v = 0; v < n; ++v) REQUIRE(tree.parent(v) == parent[v]);
  }
}

TEST_CASE("a vertex that is out of range does not count as a predecessor") {
  const adjacency preds = adjacency::from_pairs(2, std::vector<std::pair<index_t, index_t>>{{0, 7}, {1, 0}, {1, 2}});
  const base::dominator_tree tree(preds, ascending(2));
  REQUIRE(tree.parent(0) == tree.root());
  REQUIRE(tree.parent(1) == 0);
}

TEST_CASE("dominators of nothing are the root alone") {
  const base::dominator_tree tree(adjacency{}, {});
  REQUIRE(tree.root() == 0);
  REQUIRE(tree.parent(0) == none);
}

TEST_CASE("two long chains that meet at every step take no quadratic time") {
  const vertex n = 200'000;  // a quadratic walk would take minutes
  std::vector<std::pair<vertex, vertex>> edges;
  for (vertex v = 2; v < n; ++v) {
    edges.emplace_back(v, v - 2);
    if (v % 2 == 1) edges.emplace_back(v, v - 1);
  }
  const base::dominator_tree tree(adjacency::from_pairs(n, edges), ascending(n));
  REQUIRE(tree.parent(n - 1) == tree.root());
  REQUIRE(tree.parent(n - 2) == n - 4);
}
