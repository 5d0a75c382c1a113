// The schedulers that the program knows, by name.
#pragma once

#include <memsched/schedule.hpp>
#include <memsched/schedulers/list.hpp>
#include <memsched/sdf/schedule.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Options of single schedulers.
struct knobs {
  memsched::index_t parts = 4;         ///< ilp: parts of the graph; 1 for an exact answer
  std::vector<std::string> without{};  ///< serenity: parts of the method that are left out
};

struct named_scheduler {
  std::string name, alias;  ///< `alias`: another name; empty for none
  std::string about;        ///< one line
  memsched::scheduler_role role;
  memsched::schedule_result<memsched::op_id> (*run)(const memsched::problem&, const memsched::options&, const knobs&);
  memsched::sdf::schedule_result (*run_sdf)(const memsched::sdf::graph&, const memsched::sdf::options&,
                                            const memsched::options&, const knobs&);
};

/// The library's list, and what this program was built with beside.
const std::vector<named_scheduler>& schedulers();
/// The scheduler of that name or alias; null where there is none.
const named_scheduler* find_scheduler(std::string_view name);

}  // namespace cli
