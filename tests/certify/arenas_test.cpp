// Proofs of smallest arenas: each has one, and none that is changed or forged is accepted where it proves what is not so.
#include <catch2/catch.hpp>
#include <memsched/proof/check_joint.hpp>
#include <memsched/proof/check_packing.hpp>

#include "support/arena_proofs.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

struct law {
  std::size_t accepted = 0, refused = 0;

  void fault(const char* kind, const char* what) {
    INFO(kind);
    FAIL(what);
  }
  void packing(const char* kind, const std::vector<buffer>& buffers, bytes truth, const packing_proof& p) {
    take(kind, check_packing(buffers, p), p.arena, truth);
  }
  void joint(const char* kind, const support::joint_case& c, const joint_proof& p) {
    take(kind, check_joint(c.p, p, c.o.model(), c.alignment), p.arena, c.truth);
  }
  void take(const char* kind, const std::string& why, bytes arena, bytes truth) {
    INFO(kind);
    if (why.empty()) REQUIRE(arena <= truth);
    ++(why.empty() ? accepted : refused);
  }
};

}  // namespace

TEST_CASE("smallest arenas of random buffers have a packing proof, and no other is accepted falsely") {
  law judge;
  for (std::uint64_t seed = 0; seed < support::seeds(1000); ++seed) {
    INFO("seed " << seed);
    support::packing_proofs(seed, judge);
  }
  CHECK(judge.accepted > support::seeds(1000));
  CHECK(judge.refused > support::seeds(1000));
}

TEST_CASE("smallest arenas of all orders of random graphs have a joint proof, and no other is accepted falsely") {
  law judge;
  for (std::uint64_t seed = 0; seed < support::seeds(400); ++seed) {
    INFO("seed " << seed);
    support::joint_proofs(seed, judge);
  }
  for (const std::uint64_t seed : {662U, 978U}) support::aligned_joint_proofs(seed, judge);  // what is in place must part
  CHECK(judge.accepted > support::seeds(800));
  CHECK(judge.refused > support::seeds(800));
}
