// Generated libraries, compiled and run.
#pragma once

#include <memsched/emit/emit_c.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/network/builder.hpp>
#include <memsched/network/integers.hpp>
#include <memsched/network/run.hpp>
#include <memsched/plan.hpp>

#include "support/file_content.hpp"
#include "support/temporary_folder.hpp"
#include "support/weighed.hpp"

#ifndef MEMSCHED_C_COMPILER
#define MEMSCHED_C_COMPILER "cc"
#endif

using namespace memsched;

/// The network in the best order that a short search finds, with offsets of the smallest arena found.
struct placed_network {
  emission e;
  bytes peak = 0;
};
inline placed_network place_tensors(const network& net) {
  options o;
  o.time_limit = std::chrono::seconds(2);
  const auto found = schedule(net, o);
  REQUIRE(!found.error);
  const auto planned = plan(net, std::span<const op_id>(found.order), {.alignment = 4});
  REQUIRE(!planned.arena.error);
  placed_network result{{planned.order, std::vector<bytes>(net.tensors.size(), 0), planned.arena.size}, planned.peak};
  for (const auto& [t, at] : planned.offset) result.e.offset[t] = at;
  return result;
}

template <class Numbers>
std::string bytes_of(const network& net, const std::vector<typename Numbers::number>& values, tensor_id t) {
  std::string s;
  for (const auto x : values) {
    if constexpr (std::is_same_v<typename Numbers::number, float>) {
      char raw[4];
      std::memcpy(raw, &x, 4);
      s.append(raw, 4);
    } else {
      s += static_cast<char>(x);
    }
  }
  REQUIRE(s.size() == net.tensors[t].bytes());
  return s;
}

/// Compiles a library and its program, runs it on the inputs, from a file and from standard input; the outputs. As C++ the
/// library compiles, too. With further options and sources.
inline std::string outputs_of(const c_library& made, const std::string& inputs, const std::string& options = "",
                              const std::string& sources = "") {
  for (const char* desktop : {"stdio", "stdlib", "malloc", "abort", "printf"})
    CHECK(made.source.find(desktop) == std::string::npos);
  const support::temporary_folder temporary;
  const std::filesystem::path& folder = temporary.path();
  std::ofstream(folder / "network.h") << made.header;
  std::ofstream(folder / "network.c") << made.source;
  std::ofstream(folder / "network_main.c") << made.program;
  if (!made.model.empty()) std::ofstream(folder / "network_model.c") << made.model;
  std::ofstream(folder / "in", std::ios::binary) << inputs;
  const std::string in = folder.string();
  const std::string strict =
      std::string(MEMSCHED_C_COMPILER) + " -Wall -Wextra -Wpedantic -Werror -ffp-contract=off " + options + " ";
  const std::string compile = strict + "-std=c11 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -o " + in +
                              "/net " + in + "/network.c " + in + "/network_main.c " +
                              (made.model.empty() ? "" : in + "/network_model.c ") + sources + " -lm";
  REQUIRE(std::system(compile.c_str()) == 0);
  REQUIRE(std::system((strict + "-x c++ -std=c++11 -fsyntax-only " + in + "/network.c").c_str()) == 0);
  REQUIRE(std::system(("ASAN_OPTIONS=detect_leaks=0 " + in + "/net < " + in + "/in > " + in + "/out").c_str()) == 0);
  REQUIRE(std::system((in + "/net " + in + "/in " + in + "/out2").c_str()) == 0);
  const std::string outputs = support::file_content(folder / "out");
  CHECK(support::file_content(folder / "out2") == outputs);
  // Inputs that end too early are refused.
  std::ofstream(folder / "in", std::ios::binary) << inputs.substr(1);
  CHECK(std::system((in + "/net " + in + "/in " + in + "/out2 2> " + in + "/message").c_str()) != 0);
  CHECK(support::file_content(folder / "message") == "the inputs are not whole\n");
  return outputs;
}

/// Runs the program of `net` on the inputs of `first`, and compares its outputs with the executor's for `first`, byte for
/// byte. `like`: kernels and model. The library.
template <class Numbers>
c_library check_program(const network& first, const network& net, const emission& like = {}, const std::string& options = "",
                        const std::string& sources = "") {
  placed_network p = place_tensors(net);
  p.e.kernels = like.kernels, p.e.model = like.model;
  const auto made = emit_c(net, p.e);
  INFO(made.error().message);
  REQUIRE(made);
  if (like.kernels == kernel_library::plain) {
    CHECK(p.e.arena >= p.peak);  // the promised peak, at the alignment of the plan
    CHECK(p.e.arena <= (p.peak + 3) / 4 * 4);
    CHECK(made->header.find("#define NETWORK_ARENA_BYTES " + std::to_string(p.e.arena) + "\n") != std::string::npos);
  }
  const auto values = run(first, Numbers{.random_weights = false});
  REQUIRE(values);
  std::string inputs, expected;
  for (const network_end& e : ends_of(first, &typed_tensor::input))
    inputs += bytes_of<Numbers>(first, (*values)[e.tensor], e.tensor);
  for (const network_end& e : ends_of(first, &typed_tensor::output))
    expected += bytes_of<Numbers>(first, (*values)[e.tensor], e.tensor);
  CHECK(outputs_of(*made, inputs, options, sources) == expected);
  return *made;
}

/// A network of inverted residuals with a strided stem, a pad, pooling, a concatenation, resizes and a head.
inline network mixed(element e, quantization q) {
  network_builder b("mixed", e, q);
  const tensor_id x = b.input({13, 11, 3});
  tensor_id t = b.convolution(x, {.channels = 8, .kernel = 3, .stride = 2, .act = activation::relu6});
  const tensor_id kept = t;
  t = b.convolution(t, {.channels = 16, .act = activation::relu});
  t = b.pad(t, {.above = 1, .below = 1, .left = 1, .right = 1});
  t = b.depthwise(t, {.kernel = 3, .pad = padding::valid, .act = activation::relu6});
  t = b.convolution(t, {.channels = 8});
  t = b.add(t, kept, activation::relu);
  const tensor_id low = b.max_pooling(t, {.kernel = 2, .stride = 2});
  const tensor_id wide = b.convolution(low, {.channels = 6, .kernel = 3, .dilation = 2, .groups = 2});
  const tensor_id up = b.resize_bilinear(wide, 7, 6);
  const tensor_id near = b.resize_nearest(low, 7, 6);
  t = b.concat({t, up, near});
  t = b.average_pooling(t, {.kernel = 3, .stride = 1});
  const tensor_id gate = b.unary(b.convolution(b.mean(t), {.channels = 22}), activation::logistic);
  t = b.multiply(t, gate);
  t = b.prelu(t);
  b.output(t);
  t = b.transposed_convolution(t, {.channels = 4, .kernel = 2, .stride = 2});
  t = b.depth_to_space(t, 2);
  t = b.unary(t, activation::hard_swish);
  b.output(b.softmax(b.dense(b.reshape(b.max_pooling(t, {.kernel = 7, .stride = 7}), {1, 1, 16}), 10)));
  auto net = b.build();
  INFO(net.error().message);
  REQUIRE(net);
  return weighed(*net);
}
