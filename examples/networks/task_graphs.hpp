// Task graphs of the papers: firings of synchronous dataflow graphs as tasks, and the graphs that the papers draw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/graph/task_graph.hpp>

namespace task_graphs {

using memsched::bytes;
using memsched::node;
using memsched::task_graph;

/// An edge of a synchronous dataflow graph: each firing of `from` writes `produced` tokens, of `to` takes `consumed`.
struct rate_edge {
  std::uint32_t from, to;
  bytes produced, consumed;
};

/// Actors, how often each fires in one iteration, and the edges between them.
struct rate_graph {
  std::vector<std::uint32_t> firings;
  std::vector<rate_edge> edges;
};

/// One task per firing; a channel for each pair of firings that share tokens, and one without tokens from each firing of
/// an actor to the next. O(tasks + channels).
inline task_graph expand(const rate_graph& g) {
  task_graph t;
  std::vector<node> first;
  for (std::uint32_t n : g.firings) {
    first.push_back(static_cast<node>(t.tasks));
    t.tasks += n;
    for (node i = first.back(); i + 1 < t.tasks; ++i) t.channels.push_back({i, i + 1, 0});
  }
  for (const rate_edge& e : g.edges) {
    bytes written = 0, taken = 0;  // tokens that the firings before i and j handle
    for (node i = 0, j = 0; i < g.firings[e.from] && j < g.firings[e.to];) {
      const bytes end = std::min(written + e.produced, taken + e.consumed);
      t.channels.push_back({first[e.from] + i, first[e.to] + j, end - std::max(written, taken)});
      if (end == written + e.produced) ++i, written = end;
      if (end == taken + e.consumed) ++j, taken = end;
    }
  }
  return t;
}

/// One task per actor, which fires all at once (a flat single-appearance schedule).
inline task_graph flat(const rate_graph& g) {
  task_graph t;
  t.tasks = g.firings.size();
  for (const rate_edge& e : g.edges) t.channels.push_back({e.from, e.to, e.produced * g.firings[e.from]});
  return t;
}

/// A two-channel quadrature mirror filterbank of 6 * 2^depth - 4 actors (Murthy and Bhattacharyya; Fradet et al., Table
/// 2). Each level keeps `low` of low + high samples in one band and `high` in the other, and splits both bands further.
class filterbank {
 public:
  filterbank(std::uint32_t low, std::uint32_t high, std::uint32_t depth) : low_(low), high_(high) {
    std::uint32_t samples = 1;
    for (std::uint32_t i = 0; i < depth; ++i) samples *= low + high;
    const std::uint32_t source = actor(samples), sink = actor(samples);
    const auto [in, out] = split(samples, depth);
    edge(source, in, 1, 1);
    edge(out, sink, 1, 1);
  }
  const rate_graph& graph() const { return graph_; }

 private:
  std::uint32_t actor(std::uint32_t firings) {
    graph_.firings.push_back(firings);
    return static_cast<std::uint32_t>(graph_.firings.size() - 1);
  }
  void edge(std::uint32_t from, std::uint32_t to, bytes produced, bytes consumed) {
    graph_.edges.push_back({from, to, produced, consumed});
  }
  /// A split and its inverse, at so many samples. Returns its first and last actor.
  std::pair<std::uint32_t, std::uint32_t> split(std::uint32_t samples, std::uint32_t depth) {
    const std::uint32_t fork = actor(samples), add = actor(samples), all = low_ + high_;
    for (std::uint32_t kept : {low_, high_}) {
      const std::uint32_t analysis = actor(samples / all), synthesis = actor(samples / all);
      edge(fork, analysis, 1, all);
      if (depth > 1) {
        const auto [in, out] = split(samples / all * kept, depth - 1);
        edge(analysis, in, kept, 1);
        edge(out, synthesis, 1, kept);
      } else {
        edge(analysis, synthesis, kept, kept);
      }
      edge(synthesis, add, all, 1);
    }
    return {fork, add};
  }

  std::uint32_t low_, high_;
  rate_graph graph_;
};

/// The receiver of Ritz et al. that Fradet et al.'s Table 1 is about; 4515 firings of 22 actors.
inline rate_graph satellite() {
  enum : std::uint32_t { a, b, c, d, e, f, g, h, i, j, k, l, m, n, p, q, r, s, t, u, v, w };
  return {{1056, 264, 24, 1056, 264, 24, 24, 24, 24, 240, 24, 24, 24, 240, 240, 1, 1, 240, 240, 240, 1, 240},
          {{a, b, 1, 4},   {b, c, 1, 11},  {c, g, 1, 1},   {c, p, 10, 1},  {d, e, 1, 4},  {e, f, 1, 11},  {f, k, 1, 1},
           {f, p, 10, 1},  {g, h, 1, 1},   {h, i, 11, 11}, {i, j, 10, 1},  {k, l, 1, 1},  {l, m, 11, 11}, {m, n, 10, 1},
           {p, q, 1, 240}, {p, r, 1, 240}, {q, w, 240, 1}, {r, w, 240, 1}, {n, p, 1, 1},  {n, s, 1, 1},   {s, u, 1, 1},
           {j, p, 1, 1},   {j, t, 1, 1},   {t, u, 1, 1},   {u, v, 1, 240}, {v, w, 240, 1}}};
}

/// Fradet et al.'s Figure 1: tasks A to E. The text gives B's tokens, both peaks and where they are; the others follow but
/// for how C and E share four, and for E taking more than it writes.
inline task_graph figure_1() {
  enum : node { a, b, c, d, e };
  return {5, {{a, b, 1}, {a, e, 2}, {b, c, 2}, {b, d, 4}, {c, d, 3}, {e, d, 1}}};
}

/// What the tasks of a random graph read from.
enum class family : std::uint8_t {
  uniform,   ///< any earlier task
  windowed,  ///< one of the 12 tasks before
  layered,   ///< a task of the layer of 8 before
};

/// A task graph whose tasks read one or two channels of 1 to 100 tokens each. The same on every platform.
inline task_graph random_tasks(family kind, std::uint64_t seed, std::uint32_t tasks) {
  memsched::random_source random(seed * 3 + static_cast<std::uint64_t>(kind));
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random.below(n)); };
  task_graph t{tasks, {}};
  for (node v = 1; v < tasks; ++v)
    for (std::uint32_t reads = 1 + below(2); reads > 0; --reads) {
      const std::uint32_t size = 1 + below(100), layer = v / 8;
      if (kind == family::uniform) t.channels.push_back({below(v), v, size});
      if (kind == family::windowed) t.channels.push_back({v - 1 - below(std::min(v, 12U)), v, size});
      if (kind == family::layered && layer > 0) t.channels.push_back({(layer - 1) * 8 + below(8), v, size});
    }
  return t;
}

}  // namespace task_graphs
