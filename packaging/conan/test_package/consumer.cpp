// A stranger's program.
#include <memsched/schedule.hpp>

int main() {
  memsched::problem_builder b;
  const auto in = b.input(3), out = b.tensor(4);
  b.op({.reads = {in}, .writes = {out}});
  return memsched::schedule(b.build().value()).peak == 7 ? 0 : 1;
}
