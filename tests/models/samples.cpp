// Models for tests/models/run.sh: real ones with their operators shuffled, and generated ones that a runtime can run.
// usage: samples shuffle MODEL OUT SEED [NAME=DIMENSION,... | NAME:VALUE]...
//        samples branches tanh|l2norm BRANCHES OUT
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memsched/formats/onnx.hpp>
#include <memsched/formats/onnx_write.hpp>
#include <memsched/formats/tflite.hpp>
#include <memsched/formats/tflite_write.hpp>
#include <memsched/graph/check.hpp>
#include <random>
#include <string>
#include <vector>

#include "formats/tflite_model.hpp"

namespace {

using namespace memsched;

[[noreturn]] void fail(const std::string& reason) {
  std::fprintf(stderr, "samples: %s\n", reason.c_str());
  std::exit(1);
}

std::string read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in && bytes.empty()) fail(std::string(path) + ": cannot be read");
  return bytes;
}

void write(const char* path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes << std::flush;
  if (!out) fail(std::string(path) + ": cannot be written");
}

/// An order that respects what must be respected, each ready operator as likely as the others.
std::vector<op_id> random_order(const problem& p, std::mt19937& random) {
  const std::size_t n = p.ops().size();
  std::vector<std::size_t> waits(n);
  std::vector<std::vector<op_id>> next(n);
  std::vector<op_id> ready, order;
  for (const op_id op : p.ops()) {
    waits[op] = p.predecessors(op).size();
    for (const op_id before : p.predecessors(op)) next[before].push_back(op);
    if (waits[op] == 0) ready.push_back(op);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    for (const op_id later : next[order.back()])
      if (--waits[later] == 0) ready.push_back(later);
  }
  return order;
}

int shuffle(int argc, char** argv) {
  const std::string file = read(argv[2]);
  const bool tflite = std::string_view(argv[2]).ends_with(".tflite");
  std::mt19937 random(static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10)));
  read_options options;
  for (int i = 5; i < argc; ++i) {
    const char* split = std::strrchr(argv[i], '=');
    const char* value = std::strrchr(argv[i], ':');
    if (!split && !value) fail(std::string(argv[i]) + " is not of the form NAME=1,3,224,224 or NAME:16000");
    const std::string name(argv[i], static_cast<std::size_t>((split ? split : value) - argv[i]));
    if (!split) {
      options.values[name] = std::strtoll(value + 1, nullptr, 10);
      continue;
    }
    std::vector<std::int64_t>& dims = options.shapes[name];
    for (const char* at = split; *at != '\0'; at += std::strcspn(at + 1, ",") + 1)
      dims.push_back(std::strtoll(at + 1, nullptr, 10));
  }
  const auto graphs = tflite ? read_tflite(file, options) : read_onnx(file, options);
  if (!graphs) fail(graphs.error().message);
  std::vector<std::vector<op_id>> orders;
  for (const model_graph& g : *graphs) {
    const auto p = check(g.draft);
    if (!p) fail(p.error().message);
    orders.push_back(random_order(*p, random));
  }
  const auto made = tflite ? write_tflite(file, *graphs, orders) : write_onnx(file, *graphs, orders);
  if (!made) fail(made.error().message);
  write(argv[3], *made);
  return 0;
}

/// Branches of convolution, an element-wise operator and convolution on one image, listed breadth first, and their
/// concatenation; float32 with random weights.
int branches(const std::string& middle, int count, const char* path) {
  constexpr std::int32_t side = 512, in = 8, wide = 16, narrow = 1;
  constexpr int concatenation = 2, convolution = 3, l2_normalization = 11, tanh = 28;
  constexpr std::uint8_t convolution_options = 1, concatenation_options = 10, l2_options = 12;
  std::mt19937 random(1);
  tflite_model::model m;
  tflite_model::subgraph g{{{.shape = {1, side, side, in}, .name = "x"}}, {}, {0}, {}};
  const auto add = [&](tflite_model::tensor t) {
    g.tensors.push_back(std::move(t));
    return static_cast<std::int32_t>(g.tensors.size() - 1);
  };
  const auto weights = [&](std::vector<std::int32_t> shape) {
    std::size_t n = 1;
    for (const std::int32_t d : shape) n *= static_cast<std::size_t>(d);
    std::string content(4 * n, '\0');
    for (std::size_t i = 0; i < n; ++i) {
      const float w = static_cast<float>(random() % 2001) / 1000 - 1;
      std::memcpy(content.data() + 4 * i, &w, 4);
    }
    m.buffers.push_back({.content = std::move(content)});
    return add({.shape = std::move(shape), .buffer = static_cast<std::uint32_t>(m.buffers.size() - 1)});
  };
  std::vector<std::int32_t> last(static_cast<std::size_t>(count), 0);
  const auto convolve = [&](std::int32_t from, std::int32_t to) {
    for (std::int32_t& t : last) {
      const std::int32_t kernel = weights({to, 1, 1, from}), bias = weights({to});
      const std::int32_t out = add({.shape = {1, side, side, to}});
      g.ops.push_back({.kind = convolution, .inputs = {t, kernel, bias}, .outputs = {out},
                       .call = {convolution_options, {0, 1, 1}}});  // strides of 1
      t = out;
    }
  };
  convolve(in, wide);
  for (std::int32_t& t : last) {
    const std::int32_t out = add({.shape = {1, side, side, wide}});
    if (middle == "tanh") g.ops.push_back({.kind = tanh, .inputs = {t}, .outputs = {out}});
    else g.ops.push_back({.kind = l2_normalization, .inputs = {t}, .outputs = {out}, .call = {l2_options, {}}});
    t = out;
  }
  convolve(wide, narrow);
  g.outputs = {add({.shape = {1, side, side, narrow * count}})};
  g.ops.push_back({.kind = concatenation, .inputs = last, .outputs = g.outputs, .call = {concatenation_options, {3}}});
  m.subgraphs = {std::move(g)};
  write(path, tflite_model::write(m));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "shuffle" && argc > 4) return shuffle(argc, argv);
  const std::string middle = argc > 2 ? argv[2] : "";
  if (what == "branches" && argc == 5 && (middle == "tanh" || middle == "l2norm"))
    return branches(middle, static_cast<int>(std::strtol(argv[3], nullptr, 10)), argv[4]);
  std::fprintf(stderr, "usage: samples shuffle MODEL OUT SEED [NAME=DIMENSION,... | NAME:VALUE]...\n"
                       "       samples branches tanh|l2norm BRANCHES OUT\n");
  return 2;
}
