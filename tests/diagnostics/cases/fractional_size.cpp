// expect: memsched: the graph lacks size\(tensor\): bytes as an integer
// lines: 25
#include <memsched/schedule.hpp>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const, outputs(int) const;
  double size(int) const;
};
int main() { memsched::schedule(graph{}); }
