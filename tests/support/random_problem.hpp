// Random problems with everything in them, for laws.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <memsched/base/random.hpp>
#include <memsched/graph/builder.hpp>

namespace support {

/// Small numbers and percentages.
struct random : memsched::random_source {
  using random_source::random_source;
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_source::below(n)); }
  bool chance(std::uint32_t percent) { return random_source::chance(percent, 100); }
};

struct shape {
  std::uint32_t operators = 8;
  std::uint32_t max_size = 30;
  std::uint32_t percent_inplace = 40, percent_alias = 10, percent_control = 15, percent_rule = 20;
  std::uint32_t max_inputs = 3;
};

/// Operators with shared tensors, several outputs, workspaces, aliases, control edges, overwritten inputs, own firing
/// rules, graph inputs and outputs, tensors of size zero and tensors that nobody reads.
inline memsched::problem_builder random_builder(std::uint64_t seed, const shape& s = {}) {
  using namespace memsched;
  random r(seed);
  problem_builder b;
  std::vector<tensor_id> tensors;
  const auto size = [&] { return bytes{r.chance(10) ? 0 : r.below(s.max_size) + 1}; };
  for (std::uint32_t i = r.below(3); i > 0; --i) tensors.push_back(b.input(size()));
  for (op_id op = 0; op < s.operators; ++op) {
    operator_spec spec;
    for (std::uint32_t i = r.below(s.max_inputs + 1); i > 0 && !tensors.empty(); --i)
      spec.reads.push_back(tensors[r.below(static_cast<std::uint32_t>(tensors.size()))]);
    if (op > 0 && r.chance(s.percent_control)) spec.after.push_back(r.below(op));
    if (!spec.reads.empty() && r.chance(s.percent_inplace))
      spec.overwrites = spec.reads[r.below(static_cast<std::uint32_t>(spec.reads.size()))];
    if (r.chance(s.percent_rule)) spec.rule = r.chance(50) ? firing::cbp : firing::pbc;
    if (r.chance(30)) spec.workspace = r.below(s.max_size);
    if (!spec.reads.empty() && r.chance(s.percent_alias)) spec.writes.push_back(b.alias(spec.reads[0]));
    for (std::uint32_t i = r.chance(5) ? 0 : r.chance(25) ? 2 : 1; i > 0; --i) spec.writes.push_back(b.tensor(size()));
    b.op(spec);
    tensors.insert(tensors.end(), spec.writes.begin(), spec.writes.end());
  }
  for (tensor_id t : tensors)
    if (r.chance(15)) b.output(t);
  return b;
}

inline memsched::problem random_problem(std::uint64_t seed, const shape& s = {}) {
  return random_builder(seed, s).build().value();
}

}  // namespace support
