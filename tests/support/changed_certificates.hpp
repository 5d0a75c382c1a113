// Certificates with something changed, which checkers are to notice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <memsched/bounds/probing.hpp>
#include <memsched/certify/certify.hpp>
#include <memsched/certify/certify_graph.hpp>
#include <memsched/proof/certificate.hpp>
#include <memsched/structure/reachability.hpp>

#include "support/random_problem.hpp"

namespace support {

namespace detail {

template <class T>
std::size_t any(const std::vector<T>& list, random& r) {
  return r.below(static_cast<std::uint32_t>(list.size()));
}
template <class T>
void erase_any(std::vector<T>& list, random& r) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(detail::any(list, r)));
}
template <class T>
void repeat_any(std::vector<T>& list, random& r) {
  const std::size_t i = detail::any(list, r);
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(i), T(list[i]));
}

}  // namespace detail

/// A change of one field, or a lost or repeated step or arc: any of these breaks a certificate.
inline memsched::certificate broken(memsched::certificate c, random& r) {
  memsched::proof::proof_step& s = c.steps[detail::any(c.steps, r)];
  const memsched::bytes change = 1 + r.below(5), sign = r.chance(50) ? 1 : static_cast<memsched::bytes>(-1);
  switch (r.below(8)) {
    case 0: c.bound += change * sign; break;
    case 1: s.level += change * sign; break;
    case 2:
      if (!s.flow.empty()) s.flow[detail::any(s.flow, r)].amount += static_cast<memsched::delta>(change * sign);
      break;
    case 3:
      if (!s.flow.empty()) detail::erase_any(s.flow, r);
      break;
    case 4:
      if (!s.flow.empty()) detail::repeat_any(s.flow, r);
      break;
    case 5:
      if (std::vector<memsched::proof::reduction> lost = s.reductions; &s != &c.steps.back()) {
        auto& next = (&s)[1].reductions;
        next.insert(next.begin(), lost.begin(), lost.end());
      }
      c.steps.erase(c.steps.begin() + (&s - c.steps.data()));
      break;
    case 6: detail::repeat_any(c.steps, r); break;
    default:
      if (s.flow.size() > 1) std::swap(s.flow[0], s.flow[1 + r.below(static_cast<std::uint32_t>(s.flow.size() - 1))]);
  }
  return c;
}

/// A change of what the proof says, up to nonsense; with luck it is another proof.
inline memsched::certificate altered(memsched::certificate c, random& r, const memsched::schedule_graph& g) {
  memsched::proof::proof_step& s = c.steps[detail::any(c.steps, r)];
  const auto any_node = [&] {
    return r.chance(5) ? memsched::none - r.below(2) : r.below(static_cast<std::uint32_t>(g.size() + 2));
  };
  switch (r.below(s.reductions.empty() ? 8 : 9)) {
    case 0: s.v = any_node(); break;
    case 1: s.other = any_node(); break;
    case 2: s.v_first = !s.v_first; break;
    case 3: std::swap(s.v, s.other); break;
    case 4: std::swap(s, c.steps[detail::any(c.steps, r)]); break;
    case 5:
      if (!s.flow.empty()) s.flow[detail::any(s.flow, r)].from = any_node();
      break;
    case 6:
      if (!s.flow.empty()) s.flow[detail::any(s.flow, r)].to = any_node();
      break;
    case 8:
      s.reductions[detail::any(s.reductions, r)] = {static_cast<memsched::proof::reduction::rule>(r.below(4)), any_node(),
                                                    any_node()};
      break;
    default:
      s.flow.push_back({any_node(), any_node(), static_cast<memsched::delta>(r.chance(10) ? r.next() : r.below(9))});
      std::sort(s.flow.begin(), s.flow.end());
  }
  return c;
}

/// A change of a window: its ends, its nodes, what comes after its start or ahead of its end, its lift.
inline memsched::certificate other_window(memsched::certificate c, random& r, const memsched::schedule_graph& g) {
  memsched::proof::proof_window& w = *c.window;
  const auto any_node = [&] { return r.below(static_cast<std::uint32_t>(g.size() + 1)); };
  auto& list = r.chance(50) ? w.behind : w.ahead;
  switch (r.below(8)) {
    case 7: {
      const memsched::bytes less = std::min<memsched::bytes>(w.slack, 1 + r.below(200));
      w.slack -= less, c.bound += less;
      break;
    }
    case 0: w.lift -= std::min<memsched::bytes>(w.lift, 1 + r.below(200)); break;
    case 1: w.nodes[detail::any(w.nodes, r)] = any_node(); break;
    case 2: detail::erase_any(w.nodes, r); break;
    case 3: w.nodes.push_back(any_node()); break;
    case 4:
      if (!w.before.empty()) ++(r.chance(50) ? w.before.back().last : w.before.front().first);
      break;
    case 5: list.push_back(r.below(static_cast<std::uint32_t>(w.nodes.size() + 1))); break;
    default:
      if (!list.empty()) detail::erase_any(list, r);
  }
  return c;
}

/// A certificate of this very bound that asks which of two nodes, drawn at random, runs first; `certify(graph, bound)` makes
/// those of the two sides, by steps alone. Without steps where it fails.
template <class Certify>
memsched::certificate by_cases(const memsched::schedule_graph& g, memsched::bytes bound, random& r, Certify certify) {
  using namespace memsched;
  const structure::reachability reach(g);
  const node_id a = r.below(static_cast<std::uint32_t>(g.active)), b = r.below(static_cast<std::uint32_t>(g.active));
  if (a == b || base::test_bit(reach.descendants[a], b) || base::test_bit(reach.descendants[b], a)) return {};
  proof::proof_step s{.v = a, .other = b, .cases = true};
  s.then = certify(memsched::bounds::with_edges(g, std::vector{precedence{a, b}}), bound).steps;
  s.otherwise = certify(memsched::bounds::with_edges(g, std::vector{precedence{b, a}}), bound).steps;
  if (s.then.empty() || s.otherwise.empty()) return {};
  if (r.chance(50)) return {bound, {s}};
  // One side alone, and what it shows.
  const bool keeps = r.chance(50);
  (keeps ? s.then : s.otherwise).clear();
  s.edges = {keeps ? precedence{a, b} : precedence{b, a}};
  certificate c{bound, {s}};
  for (proof::proof_step& rest : certify(memsched::bounds::with_edges(g, s.edges), bound).steps)
    c.steps.push_back(std::move(rest));
  return c;
}

/// A change of two cases that some step is, and of what stands within.
inline memsched::certificate other_cases(memsched::certificate c, random& r, const memsched::schedule_graph& g) {
  std::vector<memsched::proof::proof_step*> found;
  for (memsched::proof::proof_step& s : c.steps)
    if (s.cases) found.push_back(&s);
  if (found.empty()) return c;
  memsched::proof::proof_step& s = *found[detail::any(found, r)];
  const auto any_node = [&] { return r.below(static_cast<std::uint32_t>(g.size() + 1)); };
  auto& side = s.then.empty() || (!s.otherwise.empty() && r.chance(50)) ? s.otherwise : s.then;
  switch (r.below(7)) {
    case 0: std::swap(s.then, s.otherwise); break;
    case 1: std::swap(s.v, s.other); break;
    case 2: s.edges.push_back({any_node(), any_node()}); break;
    case 3:
      if (!s.edges.empty()) s.edges[detail::any(s.edges, r)].before = any_node();
      break;
    case 4:
      if (!s.edges.empty()) std::swap(s.edges.back().before, s.edges.back().after);
      break;
    case 5:
      if (!side.empty()) detail::erase_any(side, r);
      break;
    default:
      if (!side.empty()) side = broken({0, side}, r).steps;
  }
  return c;
}

/// A certificate that ends with a layer drawn at random, of the graph or after what compression and probing derive for
/// peaks below `bound`. Without steps if such a layer was not found.
inline memsched::certificate by_layer(const memsched::schedule_graph& g, memsched::bytes bound, random& r) {
  using namespace memsched;
  const auto go_on = [] { return true; };
  memsched::detail::derivation d;
  if (r.chance(50)) d = memsched::detail::derive_rounds(g, memsched::detail::compressed_for_proof(g), bound, 0, go_on);
  else bound = 0;
  if (d.rounds.empty()) d.rounds.resize(1);
  d.refuted = true;
  const node_id end = d.rounds.back().derived_side.refuted_at;
  const std::vector<node_id> found = d.rounds.back().derived_side.layer;
  std::vector<bool> hidden(g.size());
  for (node_id v = 0; v < g.size(); ++v)
    for (const auto& k : g.credits[v]) hidden[k.release] = true;
  for (int tries = 0; tries < 4; ++tries) {
    auto& side = d.rounds.back().derived_side;
    side.refuted_at = none, side.layer.clear();
    if (found.empty()) side.first = r.chance(50);
    const std::uint32_t percent = end != none || !found.empty() ? r.below(20) : 10 + r.below(60);
    for (node_id v = 0; v < g.size(); ++v)
      if (v == end || std::count(found.begin(), found.end(), v) > 0 || (!hidden[v] && r.chance(percent)))
        side.layer.push_back(v);
    std::vector<proof::proof_step> steps;
    std::vector<memsched::proof::reduction> waiting;
    if (side.layer.empty() || !memsched::detail::prove_rounds(g, d, bound, go_on, steps, waiting)) continue;
    if (!steps.back().layer.empty()) return memsched::detail::assemble(g, std::move(steps));
  }
  return {};
}

/// A certificate of this very bound by positions, after probing or without it; without steps if they do not suffice.
inline memsched::certificate by_positions(const memsched::schedule_graph& g, memsched::bytes bound, bool probes) {
  using namespace memsched;
  const auto go_on = [] { return true; };
  if (bound <= memsched::detail::level_at_ends(g)) return {};
  bounds::prober p(g, true, true);
  if (p.run(bound - 1, [&](auto) { return probes; }) == bounds::prober::outcome::refuted) return {};
  std::vector<node_id> names;
  for (node_id v = 0; v < g.size(); ++v) names.push_back(v);
  std::size_t known = 0;
  memsched::detail::proof_round round;
  auto& side = round.derived_side;
  if (memsched::detail::derive_positions(p, known, go_on, names, side) != bounds::prober::outcome::refuted) return {};
  memsched::detail::append_cuts(p, known, names, side.items);
  if (side.positions.empty()) side.refuted_at = p.refuted_at();
  certificate c = memsched::detail::certify_round(g, std::move(round), bound, go_on);
  const bool any = std::any_of(c.steps.begin(), c.steps.end(), [](const auto& s) { return !s.positions.empty(); });
  return any ? std::move(c) : certificate{};
}

/// A change of the layer that ends a proof, of one that is left out, twice there, or none of it, too.
inline memsched::certificate other_layer(memsched::certificate c, random& r, const memsched::schedule_graph& g) {
  memsched::proof::proof_step& s = c.steps.back();
  auto& member = s.layer[detail::any(s.layer, r)];
  const auto any_node = [&] { return r.below(static_cast<std::uint32_t>(g.size() + 1)); };
  switch (r.below(8)) {
    case 0: detail::erase_any(s.layer, r); break;
    case 1: detail::repeat_any(s.layer, r); break;
    case 2: s.layer.push_back({any_node()}); break;
    case 3: std::swap(member.flow, s.layer[detail::any(s.layer, r)].flow); break;
    case 4: s.v_first = !s.v_first; break;
    case 5: member.v = any_node(); break;
    case 6:
      if (!member.flow.empty()) detail::erase_any(member.flow, r);
      break;
    default:
      if (!member.flow.empty()) member.flow[detail::any(member.flow, r)].amount += 1 + r.below(9);
  }
  if (r.chance(80)) std::sort(s.layer.begin(), s.layer.end(), [](auto& a, auto& b) { return a.v < b.v; });
  return c;
}

}  // namespace support
