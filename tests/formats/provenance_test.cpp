// Rewritten networks as JSON: there and back, and damaged.
#include <catch2/catch.hpp>

#include <memsched/base/random.hpp>
#include <memsched/formats/provenance.hpp>
#include <memsched/network/builder.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/split_sums.hpp>
#include <memsched/rewrite/stream_inputs.hpp>
#include <memsched/rewrite/stripes.hpp>

using namespace memsched;
using json = nlohmann::ordered_json;

namespace {

network example() {
  network_builder b("example", element::int8, {0.05F, 3});
  tensor_id x = b.input({12, 6, 3});
  x = b.convolution(x, {.channels = 4, .kernel = 3, .stride = 2, .act = activation::relu6});
  const tensor_id left = b.depthwise(x, {.kernel = 3}), right = b.resize_bilinear(b.max_pooling(x, {.kernel = 2}), 6, 3);
  x = b.convolution(b.concat({left, right}), {.channels = 5, .kernel = 3, .act = activation::hard_swish});
  b.output(b.multiply(x, b.mean(x), activation::identity, true));
  return b.build().value();
}

std::vector<network> rewritten(const network& net) {
  const network parts = gather_all(net);
  network sums = parts;
  for (op_id i = 0; i < sums.operations.size(); ++i)
    if (may_split_sum(sums, i)) sums = split_sum(sums, i, sum_form::any_order);
  const network rows = split_reductions(cut(parts, row_cuts(parts, 4)).value(), sum_form::chain);
  return {net, sums, rows, stream_inputs(rows), stripes(net, {0, 4}, 2, runtime::whole).value()};
}

}  // namespace

TEST_CASE("a rewritten network is read as it was written") {
  const network net = example();
  for (const network& made : rewritten(net)) {
    REQUIRE(check_rewrite(net, made) == "");
    const json written = json::parse(write_provenance(made).dump());
    const auto back = read_provenance(written, net);
    INFO(back.error().message);
    REQUIRE(back);
    CHECK(write_provenance(*back) == written);
    CHECK(check_rewrite(net, *back) == "");
    CHECK(back->operations.size() == made.operations.size());
  }
}

TEST_CASE("what is no network is an error with its place") {
  const network net = example();
  const json right = write_provenance(net);
  const auto message = [&](auto&& change) {
    json bad = right;
    change(bad);
    const auto read = read_provenance(bad, net);
    return read ? std::string() : read.error().message;
  };
  CHECK(message([](json& j) { j = 3; }) == "network: must have tensors and operators");
  CHECK(message([](json& j) { j.erase("tensors"); }) == "network: must have tensors and operators");
  CHECK(message([](json& j) { j["tensors"][2] = 1; }) == "network.tensors[2]: must be an object");
  CHECK(message([](json& j) { j["tensors"][2].erase("part"); }) == "network.tensors[2]: has no part");
  CHECK(message([](json& j) { j["tensors"][2]["size"][1] = 0.5; }) == "network.tensors[2]: size must be a whole number");
  CHECK(message([](json& j) { j["tensors"][0]["element"] = "int9"; }) == "network.tensors[0]: element is unknown");
  CHECK(message([](json& j) { j["operators"][1]["kind"] = "conv"; }) == "network.operators[1]: kind is unknown: conv");
  CHECK(message([](json& j) { j["operators"][1]["weights"][0] = 99; }) ==
        "network.operators[1]: weights are not in the model");
  CHECK(message([](json& j) { j["operators"][1]["activation"] = 77; }) == "network.operators[1]: activation is unknown");
  CHECK(message([](json& j) {
          j["operators"][1]["reads"][0]["parts"][0][0] = 99;
        }).find("reads a tensor that does not exist") != std::string::npos);
}

TEST_CASE("damaged networks are refused, or what the checker lets pass is one") {
  const network net = example();
  base::random_source r(7);
  std::size_t refused = 0, judged = 0;
  for (const network& made : rewritten(net)) {
    const json right = write_provenance(made);
    for (int n = 0; n < 150; ++n) {
      json bad = right;
      for (json* at = &bad;;) {  // one number, somewhere
        if (at->is_number()) {
          const std::int64_t other[] = {-1, 0, 1, 2, 7, 1 << 20, std::int64_t{1} << 40};
          *at = other[r.below(7)];
          break;
        }
        if (!at->is_structured() || at->empty()) break;
        auto next = at->begin();
        std::advance(next, static_cast<std::ptrdiff_t>(r.below(at->size())));
        at = &*next;
      }
      const auto read = read_provenance(bad, net);
      if (!read) ++refused;
      else if (check_rewrite(net, *read) != "") ++judged;
    }
  }
  CHECK(refused > 50);
  CHECK(judged > 50);
}
