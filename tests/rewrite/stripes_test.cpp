// R6, stripes with overlaps.
#include <catch2/catch.hpp>

#include <memsched/network/disagreement.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/stripes.hpp>
#include <memsched/schedule.hpp>

#include "checks.hpp"
#include "random_network.hpp"

#include "support/seeds.hpp"

using namespace memsched;
using memsched_tests::named;
using memsched_tests::random_network;

namespace {

/// Three convolutions of 3 x 3 in a row, and a skip around the second.
network stem() {
  network_builder b("stem");
  tensor_id x = b.input({16, 6, 2});
  x = b.convolution(x, {.channels = 6, .kernel = 3, .act = activation::relu, .name = "first"});
  const tensor_id y = b.convolution(x, {.channels = 6, .kernel = 3, .name = "second"});
  x = b.convolution(b.add(x, y), {.channels = 2, .kernel = 3, .stride = 2, .name = "third"});
  b.output(x);
  return b.build().value();
}

network striped(const network& net, const region& r, coordinate n, runtime profile = runtime::parts) {
  REQUIRE(may_stripe(net, r, n));
  return stripes(net, r, n, profile).value();
}

}  // namespace

TEST_CASE("a stem in stripes needs less memory and more products, and computes the same") {
  const network net = stem();
  const region all{0, 4};
  const auto before = schedule(net).value();
  for (const runtime profile : {runtime::parts, runtime::whole}) {
    const network two = striped(net, all, 2, profile);
    CHECK(check_rewrite(net, two) == "");
    CHECK(disagreement(net, two) == "");
    CHECK(schedule(two).value().peak < before.peak);
    CHECK(macs(two) > macs(net));
  }
  // Rows [0, 4) and [4, 8) of the third read [0, 9) and [8, 16); the second reads one more on each side.
  const network two = striped(net, all, 2);
  CHECK(two.tensors[two.operations[named(two, "first/0")].writes[0].parts[0].tensor].part.rows == interval{0, 10});
  CHECK(two.tensors[two.operations[named(two, "first/1")].writes[0].parts[0].tensor].part.rows == interval{7, 16});
}

TEST_CASE("what others see is made once") {
  const network net = stem();
  const network two = striped(net, {0, 2}, 2);  // `add` reads both from outside
  CHECK(macs(two) == macs(net));
  CHECK(check_rewrite(net, two) == "");
  CHECK(disagreement(net, two) == "");
}

TEST_CASE("a region stays whole where it may not be cut") {
  network_builder b("region");
  const tensor_id x = b.input({8, 4, 2}), y = b.convolution(x, {.channels = 4, .kernel = 3});
  const tensor_id m = b.mean(y), z = b.multiply(y, m);
  b.output(b.reshape(z, {1, 1, 128}));
  network net = b.build().value();
  CHECK(may_stripe(net, {0, 1}, 2));
  CHECK_FALSE(may_stripe(net, {0, 1}, 9));  // more stripes than rows
  CHECK_FALSE(may_stripe(net, {0, 2}, 2));  // a mean over the image needs all rows
  CHECK_FALSE(may_stripe(net, {2, 3}, 2));  // a view names the product's storage
  CHECK_FALSE(may_stripe(net, {1, 1}, 2));
  CHECK_FALSE(may_stripe(net, {0, 9}, 2));
  net.operations[2].after = {0};
  CHECK_FALSE(may_stripe(net, {0, 1}, 2));  // another operator waits for it
  CHECK_FALSE(may_stripe(net, {2, 3}, 2));  // it waits for another
}

TEST_CASE("regions of random networks in stripes compute the same, for both runtimes") {
  std::size_t striped_ones = 0, more = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(150); ++seed) {
    const network net = random_network(seed, seed % 3 == 0 ? element::int8 : element::float32);
    base::random_source r(seed);
    for (int tries = 0; tries < 6; ++tries) {
      const auto first = static_cast<op_id>(r.below(net.operations.size()));
      const auto last = static_cast<op_id>(first + 1 + r.below(net.operations.size() - first));
      const auto n = static_cast<coordinate>(2 + r.below(3));
      if (!may_stripe(net, {first, last}, n)) continue;
      for (const runtime profile : {runtime::parts, runtime::whole}) {
        INFO("seed " << seed << ", operators " << first << " to " << last << ", " << n << ", " << to_string(profile));
        const auto made = stripes(net, {first, last}, n, profile);
        if (!made) {
          CHECK(profile == runtime::whole);
          CHECK(made.error().message.find("nothing but pad") != std::string::npos);
          continue;
        }
        CHECK(check_network(*made).message == "");
        CHECK(check_rewrite(net, *made) == "");
        CHECK(disagreement(net, *made) == "");
        if (profile == runtime::whole) CHECK(not_whole(*made) == "");
        ++striped_ones, more += macs(*made) > macs(net) ? 1 : 0;
      }
    }
  }
  CHECK(striped_ones > 150);
  CHECK(more > support::seeds(40));
}

TEST_CASE("faults in stripes are found by the checker and over the field") {
  const network net = stem();
  const auto found = [&](const network& bad) {
    CHECK(check_rewrite(net, bad) != "");
    CHECK(disagreement_over(net, bad, field_numbers{}) != "");
  };
  network bad = striped(net, {0, 4}, 2);
  bad.operations[named(bad, "second/1")].reads[0].parts[0].row -= 1;  // read a row above its place
  found(bad);
  bad = striped(net, {0, 4}, 2);
  bad.operations[named(bad, "second/0")].does.win.pad_rows = 0;  // the window is off by one
  found(bad);
  bad = striped(net, {0, 4}, 2);  // a stripe without its halo
  operation& op = bad.operations[named(bad, "first/0")];
  typed_tensor& t = bad.tensors[op.writes[0].parts[0].tensor];
  t.part.rows.last -= 1, t.size.rows -= 1;
  found(bad);

  bad = striped(net, {0, 4}, 2, runtime::whole);
  for (operation& copy : bad.operations)
    if (copy.origin == none && copy.name.rfind("slice", 0) == 0) copy.writes[0].parts[0].row -= 1;  // a slice of other rows
  found(bad);
  bad = striped(net, {0, 4}, 2, runtime::whole);
  image& joined = bad.operations.back().reads[0];
  std::swap(joined.parts[0].row, joined.parts[1].row);  // blocks in the wrong order
  found(bad);
}
