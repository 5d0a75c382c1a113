// A schedule of synchronous dataflow for people: memory over its firings, and a page.
#pragma once

#include <string>
#include <vector>

#include "sdf_file.hpp"

namespace cli {

/// Memory over the firings of a schedule; an error where these are too many to draw.
memsched::result<std::string> dataflow_svg(const loaded_sdf&, const schedule_request&,
                                           const memsched::sdf::schedule_result&);

/// Another kind of schedule, to be compared with.
struct dataflow_choice {
  std::string what;
  memsched::sdf::schedule_result found;
  std::string command;
};

/// A page of HTML that needs nothing else: verdict, choices, memory over time, the channels, the schedule. `facts` stand below
/// the title.
std::string dataflow_page(const loaded_sdf&, const schedule_request&, const memsched::sdf::schedule_result&,
                          const std::vector<dataflow_choice>&, const std::vector<std::string>& facts);

}  // namespace cli
