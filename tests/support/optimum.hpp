// The least peak of a small graph, by a search without any rule.
#pragma once

#include <memsched/schedulers/exhaustive.hpp>

namespace support {

inline memsched::bytes optimum(const memsched::schedule_graph& g) {
  memsched::search context(memsched::options{});
  return memsched::exhaustive{}(g, context).lower_bound;
}

}  // namespace support
