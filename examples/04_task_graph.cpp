// A task graph whose edges carry tokens: Figure 1 of Fradet, Girault and Honorat, "Graph Transformations for Memory Peak
// Minimization by Scheduling" (2024), under both of their memory models.
#include <iostream>
#include <string>
#include <vector>

#include <memsched/graph/overlay.hpp>
#include <memsched/schedule.hpp>

// Edges from task to task, each a buffer of its own. As members, the four functions that memsched asks for need no
// graph_traits; a task is a letter, and a buffer is the position of its edge.
struct task_graph {
  struct edge {
    char from, to;
    int tokens;
  };
  std::string tasks;
  std::vector<edge> edges;

  const std::string& ops() const { return tasks; }
  std::vector<std::size_t> inputs(char task) const {
    return where([&](const edge& e) { return e.to == task; });
  }
  std::vector<std::size_t> outputs(char task) const {
    return where([&](const edge& e) { return e.from == task; });
  }
  int size(std::size_t buffer) const { return edges[buffer].tokens; }

 private:
  template <class F>
  std::vector<std::size_t> where(F&& f) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < edges.size(); ++i)
      if (f(edges[i])) found.push_back(i);
    return found;
  }
};

int main() {
  // B turns 1 token into 2 for C and 4 for D. The text leaves the other rates open; these fit its computation, by which
  // C and E hand 4 tokens to D.
  const task_graph g{"ABCDE", {{'A', 'B', 1}, {'A', 'E', 3}, {'B', 'C', 2}, {'B', 'D', 4}, {'C', 'D', 2}, {'E', 'D', 2}}};

  for (const auto rule : {memsched::firing::cbp, memsched::firing::pbc}) {
    const auto best = memsched::schedule(memsched::with_firing(g, rule)).value();
    std::cout << (rule == memsched::firing::cbp ? "consumed before produced: " : "produced before consumed: ");
    for (const char task : best.order) std::cout << task << ' ';
    std::cout << "needs " << best.peak << " tokens, " << to_string(best.verdict()) << '\n';
  }
}
