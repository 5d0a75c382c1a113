// expect: what it returns is no range of tensor handles
// lines: 30
#include <memsched/schedule.hpp>
struct graph {
  std::vector<int> ops() const, outputs(int) const;
  int inputs(int) const;
  int size(int) const;
};
int main() { memsched::schedule(graph{}); }
