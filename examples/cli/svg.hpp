// Memory over time as a picture.
#pragma once

#include <cstdint>
#include <memsched/base/bytes.hpp>
#include <optional>
#include <string>
#include <vector>

#include "largest.hpp"

namespace cli {

/// An order to be drawn.
struct drawn_order {
  std::string name;
  std::vector<memsched::bytes> profile;  ///< while each operator runs
  std::string at_peak;                   ///< the operator that runs at the first step of the peak
};

/// The words of a drawing's axes.
struct drawn_axes {
  const char* steps = "operators, in the order in which they run";
  bool of_bytes = true;  ///< else numbers of tokens
};

/// One step line for each order, the last drawn first, with a dot at its peak, and the lower bound as a dashed line. All
/// words stand beside the plot, with what is `live` at the peak of the first order. An order of more operators than the plot
/// can show is drawn by the largest of some in a row; orders of different lengths are stretched to one width.
std::string memory_svg(const std::string& title, const std::vector<drawn_order>& orders, memsched::bytes bound,
                       const std::vector<named_size>& live, drawn_axes axes = {});

/// The extra cost of the executions within a budget.
struct cost_point {
  memsched::bytes budget = 0;
  std::optional<std::uint64_t> extra{};  ///< none where nothing within the budget was found
  std::uint64_t bound = 0;               ///< nothing within the budget costs less
  bool infeasible = false;               ///< nothing is within the budget
};

/// Extra cost over budgets, which descend: a step line of the costs, one of the bounds, and the budgets that are out of reach.
/// A dot is full where cost and bound are equal.
std::string curve_svg(const std::string& title, const std::vector<cost_point>& points, std::uint64_t base_cost);

/// The cost of a rewritten network.
struct front_step {
  std::size_t operators = 1;
  memsched::bytes peak = 0;
  double extra = 0;  ///< multiply-accumulates beyond the given ones, as a share of these
};

/// Peaks over operators, by powers of two: one step line for what needs no more than some share of extra
/// multiply-accumulates.
std::string front_svg(const std::string& title, const std::vector<front_step>& points);

}  // namespace cli
