// One graph, as both translation units build it.
#pragma once

#include <memsched/graph/builder.hpp>

inline memsched::problem_builder chain() {
  memsched::problem_builder b;
  const auto in = b.input(3), out = b.tensor(4);
  b.op({.reads = {in}, .writes = {out}});
  b.output(out);
  return b;
}

memsched::bytes peak_by_other();
