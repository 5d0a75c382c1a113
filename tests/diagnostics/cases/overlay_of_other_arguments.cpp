// expect: memsched: workspace is no hook
// lines: 25
#include <memsched/graph/overlay.hpp>
#include <string>
#include <vector>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const, outputs(int) const;
  int size(int) const;
};
auto g = memsched::with_workspace(graph{}, [](std::string) { return 7; });
int main() {}
