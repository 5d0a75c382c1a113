// A plan as a picture: time to the right, offsets upwards.
#pragma once

#include <memsched/allocation/plan.hpp>
#include <string>
#include <vector>

namespace cli {

/// One shape for each buffer, with its name as a label where there is room and as a tooltip; those of the conflict hatched.
std::string arena_svg(const std::string& title, const std::vector<memsched::buffer>& buffers,
                      const std::vector<std::string>& names, const memsched::arena_plan& plan);

}  // namespace cli
