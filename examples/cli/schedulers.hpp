// The schedulers that the program knows, by name.
#pragma once

#include <memsched/schedule.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// What single schedulers can be told.
struct knobs {
  memsched::index parts = 4;           ///< ilp: parts of the graph; 1 for an exact answer
  std::vector<std::string> without{};  ///< serenity: parts of the method that are left out
};

struct named_scheduler {
  std::string_view name;
  std::string_view about;  ///< one line
  memsched::schedule_result<memsched::op_id> (*run)(const memsched::problem&, const memsched::options&, const knobs&);
  memsched::solution (*order)(const memsched::schedule_graph&, memsched::search&, const knobs&);
};

/// In the order in which `compare` lists them.
const std::vector<named_scheduler>& schedulers();

}  // namespace cli
