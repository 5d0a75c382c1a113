// TensorFlow Lite files that are written: laws of bytes, judged by a reader of their own.
#include <memsched/formats/tflite_write.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>

#include "networks/networks.hpp"
#include "tflite_checker.hpp"
#include "tflite_model.hpp"

using namespace memsched;
using tflite_model::subgraph;
using namespace tflite_model::codes;

namespace {

/// Eight branches conv, relu, conv, listed breadth first, and their concatenation.
subgraph branches() {
  subgraph g{{{.shape = {64, 64, 8}, .type = int8, .name = "x"}}, {}, {0}, {}};
  const auto tensor = [&](std::int32_t channels) {
    g.tensors.push_back({.shape = {64, 64, channels}, .type = int8});
    return static_cast<std::int32_t>(g.tensors.size() - 1);
  };
  std::vector<std::int32_t> last(8, 0);
  const auto layer = [&](int kind, std::int32_t channels) {
    for (std::int32_t& t : last) {
      const std::int32_t out = tensor(channels);
      g.ops.push_back({.kind = kind, .inputs = {t}, .outputs = {out}});
      t = out;
    }
  };
  layer(conv, 32);
  layer(relu, 32);
  layer(conv, 2);
  g.outputs = {tensor(16)};
  g.ops.push_back({.kind = concatenation, .inputs = last, .outputs = g.outputs});
  return g;
}

/// A generated network with one byte an element; element-wise kinds are not told apart.
subgraph generated(const std::string& name) {
  const problem_draft d = networks::make(name).value();
  subgraph g;
  for (const auto& t : d.tensors) g.tensors.push_back({.shape = {static_cast<std::int32_t>(t.size)}, .type = int8});
  for (op_id op = 0; op < d.operators.size(); ++op)
    g.ops.push_back({.kind = conv,
                     .inputs = {d.reads[op].begin(), d.reads[op].end()},
                     .outputs = {d.writes[op].begin(), d.writes[op].end()}});
  g.inputs.assign(d.graph_inputs.begin(), d.graph_inputs.end());
  g.outputs.assign(d.graph_outputs.begin(), d.graph_outputs.end());
  return g;
}

model_graphs graphs_of(const std::string& file) {
  auto graphs = read_tflite(file);
  INFO(graphs.error().message);
  REQUIRE(graphs);
  return std::move(*graphs);
}

std::string written(const std::string& file, const std::vector<op_id>& order, std::vector<std::int32_t> offsets = {},
                    bool chain = false) {
  auto made = write_tflite(file, graphs_of(file), {order}, std::move(offsets), chain);
  INFO(made.error().message);
  REQUIRE(made);
  return std::move(*made);
}

/// The best order for the planner of TensorFlow Lite Micro, with its plan.
std::string planned(const std::string& file, bool in_place) {
  model_graphs graphs = graphs_of(file);
  as_micro(file, graphs, in_place);
  const auto best = schedule(make_problem(graphs[0].draft).value());
  const auto plan = plan_micro(written(file, best.order), {}, in_place);
  REQUIRE(plan);
  CHECK(plan->head == best.peak);
  return written(file, best.order, plan->offsets);
}

/// A subgraph of `n` operators with random uses, some of them stateful or made of constants.
subgraph random_subgraph(std::mt19937& random, int n) {
  subgraph g{{{.shape = {5}, .type = int8}, {.shape = {3}, .buffer = 1, .type = int8}}, {}, {0}, {}};
  for (int i = 0; i < n; ++i) {
    std::vector<std::int32_t> in;
    for (unsigned k = 0; k <= random() % 3; ++k) in.push_back(static_cast<std::int32_t>(random() % g.tensors.size()));
    g.tensors.push_back({.shape = {static_cast<std::int32_t>(1 + random() % 60)}, .type = int8});
    const int kinds[] = {conv, add, relu, 22, custom, 6};
    g.ops.push_back(
        {.kind = kinds[random() % 6], .inputs = in, .outputs = {static_cast<std::int32_t>(g.tensors.size() - 1)}});
  }
  g.outputs = {static_cast<std::int32_t>(g.tensors.size() - 1)};
  return g;
}

std::vector<memsched::index_t> inverse(const std::vector<memsched::index_t>& order) {
  std::vector<memsched::index_t> found(order.size());
  for (memsched::index_t i = 0; i < order.size(); ++i) found[order[i]] = i;
  return found;
}

}  // namespace

TEST_CASE("published heads of TensorFlow Lite Micro: as the file is, reordered with offsets, in place") {
  const auto check_model = [](const subgraph& g, bytes before, std::int64_t after, std::int64_t in_place) {
    const std::string file = tflite_model::write(g);
    const auto arena = micro_arena_of(file);
    REQUIRE(arena);
    CHECK(arena->greedy == before);
    CHECK_FALSE(arena->has_plan);
    std::size_t shared = 0;
    const std::string out = planned(file, false);
    CHECK(tflite_checker::head(out, shared) == after);
    CHECK(shared == 0);
    CHECK(micro_arena_of(out)->planned == static_cast<bytes>(after));
    const std::string over = planned(file, true);
    CHECK(tflite_checker::head(over, shared) == in_place);
    CHECK((shared > 0) == (in_place < after));
    CHECK(micro_arena_of(over)->planned == static_cast<bytes>(in_place));
  };
  check_model(branches(), 1179648, 344064, 221184);
  check_model(generated("swiftnet-cell-a"), 351232, 250880, 250880);
  check_model(generated("swiftnet"), 376320, 301056, 301056);
}

TEST_CASE("a permutation changes the words of the list, and the inverse gives the file back") {
  std::mt19937 random(1);
  std::size_t moved = 0;
  for (int round = 0; round < 200; ++round) {
    const int n = 2 + static_cast<int>(random() % 20);
    const std::string file = tflite_model::write(random_subgraph(random, n));
    const model_graphs graphs = graphs_of(file);
    // A random order that respects what must be respected.
    const problem p = make_problem(graphs[0].draft).value();
    std::vector<op_id> order;
    std::vector<bool> done(p.ops().size(), false);
    while (order.size() < done.size()) {
      std::vector<op_id> ready;
      for (const op_id op : p.ops()) {
        const auto before = p.predecessors(op);
        if (!done[op] && std::all_of(before.begin(), before.end(), [&](op_id b) { return done[b]; })) ready.push_back(op);
      }
      order.push_back(ready[random() % ready.size()]);
      done[order.back()] = true;
    }
    const std::vector<memsched::index_t> places = file_order(graphs[0], order);
    const std::string out = written(file, order);
    CHECK(written(file, order) == out);
    REQUIRE(out.size() == file.size());
    const auto before = tflite_checker::read(file, 0), after = tflite_checker::read(out, 0);
    REQUIRE(after.ops.size() == static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < after.ops.size(); ++i) CHECK(after.ops[i] == before.ops[places[i]]);
    std::vector<bool> there(after.shapes.size(), false);  // every input stands before its reader
    for (const auto& op : after.ops) {
      for (const int t : op.inputs)
        if (t > 1) CHECK(there[static_cast<std::size_t>(t)]);
      for (const int t : op.outputs) there[static_cast<std::size_t>(t)] = true;
    }
    std::size_t changed = 0;
    for (std::size_t i = 0; i < out.size(); ++i) changed += out[i] != file[i];
    CHECK(changed <= 4 * after.ops.size());
    moved += changed > 0;
    const detail::tflite::rewrite back{{inverse(places)}};
    CHECK(detail::tflite::file_writer(out, back).run().value() == file);
    CHECK(graphs_of(out)[0].draft.operators.size() == order.size());
  }
  CHECK(moved > 100);
}

TEST_CASE("offsets are in range, aligned, and apart, also in random graphs, and writing twice is writing once") {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) {
    const std::string file = tflite_model::write(random_subgraph(random, 1 + static_cast<int>(random() % 15)));
    for (const bool in_place : {false, true}) {
      const auto plan = plan_micro(file, {}, in_place);
      REQUIRE(plan);
      const std::string out = written(file, {}, plan->offsets);
      const auto arena = micro_arena_of(out);
      REQUIRE(arena);
      CHECK(arena->planned == plan->head);
      if (!in_place) CHECK(arena->planned >= arena->load);
      CHECK(plan->lower_bound <= plan->head);
      CHECK(written(out, {}, plan->offsets) == out);
    }
  }
}

TEST_CASE("storages in common are planned whichever of their tensors the file lists first") {
  subgraph g{{{.shape = {64}, .type = int8}, {.shape = {64}, .type = int8}, {.shape = {64}, .type = int8}},
             {{.kind = conv, .inputs = {2}, .outputs = {1}}, {.kind = relu, .inputs = {1}, .outputs = {0}}},
             {2},
             {0}};
  const std::string file = tflite_model::write(g);
  const auto plan = plan_micro(file, {}, true);
  REQUIRE(plan);
  CHECK(plan->head == 128);
  CHECK(plan->offsets[0] == plan->offsets[1]);
  std::size_t shared = 0;
  CHECK(tflite_checker::head(written(file, {}, plan->offsets), shared) == 128);
  CHECK(shared == 1);
}

TEST_CASE("what is computed from constants stands just before its first reader") {
  subgraph g{{{.shape = {8}, .name = "x"}, {.shape = {8}, .buffer = 1}, {.shape = {8}}, {.shape = {8}}, {.shape = {8}}},
             {{.kind = 6, .inputs = {1}, .outputs = {2}},
              {.kind = relu, .inputs = {0}, .outputs = {3}},
              {.kind = add, .inputs = {3, 2}, .outputs = {4}}},
             {0},
             {4}};
  const auto graphs = graphs_of(tflite_model::write(g));
  CHECK(file_order(graphs[0], {0, 1}) == std::vector<memsched::index_t>{1, 0, 2});
}

TEST_CASE("a plan of the old order is never kept; control dependencies follow their operators") {
  tflite_model::model m{{branches()}};
  const std::string bare = tflite_model::write(m);
  const auto plan = plan_micro(bare, {}, false);
  REQUIRE(plan);
  m.metadata = {{"mine", "as it is"},
                {"OfflineMemoryAllocation", detail::tflite::write_offsets(1, plan->offsets)},
                {"model_control_dependencies", detail::tflite::write_control_edges({{{0, 8}, {8, 16}}})}};
  const std::string file = tflite_model::write(m);
  const model_graphs graphs = graphs_of(file);
  const auto best = schedule(make_problem(graphs[0].draft).value());
  const std::vector<memsched::index_t> places = file_order(graphs[0], best.order);
  CHECK(written(file, {}) == file);  // the old order: all stays

  const std::string out = written(file, best.order);
  const auto plans = tflite_checker::metadata(out, "OfflineMemoryAllocation");
  REQUIRE(plans.size() == 1);
  CHECK(plans[0].size() == 12 + 4 * plan->offsets.size());
  CHECK(std::all_of(plans[0].begin() + 12, plans[0].end(), [](char c) { return c == '\xff'; }));
  const auto place = inverse(places);
  CHECK(tflite_checker::metadata(out, "model_control_dependencies") ==
        std::vector<std::string>{detail::tflite::write_control_edges({{{place[0], place[8]}, {place[8], place[16]}}})});
  CHECK(tflite_checker::metadata(out, "mine") == std::vector<std::string>{"as it is"});
  CHECK(graphs_of(out)[0].draft.after.items() == 2);

  const std::string chained = written(file, best.order, {}, true);
  std::vector<detail::tflite::control_edge> chain;
  for (memsched::index_t i = 1; i < 25; ++i) chain.emplace_back(i - 1, i);
  CHECK(tflite_checker::metadata(chained, "model_control_dependencies") ==
        std::vector<std::string>{detail::tflite::write_control_edges({chain})});
  CHECK(chained.size() % 64 == file.size() % 64);
  CHECK(chained.substr(chained.size() - file.size() + 200, 50) != std::string());
}

TEST_CASE("a chain of control dependencies leaves out what makes constants: what is read stays the same") {
  subgraph g{{{.shape = {8}, .name = "x"}, {.shape = {8}, .buffer = 1}, {.shape = {8}}, {.shape = {8}}, {.shape = {8}}},
             {{.kind = relu, .inputs = {0}, .outputs = {3}},
              {.kind = 6, .inputs = {1}, .outputs = {2}},
              {.kind = add, .inputs = {3, 2}, .outputs = {4}}},
             {0},
             {4}};
  const std::string out = written(tflite_model::write(g), {}, {}, true);
  CHECK(tflite_checker::metadata(out, "model_control_dependencies") ==
        std::vector<std::string>{detail::tflite::write_control_edges({{{0, 2}}})});
  CHECK(graphs_of(out)[0].draft.operators.size() == 2);
}

TEST_CASE("absolute positions move with a new head") {
  tflite_model::model m{{branches()}};
  m.subgraphs[0].tensors.push_back({.shape = {4}, .buffer = 2, .type = int8, .name = "far"});
  m.subgraphs[0].ops[0].inputs.push_back(static_cast<std::int32_t>(m.subgraphs[0].tensors.size() - 1));
  m.buffers.push_back({0, 8, 4});
  const std::string bare = tflite_model::write(m);
  m.buffers[2].offset = bare.size();
  const std::string file = tflite_model::write(m) + "data";
  const std::string out = written(file, {}, {}, true);
  const tflite_checker::reader r(out);
  const std::size_t buffer = r.entry(r.list(r.root(), 4), 2);
  CHECK(out.substr(r.u32(r.field(buffer, 1)), 4) == "data");
}

TEST_CASE("graphs that operators run are reordered too") {
  subgraph g{{{.shape = {}, .type = 6}, {.shape = {64, 64, 8}, .type = int8}, {.shape = {64, 64, 16}, .type = int8}},
             {{.kind = if_op, .inputs = {0, 1}, .outputs = {2}, .call = {92, {1, 2}}}},
             {0, 1},
             {2}};
  subgraph plain{{{.shape = {64, 64, 8}, .type = int8}, {.shape = {64, 64, 16}, .type = int8}},
                 {{.kind = conv, .inputs = {0}, .outputs = {1}}},
                 {0},
                 {1}};
  const std::string file = tflite_model::write(tflite_model::model{{g, branches(), plain}});
  const model_graphs graphs = graphs_of(file);
  const auto orders = schedule_graphs(graphs, 0, [](const problem& p) { return schedule(p); });
  REQUIRE(orders);
  CHECK((*orders)[0].peak == 1 + 32768 + 65536 + 221184);
  std::vector<std::vector<op_id>> lists;
  for (const graph_order& o : *orders) lists.push_back(o.order);
  const auto out = write_tflite(file, graphs, lists);
  REQUIRE(out);
  const auto again = schedule_graphs(graphs_of(*out), 0, [](const problem& p) { return schedule(p, as_given{}); });
  REQUIRE(again);
  CHECK((*again)[0].peak == (*orders)[0].peak);
}

TEST_CASE("what cannot be written is refused") {
  const std::string file = tflite_model::write(branches());
  CHECK(!detail::tflite::file_writer(file, {{{1, 0}}}).run());
  CHECK(!write_tflite("no model", {}, {}));
  // Every byte changed in some ways: an error, or a file that reads.
  const model_graphs graphs = graphs_of(file);
  const auto best = schedule(make_problem(graphs[0].draft).value());
  std::size_t refused = 0;
  for (std::size_t i = 0; i < file.size(); i += 3)
    for (const int change : {1, 16, 255}) {
      std::string other = file;
      other[i] = static_cast<char>(other[i] ^ change);
      const auto there = read_tflite(other);
      const auto made = write_tflite(other, there ? *there : graphs, {best.order}, {}, true);
      refused += !made;
      if (there && made) CHECK(read_tflite(*made));
    }
  CHECK(refused > 0);
}
