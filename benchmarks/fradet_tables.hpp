// Tables 1 and 2 of Fradet, Girault, Honorat: synchronous dataflow graphs with the smallest peaks under `pbc`.
#pragma once

#include <vector>

#include <networks/task_graphs.hpp>

namespace fradet_tables {

struct line {
  const char* name;
  memsched::sdf::graph graph;
  memsched::bytes peak;
  double seconds;  ///< theirs
};

inline memsched::sdf::graph bank(std::uint32_t low, std::uint32_t high, std::uint32_t depth) {
  return task_graphs::filterbank(low, high, depth).graph();
}

/// All but Table 1's first row, which is of whole batches (task_graphs::whole_batches).
inline std::vector<line> tables_1_and_2() {
  return {{"satellite", task_graphs::satellite(), 960, 7.7},
          {"qmf23_2d", bank(2, 1, 2), 13, 0.007},
          {"qmf23_3d", bank(2, 1, 3), 31, 0.06},
          {"qmf23_5d", bank(2, 1, 5), 247, 6.7},
          {"qmf12_2d", bank(1, 1, 2), 7, 0.003},
          {"qmf12_3d", bank(1, 1, 3), 11, 0.009},
          {"qmf12_5d", bank(1, 1, 5), 35, 0.1},
          {"qmf235_2d", bank(2, 3, 2), 22, 0.03},
          {"qmf235_3d", bank(2, 3, 3), 47, 0.7},
          {"qmf235_5d", bank(2, 3, 5), 272, 802.5}};
}

}  // namespace fradet_tables
