// Checks that a rewritten network computes what the first one does, by the checker and by running both.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include <memsched/network/check.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/rewrite/check_rewrite.hpp>

namespace memsched_tests {

using namespace memsched;

inline op_id named(const network& net, const std::string& name) {
  for (op_id i = 0; i < net.operations.size(); ++i)
    if (net.operations[i].name == name) return i;
  FAIL("no operator " << name);
  return none;
}

inline void check_same(const network& before, const network& after, exactness exact = exactness::bits) {
  CHECK(check_network(after).message == "");
  CHECK(check_rewrite(before, after) == "");
  CHECK(disagreement(before, after, 3, exact) == "");
}
/// A planted fault is seen in both ways.
inline void check_found(const network& before, const network& after) {
  CHECK(check_rewrite(before, after) != "");
  CHECK(disagreement_over(before, after, field_numbers{}) != "");
}

}  // namespace memsched_tests
