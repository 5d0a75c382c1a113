// Graphs of which many orders do not pack, or few fit.
#pragma once

#include <vector>

#include <memsched/graph/builder.hpp>
#include <memsched/graph/check.hpp>

#include "support/random_problem.hpp"

namespace support {

/// A graph around a gap: the order of least peak, 54, needs 62; another, of peak 60, needs 61.
inline memsched::problem better_above_the_peak() {
  using namespace memsched;
  problem_draft d;
  for (unsigned size : {11U, 20U, 20U, 12U, 10U, 10U, 11U, 11U, 31U, 11U, 20U, 22U, 10U}) d.tensors.push_back({size});
  d.graph_outputs = {10, 11, 12};
  const std::vector<std::vector<index_t>> reads{{}, {2}, {1}, {3, 4}, {5}, {6}, {8}, {10}};
  const std::vector<std::vector<index_t>> writes{{0, 1, 2}, {3}, {4, 5}, {6, 7}, {8}, {9}, {10}, {11, 12}};
  const std::vector<std::vector<index_t>> after{{}, {0}, {0}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {6}};
  for (std::size_t op = 0; op < reads.size(); ++op) {
    d.operators.emplace_back();
    for (index_t t : reads[op]) d.reads.push(t);
    for (index_t t : writes[op]) d.writes.push(t);
    for (index_t b : after[op]) d.after.push(b);
    d.reads.close(), d.writes.close(), d.after.close();
  }
  return make_problem(std::move(d)).value();
}

/// A graph whose order as written has the buffers of an instance that needs 6 with a load of 5, times three; then disturbed:
/// sizes, control edges left out, outputs in place, operators that fire `cbp`.
inline memsched::problem around_a_gap(std::uint64_t seed) {
  using namespace memsched;
  struct tensor {
    index_t first, last;  // written by, last read by
    bytes size;
  };
  const tensor tensors[] = {{0, 1, 6}, {1, 2, 9}, {2, 3, 6}, {3, 4, 3}, {3, 5, 3},
                            {3, 6, 3}, {4, 4, 3}, {4, 5, 3}, {5, 6, 6}, {6, 6, 6}};
  random r(seed);
  problem_draft d;
  const std::uint32_t noise = r.below(2), loose = r.below(60), in_place = r.below(3) * 40;
  for (const tensor& t : tensors) d.tensors.push_back({t.size + (r.chance(30) ? r.below(noise + 1) : 0)});
  for (index_t op = 0; op < 7; ++op) {
    problem_draft::operator_data data;
    for (index_t t = 0; t < 10; ++t) {
      if (tensors[t].first == op) d.writes.push(t);
      const bool reads = tensors[t].last == op && tensors[t].first < op;
      if (reads || (tensors[t].first < op && op < tensors[t].last && r.chance(20))) {
        d.reads.push(t);
        if (r.chance(in_place)) data.overwrites = t;
      }
    }
    if (r.chance(10)) data.rule = firing::cbp;
    if (op > 0 && !r.chance(loose)) d.after.push(op - 1);
    d.reads.close(), d.writes.close(), d.after.close();
    d.operators.push_back(data);
  }
  return make_problem(std::move(d)).value();
}

/// An operator that writes little in place of much, another that runs before or after it, and a third that reads what both
/// wrote; with some disturbance.
inline memsched::problem_draft shrinking(random& r) {
  using namespace memsched;
  problem_builder b;
  const auto much = b.tensor(3 + r.below(6)), little = b.tensor(1 + r.below(3)), beside = b.tensor(1 + r.below(8));
  std::vector<tensor_id> more;
  if (r.chance(40)) more.push_back(b.tensor(1 + r.below(5)));
  b.op({.writes = {much}});
  if (!more.empty()) b.op({.writes = more});
  b.op({.reads = {much}, .writes = {little}, .overwrites = much});
  b.op({.reads = r.chance(50) ? more : std::vector<tensor_id>{}, .writes = {beside}});
  if (r.chance(50)) more.clear();
  more.insert(more.end(), {little, beside});
  b.op({.reads = more});
  return b.draft();
}

/// The problem with one more operator, before all others, that has nothing but a workspace. That workspace is often
/// above the least peak of the others, so that many of their orders stay within it.
inline memsched::problem behind_a_workspace(memsched::problem_draft d, memsched::bytes workspace) {
  using namespace memsched;
  const auto first = static_cast<op_id>(d.operators.size());
  list_of<op_id> after;
  for (op_id op = 0; op < first; ++op) {
    for (op_id before : d.after[op]) after.push(before);
    after.push(first);
    after.close();
  }
  after.close();
  d.after = std::move(after);
  d.operators.emplace_back().workspace = workspace;
  d.reads.close(), d.writes.close();
  return make_problem(std::move(d)).value();
}

}  // namespace support
