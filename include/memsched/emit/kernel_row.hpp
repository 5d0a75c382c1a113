// One row of the table of kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <memsched/emit/packed_table.hpp>
#include <memsched/network/network.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// Fields of the table of kernels.
inline std::vector<std::string> kernel_fields() {
  std::istringstream words(
      "kind sum act images operands in_rows in_columns in_channels other_rows other_columns other_channels "
      "out_rows out_columns out_channels first_channel kernel_rows kernel_columns stride_rows "
      "stride_columns dilation_rows dilation_columns pad_rows pad_columns pad_channels groups block "
      "depth_first count_pad channels_first coordinates rounding pad_value reduce_first reduce_last "
      "has_weights weights weight_rows weight_columns weight_inputs weight_outputs first_output first_input "
      "has_bias bias_at factors one_factor factor shift first_factor first_shift second_factor second_shift "
      "same other_same in_zero other_zero out_zero least most tabled table real cells step stride_0 "
      "stride_1 stride_2 stride_3 stride_1_extent stride_2_extent stride_3_extent called");
  return {std::istream_iterator<std::string>(words), {}};
}

/// A row of the table of kernels, by names.
class kernel_row {
 public:
  kernel_row() : values(names().size(), 0) {}
  std::int64_t& operator[](std::string_view field) {
    return values[static_cast<std::size_t>(std::find(names().begin(), names().end(), field) - names().begin())];
  }
  packed_table::row values;

 private:
  static const std::vector<std::string>& names() {
    static const std::vector<std::string> all = kernel_fields();
    return all;
  }
};
inline void set_extents(kernel_row& k, const std::string& of, const extents& e) {
  k[of + "_rows"] = e.rows, k[of + "_columns"] = e.columns, k[of + "_channels"] = e.channels;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
