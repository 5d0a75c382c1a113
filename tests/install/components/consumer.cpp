// A stranger's program that solves integer programs.
#include <memsched/ilp/ilp.hpp>
#include <memsched/ilp/solvers/cbc.hpp>
#include <memsched/schedule.hpp>

int main() {
  memsched::problem_builder b;
  const auto in = b.input(3), out = b.tensor(4);
  b.op({.reads = {in}, .writes = {out}});
  return memsched::schedule(b.build().value(), memsched::ilp<memsched::cbc>{}).peak == 7 ? 0 : 1;
}
