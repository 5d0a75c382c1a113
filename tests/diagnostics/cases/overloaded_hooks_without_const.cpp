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
  std::vector<int> tensors();
  std::vector<int> tensors(int);
  std::vector<int> after(int), after(long);
  int workspace(int), workspace(long);
  memsched::firing firing(int), firing(long);
  int overwrites(int), overwrites(long);
  std::vector<int> updates(int), updates(long);
  bool live_out(int), live_out(long);
  int alias_of(int), alias_of(long);
  int scope(int), scope(long);
  std::string operator_name(int), operator_name(long);
  std::string tensor_name(int), tensor_name(long);
};
int main() { memsched::lower(graph{}); }
