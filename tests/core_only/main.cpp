// Schedules and meets a bad graph; another unit of the program schedules the same graph.
#include <memsched/schedule.hpp>

// The rest after the front door, where it must not hide names that the default scheduler uses.
#include <memsched/memsched.hpp>

#include "graph.hpp"

int main() {
  memsched::problem_builder b = chain();
  const auto good = memsched::schedule(b.build().value(), memsched::divide{} | memsched::automatic);
  if (good.error || good.peak != 7 || good.verdict() != memsched::verdict::optimal || peak_by_other() != 7) return 1;
  b.op({.writes = {memsched::tensor_id{1}}});
  const auto bad = b.build();
  return !bad && bad.error().code == memsched::error_code::two_producers ? 0 : 1;
}
