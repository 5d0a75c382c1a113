// Certificates for a second checker: prints one JSON object a line, a graph with an order of it and its optimum, and after
// it certificates, each with whether `check_certificate` accepts it. Some have something changed, or belong to another
// graph; others prove something of another graph: one with an edge more, without credits, or to which rules of compression
// were applied where they do not hold.
// usage: certificate_cases [--claims EACH] GRAPHS [SEED]
//        certificate_cases --of-each COUNT [SEED]
//   --claims: nothing is changed; every EACH-th certificate of what `automatic` claims is printed, all are checked
//   --of-each: COUNT certificates of each kind of change, and graphs until there are
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <memsched/bounds/probing.hpp>
#include <memsched/certify/certify.hpp>
#include <memsched/certify/certify_graph.hpp>
#include <memsched/graph/walk.hpp>
#include <memsched/schedulers/exhaustive.hpp>

#include "case.hpp"
#include "claims.hpp"
#include "mutations.hpp"
#include "support/changed_certificates.hpp"
#include "support/event_families.hpp"

using namespace memsched;

namespace {

constexpr int forgeries_each = 8;
constexpr std::size_t most_sets = 2000;

solution optimum(const schedule_graph& g) {
  const options o;
  search context(o);
  return exhaustive{}(g, context);
}

/// A certificate that is nothing but a family; of what is live at the ends where that suffices.
certificate by_sets(const schedule_graph& g, bytes level, bool mirrored) {
  certificate c{.bound = level, .family = proof::set_family{.level = level, .mirrored = mirrored && g.credits.items() == 0}};
  if (level == detail::level_at_ends(g) || !find_family(g, c, most_sets, [] { return true; }))
    return detail::assemble(g, {});
  return c;
}

/// The first steps of c, and a family that goes on from there; of what is live at the ends where there is none.
certificate by_sets_behind_steps(const schedule_graph& g, certificate c, support::random& r) {
  if (c.steps.empty() || c.family) return detail::assemble(g, {});
  c.steps.resize(r.below(static_cast<std::uint32_t>(c.steps.size())));
  c.family = proof::set_family{.level = c.bound, .mirrored = r.chance(50) && g.credits.items() == 0};
  if (!c.steps.empty()) c.bound = std::min(c.bound, detail::lowest_level(c.steps));
  return find_family(g, c, most_sets, [] { return true; }) ? c : detail::assemble(g, {});
}

/// The certificate of a window of some order of g; of what is live at the ends where there is none.
certificate of_window(const schedule_graph& g, const std::vector<node_id>& order, support::random& r) {
  const structure::order_line line(g, r.chance(50) ? order : g.topological_order());
  const base::backbone bone(g.preds, g.succs, line.nodes(0, line.size()));
  const bounds::live_index live(line);
  const std::size_t a = line.legal_from(r.below(5)), b = line.legal_from(a + 2 + r.below(8));
  if (a >= b || (a == 0 && b == line.size())) return detail::assemble(g, {});
  const node_id core = line.at(a + r.below(static_cast<std::uint32_t>(b - a)));
  const auto found = detail::describe_window(line, live, bone, a, b, g.is_release(core) ? none : core);
  if (!found) return detail::assemble(g, {});
  const bytes bound = optimum(found->graph).lower_bound, lift = found->window.lift + found->window.slack;
  return detail::certify_window(*found, bound - std::min(bound, lift), {64, most_sets}, {}, [] { return true; });
}

/// The graph that a rule of compression makes of g, whether the rule holds there or not.
schedule_graph reduced(schedule_graph g, const proof::reduction& x) {
  if (detail::adds_edge(x)) return bounds::with_edges(g, std::vector{precedence{x.first, x.second}});
  detail::merge_costs(g.cost, x);
  return g;
}

bool is_acyclic(const schedule_graph& g) { return g.topological_order().size() == g.active; }

/// Some reductions, mostly of nodes that an edge ties, and what they make of g.
std::vector<proof::reduction> claim_reductions(schedule_graph& g, support::random& r) {
  std::vector<proof::reduction> claims;
  for (std::uint32_t i = 1 + r.below(3); i > 0; --i) {
    const auto first = static_cast<node_id>(r.below(static_cast<std::uint32_t>(g.active)));
    const auto behind = static_cast<std::uint32_t>(g.succs[first].size());
    const node_id second =
        behind > 0 && r.chance(60) ? g.succs[first][r.below(behind)] : r.below(static_cast<std::uint32_t>(g.size()));
    const proof::reduction x{static_cast<proof::reduction::rule>(r.below(4)), first, second};
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
  certificate c{.bound = level, .family = proof::set_family{.level = level}};
  std::vector<bool> tied(g.size());
  for (node_id v = 0; v < g.size(); ++v)
    for (const auto& k : g.credits[v])
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
      for (const auto& k : g.credits[v]) takes -= k.amount;  // no less than this
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
  std::vector<proof::reduction> claims;
  switch (r.below(6)) {
    case 0:
      g.credits =
          list_of<schedule_graph::credit>::from_pairs(g.size(), std::vector<std::pair<index_t, schedule_graph::credit>>{});
      break;
    case 1: {
      const node_id last = r.below(static_cast<std::uint32_t>(g.active));
      const node_id first = r.below(static_cast<std::uint32_t>(g.active));
      schedule_graph next = bounds::with_edges(g, std::vector{precedence{first, last}});
      if (first != last && is_acyclic(next)) g = std::move(next);
      break;
    }
    default: claims = claim_reductions(g, r);
  }
  const solution best = optimum(g);
  const auto go_on = [] { return true; };
  certificate c =
      r.chance(50) ? by_sets(g, best.lower_bound, r.chance(50)) : certify(g, best.order, best.lower_bound, go_on);
  if (c.steps.empty() && c.family) c.family->reductions.insert(c.family->reductions.begin(), claims.begin(), claims.end());
  if (!c.steps.empty()) c.steps[0].reductions.insert(c.steps[0].reductions.begin(), claims.begin(), claims.end());
  return c;
}

/// The numbers of certificates of each kind: those that are wanted, and those that were printed.
struct quota {
  std::uint64_t most = no_limit;
  int changes_each = 4;  ///< of a certificate, in each way
  std::map<std::string, std::uint64_t> printed{};

  bool wants(const std::string& kind) const {
    const auto at = printed.find(kind);
    return at == printed.end() || at->second < most;
  }
  /// Whether there are enough of all kinds that were seen.
  bool is_met() const {
    return !printed.empty() &&
           std::all_of(printed.begin(), printed.end(), [&](const auto& kind) { return kind.second >= most; });
  }
};

/// Prints certificates of one graph, with the quota's `changes_each` changes of each in each way.
class printer {
 public:
  printer(const proof_case& about, support::random& r, quota& q) : about_(about), r_(r), quota_(q) {}

  void print(const std::string& kind, const certificate_json& c) {
    if (!quota_.wants(kind)) return;
    ++quota_.printed[kind];
    about_.print(kind, c);
  }
  void print(const std::string& kind, const certificate& c) { print(kind, write_certificate(c)); }
  /// The certificate, and what changes make of it.
  void print_changed(const std::string& kind, const certificate& c) {
    static std::map<std::string, certificate_json> last;  // of a graph before this
    about_.print(kind, c);
    const certificate_json j = write_certificate(c);
    for (const auto& [name, change] : mutations::all)
      for (int i = 0; i < quota_.changes_each && quota_.wants(kind + ", " + name); ++i)
        if (certificate_json other = j; change(other, r_, about_.graph().size()) && other != j)
          print(kind + ", " + name, other);
    const std::string anothers = kind + ", another graph's";
    if (const auto other = last.find(kind); other != last.end() && other->second != j)
      for (int i = 0; i < quota_.changes_each && quota_.wants(anothers); ++i) {
        // As it is; claiming the bound of this graph, or one more, or another.
        certificate_json given = other->second;
        const auto more = static_cast<std::int64_t>(c.bound) - given["bound"].get<std::int64_t>();
        if (i > 0) mutations::add_to_levels(given, i == 1 ? more : i == 2 ? more + 1 : more - 1 - r_.below(9));
        print(anothers, given);
      }
    last[kind] = j;
  }

 private:
  const proof_case& about_;
  support::random& r_;
  quota& quota_;
};

void print_all(const problem_draft& draft, const memory_model& model, support::random& r, quota& q) {
  const auto go_on = [] { return true; };
  const problem p = make_problem(draft).value();
  const schedule_graph g = make_schedule_graph(p, model);
  const solution best = optimum(g);
  const proof_case about(draft, g, model, best.order, best.lower_bound);
  printer out(about, r, q);
  const certificate c = certify(g, best.order, best.lower_bound, go_on);
  if (!c.family) out.print_changed("steps", c);
  if (const certificate both = by_sets_behind_steps(g, c, r); !both.steps.empty())
    out.print_changed("steps and family", both);
  if (const certificate window = of_window(g, best.order, r); window.window) out.print_changed("window", window);
  const auto compressed = [&](const schedule_graph& h, bytes b) {
    return detail::certify_rounds(h, detail::compressed_for_proof(h), b, 0, 0, go_on);
  };
  if (const certificate shaved = support::by_cases(g, best.lower_bound, r, compressed); !shaved.steps.empty())
    out.print_changed("cases", shaved);
  if (const certificate layer = support::by_layer(g, best.lower_bound, r); !layer.steps.empty())
    out.print_changed("layer", layer);
  const bytes placed_below = best.lower_bound - r.below(static_cast<std::uint32_t>(best.lower_bound / 3 + 1));
  if (const certificate placed = support::by_positions(g, placed_below, r.chance(30)); !placed.steps.empty()) {
    out.print_changed("positions", placed);
    certificate more = placed;
    for (proof::proof_step& s : more.steps) s.level += s.positions.empty() ? 0 : 1;
    out.print("positions forged", more);
  }
  if (const certificate family = by_sets(g, best.lower_bound, r.chance(50)); family.family) {
    out.print_changed("family", family);
    for (const bool forgets_end : {false, true})
      if (q.wants("family forged"))
        out.print("family forged", wrong_family(g, best.lower_bound + 1 + r.below(5), forgets_end));
  }
  if (g.credits.items() == 0) {
    certificate events = support::any_events(g, best.lower_bound, r);
    if (support::add_missing_sets(g, events, most_sets)) out.print_changed("events", events);
    if (certificate wrong = support::any_events(g, best.lower_bound + 1 + r.below(5), r); q.wants("events forged")) {
      support::add_missing_sets(g, wrong, most_sets);
      out.print("events forged", wrong);
    }
  }
  if (c.steps.empty() || c.family) return;
  for (int i = 0; i < forgeries_each && q.wants("steps forged"); ++i) out.print("steps forged", forged(g, r));
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, std::uint64_t otherwise) {
    return i < argc ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  if (argc > 1 && std::string(argv[1]) == "--claims")
    return claims::print_claims(number(3, 1000), number(4, 0), std::max<std::uint64_t>(number(2, 100), 1)) ? 0 : 1;
  const bool of_each = argc > 1 && std::string(argv[1]) == "--of-each";
  quota q;
  if (of_each) q = {.most = number(2, 1000), .changes_each = 32};
  const std::uint64_t first = number(of_each ? 3 : 2, 0), graphs = of_each ? 0 : number(1, 100);
  const memory_model models[] = {{}, {.in_place = false}, {.default_firing = firing::cbp}};
  for (std::uint64_t seed = first; seed < first + graphs || (of_each && !q.is_met()); ++seed) {
    support::random r(seed);
    const problem_draft draft = r.chance(20) ? support::sparse_product(r)
                                             : support::random_draft(seed, {.operators = 4 + r.below(8),
                                                                            .max_inputs = 2 + r.below(3),
                                                                            .percent_updates = r.chance(30) ? 10U : 0U,
                                                                            .percent_overwrites = r.chance(30) ? 30U : 0U});
    if (!make_problem(draft)) continue;  // updates ask for a cycle
    for (const memory_model& model : models) print_all(draft, model, r, q);
  }
}
