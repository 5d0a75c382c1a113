#include <memsched/formats/tflite/network.hpp>
#include <memsched/formats/tflite_network_write.hpp>

#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <memsched/rewrite/fold_pads.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/split_sums.hpp>
#include <memsched/rewrite/stream_inputs.hpp>

#include "network_files.hpp"
#include "tflite_checker.hpp"
#include "tflite_model.hpp"

using namespace memsched;
using network_files::check_near;
using network_files::check_same;
using network_files::dense_layer;
using network_files::listed;
using network_files::mixed;

namespace {

std::string written(const network& first, const network& net) {
  const auto file = write_tflite_network(first, net, listed(net));
  INFO(file.error().message);
  REQUIRE(file);
  CHECK(*write_tflite_network(first, net, listed(net)) == *file);
  return *file;
}

template <class Numbers>
network check_written(const network& first, const network& net) {
  auto back = read_tflite_network(written(first, net));
  INFO(back.error().message);
  REQUIRE(back);
  check_same<Numbers>(first, *back);
  return std::move(*back);
}

/// Resizes here are not by whole numbers.
network in_blocks(const network& net, coordinate n) {
  return network_files::in_blocks(net, n, {op_kind::resize_bilinear, op_kind::resize_nearest});
}

std::size_t count(const network& net, op_kind k) {
  std::size_t n = 0;
  for (const operation& op : net.operations) n += op.does.what == k;
  return n;
}

}  // namespace

TEST_CASE("a written .tflite file computes what the network does, to the bit: whole, folded, gathered, and in row blocks") {
  const network net = mixed();
  const network back = check_written<float_numbers>(net, net);
  CHECK(back.operations.size() == net.operations.size() + 1);  // a convolution cannot apply HARD_SWISH by itself
  const network gathered = gather_all(fold_pads(net));
  check_written<float_numbers>(net, gathered);
  for (const coordinate n : {2, 3}) check_written<float_numbers>(net, in_blocks(gathered, n));
  check_written<float_numbers>(net, in_blocks(net, 3));  // with blocks of pads
}

TEST_CASE("a written .tflite file of integers keeps types and scales, and computes what the network does, to the bit") {
  for (const auto& [e, q] :
       {std::pair{element::int8, quantization{0.05F, -3}}, std::pair{element::uint8, quantization{0.04F, 117}}}) {
    const network net = mixed(e, q);
    check_written<int8_numbers>(net, net);
    const network gathered = gather_all(fold_pads(net));
    for (const coordinate n : {2, 4}) check_written<int8_numbers>(net, in_blocks(gathered, n));
  }
}

TEST_CASE("blocks of resizes by whole numbers, of poolings, and of additions of fewer channels are written to the bit") {
  for (const bool real : {true, false}) {
    network_builder b("parts", real ? element::float32 : element::int8, real ? quantization{} : quantization{0.05F, 7});
    const tensor_id x = b.input({12, 6, 4});
    tensor_id t = b.resize_bilinear(b.max_pooling(x, {.kernel = 3, .stride = 2}), 12, 6);
    b.output(b.resize_nearest(b.convolution(t, {.channels = 5, .kernel = 3}), 36, 18, resize_coordinates::asymmetric));
    t = b.add(t, b.pad(b.convolution(x, {.channels = 3}), {.channels_behind = 1}), activation::relu);
    b.output(b.average_pooling(t, {.kernel = 3, .stride = 2}));
    b.output(b.max_pooling(b.average_pooling(t, {.kernel = 5, .stride = 1}), {.kernel = 2, .stride = 2}));
    const auto built = b.build();
    INFO(built.error().message);
    REQUIRE(built);
    const network net = weighed(*built), folded = fold_pads(net);
    CHECK(count(folded, op_kind::pad) == 0);
    for (const network* n : {&net, &folded}) {
      const network blocks = network_files::in_blocks(*n, 3);
      if (real) check_written<float_numbers>(net, blocks);
      else check_written<int8_numbers>(net, blocks);
    }
  }
}

TEST_CASE("blocks share the constants of their origin, and weights as the model stores them are written as they are") {
  network_builder b("shared");
  b.output(b.convolution(b.convolution(b.input({16, 16, 8}), {.channels = 64, .kernel = 3}), {.channels = 64}));
  const auto built = b.build();
  REQUIRE(built);
  const network net = weighed(*built);
  bytes stored = 0;
  for (const blob& x : net.blobs) stored += x.data.size();
  CHECK(written(net, net).size() < stored + 4096);
  CHECK(written(net, network_files::in_blocks(net, 16)).size() < stored + 64 * 1024);
}

TEST_CASE("a network whose weights half precision holds exactly is written in it") {
  for (const float x : {0.0F, -0.0F, 1.0F, -1.5F, 65504.0F, 0x1p-14F, 0x1p-24F, -0x3p-24F, 0x1.ff8p-15F}) {
    const auto h = detail::to_half(x);
    REQUIRE(h);
    CHECK(detail::from_half(*h) == x);
  }
  for (const float x : {0.1F, 65536.0F, 0x1p-25F, 0x1.8p-24F, 1.0F + 0x1p-11F, std::numeric_limits<float>::infinity()})
    CHECK(!detail::to_half(x));
  network_builder b("halves");
  b.output(b.convolution(b.input({4, 4, 8}), {.channels = 64, .kernel = 3}));
  network net = weighed(b.build().value());
  std::vector<float> weights(8 * 64 * 9);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 2047) / 1024 - 1;
  net.blobs[0].data = std::as_bytes(std::span(weights));
  const std::string file = written(net, net);
  CHECK(file.size() < 2 * weights.size() + 4096);
  check_written<float_numbers>(net, network_files::in_blocks(net, 4));
  weights[7] = 0.1F;
  CHECK(written(net, net).size() > 4 * weights.size());
}

TEST_CASE("sums in parts of floats are written as additions; those of integers are refused") {
  for (const bool real : {true, false}) {
    network_builder b("parts", real ? element::float32 : element::int8, real ? quantization{} : quantization{0.05F, 7});
    const tensor_id x = b.input({6, 5, 4});
    const tensor_id left = b.convolution(x, {.channels = 3, .act = activation::relu}),
                    right = b.max_pooling(x, {.kernel = 3});
    b.output(b.convolution(b.concat({left, right}), {.channels = 5, .act = activation::relu}));
    const auto built = b.build();
    REQUIRE(built);
    const network net = weighed(*built), gathered = gather_all(net);
    op_id at = 0;
    while (gathered.operations[at].reads[0].parts.size() < 2) ++at;
    for (const sum_form form : {sum_form::together, sum_form::chain, sum_form::any_order}) {
      const network halves = split_sum(gathered, at, form);
      const auto file = write_tflite_network(net, halves, listed(halves));
      if (!real) {
        CHECK(file.error().message.find("a sum of integers") != std::string::npos);
        continue;
      }
      INFO(file.error().message);
      REQUIRE(file);
      const auto back = read_tflite_network(*file);
      REQUIRE(back);
      check_near(net, *back, 1e-6);
      for (const operation& op : back->operations)  // TensorFlow Lite's kernel takes no convolution without one
        if (op.does.what == op_kind::convolution) CHECK(op.bias);
    }
  }
}

TEST_CASE("what no standard operator of TensorFlow Lite is, is an error that names the operator") {
  const network net = mixed();
  const auto message = [&](const network& n) { return write_tflite_network(net, n, listed(n)).error().message; };
  const auto blocks = cut(net, row_cuts(net, 64));
  REQUIRE(blocks);
  CHECK(message(*blocks).find("reads nothing but pad") != std::string::npos);
  CHECK(message(network_files::in_blocks(net, 2)).find("that is not by a whole number") != std::string::npos);
  CHECK(message(stream_inputs(net)).find("is a read, which no standard operator is") != std::string::npos);
  network lacking = net;
  lacking.blobs[0].data = {};
  CHECK(message(lacking) == "operator 0 'convolution_0' has weights that the model does not hold");
  network unknown = net;
  unknown.operations[1].does.act = activation::hard_sigmoid;
  CHECK(message(unknown).find("applies a function that no standard operator has") != std::string::npos);
  network opaque = net;
  opaque.operations[4].does.what = op_kind::opaque;
  CHECK(message(opaque).find("is opaque, and no file says what it is") != std::string::npos);
  const auto order = write_tflite_network(net, net, std::vector<op_id>{0, 0});
  CHECK(order.error().message == "the order lists no operator, or one twice");
  const auto short_order = write_tflite_network(net, net, std::vector<op_id>{0});
  CHECK(short_order.error().message == "the order does not list each operator");
  const network integers = mixed(element::int8, {0.05F, -3});
  network late = integers;
  late.operations[0].does.act = activation::tanh;
  CHECK(write_tflite_network(integers, late, listed(late)).error().message.find("integers that are rounded already") !=
        std::string::npos);
}

TEST_CASE("opaque operators are copied from the file that the network was read from") {
  using detail::tflite::custom;
  using detail::tflite::foreign_operators;
  using detail::tflite::kind;
  using tflite_model::codes::relu;
  constexpr int transpose = 39, l2 = 11;
  constexpr std::uint8_t l2_options = 12, gather_options = 23;
  tflite_model::model m;
  m.buffers.push_back({.content = std::string("\0\0\0\0\2\0\0\0\1\0\0\0\3\0\0\0", 16)});
  tflite_model::subgraph g;
  g.tensors = {{.shape = {1, 8, 6, 4}, .name = "x"},
               {.shape = {1, 8, 6, 4}},
               {.shape = {1, 6, 8, 4}},
               {.shape = {4}, .buffer = 2, .type = 2, .name = "axes"},
               {.shape = {1, 5, 4}, .name = "boxes"},
               {.shape = {3}, .type = 3, .scale = {0.5F}, .zero_point = {7}},
               {.shape = {1, 8, 6, 4}}};
  g.ops = {{.kind = relu, .inputs = {0}, .outputs = {1}},
           {.kind = transpose, .inputs = {1, 3}, .outputs = {2}},
           {.kind = custom, .inputs = {2, -1, 1}, .outputs = {4, 5}, .custom = "Mine", .custom_options = "how"},
           {.kind = l2, .inputs = {1}, .outputs = {6}, .call = {l2_options, {3}}}};
  g.inputs = {0}, g.outputs = {4, 5, 6};
  m.subgraphs = {g};
  const auto first = read_tflite_network(tflite_model::write(m));
  REQUIRE(first);
  REQUIRE(count(*first, op_kind::opaque) == 3);
  for (const coordinate blocks : {1, 3}) {
    const network net = cut(*first, row_cuts(*first, blocks)).value();
    const std::string file = written(*first, net);
    const auto back = read_tflite_network(file);
    REQUIRE(back);
    CHECK(count(*back, op_kind::opaque) == 3);
    foreign_operators is(file), was(first->file);
    for (const operation& op : back->operations) {
      if (op.does.what != op_kind::opaque) continue;
      std::string fault;
      const auto copy = is.find(op.place, fault);
      REQUIRE(copy);
      const index_t from = copy->code.kind == transpose ? 1 : copy->code.kind == custom ? 2 : 3;
      const auto wanted = was.find(from, fault);
      CHECK((copy->code == wanted->code));
      CHECK((copy->options.custom == wanted->options.custom));
      CHECK(copy->options.tag == wanted->options.tag);
      REQUIRE(copy->options.fields.size() == wanted->options.fields.size());
      for (std::size_t k = 0; k < copy->options.fields.size(); ++k)
        CHECK(static_cast<std::uint32_t>(copy->options.fields[k].bits) ==
              static_cast<std::uint32_t>(wanted->options.fields[k].bits));
      REQUIRE(copy->inputs.size() == wanted->inputs.size());
      REQUIRE(copy->outputs.size() == wanted->outputs.size());
      for (std::size_t k = 0; k < copy->inputs.size(); ++k) {
        if (wanted->inputs[k] < 0) {
          CHECK(copy->inputs[k] < 0);
          continue;
        }
        const auto a = is.tensor(copy->inputs[k]), b = was.tensor(wanted->inputs[k]);
        CHECK((a->dimensions == b->dimensions && a->type == b->type));
        CHECK(std::equal(a->data.begin(), a->data.end(), b->data.begin(), b->data.end()));
      }
      for (std::size_t k = 0; k < copy->outputs.size(); ++k)
        CHECK(is.tensor(copy->outputs[k])->dimensions == was.tensor(wanted->outputs[k])->dimensions);
    }
  }
  const auto message = [](const network& net) { return write_tflite_network(net, net, listed(net)).error().message; };
  network other = *first;
  other.file = {};
  CHECK(message(other).find("is opaque, and no file says what it is") != std::string::npos);
  const std::string damaged(first->file.substr(0, 100));
  other.file = damaged;
  CHECK(message(other).find("is opaque, and ") != std::string::npos);
  m.subgraphs[0].ops[3].call = {17, {3}};  // a table that may hold lists
  const auto lists = read_tflite_network(tflite_model::write(m));
  CHECK(message(*lists).find("is opaque, and has options that cannot be copied") != std::string::npos);
  m.subgraphs[0].ops[3].call = {gather_options, {3}};
  m.subgraphs[0].tensors[1].variable = true;
  const auto variable = read_tflite_network(tflite_model::write(m));
  if (variable) CHECK(message(*variable).find("cannot be copied") != std::string::npos);
}

TEST_CASE("a dense layer of blocks is written as layers of them, added") {
  const network net = dense_layer();
  std::vector<cut_points> cuts(net.tensors.size());
  cuts[1].rows = {2, 4};
  const network parts = split_reductions(cut(net, cuts).value(), sum_form::chain);
  REQUIRE(parts.operations.size() == 6);
  const auto file = write_tflite_network(net, parts, listed(parts));
  INFO(file.error().message);
  REQUIRE(file);
  const auto back = read_tflite_network(*file);
  REQUIRE(back);
  check_near(net, *back, 1e-5);
}
