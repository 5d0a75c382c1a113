// expect: memsched: the graph lacks outputs\(op\)
// lines: 25
#include <memsched/schedule.hpp>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const;
  int size(int) const;
};
int main() { memsched::schedule(graph{}); }
