// A stranger's program, with a scheduler that compiles soon.
#include <memsched/schedule.hpp>
#include <memsched/schedulers/greedy.hpp>

int main() {
  memsched::problem_builder b;
  const auto in = b.input(3), out = b.tensor(4);
  b.op({.reads = {in}, .writes = {out}});
  return memsched::schedule(b.build().value(), memsched::greedy{}).peak == 7 ? 0 : 1;
}
