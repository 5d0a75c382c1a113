// The persistent rest of TensorFlow Lite Micro's arena: measured figures of public models, and laws on models made here.
#include <memsched/formats/tflite_write.hpp>

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/file_content.hpp"
#include "tflite_model.hpp"

using namespace memsched;
using tflite_model::subgraph;
using namespace tflite_model::codes;

namespace {

/// The rest of a file where `before` bytes stand in front of the model's lists.
bytes tail_behind(const std::string& file, bytes before) {
  using namespace memsched::detail::tflite;
  model_file m(file);
  REQUIRE(m.read());
  const read_options reading;
  tensor_sizes sizes(m, reading.shapes);
  sizes.infer();
  micro_tail_count count(m, sizes, pointer_width::bits_64, before);
  const bytes size = count.run();
  INFO(m.file.error().message);
  REQUIRE_FALSE(m.file.failed());
  CHECK(count.unknown().empty());
  return size;
}

/// A chain of `count` convolutions, each with `channels` channels.
subgraph chain(int count, std::int32_t channels, int kind = conv) {
  subgraph g{{{.shape = {1, 8, 8, channels}, .type = int8, .scale = {0.5F}, .zero_point = {0}}}, {}, {0}, {}};
  std::int32_t last = 0;
  for (int i = 0; i < count; ++i) {
    const std::vector<std::int32_t> weights =
        kind == conv ? std::vector{channels, 1, 1, channels} : std::vector{1, 3, 3, channels};
    g.tensors.push_back({.shape = weights, .buffer = with_data, .type = int8, .scale = {0.5F}, .zero_point = {0}});
    g.tensors.push_back({.shape = {1, 8, 8, channels}, .type = int8, .scale = {0.5F}, .zero_point = {0}});
    const auto out = static_cast<std::int32_t>(g.tensors.size() - 1);
    g.ops.push_back({.kind = kind, .inputs = {last, out - 1}, .outputs = {out}});
    last = out;
  }
  g.outputs = {last};
  return g;
}

bytes tail(const subgraph& g, pointer_width w) {
  const auto found = micro_tail_of(tflite_model::write(g), w);
  INFO(found.error().message);
  REQUIRE(found);
  return found->size;
}

}  // namespace

TEST_CASE("tails of TensorFlow Lite Micro's recording allocator on 64 bits, to the byte") {
  // In front of the lists stand the recorder's objects and the application's list of 40 resource variables, 40 bytes each.
  constexpr bytes recorder = 424, variables = 40, before = (recorder + 16 + 15) / 16 * 16 + 40 * variables;
  const std::vector<std::pair<std::string, bytes>> published{{"person_detect", 31552},
                                                             {"micro_speech", 3168},
                                                             {"keyword_scrambled_8bit", 10768},
                                                             {"hello_world_int8", 2976},
                                                             {"mlperf_kws_int8", 9824},
                                                             {"mlperf_resnet8_int8", 8384},
                                                             {"mlperf_vww_int8", 31504},
                                                             {"mlperf_ad01_int8", 4496},
                                                             {"mlperf_strww_int8", 11536},
                                                             {"mcunet_vww", 65072},
                                                             {"mcunet_detection", 50832},
                                                             {"mww_hey_jarvis_v1", 32208},
                                                             {"mww_vad", 11792},
                                                             {"bcast", 3056}};
  std::size_t read = 0;
  for (const auto& [name, measured] : published) {
    const std::string file = support::file_content(MEMSCHED_SMALL_MODELS "/" + name + ".tflite");
    if (file.empty()) continue;
    ++read;
    INFO(name);
    CHECK(tail_behind(file, before) == measured);
    const auto whole = micro_tail_of(file, pointer_width::bits_64), small = micro_tail_of(file, pointer_width::bits_32);
    REQUIRE(whole);
    REQUIRE(small);
    CHECK(whole->size < measured);
    CHECK(small->size < whole->size);
    CHECK(2 * small->size > whole->size);
  }
  if (read == 0) WARN("no models in " MEMSCHED_SMALL_MODELS);
}

TEST_CASE("a convolution more: its entries, options, structures, and a multiplier and a shift for each channel") {
  for (const int kind : {conv, depthwise})
    for (const std::int32_t channels : {4, 16, 100}) {
      const bytes list = (4 * static_cast<bytes>(channels) + 15) / 16 * 16;
      const auto step = [&](pointer_width w) {
        return (tail(chain(12, channels, kind), w) - tail(chain(8, channels, kind), w));
      };
      INFO(kind << ", " << channels << " channels");
      CHECK(step(pointer_width::bits_32) == 4 * (2 * 12 + 32 + 28 + 64 + 2 * list));
      CHECK(step(pointer_width::bits_64) == 4 * (2 * 24 + 64 + 28 + 80 + 2 * list));
    }
}

TEST_CASE("variables lie in the tail, in whole blocks of 16 bytes, and so do tables of quantized inputs") {
  subgraph g = chain(1, 4);
  const bytes before = tail(g, pointer_width::bits_32);
  g.tensors.push_back({.shape = {100}, .type = int8, .variable = true});
  CHECK(tail(g, pointer_width::bits_32) == before + 112 + 16);  // 12 bytes of its entry, with padding
  subgraph plain = chain(1, 4);
  plain.tensors[0].scale.clear();
  const bytes saved = before - tail(plain, pointer_width::bits_32);  // 12 and 8 bytes, and padding
  CHECK(saved >= 16);
  CHECK(saved <= 32);
}

TEST_CASE("the order of operators changes padding alone, and kinds whose kernels are not known are named") {
  subgraph g{{{.shape = {4}, .type = float32}}, {}, {0}, {1, 2}};
  g.tensors.push_back({.shape = {4}, .type = float32});
  g.tensors.push_back({.shape = {4}, .type = float32});
  g.ops = {{.kind = custom, .inputs = {0}, .outputs = {1}, .custom = "Mine"}, {.kind = 19, .inputs = {0}, .outputs = {2}}};
  const auto first = micro_tail_of(tflite_model::write(g), pointer_width::bits_32);
  REQUIRE(first);
  CHECK(first->unknown == std::vector<std::string>{"Mine"});
  std::swap(g.ops[0], g.ops[1]);
  const auto second = micro_tail_of(tflite_model::write(g), pointer_width::bits_32);
  REQUIRE(second);
  CHECK(second->size == first->size);
  CHECK_FALSE(micro_tail_of("no model", pointer_width::bits_32));
}
