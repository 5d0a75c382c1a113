// Planted faults: the checker finds each, and so does a run over the field.
#include <catch2/catch.hpp>

#include <functional>

#include <memsched/network/builder.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/commute.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/fold_pads.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/rematerialize.hpp>
#include <memsched/rewrite/split_sums.hpp>

#include "checks.hpp"

using namespace memsched;
using memsched_tests::check_found;
using memsched_tests::named;

namespace {

/// conv, then two branches, a concatenation, and a convolution of it with an activation.
network example() {
  network_builder b("example");
  tensor_id x = b.input({12, 6, 3});
  x = b.convolution(x, {.channels = 4, .kernel = 3, .act = activation::relu});
  const tensor_id left = b.depthwise(x, {.kernel = 3}), right = b.convolution(x, {.channels = 3});
  x = b.convolution(b.concat({left, right}), {.channels = 5, .kernel = 3, .act = activation::relu6, .name = "head"});
  b.output(x);
  return b.build().value();
}

network blocks() { return cut(example(), row_cuts(example(), 4)).value(); }
network sums(sum_form form) {
  const network parts = gather_all(example());
  return split_sum(parts, named(parts, "head"), form);
}

}  // namespace

TEST_CASE("the networks with no fault pass") {
  const network net = example();
  for (const network& good :
       {blocks(), sums(sum_form::together), sums(sum_form::in_pairs), sums(sum_form::chain), sums(sum_form::any_order)}) {
    CHECK(check_rewrite(net, good) == "");
    CHECK(disagreement(net, good, 1, exactness::reals) == "");
  }
}

TEST_CASE("a bias that comes twice") {
  const network net = example();
  network bad = sums(sum_form::together);
  bad.operations[named(bad, "head/part0")].bias = bad.operations[named(bad, "head/end")].bias;
  check_found(net, bad);
  bad = sums(sum_form::any_order);
  bad.operations[named(bad, "head/part1")].bias = bad.operations[named(bad, "head/begin")].bias;
  check_found(net, bad);
}

TEST_CASE("a bias that does not come") {
  network bad = sums(sum_form::chain);
  bad.operations[named(bad, "head/part0")].bias = {};
  check_found(example(), bad);
}

TEST_CASE("an activation in the end only, and not in a part") {
  network bad = sums(sum_form::together);
  bad.operations[named(bad, "head/end")].does.act = activation::identity;
  check_found(example(), bad);
  bad = sums(sum_form::together);
  bad.operations[named(bad, "head/part1")].does.act = activation::relu6;
  CHECK(check_rewrite(example(), bad) != "");  // the executors round no part
}

TEST_CASE("weights of the wrong channels") {
  network bad = sums(sum_form::chain);
  slice& w = bad.operations[named(bad, "head/part1")].weights;
  w.inputs = {w.inputs.first - 1, w.inputs.last - 1};
  check_found(example(), bad);

  const network net = example();
  std::vector<cut_points> cuts(net.tensors.size());
  cuts.back().channels = {2};
  bad = cut(net, cuts).value();
  CHECK(check_rewrite(net, bad) == "");
  bad.operations.back().weights.outputs = bad.operations[bad.operations.size() - 2].weights.outputs;
  bad.operations.back().weights.outputs.last += 1;
  check_found(net, bad);
}

TEST_CASE("a window that is off by one") {
  network bad = blocks();
  operation& op = bad.operations[named(bad, "head#1")];
  op.does.win.pad_rows += 1;
  check_found(example(), bad);

  bad = blocks();  // a block that is read one row below its place
  image& x = bad.operations[named(bad, "head#1")].reads[0];
  for (placed& p : x.parts) p.row += 1;
  check_found(example(), bad);

  bad = blocks();  // a halo row that is not read
  bad.operations[named(bad, "head#1")].reads[0].parts.pop_back();
  check_found(example(), bad);
}

TEST_CASE("a pad inside the image") {
  network bad = blocks();  // the second block ends the image: its window meets pad below it
  operation& op = bad.operations[named(bad, "head#1")];
  op.reads[0].size.rows = 6;
  std::erase_if(op.reads[0].parts, [&](const placed& p) { return box_of(bad, p).rows.last > 6; });
  check_found(example(), bad);
}

TEST_CASE("a grouped convolution that is split") {
  network_builder b("grouped");
  const tensor_id x = b.input({6, 6, 4}), y = b.input({6, 6, 8});
  const tensor_id z = b.convolution(b.concat({x, y}), {.channels = 6, .kernel = 3, .groups = 2, .name = "head"});
  b.output(z);
  const network net = b.build().value();
  network parts = gather_all(net);
  CHECK_FALSE(may_split_sum(parts, 0));
  // Part by part, each with two groups of its own channels, as if they were those of the whole.
  operation first = parts.operations[0], last = parts.operations[0];
  typed_tensor sum = parts.tensors[parts.operations[0].writes[0].parts[0].tensor];
  sum.role = tensor_role::sum, sum.output = false;
  parts.tensors.push_back(sum);
  image to = first.writes[0];
  to.parts[0].tensor = static_cast<tensor_id>(parts.tensors.size() - 1);
  first.sum = summation::partial, first.reduces = {0, 4}, first.weights.inputs = {0, 4};
  first.reads[0].parts.pop_back();
  first.writes = {to};
  last.sum = summation::last, last.reduces = {4, 6}, last.weights.inputs = {4, 6};
  last.reads[0].parts.erase(last.reads[0].parts.begin());
  last.reads[0].parts[0].channel = 4;
  last.bias = {};
  last.reads.push_back(to);
  parts.operations = {first, last};
  check_found(net, parts);
}

TEST_CASE("an end that does not wait for a part") {
  network bad = sums(sum_form::any_order);
  operation& end = bad.operations[named(bad, "head/end")];
  end.reads.pop_back();
  CHECK(check_rewrite(example(), bad) != "");
}

TEST_CASE("terms that come twice, or not at all") {
  network bad = sums(sum_form::together);
  operation& part = bad.operations[named(bad, "head/part1")];
  const operation& other = bad.operations[named(bad, "head/part0")];
  part.reads = other.reads, part.reduces = other.reduces, part.weights = other.weights;
  check_found(example(), bad);
  bad = sums(sum_form::together);
  bad.operations[named(bad, "head/end")].reads.pop_back();
  check_found(example(), bad);
}

// R0, gather.

TEST_CASE("parts that a reader takes in another order") {
  network_builder b("parts");
  const tensor_id x = b.input({5, 4, 3}), y = b.convolution(x, {.channels = 3, .kernel = 3});
  b.output(b.convolution(b.concat({x, y}), {.channels = 2, .kernel = 3, .name = "head"}));
  const network net = b.build().value(), good = gather_all(net);
  REQUIRE(good.operations.size() + 1 == net.operations.size());
  CHECK(check_rewrite(net, good) == "");
  CHECK(disagreement(net, good) == "");
  network bad = good;
  image& read = bad.operations[named(bad, "head")].reads[0];
  std::swap(read.parts[0].tensor, read.parts[1].tensor);
  check_found(net, bad);
  bad = good;  // one part in both places
  image& again = bad.operations[named(bad, "head")].reads[0];
  again.parts[1].tensor = again.parts[0].tensor;
  check_found(net, bad);
  bad = good;  // the second part as if the first had one channel less
  image& moved = bad.operations[named(bad, "head")].reads[0];
  for (placed& p : moved.parts)
    if (p.channel == 3) p.channel = 2;
  check_found(net, bad);
}

TEST_CASE("a concatenation that goes, and its activation with it") {
  network_builder b("concat");
  const tensor_id x = b.input({4, 4, 3});
  b.output(b.convolution(b.concat({x, x}, activation::relu), {.channels = 2, .name = "head"}));
  const network net = b.build().value();
  CHECK_FALSE(may_gather(net, uses(net), 0));
  check_found(net, gather(net, 0));
}

// R7, fold pads.

TEST_CASE("a pad that a reader takes over otherwise than it was") {
  network_builder b("pad");
  const tensor_id padded = b.pad(b.input({6, 6, 3}), {1, 1, 1, 1});
  b.output(b.convolution(padded, {.channels = 2, .kernel = 3, .pad = padding::valid, .name = "head"}));
  const network net = b.build().value(), good = fold_pads(net);
  REQUIRE(good.operations.size() == 1);
  CHECK(check_rewrite(net, good) == "");
  CHECK(disagreement(net, good) == "");
  network bad = good;
  bad.operations[0].does.win.pad_columns = 0;
  check_found(net, bad);
  bad = good;
  bad.operations[0].does.win.pad_rows = 2;
  check_found(net, bad);

  network ones = net;  // ones are no zeros
  ones.operations[0].does.pad_value = 1;
  CHECK_FALSE(may_fold_pad(ones, uses(ones), 0));
  check_found(ones, fold_pad(ones, 0));
}

TEST_CASE("a pad that a pooling takes over") {
  for (const bool most : {false, true}) {
    network_builder b("pad");
    const tensor_id padded = b.pad(b.input({6, 6, 3}), {1, 1, 1, 1});
    const layer l{.kernel = 3, .pad = padding::valid};
    b.output(most ? b.max_pooling(padded, l) : b.average_pooling(padded, l));
    const network net = b.build().value();
    CHECK_FALSE(may_fold_pad(net, uses(net), 0));
    network bad = fold_pad(net, 0);
    bad.operations[0].does.win.pad_rows = bad.operations[0].does.win.pad_columns = 1;
    check_found(net, bad);
  }
}

TEST_CASE("channels of zeros that stand in front") {
  network_builder b("channels");
  const tensor_id x = b.input({4, 4, 3}), y = b.input({4, 4, 5});
  b.output(b.add(y, b.pad(x, {.channels_behind = 2})));
  const network net = b.build().value(), good = fold_pads(net);
  REQUIRE(good.operations.size() == 1);
  CHECK(check_rewrite(net, good) == "");
  network front = net;
  front.operations[0].does.win.pad_channels = 2;
  CHECK_FALSE(may_fold_pad(front, uses(front), 0));
  check_found(front, good);
}

// R8, changed places.

TEST_CASE("places that were changed where they may not be") {
  const auto behind = [](const layer& l, bool mean) {
    network_builder b("places");
    const tensor_id x = b.input({4, 4, 3});
    if (mean) b.output(b.mean(b.convolution(x, l)));
    else b.output(b.convolution(b.resize_bilinear(x, 8, 8), l));
    return b.build().value();
  };
  for (const bool mean : {false, true}) {
    const network net = behind({.channels = 5}, mean);
    REQUIRE(may_commute(net, uses(net), 0));
    const network good = commute(net, 0);
    CHECK(check_network(good).message == "");
    CHECK(check_rewrite(net, good) == "");
    CHECK(disagreement(net, good, 1, exactness::reals) == "");
    CHECK(float_difference(net, good) < 1e-5);
    CHECK(disagreement(net, good, 1, exactness::bits) != "");
    const network act = behind({.channels = 5, .act = activation::relu}, mean);
    CHECK_FALSE(may_commute(act, uses(act), 0));
    const network bad = commute(act, 0);
    CHECK(check_rewrite(act, bad) != "");
    CHECK(disagreement(act, bad, 1, exactness::reals) != "");
  }
}

// R10, one copy for each reader.

TEST_CASE("a copy that is none") {
  network_builder b("copies");
  const tensor_id x = b.input({6, 5, 3}), z = b.convolution(x, {.channels = 3, .kernel = 3});
  const tensor_id y = b.convolution(x, {.channels = 3, .kernel = 3, .act = activation::tanh, .name = "cheap"});
  b.output(b.add(b.convolution(y, {.channels = 3, .name = "first"}), y));
  b.output(z);
  const network net = b.build().value();
  REQUIRE(may_rematerialize(net, uses(net), named(net, "cheap")));
  const network good = rematerialize(net, named(net, "cheap"));
  CHECK(check_rewrite(net, good) == "");
  CHECK(disagreement(net, good) == "");
  const op_id copy = named(good, "cheap/again1");
  network bad = good;  // of another operand
  bad.operations[copy].reads[0].parts[0].tensor = good.operations[named(good, "first")].writes[0].parts[0].tensor;
  check_found(net, bad);
  bad = good;  // with the weights of another
  bad.operations[copy].weights = good.operations[0].weights;
  check_found(net, bad);
  bad = good;  // without its activation
  bad.operations[copy].does.act = activation::identity;
  check_found(net, bad);
  bad = good;  // of other rows
  bad.operations[copy].does.win.pad_rows += 1;
  check_found(net, bad);
}

TEST_CASE("outputs that are missing or not from the first network") {
  const network net = example();
  network bad = blocks();
  bad.tensors.back().output = false;
  check_found(net, bad);
  bad = blocks();
  bad.tensors.front().quant = {0.5F, 3};
  CHECK(check_rewrite(net, bad).find("quantization") != std::string::npos);
  bad = blocks();
  bad.tensors.front().origin = none;
  CHECK(check_rewrite(net, bad).find("no origin") != std::string::npos);
}
