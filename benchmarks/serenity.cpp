// The tables of SERENITY (Ahn et al.: Ordering Chaos, MLSys 2020), published values beside ours.
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <memsched/passes/compress.hpp>
#include <memsched/passes/divide.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/as_given.hpp>
#include <memsched/schedulers/dp.hpp>
#include <memsched/schedulers/kahn.hpp>
#include <memsched/schedulers/rpo.hpp>
#include <memsched/schedulers/serenity.hpp>
#include <networks/networks.hpp>

using namespace memsched;

namespace {

constexpr index_t first_cell = 2;            // after two stems
constexpr std::chrono::seconds longest(60);  // of one run
constexpr std::chrono::seconds brief(12);    // of a run on a graph with far too many signatures, to see how far it comes

problem network(const std::string& name) { return make_problem(networks::make(name).value()).value(); }

/// The operators of one scope, with what flows in and out as graph inputs and outputs.
problem cell_of(const std::string& name, index_t scope) {
  const problem_draft whole = networks::make(name).value();
  problem_builder b;
  std::vector<tensor_id> local(whole.tensors.size(), none);
  std::vector<bool> inside(whole.tensors.size(), false), outside(whole.tensors.size(), false);
  const auto in_cell = [&](op_id op) { return whole.operators[op].scope == scope; };
  for (op_id op = 0; op < whole.operators.size(); ++op) {
    for (tensor_id t : whole.writes[op]) inside[t] = in_cell(op);
    for (tensor_id t : whole.reads[op]) outside[t] = outside[t] || !in_cell(op);
  }
  for (tensor_id t : whole.graph_outputs) outside[t] = true;
  const auto tensor = [&](tensor_id t) {
    if (local[t] != none) return local[t];
    local[t] = inside[t] ? b.tensor(whole.tensors[t].size) : b.input(whole.tensors[t].size);
    if (inside[t] && outside[t]) b.output(local[t]);
    return local[t];
  };
  for (op_id op = 0; op < whole.operators.size(); ++op) {
    if (!in_cell(op)) continue;
    operator_spec spec;
    for (tensor_id t : whole.reads[op]) spec.reads.push_back(tensor(t));
    for (tensor_id t : whole.writes[op]) spec.writes.push_back(tensor(t));
    b.op(spec);
  }
  return b.build().value();
}

struct run {
  schedule_result<op_id> result;
  double seconds;
};

template <scheduler S>
run measure(const problem& p, const S& policy, std::chrono::seconds limit = longest) {
  options o;
  o.in_place = false;  // the paper counts no output over its input
  o.time_limit = limit;
  o.memory_limit = 4_GiB;
  const auto start = std::chrono::steady_clock::now();
  auto r = schedule(p, policy, o);
  return {std::move(r), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

/// "9.912 s", or where a limit stopped it.
std::string time_of(const run& r) {
  char text[64];
  if (r.result.stopped == stop_reason::finished) std::snprintf(text, sizeof text, "%.3f s", r.seconds);
  else
    std::snprintf(text, sizeof text, "not finished at %.0f s, %s", r.seconds,
                  r.result.stopped == stop_reason::state_limit ? "4 GiB" : "its limit");
  return text;
}

std::string parts_of(const problem& p) {
  const schedule_graph g = make_schedule_graph(p, {.default_firing = firing::pbc, .in_place = false});
  std::string text = std::to_string(p.ops().size()) + "={";
  bool first = true;
  for (const auto& part : detail::division::parts(g)) {
    std::size_t operators = 0;
    for (node_id v : part) operators += !g.is_release(v);
    text += (first ? "" : ",") + std::to_string(operators);
    first = false;
  }
  return text + "}";
}

void print_run(const char* what, const run& r, const char* published) {
  std::printf("  %-34s %12llu states %8.1f MiB  %-31s %s\n", what, static_cast<unsigned long long>(r.result.stats.states),
              static_cast<double>(r.result.stats.memory) / 1048576.0, time_of(r).c_str(), published);
}

void table_2() {
  std::printf(
      "Table 2: SwiftNet without graph rewriting. 1 dp, 2 divide, 3 soft_budget; the paper's graph has 62 nodes, its\n"
      "parts are {21,19,22}. '+ direct' takes safe nodes at once, which is not in the paper.\n");
  for (const char* name : {"swiftnet-cells-abc", "swiftnet"}) {
    const problem p = network(name);
    std::printf(" %s: parts %s\n", name, parts_of(p).c_str());
    for (bool direct : {false, true}) {
      const char* suffix = direct ? " + direct" : "";
      const auto row = [&](std::string label, bool divides, bool budgets, const char* published) {
        print_run((label + suffix).c_str(), measure(p, serenity{.divides = divides, .budgets = budgets, .direct = direct}),
                  published);
      };
      row("1", false, false, direct ? "" : "published N/A");
      row("1+2", true, false, direct ? "" : "published 56.5 s");
      row("1+2+3", true, true, direct ? "" : "published 37.9 s");
    }
  }
  std::printf(" The three rows with graph rewriting (published N/A, 7.2 hours, 111.9 s) wait for the rewriting.\n");
}

void peaks() {
  std::printf(
      "\nFigures 10, 13, 15: peaks in KB (1000 bytes), ratio of the file's order to SERENITY, seconds. Published: 1.68x\n"
      "and 40.6 s on average over their networks; SwiftNet cell A 250.9 KB. Their 551.0 KB of TensorFlow Lite is an arena\n"
      "with its fragmentation, ours is live memory in the order that the network's layers are listed in.\n");
  std::printf("  %-26s %5s %10s %10s %10s %10s %7s  %s\n", "network", "ops", "file", "rpo", "kahn", "serenity", "ratio",
              "time");
  const auto row = [](const std::string& name, const problem& p) {
    const run s = measure(p, serenity{});
    const auto kb = [](const run& r) { return static_cast<double>(r.result.peak) / 1000.0; };
    const run file = measure(p, as_given{});
    std::printf("  %-26s %5zu %10.1f %10.1f %10.1f %10.1f %6.2fx  %s, %s\n", name.c_str(), p.ops().size(), kb(file),
                kb(measure(p, rpo{})), kb(measure(p, kahn{})), kb(s), kb(file) / kb(s), time_of(s).c_str(),
                to_string(s.result.verdict()));
  };
  for (const char* name : {"swiftnet-cell-a", "swiftnet-cell-b", "swiftnet-cell-c", "swiftnet"}) row(name, network(name));
  row("darts-imagenet, first cell", cell_of("darts-imagenet", first_cell));
  for (const char* name : {"darts-imagenet", "randwire:1", "randwire:2", "randwire:3"}) row(name, network(name));
}

std::string bounds_of(const run& r) {
  const std::string peak = std::to_string(r.result.peak);
  return r.result.verdict() == verdict::optimal ? "optimum " + peak
                                                : std::to_string(r.result.lower_bound) + " <= optimum <= " + peak;
}

void randwire() {
  std::printf(
      "\nRandWire, WS(32,4,0.75) in three stages, with and without soft budgets. HMCOS reports 5,659, 5,358 and 10,247 s\n"
      "for its own SERENITY without them, on three seeds that are lost. At most %d s and 4 GiB a run; of randwire-stack\n"
      "(a sum is an Unsqueeze for each input, Concat, MatMul, Squeeze) at most %d s.\n",
      static_cast<int>(longest.count()), static_cast<int>(brief.count()));
  const auto line = [](const char* what, const problem& p, const auto& policy, std::chrono::seconds limit) {
    const run r = measure(p, policy, limit);
    print_run(what, r, bounds_of(r).c_str());
  };
  for (const char* family : {"randwire", "randwire-unfused", "randwire-stack"})
    for (const char* seed : {":1", ":2", ":3"}) {
      const problem p = network(std::string(family) + seed);
      std::printf(" %s%s: %s\n", family, seed, parts_of(p).c_str());
      const bool stacked = family == std::string("randwire-stack");
      line("1+2+3 + direct", p, serenity{}, stacked ? brief : longest);
      if (stacked) {
        line("1+2+3 + compress + direct", p, divide{} | compress{} | soft_budget{} | dp{.direct = true}, brief);
        continue;
      }
      line("1+2 + direct", p, serenity{.budgets = false}, longest);
      line("1+2", p, serenity{.budgets = false, .direct = false}, longest);
      line("1+2+3", p, serenity{.direct = false}, longest);
    }
}

void width() {
  std::printf(
      "\nDoubling the width of a layered graph (10 layers, each operator reads two of the layer before), states and time,\n"
      "at most %d s a run:\n",
      static_cast<int>(brief.count()));
  for (const char* w : {"2", "4", "8", "16"}) {
    const problem p = network(std::string("layered:10:") + w);
    std::printf(" width %s: %s\n", w, parts_of(p).c_str());
    const auto line = [&](const char* what, const serenity& policy) {
      const run r = measure(p, policy, brief);
      print_run(what, r, bounds_of(r).c_str());
    };
    line("1", {.divides = false, .budgets = false, .direct = false});
    line("1+2", {.budgets = false, .direct = false});
    line("1+2+3", {.direct = false});
    line("1+2+3 + direct", {});
  }
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  table_2();
  peaks();
  randwire();
  width();
}
