// The parts of a proof of a lower bound of the extra cost of schedules within a budget.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/graph/problem.hpp>
#include <memsched/proof/certificate.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace proof {

/// A case of a recompute_proof: a leaf, or some rows of one gap or tail, with a case for each answer to whether its storage is
/// needed and absent at any of them.
struct recompute_case {
  static constexpr index_t inner = none - 1;
  index_t prices = none;                  ///< leaf: the list of prices that it uses; `inner`: no leaf
  index_t row = none;                     ///< leaf: instead of prices, a row that no open gaps cover
  tensor_id storage = none;               ///< inner
  index_t first = none, last = none;      ///< inner: rows, both included
  bool again = false;                     ///< inner, of a whole gap, instead: whether its storage is made again in it
  index_t absent = none, present = none;  ///< inner: the cases
};

/// At a row with needs: how much of the price of a storage that may be absent is paid by something that its absence asks for.
struct recompute_share {
  index_t row = none;
  tensor_id absent = none;
  tensor_id pays = none;  ///< a storage that is needed: `absent` itself or an input of its operator; none: the rerun
  std::uint64_t amount = 0;
};

/// The part of the cost to write a storage that loads in one of its gaps bear.
struct write_share {
  tensor_id storage = none;
  index_t first = 0;  ///< the first row of the gap
  std::uint64_t amount = 0;
};

/// One price for all bytes: no order of the problem that it makes of sizes and costs (`weighed_problem`) has a peak below the
/// bound of `orders`.
struct weighed_proof {
  std::uint64_t price = 0;  ///< of a byte, a multiple of 2^-scale
  certificate orders;       ///< of its schedule graph
};

}  // namespace proof

/// Prices for bytes at rows show that the gaps that cover all rows cost at least `bound`: see `check_recompute`.
struct recompute_proof {
  std::uint64_t bound = 0;
  bool any_order = false;                  ///< whether `rows` are a path, and the bound holds for all schedules
  std::vector<op_id> rows;                 ///< else all operators, in the order of their first runs
  std::vector<tensor_id> charged;          ///< per operator, the output that bears its cost in its gaps; none for no output
  std::vector<proof::write_share> writes;  ///< in ascending order of storages and rows; of other gaps, 0
  unsigned scale = 0;                      ///< prices are multiples of 2^-scale of the cost's unit
  std::vector<std::vector<std::pair<index_t, std::uint64_t>>> prices;  ///< lists of (row, price of a byte)
  std::vector<index_t> needs;                               ///< rows where absent storages are made again from needed ones
  std::vector<std::pair<index_t, tensor_id>> reruns;        ///< (row, storage): their prices stand after those of rows
  std::vector<bytes> units;                                 ///< per row with needs: its bytes are counted in whole units
  std::vector<std::vector<proof::recompute_share>> shares;  ///< per list of prices, at rows with needs
  std::optional<proof::weighed_proof> weighed;              ///< instead of rows, prices and cases
  std::vector<proof::recompute_case> cases;  ///< the first is the root; a case stands after the one that it belongs to
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
