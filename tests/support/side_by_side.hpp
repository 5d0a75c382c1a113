// Problems side by side in one.
#pragma once

#include <cstdint>
#include <memsched/graph/builder.hpp>
#include <span>
#include <utility>
#include <vector>

#include "support/random_problem.hpp"

namespace support {

/// One draft of several that do not touch each other: first operators of all, then second ones, and so on; tensors draft by
/// draft. Names are left out.
inline memsched::problem_draft side_by_side(std::span<const memsched::problem_draft> drafts) {
  using namespace memsched;
  problem_draft all;
  std::vector<index_t> first_tensor;
  std::size_t most = 0;
  for (const problem_draft& d : drafts) {
    const auto first = static_cast<index_t>(all.tensors.size());
    const auto moved = [&](tensor_id t) { return t == none ? none : t + first; };
    first_tensor.push_back(first);
    for (const auto& t : d.tensors) all.tensors.push_back({t.size, moved(t.alias_of)});
    for (tensor_id t : d.graph_inputs) all.graph_inputs.push_back(moved(t));
    for (tensor_id t : d.graph_outputs) all.graph_outputs.push_back(moved(t));
    most = std::max(most, d.operators.size());
  }
  std::vector<std::vector<op_id>> place(drafts.size());
  op_id places = 0;
  for (std::size_t i = 0; i < most; ++i)
    for (std::size_t k = 0; k < drafts.size(); ++k)
      if (i < drafts[k].operators.size()) place[k].push_back(places++);
  for (std::size_t i = 0; i < most; ++i)
    for (std::size_t k = 0; k < drafts.size(); ++k) {
      const problem_draft& d = drafts[k];
      if (i >= d.operators.size()) continue;
      const auto moved = [&](tensor_id t) { return t == none ? none : t + first_tensor[k]; };
      problem_draft::operator_data op = d.operators[i];
      op.overwrites = moved(op.overwrites);
      all.operators.push_back(op);
      for (tensor_id t : d.reads[i]) all.reads.push(moved(t));
      for (tensor_id t : d.writes[i]) all.writes.push(moved(t));
      for (op_id before : d.after[i]) all.after.push(place[k][before]);
      if (d.overwrites.size() > 0)
        for (const auto& o : d.overwrites[i]) all.overwrites.push({moved(o.output), moved(o.input)});
      if (d.updates.size() > 0)
        for (tensor_id t : d.updates[i]) all.updates.push(moved(t));
      all.reads.close(), all.writes.close(), all.after.close(), all.overwrites.close(), all.updates.close();
    }
  return all;
}

/// `components` random problems of the shape `s`, side by side; some are copies of the first. Most are renumbered and mixed.
inline memsched::problem_draft random_components(std::uint64_t seed, std::uint32_t components, const shape& s,
                                                 std::uint32_t percent_copies = 50) {
  random r(seed + 1);
  std::vector<memsched::problem_draft> drafts;
  for (std::uint32_t i = 0; i < components; ++i)
    drafts.push_back(i > 0 && r.chance(percent_copies) ? drafts.front() : random_draft(seed * 7 + i, s));
  memsched::problem_draft all = side_by_side(drafts);
  return r.chance(50) ? renumbered(all, seed) : all;
}

}  // namespace support
