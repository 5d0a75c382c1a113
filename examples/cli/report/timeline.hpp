// The storages in memory while each operator of an order runs, and since when and until when.
#pragma once

#include <cstddef>
#include <memsched/graph/problem.hpp>
#include <memsched/model/firing.hpp>
#include <span>
#include <vector>

namespace cli {

/// Bytes of memory that a storage takes, or, where `tensor` is none, the workspace of the operator that runs. An output in
/// the place of an input is a part only when that input is none any more.
struct part {
  memsched::tensor_id tensor = memsched::none;
  memsched::bytes size = 0;
};

/// A moment of an order that stands for some steps in a row: the one of them that takes the most.
struct moment {
  std::size_t first = 0, steps = 1;  ///< the steps it stands for
  std::size_t step = 0;              ///< itself
  memsched::bytes during = 0;        ///< the sum of the parts
  std::vector<part> parts{};         ///< in the order in which they came to be
};

/// When a storage is in memory: from the step of its producer (the first where there is none) to that of its last reader.
struct lifetime {
  std::size_t first = 0, last = 0;
  memsched::op_id last_reader = memsched::none;  ///< none if no operator reads it
};

/// An order as a row of moments. The largest of them is the order's peak, but where that is at the start.
struct timeline {
  std::vector<memsched::op_id> order;
  std::vector<moment> moments;
  std::vector<lifetime> lives;  ///< of each storage
  memsched::bytes peak = 0;
  std::size_t peak_step = 0;  ///< the order's length where only the start takes as much
};

/// The timeline of an order of p in at most `most` moments; if there are more steps, each of the `close` steps before and
/// after the peak has a moment of its own besides. O(operators + uses + what is live at the moments).
timeline make_timeline(const memsched::problem& p, std::span<const memsched::op_id> order, memsched::memory_model,
                       std::size_t most, std::size_t close = 0);

}  // namespace cli
