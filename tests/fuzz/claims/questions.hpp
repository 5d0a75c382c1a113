// Questions to schedulers, passes and bounds whose answers an oracle can judge.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/bitset.hpp>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/bounds/folding.hpp>
#include <memsched/bounds/layer_bound.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/bounds/shaving.hpp>
#include <memsched/memsched.hpp>
#include <memsched/presolve/narrowing.hpp>
#include <memsched/schedulers/both_ends.hpp>
#include <memsched/schedulers/release_search.hpp>
#include <memsched/search/downset_moves.hpp>

#include "draws.hpp"
#include "oracle.hpp"
#include "support/random_problem.hpp"
#include "support/random_sums.hpp"

namespace claims {

using namespace memsched;
using support::random;

/// A graph and its optimum. Questions draw no number that depends on either, so that a seed asks the same of all graphs.
struct subject {
  const problem& p;
  const options& o;
  const schedule_graph& g;
  bytes optimum;
};

/// The fault of an answer, or nothing. `asked` is filled with the question, for the report.
using complaint = std::optional<std::string>;

namespace detail {

/// A number near the optimum: `offset` of it.
inline bytes near(bytes optimum, int offset) {
  const auto b = static_cast<delta>(optimum) + offset;
  return b > 0 ? static_cast<bytes>(b) : 0;
}
inline int any_offset(random& r) {
  switch (r.below(5)) {
    case 0: return 0;
    case 1: return 1 - static_cast<int>(r.below(3));
    case 2: return -static_cast<int>(r.below(20));
    case 3: return static_cast<int>(r.below(20));
    default: return 500 - static_cast<int>(r.below(1000));
  }
}

inline bool is_order(const schedule_graph& g, const std::vector<node_id>& order) {
  std::vector<bool> ran(g.active, false);
  for (node_id v : order) {
    if (v >= g.active || ran[v]) return false;
    for (node_id u : g.preds[v])
      if (!ran[u]) return false;
    ran[v] = true;
  }
  return order.size() == g.active;
}

inline std::vector<node_id> any_order(const schedule_graph& g, random& r) {
  std::vector<node_id> order, ready;
  memsched::detail::retractable_walk w(g);
  for (node_id v = 0; v < g.active; ++v)
    if (w.ready(v)) ready.push_back(v);
  while (!ready.empty()) {
    std::swap(ready[r.below(static_cast<std::uint32_t>(ready.size()))], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    w.fire(order.back(), [&](node_id v) { ready.push_back(v); });
  }
  return order;
}

inline std::string compared(const char* what, bytes is, bytes should) {
  return std::string(what) + " " + number(is) + ", optimum " + number(should);
}

}  // namespace detail

/// Passes before a scheduler, with some floor, ceiling and limits. A bound is no more than the optimum or, of most, the floor;
/// what says that it is done has found or refuted what it was asked for.
inline complaint ask_scheduler(const subject& x, random& r, std::string& asked) {
  using namespace detail;
  std::vector<stage> passes;
  for (std::uint32_t i = r.chance(40) ? 0 : 1 + r.below(3); i > 0; --i) passes.push_back(any_pass_of(r, asked));
  const last_stage last = any_scheduler_of(r, asked);
  bool exact = last.exact, heeds = last.heeds_ceiling;
  for (std::size_t i = passes.size(); i-- > 0;) {
    exact = exact && passes[i].exact && (!passes[i].is_budget || (heeds && i + 1 == passes.size()));
    heeds = false;
  }
  options o = x.o;
  const bool bounded = r.chance(50);
  int floor_offset = any_offset(r), ceiling_offset = any_offset(r);
  const bool with_floor = bounded && r.chance(60), with_ceiling = bounded && r.chance(50);
  const bytes floor = with_floor ? near(x.optimum, floor_offset) : 0,
              ceiling = with_ceiling ? near(x.optimum, ceiling_offset) : no_limit;
  o.state_limit = 20000;  // some switches leave a search without anything that prunes
  if (r.chance(30)) o.state_limit = pick(asked, "state_limit", 1 + r.below(r.chance(50) ? 30 : 400));
  if (r.chance(3)) o.memory_limit = pick(asked, "memory_limit", 20000 + r.below(200000));
  asked += " floor=" + number(floor) + " ceiling=" + number(ceiling);
  const std::function<solution(std::size_t, const schedule_graph&, search&)> run =
      [&](std::size_t i, const schedule_graph& h, search& c) -> solution {
    if (i == passes.size()) return last.run(h, c);
    return passes[i].run(h, c, [&](const schedule_graph& k, search& d) { return run(i + 1, k, d); });
  };
  const auto answer_of = [&](search& c) { return c.ask({floor, ceiling}, [&] { return run(0, x.g, c); }); };
  search context(o);
  const solution s = answer_of(context);
  if (s.error) return std::nullopt;
  if (r.chance(3)) {
    o.threads = pick(asked, "threads", 2 + r.below(2));
    search several(o);
    const solution t = answer_of(several);
    if (t.order != s.order || t.lower_bound != s.lower_bound ||
        several.control().stats.states != context.control().stats.states)
      return "another answer than with one thread: states " + number(several.control().stats.states) + " and " +
             number(context.control().stats.states) + ", bounds " + number(t.lower_bound) + " and " + number(s.lower_bound);
  }
  if (!is_order(x.g, s.order)) return "no order";
  const bytes peak = peak_of(x.g, s.order);
  if (peak < x.optimum) return compared("peak", peak, x.optimum);
  const bytes most = last.claims_floor || !passes.empty() ? std::max(x.optimum, floor) : x.optimum;
  if (s.lower_bound > most) return compared("bound", s.lower_bound, x.optimum);
  if (exact && context.control().reason() == stop_reason::finished && !with_ceiling && peak > std::max(x.optimum, floor))
    return compared("it is done with", peak, x.optimum);
  return std::nullopt;
}

/// The searches between two peaks, from both ends, and from an order that is known.
inline complaint ask_between(const subject& x, random& r, std::string& asked) {
  using namespace detail;
  asked += " between";
  const best_first policy = any_best_first(r, asked);
  const bytes from = near(x.optimum, any_offset(r)), below = near(x.optimum, any_offset(r));
  const std::uint64_t states = r.chance(40) ? 1 + r.below(60) : 1000000;
  const bool both = r.chance(50);
  asked += " from=" + number(from) + " below=" + number(below) + " states=" + number(states) + (both ? " both ends" : "");
  search c(x.o);
  const auto f = both ? memsched::detail::both_ends{policy}.between(x.g, c, from, below, states)
                      : c.control().with_states(states, [&] { return policy.between(x.g, c, from, below); });
  if (f.bound > std::max(from, x.optimum)) return compared("bound", f.bound, x.optimum);
  if (f.bound > below && f.bound > from) return compared("bound beyond what was asked", f.bound, x.optimum);
  if (f.order) {
    if (!is_order(x.g, *f.order)) return "no order";
    const bytes peak = peak_of(x.g, *f.order);
    if (peak >= below) return compared("order not below", peak, x.optimum);
    if (states == 1000000 && peak > std::max(x.optimum, from)) return compared("order not the cheapest:", peak, x.optimum);
  } else if (states == 1000000 && x.optimum < below && from < below) {
    return compared("finds nothing below", below, x.optimum);
  }
  return std::nullopt;
}

/// Moves between downsets of the graph, or of one with any costs, from many places: safe ones keep a best completion, and so
/// does one of the moves there are.
inline complaint ask_moves(const subject& x, random& r, std::string& asked) {
  using namespace detail;
  asked += " moves";
  const bool macros = flip(r, asked, "macros", 80), of_costs = flip(r, asked, "costs", 40);
  const schedule_graph g = of_costs ? support::random_costs_of_sums(r) : x.g;
  const std::vector<bytes> to_go = smallest_peaks_to_go(g);
  const auto number_of = [](base::const_bit_row set) { return static_cast<std::uint32_t>(set[0]); };
  search context(x.o);
  memsched::detail::downset_moves moves(g, context, macros);
  for (int sample = 0; sample < 12; ++sample) {
    const auto order = any_order(g, r);
    base::bit_set ran(g.active), reached(g.active);
    order_walk w(g);
    const std::uint32_t prefix = r.below(static_cast<std::uint32_t>(order.size()));
    for (std::uint32_t i = 0; i < prefix; ++i) ran.insert(order[i]), w.fire(order[i]);
    const bytes best = to_go[number_of(ran)];
    bytes least = no_limit;
    for (const auto& m : memsched::base::plain_vector(moves.from(ran, w.level()))) {
      moves.reach(m.target, ran, reached);
      least = std::min(least, std::max(static_cast<bytes>(std::max<delta>(m.peak, 0)), to_go[number_of(reached)]));
    }
    if (least != best) return compared("the best move leads to", least, best);
    const bytes peak = r.chance(50) ? best : best + r.below(30);
    delta level = w.level();
    while (const auto m = moves.safe_from(ran, level, static_cast<delta>(peak))) {
      moves.reach(m->target, ran, reached);
      ran = reached;
      level = m->level;
      if (to_go[number_of(ran)] > peak) return compared("safe moves lead to", to_go[number_of(ran)], best);
    }
  }
  return std::nullopt;
}

/// Hierarchical without groups, on the graph and on what is left of it after some moves.
inline complaint ask_hierarchical(const subject& x, random& r, std::string& asked) {
  using namespace detail;
  asked += " hierarchical without groups";
  const hierarchical policy{.level = structure::hierarchy_level::operators};
  for (int sample = 0; sample < 4; ++sample) {
    const auto order = any_order(x.g, r);
    const std::uint32_t prefix = sample == 0 ? 0 : r.below(static_cast<std::uint32_t>(order.size() / 2));
    order_walk w(x.g);
    for (std::uint32_t i = 0; i < prefix; ++i) w.fire(order[i]);
    std::vector<node_id> members(order.begin() + prefix, order.end()), local(x.g.size(), none);
    std::sort(members.begin(), members.end());
    for (auto v = static_cast<node_id>(x.g.active); v < x.g.size(); ++v)
      if (w.waits(v) > 0) members.push_back(v);
    const schedule_graph rest = structure::induced_subgraph(x.g, members, static_cast<bytes>(w.level()), local);
    const auto best = optimum_of(rest);
    if (!best) continue;
    for (const bytes floor : {bytes{0}, *best, *best - std::min<bytes>(*best, r.below(10))}) {
      search c(x.o);
      const solution s = c.ask({.target = floor}, [&] { return policy(rest, c); });
      if (s.lower_bound > *best || peak_of(rest, s.order) < *best) return compared("bound", s.lower_bound, *best);
    }
  }
  return std::nullopt;
}

/// Folding, and searches of releases with more or fewer light nodes, are no higher than the optimum, and reach it without light
/// nodes.
inline complaint ask_releases(const subject& x, random& r, std::string& asked) {
  using namespace detail;
  asked += " releases";
  schedule_graph whole = flip(r, asked, "costs", 40) ? support::random_costs_of_sums(r) : x.g;
  const bool any_credits = flip(r, asked, "credits", 20);
  if (any_credits) whole = support::with_any_credits(std::move(whole), r);
  const auto optimum = optimum_of(whole);
  if (!optimum) return std::nullopt;
  const bool folds = flip(r, asked, "folds", 50);
  const bounds::folding f = bounds::fold(whole);
  const auto below = folds ? optimum_of(f.graph, *optimum) : optimum;
  if (below && *below > *optimum) return compared("optimum when folded", *below, *optimum);
  if (!is_order(whole, f.expand(whole, any_order(f.graph, r)))) return "no order";
  const schedule_graph& g = folds ? f.graph : whole;
  constexpr delta most = std::numeric_limits<delta>::max();
  const delta light = r.chance(30) ? most : r.chance(40) ? -most : static_cast<delta>(r.below(r.chance(50) ? 6 : 200));
  const bytes from = r.chance(60) ? 0 : near(*optimum, any_offset(r)), limit = r.chance(60) ? no_limit / 4 : *optimum;
  asked += " light=" + std::to_string(light) + " from=" + number(from) + " below=" + number(limit);
  search c(x.o);
  memsched::detail::release_search search(g, c, light, from, limit);
  std::optional<best_first::finding> found;
  while (!found || (!found->order && found->bound < limit))
    found = c.control().with_states(1 + r.below(50), [&] { return search.run(limit); });
  if (found->bound > std::max(from, *optimum)) return compared("bound", found->bound, *optimum);
  if (found->order && !is_order(g, *found->order)) return "no order";
  if (light == -most && !any_credits && below && found->bound < std::min(*below, limit))
    return compared("bound without light nodes", found->bound, *below);
  return std::nullopt;
}

/// Compression, fusion and mirror images keep the optimum.
inline complaint ask_transformation(const subject& x, random& r, std::string& asked) {
  using namespace detail;
  search c(x.o);
  const std::uint32_t which = r.below(5);
  if (which == 0) {
    asked += " mirror_image";
    const auto image = optimum_of(structure::mirror_image(x.g), x.optimum);
    const bool same = x.g.credits.items() == 0;
    if (image && (same ? *image != x.optimum : *image < x.optimum))
      return compared("optimum of the image", *image, x.optimum);
    return std::nullopt;
  }
  if (which == 1) {
    asked += " fuse";
    const auto fused = optimum_of(fuse{}.apply(x.g, c).graph, x.optimum);
    if (fused && *fused != x.optimum) return compared("optimum when fused", *fused, x.optimum);
    return std::nullopt;
  }
  asked += " compress";
  const auto small = presolve::compressed(x.g, c, any_rules(r, asked));
  const auto reduced = optimum_of(small.graph, x.optimum);
  if (reduced && *reduced != x.optimum) return compared("optimum when compressed", *reduced, x.optimum);
  const auto order = any_order(small.graph, r);
  const auto expanded = small.expand(order);
  if (!is_order(x.g, expanded)) return "no order";
  if (peak_of(x.g, expanded) > peak_of(small.graph, order)) return "an expanded order is higher";
  return std::nullopt;
}

namespace detail {

/// The same graph with sizes that share a factor, which the room that credits give does not.
inline schedule_graph coarsened(const schedule_graph& g, delta factor) {
  schedule_graph h = g;
  h.base *= static_cast<bytes>(factor);
  for (node_cost& c : h.cost) c = {c.peak * factor, c.impact * factor};
  h.credits = {};
  for (node_id v = 0; v < g.size(); ++v) {
    for (const auto& c : g.credits[v]) h.credits.push({c.release, c.amount * factor - 1});
    h.credits.close();
  }
  return h;
}

/// Peaks are on the grid of peaks, and are not skipped.
inline complaint ask_peaks(const schedule_graph& g, std::initializer_list<bytes> peaks, random& r) {
  const bounds::peak_grid grid(g);
  for (const bytes reached : peaks) {
    if (grid.down(reached) != reached || grid.up(reached) != reached) return "not on the grid: " + number(reached);
    if (bounds::next_possible_peak(g, reached) != reached) return "not possible: " + number(reached);
    const bytes below = reached - std::min<bytes>(reached, r.below(50));
    if (bounds::next_possible_peak(g, below) > reached) return "skipped: " + number(reached);
  }
  return std::nullopt;
}

}  // namespace detail

/// Bounds, and what is said of the peaks that there are.
inline complaint ask_bound(const subject& x, random& r, std::string& asked) {
  using namespace detail;
  asked += " bounds";
  const auto order = any_order(x.g, r);
  const bytes peak = peak_of(x.g, order);
  if (const bytes b = bounds::footprint_bound(x.p, x.o.model()); b > x.optimum) return compared("footprint", b, x.optimum);
  const auto go_on = [] { return true; };
  if (const bytes b = bounds::best_cut_bound(x.g, order, 0, go_on).bound; b > x.optimum)
    return compared("cut", b, x.optimum);
  bounds::cut_bound cut(x.g);
  for (node_id v = 0; v < x.g.active; ++v)
    if (cut.at(v) > x.optimum) return compared("cut at a node", cut.at(v), x.optimum);
  if (const bytes b = bounds::layer_search(x.g).run(order, 0, go_on).bound; b > x.optimum)
    return compared("layers", b, x.optimum);
  bounds::layer_bound members(x.g);
  std::vector<node_id> layer;
  for (node_id v = 0; v < x.g.active; ++v)
    if (r.chance(40)) layer.push_back(v);
  if (layer.empty()) layer.push_back(0);
  if (const bytes b = members.of_first(layer, 0, go_on); b > x.optimum) return compared("first of some", b, x.optimum);
  if (const bytes b = members.of_last(layer, 0, go_on); b > x.optimum) return compared("last of some", b, x.optimum);
  const schedule_graph coarse = coarsened(x.g, 2 + r.below(4));
  if (auto c = ask_peaks(coarse, {peak_of(coarse, order), peak_of(coarse, any_order(coarse, r))}, r)) return c;
  return ask_peaks(x.g, {peak, x.optimum}, r);
}

/// Probing and shaving keep every order below a peak; here: a best one. Narrowed graphs likewise.
inline complaint ask_probing(const subject& x, random& r, std::string& asked) {
  using namespace detail;
  asked += " probing";
  search c(x.o);
  const int above = r.chance(50) ? 0 : static_cast<int>(r.below(60));
  const bytes b = near(x.optimum, r.chance(70) ? above : -1 - static_cast<int>(r.below(30)));
  const unsigned patience = r.below(4);
  std::uint64_t cuts = r.chance(50) ? 1000000 : r.below(60);
  asked += " peak=" + number(b) + " patience=" + std::to_string(patience) + " cuts=" + std::to_string(cuts);
  const auto go_on = [&](std::uint64_t) { return cuts > 0 ? (--cuts, true) : false; };
  if (r.chance(50)) {
    bounds::prober p(x.g, r.chance(70));
    auto outcome = p.run(b, go_on);
    if (outcome == bounds::prober::outcome::open && patience > 0)
      outcome = bounds::shaver(r.chance(70)).run(p, patience, go_on);
    if (outcome == bounds::prober::outcome::refuted)
      return b >= x.optimum || p.next() > x.optimum ? complaint(compared("refutes up to", p.next(), x.optimum))
                                                    : std::nullopt;
    const auto kept = optimum_of(bounds::with_edges(x.g, p.edges()), x.optimum);
    return b >= x.optimum && kept != x.optimum ? complaint(compared("optimum with edges", *kept, x.optimum)) : std::nullopt;
  }
  asked += " narrowing";
  presolve::narrowing n(x.g, c);
  bytes now = b + r.below(60);
  for (;;) {
    if (n.run(now, patience, go_on) == bounds::prober::outcome::refuted)
      return now >= x.optimum || n.next() > x.optimum ? complaint(compared("refutes up to", n.next(), x.optimum))
                                                      : std::nullopt;
    const auto kept = optimum_of(n.graph(), x.optimum);
    if (now >= x.optimum && kept && *kept != x.optimum) return compared("optimum of the narrowed graph", *kept, x.optimum);
    if (now == b) return std::nullopt;
    now = b, cuts += 20;
  }
}

/// A destructive search from some peak on, stopped while the peak that is reached falls. The peak `low`, with which it
/// begins, is no bound.
inline complaint ask_destructive_search(const subject& x, random& r, std::string& asked) {
  using namespace detail;
  asked += " destructive_search";
  const auto share = [&](std::uint32_t percent) { return x.optimum * percent / 100; };
  const bytes low = std::max(x.g.base, r.chance(50) ? 0 : share(50 + r.below(60)));
  asked += " low=" + number(low);
  search c(x.o);
  bounds::destructive_search<presolve::narrowing> bounds(x.g, low, presolve::narrowing(x.g, c));
  bytes high = x.optimum + (r.chance(50) ? r.below(60) : share(r.below(200)));
  for (int call = 0; call < 8; ++call) {
    std::uint64_t cuts = r.chance(30) ? 100000 : r.below(r.chance(50) ? 10 : 60);
    bounds.run(high, r.chance(70) ? 0 : r.below(4), [&](auto) { return cuts > 0 ? (--cuts, true) : false; });
    if (bounds.bound() > std::max(low, x.optimum)) return compared("bound", bounds.bound(), x.optimum);
    if (high > x.optimum) {
      const auto kept = optimum_of(bounds.known_up_to(r.chance(50) ? high - 1 : x.optimum).graph(), x.optimum);
      if (kept && *kept != x.optimum) return compared("optimum of what is known", *kept, x.optimum);
      if (r.chance(50)) high = x.optimum + r.below(static_cast<std::uint32_t>(high - x.optimum + 1));
    }
    if (r.chance(10)) bounds.raise(x.optimum - std::min<bytes>(x.optimum, r.below(20)));
  }
  return std::nullopt;
}

/// A certificate is accepted, and so claims no more than the optimum.
inline complaint ask_certificate(const subject& x, random& r, std::string& asked) {
  using namespace detail;
  asked += " certify";
  const auto order = any_order(x.g, r);
  const bytes goal = near(x.optimum, r.chance(50) ? 0 : -static_cast<int>(r.below(30)));
  certificate made = certify(x.g, order, goal, [] { return true; });
  if (made.bound > x.optimum) return compared("certificate", made.bound, x.optimum);
  if (const std::string fault = check_certificate(x.g, made); !fault.empty())
    return "its own certificate is refused: " + fault;
  made.bound = x.optimum + 1;
  for (proof::proof_step& s : made.steps) s.level = std::max(s.level, x.optimum + 1);
  if (check_certificate(x.g, made).empty()) return "a false certificate is accepted";
  return std::nullopt;
}

/// One question; most go to schedulers.
inline complaint ask(const subject& x, std::uint64_t seed, std::string& asked) {
  random r(seed);
  const std::uint32_t kind = r.below(100);
  if (kind < 56) return ask_scheduler(x, r, asked);
  if (kind < 60) return ask_moves(x, r, asked);
  if (kind < 66) return ask_hierarchical(x, r, asked);
  if (kind < 70) return ask_releases(x, r, asked);
  if (kind < 76) return ask_between(x, r, asked);
  if (kind < 81) return ask_transformation(x, r, asked);
  if (kind < 84) return ask_bound(x, r, asked);
  if (kind < 90) return ask_probing(x, r, asked);
  if (kind < 98) return ask_destructive_search(x, r, asked);
  return ask_certificate(x, r, asked);
}

}  // namespace claims
