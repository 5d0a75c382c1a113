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
  template <class T>
  std::vector<int> after(T);
  template <class T>
  int workspace(T);
  template <class T>
  memsched::firing firing(T);
  template <class T>
  int overwrites(T);
  template <class T>
  std::vector<int> updates(T);
  template <class T>
  bool live_out(T);
  template <class T>
  int alias_of(T);
  template <class T>
  int scope(T);
  template <class T>
  std::string operator_name(T);
  template <class T>
  std::string tensor_name(T);
};
int main() { memsched::lower(graph{}); }
