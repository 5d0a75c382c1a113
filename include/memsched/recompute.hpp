// The front door to schedules below the smallest peak of any order: recompute(graph, options).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/numbering.hpp>
#include <memsched/graph/offload.hpp>
#include <memsched/recompute/recompute_result.hpp>
#include <memsched/schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// First executions as given: `recompute(graph, keep_order{order}, options)`.
template <class Op>
struct keep_order {
  std::vector<Op> order;  ///< every operator once
};
template <class Op>
keep_order(std::vector<Op>) -> keep_order<Op>;

/// The cheapest executions of a checked problem within `o.budget`, in operator ids. An `order` is kept; where it is empty,
/// any will do. With `moves`, storages may leave memory and come back.
MEMSCHED_FUNCTION recompute_result<op_id> recompute_problem(const problem& p, std::span<const op_id> order, const options& o,
                                                            const offload& moves = {});

namespace detail {

/// The positions of handles among those of operators.
template <class Op>
result<std::vector<op_id>> numbered(const std::vector<Op>& ops, const std::vector<Op>& handles) {
  handle_numbers<Op> numbers;
  for (const Op& op : ops) numbers.insert(op);
  std::vector<op_id> order;
  for (const Op& op : handles) {
    order.push_back(numbers.find(op));
    if (order.back() == none)
      return graph_error{
          error_code::bad_order,
          "the order to keep names an operator that is not in the graph, at position " + std::to_string(order.size() - 1),
          {},
          {}};
  }
  return order;
}

/// `order_of` makes the order to keep from the caller's handles; an empty one keeps none.
template <class G, class OrderOf>
recompute_result<op_t<G>> recompute_lowered(const G& g, const OrderOf& order_of, const options& o, const offload& moves) {
  recompute_result<op_t<G>> r;
  const auto low = lower(g);
  if (!low) {
    r.error = low.error();
    return r;
  }
  const result<std::vector<op_id>> order = order_of(low->ops);
  if (!order) {
    r.error = order.error();
    return r;
  }
  recompute_result<op_id> inner = recompute_problem(low->problem, *order, o, moves);
  static_cast<recompute_facts&>(r) = std::move(static_cast<recompute_facts&>(inner));
  for (op_id op : inner.executions) r.executions.push_back(low->ops[op]);
  return r;
}

}  // namespace detail

/// Returns executions of g's operators, with repetitions, within a peak of `o.budget`, at little extra cost (hook
/// `cost`), and a lower bound of that cost. Operators with `pure(op) == false` run once. An order within the budget costs
/// nothing and is looked for first. Where nothing within the budget was found, the executions are the order with the least
/// peak found: `fits()` says so, and `verdict()` whether the budget is proven to be out of reach. Sets `error` if the graph
/// has a fault. Limits are those of `options`; without any, the search ends by counted work. With `moves`, storages may also
/// leave memory and come back, at the cost that it says: `loads` of the result, for which `evaluate_executions` is the referee.
///
/// Sources: gap cover with prices (recompute/cover.hpp), repair, prune, destroy and repair (recompute/repair.hpp), exact
/// search of small graphs (recompute/exact.hpp). Compare Jain et al., Checkmate (MLSys 2020); Bartan et al., Moccasin (ICML
/// 2023).
template <class G>
auto recompute(const G& g, const options& o, const offload& moves = {}) {
  if constexpr (std::same_as<G, problem>) {
    return recompute_problem(g, {}, o, moves);
  } else {
    return detail::recompute_lowered(
        g, [](const auto&) { return result<std::vector<op_id>>(std::vector<op_id>{}); }, o, moves);
  }
}

/// The same for executions that keep an order in their first runs. The bound then holds for these alone.
template <class G, class Op>
auto recompute(const G& g, const keep_order<Op>& keep, const options& o, const offload& moves = {}) {
  if constexpr (std::same_as<G, problem>) {
    return recompute_problem(g, keep.order, o, moves);
  } else {
    const auto order_of = [&](const auto& ops) { return detail::numbered(ops, keep.order); };
    return detail::recompute_lowered(g, order_of, o, moves);
  }
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include <memsched/graph/list_schedule.hpp>
#include <memsched/measure/evaluate_executions.hpp>
#include <memsched/proof/weighed_problem.hpp>
#include <memsched/recompute/cover.hpp>
#include <memsched/recompute/exact.hpp>
#include <memsched/recompute/least_peak.hpp>
#include <memsched/recompute/needs.hpp>
#include <memsched/recompute/repair.hpp>
#include <memsched/recompute/weights.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// One call of `recompute`.
class recomputation {
 public:
  recomputation(const problem& p, std::span<const op_id> order, const options& o, const offload& moves)
      : p_(p), table_(p, moves), options_(o), model_(o.model()), kept_(!order.empty()), context_(search_options(o)) {
    given_ = kept_ ? std::vector<op_id>(order.begin(), order.end()) : given_order(make_schedule_graph(p, model_));
  }

  recompute_result<op_id> run() {
    const auto given = evaluate(p_, given_, model_);
    if (!given) {
      r_.error = given.error();
      return std::move(r_);
    }
    r_.budget = options_.budget;
    r_.given_peak = given->peak;
    r_.peak_bound = least_peak_with_reruns(p_, model_, table_.prices());
    for (op_id op : p_.ops()) r_.base_cost += p_.cost(op), unit_ = std::gcd(unit_, p_.cost(op));
    unit_ = table_.prices() ? 1 : std::max<std::uint64_t>(unit_, 1);
    take(given_);
    if (!r_.fits() && !kept_) order_first();
    if (!r_.fits() && r_.peak_bound <= r_.budget) search_reruns();
    return finish();
  }

 private:
  struct first_runs {
    std::vector<op_id> order;
    std::vector<std::pair<index_t, double>> prices;  // of its rows; none before `start_anew`
  };

  /// Orders have peaks to report, and reruns costs: the budget is no question about the former.
  static options search_options(options o) {
    o.budget = no_limit;
    o.on_progress = {};
    return o;
  }

  void take(const std::vector<op_id>& executions) {
    std::tie(r_.executions, r_.loads) = without_loads(p_, executions);
    const executions_evaluation e = evaluate_executions(p_, r_.executions, model_, r_.loads, table_.prices()).value();
    r_.peak = e.peak, r_.extra_cost = e.extra_cost;
  }

  /// An order within the budget costs nothing.
  void order_first() {
    options o = options_;
    o.certify = nullptr;
    o.on_progress = {};
    o.state_limit = std::min<std::uint64_t>(o.state_limit, 20000);
    if (o.time_limit != o.time_limit.max()) o.time_limit /= 4;
    const schedule_result<op_id> s = schedule_problem(p_, automatic, o);
    context_.stats.states += s.stats.states;
    context_.keep_going();
    if (s.error || s.peak >= r_.peak) return;
    take(s.order);
    if (!r_.fits()) orders_.push_back({s.order, {}});
  }

  void search_reruns() {
    if (p_.ops().size() <= 14 && exactly()) return;
    orders_.insert(orders_.begin(), {given_, {}});
    context_.with_share(0.5, [&] {  // first of all, so that short limits have an answer
      for (const auto& o : orders_) start_from(o.order, 0);
    });
    cover(0.3, 4096);
    if (r_.refuted) return;
    if (wide()) weigh();
    if (!good_enough()) start_anew();
    if (starts_.empty()) return;
    if (!good_enough()) cover_with_needs(0.3, 256);
    if (!good_enough()) context_.with_share(close() ? 0.7 : 1, [&] { improve_starts(); });
    if (!good_enough() && close()) needs_help_ ? cover_with_needs(1, 1 << 13) : cover(1, 1 << 17);
    if (!good_enough()) context_.give_up();
    take(best_start().executions());
  }

  auto cheaper() const {
    return [this](const rerun_stages& a, const rerun_stages& b) { return extra_cost(table_, a) < extra_cost(table_, b); };
  }
  /// The least extra cost of all starts.
  std::uint64_t least_found() const { return starts_.empty() ? ~std::uint64_t{0} : extra_cost(table_, best_start()); }
  const rerun_stages& best_start() const { return *std::min_element(starts_.begin(), starts_.end(), cheaper()); }
  /// Whether the best schedule found needs no better one.
  bool good_enough() const { return !starts_.empty() && least_found() <= enough(); }
  /// Whether the bound is so near that more of a proof may close the gap.
  bool close() const { return r_.lower_bound >= least_found() / 10 * 9; }

  /// Short improvements of the best starts, several of each: where one ends depends on chance. Then a longer one of the best.
  void improve_starts() {
    constexpr std::uint64_t kept = 3, times = 8;
    const std::uint64_t idle = std::clamp<std::uint64_t>(400000 / p_.ops().size(), 60, 3000);
    std::stable_sort(starts_.begin(), starts_.end(), cheaper());
    const std::size_t from = std::min<std::size_t>(kept, starts_.size());
    std::uint64_t seed = 0;
    for (std::uint64_t k = 0; k < times; ++k)
      for (std::size_t i = 0; i < from && !good_enough() && !context_.stopped(); ++i) {
        starts_.push_back(starts_[i]);
        improve(starts_.back(), idle / 8, ++seed);
      }
    std::swap(starts_[0], *std::min_element(starts_.begin(), starts_.end(), cheaper()));
    improve(starts_[0], idle / 2, ++seed);
  }

  /// The exact search, with a share of the limits. Returns whether it answered.
  bool exactly() {
    const std::uint64_t most = std::min<std::uint64_t>(context_.states_left(), 200000);
    const exact_executions e = context_.with_states(most, [&] {
      return context_.with_share(0.3, [&] {
        return cheapest_executions(table_, model_, r_.budget,
                                   kept_ ? std::span<const op_id>(given_) : std::span<const op_id>(), context_);
      });
    });
    if (!e.complete) return false;
    r_.scope = kept_ ? bound_scope::given_order : bound_scope::any_order;
    cover(0.3, 4096);  // for a proof
    r_.refuted = !e.found;
    if (e.found) take(e.executions), r_.lower_bound = e.extra_cost;
    return true;
  }

  /// Bounds by the cover of rows: of the order to keep, or of a path.
  void cover(double share, std::size_t nodes) {
    r_.scope = kept_ ? bound_scope::given_order : bound_scope::any_order;
    const bool first = rows_.rows.empty();
    if (first)
      rows_ = kept_ ? rows_of_order(table_, model_, given_)
                    : rows_of_path(table_, model_, find_path(p_, model_, given_, r_.budget));
    const cover_limits limits{.enough = least_found(), .nodes = nodes, .unit = unit_};
    gap_cover c = context_.with_share(share, [&] { return cover_gaps(rows_, r_.budget, limits, context_); });
    r_.refuted = c.infeasible;
    prices_ = c.prices;
    if (first || c.infeasible || c.bound > r_.lower_bound) take_bound(std::move(c));
  }

  /// Raises the bound towards the least cost found: some rows get needs.
  void cover_with_needs(double share, std::size_t nodes) {
    const std::vector<index_t> chosen = rows_with_needs(prices_);
    if (chosen.empty()) return;
    const rerun_needs needs = find_needs(table_, model_, rows_, chosen);
    const cover_limits limits{.enough = least_found(), .nodes = nodes, .unit = unit_, .start = prices_};
    gap_cover c = context_.with_share(share, [&] { return cover_gaps(rows_, needs, r_.budget, limits, context_); });
    if (c.bound <= r_.lower_bound) return;
    needs_help_ = true;
    take_bound(std::move(c));
  }

  /// Whether no path has most operators, so that rows of a path say little.
  bool wide() const { return !kept_ && 2 * rows_.rows.size() < p_.ops().size(); }

  /// Raises the bound by orders of weighed problems, at several prices of a byte; their best order is one to start from.
  void weigh() {
    const std::optional<weighing> w = weighing_of(table_);
    if (!w) return;
    weighed_order best;
    double exponent = 0;
    for (int e = -6; e <= 1; ++e)
      if (weigh_at(*w, std::ldexp(w->middle_price, e), nullptr, best)) exponent = e;
    for (const double e : {exponent - 0.5, exponent + 0.5}) weigh_at(*w, w->middle_price * std::exp2(e), nullptr, best);
    if (best.order.empty()) return;
    orders_.push_back({best.order, {}});
    start_from(best.order, 0);
    if (best.bound <= r_.lower_bound) return;
    r_.lower_bound = best.bound;
    if (options_.certify == nullptr) return;
    weighed_order proven;
    weigh_at(*w, best.price, options_.certify, proven);
    if (proven.bound <= r_.proof.bound) return;
    r_.proof = recompute_proof{};
    r_.proof.bound = proven.bound;
    r_.proof.any_order = true;
    r_.proof.charged = w->charged;
    r_.proof.scale = w->scale;
    r_.proof.weighed = {w->scaled(proven.price), std::move(*proven.certificate)};
  }

  struct weighed_order {
    std::uint64_t bound = 0;
    double price = 0;
    std::vector<op_id> order{};
    std::optional<memsched::certificate> certificate{};
  };
  /// Replaces `best` where the weighed problem at a price shows a higher bound, or with `certify` any. Returns whether it does.
  bool weigh_at(const weighing& w, double price, certificate_maker* certify, weighed_order& best) {
    if (!context_.keep_going()) return false;
    const auto weighed = weighed_problem(p_, model_, w.charged, w.scaled(price), w.scale, table_.prices());
    if (!weighed) return false;
    options o = search_options(options_);
    o.certify = certify;
    o.state_limit = std::min<std::uint64_t>(o.state_limit, 20000);
    if (o.time_limit != o.time_limit.max()) o.time_limit /= 40;
    const schedule_result<op_id> s = schedule_problem(*weighed, automatic, o);
    context_.stats.states += s.stats.states;
    if (s.error || (certify != nullptr && !s.certificate)) return false;
    const bytes least_peak = certify == nullptr ? s.lower_bound : s.certificate->bound;
    const std::uint64_t bound = w.extra_cost(least_peak, w.scaled(price), std::min(r_.budget, max_total), unit_);
    if (!best.order.empty() && bound <= best.bound) return false;
    best = {bound, price, s.order, s.certificate};
    return true;
  }

  void take_bound(gap_cover cover) {
    r_.lower_bound = cover.bound;
    r_.proof = std::move(cover.proof);
    r_.proof.any_order = !kept_;
    r_.proof.charged.assign(p_.ops().size(), none);
    for (tensor_id t = 0; t < rows_.charged_to.size(); ++t)
      if (rows_.charged_to[t] != none) r_.proof.charged[rows_.charged_to[t]] = t;
  }

  /// Repairs an order of first runs. Keeps the schedule if it is within the budget.
  void start_from(const std::vector<op_id>& order, std::uint64_t noise_percent) {
    rerun_search reruns(table_, model_, r_.budget, context_, 1 + noise_percent);
    compete(reruns, rerun_stages(order), {.noise_percent = noise_percent});
  }
  void compete(rerun_search& reruns, rerun_stages s, const candidate_ranks& ranks) {
    if (!reruns.repair(s, std::uint64_t{1} << 61, ranks)) return;
    reruns.prune(s);
    starts_.push_back(std::move(s));
  }

  /// Starts from the prices and the cheapest gaps of each order's cover; where nothing is within the budget yet, from repairs
  /// with noise, too.
  void start_anew() {
    for (auto& [order, prices] : orders_) {
      for (std::uint64_t noise = 0; starts_.empty() && noise <= 800 && !context_.stopped(); noise += 100)
        start_from(order, noise);
      const rerun_rows rows = rows_of_order(table_, model_, order);
      const gap_cover cover = cover_gaps(rows, r_.budget, {.nodes = 64, .unit = unit_}, context_);
      if (cover.infeasible) continue;
      prices = cover.prices;
      rerun_search reruns(table_, model_, r_.budget, context_, 1);
      reruns.set_prices(prices);
      compete(reruns, rerun_stages(order), {.by_prices = true});
      rerun_stages s(order);
      const std::uint64_t most = starts_.empty() ? std::uint64_t{1} << 61 : 8 * extra_cost(table_, best_start());
      if (reruns.open_gaps(s, rows, cover.absent, most)) compete(reruns, std::move(s), {});
    }
  }

  /// Goes on from a start.
  void improve(rerun_stages& s, std::uint64_t idle, std::uint64_t seed) {
    rerun_search reruns(table_, model_, r_.budget, context_, seed);
    for (const auto& [order, prices] : orders_)
      if (order == s.order) reruns.set_prices(prices);
    reruns.improve(s, idle, enough());
  }

  /// An extra cost that ends the search.
  std::uint64_t enough() const {
    return r_.lower_bound + static_cast<std::uint64_t>(options_.gap * static_cast<double>(r_.lower_bound));
  }

  recompute_result<op_id> finish() {
    if (r_.refuted || r_.peak_bound > r_.budget) {
      r_.stopped = stop_reason::finished;
    } else {
      r_.stopped = r_.fits() && r_.extra_cost <= enough() ? stop_reason::finished : context_.reason();
    }
    if (r_.fits() && r_.extra_cost < r_.lower_bound) {
      r_.error = contradiction("recompute", "executions have an extra cost", r_.lower_bound, r_.extra_cost);
      r_.executions.clear();
    }
    r_.stats = std::move(context_.stats);
    return std::move(r_);
  }

  const problem& p_;
  execution_table table_;
  const options& options_;
  memory_model model_;
  bool kept_;
  search context_;
  std::vector<op_id> given_;
  std::vector<first_runs> orders_;
  bool needs_help_ = false;           // the bound rests on rows with needs
  std::vector<rerun_stages> starts_;  // schedules within the budget
  rerun_rows rows_;
  std::vector<std::pair<index_t, double>> prices_;  // of rows_
  std::uint64_t unit_ = 0;
  recompute_result<op_id> r_;
};

}  // namespace detail

MEMSCHED_FUNCTION recompute_result<op_id> recompute_problem(const problem& p, std::span<const op_id> order, const options& o,
                                                            const offload& moves) {
  return detail::recomputation(p, order, o, moves).run();
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
