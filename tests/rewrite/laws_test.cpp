// Laws on random networks: every rule computes the same, the checker agrees, and refinement raises no optimum.
#include <catch2/catch.hpp>

#include <memsched/network/disagreement.hpp>
#include <memsched/rewrite/channel_slices.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/commute.hpp>
#include <memsched/rewrite/cut.hpp>
#include <memsched/rewrite/fold_pads.hpp>
#include <memsched/rewrite/gather.hpp>
#include <memsched/rewrite/kernel_wise.hpp>
#include <memsched/rewrite/rematerialize.hpp>
#include <memsched/rewrite/split_sums.hpp>
#include <memsched/rewrite/stream_inputs.hpp>
#include <memsched/schedule.hpp>

#include "checks.hpp"
#include "random_network.hpp"

#include "support/seeds.hpp"

using namespace memsched;
using memsched_tests::check_same;
using memsched_tests::random_network;

namespace {

/// Random cuts of tensors that may be cut, by rows and channels.
std::vector<cut_points> random_cuts(const network& net, base::random_source& r, bool channels) {
  std::vector<cut_points> cuts = row_cuts(net, 1000);
  for (tensor_id t = 0; t < cuts.size(); ++t) {
    const bool whole_tensor = r.chance(1, 4);
    std::erase_if(cuts[t].rows, [&](coordinate) { return whole_tensor || r.chance(1, 2); });
    if (channels && !row_cuts(net, 2)[t].none() && net.tensors[t].size.channels > 1 && r.chance(1, 3))
      cuts[t].channels = {1 +
                          static_cast<coordinate>(r.below(static_cast<std::uint64_t>(net.tensors[t].size.channels - 1)))};
  }
  return cuts;
}

}  // namespace

TEST_CASE("every rule computes what the network computes, and the checker agrees") {
  std::size_t folded = 0, gathered = 0, split = 0, copied = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(120); ++seed) {
    const element e = seed % 3 == 0 ? element::int8 : element::float32;
    const network net = random_network(seed, e);
    INFO("seed " << seed);
    check_same(net, net, exactness::bits);
    base::random_source r(seed);

    const network pads = fold_pads(net);
    folded += net.operations.size() - pads.operations.size();
    check_same(net, pads, exactness::bits);
    check_same(net, flatten_concats(net), exactness::bits);
    const network parts = gather_all(pads);
    gathered += pads.operations.size() - parts.operations.size();
    check_same(net, parts, exactness::bits);

    const network& from = seed % 2 == 0 ? parts : net;
    network blocks = cut(from, random_cuts(from, r, seed % 4 < 2)).value();
    check_same(net, blocks, exactness::bits);
    check_same(net, stream_inputs(blocks), exactness::bits);
    check_same(net, split_reductions(blocks, sum_form::chain), exactness::bits);  // rows in order: the same bits
    network again = blocks;
    for (int n = 0; n < 5; ++n)
      if (const auto i = static_cast<op_id>(r.below(again.operations.size())); may_rematerialize(again, uses(again), i))
        again = rematerialize(again, i), ++copied;
    check_same(net, again, exactness::bits);
    for (op_id i = 0; i < blocks.operations.size(); ++i)
      if (may_split_sum(blocks, i)) blocks = split_sum(blocks, i, static_cast<sum_form>(r.below(4))), ++split;
    check_same(net, blocks, exactness::reals);
    if (e == element::float32) CHECK(float_difference(net, blocks, 3) < 1e-4);
  }
  CHECK(folded > support::seeds(20));
  CHECK(gathered > support::seeds(20));
  CHECK(split > 50);
  CHECK(copied > support::seeds(50));
}

TEST_CASE("kernels by parts and channels by slices compute what the network computes") {
  std::size_t of_readers = 0, split = 0, in_place = 0, sliced = 0, commuted = 0, dense = 0;
  for (std::uint64_t seed = 200; seed < 340; ++seed) {
    const element e = seed % 3 == 0 ? element::int8 : element::float32;
    const network net = random_network(seed, e);
    INFO("seed " << seed);
    network parts = net;
    for (op_id i = 0; i < parts.operations.size(); ++i)
      if (may_split_readers(parts, uses(parts), i)) parts = split_readers(std::move(parts), i), ++of_readers;
    for (op_id i = 0; i < parts.operations.size(); ++i)
      if (may_split_kernels(parts, uses(parts), i)) parts = split_kernels(parts, i), ++split;
    for (const operation& op : parts.operations)
      if (op.overwrites != none && op.reads[0].size != parts.tensors[op.overwrites].size) ++in_place;
    check_same(net, parts, exactness::bits);
    base::random_source r(seed);
    check_same(net, cut(parts, random_cuts(parts, r, true)).value(), exactness::bits);

    for (op_id i = 0; i < net.operations.size(); ++i) {
      const auto between = expanded_by(net, uses(net), i);
      if (between.empty() || net.tensors[between[0]].size.channels < 2) continue;
      const window& w = net.operations[i].does.win;
      const bool point = w.kernel_rows == 1 && w.kernel_columns == 1;
      check_same(net, slice_channels(net, i, 2, sum_form::chain), point ? exactness::bits : exactness::reals);
      check_same(net, slice_channels(net, i, 3, sum_form::any_order), exactness::reals);
      ++sliced;
    }

    const network blocks = cut(net, row_cuts(net, 3)).value();
    const network sums = split_reductions(blocks, sum_form::chain);
    for (op_id i = 0; i < blocks.operations.size(); ++i)
      dense += blocks.operations[i].does.what == op_kind::dense && may_split_sum(blocks, i) ? 1 : 0;
    check_same(net, sums, exactness::bits);
    check_same(net, split_reductions(blocks, sum_form::any_order), exactness::reals);

    network early = net;
    bool any = false;
    for (op_id i = 0; i < early.operations.size(); ++i)
      if (may_commute(early, uses(early), i)) early = commute(std::move(early), i), any = true, ++commuted;
    if (!any || e == element::int8) continue;  // rounded numbers are blended
    check_same(net, early, exactness::reals);
    CHECK(float_difference(net, early, 3) < 1e-4);
    check_same(net, cut(early, random_cuts(early, r, false)).value(), exactness::reals);
  }
  CHECK(of_readers > 20);
  CHECK(split > 10);
  CHECK(in_place > 0);
  CHECK(sliced > 20);
  CHECK(commuted > 20);
  CHECK(dense > 20);
}

TEST_CASE("row blocks raise no optimum") {
  options o;
  o.state_limit = 20'000;
  std::size_t lower = 0, proved = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const network net = random_network(seed, element::float32);
    // Where an operator works in place, its input and result are cut alike.
    std::vector<cut_points> cuts = row_cuts(net, 3);
    const auto whole_net = schedule(net, automatic, o).value();
    const auto parts = schedule(cut(net, cuts).value(), automatic, o).value();
    INFO("seed " << seed);
    if (parts.peak != parts.lower_bound || whole_net.peak != whole_net.lower_bound) continue;
    ++proved;
    CHECK(parts.peak <= whole_net.peak);
    lower += parts.peak < whole_net.peak ? 1 : 0;
  }
  CHECK(proved > 30);
  CHECK(lower > 10);
}
