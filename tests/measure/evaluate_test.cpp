// The referee against schedules played by hand.
#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/measure/evaluate.hpp>

using namespace memsched;

namespace {

using sizes = std::vector<bytes>;
using ids = std::vector<op_id>;

constexpr memory_model cbp{.default_firing = firing::cbp};
constexpr memory_model not_in_place{.in_place = false};

evaluation play(const problem_builder& b, const ids& order, memory_model model = {}) {
  return evaluate(b.build().value(), order, model).value();
}

graph_error refusal(const problem_builder& b, const ids& order) { return evaluate(b.build().value(), order).error(); }

}  // namespace

TEST_CASE("a chain: produced before consumed, or consumed before produced") {
  problem_builder b;
  const auto in = b.input(10), mid = b.tensor(7), out = b.tensor(5);
  b.op({.reads = {in}, .writes = {mid}});
  b.op({.reads = {mid}, .writes = {out}});
  b.output(out);
  const auto pbc = play(b, {0, 1});
  REQUIRE(pbc.during == sizes{17, 12});
  REQUIRE(pbc.after == sizes{7, 5});
  REQUIRE(pbc.peak == 17);
  REQUIRE(pbc.peak_step == 0);
  REQUIRE(pbc.live_at_peak == ids{in, mid});
  const auto consumed_first = play(b, {0, 1}, cbp);
  REQUIRE(consumed_first.during == sizes{7, 5});
  REQUIRE(consumed_first.after == sizes{7, 5});
  REQUIRE(consumed_first.peak == 10);  // before the first operator
  REQUIRE(consumed_first.peak_step == 2);
  REQUIRE(consumed_first.live_at_peak == ids{in});
}

TEST_CASE("an operator's own firing rule wins over the default") {
  problem_builder b;
  const auto in = b.input(1), mid = b.tensor(20), out = b.tensor(15);
  b.op({.reads = {in}, .writes = {mid}, .rule = firing::pbc});
  b.op({.reads = {mid}, .writes = {out}, .rule = firing::cbp});
  REQUIRE(play(b, {0, 1}).during == sizes{21, 15});
  REQUIRE(play(b, {0, 1}, cbp).during == sizes{21, 15});
}

TEST_CASE("what is live at the peak sums to it, also where inputs are consumed first") {
  problem_builder b;
  const auto in = b.input(4), other = b.input(3), big = b.tensor(9), out = b.tensor(1);
  b.op({.reads = {in}, .writes = {big}, .rule = firing::cbp});
  b.op({.reads = {big, other}, .writes = {out}, .rule = firing::cbp});
  const auto e = play(b, {0, 1});
  REQUIRE(e.during == sizes{12, 1});  // 4 + 3 - 4 + 9
  REQUIRE(e.peak == 12);
  REQUIRE(e.live_at_peak == ids{other, big});
}

TEST_CASE("workspace counts while its operator runs, and only then") {
  problem_builder b;
  const auto in = b.input(2), mid = b.tensor(3), out = b.tensor(4);
  b.op({.reads = {in}, .writes = {mid}, .workspace = 100});
  b.op({.reads = {mid}, .writes = {out}});
  REQUIRE(play(b, {0, 1}).during == sizes{105, 7});
  REQUIRE(play(b, {0, 1}, cbp).during == sizes{103, 4});
  REQUIRE(play(b, {0, 1}).after == sizes{3, 0});
}

TEST_CASE("a tensor of several readers is stored once and freed by the last of them") {
  problem_builder b;
  const auto shared = b.tensor(8), left = b.tensor(1), right = b.tensor(2), sum = b.tensor(4);
  b.op({.writes = {shared}});
  b.op({.reads = {shared}, .writes = {left}});
  b.op({.reads = {shared}, .writes = {right}});
  b.op({.reads = {left, right}, .writes = {sum}});
  b.output(sum);
  REQUIRE(play(b, {0, 1, 2, 3}).during == sizes{8, 9, 11, 7});
  REQUIRE(play(b, {0, 1, 2, 3}).after == sizes{8, 9, 3, 4});
  REQUIRE(play(b, {0, 2, 1, 3}).during == sizes{8, 10, 11, 7});
  REQUIRE(play(b, {0, 2, 1, 3}, cbp).during == sizes{8, 10, 3, 4});
}

TEST_CASE("an operator that lists a tensor twice reads it once") {
  problem_builder b;
  const auto in = b.input(6), out = b.tensor(5);
  b.op({.reads = {in, in}, .writes = {out}});
  REQUIRE(play(b, {0}).during == sizes{11});
  REQUIRE(play(b, {0}).after == sizes{0});
}

TEST_CASE("several outputs count together") {
  problem_builder b;
  const auto a = b.tensor(3), c = b.tensor(4), d = b.tensor(1);
  b.op({.writes = {a, c}});
  b.op({.reads = {a}, .writes = {d}});
  b.output(c);
  REQUIRE(play(b, {0, 1}).during == sizes{7, 8});
  REQUIRE(play(b, {0, 1}).after == sizes{7, 4});
}

TEST_CASE("an output that no operator needs is freed right after its producer") {
  problem_builder b;
  const auto unread = b.tensor(50), read = b.tensor(1), out = b.tensor(2);
  b.op({.writes = {unread, read}});
  b.op({.reads = {read}, .writes = {out}});
  b.output(out);
  const auto e = play(b, {0, 1});
  REQUIRE(e.during == sizes{51, 3});
  REQUIRE(e.after == sizes{1, 2});
  REQUIRE(e.live_at_peak == ids{unread, read});
}

TEST_CASE("an operator that consumes first keeps what others still read") {
  problem_builder b;
  const auto shared = b.tensor(10), used_up = b.tensor(3), out = b.tensor(20), last = b.tensor(1);
  b.op({.writes = {shared, used_up}});
  b.op({.reads = {shared, used_up}, .writes = {out}, .rule = firing::cbp});
  b.op({.reads = {shared, out}, .writes = {last}});
  const auto e = play(b, {0, 1, 2});
  REQUIRE(e.during == sizes{13, 30, 31});
  REQUIRE(play(b, {0, 1, 2}, {.default_firing = firing::cbp}).live_at_peak == ids{shared, out});
}

TEST_CASE("graph inputs: read, unread, and kept") {
  problem_builder b;
  const auto read = b.input(3), unread = b.input(40), kept = b.input(7), out = b.tensor(1);
  b.op({.reads = {read}, .writes = {out}});
  b.output(kept);
  const auto e = play(b, {0});
  REQUIRE(e.during == sizes{11});  // the unread one is never live
  REQUIRE(e.after == sizes{7});
  REQUIRE(e.live_at_peak == ids{read, kept, out});
  REQUIRE(std::find(e.live_at_peak.begin(), e.live_at_peak.end(), unread) == e.live_at_peak.end());
}

TEST_CASE("a graph output lives to the end, also past its readers") {
  problem_builder b;
  const auto kept = b.tensor(9), out = b.tensor(2);
  b.op({.writes = {kept}});
  b.op({.reads = {kept}, .writes = {out}});
  b.output(kept);
  REQUIRE(play(b, {0, 1}).after == sizes{9, 9});
  REQUIRE(play(b, {0, 1}, cbp).during == sizes{9, 11});
}

TEST_CASE("in place: the last reader's first output takes the input's storage") {
  problem_builder b;
  const auto in = b.input(10), out = b.tensor(10);
  b.op({.reads = {in}, .writes = {out}, .overwrites = in});
  REQUIRE(play(b, {0}).during == sizes{10});
  REQUIRE(play(b, {0}).peak_step == 0);
  REQUIRE(play(b, {0}, not_in_place).during == sizes{20});
  REQUIRE(play(b, {0}, cbp).during == sizes{10});  // consumed first: nothing left to spare
}

TEST_CASE("in place saves nothing while another reader still needs the input") {
  problem_builder b;
  const auto shared = b.tensor(10), relu = b.tensor(10), other = b.tensor(1);
  b.op({.writes = {shared}});
  b.op({.reads = {shared}, .writes = {relu}, .overwrites = shared});
  b.op({.reads = {shared}, .writes = {other}});
  b.output(relu);
  REQUIRE(play(b, {0, 1, 2}).during == sizes{10, 20, 21});
  REQUIRE(play(b, {0, 2, 1}).during == sizes{10, 11, 10});
}

TEST_CASE("in place needs an output no larger than the input") {
  const auto during = [](bytes out_size) {
    problem_builder b;
    const auto in = b.input(10), out = b.tensor(out_size);
    b.op({.reads = {in}, .writes = {out}, .overwrites = in});
    return play(b, {0}).during;
  };
  REQUIRE(during(11) == sizes{21});
  REQUIRE(during(10) == sizes{10});
  REQUIRE(during(4) == sizes{10});
  REQUIRE(during(0) == sizes{10});
}

TEST_CASE("in place is for the first output, and not for a tensor that stays") {
  problem_builder b;
  const auto in = b.input(10), first = b.tensor(6), second = b.tensor(3);
  b.op({.reads = {in}, .writes = {first, second}, .overwrites = in});
  REQUIRE(play(b, {0}).during == sizes{13});  // 10 + 3: the first takes the input's place
  b.output(in);
  REQUIRE(play(b, {0}).during == sizes{19});
}

TEST_CASE("an alias costs nothing and keeps its storage until the last reader of any name") {
  problem_builder b;
  const auto x = b.tensor(8), view = b.alias(x), again = b.alias(view), y = b.tensor(2), z = b.tensor(3);
  b.op({.writes = {x}});
  b.op({.reads = {x}, .writes = {view}});
  b.op({.reads = {view}, .writes = {again}});
  b.op({.reads = {x}, .writes = {y}});
  b.op({.reads = {again}, .writes = {z}});
  const auto e = play(b, {0, 1, 2, 3, 4});
  REQUIRE(e.during == sizes{8, 8, 8, 10, 11});
  REQUIRE(e.after == sizes{8, 8, 8, 8, 0});  // no operator reads y, so it goes at once
  REQUIRE(e.live_at_peak == ids{x, z});
}

TEST_CASE("an alias that is a graph output keeps the storage to the end") {
  problem_builder b;
  const auto x = b.tensor(8), view = b.alias(x), y = b.tensor(8);
  b.op({.writes = {x}});
  b.op({.reads = {x}, .writes = {view}});
  b.op({.reads = {x}, .writes = {y}, .overwrites = x});
  b.output(view);
  REQUIRE(play(b, {0, 1, 2}).during == sizes{8, 8, 16});
  REQUIRE(play(b, {0, 1, 2}).after == sizes{8, 8, 8});
}

TEST_CASE("in place through an alias takes the storage behind it") {
  problem_builder b;
  const auto x = b.tensor(8), view = b.alias(x), y = b.tensor(8);
  b.op({.writes = {x}});
  b.op({.reads = {x}, .writes = {view}});
  b.op({.reads = {view}, .writes = {y}, .overwrites = view});
  REQUIRE(play(b, {0, 1, 2}).during == sizes{8, 8, 8});
}

TEST_CASE("the empty graph") {
  problem_builder b;
  REQUIRE(play(b, {}).peak == 0);
  REQUIRE(play(b, {}).during.empty());
  const auto kept = b.input(12);
  b.input(30);  // no operator reads it
  b.output(kept);
  const auto e = play(b, {});
  REQUIRE(e.peak == 12);
  REQUIRE(e.peak_step == 0);
  REQUIRE(e.live_at_peak == ids{kept});
}

TEST_CASE("zero sizes are sizes") {
  problem_builder b;
  const auto in = b.input(0), out = b.tensor(0);
  b.op({.reads = {in}, .writes = {out}});
  const auto e = play(b, {0});
  REQUIRE(e.peak == 0);
  REQUIRE(e.during == sizes{0});
  REQUIRE(e.peak_step == 0);
}

TEST_CASE("the peak step is the first that reaches the peak") {
  problem_builder b;
  for (int i = 0; i < 3; ++i) b.op({.writes = {b.tensor(i == 0 ? 5 : 6)}});
  const auto e = play(b, {0, 1, 2});
  REQUIRE(e.during == sizes{5, 6, 6});
  REQUIRE(e.peak_step == 1);
  REQUIRE(e.live_at_peak == ids{1});
}

TEST_CASE("what is no order is refused by name") {
  problem_builder b;
  const auto x = b.tensor(1), y = b.tensor(1);
  b.op({.writes = {x}, .name = "first"});
  b.op({.reads = {x}, .writes = {y}});
  b.op({.after = {1}, .name = "third"});
  REQUIRE(refusal(b, {0, 1, 9}).message == "step 2 names operator 9, which does not exist");
  REQUIRE(refusal(b, {0, 0}).message == "step 1 runs first a second time");
  REQUIRE(refusal(b, {1}).message == "step 0 runs operator 1 before first, which it needs");
  REQUIRE(refusal(b, {0, 2}).message == "step 1 runs third before operator 1, which it needs");
  REQUIRE(refusal(b, {0, 1}).message == "the order lacks third");
  for (const ids& order : {ids{0, 1, 9}, ids{0, 0}, ids{1}, ids{0, 2}, ids{0, 1}, ids{}})
    REQUIRE(refusal(b, order).code == error_code::bad_order);
}
