// Memory over time as a picture.
#pragma once

#include <memsched/base/bytes.hpp>
#include <string>
#include <utility>
#include <vector>

namespace cli {

/// An order to be drawn.
struct drawn_order {
  std::string name;
  std::vector<memsched::bytes> profile;  ///< while each operator runs
  std::string at_peak;                   ///< the operator that runs at the first step of the peak
};

/// A tensor that is live at the peak of the first order; or, with a name such as "12 more", several.
using live_tensor = std::pair<std::string, memsched::bytes>;

/// One step line for each order, the last drawn first, with a dot at its peak, and the lower bound as a dashed line. All
/// words stand beside the plot. An order of more operators than the plot can show is drawn by the largest of some in a row.
std::string memory_svg(const std::string& title, const std::vector<drawn_order>& orders, memsched::bytes bound,
                       const std::vector<live_tensor>& live);

/// Points of operators and bytes that no other beats in both, as steps; operators to the right, by powers of two.
std::string front_svg(const std::string& title, const std::vector<std::pair<double, memsched::bytes>>& points);

}  // namespace cli
