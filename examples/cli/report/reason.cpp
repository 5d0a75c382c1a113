#include "reason.hpp"

#include <algorithm>
#include <memsched/bounds/cut_bound.hpp>
#include <memsched/graph/check.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/schedule.hpp>
#include <utility>

namespace cli {

namespace {

using memsched::bytes;
using memsched::none;
using memsched::op_id;
using memsched::tensor_id;

/// All operators that edges of `next` lead to from one.
std::vector<bool> reached(const memsched::adjacency& next, std::size_t operators, op_id from) {
  std::vector<bool> seen(operators, false);
  std::vector<op_id> open{from};
  while (!open.empty()) {
    const op_id op = open.back();
    open.pop_back();
    for (const op_id to : next[op])
      if (!seen[to]) seen[to] = true, open.push_back(to);
  }
  return seen;
}

/// Fills in what lives while `r.op` runs, or right before it, in every order.
///
/// A storage does where it is an input of the graph or comes from an ancestor of the operator, and stays to the end or has a
/// reader among the operator's descendants: that reader has not run. So does what the operator itself reads, unless it frees
/// it before it writes, and, while it runs, what it writes. Working in place spares at most what the graph allows.
void fill_together(reason& r, const memsched::problem& p, memsched::memory_model model) {
  const std::size_t n = p.ops().size();
  const std::vector<bool> before = reached(p.predecessors(), n, r.op);
  const std::vector<bool> later = reached(memsched::base::transpose(p.predecessors(), n), n, r.op);
  const bool early = p.firing(r.op).value_or(model.default_firing) == memsched::firing::cbp;
  for (const tensor_id t : p.tensors()) {
    if (p.storage(t) != t || p.size(t) == 0) continue;
    const op_id from = p.producer(t);
    const auto readers = p.readers(t);
    const auto waits = [&](op_id reader) { return later[reader] || (reader == r.op && (r.before || !early)); };
    const bool here = from == none ? p.kept(t) : before[from];
    if ((from == r.op && !r.before) || (here && (p.stays(t) || std::any_of(readers.begin(), readers.end(), waits)))) {
      r.together.push_back(t);
      r.together_bytes += p.size(t);
    }
  }
  if (r.before) return;
  r.workspace = p.workspace(r.op);
  if (model.in_place && !early)
    for (const auto& reuse : p.reuses(r.op))
      if (!p.stays(reuse.input)) r.spared += reuse.spared;
  r.together_bytes += r.workspace;
  r.together_bytes -= std::min(r.together_bytes, r.spared);
}

/// Adds the case in which exactly the operators in `ran` have run: their number, and the further storages that live then.
void fill_cheapest(reason& r, const memsched::problem& p, std::span<const memsched::node_id> ran) {
  std::vector<bool> done(p.ops().size(), false), forced(p.tensors().size(), false);
  for (const auto v : ran)
    if (v < done.size()) done[v] = true, ++r.ran;
  for (const tensor_id t : r.together) forced[t] = true;
  for (const tensor_id t : p.tensors()) {
    if (p.storage(t) != t || p.size(t) == 0 || forced[t]) continue;
    const op_id from = p.producer(t);
    const auto readers = p.readers(t);
    const bool here = from == none ? p.kept(t) : done[from] && p.kept(t);
    const auto waits = [&](op_id reader) { return !done[reader] && (r.before || reader != r.op); };
    if (here && (p.stays(t) || std::any_of(readers.begin(), readers.end(), waits))) r.cheapest.push_back(t);
  }
}

void largest_first(std::vector<tensor_id>& tensors, const memsched::problem& p) {
  std::stable_sort(tensors.begin(), tensors.end(), [&](tensor_id a, tensor_id b) { return p.size(a) > p.size(b); });
}

}  // namespace

reason find_reason(const memsched::problem& p, std::span<const op_id> order, const memsched::options& limits) {
  const auto g = memsched::make_schedule_graph(p, limits.model());
  memsched::search context(limits);
  const auto best = memsched::bounds::best_cut_bound(g, order, 0, [&] { return context.keep_going(); });
  reason r;
  r.bound = best.bound;
  if (best.v == none || best.v >= p.ops().size()) return r;
  r.op = best.v;
  // The cut counts the level before a node that only lowers it.
  r.before = p.firing(r.op).value_or(limits.default_firing) == memsched::firing::cbp && g.credits[r.op].empty() &&
             g.cost[r.op].peak == 0;
  fill_together(r, p, limits.model());
  memsched::bounds::cut_bound cut(g);
  cut.at(best.v);
  fill_cheapest(r, p, cut.ran());
  largest_first(r.together, p);
  largest_first(r.cheapest, p);
  return r;
}

std::vector<saving> find_savings(const memsched::problem& p, std::span<const op_id> order,
                                 std::span<const tensor_id> tensors, bool search_anew, const memsched::options& limits) {
  std::vector<saving> all;
  for (const tensor_id t : tensors) {
    memsched::problem_draft draft = p.draft();
    draft.tensors[t].size = 0;
    const auto without = memsched::make_problem(std::move(draft));
    if (!without) continue;
    saving s{t};
    s.same_order = s.best_order = memsched::evaluate(*without, order, limits.model()).value().peak;
    if (search_anew && !limits.stop.stop_requested()) {
      const auto found = memsched::schedule(*without, memsched::automatic, limits);
      s.best_order = std::min(s.best_order, found.peak);
      s.bound = found.lower_bound;
    }
    all.push_back(s);
  }
  return all;
}

}  // namespace cli
