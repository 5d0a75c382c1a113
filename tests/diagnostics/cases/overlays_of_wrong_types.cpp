// expect: memsched: the graph lacks size
// expect: memsched: tensors is no hook
// expect: memsched: after is no hook
// expect: memsched: workspace is no hook
// expect: memsched: firing is no hook
// expect: memsched: overwrites is no hook
// expect: memsched: updates is no hook
// expect: memsched: live_out is no hook
// expect: memsched: alias_of is no hook
// expect: memsched: scope is no hook
// expect: memsched: cost is no hook
// expect: memsched: pure is no hook
// expect: memsched: operator_name is no hook
// expect: memsched: tensor_name is no hook
// lines: 240
#include <memsched/graph/overlay.hpp>
#include <string>
#include <vector>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const, outputs(int) const;
  int size(int) const;
};
auto sizes = memsched::with_sizes(graph{}, [](int) { return 4.0; });
auto tensors = memsched::with_tensors(graph{}, [] { return 4; });
auto after = memsched::with_after(graph{}, [](int op) { return op; });
auto workspace = memsched::with_workspace(graph{}, [](int) { return 7.0; });
auto firing = memsched::with_firing(graph{}, [](int) { return true; });
auto overwrites = memsched::with_overwrites(graph{}, [](int) { return true; });
auto updates = memsched::with_updates(graph{}, [](int tensor) { return tensor; });
auto live_out = memsched::with_live_out(graph{}, [](int) { return std::string("yes"); });
auto alias_of = memsched::with_aliases(graph{}, [](int) { return std::string("base"); });
auto scope = memsched::with_scopes(graph{}, [](int) { return "cell"; });
auto cost = memsched::with_cost(graph{}, [](int) { return 0.5; });
auto pure = memsched::with_pure(graph{}, [](int) { return 1; });
auto operator_name = memsched::with_operator_names(graph{}, [](int op) { return op; });
auto tensor_name = memsched::with_tensor_names(graph{}, [](int tensor) { return tensor; });
int main() {}
