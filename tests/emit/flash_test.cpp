// Libraries that call CMSIS-NN, and those that read their weights from the model's file.
#include <memsched/emit/emit_c.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/gather.hpp>

#include "programs.hpp"
#include "support/temporary_folder.hpp"

namespace {

struct cmsis_calls {
  int convolutions = 0, depthwise = 0, dense = 0, max_pools = 0, average_pools = 0;
};

/// Runs a network of int8 with CMSIS-NN, checks its bytes, and counts calls.
cmsis_calls check_cmsis(const network& first, const network& net, const std::string& more = "") {
  const support::temporary_folder temporary;
  const std::filesystem::path file = temporary.path() / "calls";
  emission like;
  like.kernels = kernel_library::cmsis_nn;
  const std::string folder = MEMSCHED_CMSIS;
  check_program<int8_numbers>(first, net, like, "-I" + folder + " -DCMSIS_CALLS='\"" + file.string() + "\"' " + more,
                              folder + "/reference.c");
  cmsis_calls n;
  std::ifstream(file) >> n.convolutions >> n.depthwise >> n.dense >> n.max_pools >> n.average_pools;
  return n;
}

/// Windows of all paddings, strides and dilations that blocks of rows have to keep apart.
network windows(coordinate rows) {
  network_builder b("windows", element::int8, {0.05F, -3});
  tensor_id t = b.convolution(b.input({rows, 9, 3}), {.channels = 6, .kernel = 5, .act = activation::relu});
  t = b.depthwise(t, {.kernel = 3, .stride = 2, .act = activation::relu6});
  t = b.convolution(t, {.channels = 4, .kernel = 3, .dilation = 2});
  t = b.max_pooling(t, {.kernel = 3, .pad = padding::same});
  t = b.depthwise(t, {.kernel = 5});
  t = b.average_pooling(t, {.kernel = 3, .stride = 1, .pad = padding::same});
  b.output(b.dense(b.convolution(t, {.channels = 7}), 5));
  return weighed(b.build().value());
}

}  // namespace

TEST_CASE("a C program calls CMSIS-NN for whole tensors and for blocks of rows, and computes the same bytes") {
  const network net = windows(17);
  const cmsis_calls whole = check_cmsis(net, net);
  CHECK(whole.convolutions == 3);
  CHECK(whole.depthwise == 2);
  CHECK(whole.dense == 1);
  CHECK(whole.max_pools == 1);
  CHECK(whole.average_pools == 1);
  const auto cut_into = [](const network& first, coordinate parts) { return cut(first, row_cuts(first, parts)).value(); };
  const cmsis_calls halves = check_cmsis(net, cut_into(net, 2));
  CHECK(halves.convolutions > 4);
  CHECK(halves.depthwise > 2);
  CHECK(halves.max_pools + halves.average_pools > 2);
  for (const coordinate rows : {17, 6})  // also blocks that are lower than windows, where rows lie apart
    for (const coordinate parts : {3, 5, 64}) {
      const network first = windows(rows);
      CHECK(check_cmsis(first, cut_into(first, parts)).convolutions >= 3);
    }
}

TEST_CASE("a C program keeps its own kernels where CMSIS-NN has none, or too little scratch") {
  const network net = mixed(element::int8, {0.05F, -3});
  const cmsis_calls n = check_cmsis(net, net);
  CHECK(n.convolutions > 3);
  CHECK(n.dense == 1);
  // One operand of three tensors, side by side in the arena or not.
  const network gathered = gather_all(net);
  check_cmsis(net, cut(gathered, row_cuts(gathered, 5)).value());
  const cmsis_calls little = check_cmsis(net, net, "-DNETWORK_SCRATCH_BYTES=8");
  CHECK(little.convolutions < n.convolutions);
  CHECK(little.convolutions > 0);  // kernels of one pixel need none

  CHECK(why_no_c(net, kernel_library::cmsis_nn).message.empty());
  const network real = mixed(element::float32, {});
  CHECK(why_no_c(real, kernel_library::cmsis_nn).message == "CMSIS-NN is for int8, and no tensor is of that type");
}

TEST_CASE("a C program reads from the model's file the weights that it holds as kernels use them, and knows that file") {
  for (const element e : {element::int8, element::float32}) {
    const network net = mixed(e, e == element::int8 ? quantization{0.05F, -3} : quantization{});
    // Each other constant stands there, some of them at odd places.
    std::string model = "header.";
    bytes weights = 0, there = 0;
    for (std::size_t i = 0; i < net.blobs.size(); ++i) {
      const auto& data = net.blobs[i].data;
      weights += data.size();
      if (i % 2 == 1) continue;
      while (i % 3 != 0 && model.size() % 4 != 0) model += '.';
      model.append(reinterpret_cast<const char*>(data.data()), data.size());
    }
    emission like;
    like.model = model;
    const auto check = [&](auto numbers) {
      using kind = decltype(numbers);
      const c_library plain = check_program<kind>(net, net);
      CHECK(plain.flash.in_model == 0);
      CHECK(plain.model.empty());
      CHECK(plain.flash.weights == weights);
      const c_library made = check_program<kind>(net, net, like);
      there = made.flash.in_model;
      CHECK(there > 0);
      CHECK(there < weights);
      CHECK(made.flash.weights == weights - there);
      CHECK(made.source.size() < plain.source.size());
      CHECK(made.source.find("network_check_model") != std::string::npos);
    };
    e == element::int8 ? check(int8_numbers{}) : check(float_numbers{});
  }
}

TEST_CASE("a C program refuses bytes that are not the model's") {
  network_builder b("small", element::int8, {0.05F, 0});
  b.output(b.convolution(b.input({3, 3, 2}), {.channels = 4}));
  const network net = weighed(b.build().value());
  const std::string model(reinterpret_cast<const char*>(net.blobs[0].data.data()), net.blobs[0].data.size());
  placed_network p = place_tensors(net);
  p.e.model = model;
  const c_library made = emit_c(net, p.e).value();
  CHECK(made.flash.in_model == model.size());
  const support::temporary_folder temporary;
  const std::filesystem::path& folder = temporary.path();
  std::ofstream(folder / "network.h") << made.header;
  std::ofstream(folder / "network.c") << made.source;
  std::ofstream(folder / "network_model.c") << made.model;
  std::ofstream(folder / "test.c") << R"c(#include "network.h"
#include <string.h>
int main(void) {
  static union { float aligned; unsigned char bytes[NETWORK_MODEL_BYTES + 4]; } copy;
  unsigned char *x = copy.bytes;
  memcpy(x, NETWORK_MODEL, NETWORK_MODEL_BYTES);
  if (!network_check_model(NETWORK_MODEL, NETWORK_MODEL_BYTES) || !network_check_model(x, NETWORK_MODEL_BYTES)) return 1;
  if (network_check_model(x, NETWORK_MODEL_BYTES - 1)) return 2;
  for (int i = 0; i < NETWORK_MODEL_BYTES; ++i) {
    x[i] ^= 1;
    if (network_check_model(x, NETWORK_MODEL_BYTES)) return 3;
    x[i] ^= 1;
  }
  memmove(x + 1, x, NETWORK_MODEL_BYTES);
  if (network_check_model(x + 1, NETWORK_MODEL_BYTES)) return 4;
  return 0;
})c";
  const std::string in = folder.string();
  REQUIRE(std::system((std::string(MEMSCHED_C_COMPILER) + " -std=c11 -Wall -Wextra -Werror -o " + in + "/test " + in +
                       "/test.c " + in + "/network.c " + in + "/network_model.c -lm")
                          .c_str()) == 0);
  CHECK(std::system((in + "/test").c_str()) == 0);
}

TEST_CASE("the flash of tables is what a compiler takes for them") {
  const network net = mixed(element::int8, {0.05F, -3});
  const network blocks = cut(net, row_cuts(net, 5)).value();
  placed_network p = place_tensors(blocks);
  const c_library made = emit_c(blocks, p.e).value();
  const support::temporary_folder temporary;
  const std::filesystem::path& folder = temporary.path();
  std::ofstream(folder / "network.h") << made.header;
  std::ofstream(folder / "size.c")
      << "#include \"network.c\"\n#include <stdio.h>\nint main(void) {\n"
         "printf(\"%u %u\", (unsigned)(sizeof parts + sizeof kernels + sizeof code + sizeof "
         "factors + sizeof shifts + sizeof tables), (unsigned)(sizeof weights + sizeof biases)); "
         "return 0; }\n";
  std::ofstream(folder / "network.c") << made.source;
  const std::string in = folder.string();
  REQUIRE(std::system((std::string(MEMSCHED_C_COMPILER) + " -o " + in + "/size " + in + "/size.c -lm && " + in + "/size > " +
                       in + "/out")
                          .c_str()) == 0);
  bytes tables = 0, weights = 0;
  std::ifstream(folder / "out") >> tables >> weights;
  CHECK(made.flash.tables == tables);
  CHECK(made.flash.weights == weights);
  CHECK(made.flash.total() == tables + weights);
}
