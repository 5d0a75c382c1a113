// expect: hooks<graph>
// expect: live_out
// lines: 10
#include <memsched/schedule.hpp>
struct graph {
  std::vector<int> ops() const;
  std::vector<int> inputs(int) const, outputs(int) const;
  int size(int) const;
  bool liveout(int) const;
};
static_assert(memsched::hooks<graph>.live_out);
int main() {}
