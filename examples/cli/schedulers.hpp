// The schedulers that the program knows, by name.
#pragma once

#include <memsched/schedule.hpp>
#include <string_view>
#include <vector>

namespace cli {

struct named_scheduler {
  std::string_view name;
  std::string_view about;  ///< one line
  memsched::schedule_result<memsched::op_id> (*run)(const memsched::problem&, const memsched::options&);
};

/// In the order in which `compare` lists them.
const std::vector<named_scheduler>& schedulers();

}  // namespace cli
