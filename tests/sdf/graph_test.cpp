// Errors of graphs and schedules, which name the culprit; and numbers at the edges of their ranges.
#include <catch2/catch.hpp>
#include <memsched/schedulers/automatic.hpp>
#include <memsched/sdf/layout.hpp>
#include <memsched/sdf/schedule.hpp>

using namespace memsched;

namespace {

std::string error_of(const sdf::graph_builder& b, error_code code) {
  const auto g = b.build();
  REQUIRE_FALSE(g);
  REQUIRE(g.error().code == code);
  return g.error().message;
}

std::string text(const sdf::loops& l) {
  return l.text([](index_t a) { return std::string(1, static_cast<char>('a' + a)); });
}

}  // namespace

TEST_CASE("a graph that is inconsistent, stuck or too large names the culprit") {
  sdf::graph_builder b;
  const index_t x = b.actor("x"), y = b.actor("y");
  b.connect({x, y, 2, 3}, "first");
  b.connect({x, y, 1, 1}, "second");
  REQUIRE(error_of(b, error_code::inconsistent_rates) ==
          "the rates are inconsistent: by channel \"second\" \"y\" fires 1 times per firing of \"x\", by others 2 per 3");

  b = {};
  b.actor("x"), b.actor("y");
  b.connect({x, y, 1, 2, 0}, "forth");
  b.connect({y, x, 2, 1, 0}, "back");
  REQUIRE(error_of(b, error_code::deadlock) ==
          "deadlock: \"x\" waits for 1 more token on \"back\", \"y\" for 2 on \"forth\"");
  b = {};
  b.actor("x"), b.actor("y");
  b.connect({x, y, 1, 2, 0}, "forth");
  b.connect({y, x, 2, 1, 1}, "back");  // x fires once, y lacks one
  REQUIRE(error_of(b, error_code::deadlock) ==
          "deadlock: \"x\" waits for 1 more token on \"back\", \"y\" for 1 on \"forth\"");
  b = {};
  b.actor("x"), b.actor("y");
  b.connect({x, y, 1, 2, 0}, "forth");
  b.connect({y, x, 2, 1, 2}, "back");
  REQUIRE(b.build());

  b = {};
  b.actor("x");
  b.connect({x, x, 2, 2, 1}, "state");
  REQUIRE(error_of(b, error_code::deadlock) == "deadlock: \"x\" waits for 1 more token on \"state\"");
  b = {};
  b.actor("x");
  b.connect({x, x, 2, 1, 9}, "state");
  REQUIRE(error_of(b, error_code::inconsistent_rates) ==
          "the rates are inconsistent: each firing of \"x\" puts 2 tokens into its self loop \"state\" and takes 1");

  b = {};
  b.actor("x");
  b.connect({x, 7, 1, 1}, "c");
  REQUIRE(error_of(b, error_code::unknown_operator) == "channel \"c\" names actor 7, and there are 1");
  b = {};
  b.actor(), b.actor();
  b.connect({0, 1, 0, 1});
  REQUIRE(error_of(b, error_code::bad_size) == "channel \"channel 0\" has a rate of 0");

  b = {};
  b.actor("a0");
  for (index_t i = 1; i < 20; ++i) {
    b.actor("a" + std::to_string(i));
    b.connect({i - 1, i, 16, 1});
  }
  REQUIRE(error_of(b, error_code::overflow) == "repetitions overflow at \"a16\"");
  b = {};
  b.actor("x"), b.actor("y");
  b.connect({x, y, 1, 1, 0, bytes{1} << 61}, "wide");
  REQUIRE(b.build());
  b.connect({x, y, 1, 1, 0, 1}, "more");
  REQUIRE(error_of(b, error_code::overflow) == "tokens of one iteration take more than 2^61 bytes, with channel \"more\"");
}

TEST_CASE("liveness does not count firings one by one") {
  // A cycle with one token whose iteration is a thousand million of its own: its own iteration is looked at.
  sdf::graph_builder b;
  const index_t source = b.actor("source"), x = b.actor("x"), y = b.actor("y");
  b.connect({source, x, 1'000'000'000, 1});
  b.connect({x, y, 1, 1, 0});
  b.connect({y, x, 1, 1, 1});
  const auto g = b.build();
  REQUIRE(g);
  REQUIRE(g->firings() == 2'000'000'001);
}

TEST_CASE("parts are iterated by themselves and share memory") {
  sdf::graph_builder b;
  for (int i = 0; i < 5; ++i) b.actor();
  b.connect({0, 1, 2, 3});
  b.connect({2, 3, 5, 1});
  const sdf::graph g = b.build().value();
  REQUIRE(g.repetitions() == std::vector<bytes>{3, 2, 1, 5, 1});
  const auto r = sdf::schedule(g, automatic).value();
  REQUIRE(r.optimal());
  REQUIRE(r.peak == 5);  // the parts' 4 and 5, one part after the other
}

TEST_CASE("graphs without channels, without actors, and with tokens of no size") {
  sdf::graph_builder b;
  REQUIRE(sdf::schedule(b.build().value(), automatic).value().peak == 0);
  b.actor("alone", 7);
  REQUIRE(sdf::schedule(b.build().value(), automatic).value().peak == 7);
  b.actor("other");
  b.connect({0, 1, 3, 2, 1, 0});
  b.connect({1, 0, 2, 3, 6, 0});  // room of a bounded buffer: no data
  const auto r = sdf::schedule(b.build().value(), automatic).value();
  REQUIRE(r.peak == 7);
  REQUIRE(r.optimal());
}

TEST_CASE("looped schedules are written as the literature does") {
  sdf::loops l;
  l.open(24);
  l.fire(0), l.fire(1, 2);
  l.open(10);
  l.fire(2), l.fire(3);
  l.close();
  l.close();
  l.fire(4);
  REQUIRE(text(l) == "(24 a (2 b) (10 c d)) e");
  REQUIRE(l.appearances() == 5);
  sdf::loops twice;
  twice.append(l, 2);
  REQUIRE(text(twice) == "(2 (24 a (2 b) (10 c d)) e)");
  std::uint64_t firings = 0;
  twice.each_firing([&](index_t) { return ++firings, true; });
  REQUIRE(firings == 2 * (24 * (1 + 2 + 20) + 1));
  sdf::loops one;
  one.fire(0, 3);
  sdf::loops nine;
  nine.append(one, 3);
  REQUIRE(text(nine) == "(9 a)");
}

TEST_CASE("the fullest loop is not always best for shared memory") {
  sdf::composite_graph c;
  c.base = 50;
  c.actors.resize(2);
  c.actors[0] = {10, {20, -5}, {}};
  c.actors[1] = {10, {10, 10}, {}};
  c.actors[0].body.fire(0), c.actors[1].body.fire(1);
  const auto nest = sdf::single_appearance(c, std::vector<index_t>{0, 1}).value();
  REQUIRE(nest.peak == 50 + 50);  // in one loop 50 + 65
  REQUIRE(text(nest.schedule) == "(10 a) (10 b)");
}

TEST_CASE("results of a temporary outlive it") {
  sdf::graph_builder b;
  b.actor("x", 7);
  const auto& kept = sdf::schedule(b.build().value(), automatic).value();
  REQUIRE(kept.peak == 7);
  REQUIRE(kept.schedule.appearances() == 1);
}

TEST_CASE("channels share memory where they never hold tokens at once") {
  sdf::graph_builder b;  // a chain: the first channel is empty when the third fills
  for (int i = 0; i < 4; ++i) b.actor();
  b.connect({0, 1, 4, 4, 0, 16});
  b.connect({1, 2, 4, 4, 0, 2});
  b.connect({2, 3, 4, 4, 0, 16});
  const sdf::graph g = b.build().value();
  const auto r = sdf::schedule(g, automatic).value();
  const sdf::layout apart = sdf::separate_layout(g, r.fills);
  REQUIRE(apart.size == 64 + 8 + 64);
  const sdf::layout shared = sdf::shared_layout(g, r.schedule, r.fills).value();
  REQUIRE(shared.size == r.peak);
  REQUIRE(check_plan(sdf::channel_buffers(g, r.schedule, r.fills), shared.offset, shared.size).message.empty());
}

TEST_CASE("folding finds loops in loops") {
  std::vector<sdf::loops> letters(3);
  for (index_t i = 0; i < 3; ++i) letters[i].fire(i);
  const auto folded = [&](std::vector<index_t> s) { return text(sdf::fold(s, letters)); };
  REQUIRE(folded({0, 1, 1, 0, 1, 1, 2}) == "(2 a (2 b)) c");
  REQUIRE(folded({0, 1, 0, 1, 0}) == "(2 a b) a");
  REQUIRE(folded({0, 1, 2}) == "a b c");
  REQUIRE(folded({}) == "");
}

TEST_CASE("the referee refuses what is no schedule") {
  sdf::graph_builder b;
  const index_t x = b.actor("x"), y = b.actor("y");
  b.connect({x, y, 2, 3}, "c");
  const sdf::graph g = b.build().value();
  const auto judged = [&](std::initializer_list<std::pair<index_t, bytes>> firings) {
    sdf::loops l;
    for (auto [a, n] : firings) l.fire(a, n);
    const auto r = sdf::replay(g, l);
    return r ? "peak " + std::to_string(r->peak) : r.error().message;
  };
  REQUIRE(judged({{x, 2}, {y, 1}, {x, 1}, {y, 1}}) == "peak 4");
  REQUIRE(judged({{x, 1}, {y, 1}, {x, 2}, {y, 1}}) ==
          "firing 2 of the schedule, of \"y\", needs 3 tokens on \"c\", which has 2");
  REQUIRE(judged({{x, 3}, {y, 1}}) == "the schedule fires \"y\" 1 times; one iteration is 2, and the others make 1");
  REQUIRE(judged({{9, 1}}) == "the schedule names actor 9, and there are 2");
  REQUIRE(judged({}) == "the schedule fires \"x\" 0 times; one iteration is 3");
  REQUIRE(judged({{x, ~bytes{0}}, {x, 2}, {y, 2}}) == "the schedule repeats something 0 times or 2^64 times");
  REQUIRE(judged({{x, 6}, {y, 4}}) == "peak 12");
}

TEST_CASE("a scheduler is not trusted") {
  sdf::graph_builder b;  // three actors in turn whose firings no rule orders
  b.actor("x"), b.actor("y");
  b.connect({0, 1, 2, 3});
  const sdf::graph g = b.build().value();
  const auto with = [&](auto change) {
    const auto liar = [&](const schedule_graph& s, search& context) {
      solution right = automatic(s, context);
      change(right);
      return right;
    };
    const auto r = sdf::schedule(g, liar);
    if (r.error) REQUIRE(r.error->code == error_code::bad_policy);
    return r.error ? r.error->message : "";
  };
  REQUIRE(sdf::schedule(g, automatic).left > 1);
  REQUIRE(with([](solution&) {}) == "");
  REQUIRE(with([](solution& s) { std::reverse(s.order.begin(), s.order.end()); }) != "");
  REQUIRE(with([](solution& s) { s.order.pop_back(); }) != "");
  REQUIRE(with([](solution& s) { s.order.front() = 1000; }) != "");
  REQUIRE(with([](solution& s) {
            s.lower_bound = 1000;
          }).find("claims that no schedule has a peak below 1000 bytes, and one has 4") != std::string::npos);
}

TEST_CASE("forms that a graph does not have") {
  sdf::graph_builder b;
  const index_t x = b.actor("x"), y = b.actor("y");
  b.connect({x, y, 1, 1, 0}, "forth");
  b.connect({y, x, 1, 1, 1}, "back");
  const index_t source = b.actor("source");
  b.connect({source, x, 2, 1});
  const auto r = sdf::schedule(b.build().value(), automatic, {.form = sdf::form::flat});
  REQUIRE(r.error);
  REQUIRE(r.error->code == error_code::cycle);
  REQUIRE(r.error->message.find("no flat schedule: all firings of ") == 0);
  REQUIRE(sdf::schedule(b.build().value(), automatic, {.form = sdf::form::flat, .memory = sdf::memory::separate}).error);
  REQUIRE(sdf::schedule(b.build().value(), automatic, {.iterations = 3}).value().optimal());
  REQUIRE(sdf::schedule(b.build().value(), automatic, {.iterations = 0}).error);
  REQUIRE(sdf::schedule(b.build().value(), automatic, {.iterations = ~bytes{0}}).error->code == error_code::overflow);
}

TEST_CASE("several iterations are no better than one where nothing is there at the start") {
  sdf::graph_builder b;
  b.actor(), b.actor(), b.actor();
  b.connect({0, 1, 2, 3});
  b.connect({1, 2, 5, 2});
  const sdf::graph g = b.build().value();
  const bytes one = sdf::schedule(g, automatic).value().peak;
  for (bytes j : {bytes{2}, bytes{3}}) {
    const auto r = sdf::schedule(g, automatic, {.iterations = j}).value();
    REQUIRE(r.peak == one);
    REQUIRE(sdf::replay(g, r.schedule).value().iterations == j);
  }
}
