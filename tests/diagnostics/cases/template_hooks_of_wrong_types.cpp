// expect: memsched: tensors is no hook
// expect: memsched: after is no hook
// expect: memsched: workspace is no hook
// expect: memsched: firing is no hook
// expect: memsched: overwrites is no hook
// expect: memsched: updates is no hook
// expect: memsched: live_out is no hook
// expect: memsched: alias_of is no hook
// expect: memsched: scope is no hook
// expect: memsched: operator_name is no hook
// expect: memsched: tensor_name is no hook
// lines: 320
#include <memsched/graph/lower.hpp>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const, outputs(int) const;
  int size(int) const;
  double tensors() const;
  std::vector<double> after(auto) const;
  double workspace(auto) const;
  bool firing(auto) const;
  bool overwrites(auto) const;
  int updates(auto) const;
  std::string live_out(auto) const;
  std::string alias_of(auto) const;
  double scope(auto) const;
  int operator_name(auto) const;
  int tensor_name(auto) const;
};
int main() { memsched::lower(graph{}); }
