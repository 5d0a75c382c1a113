// Schedules and meets a bad graph, without exceptions and run-time types.
#include <memsched/schedule.hpp>

int main() {
  memsched::problem_builder b;
  const auto in = b.input(3), out = b.tensor(4);
  b.op({.reads = {in}, .writes = {out}});
  const auto good = memsched::schedule(b.build().value(), memsched::divide{} | memsched::automatic);
  if (good.error || good.peak != 7 || good.verdict() != memsched::verdict::optimal) return 1;
  b.op({.writes = {out}});
  const auto bad = b.build();
  return !bad && bad.error().code == memsched::error_code::two_producers ? 0 : 1;
}
