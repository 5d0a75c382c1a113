// A plan as a picture: time to the right, offsets upwards.
#pragma once

#include <cstddef>
#include <memsched/allocation/plan.hpp>
#include <string>
#include <vector>

namespace cli {

/// One shape for each buffer, with its name as a label where there is room and as a tooltip; those of the conflict hatched.
/// `steps` operators run, each for two units of time, as `buffers_of` has it; 0 where the times are a table's own.
std::string arena_svg(const std::string& title, const std::vector<memsched::buffer>& buffers,
                      const std::vector<std::string>& names, const memsched::arena_plan& plan, std::size_t steps);

}  // namespace cli
