// expect: memsched: the graph's operator handles lack == or std::hash and
// lines: 25
#include <memsched/schedule.hpp>
struct handle {
  int i;
};
struct graph {
  std::vector<handle> ops() const;
  std::vector<int> inputs(handle) const, outputs(handle) const;
  int size(int) const;
};
int main() { memsched::schedule(graph{}); }
