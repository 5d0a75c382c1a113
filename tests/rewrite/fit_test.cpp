// The search.
#include <algorithm>

#include <catch2/catch.hpp>

#include <networks/typed.hpp>

#include <memsched/measure/evaluate.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/rewrite/check_rewrite.hpp>
#include <memsched/rewrite/edit.hpp>
#include <memsched/rewrite/fit.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>

#include <support/seeds.hpp>
#include <support/weighed.hpp>

#include "random_network.hpp"

using namespace memsched;
using memsched_tests::random_network;

namespace {

void check_answer(const network& net, const fitted& r) {
  REQUIRE_FALSE(r.error);
  CHECK(check_rewrite(net, r.net) == "");
  CHECK(disagreement(net, r.net) == "");
  CHECK(r.after.peak <= r.before.peak);
  const auto low = lower(r.net).value();
  const auto cost = evaluate(low.problem, r.order);
  CHECK(cost.value().peak == r.after.peak);
  const network given = r.given_order.size() > net.operations.size() ? stream_inputs(net) : net;
  CHECK(evaluate(lower(given).value().problem, r.given_order).value().peak == r.before.peak);
  CHECK(r.after.lower_bound <= r.after.peak);
  CHECK(r.after.operators == r.net.operations.size());
  CHECK(r.after.macs == macs(r.net));
  for (std::size_t i = 1; i < r.front.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(r.front[j].peak <= r.front[i].peak);
      CHECK((r.front[j].operators > r.front[i].operators || r.front[j].macs > r.front[i].macs));
    }
  CHECK(r.front.front().peak <= r.after.peak);
}

}  // namespace

TEST_CASE("what fit answers computes the same in no more memory") {
  options o;
  o.state_limit = 2'000;
  std::size_t lower_peaks = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(12); ++seed) {
    INFO("seed " << seed);
    const network net = random_network(seed, seed % 2 == 0 ? element::float32 : element::int8);
    const fitted free = fit(net, automatic, {}, o);
    check_answer(net, free);
    lower_peaks += free.after.peak < free.before.peak ? 1 : 0;
    const bytes budget = (free.before.peak + free.after.peak) / 2;
    const fitted within = fit(net, automatic, {.budget = budget}, o);
    check_answer(net, within);
    if (within.fits({.budget = budget})) CHECK(within.after.peak <= budget);
  }
  CHECK(2 * lower_peaks > support::seeds(12));
}

TEST_CASE("a budget is met with few operators") {
  const network net = networks::mcunet_v2_chain();
  options o;
  o.state_limit = 20'000;
  const fit_options f{.budget = 32'768, .streamed_input = true};
  const fitted r = fit(net, automatic, f, o);
  check_answer(net, r);
  CHECK(r.fits(f));
  CHECK(r.after.macs == 11'578'496);
  CHECK(r.after.operators < 277);  // those of 8 blocks a tensor, which meet it too
}

TEST_CASE("an enlarged image is made again for its second reader, which the mean of the whole keeps waiting") {
  network_builder b("excite");
  const tensor_id x = b.input({8, 8, 4});
  const tensor_id large = b.resize_nearest(x, 64, 64);
  const tensor_id scale = b.unary(b.mean(large), activation::logistic);
  b.output(b.mean(b.multiply(large, scale)));
  const network net = b.build().value();
  options o;
  o.state_limit = 2'000;
  const fitted r = fit(net, automatic, {}, o);
  check_answer(net, r);
  CHECK(std::any_of(r.steps.begin(), r.steps.end(),
                    [](const fit_step& s) { return s.kept && s.rule == "one copy for each reader"; }));
  CHECK(r.after.peak < bytes{64} * 64 * 4 * 4 / 4);  // of the enlarged image
}

TEST_CASE("a budget that no cut meets is said to be missed") {
  const network net = random_network(1, element::float32);
  options o;
  o.state_limit = 500;
  const fit_options f{.budget = 8};
  const fitted r = fit(net, automatic, f, o);
  check_answer(net, r);
  CHECK_FALSE(r.fits(f));
}

TEST_CASE("multiply-accumulates are spent where they may be, and no more") {
  const network net = networks::mcunet_v2_chain();
  options o;
  o.state_limit = 2'000;
  for (const runtime profile : {runtime::parts, runtime::whole}) {
    bytes before = no_limit;
    for (const unsigned percent : {0U, 10U, 60U}) {
      const fit_options f{.budget = 40'000, .max_extra_macs = macs(net) * percent / 100, .profile = profile};
      const fitted r = fit(net, automatic, f, o);
      check_answer(net, r);
      CHECK(r.after.macs <= macs(net) + f.max_extra_macs);
      if (profile == runtime::whole) {
        CHECK(not_whole(r.net) == "");
        CHECK(r.after.peak <= before);
        before = r.after.peak;
      }
    }
    if (profile == runtime::whole) CHECK(before < 80'000);
  }
}

TEST_CASE("what is for whole operators is of whole operators") {
  options o;
  o.state_limit = 1'000;
  std::size_t lower_peaks = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(12); ++seed) {
    INFO("seed " << seed);
    const network net = random_network(seed, seed % 2 == 0 ? element::float32 : element::int8);
    const exactness exact = seed % 4 == 0 ? exactness::reals : exactness::bits;
    const fitted r = fit(net, automatic, {.max_extra_macs = macs(net) / 2, .profile = runtime::whole, .exact = exact}, o);
    if (r.error) {
      CHECK(not_whole(net) != "");
      continue;
    }
    CHECK(not_whole(r.net) == "");
    CHECK(check_rewrite(net, r.net) == "");
    CHECK(disagreement(net, r.net, 1, exact) == "");
    CHECK(r.after.macs <= macs(net) + macs(net) / 2);
    lower_peaks += r.after.peak < r.before.peak ? 1 : 0;
  }
  CHECK(4 * lower_peaks > support::seeds(12));
  const network net = networks::mcunet_v2_chain();
  const fitted r = fit(net, automatic, {.profile = runtime::whole, .streamed_input = true}, o);
  REQUIRE(r.error);
  CHECK(r.error->message.find("nothing for whole operators") != std::string::npos);
}

TEST_CASE("sums of integers stay whole where they must") {
  network_builder b("inverted bottleneck", element::int8, quantization{0.05F, 7});
  const tensor_id wide = b.convolution(b.input({8, 8, 4}), {.channels = 64});
  b.output(b.convolution(b.depthwise(wide, {.kernel = 3}), {.channels = 4}));
  const auto built = b.build();
  REQUIRE(built);
  const network net = weighed(*built);
  const fit_options whole_tensors{.most_blocks = 1};
  fit_options whole_sums = whole_tensors;
  whole_sums.whole_integer_sums = true;
  const fitted in_parts = fit(net, automatic, whole_tensors, {}), in_whole = fit(net, automatic, whole_sums, {});
  check_answer(net, in_parts);
  check_answer(net, in_whole);
  CHECK(splits_integer_sum(in_parts.net));
  CHECK(!splits_integer_sum(in_whole.net));
  CHECK(in_parts.after.peak < in_whole.after.peak);
}

TEST_CASE("a network that is none is an error") {
  network net = random_network(1, element::float32);
  net.operations[0].reads[0].parts[0].tensor = 1000;
  const fitted r = fit(net, automatic);
  REQUIRE(r.error);
  CHECK(r.error->message.find("reads a tensor that does not exist") != std::string::npos);
}

TEST_CASE("rounds at the end know the bound of the best network, and keep it") {
  unsigned told = 0;
  const auto forgetful = [&told](const schedule_graph& g, search& context) {
    solution s = as_given{}(g, context);
    if (context.asked().target == 0) s.lower_bound = 1;
    else ++told;
    return s;
  };
  options o;
  o.time_limit = std::chrono::minutes(1);
  const fitted r = fit(random_network(2, element::float32), forgetful, {}, o);
  REQUIRE_FALSE(r.error);
  CHECK(told > 1);
  CHECK(r.after.lower_bound == 1);
}

TEST_CASE("time that is out ends the search with what there is") {
  const network net = networks::mobilenet_v2_chain();
  options o;
  o.time_limit = std::chrono::milliseconds(1);
  const fitted r = fit(net, automatic, {}, o);
  REQUIRE_FALSE(r.error);
  CHECK(r.stopped == stop_reason::time_limit);
  CHECK(check_rewrite(net, r.net) == "");
}

namespace {

/// A form in which a network stands as it is, but that each tensor takes twice the room.
result<written_network> doubled(const network& net, std::span<const op_id> order) {
  const auto low = lower(reordered(net, {order.begin(), order.end()}));
  if (!low) return low.error();
  problem_draft d = low->problem.draft();
  for (problem_draft::tensor_data& t : d.tensors) t.size *= 2;
  written_network w{make_problem(d).value(), {}};
  for (std::size_t i = 0; i < order.size(); ++i) w.part_of.push_back(i);
  return w;
}

}  // namespace

TEST_CASE("where a form is asked for, costs are those of the form") {
  options o;
  o.state_limit = 2'000;
  std::size_t lower_peaks = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(8); ++seed)
    for (const runtime profile : {runtime::parts, runtime::whole}) {
      INFO("seed " << seed << ", " << to_string(profile));
      const network net = random_network(seed, seed % 2 == 0 ? element::float32 : element::int8);
      const fit_options plain{.max_extra_macs = macs(net) / 5, .profile = profile};
      fit_options formed = plain;
      formed.form = doubled;
      const fitted r = fit(net, automatic, formed, o);
      REQUIRE_FALSE(r.error);
      CHECK(check_rewrite(net, r.net) == "");
      CHECK(r.before.peak == fit(net, automatic, plain, o).before.peak);
      const written_network w = doubled(r.net, r.order).value();
      CHECK(evaluate(w.graph, r.form_order).value().peak == r.after.peak);
      CHECK(r.after.peak <= 2 * r.before.peak);
      CHECK(r.after.lower_bound <= r.after.peak);
      lower_peaks += r.after.peak < 2 * r.before.peak;
    }
  CHECK(2 * lower_peaks > support::seeds(8));
}

TEST_CASE("what has no such form is not an answer; a given network without one is an error, before the search") {
  const network net = random_network(1, element::int8);
  const auto of_at_most = [](std::size_t operators) -> network_form {
    return [operators](const network& n, std::span<const op_id> order) -> result<written_network> {
      if (n.operations.size() > operators) return graph_error{error_code::bad_input, "too many operators", {}, {}};
      return doubled(n, order);
    };
  };
  const fitted none_larger = fit(net, automatic, {.form = of_at_most(net.operations.size())}, {.state_limit = 2'000});
  REQUIRE_FALSE(none_larger.error);
  CHECK(none_larger.net.operations.size() <= net.operations.size());
  const fitted none_at_all = fit(net, automatic, {.form = of_at_most(1)}, {.state_limit = 2'000});
  REQUIRE(none_at_all.error);
  CHECK(none_at_all.error->message == "too many operators");
  CHECK(none_at_all.steps.empty());
}
