// Operators that run other graphs: what the caller counts, against the same order with the callee inlined.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include <memsched/measure/evaluate.hpp>
#include <memsched/schedule.hpp>

#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

/// A function: a problem, its parameters, and the results that it makes. Parameters and results live to its end.
struct function {
  problem body;
  std::vector<tensor_id> parameters, results;
  schedule_result<op_id> best;

  bytes in() const { return sum(parameters); }
  bytes out() const { return sum(results); }
  bytes sum(const std::vector<tensor_id>& list) const {
    return std::accumulate(list.begin(), list.end(), bytes{0}, [&](bytes b, tensor_id t) { return b + body.size(t); });
  }
};

function random_function(std::uint64_t seed) {
  support::random r(seed);
  problem_draft d = support::random_draft(seed, {.operators = 4, .percent_alias = 0});
  if (r.chance(50)) {  // a parameter that no operator reads
    d.graph_inputs.push_back(static_cast<tensor_id>(d.tensors.size()));
    d.tensors.push_back({.size = r.below(30)});
    d.tensor_names.emplace_back();
  }
  std::vector<tensor_id> results;
  for (op_id op = 0; op < d.operators.size(); ++op)
    for (tensor_id t : d.writes[op])
      if (r.chance(30)) results.push_back(t);
  d.graph_outputs = d.graph_inputs;
  d.graph_outputs.insert(d.graph_outputs.end(), results.begin(), results.end());
  const auto parameters = d.graph_inputs;
  problem body = make_problem(std::move(d)).value();
  auto best = schedule(body).value();
  return {std::move(body), parameters, results, std::move(best)};
}

/// A caller: operators of its own around one call, in the order in which they are listed.
struct caller {
  problem_builder b;
  std::vector<tensor_id> tensors;
};
void add_operators(caller& c, support::random& r, std::uint32_t count) {
  for (; count > 0; --count) {
    operator_spec spec{.workspace = r.below(20)};
    for (std::uint32_t i = r.below(3); i > 0 && !c.tensors.empty(); --i)
      spec.reads.push_back(c.tensors[r.below(static_cast<std::uint32_t>(c.tensors.size()))]);
    spec.writes.push_back(c.b.tensor(r.below(30)));
    c.b.op(spec);
    c.tensors.push_back(spec.writes[0]);
  }
}

enum class form { call, inlined, inlined_and_kept };  // kept: an operator that takes nothing reads arguments and results

/// The peak of the listed order of a random caller of f, in one of the three forms.
bytes peak_of(const function& f, std::uint64_t seed, form how) {
  support::random r(seed + 77);
  caller c;
  c.tensors = {c.b.input(r.below(30)), c.b.input(r.below(30))};
  add_operators(c, r, 1 + r.below(3));
  std::vector<tensor_id> arguments, results;
  for (tensor_id t : f.parameters) {
    arguments.push_back(c.b.tensor(f.body.size(t)));
    c.b.op({.writes = {arguments.back()}});
  }
  std::vector<tensor_id> name(f.body.tensors().size(), none);
  for (std::size_t i = 0; i < arguments.size(); ++i) name[f.parameters[i]] = arguments[i];
  const auto own = [&](tensor_id t) { return name[t] == none ? name[t] = c.b.tensor(f.body.size(t)) : name[t]; };
  for (tensor_id t : f.results) results.push_back(own(t));
  if (how == form::call) {
    c.b.op({.reads = arguments,
            .writes = results,
            .workspace = workspace_of(f.best, f.in(), f.out()).value(),
            .rule = firing::pbc});
  } else {
    for (op_id op : f.best.order) {
      operator_spec spec{.workspace = f.body.workspace(op), .rule = f.body.firing(op)};
      for (tensor_id t : f.body.inputs(op)) spec.reads.push_back(own(t));
      for (tensor_id t : f.body.outputs(op)) spec.writes.push_back(own(t));
      if (const int at = f.body.overwrites(op); at >= 0) {
        const tensor_id old = f.body.inputs(op)[static_cast<std::size_t>(at)];
        if (!f.body.live_out(old)) spec.overwrites = own(old);  // the callee keeps parameters and results
      }
      c.b.op(spec);
    }
    if (how == form::inlined_and_kept) {
      operator_spec end{.reads = arguments, .rule = firing::pbc};
      end.reads.insert(end.reads.end(), results.begin(), results.end());
      c.b.op(end);
    }
  }
  c.tensors.insert(c.tensors.end(), results.begin(), results.end());
  c.tensors.insert(c.tensors.end(), arguments.begin(), arguments.end());
  add_operators(c, r, 1 + r.below(4));
  for (tensor_id t : c.tensors)
    if (r.chance(15)) c.b.output(t);
  const problem p = c.b.build().value();
  std::vector<op_id> order(p.ops().begin(), p.ops().end());
  return evaluate(p, order).value().peak;
}

}  // namespace

TEST_CASE("a call counts as its callee inlined, exactly where arguments outlive the call, and never less") {
  std::size_t above = 0, matters = 0;
  for (std::uint64_t seed = 0; seed < support::seeds(2000); ++seed) {
    const function f = random_function(seed % 200);
    const bytes called = peak_of(f, seed, form::call);
    REQUIRE(called == peak_of(f, seed, form::inlined_and_kept));
    const bytes inlined = peak_of(f, seed, form::inlined);
    REQUIRE(called >= inlined);
    above += called > inlined;
    matters += workspace_of(f.best, f.in(), f.out()).value() > 0;
  }
  REQUIRE(above > 100);
  REQUIRE(above < 1900);
  REQUIRE(matters > support::seeds(500));
}

TEST_CASE("a callee that frees its parameters would make the caller count too little") {
  // x of 100 -> 10 -> 300 -> 10: without x at the end the inner peak is 310, and x lives on in the caller.
  const auto callee = [](bool kept) {
    problem_builder b;
    const auto x = b.input(100), small = b.tensor(10), large = b.tensor(300), y = b.tensor(10);
    b.op({.reads = {x}, .writes = {small}});
    b.op({.reads = {small}, .writes = {large}});
    b.op({.reads = {large}, .writes = {y}});
    b.output(y);
    if (kept) b.output(x);
    return schedule(b.build().value()).value();
  };
  REQUIRE(workspace_of(callee(true), 100, 10) == 300U);  // 100 + 10 + 300 are live
  REQUIRE(workspace_of(callee(false), 100, 10) == 200U);
}

TEST_CASE("no workspace of a callee that is an error, none below zero") {
  schedule_result<op_id> failed;
  failed.error = graph_error{error_code::cycle, "a cycle", {}, {}};
  REQUIRE_FALSE(workspace_of(failed, 1, 1));
  schedule_result<op_id> small;
  small.peak = 5;
  REQUIRE(workspace_of(small, 4, 4) == 0U);
  struct calls_failed {
    std::vector<int> ops() const { return {0}; }
    std::vector<int> inputs(int) const { return {}; }
    std::vector<int> outputs(int) const { return {0}; }
    int size(int) const { return 1; }
    std::optional<bytes> workspace(int) const { return std::nullopt; }
  };
  REQUIRE(schedule(calls_failed{}).error->message == "the workspace of operator 0 is unknown");
}
