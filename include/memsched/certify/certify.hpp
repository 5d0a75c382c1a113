// Certificates of bounds, found by compression, minimum cuts and probing.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/base/closure.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/certify/certifier.hpp>
#include <memsched/certify/find_family.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/presolve/compression.hpp>
#include <memsched/proof/certificate.hpp>

namespace memsched::inline MEMSCHED_ABI {

namespace detail {

inline constexpr std::size_t max_rounds = 8;

/// What every order takes at the start and at the end; bytes.
inline bytes level_at_ends(const schedule_graph& g) {
  delta end = static_cast<delta>(g.base);
  for (const node_cost& c : g.cost) end += c.impact;
  return std::max(g.base, static_cast<bytes>(end));
}

/// A certificate of g with these steps, where there are any.
inline certificate assemble(const schedule_graph& g, std::vector<cut_step> steps) {
  if (steps.empty()) return {.bound = level_at_ends(g)};
  const auto lowest = std::min_element(steps.begin(), steps.end(), [](auto& a, auto& b) { return a.level < b.level; });
  return {lowest->level, std::move(steps)};
}

/// A certificate from the edges of rounds, the last of which refutes all peaks below `bound`.
inline certificate assemble(const schedule_graph& g, const std::vector<proof_round>& rounds, bytes bound,
                            function_ref<bool()> go_on) {
  std::vector<cut_step> steps;
  for (std::size_t n = 1; n <= rounds.size(); ++n) {
    certifier of_round(g, std::span(rounds).first(n));
    auto more = n < rounds.size() ? of_round.run(bound, go_on) : of_round.refute(bound, go_on);
    if (more.empty()) return assemble(g, {});
    more.front().reductions = rounds[n - 1].reductions;
    steps.insert(steps.end(), more.begin(), more.end());
  }
  return assemble(g, std::move(steps));
}

struct derivation {
  std::vector<proof_round> rounds{};
  bool refuted = false;
};

/// Compresses and probes in turn until a peak of less than `bound` is refuted, or nothing changes.
inline derivation derive_rounds(const schedule_graph& g, bytes bound, function_ref<bool()> go_on) {
  const options o;
  search context(o);
  std::vector<proof_round> rounds;
  std::vector<std::vector<node_id>> preds(g.size());  // of g, as rounds change them
  std::vector<bool> merged(g.size());
  std::vector<node_id> names, place(g.size(), none);  // of a node of `at`: one of g that stands for it; and back
  for (node_id v = 0; v < g.size(); ++v) {
    names.push_back(v);
    preds[v].assign(g.preds[v].begin(), g.preds[v].end());
  }
  for (schedule_graph at = g; bound > level_at_ends(g);) {
    compressed_graph form = compressed(at, context, {.series_parallel = false});
    proof_round& r = rounds.emplace_back();
    for (const auto& [by, first, second] : form.reductions) {
      const reduction x{by, names[first], names[second]};
      if (by == reduction::rule::c1) merged[x.first] = true;
      else if (by == reduction::rule::c2) merged[x.second] = true;
      else preds[x.second].push_back(x.first);
      r.reductions.push_back(x);
    }
    std::vector<node_id> next_names;
    for (node_id u : form.first) {
      while (merged[names[u]]) u = form.next[u];
      place[names[u]] = static_cast<node_id>(next_names.size());
      next_names.push_back(names[u]);
    }
    names = std::move(next_names);
    prober p(form.graph);
    const prober::outcome outcome = p.run(bound - 1, go_on);
    for (const auto& [before, after] : p.edges()) {
      r.edges.push_back({names[before], names[after]});
      preds[names[after]].push_back(names[before]);
    }
    if (outcome == prober::outcome::refuted) return {std::move(rounds), true};
    if (outcome == prober::outcome::stopped || r.edges.empty() || rounds.size() == max_rounds) break;
    // The form lets releases run by themselves and so forgets what comes after them; the checker does not.
    at = std::move(form.graph);
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
    at.succs = transpose(at.preds, at.size());
  }
  return {std::move(rounds), false};
}

/// The certificate that compression and probing give for this very bound, or one of what is live at the ends.
inline certificate certify_compressed(const schedule_graph& g, bytes bound, function_ref<bool()> go_on) {
  const derivation d = derive_rounds(g, bound, go_on);
  return d.refuted ? assemble(g, d.rounds, bound, go_on) : assemble(g, {});
}

/// A certificate of this very bound that ends with a family of at most `most` sets, or one of what is live at the ends.
/// Compression and probing come first, since they leave a search fewer sets.
inline certificate certify_by_sets(const schedule_graph& g, bytes bound, std::size_t most, function_ref<bool()> go_on) {
  const derivation d = derive_rounds(g, bound, go_on);
  certificate c{.bound = bound, .family = set_family{.level = bound}};
  std::vector<reduction> waiting;
  for (std::size_t n = 1; n <= d.rounds.size(); ++n) {
    const proof_round& r = d.rounds[n - 1];
    waiting.insert(waiting.end(), r.reductions.begin(), r.reductions.end());
    auto more = certifier(g, std::span(d.rounds).first(n)).run(bound, go_on);
    if (more.empty()) continue;
    more.front().reductions = std::exchange(waiting, {});
    c.steps.insert(c.steps.end(), more.begin(), more.end());
  }
  c.family->reductions = std::move(waiting);
  if (!find_family(g, c, most, go_on)) return assemble(g, {});
  for (const cut_step& s : c.steps) c.bound = std::min(c.bound, s.level);
  return c;
}

/// The certificate that probing alone gives for this very bound, likewise.
inline certificate certify_probed(const schedule_graph& g, bytes bound, function_ref<bool()> go_on) {
  prober p(g);
  if (bound <= level_at_ends(g) || p.run(bound - 1, go_on) != prober::outcome::refuted) return assemble(g, {});
  return assemble(g, {{.edges = p.edges()}}, bound, go_on);
}

/// Leaves out what the proof holds without. Whether that was anything.
inline bool drop_superfluous(const schedule_graph& g, certificate& c) {
  bool any = false;
  const auto try_without = [&](auto&& leave_out) {
    certificate less = c;
    leave_out(less.steps);
    if (check_certificate(g, less).empty()) c = std::move(less), any = true;
  };
  for (std::size_t i = c.steps.size(); i-- > 0;) {
    for (std::size_t k = c.steps[i].reductions.size(); k-- > 0;)
      try_without([&](auto& steps) {
        auto& list = steps[i].reductions;
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(k));
      });
    if (i + 1 == c.steps.size()) continue;
    try_without([&](auto& steps) {
      auto& next = steps[i + 1].reductions;
      next.insert(next.begin(), steps[i].reductions.begin(), steps[i].reductions.end());
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
    });
  }
  return any;
}

}  // namespace detail

/// A certificate of the best bound that compression, minimum cuts, probing and a family of at most `max_sets` sets prove for
/// g, up to one of at least `bound`, which some search claims. `order` is one with a small peak. Asks `go_on` before each
/// cut and each set; where that said no, or where more sets are needed, the certificate's bound is smaller. Graphs of more
/// than `max_probed` nodes get a single cut.
MEMSCHED_FUNCTION certificate certify(const schedule_graph& g, std::span<const node_id> order, bytes bound,
                                      function_ref<bool()> go_on, std::size_t max_probed = 8192,
                                      std::size_t max_sets = std::size_t{1} << 14);

}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

namespace memsched::inline MEMSCHED_ABI {

MEMSCHED_FUNCTION certificate certify(const schedule_graph& g, std::span<const node_id> order, bytes bound,
                                      function_ref<bool()> go_on, std::size_t max_probed, std::size_t max_sets) {
  certificate best = detail::assemble(g, {});
  const auto consider = [&](certificate c) {
    if (c.bound > best.bound) best = std::move(c);
    return best.bound >= bound;
  };
  if (best.bound >= bound) return best;
  const node_bound single = best_cut_bound(g, order, best.bound, go_on);
  if (single.v != none) consider(detail::assemble(g, {{}}, single.bound, go_on));
  if (g.size() > max_probed) return best;
  if (best.bound < bound && !consider(detail::certify_probed(g, bound, go_on)) &&
      !consider(detail::certify_compressed(g, bound, go_on)) &&
      !consider(detail::certify_by_sets(g, bound, max_sets, go_on))) {
    destructive_search search(g, best.bound);
    search.run(bound, go_on);
    consider(detail::certify_probed(g, search.bound(), go_on));
  }
  constexpr std::size_t max_work = std::size_t{1} << 26;
  std::size_t length = best.steps.size();
  for (const cut_step& s : best.steps) length += s.reductions.size();
  if (!best.family && length * length * g.size() <= max_work)
    while (detail::drop_superfluous(g, best)) {
    }
  return best;
}

}  // namespace memsched

#endif
