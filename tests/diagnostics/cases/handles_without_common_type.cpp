// expect: handles of types that have no common type
// lines: 30
#include <memsched/schedule.hpp>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const;
  std::vector<std::string> outputs(int) const;
  int size(int) const;
};
int main() { memsched::schedule(graph{}); }
