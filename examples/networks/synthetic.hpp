// Families of graphs without a network behind them, and task graphs of Fradet et al. Sizes are bytes, 1 to 100 at
// random where nothing else is said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/graph/builder.hpp>

namespace networks {

using memsched::bytes;
using memsched::index_t;
using memsched::problem_builder;
using memsched::problem_draft;
using memsched::tensor_id;
using ::networks::random_source;

inline bytes random_size(random_source& random) { return 1 + random.below(100); }

/// An operator that reads `from` and writes one tensor of random size.
inline tensor_id random_operator(problem_builder& graph, random_source& random, std::vector<tensor_id> from) {
  const tensor_id to = graph.tensor(random_size(random));
  graph.op({.reads = std::move(from), .writes = {to}});
  return to;
}

/// Each operator reads the one before; one order only.
inline problem_draft chain(std::uint64_t operators, std::uint64_t seed) {
  random_source random(seed);
  problem_builder graph;
  tensor_id last = graph.input(random_size(random));
  for (std::uint64_t i = 0; i < operators; ++i) last = random_operator(graph, random, {last});
  graph.output(last);
  return graph.draft();
}

/// A source, operators that read it, and a sink that reads them: 2^(operators - 2) downsets between its ends (SERENITY,
/// appendix D).
inline problem_draft star(std::uint64_t operators, std::uint64_t seed) {
  random_source random(seed);
  problem_builder graph;
  const tensor_id source = random_operator(graph, random, {});
  std::vector<tensor_id> branches;
  for (std::uint64_t i = 2; i < operators; ++i) branches.push_back(random_operator(graph, random, {source}));
  graph.output(random_operator(graph, random, branches));
  return graph.draft();
}

/// Layers of equal width. An operator reads the one at its place in the layer before and, where the width allows,
/// another one of that layer at random; the first layer reads the graph's input, the last is the graph's output.
inline problem_draft layered(std::uint64_t layer_count, std::uint64_t width, std::uint64_t seed) {
  random_source random(seed);
  problem_builder graph;
  std::vector<tensor_id> before(width, graph.input(random_size(random)));
  for (std::uint64_t l = 0; l < layer_count; ++l) {
    std::vector<tensor_id> here;
    for (std::uint64_t i = 0; i < width; ++i) {
      std::vector<tensor_id> from{before[i]};
      if (l > 0 && width > 1) from.push_back(before[(i + 1 + random.below(width - 1)) % width]);
      here.push_back(random_operator(graph, random, std::move(from)));
    }
    before = std::move(here);
  }
  for (tensor_id t : before) graph.output(t);
  return graph.draft();
}

/// Operator i reads each of the `window` operators before it with probability 2 / window, and one of them at random
/// if that chose none. A tensor of the last `window` that no operator reads is a graph output; an earlier one that none
/// reads is freed at once.
inline problem_draft windowed(std::uint64_t operators, std::uint64_t window, std::uint64_t seed) {
  random_source random(seed);
  problem_builder graph;
  std::vector<bool> is_read(operators, false);
  for (std::uint64_t i = 0; i < operators; ++i) {
    const std::uint64_t first = i > window ? i - window : 0;
    std::vector<tensor_id> from;  // operator i writes tensor i
    for (std::uint64_t j = first; j < i; ++j)
      if (random.chance(2, window)) from.push_back(static_cast<tensor_id>(j));
    if (from.empty() && i > 0) from.push_back(static_cast<tensor_id>(first + random.below(i - first)));
    for (tensor_id t : from) is_read[t] = true;
    random_operator(graph, random, std::move(from));
  }
  for (std::uint64_t i = operators > window ? operators - window : 0; i < operators; ++i)
    if (!is_read[i]) graph.output(static_cast<tensor_id>(i));
  return graph.draft();
}

/// A task graph: each edge is a tensor of its own, which its one reader consumes.
struct token_edge {
  index_t from, to;
  bytes tokens;
};

/// The task graph with these edges; tasks read and write in the order of the edges.
inline problem_draft task_graph(const std::vector<std::string>& tasks, const std::vector<token_edge>& edges) {
  problem_builder graph;
  std::vector<memsched::operator_spec> specs(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) specs[i].name = tasks[i];
  for (const token_edge& e : edges) {
    const tensor_id t = graph.tensor(e.tokens, tasks[e.from] + "->" + tasks[e.to]);
    specs[e.from].writes.push_back(t);
    specs[e.to].reads.push_back(t);
  }
  for (const memsched::operator_spec& spec : specs) graph.op(spec);
  return graph.draft();
}

/// A random series-parallel task graph. It grows from one edge: a random edge is doubled, or split by a new task, with
/// equal probability, until there are enough tasks.
inline problem_draft series_parallel(std::uint64_t operators, std::uint64_t seed) {
  random_source random(seed);
  std::vector<token_edge> edges{{0, 1, 0}};
  std::vector<index_t> next{1, memsched::none};  // a topological order, as a list from task 0
  while (next.size() < operators) {
    const std::size_t chosen = random.below(edges.size());
    const token_edge e = edges[chosen];
    if (random.chance(1, 2)) {
      edges.push_back(e);
    } else {
      const index_t task = static_cast<index_t>(next.size());
      next.push_back(std::exchange(next[e.from], task));
      edges[chosen].to = task;
      edges.push_back({task, e.to, 0});
    }
  }
  std::vector<index_t> place(next.size());
  for (index_t task = 0, i = 0; task != memsched::none; task = next[task]) place[task] = i++;
  for (token_edge& e : edges) e = {place[e.from], place[e.to], random_size(random)};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < next.size(); ++i) names.push_back("t" + std::to_string(i));
  return task_graph(names, edges);
}

/// Figure 1 of Fradet et al. The text gives A->B, B->C and B->D; the peaks 8 (cbp) and 10 (pbc), both at C in A;E;B;C;D
/// only, leave C->D + E->D = 4, and of the rates that fit, these are the least that make this order the only best one.
inline problem_draft task_figure1() {
  enum : index_t { A, B, C, E, D };
  return task_graph({"A", "B", "C", "E", "D"}, {{A, B, 1}, {A, E, 3}, {B, C, 2}, {B, D, 4}, {C, D, 2}, {E, D, 2}});
}

/// The satellite receiver of the SDF3 collection as a flat single-appearance schedule of its SDF graph: one task for
/// all firings of an actor, so that an edge holds a whole iteration's tokens.
inline problem_draft satellite() {
  enum : index_t { a, b, c, d, e, f, g, h, i, j, k, l, m, n, p, q, r, s, t, u, v, w };
  return task_graph(
      {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "p", "q", "r", "s", "t", "u", "v", "w"},
      {{a, b, 1056}, {b, c, 264}, {c, g, 24},  {c, p, 240}, {d, e, 1056}, {e, f, 264}, {f, k, 24},  {f, p, 240}, {g, h, 24},
       {h, i, 264},  {i, j, 240}, {k, l, 24},  {l, m, 264}, {m, n, 240},  {p, q, 240}, {p, r, 240}, {q, w, 240}, {r, w, 240},
       {n, p, 240},  {n, s, 240}, {s, u, 240}, {j, p, 240}, {j, t, 240},  {t, u, 240}, {u, v, 240}, {v, w, 240}});
}

}  // namespace networks
