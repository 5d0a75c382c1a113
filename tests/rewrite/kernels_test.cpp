// R2, R4, R8 and R9 of dense layers: where they may not be applied, what they make, and planted faults.
#include <catch2/catch.hpp>

#include <memsched/network/builder.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/rewrite/channel_slices.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/commute.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/kernel_wise.hpp>
#include <memsched/schedule.hpp>

#include "checks.hpp"

using namespace memsched;
using memsched_tests::check_found;
using memsched_tests::check_same;
using memsched_tests::named;

namespace {

/// Two branches, their concatenation, a depthwise convolution of it, and a projection.
network branches(quantization left = {}, std::int64_t multiplier = 1) {
  network_builder b("branches");
  const tensor_id x = b.input({6, 6, 2});
  const tensor_id y = b.convolution(x, {.channels = 3, .quant = left}), z = b.convolution(x, {.channels = 4});
  const tensor_id d = b.depthwise(b.concat({y, z}), {.kernel = 3, .multiplier = multiplier, .name = "dw"});
  b.output(b.convolution(d, {.channels = 2}));
  return b.build().value();
}

}  // namespace

TEST_CASE("a depthwise convolution of a concatenation runs part by part") {
  for (const std::int64_t multiplier : {1, 2}) {
    const network net = branches({}, multiplier);
    REQUIRE(may_split_readers(net, uses(net), 2));
    const network parts = split_readers(net, 2);
    check_same(net, parts);
    CHECK(parts.operations.size() == 5);  // no concatenation, and two depthwise convolutions
    // Output channels [m lo, m hi) belong to the part that holds channels [lo, hi).
    CHECK(parts.operations[named(parts, "dw#1")].weights.outputs == interval{3 * multiplier, 7 * multiplier});
    CHECK(schedule(parts).value().peak < schedule(net).value().peak);

    network bad = parts;
    slice& w = bad.operations[named(bad, "dw#1")].weights;
    w.outputs = {w.outputs.first - 1, w.outputs.last - 1};
    check_found(net, bad);
    bad = parts;
    std::swap(bad.operations[named(bad, "dw#0")].bias, bad.operations[named(bad, "dw#1")].bias);
    check_found(net, bad);
  }
}

TEST_CASE("kernels stay whole where a part would not do") {
  const auto splits = [](auto&& finish) {
    network_builder b("concat");
    const tensor_id x = b.input({4, 4, 3}), y = b.convolution(x, {.channels = 2});
    finish(b, b.concat({x, y}));
    const network net = b.build().value();
    return may_split_readers(net, uses(net), 1);
  };
  const auto head = [](network_builder& b, tensor_id x) { b.output(b.convolution(x, {.channels = 2})); };
  CHECK(splits([&](network_builder& b, tensor_id z) { head(b, b.unary(z, activation::relu)); }));
  CHECK(splits([&](network_builder& b, tensor_id z) { head(b, b.resize_nearest(z, 8, 8)); }));
  CHECK_FALSE(splits([&](network_builder& b, tensor_id z) { head(b, z); }));             // sums over channels
  CHECK_FALSE(splits([&](network_builder& b, tensor_id z) { head(b, b.softmax(z)); }));  // needs all channels
  CHECK_FALSE(splits([&](network_builder& b, tensor_id z) { head(b, b.pad(z, {.channels_before = 1})); }));
  CHECK_FALSE(splits([&](network_builder& b, tensor_id z) { b.output(b.unary(z, activation::relu)); }));  // an output
  CHECK_FALSE(splits([&](network_builder& b, tensor_id z) {  // a second reader keeps the concatenation
    head(b, b.unary(z, activation::relu));
    b.output(b.opaque({z}, {{1, 1, 4}}, "f")[0]);
  }));
  CHECK_FALSE(may_split_readers(branches({0.5F, 1}), uses(branches({0.5F, 1})), 2));  // the concatenation rescales a part
}

TEST_CASE("the activation of a concatenation moves to its parts") {
  network_builder b("act");
  const tensor_id x = b.input({4, 4, 3}), y = b.convolution(x, {.channels = 2});
  b.output(b.convolution(b.concat({x, y}, activation::relu), {.channels = 2}));
  const network net = b.build().value();
  CHECK_FALSE(may_gather(net, uses(net), 1));
  REQUIRE(may_split_kernels(net, uses(net), 1));
  const network parts = split_kernels(net, 1);
  check_same(net, parts);
  network bad = parts;
  bad.operations[2].does.act = activation::identity;
  check_found(net, bad);
}

TEST_CASE("what worked in place of a concatenation works in place of its parts, but of no input") {
  network_builder b("place");
  const tensor_id x = b.input({4, 4, 3}), y = b.convolution(x, {.channels = 2});
  b.output(b.convolution(b.unary(b.concat({x, y}), activation::relu, true), {.channels = 2}));
  const network net = b.build().value(), parts = split_readers(net, 1);
  check_same(net, parts);
  std::vector<tensor_id> overwritten;
  for (const operation& op : parts.operations)
    if (op.overwrites != none) overwritten.push_back(parts.tensors[op.overwrites].origin);
  CHECK(overwritten == std::vector<tensor_id>{y});
}

TEST_CASE("an addition of two concatenations") {
  network_builder b("add");
  const tensor_id x = b.input({4, 4, 3}), y = b.convolution(x, {.channels = 2}), z = b.convolution(x, {.channels = 3});
  b.output(b.convolution(b.add(b.concat({x, y}), b.concat({z, y})), {.channels = 2}));
  const network net = b.build().value();
  check_same(net, split_readers(split_readers(net, 2), 2));
}

TEST_CASE("an expansion, a depthwise convolution and a projection, slice by slice") {
  network_builder b("residual");
  tensor_id x = b.input({6, 6, 2});
  x = b.convolution(x, {.channels = 12, .act = activation::relu6, .name = "expand"});
  x = b.depthwise(x, {.kernel = 3, .act = activation::relu6, .name = "dw"});
  b.output(b.convolution(x, {.channels = 3, .act = activation::relu, .name = "project"}));
  const network net = b.build().value();
  REQUIRE(expanded_by(net, uses(net), 2).size() == 2);
  CHECK(expanded_by(net, uses(net), 0).empty());
  const network four = slice_channels(net, 2, 4, sum_form::chain);
  check_same(net, four);
  CHECK(macs(four) == macs(net));
  CHECK(schedule(four).value().peak < schedule(net).value().peak);
  check_same(net, slice_channels(net, 2, 5, sum_form::any_order), exactness::reals);

  network bad = four;
  bad.operations[named(bad, "expand#1")].weights.outputs = bad.operations[named(bad, "expand#2")].weights.outputs;
  check_found(net, bad);
  bad = four;
  bad.operations[named(bad, "project/part1")].weights.inputs = {0, 3};
  check_found(net, bad);
}

TEST_CASE("channels stay in one piece where somebody else reads them, or groups mix them") {
  const auto slices = [](auto&& more, std::int64_t groups = 1) {
    network_builder b("residual");
    const tensor_id x = b.convolution(b.input({6, 6, 2}), {.channels = 4}), y = b.depthwise(x, {.kernel = 3});
    const tensor_id z = b.convolution(y, {.channels = 4, .groups = groups});
    b.output(z);
    more(b, x, z);
    const network net = b.build().value();
    return !expanded_by(net, uses(net), 2).empty();
  };
  CHECK(slices([](network_builder&, tensor_id, tensor_id) {}));
  CHECK_FALSE(slices([](network_builder& b, tensor_id x, tensor_id z) { b.output(b.add(x, z)); }));
  CHECK_FALSE(slices([](network_builder& b, tensor_id x, tensor_id) { b.output(x); }));
  CHECK_FALSE(slices([](network_builder&, tensor_id, tensor_id) {}, 2));
}

TEST_CASE("a convolution of 1 x 1 goes before a resize") {
  const auto head = [](resize_coordinates how, auto&& between, const layer& l) {
    network_builder b("head");
    const tensor_id x = b.resize_bilinear(b.input({4, 4, 6}), 8, 8, how);
    between(b, x);
    b.output(b.convolution(x, l));
    return b.build().value();
  };
  const auto nothing = [](network_builder&, tensor_id) {};
  const layer point{.channels = 2};
  for (const auto how :
       {resize_coordinates::half_pixel, resize_coordinates::asymmetric, resize_coordinates::align_corners}) {
    const network net = head(how, nothing, point);
    REQUIRE(may_commute(net, uses(net), 0));
    const network early = commute(net, 0);
    CHECK(check_rewrite(net, early) == "");
    CHECK(disagreement(net, early, 1, exactness::reals) == "");
    CHECK(float_difference(net, early) < 1e-5);
    CHECK(macs(early) * 4 == macs(net));

    network bad = early;  // an activation before the blend
    bad.operations[0].does.act = activation::relu;
    check_found(net, bad);
    bad = early;
    bad.operations[1].does.coordinates =
        how == resize_coordinates::half_pixel ? resize_coordinates::asymmetric : resize_coordinates::half_pixel;
    check_found(net, bad);
    bad = early;
    bad.operations[0].bias = {};
    check_found(net, bad);
  }
  const auto may = [](const network& net) { return may_commute(net, uses(net), 0); };
  const auto half = resize_coordinates::half_pixel;
  CHECK_FALSE(may(head(half, nothing, {.channels = 2, .kernel = 3})));
  CHECK_FALSE(may(head(half, nothing, {.channels = 2, .act = activation::relu})));
  CHECK_FALSE(may(head(half, nothing, {.channels = 2, .stride = 2})));
  CHECK_FALSE(may(head(half, nothing, {.channels = 2, .groups = 2})));
  CHECK_FALSE(may(head(
      half, [](network_builder& b, tensor_id x) { b.output(x); }, point)));
  CHECK_FALSE(may(head(
      half, [](network_builder& b, tensor_id x) { b.output(b.mean(x)); }, point)));
  // The checker is no less strict: an exchange that the first network does not allow.
  const network two_readers = head(
      half, [](network_builder& b, tensor_id x) { b.output(b.mean(x)); }, point);
  network bad = two_readers;
  std::swap(bad.operations[0].does, bad.operations[2].does);
  CHECK(check_rewrite(two_readers, bad) != "");
}

TEST_CASE("a dense layer sums over blocks of rows, in either order of elements") {
  for (const element_order order : {element_order::rows_columns_channels, element_order::channels_rows_columns}) {
    network_builder b("dense");
    const tensor_id x = b.convolution(b.input({6, 3, 2}), {.channels = 4, .kernel = 3});
    b.output(b.dense(x, 5, activation::relu));
    network net = b.build().value();
    net.order = order;
    std::vector<cut_points> cuts(net.tensors.size());
    const bool rows = order == element_order::rows_columns_channels;
    (rows ? cuts[x].rows : cuts[x].channels) = {1, 3};
    const network blocks = cut(net, cuts).value();
    REQUIRE(may_split_sum(blocks, 3));
    for (const sum_form form : {sum_form::chain, sum_form::together, sum_form::in_pairs, sum_form::any_order})
      check_same(net, split_sum(blocks, 3, form), form == sum_form::chain ? exactness::bits : exactness::reals);
    std::swap(cuts[x].rows, cuts[x].channels);
    CHECK_FALSE(may_split_sum(cut(net, cuts).value(), 3));  // parts that are no intervals of the elements

    network bad = split_sum(blocks, 3, sum_form::chain);
    const op_id second = named(bad, "dense_1/part1");
    bad.operations[second].weights.inputs.first += 1, bad.operations[second].weights.inputs.last += 1;
    check_found(net, bad);
    bad = split_sum(blocks, 3, sum_form::chain);
    std::swap(bad.operations[second].reads[0], bad.operations[second - 1].reads[0]);  // weights of another block
    CHECK(check_rewrite(net, bad) != "");
  }
}
