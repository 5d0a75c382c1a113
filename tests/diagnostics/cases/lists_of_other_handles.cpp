// expect: memsched: tensors is no hook
// expect: memsched: after is no hook
// expect: memsched: updates is no hook
// lines: 90
#include <memsched/graph/lower.hpp>
struct operation {};
struct value {};
struct graph {
  std::vector<operation*> ops() const;
  std::vector<value*> inputs(operation*) const, outputs(operation*) const;
  int size(value*) const;
  std::vector<operation*> tensors() const;
  std::vector<value*> after(operation*) const;
  std::vector<operation*> updates(operation*) const;
};
int main() { memsched::lower(graph{}); }
