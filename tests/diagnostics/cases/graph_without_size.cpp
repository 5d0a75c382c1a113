// expect: memsched: the graph lacks size\(tensor\)
// lines: 25
#include <memsched/schedule.hpp>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const, outputs(int) const;
};
int main() { memsched::schedule(graph{}); }
