// Orders in waves.
#include <catch2/catch.hpp>

#include <networks/typed.hpp>

#include <memsched/graph/lower.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/stream_inputs.hpp>
#include <memsched/rewrite/waves.hpp>

#include "random_network.hpp"

using namespace memsched;
using memsched_tests::random_network;

TEST_CASE("an order in waves can run, has the peak that it says, and keeps what was found") {
  std::size_t fell = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    network net = random_network(seed, element::float32);
    net = cut(net, row_cuts(net, 100)).value();
    if (seed % 2 == 0) net = stream_inputs(std::move(net));
    const problem p = lower(net).value().problem;
    wave_delays none_yet, delays;
    const wave_order first = order_in_waves(net, p, {}, none_yet, 1), best = order_in_waves(net, p, {}, delays, 100);
    for (const wave_order& w : {first, best}) CHECK(evaluate(p, w.order).value().peak == w.peak);
    CHECK(best.peak <= first.peak);
    fell += best.peak < first.peak ? 1 : 0;
    wave_delays same = delays;
    CHECK(order_in_waves(net, p, {}, same, 1).order == best.order);
    CHECK(order_in_waves(net, p, {}, none_yet, 100, first.peak).peak <= first.peak);  // the budget holds at once
  }
  CHECK(fell > 5);
}

TEST_CASE("waves come near the least peak of a chain in single rows") {
  const network net = networks::mcunet_v2_chain();
  const network rows = stream_inputs(cut(net, row_cuts(net, 100)).value());
  const problem p = lower(rows).value().problem;
  wave_delays delays;
  CHECK(order_in_waves(rows, p, {}, delays, 1).peak == 31'520);      // each row as deep as it goes at once
  CHECK(order_in_waves(rows, p, {}, delays, 1'000).peak <= 14'000);  // the least is 13,440
}
