// expect: memsched: overwrites is no hook
// lines: 30
#include <memsched/schedule.hpp>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const, outputs(int) const;
  int size(int) const;
  bool overwrites(int) const;
};
int main() { memsched::schedule(graph{}); }
