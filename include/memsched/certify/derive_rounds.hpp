// Rounds of compression, probing and shaving, with the facts that each derives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/bounds/layer_bound.hpp>
#include <memsched/bounds/placing.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/bounds/shaving.hpp>
#include <memsched/certify/certifier.hpp>
#include <memsched/certify/prove_positions.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/presolve/compression.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

inline constexpr std::size_t max_rounds = 32;
inline constexpr std::size_t max_shaved = 2048;  ///< nodes: shaving weighs all pairs of them

/// The level of every order at the start and at the end, whichever is higher; bytes.
inline bytes level_at_ends(const schedule_graph& g) {
  delta end = static_cast<delta>(g.base);
  for (const node_cost& c : g.cost) end += c.impact;
  return std::max(g.base, static_cast<bytes>(end));
}

struct derivation {
  std::vector<proof_round> rounds{};
  bool refuted = false;
};

/// The edges of a prober from the one in place `known` on, renamed, each shown by a cut.
inline void append_cuts_until(const prober& p, std::size_t known, std::size_t end, const std::vector<node_id>& names,
                              std::vector<derived>& items) {
  for (std::size_t i = known; i < end; ++i) {
    derived d;
    d.edges.push_back({names[p.edges()[i].before], names[p.edges()[i].after]});
    items.push_back(std::move(d));
  }
}

inline void append_cuts(const prober& p, std::size_t known, const std::vector<node_id>& names, std::vector<derived>& items) {
  append_cuts_until(p, known, p.edges().size(), names, items);
}

inline constexpr std::uint64_t layer_work = std::uint64_t{1} << 26;  ///< nodes and edges that layers visit in vain

/// Looks for a layer of g that gives more than `start`, and notes it, renamed. The bound.
inline bytes derive_layer(const schedule_graph& g, bytes start, function_ref<bool()> go_on,
                          const std::vector<node_id>& names, derived::side& side) {
  const best_layer found = layer_search(g).run(g.topological_order(), start, go_on, layer_work);
  for (node_id v : found.members) side.layer.push_back(names[v]);
  std::sort(side.layer.begin(), side.layer.end());
  side.first = found.first;
  return found.bound;
}

/// Facts of placing, renamed.
inline std::vector<proof::position_fact> renamed_facts(const placer& places, const std::vector<node_id>& names) {
  static_assert(placer::scale == proof::position_fact::parts);
  std::vector<proof::position_fact> facts;
  for (const auto& [k, v, inside, price] : places.facts()) facts.push_back({k, v == none ? none : names[v], inside, price});
  return facts;
}

/// Places with the order that p knows, and notes each finding, and p's edges from number `known` on, in `side`. Nodes are
/// renamed.
inline prober::outcome derive_positions(prober& p, std::size_t& known, function_ref<bool()> go_on,
                                        const std::vector<node_id>& names, derived::side& side) {
  placer places(p);
  const node_id before = p.refuted_at();
  const auto outcome = places.run(p, bounds::at_each_cut(go_on), {}, [&](std::size_t placed) {
    append_cuts_until(p, known, placed, names, side.items);
    known = p.edges().size();
    derived d;
    d.positions = renamed_facts(places, names);
    for (std::size_t i = placed; i < known; ++i) d.edges.push_back({names[p.edges()[i].before], names[p.edges()[i].after]});
    side.items.push_back(std::move(d));
  });
  if (outcome == prober::outcome::refuted && p.refuted_at() == before) side.positions = renamed_facts(places, names);
  return outcome;
}

/// Tries layers, probes, and if that does not help shaves with this patience, 0 for none, and places; then tries layers again
/// with the derived edges. Nodes are renamed.
inline prober::outcome derive(prober& p, bytes bound, unsigned patience, function_ref<bool()> go_on,
                              const std::vector<node_id>& names, derived::side& side) {
  const auto refuted_by_layer = [&](const schedule_graph& g) {
    return derive_layer(g, bound - 1, go_on, names, side) >= bound;
  };
  if (patience == 0 && refuted_by_layer(p.graph())) return prober::outcome::refuted;
  auto outcome = p.run(bound - 1, bounds::at_each_cut(go_on));
  std::size_t known = 0;  // edges that stand in `side`
  const auto renamed = [&](const precedence& e) { return precedence{names[e.before], names[e.after]}; };
  if (outcome == prober::outcome::open && patience > 0 && p.graph().size() <= max_shaved) {
    shaver shaves;
    outcome = shaves.run(p, patience, bounds::at_each_cut(go_on), {}, [&](const shaver::lesson& x) {
      append_cuts_until(p, std::exchange(known, p.edges().size()), x.known, names, side.items);
      derived d;
      d.cases = true;
      d.assumed = renamed(x.edge);
      append_cuts(x.with_edge, x.known + 1, names, d.kept.items);
      if (x.edge_refuted) d.kept.refuted_at = names[x.with_edge.refuted_at()];
      if (x.with_reverse) append_cuts(*x.with_reverse, x.known + 1, names, d.reversed.items);
      if (x.reverse_refuted) d.reversed.refuted_at = names[x.with_reverse->refuted_at()];
      for (std::size_t i = x.known; i < p.edges().size(); ++i) d.edges.push_back(renamed(p.edges()[i]));
      side.items.push_back(std::move(d));
    });
  }
  if (outcome == prober::outcome::open) outcome = derive_positions(p, known, go_on, names, side);
  append_cuts(p, known, names, side.items);
  if (outcome == prober::outcome::refuted && side.positions.empty()) side.refuted_at = names[p.refuted_at()];
  if (outcome == prober::outcome::open && refuted_by_layer(bounds::with_edges(p.graph(), p.edges())))
    outcome = prober::outcome::refuted;
  return outcome;
}

/// A graph compressed by the rules that certificates know.
inline compressed_graph compressed_for_proof(const schedule_graph& g) {
  const options o;
  search context(o);
  return compressed(g, context, {.series_parallel = false});
}

/// Compresses, probes and shaves in turn until a peak of less than `bound` is refuted, or nothing changes. `form` is
/// the result of `compressed_for_proof(g)`.
inline derivation derive_rounds(const schedule_graph& g, compressed_graph form, bytes bound, unsigned patience,
                                function_ref<bool()> go_on) {
  std::vector<proof_round> rounds;
  std::vector<std::vector<node_id>> preds(g.size());  // of g, as rounds change them
  std::vector<bool> merged(g.size());
  std::vector<node_id> names, place(g.size(), none);  // of a node of `at`: one of g that stands for it; and back
  for (node_id v = 0; v < g.size(); ++v) {
    names.push_back(v);
    preds[v].assign(g.preds[v].begin(), g.preds[v].end());
  }
  while (bound > level_at_ends(g)) {
    proof_round& r = rounds.emplace_back();
    for (const auto& [by, first, second] : form.reductions) {
      const proof::reduction x{by, names[first], names[second]};
      if (by == proof::reduction::rule::c1) merged[x.first] = true;
      else if (by == proof::reduction::rule::c2) merged[x.second] = true;
      else preds[x.second].push_back(x.first);
      r.reductions.push_back(x);
    }
    for (node_id& v : form.name) v = names[v];
    names = std::move(form.name);
    for (node_id v = 0; v < names.size(); ++v) place[names[v]] = v;
    prober p(form.graph, true, true);
    const prober::outcome outcome = derive(p, bound, patience, go_on, names, r.derived_side);
    for (const auto& [before, after] : p.edges()) preds[names[after]].push_back(names[before]);
    if (outcome == prober::outcome::refuted) return {std::move(rounds), true};
    if (outcome == prober::outcome::stopped || p.edges().empty() || rounds.size() == max_rounds) break;
    // The form lets releases run by themselves and so forgets the nodes after them; the checker does not.
    schedule_graph at = std::move(form.graph);
    at.preds = {};
    std::vector<node_id> seen(g.size(), none);
    for (node_id v = 0; v < at.size(); ++v) {
      std::vector<node_id> left{names[v]};
      while (!left.empty()) {
        const node_id u = left.back();
        left.pop_back();
        for (node_id x : preds[u]) {
          if (std::exchange(seen[x], v) == v) continue;
          if (merged[x]) left.push_back(x);
          else at.preds.push(place[x]);
        }
      }
      at.preds.close();
    }
    at.succs = base::transpose(at.preds, at.size());
    form = compressed_for_proof(at);
  }
  return {std::move(rounds), false};
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
