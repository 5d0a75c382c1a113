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
#include <memsched/graph/overlay.hpp>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const, outputs(int) const;
  std::vector<int> tensors();
  std::vector<int> after(int);
  int workspace(int);
  memsched::firing firing(int);
  int overwrites(int);
  template <class T>
  std::vector<int> updates(T);
  template <class T>
  bool live_out(T);
  template <class T>
  int alias_of(T);
  int scope(int), scope(long);
  std::string operator_name(int), operator_name(long);
  std::string tensor_name(int), tensor_name(long);
};
int main() {
  graph g;
  const auto four = [](int) { return 4; };
  memsched::lower(memsched::with_sizes(memsched::with_sizes(g, four), four));
}
