// The certificates that `certify` tries: each of one graph by one means, and how they are trimmed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/bounds/layer_bound.hpp>
#include <memsched/certify/certifier.hpp>
#include <memsched/certify/derive_rounds.hpp>
#include <memsched/certify/find_events.hpp>
#include <memsched/certify/find_family.hpp>
#include <memsched/certify/find_window.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/proof/check_certificate.hpp>
#include <memsched/search/options.hpp>
#include <memsched/structure/components.hpp>
#include <memsched/structure/interleaving.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// The lowest level of some steps, which are not empty.
inline bytes lowest_level(const std::vector<proof::proof_step>& steps) {
  bytes least = static_cast<bytes>(-1);
  for (const proof::proof_step& s : steps) {
    if (!s.cases) least = std::min(least, s.level);
    for (const auto* side : {&s.then, &s.otherwise})
      if (!side->empty()) least = std::min(least, lowest_level(*side));
  }
  return least;
}

/// A certificate of g with these steps, if there are any.
inline certificate assemble(const schedule_graph& g, std::vector<proof::proof_step> steps) {
  if (steps.empty()) return {.bound = level_at_ends(g)};
  const bytes bound = lowest_level(steps);
  return {bound, std::move(steps)};
}

/// Steps for all rounds, the last of which ends the proof if it is refuted; reductions that no step follows are left in
/// `waiting`. Returns false if some edge has no proof, or `go_on` said no.
inline bool prove_rounds(const schedule_graph& g, const derivation& d, bytes bound, function_ref<bool()> go_on,
                         std::vector<proof::proof_step>& steps, std::vector<proof::reduction>& waiting) {
  for (std::size_t n = 1; n <= d.rounds.size(); ++n) {
    const proof_round& r = d.rounds[n - 1];
    waiting.insert(waiting.end(), r.reductions.begin(), r.reductions.end());
    const bool ends = d.refuted && n == d.rounds.size();
    if (!ends && r.derived_side.items.empty()) continue;
    certifier of_round(g, std::span(d.rounds).first(n));
    auto more = ends ? of_round.refute(bound, go_on) : of_round.run(bound, go_on);
    if (more.empty()) return false;
    more.front().reductions = std::exchange(waiting, {});
    std::move(more.begin(), more.end(), std::back_inserter(steps));
  }
  return true;
}

/// Gives c, whose steps leave these reductions, a family of at most `most` sets below `level`. Either direction may be the
/// one with few. Returns whether there is one.
inline bool find_either_family(const schedule_graph& g, certificate& c, bytes level,
                               const std::vector<proof::reduction>& waiting, std::size_t most, function_ref<bool()> go_on) {
  for (const bool mirrored : {false, true}) {
    if (mirrored && g.credits.items() > 0) continue;
    c.family = proof::set_family{.level = level, .mirrored = mirrored, .reductions = waiting};
    if (find_family(g, c, most, go_on)) return true;
  }
  return false;
}

/// The certificate of this very bound by compression, layers, probing, shaving with some patience, and, if these do not
/// suffice, a family of at most `most` sets; or one from the level at the ends. `form`: see `derive_rounds`.
inline certificate certify_rounds(const schedule_graph& g, compressed_graph form, bytes bound, unsigned patience,
                                  std::size_t most, function_ref<bool()> go_on) {
  const derivation d = derive_rounds(g, std::move(form), bound, patience, go_on);
  certificate c{.bound = bound};
  std::vector<proof::reduction> waiting;
  if (!prove_rounds(g, d, bound, go_on, c.steps, waiting)) return assemble(g, {});
  if (d.refuted) return assemble(g, std::move(c.steps));
  if (!c.steps.empty()) c.bound = std::min(bound, lowest_level(c.steps));
  for (std::size_t sets = std::min<std::size_t>(most, 512); sets > 0 && go_on(); sets = std::min(most, sets * 16)) {
    if (find_either_family(g, c, bound, waiting, sets, go_on)) return c;
    if (sets == most) break;
  }
  return assemble(g, {});
}

/// The certificate of this very bound from one round, which refutes lower peaks; or one from the level at the ends.
inline certificate certify_round(const schedule_graph& g, proof_round round, bytes bound, function_ref<bool()> go_on) {
  const derivation d{{std::move(round)}, true};
  std::vector<proof::proof_step> steps;
  std::vector<proof::reduction> none_wait;
  return assemble(g,
                  prove_rounds(g, d, bound, go_on, steps, none_wait) ? std::move(steps) : std::vector<proof::proof_step>());
}

/// The certificate that probing alone gives for this very bound, or one from the level at the ends.
inline certificate certify_probed(const schedule_graph& g, bytes bound, function_ref<bool()> go_on) {
  prober p(g, true, true);
  if (bound <= level_at_ends(g) || p.run(bound - 1, bounds::at_each_cut(go_on)) != prober::outcome::refuted)
    return assemble(g, {});
  proof_round round;
  std::vector<node_id> names;
  for (node_id v = 0; v < g.size(); ++v) names.push_back(v);
  append_cuts(p, 0, names, round.derived_side.items);
  round.derived_side.refuted_at = p.refuted_at();
  return certify_round(g, std::move(round), bound, go_on);
}

/// The certificate that a cut for one node gives.
inline certificate certify_cut(const schedule_graph& g, const node_bound& b, function_ref<bool()> go_on) {
  proof_round round;
  round.derived_side.refuted_at = b.v;
  return certify_round(g, std::move(round), b.bound, go_on);
}

/// The certificate that cuts at the tops of the components' hills give, if `order` has several components; or one from the
/// level at the ends.
inline certificate certify_components(const schedule_graph& g, std::span<const node_id> order, bytes start,
                                      function_ref<bool()> go_on) {
  const auto components = structure::components(g);
  if (components.size() < 2) return assemble(g, {});
  const auto orders = structure::by_component(g, components, order);
  const auto hills = structure::hills(g, orders);
  const auto all = structure::interleave(g, orders, hills);
  proof_round round;
  derived::side& side = round.derived_side;
  side.layer = structure::tops(all, hills), side.first = all.falls;
  std::sort(side.layer.begin(), side.layer.end());
  if (side.layer.empty()) return assemble(g, {});
  layer_bound cuts(g);
  const bytes bound = cuts.of(side.layer, side.first, start, go_on);
  return bound > start ? certify_round(g, std::move(round), bound, go_on) : assemble(g, {});
}

/// The number of sets that a family may have: as many as an effort allows, or fewer if the limits are lower.
inline std::size_t sets_within(const options::certificate_limits& limits, const schedule_graph& g, std::size_t effort) {
  constexpr bytes text_of_set = 6;                       // at least
  const bytes memory_of_set = 2 * (g.size() / 8) + 200;  // the checker holds each twice
  return static_cast<std::size_t>(
      std::min<bytes>({effort, limits.sets, limits.size / text_of_set, limits.memory / memory_of_set}));
}

inline constexpr std::size_t few_sets = 40;

/// The certificate of this very bound that compression and a family of at most `most` sets give, or one from the level at the
/// ends. If a search of some states suffices, so does this, and probing would take longer than the search.
inline certificate certify_by_sets(const schedule_graph& g, const compressed_graph& form, bytes bound, std::size_t most,
                                   function_ref<bool()> go_on) {
  certificate c{.bound = bound};
  return find_either_family(g, c, bound, form.reductions, most, go_on) ? c : assemble(g, {});
}

/// The certificate that compression and a layer give for more than `start`, or one from the level at the ends.
inline certificate certify_layer(const schedule_graph& g, const compressed_graph& form, bytes start,
                                 function_ref<bool()> go_on) {
  proof_round round{form.reductions};
  const bytes bound = derive_layer(form.graph, start, go_on, form.name, round.derived_side);
  return bound > start ? certify_round(g, std::move(round), bound, go_on) : assemble(g, {});
}

/// The attempts for one graph: shaving with `patience`, 0 for none, then a family of at most `sets` sets.
struct certificate_effort {
  unsigned patience;
  std::size_t sets;
};
inline constexpr std::array<certificate_effort, 4> certificate_efforts{
    {{0, 1 << 10}, {8, 1 << 14}, {64, 1 << 17}, {512, 1 << 20}}};

/// The certificate of this very bound that compression and a family of events give, or one from the level at the ends.
inline certificate certify_by_events(const schedule_graph& g, const compressed_graph& form, bytes bound, std::size_t most,
                                     function_ref<bool()> go_on) {
  certificate c{.bound = bound, .family = find_events(g, form.reductions, bound, most, go_on)};
  return c.family ? c : assemble(g, {});
}

/// Takes c in place of `best` if it proves more, is no longer than may be, and the checker accepts it.
inline void take_if_better(const schedule_graph& g, const options::certificate_limits& limits, certificate c,
                           certificate& best) {
  if (c.bound > best.bound && proof::text_size(c) <= limits.size && check_certificate(g, c).empty()) best = std::move(c);
}

/// Tries to certify the bound, or else leaves `best` as it is.
inline void certify_graph(const schedule_graph& g, const compressed_graph& form, bytes bound,
                          const certificate_effort& effort, const options::certificate_limits& limits,
                          function_ref<bool()> go_on, certificate& best) {
  if (best.bound >= bound) return;
  const std::size_t most = sets_within(limits, g, effort.sets);
  take_if_better(g, limits, certify_rounds(g, form, bound, effort.patience, most, go_on), best);
  if (best.bound < bound) take_if_better(g, limits, certify_by_events(g, form, bound, most, go_on), best);
}

inline constexpr std::size_t trimming = std::size_t{1} << 18;  ///< steps and reductions times nodes

/// Leaves out reductions and steps that the proof holds without: many at once, then fewer, down to one. Each attempt is
/// checked, which takes the nodes of the graph for each step and reduction; in all it takes at most `most` of that.
inline void trim(const schedule_graph& g, certificate& c, std::size_t most) {
  struct item {
    std::size_t step, reduction;  // of a step, or none for the step itself
  };
  constexpr auto whole = static_cast<std::size_t>(-1);
  const auto items_of = [](const certificate& x) {
    std::vector<item> items;
    for (std::size_t i = x.steps.size(); i-- > 0;) {
      for (std::size_t k = x.steps[i].reductions.size(); k-- > 0;) items.push_back({i, k});
      if (i + 1 < x.steps.size()) items.push_back({i, whole});
    }
    return items;
  };
  const auto without = [](certificate x, std::span<const item> items) {  // the last ones first
    for (const auto& [i, k] : items) {
      auto& list = x.steps[i].reductions;
      if (k != whole) {
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(k));
        continue;
      }
      auto& next = x.steps[i + 1].reductions;
      next.insert(next.begin(), list.begin(), list.end());
      x.steps.erase(x.steps.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return x;
  };
  for (std::size_t chunk = items_of(c).size(); chunk > 0; chunk /= 2)
    for (std::size_t at = 0;;) {
      const std::vector<item> items = items_of(c);
      const std::size_t work = (items.size() + 1) * g.size();
      if (at >= items.size()) break;
      if (work > most) return;
      most -= work;
      certificate less = without(c, std::span(items).subspan(at, std::min(chunk, items.size() - at)));
      if (check_certificate(g, less).empty() && less.bound >= c.bound) c = std::move(less);
      else at += chunk;
    }
}

/// The certificate that a window gives for the whole.
inline certificate certify_window(const described_window& d, bytes bound, const certificate_effort& effort,
                                  const options::certificate_limits& limits, function_ref<bool()> go_on) {
  const bytes lift = d.window.lift + d.window.slack;
  certificate c = assemble(d.graph, {});
  certify_graph(d.graph, compressed_for_proof(d.graph), bound + lift, effort, limits, go_on, c);
  if (!c.family) trim(d.graph, c, trimming);
  c.bound -= std::min(c.bound, lift);
  c.window = d.window;
  return c;
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
