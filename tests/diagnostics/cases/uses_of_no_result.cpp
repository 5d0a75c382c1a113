// expect: memsched: the graph lacks ops\(\)
// refuse: void
// refuse: incomplete
// lines: 20
#include <memsched/schedule.hpp>
struct nothing {};
int main() {
  const auto r = memsched::schedule(nothing{});
  const auto low = memsched::lower(nothing{});
  for (const auto& op : r.order) (void)op;
  return r.value().peak == 0 && low.value().ops.empty();
}
