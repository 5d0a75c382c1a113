// Tensors that no operator touches: arguments that are passed through or unused.
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <memsched/certify/certify.hpp>
#include <memsched/graph/overlay.hpp>
#include <memsched/plan.hpp>
#include <memsched/proof/check_certificate.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// A problem as another library would hold it: tensors are addresses, and are numbered otherwise than the problem's.
struct foreign {
  using handle = const int*;
  const problem& p;
  std::vector<int> ids{};
  explicit foreign(const problem& of) : p(of) {
    for (tensor_id t : p.tensors()) ids.push_back(static_cast<int>(t));
  }

  handle at(tensor_id t) const { return &ids[t]; }
  std::vector<handle> list(std::span<const tensor_id> tensors) const {
    std::vector<handle> all;
    for (tensor_id t : tensors) all.push_back(at(t));
    return all;
  }
  base::index_range ops() const { return p.ops(); }
  std::vector<handle> inputs(op_id op) const { return list(p.inputs(op)); }
  std::vector<handle> outputs(op_id op) const { return list(p.outputs(op)); }
  std::span<const op_id> after(op_id op) const { return p.after(op); }
  bytes size(handle t) const { return p.size(static_cast<tensor_id>(*t)); }
  bytes workspace(op_id op) const { return p.workspace(op); }
  std::optional<memsched::firing> firing(op_id op) const { return p.firing(op); }
  int overwrites(op_id op) const { return p.overwrites(op); }
  bool live_out(handle t) const { return p.live_out(static_cast<tensor_id>(*t)); }
  handle alias_of(handle t) const { return at(p.alias_of(static_cast<tensor_id>(*t))); }
};

/// The same with the hook: all graph inputs, the last first.
struct with_hook : foreign {
  using foreign::foreign;
  std::vector<handle> tensors() const {
    auto all = list(p.draft().graph_inputs);
    return {all.rbegin(), all.rend()};
  }
};

/// A random problem with further graph inputs, some of which are read, outputs, both or neither.
problem with_arguments(std::uint64_t seed) {
  support::random r(seed + 1000);
  problem_draft d = support::random_draft(seed, {.operators = 6});
  for (std::uint32_t i = 1 + r.below(3); i > 0; --i) {
    const auto t = static_cast<tensor_id>(d.tensors.size());
    d.tensors.push_back({.size = r.below(40)});
    d.tensor_names.emplace_back();
    d.graph_inputs.push_back(t);
    if (r.chance(50)) d.graph_outputs.push_back(t);
  }
  return make_problem(std::move(d)).value();
}

/// A function that returns its argument of 1,000 bytes beside a value of 4 that it makes; another argument is unused.
struct pass_through {
  std::vector<int> ops() const { return {0}; }
  std::vector<int> inputs(int) const { return {}; }
  std::vector<int> outputs(int) const { return {0}; }
  int size(int t) const { return t == 0 ? 4 : t == 1 ? 1000 : 70; }
  bool live_out(int t) const { return t != 2; }
};
struct pass_through_listed : pass_through {
  std::vector<int> tensors() const { return {1, 2}; }
};

}  // namespace

TEST_CASE("an argument that is passed through counts, one that is unused does not, as in problem_builder") {
  problem_builder b;
  const auto made = b.tensor(4), passed = b.input(1000);
  b.input(70);
  b.op({.writes = {made}});
  b.output(made), b.output(passed);
  const problem built = b.build().value();
  REQUIRE(schedule(built).peak == 1004);
  static_assert(hooks<pass_through_listed>.tensors && hooks<problem>.tensors && !hooks<pass_through>.tensors);
  const auto r = schedule(pass_through_listed{}).value();
  REQUIRE(r.peak == 1004);
  REQUIRE(r.lower_bound == 1004);
  REQUIRE(schedule(pass_through{}).peak == 4);  // without the hook it is unknown
  REQUIRE(schedule(with_tensors(pass_through{}, std::vector<int>{1, 2})).peak == 1004);
  REQUIRE(schedule(with_tensors(pass_through{}, [] { return std::vector<int>{2, 1, 0}; })).peak == 1004);
  REQUIRE(schedule(with_workspace(pass_through_listed{}, [](int) { return 5; })).peak == 1009);  // passed on
  REQUIRE(schedule(with_tensors(pass_through_listed{}, std::vector<int>{})).peak == 4);
  REQUIRE(tensors_of(pass_through_listed{}) == std::vector<int>{0, 1, 2});
  const auto arena = plan(pass_through_listed{}, r.order);
  REQUIRE(arena.arena.size == 1004);
  REQUIRE(arena.offset.contains(1));
  REQUIRE_FALSE(arena.offset.contains(2));
}

TEST_CASE("a graph without operators that returns its argument") {
  struct identity : pass_through_listed {
    std::vector<int> ops() const { return {}; }
  };
  REQUIRE(schedule(identity{}).value().peak == 1000);
  REQUIRE(lower(identity{}).value().problem.live_at_start() == 1000);
}

TEST_CASE("a problem lowers to an equal one, with the tensors that no operator touches") {
  for (std::uint64_t seed = 0; seed < support::seeds(100); ++seed) {
    const problem p = with_arguments(seed);
    const problem q = lower(p).value().problem;
    REQUIRE(q.tensors().size() == p.tensors().size());
    REQUIRE(q.live_at_start() == p.live_at_start());
    REQUIRE(q.graph_outputs().size() == std::set<tensor_id>(p.graph_outputs().begin(), p.graph_outputs().end()).size());
  }
}

TEST_CASE("random graphs with such arguments: traits and builder agree on costs, bounds, arenas and certificates") {
  std::size_t unknown = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    const problem p = with_arguments(seed);
    const with_hook g(p);
    const auto low = lower(g).value();
    const auto best = schedule(p).value();
    const evaluation built = evaluate(p, best.order).value(), seen = evaluate(low.problem, best.order).value();
    REQUIRE(seen.peak == built.peak);
    REQUIRE(seen.during == built.during);
    const auto same = schedule(g, {.certify = certify}).value();
    REQUIRE(same.peak == best.peak);
    REQUIRE(same.lower_bound == best.lower_bound);
    REQUIRE(same.certificate);
    REQUIRE(check_certificate(make_schedule_graph(low.problem, {}), *same.certificate) == "");
    REQUIRE(same.certificate->bound == best.lower_bound);
    const auto arena = plan(p, best.order);
    const auto other = plan(g, best.order);
    REQUIRE(other.arena.size == arena.arena.size);
    for (tensor_id t : p.tensors()) REQUIRE(other.offset.contains(g.at(t)) == arena.offset.contains(t));
    unknown += schedule(foreign(p)).value().peak != best.peak;
  }
  REQUIRE(unknown > support::seeds(100));
}
