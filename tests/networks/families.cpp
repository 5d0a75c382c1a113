// The random families: what holds for every seed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <memsched/graph/check.hpp>
#include <networks/fingerprint.hpp>
#include <networks/networks.hpp>

#include "made.hpp"

using memsched::index_t;
using memsched::op_id;
using memsched::problem_draft;
using memsched::tensor_id;

namespace {

std::uint64_t value(const std::string& name) { return fingerprint(made(name)).value(); }

std::vector<int> reader_counts(const problem_draft& graph) {
  std::vector<int> count(graph.tensors.size(), 0);
  for (op_id op = 0; op < graph.operators.size(); ++op)
    for (tensor_id t : graph.reads[op]) ++count[t];
  return count;
}

}  // namespace

TEST_CASE("the random generator gives SplitMix64's published numbers") {
  memsched::base::random_source random(1234567);
  for (std::uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u, 16408922859458223821u})
    CHECK(random.next() == expected);
}

TEST_CASE("random numbers stay below their bound and reach all of it") {
  memsched::base::random_source random(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(random.below(7));
  CHECK(seen == std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6});
  CHECK(random.below(1) == 0);
}

TEST_CASE("the same seed gives the same graph, another seed another") {
  for (const std::string family :
       {"nasnet-space:", "randwire:", "randwire-unfused:", "randwire-stack:", "watts_strogatz:20:", "windowed:50:10:",
        "layered:5:6:", "series_parallel:30:", "chain:30:", "star:30:"}) {
    CAPTURE(family);
    CHECK(value(family + "3") == value(family + "3"));
    CHECK(value(family + "3") != value(family + "4"));
  }
}

TEST_CASE("the smallest of each family is a graph") {
  for (const char* name : {"watts_strogatz:6", "windowed:1:1", "windowed:9:1", "windowed:5:100", "layered:1:1",
                           "layered:4:1", "layered:1:4", "series_parallel:2", "series_parallel:3", "chain:1", "star:3"}) {
    CAPTURE(name);
    CHECK(memsched::make_problem(made(name)));
  }
}

TEST_CASE("a training step keeps the gradients of all weights and runs each head of each layer both ways") {
  for (const auto& [name, layers, heads] : {std::tuple{"transformer_step:1:1", 1u, 1u}, {"transformer_step:3:5", 3u, 5u}}) {
    CAPTURE(name);
    const problem_draft step = made(name);
    CHECK(step.operators.size() == 6 + layers * (21 + 6 * heads));
    CHECK(step.graph_outputs.size() == 2 + 4 * layers);
    CHECK(step.graph_inputs.empty());
    const std::vector<int> readers = reader_counts(step);
    for (tensor_id t = 0; t < readers.size(); ++t) {
      const bool stays = std::count(step.graph_outputs.begin(), step.graph_outputs.end(), t) > 0;
      CHECK((readers[t] == 0) == stays);
    }
    CHECK(memsched::make_problem(step));
  }
}

TEST_CASE("every point of NASNet's space is a graph whose cells take what the paper allows") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    const networks::genotype drawn = networks::random_genotype(seed);
    for (const auto& plan : {drawn.normal, drawn.reduction}) {
      CHECK(plan.blocks.size() == 5);
      std::set<std::size_t> open{0, 1, 2, 3, 4, 5, 6};
      for (std::size_t i = 0; i < plan.blocks.size(); ++i)
        for (const networks::edge& e : {plan.blocks[i].left, plan.blocks[i].right}) {
          CHECK(e.from < i + 2);
          open.erase(e.from);
        }
      CHECK(std::set<std::size_t>(plan.concatenated.begin(), plan.concatenated.end()) == open);
    }
    CHECK(memsched::make_problem(made("nasnet-space:" + std::to_string(seed))));
  }
}

TEST_CASE("families have as many operators as asked for") {
  CHECK(made("windowed:77:5").operators.size() == 77);
  CHECK(made("layered:7:11").operators.size() == 77);
  CHECK(made("series_parallel:77").operators.size() == 77);
  CHECK(made("chain:77").operators.size() == 77);
  CHECK(made("star:77").operators.size() == 77);
}

TEST_CASE("Watts-Strogatz graphs keep their 2n edges, without loops or double ones") {
  for (index_t nodes : {6u, 7u, 32u, 300u})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      memsched::base::random_source random(seed);
      const networks::wiring lower = networks::watts_strogatz(nodes, random).lower();
      REQUIRE(lower.size() == nodes);
      std::size_t edges = 0;
      for (index_t u = 0; u < nodes; ++u) {
        edges += lower[u].size();
        CHECK(std::is_sorted(lower[u].begin(), lower[u].end()));
        CHECK(std::adjacent_find(lower[u].begin(), lower[u].end()) == lower[u].end());
        CHECK(std::all_of(lower[u].begin(), lower[u].end(), [u](index_t v) { return v < u; }));
      }
      CHECK(edges == 2 * nodes);
    }
}

TEST_CASE("Watts-Strogatz moves three quarters of the edges") {
  memsched::base::random_source random(1);
  const index_t nodes = 10'000;
  const networks::wiring lower = networks::watts_strogatz(nodes, random).lower();
  int kept = 0;
  for (index_t u = 0; u < nodes; ++u)
    for (index_t v : lower[u]) kept += u - v <= 2 || v + nodes - u <= 2;
  CHECK(kept > 4'600);
  CHECK(kept < 5'400);
}

TEST_CASE("the styles of RandWire are the same wiring in more or fewer operators") {
  const problem_draft fused = made("randwire:5"), unfused = made("randwire-unfused:5"), stack = made("randwire-stack:5");
  std::size_t nodes = 0, sums = 0, summed = 0;
  for (op_id op = 0; op < fused.operators.size(); ++op)
    if (fused.operator_names[op].rfind("node_", 0) == 0) {
      ++nodes;
      sums += fused.reads[op].size() > 1;
      summed += fused.reads[op].size() > 1 ? fused.reads[op].size() : 0;
    }
  const std::size_t means = 3;
  CHECK(nodes == 96);
  CHECK(fused.operators.size() == nodes + means + 5);
  CHECK(unfused.operators.size() == 4 * nodes + sums + means + 9);
  CHECK(stack.operators.size() == 3 * nodes + summed + 3 * sums + means + 6);
  CHECK(fused.operators[2].scope == 0);
  CHECK(fused.operators[fused.operators.size() - 4].scope == 2);
}

TEST_CASE("a windowed operator reads one to WINDOW of those before it") {
  const problem_draft graph = made("windowed:500:20:3");
  std::size_t reads = 0;
  for (op_id op = 1; op < 500; ++op) {
    reads += graph.reads[op].size();
    CHECK(!graph.reads[op].empty());
    for (tensor_id t : graph.reads[op]) CHECK((t < op && t + 20 >= op));
  }
  CHECK(reads > 900);
  CHECK(reads < 1200);
  const auto readers = reader_counts(graph);
  for (tensor_id t : graph.graph_outputs) CHECK((readers[t] == 0 && t >= 480));
  CHECK(std::find(graph.graph_outputs.begin(), graph.graph_outputs.end(), 499u) != graph.graph_outputs.end());
}

TEST_CASE("a layered operator reads two different ones of the layer before, and every one is read") {
  const problem_draft graph = made("layered:6:9:2");  // tensor 0 is the input, operator i writes tensor i + 1
  for (op_id op = 9; op < 54; ++op) {
    const auto from = graph.reads[op];
    REQUIRE(from.size() == 2);
    CHECK(from[0] != from[1]);
    for (tensor_id t : from) CHECK((t - 1) / 9 + 1 == op / 9);
  }
  const auto readers = reader_counts(graph);
  CHECK(std::all_of(readers.begin(), readers.end() - 9, [](int n) { return n > 0; }));
  CHECK(graph.graph_outputs.size() == 9);
}

TEST_CASE("a series-parallel task graph has one source, one sink, and a reader for each edge") {
  const problem_draft graph = made("series_parallel:200:4");
  for (int readers : reader_counts(graph)) CHECK(readers == 1);
  CHECK(graph.graph_inputs.empty());
  CHECK(graph.graph_outputs.empty());
  std::size_t sources = 0, sinks = 0;
  for (op_id op = 0; op < 200; ++op) {
    sources += graph.reads[op].empty();
    sinks += graph.writes[op].empty();
  }
  CHECK(sources == 1);
  CHECK(sinks == 1);

  // Fewest steps back to one edge: merge edges between the same two tasks, and skip tasks with one way in and one way
  // out.
  std::vector<op_id> from(graph.tensors.size()), to(graph.tensors.size());
  for (op_id op = 0; op < 200; ++op) {
    for (tensor_id t : graph.writes[op]) from[t] = op;
    for (tensor_id t : graph.reads[op]) to[t] = op;
  }
  std::set<std::pair<op_id, op_id>> left;
  for (std::size_t t = 0; t < from.size(); ++t) left.insert({from[t], to[t]});
  for (bool changed = true; changed;) {
    changed = false;
    for (op_id op = 1; op < 199 && !changed; ++op) {
      std::vector<std::pair<op_id, op_id>> in, out;
      for (const auto& e : left) {
        if (e.second == op) in.push_back(e);
        if (e.first == op) out.push_back(e);
      }
      if (in.size() != 1 || out.size() != 1) continue;
      left.erase(in[0]);
      left.erase(out[0]);
      left.insert({in[0].first, out[0].second});
      changed = true;
    }
  }
  CHECK(left == std::set<std::pair<op_id, op_id>>{{0, 199}});
}

TEST_CASE("chain and star are what they say") {
  const problem_draft chain = made("chain:6:2");
  for (op_id op = 0; op < 6; ++op) CHECK((chain.reads[op].size() == 1 && chain.reads[op][0] == op));
  const problem_draft star = made("star:6:2");
  CHECK(star.reads[0].empty());
  for (op_id op = 1; op < 5; ++op) CHECK((star.reads[op].size() == 1 && star.reads[op][0] == 0));
  CHECK(star.reads[5].size() == 4);
}

TEST_CASE("sizes of the synthetic families are 1 to 100") {
  for (const char* name : {"windowed", "layered", "series_parallel", "chain", "star:300"}) {
    memsched::bytes least = 100, most = 1;
    for (const auto& t : made(name).tensors) {
      least = std::min(least, t.size);
      most = std::max(most, t.size);
    }
    CAPTURE(name, least, most);
    CHECK((least >= 1 && least <= 5));
    CHECK((most <= 100 && most >= 95));
  }
}

TEST_CASE("Figure 1 of Fradet et al. has one best order: 8 under cbp, 10 under pbc") {
  const problem_draft graph = made("task-figure1");
  const auto peak = [&](const std::vector<op_id>& order, memsched::firing rule) {
    memsched::bytes live = 0, most = 0;
    for (op_id op : order) {
      memsched::detail::firing_effect effect;
      for (tensor_id t : graph.reads[op]) effect.freed += graph.tensors[t].size;
      for (tensor_id t : graph.writes[op]) effect.produced += graph.tensors[t].size;
      effect.kept = effect.produced;
      const memsched::detail::footprint f = memsched::detail::fire(rule, live, effect);
      most = std::max({most, live, f.during, f.after});
      live = f.after;
    }
    CHECK(live == 0);
    return most;
  };
  enum : op_id { A, B, C, E, D };
  CHECK(peak({A, E, B, C, D}, memsched::firing::pbc) == 10);
  CHECK(peak({A, E, B, C, D}, memsched::firing::cbp) == 8);
  for (const std::vector<op_id>& other : {std::vector<op_id>{A, B, C, E, D}, std::vector<op_id>{A, B, E, C, D}}) {
    CHECK(peak(other, memsched::firing::pbc) > 10);
    CHECK(peak(other, memsched::firing::cbp) > 8);
  }
}
