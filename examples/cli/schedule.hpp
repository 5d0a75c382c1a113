// A graph scheduled as a command asks, for the commands that show it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "commands.hpp"

namespace cli {

/// A graph, its schedule, and what that took.
struct scheduled {
  loaded graph;
  memsched::schedule_result<memsched::op_id> best;
  double took = 0;  ///< seconds, with reading
};

/// Reads and schedules the graph of a request, or the one in `inline_json` where that is not empty.
memsched::result<scheduled> solve(const schedule_request&, std::string_view inline_json = {});

/// The graph with what its operators run in the file's own order.
memsched::result<loaded> as_listed(const loaded&, const request&);

/// The result as `schedule --format json` prints it.
nlohmann::ordered_json as_json(const scheduled&, const schedule_request&);

}  // namespace cli
