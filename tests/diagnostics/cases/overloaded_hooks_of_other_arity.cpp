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
  std::vector<int> after() const, after(int, int) const;
  int workspace() const, workspace(int, int) const;
  memsched::firing firing() const, firing(int, int) const;
  int overwrites() const, overwrites(int, int) const;
  std::vector<int> updates() const, updates(int, int) const;
  bool live_out() const, live_out(int, int) const;
  int alias_of() const, alias_of(int, int) const;
  int scope() const, scope(int, int) const;
  std::string operator_name() const, operator_name(int, int) const;
  std::string tensor_name() const, tensor_name(int, int) const;
};
int main() { memsched::lower(graph{}); }
