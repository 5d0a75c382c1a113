// The checker of packing proofs, on proofs written by hand: what it accepts, and what it says of what it refuses.
#include <catch2/catch.hpp>
#include <memsched/proof/check_packing.hpp>

using namespace memsched;

namespace {

using list = std::vector<buffer>;
const std::string missing = "steps[0]: is missing: a case is not refuted";

proof::packing_step pair_of(std::vector<index_t> two) { return {false, 0, std::move(two)}; }
proof::packing_step sum_of(std::int64_t at, std::vector<index_t> live) { return {true, at, std::move(live)}; }

/// Of load 5, but an arena of 6: the last two fill 5 bytes at 2; whichever is above leaves no hole for the first at 3.
/// Another that does not meet them.
list gap() {
  return {{.lower = 3, .upper = 4, .size = 2},
          {.lower = 1, .upper = 5, .size = 2, .drops = {{3, 1}}},
          {.lower = 2, .upper = 5, .size = 3, .drops = {{3, 2}}},
          {.lower = 0, .upper = 1, .size = 5}};
}

std::string make_problem(const list& buffers, packing_proof p) { return check_packing(buffers, p); }
/// Checks a proof for all buffers that has no step: accepted where the ranges alone refute them.
std::string follows(const list& buffers, bytes arena) {
  packing_proof p{.arena = arena};
  for (index_t i = 0; i < buffers.size(); ++i) p.buffers.push_back(i);
  return check_packing(buffers, p);
}

}  // namespace

TEST_CASE("a load is proven by one sum") {
  CHECK(make_problem(gap(), {5, {0, 1, 2}, {sum_of(3, {0, 1, 2})}}).empty());
  CHECK(make_problem(gap(), {5, {1, 2}, {sum_of(2, {1, 2})}}).empty());
  CHECK(make_problem(gap(), {5, {3}, {}}).empty());
  CHECK(make_problem(gap(), {5, {0, 1, 2}, {sum_of(3, {0, 1})}}) == "steps: the proof ends before the last");
}

TEST_CASE("a gap is proven by a pair both of whose cases are refuted") {
  CHECK(make_problem(gap(), {6, {0, 1, 2}, {pair_of({1, 2})}}).empty());
  CHECK(make_problem(gap(), {6, {0, 1, 2, 3}, {pair_of({2, 1})}}).empty());
  CHECK(make_problem(gap(), {7, {0, 1, 2}, {pair_of({1, 2})}}) == "steps[1]: is missing: a case is not refuted");
  CHECK(make_problem(gap(), {6, {1, 2}, {pair_of({1, 2})}}) == "steps[1]: is missing: a case is not refuted");
}

TEST_CASE("both cases of a pair need their steps") {
  // Under each order of the last two, the second pair refutes.
  const list buffers{{.lower = 3, .upper = 5, .size = 2, .drops = {{4, 1}}},
                     {.lower = 3, .upper = 5, .size = 5, .drops = {{4, 2}}},
                     {.lower = 3, .upper = 5, .size = 4, .drops = {{4, 2}}},
                     {.lower = 4, .upper = 5, .size = 5}};
  const auto with = [&](std::vector<proof::packing_step> steps) {
    return make_problem(buffers, {13, {0, 1, 2, 3}, std::move(steps)});
  };
  CHECK(with({pair_of({2, 3}), pair_of({1, 2}), pair_of({1, 3})}).empty());
  CHECK(with({pair_of({2, 3}), pair_of({1, 2})}) == "steps[2]: is missing: a case is not refuted");
  CHECK(with({pair_of({2, 3})}) == "steps[1]: is missing: a case is not refuted");
  CHECK(with({pair_of({2, 3}), pair_of({1, 2}), pair_of({1, 3}), pair_of({1, 2})}) ==
        "steps: the proof ends before the last");
}

TEST_CASE("steps are refused that do not apply") {
  const auto with = [&](std::vector<proof::packing_step> steps) {
    return make_problem(gap(), {6, {0, 1, 2, 3}, std::move(steps)});
  };
  CHECK(with({}) == missing);
  CHECK(with({pair_of({1, 2}), pair_of({1, 2})}) == "steps: the proof ends before the last");
  const std::string meet = "steps[0]: must name two buffers that meet";
  for (const std::vector<index_t>& named : {std::vector<index_t>{1, 3}, {1, 1}, {1}, {0, 1, 2}, {}})
    CHECK(with({pair_of(named)}) == meet);
  CHECK(with({sum_of(3, {})}) == "steps[0]: is a sum of nothing");
  CHECK(with({sum_of(2, {2, 1})}) == "steps[0]: a sum's buffers must be ascending");
  CHECK(with({sum_of(2, {1, 1, 2})}) == "steps[0]: a sum's buffers must be ascending");
  for (const auto& [at, who] : {std::pair<std::int64_t, index_t>{2, 0}, {4, 0}, {5, 2}, {1, 3}, {0, 1}})
    CHECK(with({sum_of(at, {who})}) == "steps[0]: names a buffer that is not live at that moment");
  CHECK(with({sum_of(3, {0, 1, 2})}) == "steps[0]: the sum is not too much");
  CHECK(with({sum_of(1, {1})}) == "steps[0]: the sum is not too much");  // live from its first moment on
}

TEST_CASE("numbers must be those of buffers with bytes") {
  list buffers = gap();
  const std::string ascending = "must be numbers of buffers, ascending";
  CHECK(make_problem(buffers, {6, {4}, {}}) == "buffers[0]: " + ascending);
  CHECK(make_problem(buffers, {6, {0, 2, 1}, {}}) == "buffers[2]: " + ascending);
  CHECK(make_problem(buffers, {6, {0, 0}, {}}) == "buffers[1]: " + ascending);
  CHECK(make_problem(buffers, {6, {0, 2}, {pair_of({0, 2}), pair_of({1, 2})}}) ==
        "steps[1]: must name buffers of the proof");
  CHECK(make_problem(buffers, {6, {0, 2}, {pair_of({2, 3})}}) == "steps[0]: must name buffers of the proof");
  buffers.push_back({.lower = 1, .upper = 1, .size = 3, .offset = 9});
  CHECK(make_problem(buffers, {6, {0, 4}, {}}) == "buffers[1]: is empty");
  CHECK(make_problem(buffers, {0, {}, {}}).empty());
  CHECK(make_problem(buffers, {0, {}, {pair_of({1, 2})}}) == "has steps, but nothing to prove");
  CHECK(make_problem(buffers, {base::max_total + 1, {0}, {}}) == "arena: above 2^61 bytes");
  CHECK(make_problem(buffers, {base::max_total, {0}, {}}) == missing);
}

TEST_CASE("a proof by pairs has limits; a sum has none") {
  list buffers(513, {.lower = 0, .upper = 1, .size = 1});
  packing_proof p{.arena = 513};
  for (index_t i = 0; i < 513; ++i) p.buffers.push_back(i);
  p.steps = {sum_of(0, p.buffers)};
  CHECK(make_problem(buffers, p).empty());
  p.arena = 514;
  CHECK(make_problem(buffers, p) == "buffers: more than a proof by pairs may name");
  for (index_t i = 0; i < 513; ++i) buffers[i].lower = i, buffers[i].upper = i + 1;
  p.steps.clear(), p.buffers.pop_back();
  CHECK(make_problem(buffers, p) == missing);
  const list two{{.lower = 0, .upper = 1, .size = 1}, {.lower = 0, .upper = 1, .size = 2}};
  CHECK(make_problem(two, {9, {0, 1}, std::vector(2000, pair_of({0, 1}))}) == "steps[1001]: pairs are nested too deeply");
}

TEST_CASE("a fixed buffer lies where it lies, and leaves the rest to others") {
  const list one{{.lower = 0, .upper = 1, .size = 3, .offset = 4}};
  CHECK(follows(one, 7).empty());
  CHECK(follows(one, 8) == missing);
  const list two{{.lower = 0, .upper = 1, .size = 2, .offset = 2}, {.lower = 0, .upper = 1, .size = 3}};
  CHECK(follows(two, 7).empty());
  CHECK(follows(two, 8) == missing);
  // The offsets 2 and multiples of 2 leave 4 bytes from each of the others to the next.
  const list three{{.lower = 0, .upper = 1, .size = 1, .offset = 2},
                   {.lower = 0, .upper = 1, .size = 3, .alignment = 2},
                   {.lower = 0, .upper = 1, .size = 3, .alignment = 2}};
  CHECK(make_problem(three, {9, {0, 1, 2}, {sum_of(0, {0, 1, 2})}}).empty());
  CHECK(make_problem(three, {10, {0, 1, 2}, {sum_of(0, {0, 1, 2})}}) == "steps: the proof ends before the last");
  CHECK(follows(three, 11).empty());
  CHECK(follows(three, 12) == missing);
}

TEST_CASE("offsets are multiples of alignments, and sums are rounded up to what these have in common") {
  const list two(2, {.lower = 0, .upper = 1, .size = 1, .alignment = 4});
  CHECK(follows(two, 5).empty());
  CHECK(follows(two, 6) == missing);
  const list three(3, {.lower = 0, .upper = 1, .size = 1, .alignment = 4});
  CHECK(make_problem(three, {9, {0, 1, 2}, {sum_of(0, {0, 1, 2})}}).empty());
  CHECK(make_problem(three, {10, {0, 1, 2}, {sum_of(0, {0, 1, 2})}}) == "steps[0]: the sum is not too much");
  const list mixed{{.lower = 0, .upper = 1, .size = 1, .alignment = 4}, {.lower = 0, .upper = 1, .size = 3}};
  CHECK(make_problem(mixed, {4, {0, 1}, {sum_of(0, {0, 1})}}).empty());
  CHECK(make_problem(mixed, {5, {0, 1}, {sum_of(0, {0, 1})}}) == "steps[0]: the sum is not too much");
}

TEST_CASE("of what drops, the size at the first moment that two share counts") {
  const list buffers{{.lower = 0, .upper = 3, .size = 4, .drops = {{1, 1}}}, {.lower = 1, .upper = 3, .size = 3}};
  CHECK(make_problem(buffers, {4, {0, 1}, {sum_of(1, {0, 1})}}).empty());
  CHECK(follows(buffers, 5) == missing);
  CHECK(make_problem(buffers, {5, {0, 1}, {sum_of(1, {0, 1})}}) == "steps[0]: the sum is not too much");
}

TEST_CASE("equal buffers lie in the order of their numbers; what differs in anything need not") {
  CHECK(follows(list(3, {.lower = 0, .upper = 1, .size = 2}), 6).empty());
  // The second must be below the first, so that there is a plan.
  const buffer plain{.lower = 0, .upper = 2, .size = 2};
  const buffer above_late{.lower = 1, .upper = 2, .size = 2, .offset = 2};
  const buffer above_early{.lower = 0, .upper = 1, .size = 2, .offset = 2};
  const buffer between{.lower = 1, .upper = 2, .size = 1, .offset = 1};
  CHECK(follows({{.lower = 0, .upper = 1, .size = 2}, plain, above_late}, 5) == missing);
  CHECK(follows({{.lower = 1, .upper = 2, .size = 2}, plain, above_early}, 5) == missing);
  CHECK(follows({plain, {.lower = 0, .upper = 2, .size = 1}, between}, 5) == missing);
  CHECK(follows({plain, {.lower = 0, .upper = 2, .size = 2, .drops = {{1, 1}}}, between}, 5) == missing);
  CHECK(follows({{.lower = 0, .upper = 1, .size = 1}, {.lower = 0, .upper = 1, .size = 1, .alignment = 4}}, 3) == missing);
  for (const bytes other : {bytes{0}, no_offset})
    CHECK(follows({{.lower = 0, .upper = 1, .size = 1, .offset = 1}, {.lower = 0, .upper = 1, .size = 1, .offset = other}},
                  3) == missing);
  CHECK(follows({{.lower = 0, .upper = 1, .size = 1}, {.lower = 0, .upper = 1, .size = 1, .offset = 0}}, 3) == missing);
}
