// expect: memsched: the graph lacks ops\(\)
// refuse: invalid use
// refuse: invalid variable template
// lines: 26
#include <memsched/graph/traits.hpp>
struct nothing {};
static_assert(memsched::hooks<nothing>.after);
int main() {}
