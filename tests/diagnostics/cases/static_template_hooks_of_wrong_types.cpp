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
struct graph {};
template <>
struct memsched::graph_traits<graph> {
  static std::vector<int> ops(const graph&);
  static std::vector<int> inputs(const graph&, int), outputs(const graph&, int);
  static int size(const graph&, int);
  static double tensors(const graph&);
  template <class Handle>
  static std::vector<double> after(const graph&, Handle);
  template <class Handle>
  static double workspace(const graph&, Handle);
  template <class Handle>
  static bool firing(const graph&, Handle);
  template <class Handle>
  static bool overwrites(const graph&, Handle);
  template <class Handle>
  static int updates(const graph&, Handle);
  template <class Handle>
  static std::string live_out(const graph&, Handle);
  template <class Handle>
  static std::string alias_of(const graph&, Handle);
  template <class Handle>
  static double scope(const graph&, Handle);
  template <class Handle>
  static int operator_name(const graph&, Handle);
  template <class Handle>
  static int tensor_name(const graph&, Handle);
};
int main() { memsched::lower(graph{}); }
