// Recomputation by integer programming: the operators that run again before each row, and the storages in memory at it. Needs
// Eigen.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/topology.hpp>
#include <memsched/ilp/formulation.hpp>
#include <memsched/ilp/milp.hpp>
#include <memsched/measure/evaluate_executions.hpp>
#include <memsched/measure/execution_table.hpp>
#include <memsched/recompute/incumbent.hpp>
#include <memsched/recompute/policies.hpp>
#include <memsched/recompute/rows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The integer program of rows v_0, v_1...: first runs in the order in which every schedule of the scope has them. Stage k
/// is the time between those of v_(k-1) and v_k; the last stage ends at the end. After Checkmate (Jain et al.), where rows
/// are all operators of one order, with these differences: memory counts at rows alone, as in `rerun_rows`, operators beside
/// the rows first run in a stage that the program chooses, and storages may be loaded.
///
///     run[k][e]   e, an operator or a load, runs in stage k; never the operator of a row before or at its own
///     kept[k][t]  storage t is in memory while v_k runs, and v_k neither creates nor, unless it consumes, reads it
///     have(k, t) = 1 if v_(k-1) creates or so reads t, else kept[k-1][t]; plus run[k][e] of all e that create t
///
///     run[k][e] <= have(k, t)      e reads t          kept[k][t] <= have(k, t)
///     have(k, t) >= 1              v_k reads t, or k is the last stage and t stays and does not depart
///     sum of size(t) kept[k][t] <= budget - fixed(k)
///     sum over k of run[k][e] >= 1                    e is an operator beside the rows
///
/// Lemma. The least value of its objective, the costs of all runs less one run of each operator beside the rows, is at most
/// the least extra cost of a schedule of the scope.
/// Proof. Take a schedule, and for run[k][e] whether e runs in stage k, for kept[k][t] whether a copy of t is in memory as
/// described. A copy that is there was there at the row before, or has been made since: `have` sums this up. An execution
/// has its reads. Rows take `fixed` and, beside it, the copies that are counted in `kept`, so that the budget holds. An
/// operator that runs twice in a stage is counted once.
class rerun_program {
 public:
  rerun_program(const rerun_incumbent& best, const rerun_rows& rows, std::size_t most_rows)
      : best_(best), table_(best.table()), p_(table_.graph()), rows_(rows), places_(places_of_path(p_, rows.rows)) {
    const adjacency successors = base::transpose(p_.predecessors(), p_.ops().size());
    sorted_ = base::topological_order(p_.predecessors(), successors);
    for (tensor_id t : p_.tensors())
      if (const op_id load = table_.load_of(t); load != none) loads_.push_back(load);
    find_needs(most_rows);
  }

  /// The number of constraints, about; some number above `most_rows` if it is above that.
  std::size_t rows() const { return entries_; }

  /// Nothing if a row alone takes more than the budget, or sizes are beyond exact arithmetic.
  std::optional<milp_model> build() {
    run_.assign(last() + 1, std::vector<index_t>(table_.size(), none));
    kept_.assign(last(), std::vector<index_t>(p_.tensors().size(), none));
    written_.assign(p_.tensors().size(), none);
    for (index_t k = 0; k <= last(); ++k) add_columns(k);
    if (size_unit_ == 0) size_unit_ = 1;
    if (std::min(best_.budget(), base::max_total) / size_unit_ > (bytes{1} << 50)) return std::nullopt;
    for (index_t k = 0; k <= last(); ++k)
      if (!add_stage(k)) return std::nullopt;
    for (op_id op : p_.ops())
      if (beside(op)) add_first_run(op);
    return std::move(build_).build();
  }

  /// Units of cost of the first runs of operators beside the rows, which the objective counts, too.
  double first_runs() const { return first_runs_; }

  /// The executions of a solution: per stage loads, then the operators that run, in topological order; and, before a reader of
  /// a view of a storage that came back, the operator that makes the view again. They need not be a schedule: the program
  /// does not know control dependencies, nor that a storage is made before it is loaded.
  std::vector<op_id> executions(const std::vector<double>& x) const {
    std::vector<op_id> list;
    view_ages views(table_);
    const auto run = [&](const auto& self, op_id e) -> void {
      for (tensor_id t : table_.inputs(e))
        if (views.is_stale(t)) self(self, p_.writer(t));
      list.push_back(e);
      views.execute(e);
    };
    const auto runs = [&](index_t k, op_id e) { return run_[k][e] != none && x[run_[k][e]] > 0.5; };
    for (index_t k = 0; k <= last(); ++k) {
      for (op_id load : loads_)
        if (runs(k, load)) run(run, load);
      for (op_id op : sorted_)
        if (runs(k, op)) run(run, op);
      if (k < last()) run(run, rows_.rows[k]);
    }
    for (tensor_id t : p_.tensors())
      if (const op_id departure = table_.departure_of(t); departure != none && runs(last(), departure))
        list.push_back(departure);
    return list;
  }

 private:
  using term = milp_builder::term;

  index_t last() const { return static_cast<index_t>(rows_.rows.size()); }
  bool beside(op_id op) const { return places_.row[op] == none; }
  bool consumes(op_id op) const { return table_.rule(op, best_.model()) == firing::cbp; }

  /// Whether the storage can have been made before row k.
  bool may_exist(index_t k, tensor_id t) const {
    const op_id producer = p_.producer(t);
    if (producer == none) return true;
    return beside(producer) ? places_.before[producer] <= k : places_.row[producer] < k;
  }
  /// Whether an operator or a load may run in stage k.
  bool may_run(index_t k, op_id e) const {
    if (table_.is_departure(e)) return k == last();
    if (table_.is_move(e)) return may_exist(k, table_.moved(e));
    if (!beside(e)) return table_.may_repeat(e) && places_.row[e] < k;
    return places_.before[e] <= k && (table_.may_repeat(e) || k <= places_.made[e]);
  }
  bool may_first_run(index_t k, op_id e) const {
    return !table_.is_move(e) && beside(e) && places_.before[e] <= k && k <= places_.made[e];
  }
  /// Whether a run in stage k may serve the needs of that stage and later ones, or is the first one.
  bool may_help(index_t k, op_id e, const std::vector<bool>& needed) const {
    const auto creates = table_.creates(e);
    const bool useful = std::ranges::any_of(creates, [&](tensor_id t) { return needed[t]; });
    return may_first_run(k, e) || (useful && may_run(k, e));
  }
  template <class F>
  void for_each_creator(tensor_id t, const F& f) const {
    if (p_.producer(t) != none) f(p_.producer(t));
    if (const op_id load = table_.load_of(t); load != none) f(load);
  }

  /// Storages that stage k or a later one may need: nothing else is worth a variable.
  void find_needs(std::size_t most_rows) {
    std::vector<bool> needed(p_.tensors().size(), false);
    for (tensor_id t : p_.tensors()) needed[t] = p_.storage(t) == t && p_.stays(t);
    needs_.resize(last() + 1);
    for (index_t k = last() + 1; k-- > 0 && entries_ <= most_rows;) {
      if (k < last())
        for (tensor_id t : p_.reads(rows_.rows[k])) needed[t] = true;
      for (auto op = sorted_.rbegin(); op != sorted_.rend(); ++op)
        if (may_help(k, *op, needed))
          for (tensor_id t : p_.reads(*op)) needed[t] = true, ++entries_;
      needs_[k] = needed;
      entries_ += static_cast<std::size_t>(std::count(needed.begin(), needed.end(), true));
    }
  }

  void add_columns(index_t k) {
    for (op_id e = 0; e < table_.size(); ++e) {
      if (table_.is_move(e) && !table_.may_repeat(e)) continue;
      if (may_help(k, e, needs_[k])) run_[k][e] = build_.column(name("run", k, e), 0, 1, true, in_units(table_.cost(e)));
    }
    if (k == last()) return;
    const op_id v = rows_.rows[k];
    for (tensor_id t : p_.tensors()) {
      const bool counted = p_.storage(t) == t && needs_[k + 1][t] && may_exist(k, t) && !lies(v, t);
      if (!counted) continue;
      kept_[k][t] = build_.column(name("kept", k, t), 0, 1, true);
      size_unit_ = std::gcd(size_unit_, p_.size(t));
    }
  }

  /// Whether a row's own memory has the storage, which is there after it.
  bool lies(op_id v, tensor_id t) const { return contains(p_.creates(v), t) || (!consumes(v) && contains(p_.reads(v), t)); }
  static bool contains(std::span<const tensor_id> list, tensor_id t) { return std::ranges::find(list, t) != list.end(); }

  /// `term <= have(k, t)`, or `1 <= have(k, t)` without a term; or a departure takes its place.
  void require(index_t k, tensor_id t, std::optional<index_t> column, op_id departure = none) {
    std::vector<term> terms;
    if (departure != none && run_[k][departure] != none) terms.push_back({run_[k][departure], 1});
    if (k == 0) {
      if (p_.producer(t) == none) return;
    } else {
      if (lies(rows_.rows[k - 1], t)) return;
      if (kept_[k - 1][t] != none) terms.push_back({kept_[k - 1][t], 1});
    }
    for_each_creator(t, [&](op_id e) {
      if (run_[k][e] != none) terms.push_back({run_[k][e], 1});
    });
    if (column) terms.push_back({*column, -1});
    build_.row(name("have", k, count_++), column ? 0 : 1, unbounded, terms);
  }

  /// Returns false if the row alone is over the budget.
  bool add_stage(index_t k) {
    for (op_id e = 0; e < table_.size(); ++e)
      if (run_[k][e] != none) {
        for (tensor_id t : table_.reads(e)) require(k, t, run_[k][e]);
        if (table_.is_move(e) && table_.write_cost(e) > 0)
          build_.row(name("written", k, e), 0, unbounded, {{written(table_.moved(e)), 1}, {run_[k][e], -1}});
      }
    if (k == last()) {
      for (tensor_id t : p_.tensors())
        if (p_.storage(t) == t && p_.stays(t)) require(k, t, std::nullopt, table_.departure_of(t));
      return true;
    }
    for (tensor_id t : p_.reads(rows_.rows[k])) require(k, t, std::nullopt);
    if (rows_.fixed[k] > best_.budget()) return false;
    std::vector<term> memory;
    for (tensor_id t : p_.tensors()) {
      if (kept_[k][t] == none) continue;
      require(k, t, kept_[k][t]);
      memory.push_back({kept_[k][t], static_cast<double>(p_.size(t) / size_unit_)});
    }
    const bytes room = std::min(best_.budget(), base::max_total) - std::min(rows_.fixed[k], base::max_total);
    build_.row(name("memory", k, 0), -unbounded, static_cast<double>(room / size_unit_), memory);
    return true;
  }

  void add_first_run(op_id op) {
    std::vector<term> terms;
    for (index_t k = 0; k <= last(); ++k)
      if (run_[k][op] != none && may_first_run(k, op)) terms.push_back({run_[k][op], 1});
    build_.row(name("first", op, 0), 1, unbounded, terms);
    first_runs_ += in_units(p_.cost(op));
  }

  /// The variable that says whether a storage is written out.
  index_t written(tensor_id t) {
    if (written_[t] == none)
      written_[t] = build_.column(name("out", t, 0), 0, 1, true, in_units(table_.write_cost(table_.load_of(t))));
    return written_[t];
  }
  double in_units(std::uint64_t cost) const { return static_cast<double>(cost / best_.unit()); }

  const rerun_incumbent& best_;
  const execution_table& table_;
  const problem& p_;
  const rerun_rows& rows_;
  path_places places_;
  std::vector<op_id> sorted_, loads_;
  std::vector<std::vector<bool>> needs_;  ///< per stage and storage
  milp_builder build_;
  std::vector<std::vector<index_t>> run_, kept_;  ///< columns, per stage
  std::vector<index_t> written_;                  ///< column, per storage
  bytes size_unit_ = 0;
  std::size_t entries_ = 0;
  index_t count_ = 0;
  double first_runs_ = 0;
};

}  // namespace detail

namespace reruns {

/// Gives an integer program of the rows (`detail::rerun_program`) to a solver: the order that is kept, or, if any order
/// will do, a path of the graph. Its bound holds as that of `cover` does, without a certificate. Its executions take more than
/// the budget if reruns do; they are repaired. Better than the best so far are asked for, so it stands after policies that
/// find some. Gives up if the program has more than `most_rows` rows. A solver that fails is an error (solver_failed).
///
/// A solver proves within tolerances. A reduced cost is taken to be off by 10^-6, and a sum by 10^-9 of itself, so that the
/// bound is lowered by as much for each variable, then rounded up to a whole unit of cost.
template <milp_solver Solver>
struct ilp {
  Solver solver{};
  std::size_t most_rows = 200'000;
  static constexpr std::string_view name = "ilp";

  void operator()(rerun_incumbent& best, search& context) const {
    apply(cover{}, best, context);  // rows
    if (best.done() || !context.keep_going()) return;
    detail::rerun_program program(best, best.rows, most_rows);
    std::optional<milp_model> model;
    if (program.rows() <= most_rows) model = program.build();
    if (!model) return context.control().give_up();

    milp_request request;
    request.seconds = std::chrono::duration<double>(context.control().time_left()).count();
    if (context.control().states_left() != no_limit) request.nodes = context.control().states_left();
    request.threads = best.opts().threads;
    request.stop = best.opts().stop;
    const std::uint64_t least = best.least_cost() / best.unit();
    if (best.fits()) request.cutoff = static_cast<double>(least - 1) + program.first_runs();
    const double tolerance = 1e-6 * static_cast<double>(model->variables());

    const milp_answer answer = solver(*model, request);
    context.control().stats.states += answer.nodes;
    if (answer.status == milp_status::failed)
      return best.fail({error_code::solver_failed, "the solver gave no answer: " + answer.message, {}, {}});
    if (answer.status == milp_status::limit) context.count_state(), context.keep_going();
    if (!answer.x.empty()) offer(best, context, program.executions(answer.x));
    if (answer.status == milp_status::infeasible) {
      if (best.fits()) best.raise(least * best.unit());
      else best.refute();
      return;
    }
    const double proven = std::ceil(answer.bound - program.first_runs() - tolerance - 1e-9 * std::abs(answer.bound));
    if (!(proven > 0)) return;
    const double most = static_cast<double>(best.fits() ? best.least_cost() / best.unit() : ~std::uint64_t{0} >> 2);
    best.raise(static_cast<std::uint64_t>(std::min(proven, most)) * best.unit());
  }

 private:
  static void offer(rerun_incumbent& best, search& context, const std::vector<op_id>& executions) {
    const auto [runs, loads] = without_loads(best.table(), executions);
    if (!evaluate_executions(best.graph(), runs, best.model(), loads, best.table().prices())) return;
    detail::repair_from(best, context, stages_of(best.table(), executions));
  }
};
template <milp_solver Solver>
ilp(Solver) -> ilp<Solver>;

}  // namespace reruns

}  // namespace MEMSCHED_ABI
}  // namespace memsched
