// Laws of lines, resources and backbones, on random problems.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memsched/base/backbone.hpp>
#include <memsched/base/bitset.hpp>
#include <memsched/memsched.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/presolve/compression_graph.hpp>
#include <memsched/structure/line.hpp>
#include <memsched/structure/reachability.hpp>
#include <numeric>

#include "support/random_order.hpp"
#include "support/random_problem.hpp"
#include "support/seeds.hpp"

using namespace memsched;
using support::random_order;

namespace {

/// Calls f(graph, random source) for random problems under all models, as they are and compressed.
template <class F>
void for_graphs(std::uint64_t seeds, F&& f) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    for (const options& o : {options{}, options{.in_place = false}, options{.default_firing = firing::cbp}}) {
      INFO("seed " << seed);
      support::random r(seed);
      const schedule_graph g = make_schedule_graph(
          support::random_problem(seed, {.operators = 4 + r.below(24), .max_inputs = 2 + r.below(4)}), o.model());
      search context(o);
      f(g, r);
      const presolve::compressed_graph c = presolve::compressed(g, context, {.series_parallel = false});
      f(c.graph, r);
    }
}

}  // namespace

TEST_CASE("resources say how levels differ") {
  for_graphs(800, [](const schedule_graph& g, support::random& r) {
    const structure::order_line l(g, random_order(g, r));
    std::vector<delta> live(g.size() + 1, 0);  // at each position, relative to the start
    for (const auto& x : g.resources) {
      const std::size_t begin = x.from == none ? 0 : l.position(x.from) + 1;
      const std::size_t end = x.to == none ? l.size() : l.position(x.to);
      REQUIRE(begin <= end);
      for (std::size_t i = begin; i <= end; ++i) live[i] += static_cast<delta>(x.size);
    }
    for (std::size_t i = 0; i <= g.size(); ++i) REQUIRE(l.level(i) - l.level(0) == live[i] - live[0]);
  });
}

TEST_CASE("a line has its order's peak, also after a stretch was replaced") {
  for_graphs(800, [](const schedule_graph& g, support::random& r) {
    const std::vector<node_id> order = random_order(g, r);
    structure::order_line l(g, order);
    REQUIRE(l.order() == order);
    REQUIRE(l.peak() == peak_of(g, order));
    REQUIRE(l.highest_in(0, l.size()) <= static_cast<delta>(l.peak()));
    if (static_cast<delta>(l.peak()) > l.level(0)) REQUIRE(l.height(l.highest()) == static_cast<delta>(l.peak()));
    for (int round = 0; round < 4; ++round) {
      const std::size_t a = l.legal_from(r.below(static_cast<std::uint32_t>(l.size() + 1)));
      const std::size_t b = l.legal_from(std::min(l.size(), a + r.below(12)));
      std::vector<node_id> members(l.nodes(a, b).begin(), l.nodes(a, b).end());
      std::sort(members.begin(), members.end());
      std::vector<node_id> local(g.size(), none), other;
      const schedule_graph part = structure::induced_subgraph(g, members, static_cast<bytes>(l.level(a)), local);
      for (node_id v : random_order(part, r)) other.push_back(members[v]);
      l.replace(a, other);
      const structure::order_line fresh(g, l.order());
      REQUIRE(l.peak() == peak_of(g, l.order()));
      for (std::size_t i = 0; i < l.size(); ++i) {
        REQUIRE(l.at(i) == fresh.at(i));
        REQUIRE(l.position(l.at(i)) == i);
        REQUIRE(l.level(i) == fresh.level(i));
        REQUIRE(l.height(i) == fresh.height(i));
      }
    }
  });
}

TEST_CASE("a backbone proves only what holds, and all that its own path says") {
  for_graphs(300, [](const schedule_graph& g, support::random&) {
    const structure::reachability reach(g);
    const base::backbone bone(g.preds, g.succs, base::topological_order(g.preds, g.succs));
    for (node_id u = 0; u < g.active; ++u)
      for (node_id v = 0; v < g.size(); ++v)
        if (bone.proves_before(u, v) && !g.is_release(v)) REQUIRE(base::test_bit(reach.ancestors[v], u));
    for (std::size_t i = 1; i < bone.path().size(); ++i) REQUIRE(bone.proves_before(bone.path()[i - 1], bone.path()[i]));
  });
}

TEST_CASE("the last of several readers is found through hubs, in any numbering") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    INFO("seed " << seed);
    support::random r(seed);
    const std::uint32_t n = 3 + r.below(20);
    std::vector<op_id> name(n);  // a topological order, renumbered
    std::iota(name.begin(), name.end(), op_id{0});
    if (r.chance(50))
      for (std::uint32_t i = n; i-- > 1;) std::swap(name[i], name[r.below(i + 1)]);
    std::vector<operator_spec> specs(n);
    problem_builder b;
    std::vector<tensor_id> made;
    for (std::uint32_t i = 0; i < n; ++i) {
      operator_spec& s = specs[name[i]];
      for (std::uint32_t k = r.below(4); k > 0 && !made.empty(); --k)
        s.reads.push_back(made[r.below(static_cast<std::uint32_t>(made.size()))]);
      made.push_back(b.tensor(1 + r.below(9)));
      s.writes = {made.back()};
    }
    for (const operator_spec& s : specs) b.op(s);
    const problem p = b.build().value();
    const schedule_graph g = make_schedule_graph(p);
    const structure::reachability reach(g);
    std::size_t releases = 0;
    for (tensor_id t : p.tensors()) {
      const auto readers = p.readers(t);
      if (readers.size() < 2 || p.stays(t)) continue;
      releases += std::none_of(readers.begin(), readers.end(), [&](op_id last) {
        return std::all_of(readers.begin(), readers.end(),
                           [&](op_id o) { return o == last || base::test_bit(reach.ancestors[last], o); });
      });
    }
    REQUIRE(g.size() - g.active == releases);
  }
}
