// Task graphs of the papers: firings of synchronous dataflow graphs as tasks, and the graphs that the papers draw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include <memsched/base/random.hpp>
#include <memsched/graph/task_graph.hpp>
#include <memsched/sdf/graph.hpp>

namespace task_graphs {

using memsched::bytes;
using memsched::index_t;
using memsched::node_id;
using memsched::task_graph;

/// One task per actor, which fires all at once and whose tokens count as a whole: the flat schedules of Fradet et al.'s
/// Table
/// 1. (`sdf::flat` counts the tokens that are there: the last firing of a batch meets what the others left.)
inline task_graph whole_batches(const memsched::sdf::graph& g) {
  task_graph t{g.actors(), {}};
  for (const auto& c : g.channels()) t.channels.push_back({c.from, c.to, c.produced * g.repetitions()[c.from]});
  return t;
}

/// A two-channel quadrature mirror filterbank of 6 * 2^depth - 4 actors (Murthy and Bhattacharyya; Fradet et al., Table
/// 2). Each level keeps `low` of low + high samples in one band and `high` in the other, and splits both bands further.
class filterbank {
 public:
  filterbank(std::uint32_t low, std::uint32_t high, std::uint32_t depth) : low_(low), high_(high) {
    const index_t source = graph_.actor(), sink = graph_.actor();
    const auto [in, out] = split(depth);
    edge(source, in, 1, 1);
    edge(out, sink, 1, 1);
  }
  memsched::sdf::graph graph() const { return graph_.build().value(); }

 private:
  void edge(index_t from, index_t to, bytes produced, bytes consumed) { graph_.connect({from, to, produced, consumed}); }
  /// A split and its inverse. Returns its first and last actor.
  std::pair<index_t, index_t> split(std::uint32_t depth) {
    const index_t fork = graph_.actor(), add = graph_.actor();
    const std::uint32_t all = low_ + high_;
    for (std::uint32_t kept : {low_, high_}) {
      const index_t analysis = graph_.actor(), synthesis = graph_.actor();
      edge(fork, analysis, 1, all);
      if (depth > 1) {
        const auto [in, out] = split(depth - 1);
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
  memsched::sdf::graph_builder graph_;
};

/// The receiver of Ritz et al. that Fradet et al.'s Table 1 is about; 4515 firings of 22 actors.
inline memsched::sdf::graph satellite() {
  enum : index_t { a, b, c, d, e, f, g, h, i, j, k, l, m, n, p, q, r, s, t, u, v, w };
  memsched::sdf::graph_builder graph;
  for (char name : std::string("abcdefghijklmnpqrstuvw")) graph.actor(std::string(1, name));
  for (const memsched::sdf::channel& x : std::initializer_list<memsched::sdf::channel>{
           {a, b, 1, 4},   {b, c, 1, 11},  {c, g, 1, 1},   {c, p, 10, 1},  {d, e, 1, 4},  {e, f, 1, 11},  {f, k, 1, 1},
           {f, p, 10, 1},  {g, h, 1, 1},   {h, i, 11, 11}, {i, j, 10, 1},  {k, l, 1, 1},  {l, m, 11, 11}, {m, n, 10, 1},
           {p, q, 1, 240}, {p, r, 1, 240}, {q, w, 240, 1}, {r, w, 240, 1}, {n, p, 1, 1},  {n, s, 1, 1},   {s, u, 1, 1},
           {j, p, 1, 1},   {j, t, 1, 1},   {t, u, 1, 1},   {u, v, 1, 240}, {v, w, 240, 1}})
    graph.connect(x);
  return graph.build().value();
}

/// Fradet et al.'s Figure 13. The rates of the channel T -> V are not in the text; these give its 12 and 15 tokens.
inline memsched::sdf::graph figure_13() {
  memsched::sdf::graph_builder graph;
  const index_t u = graph.actor("U"), t = graph.actor("T"), s = graph.actor("S"), v = graph.actor("V"), w = graph.actor("W");
  graph.connect({u, s, 3, 1});
  graph.connect({s, v, 1, 3});
  graph.connect({u, t, 3, 3});
  graph.connect({t, v, 3, 3});
  graph.connect({v, w, 3, 6});
  return graph.build().value();
}

/// A source whose every token goes to `chains` chains of stages, each of which keeps one of ten: 10^stages firings.
inline memsched::sdf::graph decimators(std::uint32_t stages, std::uint32_t chains) {
  memsched::sdf::graph_builder graph;
  const index_t source = graph.actor("source");
  for (std::uint32_t k = 0; k < chains; ++k) {
    index_t last = source;
    for (std::uint32_t i = 0; i < stages; ++i) {
      const index_t next = graph.actor();
      graph.connect({last, next, 1, 10});
      last = next;
    }
  }
  return graph.build().value();
}

/// Fradet et al.'s Figure 1: tasks A to E. The text gives B's tokens, both peaks and where they are; the others follow but
/// for how C and E share four, and for E taking more than it writes.
inline task_graph figure_1() {
  enum : node_id { a, b, c, d, e };
  return {5, {{a, b, 1}, {a, e, 2}, {b, c, 2}, {b, d, 4}, {c, d, 3}, {e, d, 1}}};
}

/// The tasks that a task of a random graph may read from.
enum class family : std::uint8_t {
  uniform,   ///< any earlier task
  windowed,  ///< one of the 12 tasks before
  layered,   ///< a task of the layer of 8 before
};

/// A task graph whose tasks read one or two channels of 1 to 100 tokens each. The same on every platform.
inline task_graph random_tasks(family kind, std::uint64_t seed, std::uint32_t tasks) {
  memsched::base::random_source random(seed * 3 + static_cast<std::uint64_t>(kind));
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random.below(n)); };
  task_graph t{tasks, {}};
  for (node_id v = 1; v < tasks; ++v)
    for (std::uint32_t reads = 1 + below(2); reads > 0; --reads) {
      const std::uint32_t size = 1 + below(100), layer = v / 8;
      if (kind == family::uniform) t.channels.push_back({below(v), v, size});
      if (kind == family::windowed) t.channels.push_back({v - 1 - below(std::min(v, 12U)), v, size});
      if (kind == family::layered && layer > 0) t.channels.push_back({(layer - 1) * 8 + below(8), v, size});
    }
  return t;
}

}  // namespace task_graphs
