// The checker of certificates, on proofs written by hand: what it accepts, and what it says of what it refuses.
#include <catch2/catch.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/proof/check_certificate.hpp>

using namespace memsched;

namespace {

/// x is read by two operators that write 5 and 7 bytes, and a third reads both of these and writes 1.
schedule_graph diamond(bytes size_of_x = 10, memory_model model = {}) {
  problem_builder b;
  const tensor_id x = b.input(size_of_x), l = b.tensor(5), r = b.tensor(7), y = b.tensor(1);
  b.op({.reads = {x}, .writes = {l}});
  b.op({.reads = {x}, .writes = {r}});
  b.op({.reads = {l, r}, .writes = {y}});
  b.output(y);
  return make_schedule_graph(b.build().value(), model);
}

/// When the first operator runs, the second has run or not: 10 + 5 at least. It says that it comes first below 22, since
/// 10 + 7 + 5 are live where the second has run; likewise the second.
certificate in_two_steps() { return {22, {{.v = 0, .other = 1, .v_first = true, .level = 22}, {.v = 1, .level = 22}}}; }

}  // namespace

TEST_CASE("a proof in two steps holds: whichever of two operators runs second finds what the first wrote") {
  CHECK(check_certificate(diamond(), in_two_steps()).empty());
}

TEST_CASE("the levels of the start and the end need no step") {
  const schedule_graph g = diamond();
  CHECK(check_certificate(g, {10, {}}).empty());
  CHECK(check_certificate(g, {11, {}}) == "bound: is 11, but what is proven is 10");
}

TEST_CASE("what does not hold is refused with its place") {
  const schedule_graph g = diamond();
  const auto refused = [&](auto change) {
    certificate c = in_two_steps();
    change(c);
    return check_certificate(g, c);
  };
  CHECK(refused([](certificate& c) { c.bound = 23; }) == "bound: is 23, but what is proven is 22");
  CHECK(refused([](certificate& c) { c.bound = 21; }) == "bound: is 21, but what is proven is 22");
  CHECK(refused([](certificate& c) { c.steps[0].level = 23; }) == "steps[0]: level: is 23, but what the flow proves is 22");
  CHECK(refused([](certificate& c) { c.steps[1].v = 9; }) == "steps[1]: names a node that does not exist, or one twice");
  CHECK(refused([](certificate& c) { c.steps[0].other = 0; }) == "steps[0]: names a node that does not exist, or one twice");
  CHECK(refused([](certificate& c) { c.steps[0].other = 2; }) == "steps[0]: they are ordered already");
  CHECK(refused([](certificate& c) { c.steps.pop_back(); }) == "steps[0]: must give an order, and what ends the proof none");
  CHECK(refused([](certificate& c) { c.steps.erase(c.steps.begin()); }) ==
        "steps[0]: level: is 22, but what the flow proves is 17");
  CHECK(refused([](certificate& c) {
          c.steps[1].flow = {{0, 1, 5}};
        }) == "steps[1]: the flow leaves the edges between undecided nodes");
  CHECK(refused([](certificate& c) { c.steps[1].flow = {{0, 1, 0}}; }) == "steps[1]: the flow has an amount out of range");
}

TEST_CASE("reductions are refused where their rule does not apply") {
  const schedule_graph g = diamond();
  const auto with = [&](proof::reduction r) {
    certificate c = in_two_steps();
    c.steps[0].reductions = {r};
    return check_certificate(g, c);
  };
  CHECK(with({proof::reduction::rule::c1, 0, 9}) ==
        "steps[0].reductions[0]: names a node that does not exist, or one twice");
  CHECK(with({proof::reduction::rule::c1, 2, 0}) == "steps[0].reductions[0]: its rule does not apply");
  CHECK(with({proof::reduction::rule::s1, 0, 1}) == "steps[0].reductions[0]: its rule does not apply");  // it keeps 5 bytes
}

TEST_CASE("a family of sets proves what no order leaves, and is refused where one does") {
  const schedule_graph g = diamond();
  const auto with = [&](bytes level, std::vector<proof::set_family::grown_set> sets) {
    return check_certificate(g, {.bound = level, .family = proof::set_family{.level = level, .sets = std::move(sets)}});
  };
  CHECK(with(22, {{0, 0}, {0, 1}}).empty());
  CHECK(with(22, {}).empty());  // the node that frees the 10 bytes waits for both of the operators that read them
  CHECK(with(23, {}) == "family: set 0: node 3 leads out of the family");
  CHECK(with(23, {{0, 3}}) == "family: set 1: node 2 leads out of the family");
  CHECK(with(23, {{0, 3}, {1, 2}}) == "family: set 2 holds all nodes");
  CHECK(with(22, {{1, 0}}) == "family.sets[0]: grows from no set before it by a node that may be the next there");
  CHECK(with(22, {{0, 9}}) == "family.sets[0]: grows from no set before it by a node that may be the next there");

  certificate c = in_two_steps();
  c.family = proof::set_family{.level = 22};  // what the first step shows: 0 runs before 1
  CHECK(check_certificate(g, c) == "steps[1]: must give an order, and what ends the proof none");
  c.steps.pop_back();
  CHECK(check_certificate(g, c).empty());
  c.family->reductions = {{proof::reduction::rule::c1, 2, 0}};
  CHECK(check_certificate(g, c) == "family.reductions[0]: its rule does not apply");
}

TEST_CASE("a family of events proves what no order leaves, and is refused where one does") {
  using sets = std::vector<proof::set_family::grown_set>;
  const auto with = [](const schedule_graph& g, bytes level, const proof::event_model& events, sets grown = {}) {
    proof::set_family f{.level = level, .events = events, .sets = std::move(grown)};
    return check_certificate(g, {.bound = level, .family = std::move(f)});
  };
  const schedule_graph g = diamond();
  CHECK(with(g, 13, {}).empty());  // the last operator finds 12 bytes
  CHECK(with(g, 14, {}) == "family: set 0: event 2 leads out of the family");
  CHECK(with(g, 14, {}, {{0, 2}}) == "family: set 1: an order leads out of the family to the end");
  CHECK(with(g, 22, {}, {{0, 2}}) == "family: set 1: an order leads out of the family to the end");
  for (const sets& wrong : {sets{{0, 0}}, sets{{1, 2}}, sets{{0, 9}}, sets{{0, 2}, {1, 3}}})
    CHECK(with(g, 13, {}, wrong).ends_with("grows from no set before it by an event that may be the next there"));

  // Both run with the third where the 4 bytes that they free between them are no more than each of them writes.
  const schedule_graph small = diamond(4);
  CHECK(with(small, 13, {12, {{0, 2}, {1, 2}}}).empty());
  CHECK(with(small, 14, {12, {{0, 2}, {1, 2}}}) == "family: set 0: event 3 leads out of the family");
  for (const std::vector<precedence>& wrong : {std::vector<precedence>{{2, 0}}, {{0, 1}}, {{0, 9}}, {{9, 0}}})
    CHECK(with(small, 13, {12, wrong}) == "family.events.folded[0]: the one need not run with the other");
  CHECK(with(small, 13, {12, {{0, 2}, {0, 2}}}) == "family.events.folded[1]: the one need not run with the other");
  CHECK(with(g, 13, {12, {{0, 2}}}) == "family.events.folded[0]: the one need not run with the other");
  problem_builder chain;
  const tensor_id first = chain.tensor(5), second = chain.tensor(5), last = chain.tensor(5);
  chain.op({.writes = {first}});
  chain.op({.reads = {first}, .writes = {second}});
  chain.op({.reads = {second}, .writes = {last}});
  chain.output(last);
  CHECK(with(make_schedule_graph(chain.build().value()), 10, {9, {{0, 1}, {1, 2}}}) ==
        "family.events.folded: a node is folded into one that is folded");
  CHECK(with(diamond(4, {.default_firing = firing::cbp}), 13, {}) == "family: is of events, but there are credits");
}

TEST_CASE("a layer proves what whichever of its nodes takes, and is refused where one takes less") {
  const schedule_graph g = diamond();
  const auto with = [&](bool first, bytes level, std::vector<proof::layer_member> layer) {
    return check_certificate(g, {level, {{.v_first = first, .level = level, .layer = std::move(layer)}}});
  };
  CHECK(with(false, 22, {{0}, {1}}).empty());  // the last of the two finds what the other one wrote
  CHECK(with(true, 15, {{0}, {1}}).empty());
  CHECK(with(true, 17, {{0}, {1}}) == "steps[0]: level: is 17, but what the flow proves is 15");
  CHECK(with(true, 17, {{1}}).empty());  // after the other one or not
  CHECK(with(false, 22, {{0}}) == "steps[0]: level: is 22, but what the flow proves is 15");
  CHECK(with(false, 13, {{0}, {1}, {2}}).empty());
  CHECK(with(false, 13, {{0, {{1, 3, 7}}}, {2}}) == "steps[0]: node 0 has a flow, but is not the one that it is about");
  CHECK(with(false, 22, {{0, {{1, 3, 7}}}, {1}}) == "steps[0]: node 0: the flow leaves the edges between undecided nodes");
  for (const auto& layer : {std::vector<proof::layer_member>{{1}, {0}}, {{0}, {0}, {1}}, {{0}, {9}}})
    CHECK(with(false, 22, layer) == "steps[0]: names a node that does not exist, or not in order");
  CHECK(check_certificate(g, {22, {{.v = 0, .level = 22, .layer = {{0}, {1}}}}}) ==
        "steps[0]: a layer has members, and nothing else");
  CHECK(check_certificate(g, {22, {{.level = 22, .layer = {{0}, {1}}}, {.v = 1, .level = 22}}}) ==
        "steps[1]: the proof has ended");
}

TEST_CASE("what runs after a layer's nodes has not run when the first of them does, nor after one that runs last") {
  // 60 bytes are there. Two operators write 5 and 7; what reads the 5 and frees 50 bytes runs after the first of these.
  problem_builder b;
  const tensor_id x = b.input(10), z = b.input(50), l = b.tensor(5), m = b.tensor(1), r = b.tensor(7), y = b.tensor(2);
  b.op({.reads = {x}, .writes = {l}});
  b.op({.reads = {x}, .writes = {r}});
  b.op({.reads = {l, z}, .writes = {m}});
  b.op({.reads = {m, r}, .writes = {y}});
  b.output(y);
  const schedule_graph g = make_schedule_graph(b.build().value());
  CHECK(check_certificate(g, {65, {{.v_first = true, .level = 65, .layer = {{0}, {1}}}}}).empty());
  CHECK(check_certificate(g, {18, {{.level = 18, .layer = {{0}, {1}}}}}).empty());  // where 1 runs last, 2 may have run
}

TEST_CASE("two cases prove what each of them shows, and are refused where one does not") {
  const schedule_graph g = diamond();
  const proof::proof_step first{.v = 1, .level = 22}, second{.v = 0, .level = 22};
  certificate c{22, {{.v = 0, .other = 1, .cases = true, .then = {first}, .otherwise = {second}}}};
  CHECK(check_certificate(g, c).empty());
  const auto refused = [&](auto change) {
    certificate other = c;
    change(other.steps[0]);
    return check_certificate(g, other);
  };
  CHECK(refused([](proof::proof_step& s) { s.otherwise.clear(); }) == "steps[0].edges: nothing follows");
  CHECK(refused([](proof::proof_step& s) { s.edges = {{0, 1}}; }) == "steps[0].edges: the proof has ended");
  CHECK(refused([](proof::proof_step& s) {
          s.otherwise.clear(), s.edges = {{0, 1}};
        }) == "steps[0].edges: one does not follow");
  CHECK(refused([](proof::proof_step& s) {
          s.otherwise.clear(), s.edges = {{1, 0}};
        }) == "steps[0]: must give an order, and what ends the proof none");
  CHECK(refused([](proof::proof_step& s) { std::swap(s.then, s.otherwise); }) ==
        "steps[0].then.steps[0]: level: is 22, but what the flow proves is 15");
  CHECK(refused([](proof::proof_step& s) { s.other = 2; }) == "steps[0]: they are ordered already");
  CHECK(refused([](proof::proof_step& s) { s.level = 1; }) == "steps[0]: two cases have two nodes, and no flow");
  CHECK(refused([](proof::proof_step& s) { s.cases = false; }) == "steps[0]: a cut has no cases");
  c.steps[0].otherwise.clear();
  c.steps[0].edges = {{1, 0}};
  c.steps.push_back(second);
  CHECK(check_certificate(g, c).empty());
}

TEST_CASE("a window bounds the whole, and is refused where its ends do not hold") {
  // A chain: 1 byte becomes 50, then 100, then 1, then 2.
  problem_builder b;
  const tensor_id x = b.input(1), l = b.tensor(50), m = b.tensor(100), s = b.tensor(1), y = b.tensor(2);
  b.op({.reads = {x}, .writes = {l}});
  b.op({.reads = {l}, .writes = {m}});
  b.op({.reads = {m}, .writes = {s}});
  b.op({.reads = {s}, .writes = {y}});
  b.output(y);
  const schedule_graph g = make_schedule_graph(b.build().value());
  // Nodes 1 and 2; the node that opens it is 2 there, the one that closes it 3.
  const proof::proof_window w{.before = {{0, 1}}, .nodes = {1, 2}, .behind = {0}, .ahead = {1}, .lift = 1000};
  certificate c{.bound = 150, .steps = {{.v = 0, .level = 1150}}, .window = w};
  CHECK(check_certificate(g, c).empty());
  const auto refused = [&](auto change) {
    certificate other = c;
    change(*other.window);
    return check_certificate(g, other);
  };
  CHECK(refused([](proof::proof_window& z) { z.slack = 5; }) == "bound: is 150, but what is proven is 145");
  CHECK(refused([](proof::proof_window& z) { z.lift = 202; }) == "window: lift: is too small, or too large");
  CHECK(refused([](proof::proof_window& z) {
          z.before = {{1, 2}};
        }) == "window: nodes: one does not exist, or stands twice");
  CHECK(refused([](proof::proof_window& z) { z.before = {{3, 4}}; }) == "window: node 1 waits for one that runs later");
  CHECK(refused([](proof::proof_window& z) { z.nodes = {1, 3}; }) == "window: node 3 waits for one that runs later");
  CHECK(refused([](proof::proof_window& z) {
          z.before.clear(), z.nodes = {1, 2};
        }) == "window: node 1 waits for one that runs later");
  CHECK(refused([](proof::proof_window& z) { z.behind.clear(); }) == "window: its end need not come after its start");
  CHECK(refused([](proof::proof_window& z) { z.behind = {2}; }) == "window: behind: is no operator of the window");
  CHECK(refused([](proof::proof_window& z) { z.ahead = {2}; }) == "window: ahead: is no operator of the window");
}

TEST_CASE("a window's ends hold after all that is live at its start, and ahead of all that frees what is live at its end") {
  // 0 and 1 write what is live at the start; 6 frees what they read. 2 comes after 0 alone, 3 after both; 7 frees what both
  // read. 4 frees what 2 wrote, and 5, which comes after 4, what 3 wrote.
  problem_builder b;
  const tensor_id x = b.input(1), p = b.tensor(50), q = b.tensor(60), s = b.tensor(10), t = b.tensor(20), y = b.tensor(1),
                  z = b.tensor(1);
  b.op({.reads = {x}, .writes = {p}});
  b.op({.reads = {x}, .writes = {q}});
  b.op({.reads = {p}, .writes = {s}});
  b.op({.reads = {p, q}, .writes = {t}});
  b.op({.reads = {s}, .writes = {y}});
  b.op({.reads = {y, t}, .writes = {z}});
  b.output(z);
  const schedule_graph g = make_schedule_graph(b.build().value());
  const auto answer = [&](std::vector<index_t> behind, std::vector<index_t> ahead, bytes slack = 0) {
    const proof::proof_window w{.before = {{0, 2}, {6, 7}},
                                .nodes = {2, 3, 7},
                                .behind = std::move(behind),
                                .ahead = std::move(ahead),
                                .lift = 1000,
                                .slack = slack};
    return check_certificate(g, {.bound = 1, .window = w});
  };
  CHECK(answer({0}, {}) == "window: behind: a node may run before what is live at the start");
  CHECK(answer({0, 1}, {}) == "window: behind: a node may run before what is live at the start");
  CHECK(answer({1}, {1}) == "window: ahead: a node may run after what frees what is live at the end");
  CHECK(answer({1}, {}).find("may run") == std::string::npos);
  CHECK(answer({1}, {0}).find("may run") == std::string::npos);
  // 2 need not run after 1, which makes 60 bytes, and 3 need not run before 4, which frees 10.
  CHECK(answer({0, 1}, {}, 59) == "window: behind: a node may run before what is live at the start");
  CHECK(answer({0, 1}, {}, 60).find("may run") == std::string::npos);
  CHECK(answer({1}, {1}, 9) == "window: ahead: a node may run after what frees what is live at the end");
  CHECK(answer({1}, {1}, 10).find("may run") == std::string::npos);
  CHECK(answer({0, 1}, {0, 1}, 69) == "window: ahead: a node may run after what frees what is live at the end");
  CHECK(answer({0, 1}, {0, 1}, 70).find("may run") == std::string::npos);
}
