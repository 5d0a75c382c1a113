// Random problems that are cells in a row, with nodes beside the row.
#pragma once

#include <cstdint>
#include <vector>

#include "support/random_problem.hpp"

namespace support {

/// `cells` cells of two or three operators, each closed by an operator that reads what no other operator read of it. Beside
/// them: operators without inputs, whose outputs are kept or read later, and operators that only consume. Most are
/// renumbered.
inline memsched::problem random_hourglass(std::uint64_t seed, std::uint32_t cells) {
  using namespace memsched;
  random r(seed);
  problem_builder b;
  const auto size = [&] { return bytes{r.below(20) + 1}; };
  tensor_id waist = b.input(size());
  std::vector<tensor_id> waiting;  // outputs of operators beside the row
  for (std::uint32_t cell = 0; cell < cells; ++cell) {
    std::vector<tensor_id> made{waist};
    std::vector<bool> read{false};
    for (std::uint32_t i = 2 + r.below(2); i > 0; --i) {
      const std::uint32_t from = r.below(static_cast<std::uint32_t>(made.size()));
      operator_spec spec{.reads = {made[from]}, .writes = {b.tensor(size())}};
      read[from] = true;
      if (r.chance(20)) spec.workspace = size();
      if (r.chance(20)) spec.overwrites = made[from];
      if (!waiting.empty() && r.chance(40)) spec.reads.push_back(waiting.back()), waiting.pop_back();
      made.push_back(spec.writes[0]);
      read.push_back(false);
      b.op(spec);
    }
    operator_spec close{.writes = {b.tensor(size())}};
    for (std::size_t i = 0; i < made.size(); ++i)
      if (!read[i] || r.chance(20)) close.reads.push_back(made[i]);
    b.op(close);
    if (r.chance(40)) {
      const tensor_id t = b.tensor(size());
      b.op({.writes = {t}});
      if (r.chance(50)) b.output(t);
      else waiting.push_back(t);
    }
    if (r.chance(40)) b.op({.reads = {made[r.below(static_cast<std::uint32_t>(made.size()))]}});
    waist = close.writes[0];
  }
  b.output(waist);
  return make_problem(renumbered(b.draft(), seed)).value();
}

}  // namespace support
