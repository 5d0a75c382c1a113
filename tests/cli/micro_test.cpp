// What the program says of TensorFlow Lite Micro's arena, judged by the planner and the tail of the library.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <memsched/formats/onnx_network_write.hpp>
#include <memsched/formats/tflite_network_write.hpp>
#include <memsched/formats/tflite_write.hpp>

#include "formats/tflite_model.hpp"
#include "program.hpp"
#include "residuals.hpp"

using namespace memsched;
using nlohmann::json;
using tflite_model::subgraph;

namespace {

constexpr int add = 0, conv = 3, dequantize = 6, relu = 19, float32 = 0, float16 = 1, int8 = 9;
constexpr std::uint32_t with_data = 1;

/// A chain of convolutions with weights of float16; what makes float32 of them stands in front of all convolutions.
subgraph early_dequantize(std::int32_t layers, std::int32_t channels, std::int32_t side) {
  subgraph g{{{.shape = {1, side, side, channels}, .type = float32, .name = "x"}}, {}, {0}, {}};
  const auto tensor = [&](std::vector<std::int32_t> shape, int type, std::uint32_t buffer = 0) {
    g.tensors.push_back({.shape = std::move(shape), .buffer = buffer, .type = type});
    return static_cast<std::int32_t>(g.tensors.size() - 1);
  };
  std::vector<std::int32_t> weights;
  for (std::int32_t i = 0; i < layers; ++i) {
    const std::int32_t half = tensor({channels, 3, 3, channels}, float16, with_data);
    weights.push_back(tensor({channels, 3, 3, channels}, float32));
    g.ops.push_back({.kind = dequantize, .inputs = {half}, .outputs = {weights.back()}});
  }
  std::int32_t last = 0;
  for (const std::int32_t w : weights) {
    const std::int32_t out = tensor({1, side, side, channels}, float32);
    g.ops.push_back({.kind = conv, .inputs = {last, w}, .outputs = {out}});
    last = out;
  }
  g.outputs = {last};
  return g;
}

/// Operators with random uses of what stands before them, some of them computed from constants.
subgraph random_model(std::uint32_t seed) {
  std::mt19937 random(seed);
  subgraph g{{{.shape = {64}, .type = int8, .name = "x"}, {.shape = {48}, .buffer = with_data, .type = int8}}, {}, {0}, {}};
  const int count = 8 + static_cast<int>(random() % 10);
  std::vector<bool> used(2, true);
  for (int i = 0; i < count; ++i) {
    std::vector<std::int32_t> in;
    for (unsigned k = 0; k <= random() % 2; ++k) in.push_back(static_cast<std::int32_t>(random() % g.tensors.size()));
    for (const std::int32_t t : in) used[static_cast<std::size_t>(t)] = true;
    g.tensors.push_back({.shape = {static_cast<std::int32_t>(16 * (1 + random() % 40))}, .type = int8});
    used.push_back(false);
    const int kinds[] = {conv, relu, add};
    g.ops.push_back(
        {.kind = kinds[random() % 3], .inputs = in, .outputs = {static_cast<std::int32_t>(g.tensors.size() - 1)}});
  }
  for (std::size_t t = 2; t < used.size(); ++t)
    if (!used[t]) g.outputs.push_back(static_cast<std::int32_t>(t));
  return g;
}

json result_of(program& p, const std::string& arguments, int status = 0) {
  INFO(arguments);
  const int ended = p.run(arguments + " --format json");
  INFO(p.err);
  REQUIRE(ended == status);
  return json::parse(p.out);
}

bytes head_of(const program& p, const std::string& name) { return micro_arena_of(p.content(name)).value().planned; }

}  // namespace

TEST_CASE("reorder takes an order with a smaller head in TensorFlow Lite Micro where the peak is the same") {
  constexpr std::int32_t layers = 4, channels = 8, side = 8;
  constexpr bytes weights = channels * channels * 9 * 4, image = side * side * channels * 4;
  program p;
  const std::string file = tflite_model::write(early_dequantize(layers, channels, side));
  const std::string model = p.put("early.tflite", file), out = "\"" + p.path("out.tflite") + "\"";
  const json said = result_of(p, "reorder " + model + " -o " + out);
  CHECK(said["peak"] == 2 * image);
  CHECK(said["given_peak"] == 2 * image);
  CHECK(said["given_head"] == layers * weights + 2 * image);
  CHECK(said["head"] == weights + 2 * image);
  CHECK(said["moved"].get<int>() > 0);
  CHECK(head_of(p, "early.tflite") == layers * weights + 2 * image);
  CHECK(head_of(p, "out.tflite") == weights + 2 * image);
  REQUIRE(p.run("reorder " + model + " -o " + out) == 0);
  CHECK(p.out.find("head      13,312 -> 6,400 bytes in TensorFlow Lite Micro") != std::string::npos);
  REQUIRE(p.run("reorder " + out + " -o \"" + p.path("again.tflite") + "\"") == 0);
  CHECK(p.content("again.tflite") == p.content("out.tflite"));
}

TEST_CASE("reorder writes no file with a larger head in TensorFlow Lite Micro, unless it is told to") {
  program p;
  std::size_t kept = 0, lowered = 0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    const std::string file = tflite_model::write(random_model(seed));
    const std::string model = p.put("model.tflite", file), out = "\"" + p.path("out.tflite") + "\"";
    const json said = result_of(p, "reorder " + model + " -o " + out);
    const bytes given = said["given_head"], head = said["head"];
    CHECK(head <= given);
    CHECK(said["peak"] <= said["given_peak"]);
    CHECK(head_of(p, "model.tflite") == given);
    CHECK(head_of(p, "out.tflite") == head);
    lowered += head < given;
    const bool told = said["notes"].dump().find("so the order of the file was kept") != std::string::npos;
    if (told) {
      ++kept;
      CHECK(p.content("out.tflite") == file);
      CHECK(said["peak"] == said["given_peak"]);
      CHECK(said["moved"] == 0);
      const json forced = result_of(p, "reorder " + model + " -o " + out + " --force");
      CHECK(forced["head"].get<bytes>() > given);
      CHECK(forced["peak"] < forced["given_peak"]);
      CHECK(p.content("out.tflite") != file);
    }
    if (told) continue;
    REQUIRE(p.run("reorder " + out + " -o \"" + p.path("again.tflite") + "\"") == 0);
    CHECK(p.content("again.tflite") == p.content("out.tflite"));
  }
  CHECK(kept > 0);
  CHECK(lowered > 10);
}
