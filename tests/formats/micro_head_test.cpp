// The head of TensorFlow Lite Micro's arena: measured figures of public models, and what kernels ask for while they run.
#include <memsched/formats/tflite_write.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/schedule.hpp>

#include "support/file_content.hpp"
#include "tflite_model.hpp"

using namespace memsched;
using tflite_model::subgraph;
using namespace tflite_model::codes;

namespace {

/// One operator of a kind, from tensor 0 to the last one, with further operands between them.
struct one_operator {
  int kind;
  tflite_model::tensor from;
  std::vector<tflite_model::tensor> operands;
  tflite_model::tensor to;

  std::string file() const {
    subgraph g{{from}, {}, {0}, {}};
    g.tensors.insert(g.tensors.end(), operands.begin(), operands.end());
    g.tensors.push_back(to);
    std::vector<std::int32_t> reads;
    for (std::size_t t = 0; t + 1 < g.tensors.size(); ++t) reads.push_back(static_cast<std::int32_t>(t));
    g.outputs = {static_cast<std::int32_t>(reads.size())};
    g.ops = {{.kind = kind, .inputs = reads, .outputs = g.outputs}};
    return tflite_model::write(g);
  }
};

tflite_model::tensor value(std::vector<std::int32_t> shape, int type) { return {.shape = std::move(shape), .type = type}; }
tflite_model::tensor constant(std::vector<std::int32_t> shape, int type) {
  return {.shape = std::move(shape), .buffer = with_data, .type = type};
}
tflite_model::tensor state(std::vector<std::int32_t> shape, int type) {
  return {.shape = std::move(shape), .type = type, .variable = true};
}

/// A graph of operators that ask for room, and others: each reads one value that was made before.
subgraph random_subgraph(std::mt19937& random) {
  subgraph g{{value({1, static_cast<std::int32_t>(1 + random() % 90)}, int8)}, {}, {0}, {}};
  std::vector<std::int32_t> values{0}, unread;
  const std::size_t count = 2 + random() % 9;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t from = values[random() % values.size()];
    const std::int32_t width = g.tensors[static_cast<std::size_t>(from)].shape[1];
    std::vector<std::int32_t> reads{from};
    const auto operand = [&](tflite_model::tensor t) {
      reads.push_back(static_cast<std::int32_t>(g.tensors.size()));
      g.tensors.push_back(std::move(t));
    };
    const int kinds[] = {relu, relu, 40, 27, 89, 100};
    const int kind = kinds[random() % 6];
    const auto made = static_cast<std::int32_t>(1 + random() % 90);
    if (kind == 27) operand(constant({made, width}, int8));
    if (kind == 40 || kind == 89) operand(constant({1}, int32));
    if (kind == 100) operand(constant({2, 2}, int32));
    const auto out = static_cast<std::int32_t>(g.tensors.size());
    g.tensors.push_back(value({1, made}, int8));
    g.ops.push_back({.kind = kind, .inputs = reads, .outputs = {out}});
    std::erase(unread, from);
    values.push_back(out);
    unread.push_back(out);
  }
  g.outputs = unread;
  return g;
}

}  // namespace

TEST_CASE("measured heads of public models, with what their kernels ask for") {
  const std::vector<std::pair<std::string, bytes>> measured{{"person_detect", 55296},
                                                            {"micro_speech", 5968},
                                                            {"keyword_scrambled_8bit", 672},
                                                            {"mlperf_kws_int8", 16000},
                                                            {"mlperf_resnet8_int8", 49152},
                                                            {"mlperf_vww_int8", 73728},
                                                            {"mlperf_ad01_int8", 768},
                                                            {"mlperf_strww_int8", 6656},
                                                            {"mcunet_vww", 161472},
                                                            {"mcunet_detection", 337024},
                                                            {"bcast", 48}};
  std::size_t read = 0;
  for (const auto& [name, head] : measured) {
    const std::string file = support::file_content(MEMSCHED_SMALL_MODELS "/" + name + ".tflite");
    if (file.empty()) continue;
    ++read;
    INFO(name);
    CHECK(micro_arena_of(file)->planned == head);
    CHECK(tflite_notes(file).empty());
  }
  if (read == 0) WARN("no models in " MEMSCHED_SMALL_MODELS);
}

TEST_CASE("each kernel asks for what its reference asks for") {
  const auto beside = [](const one_operator& o) {  // what lies beside the two ends, in blocks of 16
    const std::string file = o.file();
    const auto arena = micro_arena_of(file);
    INFO(arena.error().message);
    REQUIRE(arena);
    CHECK(tflite_notes(file).empty());
    subgraph bare{{o.from, o.to}, {{.kind = relu, .inputs = {0}, .outputs = {1}}}, {0}, {1}};
    return arena->planned - micro_arena_of(tflite_model::write(bare))->planned;
  };
  const auto axis = constant({2}, int32);
  for (const int kind : {40, 74}) {  // MEAN, SUM
    CHECK(beside({kind, value({1, 4, 4, 40}, int8), {axis}, value({1, 40}, int8)}) == 160);
    CHECK(beside({kind, value({1, 4, 4, 5}, int16), {axis}, value({1, 5}, int16)}) == 32);
    CHECK(beside({kind, value({1, 4, 4, 40}, uint8), {axis}, value({1, 40}, uint8)}) == 160);
    CHECK(beside({kind, value({1, 4, 4, 40}, float32), {axis}, value({1, 40}, float32)}) == 0);
  }
  for (const int kind : {82, 89}) {  // REDUCE_MAX, REDUCE_MIN: an integer for each dimension, and for each axis
    CHECK(beside({kind, value({1, 4, 4, 8}, int8), {axis}, value({1, 8}, int8)}) == 16 + 16);
    CHECK(beside({kind, value({1, 1, 4, 4, 8}, int8), {constant({5}, int32)}, value({1}, int8)}) == 32 + 32);
  }
  CHECK(beside({100, value({1, 4, 4, 8}, int8), {constant({4, 2}, int32)}, value({1, 6, 6, 8}, int8)}) == 16 + 16);
  CHECK(beside({106, value({20}, int8), {constant({20}, int8), constant({20}, int8)}, value({20}, int8)}) == 32);  // ADD_N
  CHECK(beside({9, value({1, 24}, int8), {constant({10, 24}, int4)}, value({1, 10}, int8)}) == 240);
  CHECK(beside({9, value({1, 24}, int8), {constant({10, 24}, int8)}, value({1, 10}, int8)}) == 0);
  for (const auto& [type, head] : {std::pair{int8, 16 + 128 + 512}, {int16, 16 + 256 + 1024}, {float32, 32 + 512}}) {
    INFO("TRANSPOSE_CONV of type " << type);
    subgraph g{{value({1, 2, 2, 2}, type), constant({4}, int32), constant({8, 3, 3, 2}, int8), value({1, 4, 4, 8}, type)},
               {{.kind = 67, .inputs = {1, 2, 0}, .outputs = {3}}},
               {0},
               {3}};
    CHECK(micro_arena_of(tflite_model::write(g))->planned == static_cast<bytes>(head));
  }
  // SVDF: 12 filters of rank 2 for 6 units, for a batch of 3.
  const auto svdf = [&](int type) {
    return beside({27,
                   value({3, 8}, type),
                   {constant({12, 8}, type), constant({12, 5}, int16), constant({6}, int32), state({3, 60}, int16)},
                   value({3, 6}, type)});
  };
  CHECK(svdf(int8) == 144 + 80);
  CHECK(svdf(float32) == 144);
  // LSTM: 4 states of 10 cells for a batch of 2, of 16 bits or of floating point.
  CHECK(beside({44, value({2, 7, 8}, int8), {state({2, 10}, int8), state({2, 10}, int16)}, value({2, 7, 10}, int8)}) ==
        4 * 48);
  CHECK(
      beside(
          {44, value({2, 7, 8}, float32), {state({2, 10}, float32), state({2, 10}, float32)}, value({2, 7, 10}, float32)}) ==
      4 * 80);
}

TEST_CASE("each graph of a file has the room that its own kernels ask for") {
  const subgraph inner{{value({1, 4, 4, 40}, int8), constant({2}, int32), value({1, 40}, int8)},
                       {{.kind = 40, .inputs = {0, 1}, .outputs = {2}}},  // MEAN
                       {0},
                       {2}};
  subgraph outer = inner;
  outer.tensors.push_back(value({1, 40}, int8));
  outer.ops.push_back({.kind = call, .inputs = {0}, .outputs = {3}, .call = {16, {1}}});
  outer.outputs = {2, 3};
  const std::string file = tflite_model::write(tflite_model::model{{outer, inner}});
  model_graphs graphs = read_tflite(file).value();
  REQUIRE(graphs.size() == 2);
  as_micro(file, graphs, false);
  for (const model_graph& g : graphs) {
    CHECK(g.draft.operators[0].workspace == 160);
    for (const auto& t : g.draft.tensors) CHECK(t.size % 16 == 0);
  }
}

TEST_CASE("kernels that may ask for more are named") {
  const auto notes = [](const one_operator& o) { return tflite_notes(o.file()); };
  const std::string says = "kernels may ask for scratch room that is not accounted for: ";
  const auto hybrid = notes({3, value({1, 4, 4, 8}, float32), {constant({8, 1, 1, 8}, int8)}, value({1, 4, 4, 8}, float32)});
  REQUIRE(hybrid.size() == 1);
  CHECK(hybrid[0] == "in TensorFlow Lite Micro, " + says + "CONV_2D");
  subgraph g{{value({8}, int8), value({8}, int8)},
             {{.kind = custom, .inputs = {0}, .outputs = {1}, .custom = "TFLite_Detection_PostProcess"}},
             {0},
             {1}};
  REQUIRE(tflite_notes(tflite_model::write(g)).size() == 1);
  CHECK(tflite_notes(tflite_model::write(g))[0].ends_with(says + "TFLite_Detection_PostProcess"));
}

TEST_CASE("in random graphs, an order's peak with kernels' room as workspace is the load of the runtime") {
  std::mt19937 random(11);
  std::size_t more = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const std::string file = tflite_model::write(random_subgraph(random));
    model_graphs graphs = read_tflite(file).value();
    as_micro(file, graphs, false);
    const problem p = make_problem(graphs[0].draft).value();
    const auto best = schedule(p);
    const std::string written = write_tflite(file, graphs, {best.order}).value();
    const auto arena = micro_arena_of(written);
    REQUIRE(arena);
    CHECK(arena->load == best.peak);
    CHECK(arena->greedy >= arena->load);
    for (auto& op : graphs[0].draft.operators) op.workspace = 0;
    more += evaluate(make_problem(graphs[0].draft).value(), best.order)->peak < best.peak;

    const auto plan = plan_micro(written, {}, false);
    REQUIRE(plan);
    CHECK(plan->head >= best.peak);
    CHECK(plan->lower_bound <= plan->head);
    CHECK(micro_arena_of(write_tflite(file, graphs, {best.order}, plan->offsets).value())->planned == plan->head);
  }
  CHECK(more > 50);
}
