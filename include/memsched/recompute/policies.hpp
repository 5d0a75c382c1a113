// The library's rerun policies: an order first, exact search, repair, improvement, and three kinds of bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <memsched/base/linkage.hpp>
#include <memsched/recompute/incumbent.hpp>
#include <memsched/recompute/policy.hpp>
#include <memsched/schedule.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace reruns {

/// Looks for an order within the budget, which costs nothing, with a scheduler and a quarter of the time. Another order is left
/// for repairs if it has fewer bytes over the budget, summed over operators, than all before. Does nothing if an order is
/// kept.
template <scheduler S = automatic_scheduler>
struct order_first {
  S scheduler{};
  static constexpr std::string_view name = "order";
  void operator()(rerun_incumbent& best, search& context) const;
};
template <scheduler S>
order_first(S) -> order_first<S>;

/// The exact search of `cheapest_executions`, in graphs of at most `operators` operators and by at most `states` states; then
/// the gap cover, for a proof.
struct exact {
  std::size_t operators = 14;
  std::uint64_t states = 200000;
  static constexpr std::string_view name = "exact";
  void operator()(rerun_incumbent& best, search& context) const;
};

/// Repair and prune (`rerun_search`) of each order that earlier policies left and none repaired, the given one included.
struct repair {
  static constexpr std::string_view name = "repair";
  void operator()(rerun_incumbent& best, search& context) const;
};

/// Repairs each order again, ranked by the prices of its gap cover, and from the cheapest gaps that cover it (if storages may
/// leave, `improve_cover`); if nothing is within the budget yet, with noise, too. Leaves the prices for `improve`.
struct repair_by_prices {
  static constexpr std::string_view name = "repair by prices";
  void operator()(rerun_incumbent& best, search& context) const;
};

/// Destroys and repairs: short runs of the best schedules, several of each, then a longer one of the best.
struct improve {
  static constexpr std::string_view name = "improve";
  void operator()(rerun_incumbent& best, search& context) const;
};

/// The bound of the gap cover of rows (`cover_gaps`), by at most `nodes` nodes; leaves rows, with shares of writes
/// (`share_writes`), and prices.
struct cover {
  std::size_t nodes = 4096;
  static constexpr std::string_view name = "cover";
  void operator()(rerun_incumbent& best, search& context) const;
};

/// The bound of the gap cover with needs at some rows, by at most `nodes` nodes. If its cheapest answers exceed the budget
/// at another row, that one is added. Does nothing before `cover`.
struct cover_with_needs {
  std::size_t nodes = 4096;
  static constexpr std::string_view name = "needs";
  void operator()(rerun_incumbent& best, search& context) const;
};

/// The bound of orders of weighed problems (`weighing_of`), at ten prices; leaves the best order for repairs. Does nothing
/// if an order is kept.
struct weights {
  static constexpr std::string_view name = "weights";
  void operator()(rerun_incumbent& best, search& context) const;
};

/// The default of `recompute`: all of these, in shares of the limits.
struct automatic_policy {
  static constexpr std::string_view name = "automatic";
  void operator()(rerun_incumbent& best, search& context) const;
};
inline constexpr automatic_policy automatic{};

}  // namespace reruns

namespace detail {

/// Keeps an order that some scheduler found, if it is within the budget. Else it is to be repaired if the bytes over the
/// budget, summed over operators, are fewer than in each order before.
MEMSCHED_FUNCTION void take_order(rerun_incumbent& best, search& context, const schedule_result<op_id>& found);
/// Repairs s, ranked with noise, and prunes it. Offers what is within the budget.
MEMSCHED_FUNCTION void repair_from(rerun_incumbent& best, search& context, rerun_stages s, std::uint64_t noise_percent = 0);
/// Options of a search for orders: the budget is one of executions, and progress that of reruns.
MEMSCHED_FUNCTION options order_options(const options& o, std::int64_t part_of_time);

}  // namespace detail

namespace reruns {

template <scheduler S>
void order_first<S>::operator()(rerun_incumbent& best, search& context) const {
  if (best.keeps_order()) return;
  options o = detail::order_options(best.opts(), 4);
  o.budget = best.budget();
  detail::take_order(best, context, detail::schedule_problem(best.graph(), scheduler, o));
}

}  // namespace reruns

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <memsched/proof/weighed_problem.hpp>
#include <memsched/recompute/cover.hpp>
#include <memsched/recompute/exact.hpp>
#include <memsched/recompute/improve_cover.hpp>
#include <memsched/recompute/needs.hpp>
#include <memsched/recompute/repair.hpp>
#include <memsched/recompute/violated_row.hpp>
#include <memsched/recompute/weights.hpp>
#include <memsched/recompute/write_shares.hpp>
#include <memsched/schedulers/beam.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

MEMSCHED_FUNCTION options order_options(const options& given, std::int64_t part_of_time) {
  options o = given;
  o.budget = no_limit;
  o.certify = nullptr;
  o.on_progress = {};
  o.state_limit = std::min<std::uint64_t>(o.state_limit, 20000);
  if (o.has_time_limit()) o.time_limit /= part_of_time;
  return o;
}

MEMSCHED_FUNCTION void take_order(rerun_incumbent& best, search& context, const schedule_result<op_id>& found) {
  context.control().stats.states += found.stats.states;
  context.keep_going();
  if (found.error) return;
  if (best.offer(found.order)) return;
  stage_player player(best.table(), best.model());
  const auto over = [&](const std::vector<op_id>& order) { return player.play(rerun_stages(order), best.budget()).over; };
  const double least = over(found.order);
  if (std::ranges::all_of(best.orders, [&](const first_runs& other) { return least < over(other.order); }))
    best.orders.push_back({found.order});
}

/// Fills in what `cover_gaps` does not know of a proof.
MEMSCHED_FUNCTION recompute_proof proof_of(const rerun_incumbent& best, recompute_proof proof) {
  proof.any_order = !best.keeps_order();
  proof.charged.assign(best.graph().ops().size(), none);
  for (tensor_id t = 0; t < best.rows.charged_to.size(); ++t)
    if (best.rows.charged_to[t] != none) proof.charged[best.rows.charged_to[t]] = t;
  return proof;
}

/// Repairs s. Offers what is within the budget.
MEMSCHED_FUNCTION void repair_from(rerun_incumbent& best, rerun_search& reruns, rerun_stages s,
                                   const candidate_ranks& ranks) {
  if (!reruns.repair(s, std::uint64_t{1} << 61, ranks)) return;
  reruns.prune(s);
  best.offer(std::move(s));
}
MEMSCHED_FUNCTION void repair_from(rerun_incumbent& best, search& context, rerun_stages s, std::uint64_t noise_percent) {
  rerun_search reruns(best.table(), best.model(), best.budget(), context, 1 + noise_percent);
  repair_from(best, reruns, std::move(s), {.noise_percent = noise_percent});
}

}  // namespace detail

namespace reruns {

MEMSCHED_FUNCTION void exact::operator()(rerun_incumbent& best, search& context) const {
  if (best.graph().ops().size() > operators) return;
  const exact_executions e = context.control().with_states(std::min(context.control().states_left(), states), [&] {
    return cheapest_executions(best.table(), best.model(), best.budget(), best.kept_order(), context);
  });
  if (!e.complete) return;
  apply(cover{}, best, context);
  if (!e.found) return best.refute();
  best.offer(e.executions);
  best.raise(e.extra_cost);
}

MEMSCHED_FUNCTION void repair::operator()(rerun_incumbent& best, search& context) const {
  for (first_runs& runs : best.orders)
    if (!std::exchange(runs.repaired, true)) detail::repair_from(best, context, rerun_stages(runs.order));
}

MEMSCHED_FUNCTION void repair_by_prices::operator()(rerun_incumbent& best, search& context) const {
  for (auto& [order, prices, repaired] : best.orders) {
    for (std::uint64_t noise = 0; !best.fits() && noise <= 800 && !context.stopped(); noise += 100)
      detail::repair_from(best, context, rerun_stages(order), noise);
    rerun_rows rows = rows_of_order(best.table(), best.model(), order);
    share_writes(best.table(), best.budget(), best.least_cost(), rows, context);
    gap_cover found = cover_gaps(rows, best.budget(), {.nodes = 64, .unit = best.unit()}, context);
    if (found.infeasible) continue;
    prices = found.prices;
    rerun_search reruns(best.table(), best.model(), best.budget(), context, 1);
    reruns.set_prices(prices);
    detail::repair_from(best, reruns, rerun_stages(order), {.by_prices = true});
    if (best.table().prices())
      found.absent = improve_cover(best.table(), rows, best.budget(), std::move(found.absent), context);
    rerun_stages s(order);
    const std::uint64_t most = best.fits() ? 8 * best.least_cost() : std::uint64_t{1} << 61;
    if (reruns.open_gaps(s, rows, found.absent, most)) detail::repair_from(best, reruns, std::move(s), {});
  }
}

MEMSCHED_FUNCTION void improve::operator()(rerun_incumbent& best, search& context) const {
  constexpr std::size_t kept = 3, times = 8;
  const std::uint64_t idle = std::clamp<std::uint64_t>(400000 / best.graph().ops().size(), 60, 3000);
  std::uint64_t seed = 0;
  const auto improved = [&](rerun_stages s, std::uint64_t rounds) {
    rerun_search reruns(best.table(), best.model(), best.budget(), context, ++seed);
    for (const first_runs& runs : best.orders)
      if (runs.order == s.order) reruns.set_prices(runs.prices);
    reruns.improve(s, rounds, best.enough());
    best.offer(std::move(s));
  };
  const auto cost = [&](const rerun_stages& s) { return extra_cost(best.table(), s); };
  std::ranges::stable_sort(best.schedules, {}, cost);
  const std::size_t from = std::min(kept, best.schedules.size());
  for (std::size_t k = 0; k < times; ++k)
    for (std::size_t i = 0; i < from && !best.done() && !context.stopped(); ++i) improved(best.schedules[i], idle / 8);
  if (from > 0 && !best.done()) improved(*std::ranges::min_element(best.schedules, {}, cost), idle / 2);
}

MEMSCHED_FUNCTION void cover::operator()(rerun_incumbent& best, search& context) const {
  if (best.rows.rows.empty()) {
    best.rows = best.keeps_order() ? rows_of_order(best.table(), best.model(), best.given())
                                   : rows_of_path(best.table(), best.model(),
                                                  find_path(best.graph(), best.model(), best.given(), best.budget()));
    share_writes(best.table(), best.budget(), best.least_cost(), best.rows, context);
  }
  gap_cover found =
      cover_gaps(best.rows, best.budget(), {.enough = best.least_cost(), .nodes = nodes, .unit = best.unit()}, context);
  best.prices = std::move(found.prices);
  recompute_proof proof = detail::proof_of(best, std::move(found.proof));
  if (found.infeasible) best.refute(std::move(proof));
  else best.raise(found.bound, std::move(proof));
}

MEMSCHED_FUNCTION void cover_with_needs::operator()(rerun_incumbent& best, search& context) const {
  std::vector<index_t> chosen = rows_with_needs(best.prices);
  std::vector<std::pair<index_t, double>> prices = best.prices;
  while (!chosen.empty()) {
    rerun_needs needs = find_needs(best.table(), best.model(), best.rows, chosen, best.budget());
    find_reruns(best.table(), best.model(), best.rows, best.budget(), needs);
    gap_cover found =
        cover_gaps(best.rows, needs, best.budget(),
                   {.enough = best.least_cost(), .nodes = nodes, .unit = best.unit(), .start = prices}, context);
    best.raise(found.bound, detail::proof_of(best, std::move(found.proof)));
    if (found.answers.empty()) return;
    prices = std::move(found.prices);
    const index_t more = violated_row(best.table(), best.model(), best.rows, best.budget(), chosen, found.answers, context);
    if (more == none) return;
    chosen.insert(std::ranges::upper_bound(chosen, more), more);
  }
}

}  // namespace reruns

namespace detail {

/// The search of `reruns::weights` for a good price of a byte.
class weight_search {
 public:
  weight_search(rerun_incumbent& best, const weighing& w, search& context) : best_(best), weighing_(w), context_(context) {}

  void run() {
    double exponent = 0;
    for (int e = -6; e <= 1; ++e)
      if (improves(std::ldexp(weighing_.middle_price, e))) exponent = e;
    for (const double e : {exponent - 0.5, exponent + 0.5}) improves(weighing_.middle_price * std::exp2(e));
    if (found_.order.empty()) return;
    best_.orders.push_back({found_.order});
    best_.raise(found_.bound, prove());
  }

 private:
  struct weighed_order {
    std::uint64_t bound = 0;
    double price = 0;
    std::vector<op_id> order{};
    std::optional<memsched::certificate> certificate{};
  };

  /// The bound at a price; with `certify`, that of the certificate.
  std::optional<weighed_order> weigh(double price, options::certificate_maker* certify) {
    if (!context_.keep_going()) return std::nullopt;
    const auto weighed = weighed_problem(best_.graph(), best_.model(), weighing_.charged, weighing_.scaled(price),
                                         weighing_.scale, best_.table().prices());
    if (!weighed) return std::nullopt;
    options o = order_options(best_.opts(), 40);
    o.certify = certify;
    const schedule_result<op_id> s = detail::schedule_problem(*weighed, memsched::automatic, o);
    context_.control().stats.states += s.stats.states;
    if (s.error || (certify != nullptr && !s.certificate)) return std::nullopt;
    const bytes least_peak = certify == nullptr ? s.lower_bound : s.certificate->bound;
    const std::uint64_t bound =
        weighing_.extra_cost(least_peak, weighing_.scaled(price), std::min(best_.budget(), base::max_total), best_.unit());
    return weighed_order{bound, price, s.order, s.certificate};
  }

  /// Keeps what a price shows if no bound so far is as high. Returns whether it does.
  bool improves(double price) {
    auto w = weigh(price, nullptr);
    if (!w || (!found_.order.empty() && w->bound <= found_.bound)) return false;
    found_ = std::move(*w);
    return true;
  }

  /// A proof by the best price; an empty one if none is asked for or none is found.
  recompute_proof prove() {
    recompute_proof proof;
    if (best_.opts().certify == nullptr || found_.bound <= best_.lower_bound()) return proof;
    auto proven = weigh(found_.price, best_.opts().certify);
    if (!proven) return proof;
    proof.bound = proven->bound;
    proof.any_order = true;
    proof.charged = weighing_.charged;
    proof.scale = weighing_.scale;
    proof.weighed = {weighing_.scaled(proven->price), std::move(*proven->certificate)};
    return proof;
  }

  rerun_incumbent& best_;
  const weighing& weighing_;
  search& context_;
  weighed_order found_;
};

}  // namespace detail

namespace reruns {

MEMSCHED_FUNCTION void weights::operator()(rerun_incumbent& best, search& context) const {
  if (best.keeps_order()) return;
  if (const std::optional<weighing> w = weighing_of(best.table())) detail::weight_search(best, *w, context).run();
}

MEMSCHED_FUNCTION void automatic_policy::operator()(rerun_incumbent& best, search& context) const {
  apply(order_first{} | within{0.5, exact{}}, best, context);
  apply(order_first{beam{}}, best, context);
  apply(within{0.5, repair{}}, best, context);  // before any bound, so that short limits have an answer
  apply(within{0.3, cover{}}, best, context);
  const bool is_wide = 2 * best.rows.rows.size() < best.graph().ops().size();  // rows of a path say little
  if (is_wide) apply(weights{} | repair{}, best, context);
  apply(repair_by_prices{}, best, context);
  if (best.schedules.empty()) return;
  apply(within{0.3, cover_with_needs{}}, best, context);
  // If the bound is near, more of its proof may close the gap.
  const bool by_needs = best.facts().bound_by == cover_with_needs::name;
  const bool is_close = best.lower_bound() >= best.least_cost() / 10 * 9;
  const auto needs = within{0.75, cover_with_needs{1 << 17}};
  if (by_needs && is_close) apply(needs, best, context);
  apply(within{is_close && !by_needs ? 0.7 : 1, improve{}}, best, context);
  if (by_needs && !is_close) apply(needs, best, context);
  if (!by_needs) apply(cover{1 << 17}, best, context);
  if (!best.done()) context.control().give_up();
}

}  // namespace reruns

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
