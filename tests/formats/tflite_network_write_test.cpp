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

#include "tflite_checker.hpp"
#include "written_network.hpp"

using namespace memsched;
using written_network::check_same;
using written_network::listed;
using written_network::mixed;

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
  return written_network::in_blocks(net, n, {op_kind::resize_bilinear, op_kind::resize_nearest});
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
      const network blocks = written_network::in_blocks(*n, 3);
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
  CHECK(written(net, written_network::in_blocks(net, 16)).size() < stored + 64 * 1024);
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
  check_written<float_numbers>(net, written_network::in_blocks(net, 4));
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
      const network split = split_sum(gathered, at, form);
      const auto file = write_tflite_network(net, split, listed(split));
      if (!real) {
        CHECK(file.error().message.find("a sum of integers") != std::string::npos);
        continue;
      }
      INFO(file.error().message);
      REQUIRE(file);
      const auto back = read_tflite_network(*file);
      REQUIRE(back);
      const auto expected = run(net, float_numbers{.random_weights = false});
      const auto values = run(*back, float_numbers{.random_weights = false});
      const tensor_id last = net.operations.back().writes[0].parts[0].tensor;
      std::size_t compared = 0;
      for (tensor_id t = 0; t < back->tensors.size(); ++t) {
        if (!back->tensors[t].output) continue;
        for (std::size_t k = 0; k < (*values)[t].size(); ++k, ++compared)
          CHECK((*values)[t][k] == Approx((*expected)[last][k]).margin(1e-6));
      }
      CHECK(compared == (*expected)[last].size());
    }
  }
}

TEST_CASE("what no standard operator of TensorFlow Lite is, is an error that names the operator") {
  const network net = mixed();
  const auto message = [&](const network& n) { return write_tflite_network(net, n, listed(n)).error().message; };
  const auto blocks = cut(net, row_cuts(net, 64));
  REQUIRE(blocks);
  CHECK(message(*blocks).find("reads nothing but pad") != std::string::npos);
  CHECK(message(written_network::in_blocks(net, 2)).find("that is not by a whole number") != std::string::npos);
  CHECK(message(stream_inputs(net)).find("is a read, which no standard operator is") != std::string::npos);
  network lacking = net;
  lacking.blobs[0].data = {};
  CHECK(message(lacking) == "operator 0 'convolution_0' has weights that the model does not hold");
  network unknown = net;
  unknown.operations[1].does.act = activation::hard_sigmoid;
  CHECK(message(unknown).find("applies a function that no standard operator has") != std::string::npos);
  network opaque = net;
  opaque.operations[4].does.what = op_kind::opaque;
  CHECK(message(opaque).find("is a opaque, which no standard operator is") != std::string::npos);
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
