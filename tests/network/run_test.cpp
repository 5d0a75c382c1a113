// The executors, against values worked out by hand and against each other.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <memsched/base/random.hpp>
#include <memsched/network/builder.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/network/integers.hpp>
#include <memsched/network/numbers.hpp>

using namespace memsched;

namespace {

/// Gives a blob these bytes; the network keeps them.
template <class T>
void give(network& net, memsched::index_t b, const std::vector<T>& values) {
  struct kept {
    std::shared_ptr<const void> before;
    std::vector<std::byte> bytes;
  };
  auto keeper = std::make_shared<kept>();
  keeper->before = net.holder;
  keeper->bytes.resize(values.size() * sizeof(T));
  std::memcpy(keeper->bytes.data(), values.data(), keeper->bytes.size());
  net.blobs[b].data = keeper->bytes;
  net.holder = keeper;
}

/// The last tensor of a network in float32 with the model's weights.
std::vector<float> last(const network& net) {
  float_numbers numbers;
  numbers.random_weights = false;
  return run(net, numbers).value().back();
}
std::vector<float> first(const network& net) { return run(net, float_numbers{}).value().front(); }

}  // namespace

TEST_CASE("a convolution by hand") {
  network_builder b("conv");
  const tensor_id x = b.input({3, 1, 1});
  layer l{.channels = 1, .kernel = 3};
  b.output(b.convolution(x, l));
  network net = b.build().value();
  give<float>(net, 0, {0, 1, 0, 0, 10, 0, 0, 100, 0});
  give<float>(net, 1, {1000});
  const auto in = first(net), out = last(net);
  CHECK(out[0] == ((1000 + in[0] * 10) + in[1] * 100));
  CHECK(out[1] == (((1000 + in[0] * 1) + in[1] * 10) + in[2] * 100));
  CHECK(out[2] == ((1000 + in[1] * 1) + in[2] * 10));
}

TEST_CASE("groups and multipliers") {
  network_builder b("groups");
  const tensor_id x = b.input({1, 1, 4});
  b.convolution(x, {.channels = 2, .groups = 2, .bias = false});
  b.output(b.depthwise(x, {.multiplier = 2, .bias = false}));
  network net = b.build().value();
  give<float>(net, 0, {1, 2, 4, 8});
  give<float>(net, 1, {1, 2, 3, 4, 5, 6, 7, 8});
  float_numbers numbers;
  numbers.random_weights = false;
  const auto all = run(net, numbers).value();
  const auto& in = all[0];
  CHECK(all[1] == std::vector<float>{in[0] + 2 * in[1], 4 * in[2] + 8 * in[3]});
  CHECK(all[2][3] == 4 * in[1]);
  CHECK(all[2][4] == 5 * in[2]);
}

TEST_CASE("pooling, means, resizes, reshapes") {
  network_builder b("others");
  const tensor_id x = b.input({2, 2, 1});
  const tensor_id average = b.average_pooling(x, {.kernel = 3}), most = b.max_pooling(x, {.kernel = 3}), mean = b.mean(x);
  const tensor_id up = b.resize_bilinear(x, 4, 2), near = b.resize_nearest(x, 4, 4), flat = b.reshape(x, {1, 1, 4});
  const tensor_id space = b.depth_to_space(b.reshape(x, {1, 1, 4}), 2), padded = b.pad(x, {.above = 1});
  b.output(flat);
  const auto all = run(b.build().value(), float_numbers{}).value();
  const auto& in = all[x];
  CHECK(all[average][0] == (((in[0] + in[1]) + in[2]) + in[3]) / 4);  // the cells inside
  CHECK(all[most][3] == std::max({in[0], in[1], in[2], in[3]}));
  CHECK(all[mean] == std::vector<float>{(((in[0] + in[1]) + in[2]) + in[3]) / 4});
  CHECK(all[up][0] == in[0]);
  CHECK(all[up][2] == in[0] * 0.75F + in[2] * 0.25F);
  CHECK(all[near][10] == in[3]);
  CHECK(all[flat] == in);
  CHECK(all[space] == in);
  CHECK(all[padded] == std::vector<float>{0, 0, in[0], in[1], in[2], in[3]});
}

TEST_CASE("a reshape follows the network's order of elements") {
  network_builder b("order");
  const tensor_id x = b.input({1, 2, 2});
  b.output(b.reshape(x, {1, 1, 4}));
  network net = b.build().value();
  net.order = element_order::channels_rows_columns;
  const auto in = first(net);
  CHECK(last(net) == std::vector<float>{in[0], in[2], in[1], in[3]});
}

TEST_CASE("eight-bit integers round once") {
  network_builder b("int8", element::int8, {0.5F, -3});
  const tensor_id x = b.input({1, 1, 2});
  b.output(b.convolution(x, {.channels = 1, .quant = {0.25F, 4}}));
  network net = b.build().value();
  give<std::int8_t>(net, 0, {3, -2});
  give<std::int32_t>(net, 1, {7});
  net.blobs[0].scales = {0.1F};
  int8_numbers numbers;
  numbers.random_weights = false;
  const auto all = run(net, numbers).value();
  const int sum = 7 + (all[0][0] + 3) * 3 + (all[0][1] + 3) * -2;
  const double real = 0.5 * static_cast<double>(0.1F) * sum;
  CHECK(all[1][0] == std::clamp(static_cast<int>(std::round(real / 0.25)) + 4, -128, 127));
}

TEST_CASE("an operator that reads what nothing holds is an error, not a guess") {
  network_builder b("missing");
  const tensor_id x = b.input({4, 4, 1});
  b.output(b.convolution(x, {.channels = 1, .kernel = 3}));
  network net = b.build().value();
  net.operations[0].reads[0].size.rows = 5;  // one row more than its part has
  CHECK(run(net, field_numbers{}).error().message ==
        "operator 0 'convolution_0' reads rows [0, 5) columns [0, 4) channels [0, 1) of operand 0, which its parts do not "
        "hold");
}

TEST_CASE("the field tells functions apart") {
  const auto with = [](activation a, float alpha = 0) {
    network_builder b("f");
    b.output(b.unary(b.input({2, 2, 1}), a));
    network net = b.build().value();
    net.operations[0].does.alpha = alpha;
    return net;
  };
  CHECK(disagreement(with(activation::relu), with(activation::relu)) == "");
  CHECK(disagreement(with(activation::relu), with(activation::relu6)) != "");
  CHECK(disagreement(with(activation::leaky, 0.1F), with(activation::leaky, 0.2F)) != "");
}

TEST_CASE("two networks are compared as long as that is wanted, and are not equal before the end") {
  const auto made = [](bool quantized, activation a) {
    network_builder b("rows");
    b.output(b.unary(b.unary(b.input({3, 2, 1}), activation::relu), a));
    network net = b.build().value();
    if (quantized)
      for (typed_tensor& t : net.tensors) t.element = element::int8, t.quant.scale = 0.5F;
    return net;
  };
  for (const bool quantized : {false, true})
    for (const exactness exact : {exactness::bits, exactness::reals}) {
      const network one = made(quantized, activation::relu), other = made(quantized, activation::relu6);
      std::size_t asked = 0;
      const auto always = [&] { return ++asked, true; };
      CHECK(disagreement(one, one, 1, exact, always) == "");
      const std::size_t rows = asked, numbers = quantized || exact == exactness::bits ? 2 : 1;
      CHECK(rows == numbers * 2 * 2 * 3);  // of two operators in two networks
      for (std::size_t enough = 0; enough < rows; ++enough) {
        asked = 0;
        CHECK(!disagreement(one, one, 1, exact, [&] { return ++asked <= enough; }));
        CHECK(asked == enough + 1);  // and no row is computed later
      }
      asked = 0;
      const std::string difference = disagreement(one, other, 1, exact);
      CHECK(difference != "");
      CHECK(disagreement(one, other, 1, exact, always) == difference);
      std::size_t left = asked;
      CHECK(disagreement(one, other, 1, exact, [&] { return left-- > 0; }) == difference);
    }
}

TEST_CASE("factors of 31 bits round to a neighbour, and are exact where the product is an integer") {
  CHECK(fixed(0) == fixed_factor{0, 0});
  CHECK(fixed(1) == fixed_factor{1 << 30, 1});
  CHECK(fixed(0.75) == fixed_factor{3 << 29, 0});
  CHECK(fixed(1 - 1e-12) == fixed(1));  // it rounds up to the next power
  CHECK(fixed(1e-12) == fixed_factor{0, 0});
  base::random_source random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto x = static_cast<std::int32_t>(random.below(1 << 24)) - (1 << 23);
    const int e = static_cast<int>(random.below(12)) - 8;
    const double power = std::ldexp(1.0, e), factor = std::ldexp(1 + static_cast<double>(random.below(1000)) / 1000, e - 3);
    const auto whole = static_cast<std::int32_t>(std::floor(x * power));
    if (whole == x * power) CHECK(times(x, fixed(power)) == whole);
    CHECK(std::abs(times(x, fixed(factor)) - x * factor) <= 1);  // rounded twice
  }
}

TEST_CASE("the softmax of integers is that of real numbers within a step, and orders as its operands do") {
  base::random_source random(3);
  for (int i = 0; i < 300; ++i) {
    const double scale = std::ldexp(1.0, static_cast<int>(random.below(8)) - 6);
    std::vector<std::int32_t> all(1 + random.below(12));
    for (auto& x : all) x = static_cast<std::int32_t>(random.below(256)) - 128;
    const std::int32_t most = *std::max_element(all.begin(), all.end());
    double sum = 0;
    for (const std::int32_t x : all) sum += std::exp(scale * (x - most));
    const auto softmax = fixed_softmax::of(scale);
    for (std::size_t a = 0; a < all.size(); ++a) {
      const double exact = std::min(127.0, std::exp(scale * (all[a] - most)) / sum * 256 - 128);
      CHECK(std::abs(softmax.share(all, a) - exact) <= 1);
      for (std::size_t b = 0; b < a; ++b)
        if (all[a] <= all[b]) CHECK(softmax.share(all, a) <= softmax.share(all, b));
    }
  }
}
