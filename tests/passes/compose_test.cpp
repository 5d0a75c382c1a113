// Laws of composition: dominant orders dominate, and fixing them in parts of a graph keeps its optimum.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/passes/compose.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/branch_and_bound.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/structure/regions.hpp>

#include "support/random_graph.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// Levels and peaks of an order in turn, from 0 (the paper's equation 7).
std::vector<delta> profile(const schedule_graph& g, const std::vector<node_id>& order) {
  std::vector<delta> p{0};
  for (node_id v : order) {
    const delta level = p.back();
    p.push_back(level + g.cost[v].peak);
    p.push_back(level + g.cost[v].impact);
  }
  return p;
}

/// Definition 21: each point of a has a point of b with higher maxima and minima on both sides.
bool dominates(const std::vector<delta>& a, const std::vector<delta>& b) {
  const auto sides = [](const std::vector<delta>& p, std::size_t i) {
    const auto at = p.begin() + static_cast<std::ptrdiff_t>(i);
    return std::array{*std::max_element(p.begin(), at + 1), *std::min_element(p.begin(), at + 1),
                      *std::max_element(at, p.end()), *std::min_element(at, p.end())};
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto here = sides(a, i);
    bool found = false;
    for (std::size_t j = 0; j < b.size() && !found; ++j) {
      const auto there = sides(b, j);
      found = std::equal(here.begin(), here.end(), there.begin(), std::less_equal<>());
    }
    if (!found) return false;
  }
  return true;
}

template <class F>
void for_each_order(const schedule_graph& g, std::vector<node_id>& order, F&& f) {
  if (order.size() == g.size()) return f(order);
  for (node_id v = 0; v < g.size(); ++v) {
    const auto ran = [&](node_id u) { return std::find(order.begin(), order.end(), u) != order.end(); };
    if (ran(v) || !std::all_of(g.preds[v].begin(), g.preds[v].end(), ran)) continue;
    order.push_back(v);
    for_each_order(g, order, f);
    order.pop_back();
  }
}

/// A graph of `blocks` bridges (the smallest part that is not series-parallel) in parallel and `extra` nodes beside them.
cost_graph blocks_beside(std::uint64_t seed, node_id blocks, node_id extra) {
  support::random r(seed);
  cost_graph c;
  const auto add = [&] {
    const delta impact = static_cast<delta>(r.below(25)) - 12;
    c.cost.push_back({std::max<delta>(impact, 0) + r.below(14), impact});
    return static_cast<node_id>(c.cost.size() - 1);
  };
  for (node_id i = 0; i < blocks; ++i) {
    node_id v[6];
    for (node_id& x : v) x = add();
    for (auto [a, b] : {std::pair(0, 1), {0, 2}, {1, 3}, {1, 4}, {2, 4}, {3, 5}, {4, 5}}) c.edges.push_back({v[a], v[b]});
  }
  for (node_id i = 0; i < extra; ++i) {
    const node_id v = add();
    for (node_id u = 6 * blocks; u < v; ++u)
      if (r.chance(30)) c.edges.push_back({u, v});
  }
  c.base = 12 * c.cost.size();
  return c;
}

}  // namespace

TEST_CASE("the dominant order dominates every order") {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(4000); ++seed) {
    const auto n = 2 + static_cast<std::uint32_t>(seed % 6);
    const auto percent = 10 + static_cast<std::uint32_t>(seed / 6 % 4) * 15,
               size = 3 + static_cast<std::uint32_t>(seed % 17);
    const schedule_graph g = make_schedule_graph(support::random_costs(seed, n, percent, size)).value();
    const options o;
    search context(o);
    const auto best = dominant_order(g, context, exhaustive{});
    REQUIRE(best);
    const std::vector<delta> lowest = profile(g, *best);
    std::vector<node_id> order;
    for_each_order(g, order, [&](const std::vector<node_id>& other) {
      ++compared;
      if (dominates(lowest, profile(g, other))) return;
      CAPTURE(seed, *best, other);
      FAIL("is not dominated");
    });
  }
  REQUIRE(compared > support::seeds(100000));
}

TEST_CASE("compose keeps the optimum") {
  std::uint64_t parts = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(600); ++seed) {
    const schedule_graph g = make_schedule_graph(blocks_beside(seed, 1 + seed % 2, static_cast<node_id>(seed % 4))).value();
    const options o;
    search context(o);
    const bytes optimum = exhaustive{}(g, context).lower_bound;
    for (const solution& s :
         {(compose{} | exhaustive{})(g, context), (compress{} | compose{} | compress{} | branch_and_bound{})(g, context)}) {
      INFO("seed " << seed);
      REQUIRE(s.order.size() == g.active);
      REQUIRE(peak_of(g, s.order) == optimum);
      REQUIRE(s.lower_bound == optimum);
    }
    parts += context.control().stats.parts;
  }
  REQUIRE(parts > support::seeds(500));
}

TEST_CASE("compose keeps the optimum of problems with shared tensors") {
  for (std::uint64_t seed = 0; seed < support::seeds(1500); ++seed)
    for (const options& o : {options{}, options{.in_place = false}, options{.default_firing = firing::cbp}}) {
      const problem p = support::random_problem(seed, {.operators = 10, .percent_control = 40});
      const auto oracle = schedule(p, exhaustive{}, o);
      const auto r = schedule(p, compose{} | exhaustive{}, o);
      INFO("seed " << seed);
      REQUIRE(r.peak == oracle.peak);
      REQUIRE(r.verdict() == verdict::optimal);
    }
}

TEST_CASE("parts whose releases are nodes like others have no scopes") {
  std::size_t parts = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
    INFO("seed " << seed);
    problem_draft d = support::random_draft(seed, {.operators = 12, .max_inputs = 2});
    for (op_id op = 0; op < d.operators.size(); ++op) d.operators[op].scope = op / 4;
    const schedule_graph g = make_schedule_graph(make_problem(std::move(d)).value());
    search context{options{}};
    const auto inner = [&](const schedule_graph& h, search& c) {
      const bool is_part = h.size() < g.size();
      parts += is_part;
      REQUIRE((h.scope.empty() || !is_part));
      return exhaustive{}(h, c);
    };
    REQUIRE(peak_of(g, compose{}(g, context, inner).order) == peak_of(g, exhaustive{}(g, context).order));
  }
  REQUIRE(parts > 0);
}

TEST_CASE("regions are closed, disjoint and worth an order of their own") {
  const auto beside = [](std::vector<precedence> edges, std::uint32_t n) {
    const schedule_graph g = make_schedule_graph(cost_graph{std::vector<node_cost>(n, {1, 1}), std::move(edges)}).value();
    return structure::regions(g, 64, [] { return true; });
  };
  const std::vector<precedence> diamond{{0, 1}, {0, 2}, {1, 3}, {2, 3}};
  REQUIRE(beside(diamond, 4).empty());  // nothing beside it
  REQUIRE(beside(diamond, 5) == std::vector<std::vector<node_id>>{{0, 1, 2, 3}});
  auto entered = diamond;
  entered.push_back({4, 1});
  REQUIRE(beside(entered, 5).empty());
  REQUIRE(beside({{0, 1}, {1, 2}, {2, 3}}, 5).empty());                   // a chain
  REQUIRE(beside({{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 5}}, 7) ==  // chains around a diamond
          std::vector<std::vector<node_id>>{{0, 1, 2, 3, 4, 5}});
}
