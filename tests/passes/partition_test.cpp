// Parts are acyclic and balanced, cut little, and schedule into valid orders with honest bounds.
#include <catch2/catch.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/passes/fuse.hpp>
#include <memsched/passes/partition.hpp>
#include <memsched/schedule.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "networks/networks.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;

namespace {

schedule_graph graph_of(const char* name) { return make_schedule_graph(make_problem(networks::make(name).value()).value()); }

void require_acyclic_and_balanced(const schedule_graph& g, const structure::partition_shape& shape) {
  const structure::node_parts part = structure::acyclic_partition(g, shape);
  REQUIRE(part.size() == g.size());
  std::vector<std::size_t> weight(shape.parts, 0);
  for (node_id v = 0; v < g.size(); ++v) {
    REQUIRE(part[v] < shape.parts);
    if (!g.is_release(v)) ++weight[part[v]];
    for (node_id u : g.preds[v]) REQUIRE(part[u] <= part[v]);
  }
  if (g.active < shape.parts) return;
  for (std::size_t w : weight) {
    REQUIRE(w > 0);
    REQUIRE(static_cast<double>(w) <= (1 + shape.imbalance) * static_cast<double>(g.active) / shape.parts + 1);
  }
}

}  // namespace

TEST_CASE("parts are acyclic, balanced and not empty") {
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    const schedule_graph g =
        make_schedule_graph(support::random_problem(seed, {.operators = 5 + static_cast<std::uint32_t>(seed)}));
    for (index_t parts : {1u, 2u, 3u, 7u})
      for (double imbalance : {0.1, 0.5}) require_acyclic_and_balanced(g, {.parts = parts, .imbalance = imbalance});
    require_acyclic_and_balanced(g, {.parts = 4, .naive = true});
  }
}

TEST_CASE("graphs with fewer nodes than parts") {
  const schedule_graph nothing = make_schedule_graph(problem_builder{}.build().value());
  REQUIRE(structure::acyclic_partition(nothing, {.parts = 4}).empty());
  require_acyclic_and_balanced(graph_of("chain:2"), {.parts = 4});
}

TEST_CASE("a border lies where least is live") {
  // Two dense blocks with one small tensor between them, not in the middle.
  problem_builder b;
  tensor_id at = b.input(5);
  for (int block = 0; block < 2; ++block) {
    std::vector<tensor_id> layer(3, at);
    for (int depth = 0; depth < (block == 0 ? 4 : 6); ++depth)
      for (tensor_id& t : layer) {
        const tensor_id next = b.tensor(100);
        b.op({.reads = {t, layer[0]}, .writes = {next}});
        t = next;
      }
    at = b.tensor(1);
    b.op({.reads = layer, .writes = {at}});
  }
  b.output(at);
  const schedule_graph g = make_schedule_graph(b.build().value());
  const structure::node_parts part = structure::acyclic_partition(g, {.parts = 2, .imbalance = 0.5});
  REQUIRE(structure::cut_bytes(g, part, 2) == 1);
  REQUIRE(structure::cut_bytes(g, structure::acyclic_partition(g, {.parts = 2, .naive = true}), 2) > 100);
}

TEST_CASE("cut_bytes is what lives between the parts") {
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    const schedule_graph g = make_schedule_graph(support::random_problem(seed, {.operators = 30}));
    const structure::node_parts part = structure::acyclic_partition(g, {.parts = 3});
    bytes live = 0;
    order_walk w(g);
    for (index_t k = 0; k < 3; ++k) {
      if (k > 0) live += static_cast<bytes>(w.level());
      for (node_id v : base::topological_order(g.preds, g.succs))
        if (!g.is_release(v) && part[v] == k) w.fire(v);
    }
    REQUIRE(structure::cut_bytes(g, part, 3) == live);
  }
}

TEST_CASE("refinement never cuts more than equal shares of breadth-first waves do") {
  for (const char* name : {"hrnet-w18-small-v1", "nasnet-cifar", "randwire", "windowed:2000:20", "layered:50:20"})
    for (index_t parts : {2u, 5u}) {
      const schedule_graph g = graph_of(name);
      INFO(name);
      REQUIRE(structure::cut_bytes(g, structure::acyclic_partition(g, {.parts = parts}), parts) <=
              structure::cut_bytes(g, structure::acyclic_partition(g, {.parts = parts, .naive = true}), parts));
    }
}

TEST_CASE("partition gives valid orders and bounds that hold, exact for one part") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed)
    for (const options& o : {options{}, options{.default_firing = firing::cbp}}) {
      const problem p = support::random_problem(seed, {.operators = 12});
      const bytes optimum = schedule(p, exhaustive{}, o).peak;
      for (index_t parts : {1u, 2u, 4u}) {
        const auto r = schedule(p, partition{{.parts = parts}} | exhaustive{}, o).value();
        INFO("seed " << seed << " parts " << parts);
        REQUIRE(r.order.size() == p.ops().size());
        REQUIRE(r.peak >= optimum);
        REQUIRE(r.lower_bound <= optimum);
        if (parts == 1) REQUIRE(r.peak == optimum);
        const auto c = schedule(p, compress{} | fuse{} | partition{{.parts = parts}} | exhaustive{}, o).value();
        REQUIRE(c.peak >= optimum);
        REQUIRE(c.lower_bound <= optimum);
        if (parts == 1) REQUIRE(c.peak == optimum);
      }
    }
}

TEST_CASE("an error of the inner scheduler is the pass's") {
  const problem p = make_problem(networks::make("hrnet-w18-small-v1").value()).value();
  REQUIRE(schedule(p, partition{{.parts = 2}} | exhaustive{.max_nodes = 3}).error);
}

TEST_CASE("sums over borders of huge graphs stay within their range") {
  problem_builder b;
  tensor_id last = b.input(bytes{1} << 60);
  b.output(last);
  for (bytes i = 0; i < 40; ++i) {
    const tensor_id next = b.tensor(100 + i);
    b.op({.reads = {last}, .writes = {next}});
    last = next;
  }
  b.output(last);
  const problem p = b.build().value();
  const schedule_graph g = make_schedule_graph(p);
  for (index_t parts : {2u, 8u, 16u, 40u}) {
    const bytes cut = structure::cut_bytes(g, structure::acyclic_partition(g, {.parts = parts}), parts);
    REQUIRE(cut >= bytes{1} << 60);
    REQUIRE(cut < bytes{1} << 63);
  }
}
