// expect: memsched: live_out is no hook
// lines: 30
#include <memsched/schedule.hpp>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const, outputs(int) const;
  int size(int) const;
  bool live_out(int, int) const;
};
int main() { memsched::schedule(graph{}); }
