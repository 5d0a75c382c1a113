// Laws that hold for every graph.
#pragma once

#include <catch2/catch.hpp>
#include <memsched/passes/compress.hpp>
#include <memsched/schedulers/best_first.hpp>
#include <memsched/sdf/schedule.hpp>

#include "random_sdf.hpp"

namespace laws {

using namespace memsched;
using support::random_sdf;
using support::sdf_shape;

inline const std::vector<sdf_shape>& shapes() {
  static const std::vector<sdf_shape> all{{.actors = 6},
                                          {.actors = 6, .delays = 4},
                                          {.actors = 5, .delays = 2, .back = 3, .self_loops = 2},
                                          {.actors = 4, .delays = 6, .back = 4, .self_loops = 4, .most = 8},
                                          {.actors = 9, .most = 2, .most_states = 20000},
                                          {.actors = 7, .delays = 2, .back = 1, .most = 3, .most_states = 20000}};
  return all;
}

/// The smallest peak of a graph of costs and needs, by the engine on all its firings. An independent search answers for
/// the graph that was given (`support::smallest_peak`).
inline bytes smallest_peak(const sdf::composite_graph& c) {
  const schedule_graph g = make_schedule_graph(sdf::expand(c).value()).value();
  const memsched::options o;
  search context(o);
  const solution s = best_first{}(g, context);
  REQUIRE(s.lower_bound == peak_of(g, s.order));
  return s.lower_bound;
}

/// Levels, fills and counts by moving tokens one firing after the other agree with the referee. Returns the peak.
inline bytes replayed(const sdf::graph& g, const sdf::loops& schedule, firing rule) {
  const auto judged = sdf::replay(g, schedule, rule);
  if (!judged) FAIL(judged.error().message);
  support::token_walk order_walk(g, rule);
  std::vector<bytes> fired(g.actors(), 0);
  schedule.each_firing([&](index_t a) {
    REQUIRE(order_walk.can(a));
    order_walk.fire(a);
    ++fired[a];
    return true;
  });
  REQUIRE(order_walk.peak() == judged->peak);
  REQUIRE(order_walk.fills() == judged->fills);
  for (index_t a = 0; a < g.actors(); ++a) REQUIRE(fired[a] == g.repetitions()[a] * judged->iterations);
  return judged->peak;
}

/// All nests of loops of the actors i..j of an order, each fired q / g times; at most `most`.
inline std::vector<sdf::loops> all_nests(const sdf::graph& graph, const std::vector<index_t>& order, std::size_t i,
                                         std::size_t j, bytes g, std::size_t most) {
  std::vector<sdf::loops> nests;
  const auto& q = graph.repetitions();
  if (i == j) {
    nests.emplace_back();
    nests.back().fire(order[i], q[order[i]] / g);
    return nests;
  }
  bytes common = 0;
  for (std::size_t a = i; a <= j; ++a) common = std::gcd(common, q[order[a]] / g);
  for (bytes h = 1; h <= common; ++h)
    for (std::size_t k = i; common % h == 0 && k < j; ++k)
      for (const sdf::loops& left : all_nests(graph, order, i, k, g * h, most))
        for (const sdf::loops& right : all_nests(graph, order, k + 1, j, g * h, most)) {
          if (nests.size() > most) return nests;
          nests.emplace_back();
          nests.back().open(h);
          nests.back().append(left);
          nests.back().append(right);
          nests.back().close();
        }
  return nests;
}

struct tally {
  sdf::actor_rule_counts rules;
  std::uint64_t graphs = 0, became_one = 0, nests = 0, no_nest = 0, separate = 0, stalled = 0;
};

/// All laws of one graph and firing rule.
inline void hold(const sdf::graph& g, firing rule, tally& t) {
  const bytes optimum = support::smallest_peak(g, rule);
  const sdf::composite_graph all = sdf::costs(g, rule).value();
  REQUIRE(smallest_peak(all) == optimum);

  // Each rule by itself, and all.
  for (const sdf::actor_rules& rules :
       {sdf::actor_rules{true, false, false, false}, sdf::actor_rules{false, true, false, false},
        sdf::actor_rules{false, false, true, false}, sdf::actor_rules{false, false, false, true}, sdf::actor_rules{}}) {
    const sdf::composite_graph less = sdf::compress(all, rules, t.rules);
    REQUIRE(smallest_peak(less) == optimum);
    if (less.firings() == 1) {
      ++t.became_one;
      REQUIRE(less.actors[0].body.appearances() == g.actors());
      REQUIRE(replayed(g, less.actors[0].body, rule) == optimum);
    }
  }
  ++t.graphs;

  memsched::options limits;
  limits.default_firing = rule;
  const auto best = sdf::schedule(g, compress{} | best_first{}, {}, limits).value();
  REQUIRE(replayed(g, best.schedule, rule) == optimum);
  REQUIRE(best.lower_bound == optimum);
  REQUIRE(sdf::shared_bound(g, rule) <= optimum);

  // Nests: by algebra as by replay, none below the optimum, and flat ones among them.
  const std::vector<index_t> order = sdf::first_appearances(best.schedule, g.actors());
  if (const auto nest = sdf::single_appearance(all, order)) {
    REQUIRE(nest->schedule.appearances() == g.actors());
    REQUIRE(replayed(g, nest->schedule, rule) == nest->peak);
    REQUIRE(nest->peak >= optimum);
    sdf::loops row;
    for (index_t a : order) row.fire(a, g.repetitions()[a]);
    if (const auto judged = sdf::replay(g, row, rule)) REQUIRE(nest->peak <= judged->peak);
  }
  if (g.actors() <= 4) {
    constexpr std::size_t most = 300;
    const auto nests = all_nests(g, order, 0, g.actors() - 1, 1, most);
    std::optional<bytes> least;
    for (const sdf::loops& l : nests)
      if (const auto judged = sdf::replay(g, l, rule)) least = std::min(judged->peak, least.value_or(judged->peak));
    const auto found = sdf::single_appearance(all, order);
    if (nests.size() <= most) {
      REQUIRE(least.has_value() == static_cast<bool>(found));
      if (least) REQUIRE(found->peak == *least);
      ++(least ? t.nests : t.no_nest);
    }
  }
  const auto row = sdf::schedule(g, compress{} | best_first{}, {.form = sdf::form::flat}, limits);
  if (!row.error) {
    REQUIRE(row.optimal());
    REQUIRE(replayed(g, row.schedule, rule) == row.lower_bound);
    REQUIRE(row.schedule.appearances() == g.actors());
    REQUIRE(row.peak >= optimum);
    const auto nest = sdf::single_appearance(all, sdf::first_appearances(row.schedule, g.actors())).value();
    REQUIRE(nest.peak <= row.peak);
  } else {
    REQUIRE(row.error->code == error_code::cycle);
  }

  // Separate buffers.
  const auto apart = sdf::schedule(g, best_first{}, {.memory = sdf::memory::separate}, limits).value();
  replayed(g, apart.schedule, rule);
  REQUIRE(apart.optimal());
  REQUIRE(best.separate >= apart.separate);
  REQUIRE(apart.peak >= optimum);
  bytes workspace = 0;
  for (index_t a = 0; a < g.actors(); ++a) workspace = std::max(workspace, g.workspace(a));
  if (const auto least = support::smallest_separate(g, rule, 2000)) {
    REQUIRE(apart.separate == *least + workspace);
    ++t.separate;
    t.stalled += sdf::separate_bound(g, rule) < apart.separate ? 1 : 0;
  }

  // Grouping, down to what there is: schedules of the original.
  for (bytes most : {g.actors() + 1, std::size_t{1}}) {
    const sdf::options grouped{.most_firings = most};
    const auto r = sdf::schedule(g, best_first{}, grouped, limits);
    if (r.error && r.error->code == error_code::too_large) continue;
    REQUIRE_FALSE(r.error);
    REQUIRE(replayed(g, r.schedule, rule) >= optimum);
    REQUIRE(r.lower_bound <= optimum);
  }
}

inline tally hold_for(std::uint64_t from, std::uint64_t to) {
  tally t;
  for (std::uint64_t seed = from; seed < to; ++seed)
    for (std::size_t k = 0; k < shapes().size(); ++k)
      for (firing rule : {firing::pbc, firing::cbp}) {
        const auto g = random_sdf(seed, shapes()[k]);
        if (!g) continue;
        INFO("seed " << seed << ", shape " << k << (rule == firing::pbc ? ", pbc" : ", cbp"));
        hold(*g, rule, t);
      }
  return t;
}

}  // namespace laws
