// Proofs that an arena is the smallest, against an oracle that tries every offset.
#include <catch2/catch.hpp>
#include <cstdio>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/certify/certify_packing.hpp>
#include <vector>

#include "support/random_buffers.hpp"

using namespace memsched;

namespace {

/// Kinds in turn: plain, mixed alignments, fixed, all at once, drops, one alignment for all.
support::buffer_shape shape_of(std::uint64_t seed, support::random& r) {
  support::buffer_shape s{.count = 3 + r.below(5), .time = 4 + r.below(6), .max_size = 2 + r.below(4)};
  switch (seed % 6) {
    case 1: s.percent_aligned = 50; break;
    case 2: s.percent_fixed = 30; break;
    case 3: s.percent_aligned = 40, s.percent_fixed = 20, s.percent_dropping = 30; break;
    case 4: s.percent_dropping = 50; break;
    case 5: s.one_alignment = true; break;
    default: break;
  }
  s.percent_full = r.chance(50) ? 100 : 0;
  return s;
}

const std::vector<buffer> gap{{0, 4, 2},  {1, 7, 3}, {4, 8, 2},  {7, 9, 1},  {7, 10, 1},
                              {7, 11, 1}, {8, 9, 1}, {8, 10, 1}, {9, 11, 2}, {10, 11, 2}};

}  // namespace

TEST_CASE("packing proofs against every offset") {
  int above = 0, complete = 0, all = 0;
  std::size_t steps = 0;
  for (std::uint64_t seed = 0; seed < MEMSCHED_LAW_PACKINGS; ++seed) {
    support::random r(seed * 7 + 1);
    const auto buffers = support::random_buffers(seed, shape_of(seed, r));
    const auto truth = support::offset_oracle(buffers).smallest();
    if (!truth) continue;
    INFO("seed " << seed << ", smallest " << *truth);
    const options o{.state_limit = 200'000};
    search context(o);
    const auto proof = certify_packing(buffers, *truth, context);
    REQUIRE(proof);
    REQUIRE(check_packing(buffers, *proof).empty());
    ++all;
    const bool hard = *truth > detail::simple_bound(buffers);
    above += hard;
    steps = std::max(steps, proof->steps.size());
    REQUIRE(!certify_packing(buffers, *truth + 1, context));
  }
  std::printf("%d packings, %d above the simple bound, at most %zu steps\n", all, above, steps);
  (void)complete;
}

TEST_CASE("ten buffers that need more than their load have a proof") {
  const options o;
  search context(o);
  const auto proof = certify_packing(gap, 6, context);
  REQUIRE(proof);
  REQUIRE(proof->steps.size() < 100);
  std::printf("gap: %zu steps\n", proof->steps.size());
}
