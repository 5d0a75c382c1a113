// Families of sets of events, found by a search of releases.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/bounds/folding.hpp>
#include <memsched/certify/merge_costs.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/graph/task_graph.hpp>
#include <memsched/proof/certificate.hpp>
#include <memsched/schedulers/release_search.hpp>
#include <memsched/search/options.hpp>
#include <memsched/search/search.hpp>
#include <memsched/structure/reachability.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The graph that reductions make of one without credits. It has no merged nodes, and no edges that others imply; nodes that
/// take nothing, free memory and come before no other are releases.
struct reduced_graph {
  schedule_graph graph{};
  std::vector<node_id> name{};  ///< per node: the one that stands for it in the given graph

  /// O(nodes * edges / 64).
  reduced_graph(const schedule_graph& g, const std::vector<proof::reduction>& reductions) {
    std::vector<node_cost> cost = g.cost;
    std::vector<bool> is_merged(g.size());
    std::vector<precedence> edges;
    for (node_id v = 0; v < g.size(); ++v)
      for (node_id u : g.preds[v]) edges.push_back({u, v});
    for (const proof::reduction& r : reductions)
      if (adds_edge(r)) edges.push_back({r.first, r.second});
      else is_merged[merge_costs(cost, r)] = true;
    const schedule_graph whole = from_edges(std::move(cost), edges, g.base);
    edges = edges_between(whole, is_merged);
    number(whole, is_merged, edges);
  }

 private:
  /// Those between nodes that were not merged, if no third one lies between.
  static std::vector<precedence> edges_between(const schedule_graph& g, const std::vector<bool>& is_merged) {
    const base::bit_matrix ancestors = *structure::active_ancestors(g, [] { return true; });
    std::vector<precedence> edges;
    std::vector<node_id> before;
    std::vector<bool> seen(g.size());
    base::plain_vector<base::bit_word> implied(base::words_for(g.size()));
    for (node_id v = 0; v < g.size(); ++v) {
      if (is_merged[v]) continue;
      before.assign(1, v);
      for (std::size_t i = 0; i < before.size(); ++i)
        if (i == 0 || is_merged[before[i]])
          for (node_id u : g.preds[before[i]])
            if (!seen[u]) seen[u] = true, before.push_back(u);
      std::fill(implied.begin(), implied.end(), base::bit_word{0});
      for (node_id u : before) {
        seen[u] = false;
        if (u != v && !is_merged[u]) base::unite_bits(implied, ancestors[u]);
      }
      for (node_id u : before)
        if (u != v && !is_merged[u] && !base::test_bit(implied, u)) edges.push_back({u, v});
    }
    return edges;
  }
  void number(const schedule_graph& whole, const std::vector<bool>& is_merged, std::vector<precedence>& edges) {
    std::vector<bool> comes_before(whole.size());
    for (const precedence& e : edges) comes_before[e.before] = true;
    const auto is_release = [&](node_id v) {
      return whole.cost[v].peak == 0 && whole.cost[v].impact < 0 && !comes_before[v];
    };
    std::vector<node_id> place(whole.size(), none);
    std::vector<node_cost> cost;
    std::size_t active = 0;
    for (const bool release : {false, true})
      for (node_id v = 0; v < whole.size(); ++v)
        if (!is_merged[v] && is_release(v) == release) {
          place[v] = static_cast<node_id>(name.size());
          name.push_back(v), cost.push_back(whole.cost[v]);
          if (!release) ++active;
        }
    for (precedence& e : edges) e = {place[e.before], place[e.after]};
    graph = from_edges(std::move(cost), edges, whole.base);
    graph.active = active;
  }
};

/// A family of events for `level` in the graph that reductions make of g, with fewer light nodes each time that the search
/// finds an order. Nothing if there are credits or many nodes, if it would have more than `most` sets, if the search finds no
/// more, or if `go_on`, which is asked now and then, said no. O(sets * events * nodes / 64 + nodes * edges / 64).
inline std::optional<proof::set_family> find_events(const schedule_graph& g, const std::vector<proof::reduction>& reductions,
                                                    bytes level, std::size_t most, base::function_ref<bool()> go_on) {
  constexpr std::uint64_t states_at_once = 1024;
  constexpr std::size_t most_nodes = 4096;
  if (g.credits.items() > 0 || g.size() > most_nodes) return std::nullopt;
  const reduced_graph reduced(g, reductions);
  const bounds::folding folded = bounds::fold(reduced.graph, bounds::fold_into::closed);
  const auto name = [&](node_id v) { return reduced.name[folded.members[v]]; };
  proof::set_family f{.level = level, .reductions = reductions, .events = proof::event_model{}};
  for (node_id v = 0; v < reduced.graph.size(); ++v)
    if (folded.members[folded.place[v]] != v) f.events->folded.push_back({reduced.name[v], name(folded.place[v])});
  delta most_light = 0;
  for (node_id v = 0; v < folded.graph.active; ++v) most_light = std::max(most_light, folded.graph.cost[v].drop());
  while (true) {
    search context(options{.state_limit = most});
    release_search events(folded.graph, context, most_light, 0, level);
    best_first::finding found{};
    while (go_on() && !context.stopped() && !found.order && found.bound < level)
      found = context.control().with_states(states_at_once, [&] { return events.run(level); });
    if (!found.order && found.bound < level) return std::nullopt;
    if (!found.order) {
      f.events->most_light = static_cast<bytes>(most_light);
      for (const auto& [from, by] : events.expanded()) f.sets.push_back({from, name(by)});
      return f;
    }
    const auto next = events.next_most_light(*found.order, level - 1);
    if (!next || *next < 0) return std::nullopt;
    most_light = *next;
  }
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
