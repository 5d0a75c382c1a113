// Laws of components and of the interleaving of their orders, on random problems.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memsched/memsched.hpp>
#include <memsched/structure/components.hpp>
#include <memsched/structure/interleaving.hpp>
#include <vector>

#include "support/random_order.hpp"
#include "support/side_by_side.hpp"
#include "support/small_graphs.hpp"

using namespace memsched;
using support::random_order;

namespace {

using orders = std::vector<std::vector<node_id>>;

/// Calls f(graph, random source) for random problems side by side under all models.
template <class F>
void for_components(std::uint64_t seeds, F&& f) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    for (const options& o : support::models()) {
      INFO("seed " << seed);
      support::random r(seed);
      const support::shape s{.operators = 2 + r.below(6), .percent_updates = r.below(20), .percent_overwrites = r.below(20)};
      auto p = make_problem(support::random_components(seed, 1 + r.below(4), s));
      if (!p) continue;  // updates may ask for a cycle
      f(make_schedule_graph(p.value(), o.model()), r);
    }
}

/// An order of g, by components.
orders split(const std::vector<std::vector<node_id>>& members, const std::vector<node_id>& order) {
  orders parts;
  for (const auto& m : members) {
    auto& part = parts.emplace_back();
    for (node_id v : order)
      if (std::binary_search(m.begin(), m.end(), v)) part.push_back(v);
  }
  return parts;
}

/// The smallest peak of the interleavings of some orders, by all of them.
bytes best_peak(const schedule_graph& g, const orders& parts) {
  std::map<std::vector<std::size_t>, delta> known;  // by how many of each have run
  const auto from = [&](const auto& self, const std::vector<std::size_t>& ran) -> delta {
    const auto at = known.find(ran);
    if (at != known.end()) return at->second;
    order_walk w(g);
    for (std::size_t c = 0; c < parts.size(); ++c)
      for (std::size_t i = 0; i < ran[c]; ++i) w.fire(parts[c][i]);
    delta best = -1;
    for (std::size_t c = 0; c < parts.size(); ++c) {
      if (ran[c] == parts[c].size()) continue;
      std::vector<std::size_t> next = ran;
      ++next[c];
      const delta peak = std::max(w.level() + w.effect(parts[c][ran[c]]).peak, self(self, next));
      if (best < 0 || peak < best) best = peak;
    }
    return known[ran] = best < 0 ? w.level() : best;
  };
  return static_cast<bytes>(std::max(from(from, std::vector<std::size_t>(parts.size(), 0)), static_cast<delta>(g.base)));
}

}  // namespace

TEST_CASE("components are the classes of nodes that edges tie, and levels are sums over them") {
  for_components(300, [](const schedule_graph& g, support::random& r) {
    const auto members = structure::components(g);
    std::vector<std::size_t> component(g.size(), members.size());
    for (std::size_t c = 0; c < members.size(); ++c) {
      REQUIRE(std::is_sorted(members[c].begin(), members[c].end()));
      for (node_id v : members[c]) component[v] = c;
    }
    std::vector<std::size_t> tied(g.size());  // to a smallest node, by edges
    for (node_id v = 0; v < g.size(); ++v) tied[v] = v;
    for (node_id round = 0; round < g.size(); ++round)
      for (node_id v = 0; v < g.size(); ++v)
        for (node_id u : g.preds[v]) tied[v] = tied[u] = std::min(tied[u], tied[v]);
    for (node_id v = 0; v < g.size(); ++v)
      for (node_id u = 0; u < v; ++u) REQUIRE((component[u] == component[v]) == (tied[u] == tied[v]));
    for (const auto& x : g.resources)
      if (x.from != none && x.to != none) REQUIRE(component[x.from] == component[x.to]);
    const orders parts = split(members, random_order(g, r));
    const auto profile = [&](std::size_t c, order_walk w) {
      std::vector<delta> levels;
      const delta start = w.level();
      for (node_id v : parts[c])
        levels.push_back(w.level() + w.effect(v).peak - start), w.fire(v), levels.push_back(w.level() - start);
      return levels;
    };
    for (std::size_t c = 0; c < parts.size(); ++c) {
      order_walk others(g);
      for (std::size_t d = 0; d < parts.size(); ++d)
        if (d != c)
          for (node_id v : parts[d]) others.fire(v);
      REQUIRE(profile(c, order_walk(g)) == profile(c, others));
    }
  });
}

TEST_CASE("the interleaving by hills and valleys is the best of all of the given orders") {
  std::size_t fallen = 0, risen = 0, several = 0;
  for_components(700, [&](const schedule_graph& g, support::random& r) {
    const orders parts = split(structure::components(g), random_order(g, r));
    const auto hills = structure::hills(g, parts);
    std::size_t interleavings = 1;  // states of the search of all of them
    for (const auto& part : parts) interleavings = std::min<std::size_t>(interleavings * (part.size() + 1), 5000);
    if (interleavings > 1500) return;
    const structure::interleaving found = structure::interleave(g, parts, hills);
    REQUIRE(memsched::detail::is_order(g, found.order));
    REQUIRE(split(structure::components(g), found.order) == parts);
    REQUIRE(found.peak == peak_of(g, found.order));
    REQUIRE(found.peak == best_peak(g, parts));
    for (std::size_t c = 0; c < parts.size(); ++c) {
      std::size_t end = 0;
      for (const structure::hill& h : hills[c]) {
        REQUIRE(h.begin == end);
        REQUIRE(h.end > h.begin);
        end = h.end;
      }
      REQUIRE(end == parts[c].size());
      several += hills[c].size() > 1;
    }
    if (found.peak == g.base) return;
    const structure::hill& top = hills[found.highest][found.at[found.highest]];
    REQUIRE(top.falls == found.falls);
    (top.falls ? fallen : risen) += 1;
  });
  REQUIRE(fallen > 100);
  REQUIRE(risen > 100);
  REQUIRE(several > 100);
}
