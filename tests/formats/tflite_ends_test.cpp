// Inputs and outputs of written .tflite files: order, shapes, types, names and signatures of the file they come from.
#include <memsched/formats/tflite/network.hpp>
#include <memsched/formats/tflite_network_write.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/network/builder.hpp>
#include <memsched/rewrite/cut.hpp>

#include "network_files.hpp"
#include "tflite_checker.hpp"
#include "tflite_model.hpp"

using namespace memsched;
using namespace tflite_model::codes;
using network_files::listed;

namespace {

/// Name, shape and type of an input or output, as the file has it.
using end = std::tuple<std::string, std::vector<int>, unsigned>;

std::vector<end> ends(const std::string& file, bool inputs) {
  const tflite_checker::reader r(file);
  const tflite_checker::subgraph g = tflite_checker::read(file, 0);
  const std::size_t tensors = r.list(r.entry(r.list(r.root(), 2), 0), 0);
  std::vector<end> found;
  for (const int t : inputs ? g.inputs : g.outputs) {
    const auto i = static_cast<std::size_t>(t);
    found.push_back({r.text(r.entry(tensors, i), 3), g.shapes[i], g.types[i]});
  }
  return found;
}

/// Key, then names and the names of tensors of inputs and outputs.
std::vector<std::string> signatures(const std::string& file) {
  const tflite_checker::reader r(file);
  const std::size_t list = r.list(r.root(), 7), tensors = r.list(r.entry(r.list(r.root(), 2), 0), 0);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < r.count(list); ++i) {
    const std::size_t s = r.entry(list, i);
    lines.push_back(r.text(s, 2));
    for (const std::size_t f : {std::size_t{0}, std::size_t{1}})
      for (std::size_t k = 0; k < r.count(r.list(s, f)); ++k) {
        const std::size_t m = r.entry(r.list(s, f), k), at = r.field(m, 1);
        lines.push_back(r.text(m, 0) + "=" + r.text(r.entry(tensors, at == 0 ? 0 : r.u32(at)), 3));
      }
  }
  return lines;
}

/// Inputs and outputs of several ranks, listed in other orders than their tensors; an input that no operator reads; an output
/// that is listed twice; an operator that the library does not know between two vectors.
tflite_model::model several_ends() {
  tflite_model::model m{{{}}};
  m.subgraphs[0].name = "ends";
  auto& g = m.subgraphs[0];
  g.tensors = {{.shape = {1, 8, 4, 2}, .name = "x"},
               {.shape = {1, 3}, .type = int8, .name = "unused", .scale = {0.5F}, .zero_point = {3}},
               {.shape = {1, 4, 2, 2}, .name = "pooled"},
               {.shape = {1, 16}, .name = "flat"},
               {.shape = {1, 8, 4, 2}, .name = "map"},
               {.shape = {1, 16}, .name = "likely"},
               {.shape = {6}, .name = "vector"},
               {.shape = {6}, .name = "unit"}};
  g.ops = {{.kind = max_pool, .inputs = {0}, .outputs = {2}, .call = {5, {0, 2, 2, 2, 2}}},
           {.kind = reshape, .inputs = {2}, .outputs = {3}},
           {.kind = relu, .inputs = {0}, .outputs = {4}},
           {.kind = softmax, .inputs = {3}, .outputs = {5}, .call = {9, {0x3f800000}}},
           {.kind = l2_normalization, .inputs = {6}, .outputs = {7}}};
  g.inputs = {6, 1, 0}, g.outputs = {7, 5, 4, 5, 3};
  m.signatures = {{"serve", {{"image", 0}, {"v", 6}}, {{"probabilities", 5}, {"u", 7}}}};
  return m;
}

}  // namespace

TEST_CASE("inputs and outputs of a written .tflite file are those of the given one: order, rank, type, name, signatures") {
  const std::string given = tflite_model::write(several_ends());
  const network net = read_tflite_network(given).value();
  const auto blocks = cut(net, row_cuts(net, 2));
  REQUIRE(blocks);
  CHECK(blocks->operations.size() > net.operations.size());
  for (const network& n : {net, *blocks}) {
    const auto file = write_tflite_network(net, n, listed(n));
    INFO(file.error().message);
    REQUIRE(file);
    CHECK(ends(*file, true) == ends(given, true));
    CHECK(ends(*file, false) == ends(given, false));
    CHECK(signatures(*file) == signatures(given));
    CHECK(signatures(*file) == std::vector<std::string>{"serve", "image=x", "v=vector", "probabilities=likely", "u=unit"});
  }
}

TEST_CASE("no operator is added where an output has its shape already, and one where it has not") {
  const auto operators = [](std::vector<std::int32_t> shape, int kind) {
    tflite_model::subgraph g{{{.shape = shape, .name = "x"}, {.shape = shape, .name = "y"}},
                             {{.kind = kind, .inputs = {0}, .outputs = {1}}},
                             {0},
                             {1}};
    const network net = read_tflite_network(tflite_model::write(g)).value();
    return tflite_checker::read(write_tflite_network(net, net, listed(net)).value(), 0).ops.size();
  };
  CHECK(operators({1, 5, 5, 2}, relu) == 1);
  CHECK(operators({1, 6}, l2_normalization) == 1);
  CHECK(operators({1, 6}, relu) == 3);  // two dimensions before and after
}

TEST_CASE("a constant among the outputs of a model is refused: later outputs would move up") {
  const tflite_model::subgraph g{
      {{.shape = {1, 4}, .name = "x"}, {.shape = {1, 4}, .name = "y"}, {.shape = {4}, .buffer = 1, .name = "c"}},
      {{.kind = relu, .inputs = {0}, .outputs = {1}}},
      {0},
      {2, 1}};
  const network net = read_tflite_network(tflite_model::write(g)).value();
  CHECK(write_tflite_network(net, net, listed(net)).error().message == "the network has an output that is constant");
}

TEST_CASE("more than ten parts are joined in a tree, as TensorFlow Lite Micro needs it") {
  network_builder b("rows");
  const tensor_id x = b.convolution(b.input({23, 4, 3}), {.channels = 2, .kernel = 3});
  b.output(b.softmax(b.dense(x, 5)));
  const network net = weighed(b.build().value());
  std::vector<cut_points> cuts(net.tensors.size());
  cuts[x].rows = even_cuts(23, 23);
  const network parts = cut(net, cuts).value();
  const std::string file = write_tflite_network(net, parts, listed(parts)).value();
  std::size_t joins = 0;
  const tflite_checker::reader r(file);
  const std::size_t codes = r.list(r.root(), 1);
  for (const auto& op : tflite_checker::read(file, 0).ops) {
    const std::size_t kind = r.field(r.entry(codes, op.code), 3);
    if (kind == 0 || r.u32(kind) != concatenation) continue;
    ++joins;
    CHECK(op.inputs.size() <= 10);
  }
  CHECK(joins == 4);  // 10 + 10 + 3, and these
  network_files::check_same<float_numbers>(net, read_tflite_network(file).value());
}
