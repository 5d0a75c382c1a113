// Proofs of arenas for random buffers and graphs of which everything is tried: those that are written, changed ones, and
// forged ones, which prove something of other buffers or leave cases out. A judge takes them:
//   packing(kind, buffers, truth, proof), joint(kind, joint_case, proof): may be accepted only if the truth is no less
//   fault(kind, what): something is wrong already
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <memsched/allocation/first_fit.hpp>
#include <memsched/allocation/joint_search.hpp>
#include <memsched/allocation/plan_offsets.hpp>
#include <memsched/allocation/plan_order_and_offsets.hpp>
#include <memsched/bounds/probing.hpp>
#include <memsched/certify/certify.hpp>
#include <memsched/certify/certify_joint.hpp>
#include <memsched/proof/arena_pieces.hpp>
#include <memsched/schedulers/automatic.hpp>

#include "support/all_orders.hpp"
#include "support/around_a_gap.hpp"
#include "support/random_buffers.hpp"

namespace support {

/// A graph, and the smallest arena of all its orders.
struct joint_case {
  const memsched::problem& p;
  memsched::options o;
  memsched::bytes alignment, truth;
};

namespace detail {

using namespace memsched;

inline std::uint32_t below(random& r, std::size_t n) { return r.below(static_cast<std::uint32_t>(n)); }

/// One thing in a proof is another, or missing; `buffers`: how many there are.
inline packing_proof changed(packing_proof p, random& r, std::size_t buffers) {
  const auto any_step = [&]() -> proof::packing_step& { return p.steps[below(r, p.steps.size())]; };
  switch (p.steps.empty() ? 0 : r.below(8)) {
    case 0: p.arena += 1; break;
    case 1: p.steps.erase(p.steps.begin() + below(r, p.steps.size())); break;
    case 2: std::swap(any_step(), any_step()); break;
    case 3: {
      const std::int64_t by = r.chance(50) ? 1 : -1;
      if (proof::packing_step& s = any_step(); s.is_sum) s.at += by;
      break;
    }
    case 4: p.steps.push_back(any_step()); break;
    case 5: {
      proof::packing_step& s = any_step();
      if (s.buffers.empty()) break;
      if (s.is_sum && r.chance(50)) s.buffers.erase(s.buffers.begin() + below(r, s.buffers.size()));
      else s.buffers[below(r, s.buffers.size())] = below(r, buffers);
      break;
    }
    case 6: {
      proof::packing_step& s = any_step();
      s.buffers.push_back(below(r, buffers));
      if (s.is_sum) std::sort(s.buffers.begin(), s.buffers.end());
      break;
    }
    default:
      if (p.buffers.empty()) break;
      p.buffers.erase(p.buffers.begin() + below(r, p.buffers.size()));
      break;
  }
  if (r.chance(30)) p.arena += 1;
  return p;
}

/// Other buffers, which may need more.
inline std::vector<buffer> other_buffers(std::vector<buffer> list, random& r) {
  for (std::uint32_t k = 1 + r.below(2); k > 0; --k) {
    buffer& b = list[below(r, list.size())];
    switch (r.below(6)) {
      case 0: b.size += 1; break;
      case 1: b.upper += 1 + r.below(3); break;
      case 2: b.lower = b.lower > 0 ? b.lower - 1 : b.lower; break;
      case 3: b.drops.clear(); break;
      case 4: b.alignment *= b.offset == no_offset ? 2 : 1; break;
      default: b.offset = no_offset; break;
    }
  }
  return list;
}

/// Kinds in turn: plain, mixed alignments, fixed, all at once, drops, one alignment for all.
inline buffer_shape shape_of(std::uint64_t seed, random& r) {
  buffer_shape s{.count = 3 + r.below(5), .time = 4 + r.below(6), .max_size = 2 + r.below(4)};
  switch (seed % 6) {
    case 1: s.percent_aligned = 50; break;
    case 2: s.percent_fixed = 30; break;
    case 3: s.percent_aligned = 40, s.percent_fixed = 20, s.percent_dropping = 30; break;
    case 4: s.percent_dropping = 50; break;
    case 5: s.one_alignment = true; break;
    default: break;
  }
  s.percent_full = r.chance(60) ? 100 : 0;
  return s;
}

inline joint_proof changed(joint_proof p, random& r) {
  proof::joint_refutation& one = p.refutations[below(r, p.refutations.size())];
  switch (r.below(6)) {
    case 0: p.refutations.erase(p.refutations.begin() + below(r, p.refutations.size())); break;
    case 1:
      if (!one.edges.empty()) one.edges.erase(one.edges.begin() + below(r, one.edges.size()));
      break;
    case 2:
      if (!one.edges.empty()) std::swap(one.edges[0].before, one.edges[0].after);
      break;
    case 3:
      if (one.order.size() > 1) std::swap(one.order[below(r, one.order.size())], one.order[below(r, one.order.size())]);
      break;
    case 4: {
      const bytes arena = one.packing.arena;
      if (!one.peak) one.packing = changed(one.packing, r, one.order.size() + 2);
      one.packing.arena = arena;
      break;
    }
    default: std::swap(p.refutations.front(), p.refutations.back()); break;
  }
  return p;
}

/// A false proof: the refutations of the exact search at a capacity that an order fits into, with the conflict that it began
/// with, though not all ways out of that are refuted.
inline joint_proof forged(const joint_case& c, random& draw) {
  joint_proof proof{.arena = c.truth + 1};
  search context(c.o);
  const minimize how{};
  memsched::detail::joint_search joint(c.p, automatic, how, c.alignment, context);
  std::vector<memsched::detail::joint_no> why;
  (void)joint.decide(c.truth, 20'000, &why);
  if (draw.chance(80)) why.push_back({{}, joint.ask_scheduler(c.p, c.truth).order, {0}});
  for (const auto& no : why) {
    proof::joint_refutation& f = proof.refutations.emplace_back();
    for (const auto& [before, after] : no.edges) f.edges.push_back({before, after});
    const auto held = joint.buffers(c.p, no.order);
    if (auto packing = certify_packing(held.buffers, c.truth + 1, context); packing && !no.conflict.empty()) {
      f.order = no.order, f.packing = std::move(*packing);
    } else {
      f.peak = certify(bounds::with_edges(make_schedule_graph(c.p, c.o.model()), f.edges), no.order, c.truth + 1,
                       [] { return true; });
    }
  }
  return proof;
}

inline bool same(const buffer& a, const buffer& b) {
  return std::tie(a.lower, a.upper, a.size, a.alignment, a.offset, a.drops) ==
         std::tie(b.lower, b.upper, b.size, b.alignment, b.offset, b.drops);
}

template <class Judge>
void proofs_of(std::uint64_t seed, const problem& p, const options& o, bytes alignment, Judge& judge) {
  random r(seed);
  bytes truth = no_limit;
  std::vector<op_id> prefix, best;
  std::vector<std::vector<op_id>> orders;
  const auto look = [&](const std::vector<op_id>& order) {
    auto held = buffers_of(p, order, o.model()).value();
    memsched::detail::arena_pieces again(p, o.model());
    if (!again.play(order) ||
        !std::equal(again.buffers.begin(), again.buffers.end(), held.buffers.begin(), held.buffers.end(), same))
      judge.fault("joint", "the buffers of an order are others");
    for (buffer& b : held.buffers) b.alignment = alignment;
    const bytes arena = plan_offsets(held.buffers).size;
    if (arena < truth) truth = arena, best = order;
    orders.push_back(order);
  };
  for_each_order(p, prefix, look);
  const joint_case c{p, o, alignment, truth};
  const auto proof = certify_joint(p, best, truth, automatic, minimize{}, o, alignment);
  if (!proof) return judge.fault("joint", "has no proof");
  const bool by_peak = proof->refutations.size() == 1 && proof->refutations[0].peak;
  judge.joint(by_peak ? "joint, a peak" : proof->refutations.size() > 1 ? "joint, several" : "joint", c, *proof);
  for (int i = 0; i < (by_peak ? 1 : 6) && !proof->refutations.empty(); ++i)
    judge.joint("joint changed", c, changed(*proof, r));
  if (joint_proof f = forged(c, r); !f.refutations.empty()) judge.joint("joint forged", c, f);
  // A proof for the orders with an edge is no proof for all.
  for (int i = 0; i < 3; ++i) {
    const precedence e{below(r, p.ops().size()), below(r, p.ops().size())};
    if (std::find(best.begin(), best.end(), e.before) <= std::find(best.begin(), best.end(), e.after)) continue;
    const schedule_graph g = bounds::with_edges(make_schedule_graph(p, o.model()), std::vector{e});
    if (base::topological_order(g.preds, g.succs).size() != g.size()) continue;
    certificate peak = certify(g, g.topological_order(), truth + 1, [] { return true; });
    judge.joint("joint forged", c, {truth + 1, {{.edges = {e}, .peak = std::move(peak)}}});
  }
  for (int i = 0; i < 4; ++i) {
    const auto& order = orders[below(r, orders.size())];
    auto held = buffers_of(p, order, o.model()).value();
    for (buffer& b : held.buffers) b.alignment = alignment;
    search context(o);
    if (auto packing = certify_packing(held.buffers, truth + 1, context))
      judge.joint("joint forged", c, {truth + 1, {{.order = order, .packing = std::move(*packing)}}});
  }
}

}  // namespace detail

/// Packing proofs for random buffers of which all offsets are tried.
template <class Judge>
void packing_proofs(std::uint64_t seed, Judge& judge) {
  using namespace memsched;
  random r(seed * 7 + 1);
  auto buffers = random_buffers(seed, detail::shape_of(seed, r));
  const auto truth = offset_oracle(buffers).smallest();
  if (!truth) return;
  const bool empty = r.chance(10);
  if (empty) buffers.push_back({.lower = 1, .upper = 1, .size = 3, .offset = 2 * *truth});
  const options o{.state_limit = 200'000};
  search context(o);
  const auto give = [&](const char* kind, const packing_proof& p) { judge.packing(kind, buffers, *truth, p); };
  if (empty) give("packing forged", {.arena = *truth + 1, .buffers = {static_cast<index_t>(buffers.size() - 1)}});
  const auto proof = certify_packing(buffers, *truth, context);
  if (!proof) return judge.fault("packing", "has no proof");
  const bool hard = *truth > memsched::detail::simple_bound(buffers);
  give(hard ? "packing" : "packing, simple", *proof);
  for (int i = 0; i < (hard ? 8 : 1); ++i) give("packing changed", detail::changed(*proof, r, buffers.size()));
  // The rules alone never refute what fits.
  std::vector<index_t> all;
  for (index_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].empty()) all.push_back(i);
  if (memsched::detail::certify_conflict(buffers, *truth + 1, all, context, {.cases = 200}))
    judge.fault("packing", "is refuted, but fits");
  for (int i = 0; i < 4; ++i) {
    const auto other = detail::other_buffers(buffers, r);
    if (!check_buffers(other).message.empty() || !check_fixed(other).message.empty()) continue;
    search limited({.state_limit = 20'000});
    const auto plan = plan_offsets(other, minimize{}, {.state_limit = 20'000});
    if (const auto forged = certify_packing(other, plan.lower_bound, limited)) give("packing forged", *forged);
  }
}

/// Joint proofs for a graph in which much is in place and all is aligned, so that many orders do not pack.
template <class Judge>
void aligned_joint_proofs(std::uint64_t seed, Judge& judge) {
  using namespace memsched;
  random r(seed);
  shape s{.operators = 5 + r.below(2), .max_size = 6, .percent_inplace = 80};
  s.max_inputs = 2;
  options o;
  if (seed % 5 == 4) o.default_firing = firing::cbp;
  const bytes alignment = 2 + r.below(3);
  detail::proofs_of(seed, random_problem(seed, s), o, alignment, judge);
}

/// Joint proofs for graphs of which all orders are tried: around a gap, aligned, and with an output that is smaller than
/// what it takes the place of.
template <class Judge>
void joint_proofs(std::uint64_t seed, Judge& judge) {
  using namespace memsched;
  options o;
  o.in_place = seed % 16 != 0;
  detail::proofs_of(seed, around_a_gap(seed), o, 1, judge);
  aligned_joint_proofs(seed, judge);
  random r(seed);
  const problem_draft d = shrinking(r);
  const bytes alignment = 1 + r.below(3), workspace = alignment * (2 + r.below(5));
  detail::proofs_of(seed, behind_a_workspace(tensors_renumbered(d, seed), workspace), {}, alignment, judge);
}

}  // namespace support
