// Proofs that no order has a smaller arena, against all orders.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <memsched/certify/certify_joint.hpp>
#include <memsched/schedulers/automatic.hpp>
#include <vector>

#include "support/all_orders.hpp"
#include "support/around_a_gap.hpp"
#include "support/random_problem.hpp"

using namespace memsched;

TEST_CASE("joint proofs of graphs around a gap") {
  int proven = 0, by_conflict = 0, all = 0;
  std::size_t longest = 0;
  for (std::uint64_t seed = 0; seed < MEMSCHED_LAW_JOINT_PROOFS; ++seed) {
    const problem p = support::around_a_gap(seed);
    options o;
    o.in_place = seed % 4 != 0;
    o.state_limit = 100'000;
    const joint_plan j = plan_jointly(p, automatic, minimize{}, o);
    if (j.plan.verdict() != verdict::optimal) continue;
    ++all;
    INFO("seed " << seed);
    const auto proof = certify_joint(p, j.order, j.plan.size, automatic, minimize{}, o);
    if (!proof) { std::printf("seed %llu: none\n", static_cast<unsigned long long>(seed)); continue; }
    ++proven;
    by_conflict += proof->refutations.size() > 1 || !proof->refutations[0].peak;
    longest = std::max(longest, proof->refutations.size());
    REQUIRE(check_joint(p, *proof, o.model()).empty());
  }
  std::printf("%d claims, %d proven, %d by conflicts, at most %zu refutations\n", all, proven, by_conflict, longest);
}
