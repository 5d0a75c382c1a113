// expect: memsched: workspace is no hook
// expect: memsched: live_out is no hook
// expect: memsched: tensor_name is no hook
// lines: 120
#include <memsched/graph/lower.hpp>
struct graph {};
template <>
struct memsched::graph_traits<graph> {
  static std::vector<int> ops(const graph&);
  static std::vector<int> inputs(const graph&, int), outputs(const graph&, int);
  static int size(const graph&, int);
  template <class Handle>
  static int workspace(Handle);
  template <class Handle>
  static bool live_out(const Handle&);
  static std::string tensor_name(int), tensor_name(long, long);
};
int main() { memsched::lower(graph{}); }
