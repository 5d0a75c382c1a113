// expect: memsched: after is no hook
// lines: 30
#include <memsched/graph/lower.hpp>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const, outputs(int) const;
  int size(int) const;
  std::vector<double> after(int) const;
};
int main() { memsched::lower(graph{}); }
