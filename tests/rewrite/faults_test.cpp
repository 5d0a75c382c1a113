// Planted faults: the checker finds each, and so does a run over the field.
#include <catch2/catch.hpp>

#include <functional>

#include <memsched/network/builder.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/split_sums.hpp>

using namespace memsched;

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

void check_found(const network& before, const network& after) {
  CHECK(check_rewrite(before, after) != "");
  CHECK(disagreement_over(before, after, field_numbers{}) != "");
}

op_id named(const network& net, const std::string& name) {
  for (op_id i = 0; i < net.operations.size(); ++i)
    if (net.operations[i].name == name) return i;
  FAIL("no operator " << name);
  return none;
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
