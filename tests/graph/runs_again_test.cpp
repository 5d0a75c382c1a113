// The operators that may run a second time.
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/graph/runs_again.hpp>

using namespace memsched;

namespace {
using flags = std::vector<bool>;
}

TEST_CASE("an operator runs again unless it says that it is not pure") {
  problem_builder b;
  const auto x = b.tensor(1), y = b.tensor(1);
  b.op({.writes = {x}, .pure = false});
  b.op({.reads = {x}, .writes = {y}});
  REQUIRE(runs_again(b.build().value()) == flags{false, true});
}

TEST_CASE("around a storage that is changed, only readers after the last change run again") {
  problem_builder b;
  const auto cache = b.tensor(8), cache2 = b.alias(cache), early = b.tensor(1), late = b.tensor(1), other = b.tensor(1);
  b.op({.writes = {cache}});
  b.op({.reads = {cache}, .writes = {early}});
  const op_id update = b.op({.reads = {cache, early}, .writes = {cache2}});
  b.op({.reads = {cache2}, .writes = {late}});
  b.op({.reads = {late}, .writes = {other}});
  problem_draft d = b.draft();
  for (op_id op = 0; op < d.operators.size(); ++op) {
    if (op == update) d.updates.push(cache);
    d.updates.close();
  }
  REQUIRE(runs_again(make_problem(d).value()) == flags{false, false, false, true, true});
}

TEST_CASE("views run again, and so does what they view") {
  problem_builder b;
  const auto x = b.tensor(4), view = b.alias(x), y = b.tensor(1);
  b.op({.writes = {x}});
  b.op({.reads = {x}, .writes = {view}});
  b.op({.reads = {view}, .writes = {y}});
  REQUIRE(runs_again(b.build().value()) == flags{true, true, true});
}
