// Certificates for a second checker: prints one JSON object a line, with a graph, an order of it, a certificate, whether
// `check_certificate` accepts that, and the optimum. Some certificates have something changed; others prove something of
// another graph: one with an edge more, without credits, or to which rules of compression were applied where they do not
// hold. usage: certificate_cases GRAPHS [SEED]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <memsched/bounds/probing.hpp>
#include <memsched/certify/certify.hpp>
#include <memsched/formats/certificate.hpp>
#include <memsched/formats/json.hpp>
#include <memsched/graph/check.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "support/changed_certificates.hpp"

using namespace memsched;

namespace {

constexpr int changes_each = 4, forgeries_each = 8;
constexpr std::size_t most_sets = 2000;

/// The text of a draft on one line.
std::string on_a_line(const problem_draft& d) {
  std::string text = write_json(d);
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

void print(const std::string& graph, const schedule_graph& g, const memory_model& model, const solution& best,
           const certificate& c) {
  nlohmann::ordered_json j{{"firing", model.default_firing == firing::cbp ? "cbp" : "pbc"},
                           {"inplace", model.in_place},
                           {"order", best.order},
                           {"peak", peak_of(g, best.order)},
                           {"optimum", best.lower_bound},
                           {"accepted", check_certificate(g, c).empty()},
                           {"certificate", write_certificate(c)}};
  std::string rest = j.dump();
  std::cout << "{\"graph\":" << graph << ',' << rest.substr(1) << '\n';
}

solution optimum(const schedule_graph& g) {
  const options o;
  search context(o);
  return exhaustive{}(g, context);
}

/// What a rule of compression makes of g, be it true or not.
schedule_graph reduced(schedule_graph g, const reduction& x) {
  const auto [by, a, b] = x;
  if (by == reduction::rule::s1 || by == reduction::rule::s2) return with_edges(g, std::vector{precedence{a, b}});
  detail::merge_costs(g.cost, x);
  return g;
}

bool is_acyclic(const schedule_graph& g) { return topological_order(g).size() == g.active; }

/// Some reductions, mostly of nodes that an edge ties, and what they make of g.
std::vector<reduction> claim_reductions(schedule_graph& g, support::random& r) {
  std::vector<reduction> claims;
  for (std::uint32_t i = 1 + r.below(3); i > 0; --i) {
    const auto first = static_cast<node_id>(r.below(static_cast<std::uint32_t>(g.active)));
    const auto behind = static_cast<std::uint32_t>(g.succs[first].size());
    const node_id second = behind > 0 && r.chance(60) ? g.succs[first][r.below(behind)]
                                                      : r.below(static_cast<std::uint32_t>(g.size()));
    const reduction x{static_cast<reduction::rule>(r.below(4)), first, second};
    if (first == second) continue;
    schedule_graph next = reduced(g, x);
    if (!is_acyclic(next)) continue;
    g = std::move(next);
    claims.push_back(x);
  }
  return claims;
}

/// A family for a level that an order stays below, by a search that is wrong in one way: it takes the set of all nodes for a
/// dead end, or goes on with a node that adds no memory even where that node reaches the level.
certificate wrong_family(const schedule_graph& g, bytes level, bool forgets_end) {
  certificate c{.bound = level, .family = set_family{.level = level}};
  std::vector<bool> tied(g.size());
  for (node_id v = 0; v < g.size(); ++v)
    for (const credit& k : g.credits[v])
      for (node_id r : g.preds[k.release]) tied[r] = true;
  const auto is_ready = [&](node_id v, const std::vector<bool>& ran) {
    return !ran[v] && std::all_of(g.preds[v].begin(), g.preds[v].end(), [&](node_id u) { return ran[u]; });
  };
  const auto grown = [&](std::vector<bool> ran) {
    for (bool more = true; more;) {
      more = false;
      for (node_id u = 0; u < g.size(); ++u)
        if (g.cost[u].peak == 0 && g.cost[u].impact <= 0 && (g.is_release(u) || !tied[u]) && is_ready(u, ran))
          ran[u] = more = true;
    }
    return ran;
  };
  std::vector<std::vector<bool>> sets{grown(std::vector<bool>(g.size()))};
  for (index_t i = 0; i < sets.size() && sets.size() < most_sets; ++i) {
    delta here = static_cast<delta>(g.base);
    for (node_id u = 0; u < g.size(); ++u) here += sets[i][u] ? g.cost[u].impact : 0;
    std::vector<node_id> next;
    for (node_id v = 0; v < g.size(); ++v) {
      if (!is_ready(v, sets[i])) continue;
      if (!forgets_end && g.cost[v].impact <= 0 && g.credits[v].empty()) {
        next.assign(1, v);
        break;
      }
      delta takes = here + g.cost[v].peak;
      for (const credit& k : g.credits[v]) takes -= k.amount;  // no less than this
      if (takes < static_cast<delta>(level)) next.push_back(v);
    }
    for (node_id v : next) {
      std::vector<bool> ran = sets[i];
      ran[v] = true;
      ran = grown(std::move(ran));
      if (std::find(sets.begin(), sets.end(), ran) != sets.end()) continue;
      sets.push_back(std::move(ran));
      c.family->sets.push_back({i, v});
    }
  }
  return c;
}

/// A proof that is sound for another graph, and for this one where what was changed may be changed: by rules of compression
/// at its start, by an edge, or by credits that are left out.
certificate forged(schedule_graph g, support::random& r) {
  std::vector<reduction> claims;
  switch (r.below(6)) {
    case 0: g.credits = list_of<credit>::from_pairs(g.size(), std::vector<std::pair<index_t, credit>>{}); break;
    case 1: {
      const node_id last = r.below(static_cast<std::uint32_t>(g.active));
      const node_id first = r.below(static_cast<std::uint32_t>(g.active));
      schedule_graph next = with_edges(g, std::vector{precedence{first, last}});
      if (first != last && is_acyclic(next)) g = std::move(next);
      break;
    }
    default: claims = claim_reductions(g, r);
  }
  const solution best = optimum(g);
  const auto go_on = [] { return true; };
  certificate c = r.chance(50) ? detail::certify_by_sets(g, best.lower_bound, most_sets, go_on)
                               : certify(g, best.order, best.lower_bound, go_on);
  if (c.steps.empty() && c.family)
    c.family->reductions.insert(c.family->reductions.begin(), claims.begin(), claims.end());
  if (!c.steps.empty()) c.steps[0].reductions.insert(c.steps[0].reductions.begin(), claims.begin(), claims.end());
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t graphs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const memory_model models[] = {{}, {.in_place = false}, {.default_firing = firing::cbp}};
  for (std::uint64_t seed = first; seed < first + graphs; ++seed) {
    support::random r(seed);
    const problem_draft draft = support::random_draft(seed, {.operators = 4 + r.below(8), .max_inputs = 2 + r.below(3)});
    const problem p = check(draft).value();
    const std::string text = on_a_line(draft);
    for (const memory_model& model : models) {
      const schedule_graph g = make_schedule_graph(p, model);
      const solution best = optimum(g);
      const certificate c = certify(g, best.order, best.lower_bound, [] { return true; });
      print(text, g, model, best, c);
      const certificate by_sets = detail::certify_by_sets(g, best.lower_bound, most_sets, [] { return true; });
      if (by_sets.family) {
        print(text, g, model, best, by_sets);
        for (int i = 0; i < changes_each; ++i) print(text, g, model, best, support::other_family(by_sets, r, g));
        for (const bool forgets_end : {false, true})
          print(text, g, model, best, wrong_family(g, best.lower_bound + 1 + r.below(5), forgets_end));
      }
      if (c.steps.empty() || c.family) continue;
      for (int i = 0; i < changes_each; ++i)
        print(text, g, model, best, i % 2 == 0 ? support::broken(c, r) : support::altered(c, r, g));
      for (int i = 0; i < forgeries_each; ++i) print(text, g, model, best, forged(g, r));
    }
  }
}
