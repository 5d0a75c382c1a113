// The rules' preconditions, each with a network where it does not hold, and published figures.
#include <catch2/catch.hpp>

#include <networks/typed.hpp>

#include <memsched/network/disagreement.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/fit.hpp>
#include <memsched/rewrite/fold_pads.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/split_sums.hpp>
#include <memsched/rewrite/stream_inputs.hpp>
#include <memsched/schedule.hpp>

#include "support/seeds.hpp"

using namespace memsched;

namespace {

std::size_t count(const network& net, op_kind k) {
  std::size_t n = 0;
  for (const operation& op : net.operations) n += op.does.what == k ? 1 : 0;
  return n;
}

}  // namespace

TEST_CASE("a concatenation stays where it cannot vanish") {
  const auto copies = [](auto&& finish, quantization other = {}) {
    network_builder b("concat");
    const tensor_id x = b.input({4, 4, 3});
    const tensor_id y = b.convolution(x, {.channels = 2, .quant = other});
    const tensor_id z = b.concat({x, y});
    finish(b, z);
    return count(gather_all(b.build().value()), op_kind::copy);
  };
  CHECK(copies([](network_builder& b, tensor_id z) { b.output(b.convolution(z, {.channels = 2})); }) == 0);
  CHECK(copies([](network_builder& b, tensor_id z) { b.output(z); }) == 1);  // it is a graph output
  CHECK(copies([](network_builder& b, tensor_id z) {                         // a reader of which nothing is known
          b.output(b.convolution(z, {.channels = 2}));
          b.output(b.opaque({z}, {{1, 1, 4}}, "f")[0]);
        }) == 1);
  CHECK(copies([](network_builder& b, tensor_id z) { b.output(b.reshape(z, {1, 16, 5})); }) == 1);  // a view of it
  CHECK(copies([](network_builder& b, tensor_id z) { b.output(b.convolution(z, {.channels = 2})); }, {0.5F, 1}) == 1);
}

TEST_CASE("a concatenation with an activation stays") {
  network_builder b("concat");
  const tensor_id x = b.input({4, 4, 3});
  b.output(b.convolution(b.concat({x, x}, activation::relu), {.channels = 2}));
  CHECK(count(gather_all(b.build().value()), op_kind::copy) == 1);
}

TEST_CASE("nested concatenations become one") {
  network_builder b("nested");
  const tensor_id x = b.input({4, 4, 3}), y = b.input({4, 4, 2});
  const tensor_id z = b.concat({b.concat({x, y}), x});
  b.output(z);
  const network net = b.build().value(), flat = flatten_concats(net);
  CHECK(count(flat, op_kind::copy) == 1);
  CHECK(flat.operations[0].reads[0].parts.size() == 3);
  CHECK(check_rewrite(net, flat) == "");
}

TEST_CASE("a pad stays where its reader cannot take it over") {
  const auto pads = [](auto&& read, float value = 0) {
    network_builder b("pad");
    const tensor_id x = b.input({6, 6, 3});
    const tensor_id y = b.pad(x, {1, 1, 1, 1});
    b.output(read(b, y));
    network net = b.build().value();
    net.operations[0].does.pad_value = value;
    const network after = fold_pads(net);
    CHECK(check_rewrite(net, after) == "");
    return count(after, op_kind::pad);
  };
  const auto convolution = [](network_builder& b, tensor_id y) {
    return b.convolution(y, {.channels = 2, .kernel = 3, .pad = padding::valid});
  };
  CHECK(pads(convolution) == 0);
  CHECK(pads(convolution, 1) == 1);  // ones are no zeros
  CHECK(pads([](network_builder& b, tensor_id y) { return b.max_pooling(y, {.kernel = 3, .pad = padding::valid}); }) == 1);
  CHECK(pads([](network_builder& b, tensor_id y) { return b.average_pooling(y, {.kernel = 3, .pad = padding::valid}); }) ==
        1);
  CHECK(pads([](network_builder&, tensor_id y) { return y; }) == 1);
}

TEST_CASE("a block has the pad of the whole image, with stride 2 and an even number of rows") {
  for (const coordinate rows : {8, 9}) {
    network_builder b("stride");
    b.output(b.convolution(b.input({rows, 5, 2}), {.channels = 2, .kernel = 3, .stride = 2}));
    const network net = b.build().value();
    const network rows_one = cut(net, row_cuts(net, 100)).value();
    CHECK(disagreement(net, rows_one) == "");
    CHECK(check_rewrite(net, rows_one) == "");
  }
}

TEST_CASE("an average divides by the cells inside the image, once") {
  network_builder b("average", element::int8, {0.05F, 3});
  b.output(b.average_pooling(b.input({9, 5, 2}), {.kernel = 3, .stride = 2}));
  const network net = b.build().value();
  CHECK(disagreement(net, cut(net, row_cuts(net, 100)).value()) == "");
}

TEST_CASE("cuts outside a tensor are named") {
  network_builder b("x");
  b.output(b.convolution(b.input({4, 4, 1}), {.kernel = 3}));
  const network net = b.build().value();
  std::vector<cut_points> cuts(net.tensors.size());
  cuts[1].rows = {4};
  CHECK(cut(net, cuts).error().message == "tensor 1 'convolution_0:0' is cut outside itself, or not in order");
  cuts.pop_back();
  CHECK(cut(net, cuts).error().message == "there are cuts for 1 tensors, not for 2");
}

TEST_CASE("msf-CNN's chains in row blocks, to the byte") {
  struct row {
    coordinate blocks;
    bytes peak;
  };
  const auto compare = [](const network& net, std::uint64_t products, const std::vector<row>& rows) {
    CHECK(macs(net) == products);
    for (const row& want : rows) {
      const network parts = stream_inputs(cut(net, row_cuts(net, want.blocks)).value());
      const auto r = schedule(parts).value();
      CHECK(r.peak == want.peak);
      CHECK(r.lower_bound == want.peak);
      CHECK(macs(parts) == products);
    }
  };
  compare(networks::mobilenet_v2_chain(), 18'909'490, {{1, 194'400}, {4, 100'440}, {8, 63'720}});
  compare(networks::mcunet_v2_chain(), 11'578'496, {{1, 96'000}, {4, 49'600}, {8, 31'520}});
}

TEST_CASE("NASNet and AmoebaNet do not rise") {
  struct row {
    network net;
    std::size_t operators;
    bytes peak;
  };
  for (const row& r :
       {row{networks::nasnet_cifar_typed(), 781, 1'786'624}, row{networks::amoebanet_cifar_typed(), 743, 1'179'648}}) {
    CHECK(r.net.operations.size() == r.operators);
    options o;
    o.state_limit = 2'000;
    const fitted f = fit(r.net, automatic, {.exact = exactness::reals, .most_blocks = 1}, o);
    REQUIRE_FALSE(f.error);
    CHECK(f.before.peak == r.peak);
    CHECK(f.before.lower_bound == r.peak);
    CHECK(f.after.peak <= r.peak);
    CHECK(check_rewrite(r.net, f.net) == "");
    if (support::few_seeds) break;
  }
}

TEST_CASE("SERENITY's cell A") {
  const network net = networks::swiftnet_cell_a_typed();
  options no_reuse;
  no_reuse.in_place = false;
  const auto peak = [](const network& n, const options& o) {
    const auto r = schedule(n, automatic, o).value();
    CHECK(r.peak == r.lower_bound);
    return r.peak / 4;  // four bytes an element stand for one
  };
  CHECK(net.operations.size() == 22);
  CHECK(peak(net, no_reuse) == 250'880);
  const network parts = gather_all(net);
  CHECK(parts.operations.size() == 14);
  CHECK(peak(parts, no_reuse) == 175'616);
  const auto all = [&](sum_form form) {
    network n = parts;
    for (op_id i = 0; i < n.operations.size(); ++i)
      if (may_split_sum(n, i)) n = split_sum(n, i, form);
    CHECK(check_rewrite(net, n) == "");
    return n;
  };
  const network together = all(sum_form::together), pairs = all(sum_form::in_pairs), any = all(sum_form::any_order);
  CHECK(together.operations.size() == 37);
  CHECK(peak(together, no_reuse) == 225'792);  // published: 225.8 kB
  CHECK(pairs.operations.size() == 44);
  CHECK(peak(pairs, no_reuse) == 200'704);
  CHECK(peak(pairs, {}) == 175'616);
  CHECK(any.operations.size() == 45);
  CHECK(peak(any, {}) == 163'072);

  // Between operators: under `cbp`, what an operator frees does not count while it runs.
  options between = no_reuse;
  between.default_firing = firing::cbp;
  CHECK(peak(net, between) == 200'704);  // published: 200.7 kB
  CHECK(peak(together, between) == 200'704);
  network mixed = parts;  // the two concatenations of four accumulate as they go
  for (op_id i = 0; i < mixed.operations.size(); ++i)
    if (may_split_sum(mixed, i))
      mixed = split_sum(mixed, i, mixed.operations[i].reads[0].parts.size() == 4 ? sum_form::chain : sum_form::together);
  CHECK(check_rewrite(net, mixed) == "");
  CHECK(peak(mixed, between) == 188'160);  // published: 188.2 kB
}
