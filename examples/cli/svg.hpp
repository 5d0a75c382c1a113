// Memory over time as a picture.
#pragma once

#include <memsched/base/bytes.hpp>
#include <string>
#include <utility>
#include <vector>

namespace cli {

/// Bytes while each operator of an order runs.
using named_profile = std::pair<std::string, std::vector<memsched::bytes>>;

/// One step line for each order, the last drawn first, with the lower bound as a dashed line.
std::string memory_svg(const std::string& title, const std::vector<named_profile>& orders, memsched::bytes bound);

/// Points of operators and bytes that no other beats in both, as steps; operators to the right, by powers of two.
std::string front_svg(const std::string& title, const std::vector<std::pair<double, memsched::bytes>>& points);

}  // namespace cli
