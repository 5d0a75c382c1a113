// An order in Chrome's trace format, for Perfetto and chrome://tracing.
#pragma once

#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>
#include <span>
#include <string>

namespace cli {

/// One JSON object: a slice for each operator and for each tensor while it is in memory, and a counter of the bytes in use. A
/// step is a millisecond. O(operators + tensors).
std::string chrome_trace(const memsched::problem&, std::span<const memsched::op_id> order, memsched::memory_model);

}  // namespace cli
