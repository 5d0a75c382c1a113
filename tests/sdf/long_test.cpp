// The laws on more than 100,000 random graphs; a part of `ctest -L long`.
#include "laws.hpp"

TEST_CASE("laws of synchronous dataflow on 100,000 random graphs") {
  REQUIRE(laws::hold_for(1'000'000, 1'009'500).graphs >= 100'000);
}
