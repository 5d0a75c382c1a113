// Models for tests/models/run.sh: real ones with their operators shuffled, and generated ones that a runtime can run.
// usage: samples shuffle MODEL OUT SEED [NAME=DIMENSION,... | NAME:VALUE]...
//        samples branches tanh|l2norm BRANCHES OUT
//        samples quantize MODEL OUT int8|float          (types of inputs and outputs)
//        samples head MODEL OUT                         (without opaque operators and what follows them)
//        samples execute MODEL INPUTS OUTPUTS           (elements of all random inputs, and of the outputs that the executor
//        finds)
//        samples rows MODEL BLOCKS SECONDS [NAME=DIMENSION,...]...
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memsched/formats/onnx.hpp>
#include <memsched/formats/onnx/network.hpp>
#include <memsched/formats/onnx_write.hpp>
#include <memsched/formats/tflite.hpp>
#include <memsched/formats/tflite/network.hpp>
#include <memsched/formats/tflite_network_write.hpp>
#include <memsched/formats/tflite_write.hpp>
#include <memsched/graph/check.hpp>
#include <memsched/network/integers.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/edit.hpp>
#include <memsched/rewrite/fold_pads.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/split_sums.hpp>
#include <memsched/schedule.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "formats/tflite_model.hpp"
#include "quantize.hpp"

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

/// Shapes and values that arguments give, from this one on.
read_options read_options_of(int argc, char** argv, int from) {
  read_options options;
  for (int i = from; i < argc; ++i) {
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
  return options;
}

int shuffle(int argc, char** argv) {
  const std::string file = read(argv[2]);
  const bool tflite = std::string_view(argv[2]).ends_with(".tflite");
  std::mt19937 random(static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10)));
  const read_options options = read_options_of(argc, argv, 5);
  const auto graphs = tflite ? read_tflite(file, options) : read_onnx(file, options);
  if (!graphs) fail(graphs.error().message);
  std::vector<std::vector<op_id>> orders;
  for (const model_graph& g : *graphs) {
    const auto p = make_problem(g.draft);
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
      g.ops.push_back({.kind = convolution,
                       .inputs = {t, kernel, bias},
                       .outputs = {out},
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

/// A .tflite model of float32 as one of int8.
int quantize(const char* model, const char* path, bool float_ends) {
  const auto net = read_tflite_network(read(model));
  if (!net) fail(net.error().message);
  const auto made = quantizer(*net).run(float_ends);
  if (!made) fail(std::string(model) + ": " + made.error().message);
  std::vector<op_id> order(made->operations.size());
  std::iota(order.begin(), order.end(), op_id{0});
  const auto file = write_tflite_network(*made, *made, order);
  if (!file) fail(std::string(model) + ": " + file.error().message);
  write(path, *file);
  return 0;
}

/// A .tflite model without its opaque operators and what needs their results; what these read are outputs.
int head(const char* model, const char* path) {
  auto net = read_tflite_network(read(model));
  if (!net) fail(net.error().message);
  std::vector<bool> dropped(net->operations.size(), false);
  std::vector<bool> gone(net->tensors.size(), false), needed(net->tensors.size(), false);
  for (op_id i = 0; i < dropped.size(); ++i) {
    const operation& op = net->operations[i];
    dropped[i] = op.does.what == op_kind::opaque;
    for (const image& x : op.reads)
      for (const placed& p : x.parts) dropped[i] = dropped[i] || gone[p.tensor];
    for (const image& y : op.writes)
      for (const placed& p : y.parts) gone[p.tensor] = dropped[i];
  }
  for (op_id i = 0; i < dropped.size(); ++i)
    for (const image& x : net->operations[i].reads)
      for (const placed& p : x.parts) needed[p.tensor] = needed[p.tensor] || dropped[i];
  for (tensor_id t = 0; t < needed.size(); ++t)
    if (needed[t] && !net->tensors[t].input) net->tensors[t].output = true;
  network made = without(*net, dropped);
  for (tensor_id t = 0; t < made.tensors.size(); ++t) made.tensors[t].origin = t;
  for (op_id i = 0; i < made.operations.size(); ++i) made.operations[i].origin = i;
  std::vector<op_id> order(made.operations.size());
  std::iota(order.begin(), order.end(), op_id{0});
  const auto file = write_tflite_network(made, made, order);
  if (!file) fail(std::string(model) + ": " + file.error().message);
  write(path, *file);
  return 0;
}

template <class Numbers>
void execute(const network& net, const char* inputs, const char* outputs) {
  const auto values = run(net, Numbers{.random_weights = false});
  if (!values) fail(values.error().message);
  std::string in, out;
  const auto add = [&](std::string& to, bool typed_tensor::*is) {
    for (const network_end& end : ends_of(net, is))
      for (const auto x : (*values)[end.tensor])
        to.append(reinterpret_cast<const char*>(&x), size_of(net.tensors[end.tensor].element));
  };
  add(in, &typed_tensor::input);
  add(out, &typed_tensor::output);
  write(inputs, in);
  write(outputs, out);
}

/// Runs a .tflite model of float32, or of eight bits, on random inputs: elements little-endian, tensor after tensor, in the
/// order in which the file lists its inputs and outputs.
int execute(const char* model, const char* inputs, const char* outputs) {
  const auto net = read_tflite_network(read(model));
  if (!net) fail(net.error().message);
  if (net->tensors[0].element == element::float32) execute<float_numbers>(*net, inputs, outputs);
  else execute<int8_numbers>(*net, inputs, outputs);
  return 0;
}

/// Cuts all of a model into blocks of rows, folded pads, gathered parts, means and dense layers in parts besides, and
/// schedules that once; prints JSON. Sums take their rows in order, so that those of floats have the same bits.
int rows(int argc, char** argv) {
  const auto options = read_options_of(argc, argv, 5);
  const std::string file = read(argv[2]);
  const auto net =
      std::string_view(argv[2]).ends_with(".tflite") ? read_tflite_network(file, options) : read_onnx_network(file, options);
  if (!net) fail(net.error().message);
  const auto start = std::chrono::steady_clock::now();
  const network identity = gather_all(fold_pads(*net));
  const auto blocks = cut(identity, row_cuts(identity, std::strtol(argv[3], nullptr, 10)));
  if (!blocks) fail(blocks.error().message);
  const network made = split_reductions(*blocks, sum_form::chain);
  memsched::options limits;
  limits.time_limit = std::chrono::seconds(std::strtol(argv[4], nullptr, 10));
  const auto found = schedule(made, limits), whole = schedule(identity, limits);
  if (found.error || whole.error) fail("no order");
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf(
      "{\"identity\": %llu, \"peak\": %llu, \"lower_bound\": %llu, \"operators\": %zu, \"macs_before\": %llu, "
      "\"macs\": %llu, \"provenance\": %s, \"seconds\": %.2f}\n",
      static_cast<unsigned long long>(whole.peak), static_cast<unsigned long long>(found.peak),
      static_cast<unsigned long long>(found.lower_bound), made.operations.size(),
      static_cast<unsigned long long>(macs(*net)), static_cast<unsigned long long>(macs(made)),
      check_rewrite(*net, made).empty() ? "true" : "false", took);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "shuffle" && argc > 4) return shuffle(argc, argv);
  if (what == "quantize" && argc == 5) return quantize(argv[2], argv[3], std::string_view(argv[4]) == "float");
  if (what == "head" && argc == 4) return head(argv[2], argv[3]);
  if (what == "execute" && argc == 5) return execute(argv[2], argv[3], argv[4]);
  if (what == "rows" && argc > 4) return rows(argc, argv);
  const std::string middle = argc > 2 ? argv[2] : "";
  if (what == "branches" && argc == 5 && (middle == "tanh" || middle == "l2norm"))
    return branches(middle, static_cast<int>(std::strtol(argv[3], nullptr, 10)), argv[4]);
  std::fprintf(stderr,
               "usage: samples shuffle MODEL OUT SEED [NAME=DIMENSION,... | NAME:VALUE]...\n"
               "       samples branches tanh|l2norm BRANCHES OUT\n"
               "       samples quantize MODEL OUT int8|float\n"
               "       samples head MODEL OUT\n"
               "       samples execute MODEL INPUTS OUTPUTS\n"
               "       samples rows MODEL BLOCKS SECONDS [NAME=DIMENSION,...]...\n");
  return 2;
}
