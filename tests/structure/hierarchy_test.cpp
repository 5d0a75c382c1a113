// Hierarchical graphs: what they are made of, and that they lose nothing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/exhaustive.hpp>
#include <memsched/structure/hierarchy.hpp>
#include <networks/networks.hpp>
#include <set>

#include "support/random_order.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

const std::vector<memory_model> models{{}, {firing::pbc, false}, {firing::cbp, true}};

/// A random graph; without scopes, with scopes in blocks, or with scopes at random.
schedule_graph random_graph(std::uint64_t seed, std::uint32_t operators, memory_model model) {
  support::random r(seed + 1000);
  schedule_graph g = make_schedule_graph(
      support::random_problem(seed, {.operators = operators, .max_inputs = static_cast<std::uint32_t>(1 + seed % 3)}),
      model);
  const std::uint32_t kind = r.below(3);
  for (node_id v = 0; kind > 0 && v < g.active; ++v)
    g.scope.push_back(r.chance(10) ? none : kind == 1 ? 7 + v / 4 : r.below(3));
  return g;
}

std::vector<node_id> random_order(const schedule_graph& g, std::uint64_t seed) {
  support::random r(seed);
  return support::random_order(g, r);
}

}  // namespace

TEST_CASE("sequences are paths that partition the graph and keep both conditions") {
  std::size_t long_ones = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed)
    for (const memory_model& model : models) {
      const schedule_graph g = random_graph(seed, 14, model);
      const auto sequences = structure::find_sequences(g);
      INFO("seed " << seed);
      std::vector<node_id> all;
      for (index_t i = 0; i < sequences.size(); ++i) {
        const auto s = sequences[i];
        REQUIRE_FALSE(s.empty());
        all.insert(all.end(), s.begin(), s.end());
        long_ones += s.size() > 1;
        delta first = g.cost[s[0]].peak, level = g.cost[s[0]].impact;
        for (const auto& c : g.credits[s[0]]) first -= c.amount;
        for (std::size_t k = 1; k < s.size(); ++k) {
          REQUIRE(detail::only_active(g, g.succs[s[k - 1]]) == s[k]);
          REQUIRE(detail::only_active(g, g.preds[s[k]]) == s[k - 1]);
          REQUIRE(level + g.cost[s[k]].peak <= first);
          REQUIRE(g.cost[s[k]].impact <= 0);
          level += g.cost[s[k]].impact;
        }
      }
      std::sort(all.begin(), all.end());
      for (node_id v = 0; v < g.active; ++v) REQUIRE(all[v] == v);
      REQUIRE(all.size() == g.active);
    }
  REQUIRE(long_ones > support::seeds(1000));
}

TEST_CASE("an order of sequences costs what its operators cost, and the optimum stays") {
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed)
    for (const memory_model& model : models) {
      const schedule_graph g = random_graph(seed, 10, model);
      const auto sequences = structure::find_sequences(g);
      const schedule_graph h = structure::join_sequences(g, sequences);
      INFO("seed " << seed);
      for (std::uint64_t i = 0; i < 4; ++i) {
        const auto order = random_order(h, i);
        std::vector<node_id> expanded;
        for (node_id s : order) expanded.insert(expanded.end(), sequences[s].begin(), sequences[s].end());
        REQUIRE(peak_of(h, order) == peak_of(g, expanded));
      }
      const options o;
      search context(o);
      REQUIRE(exhaustive{}(h, context).lower_bound == exhaustive{}(g, context).lower_bound);
    }
}

TEST_CASE("groups partition sequences, and units have no cycle") {
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed)
    for (const auto level : {structure::hierarchy_level::operators, structure::hierarchy_level::sequences,
                             structure::hierarchy_level::cells, structure::hierarchy_level::groups}) {
      const schedule_graph g = random_graph(seed, 24, {});
      const structure::hierarchical_graph h = structure::hierarchize(g, level, 8);
      INFO("seed " << seed << " level " << static_cast<int>(level));
      if (level == structure::hierarchy_level::operators) REQUIRE(h.graph.active == g.active);
      if (level < structure::hierarchy_level::cells) REQUIRE(h.groups.size() == 0);
      std::size_t in_groups = 0;
      for (index_t group = 0; group < h.groups.size(); ++group) {
        REQUIRE(h.groups[group].size() >= 2);
        for (node_id v : h.groups[group]) REQUIRE(h.group[v] == group);
        in_groups += h.groups[group].size();
      }
      REQUIRE(in_groups ==
              static_cast<std::size_t>(std::count_if(h.group.begin(), h.group.end(), [](index_t i) { return i != none; })));
      const structure::hierarchy_units units = structure::make_units(h.graph, h.group);
      REQUIRE(base::topological_order(units.preds, units.succs).size() == units.members.size());
    }
}

TEST_CASE("cells that the library finds are small and are left through one node") {
  std::size_t cells = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
    const schedule_graph h = make_schedule_graph(support::random_problem(seed, {.operators = 24}));
    const auto cell = structure::find_cells(h, 6);
    std::map<index_t, std::set<node_id>> members, exits;
    for (node_id v = 0; v < h.active; ++v) {
      if (cell[v] == none) continue;
      members[cell[v]].insert(v);
      for (node_id s : h.succs[v])
        if (!h.is_release(s) && cell[s] != cell[v]) exits[cell[v]].insert(v);
    }
    INFO("seed " << seed);
    for (const auto& [c, nodes] : members) {
      REQUIRE((nodes.size() >= 2 && nodes.size() <= 6));
      REQUIRE(exits[c].size() <= 1);
    }
    cells += members.size();
  }
  REQUIRE(cells > support::seeds(1000));
}

TEST_CASE("what shrinks a cell's output is one group, taken from other cells") {
  // Cell 0 writes 100 bytes. Cells 1 and 2 squeeze them to 10 and 20, each for a sum with another path from the start.
  problem_builder b;
  const auto tensor = [&](bytes size) { return b.tensor(size); };
  const tensor_id start = tensor(5), left = tensor(50), right = tensor(50), big = tensor(100), one = tensor(10),
                  two = tensor(20), side1 = tensor(10), side2 = tensor(20), sum1 = tensor(10), sum2 = tensor(20),
                  end = tensor(1);
  b.op({.writes = {start}});
  b.op({.reads = {start}, .writes = {left}, .scope = 0});
  b.op({.reads = {start}, .writes = {right}, .scope = 0});
  b.op({.reads = {left, right}, .writes = {big}, .scope = 0});
  const op_id squeeze1 = b.op({.reads = {big}, .writes = {one}, .scope = 1});
  const op_id squeeze2 = b.op({.reads = {big}, .writes = {two}, .scope = 2});
  b.op({.reads = {start}, .writes = {side1}, .scope = 1});
  b.op({.reads = {start}, .writes = {side2}, .scope = 2});
  b.op({.reads = {one, side1}, .writes = {sum1}, .scope = 1});
  b.op({.reads = {two, side2}, .writes = {sum2}, .scope = 2});
  b.op({.reads = {sum1, sum2}, .writes = {end}, .scope = 3});
  b.output(end);
  const schedule_graph g = make_schedule_graph(b.build().value());
  const auto group_of = [](const structure::hierarchical_graph& h, op_id op) {
    for (node_id i = 0; i < h.graph.active; ++i)
      if (std::count(h.sequences[i].begin(), h.sequences[i].end(), op) > 0) return h.group[i];
    return none;
  };
  const structure::hierarchical_graph cells = structure::hierarchize(g, structure::hierarchy_level::cells),
                                      groups = structure::hierarchize(g);
  REQUIRE(group_of(cells, squeeze1) != group_of(cells, squeeze2));
  REQUIRE(group_of(groups, squeeze1) != none);
  REQUIRE(group_of(groups, squeeze1) == group_of(groups, squeeze2));
  REQUIRE(groups.groups[group_of(groups, squeeze1)].size() == 2);
  REQUIRE(groups.groups.size() == cells.groups.size() + 1);
}

TEST_CASE("an hourglass's waist takes nothing from the cells behind it") {
  const problem p = make_problem(networks::make("randwire").value()).value();
  const schedule_graph g = make_schedule_graph(p);
  REQUIRE(structure::hierarchize(g, structure::hierarchy_level::groups).group ==
          structure::hierarchize(g, structure::hierarchy_level::cells).group);
}

TEST_CASE("cells of networks: those of scopes and those found") {
  for (const char* name : {"nasnet-cifar", "amoebanet-cifar", "darts-cifar"}) {
    const problem p = make_problem(networks::make(name).value()).value();
    schedule_graph g = make_schedule_graph(p);
    INFO(name);
    REQUIRE(structure::hierarchize(g, structure::hierarchy_level::cells).groups.size() == 20);
    REQUIRE(structure::hierarchize(g).groups.size() > 30);
    g.scope.clear();
    REQUIRE(structure::hierarchize(g, structure::hierarchy_level::cells).groups.size() >= 20);
  }
}

TEST_CASE("hierarchies of nothing and of one node") {
  const structure::hierarchical_graph nothing =
      structure::hierarchize(make_schedule_graph(problem_builder{}.build().value()));
  REQUIRE(nothing.graph.active == 0);
  REQUIRE(nothing.groups.size() == 0);
  problem_builder b;
  b.op({.writes = {b.tensor(3)}, .scope = 4});
  const structure::hierarchical_graph one = structure::hierarchize(make_schedule_graph(b.build().value()));
  REQUIRE(one.graph.active == 1);
  REQUIRE(one.groups.size() == 0);
}
