// The knowledge of a search for executions within a budget: its question, the best executions, and the highest bound.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/measure/execution_table.hpp>
#include <memsched/proof/recompute_proof.hpp>
#include <memsched/recompute/recompute_result.hpp>
#include <memsched/recompute/rows.hpp>
#include <memsched/recompute/stages.hpp>
#include <memsched/search/options.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// An order of first runs to repair, and prices of a byte at its rows, if any (`gap_cover`).
struct first_runs {
  std::vector<op_id> order;
  std::vector<std::pair<index_t, double>> prices{};
  bool repaired = false;  ///< `reruns::repair` did what it can
};

/// The knowledge that policies share. Executions are ids of the table: operators and loads. Answers and bounds are
/// attributed to the source that the context names (`search::named`), and the options' `on_progress` is told. Refers to the
/// table, the options and the context.
class rerun_incumbent {
 public:
  /// `given`: an order of all operators. If `keep_order`, executions first run in it, and bounds hold for these alone;
  /// else any order will do.
  rerun_incumbent(const execution_table& table, std::vector<op_id> given, bool keep_order, const options& o,
                  const search& context);

  // --- the question ---
  const problem& graph() const { return table_.graph(); }
  const execution_table& table() const { return table_; }
  const options& opts() const { return options_; }
  memory_model model() const { return options_.model(); }
  bytes budget() const { return options_.budget; }
  const std::vector<op_id>& given() const { return given_; }
  bool keeps_order() const { return keep_order_; }
  /// The order that first runs keep; empty if any order will do.
  std::span<const op_id> kept_order() const {
    return keep_order_ ? std::span<const op_id>(given_) : std::span<const op_id>();
  }
  /// All extra costs are multiples of it.
  std::uint64_t unit() const { return unit_; }

  // --- the answer so far ---
  /// Plays executions, and keeps them if they are the first within the budget, or cost less than those before, or if
  /// none are within it and their peak is the least. Returns whether they are within the budget. Sets the result's error if
  /// they are not a schedule of the question. Those within the budget join `schedules`. O(executions + uses).
  bool offer(rerun_stages s);
  /// The same for executions in any form; those that `rerun_stages` can hold join `schedules`.
  bool offer(std::span<const op_id> executions);
  /// No executions cost less. The proof replaces one of a lower bound.
  void raise(std::uint64_t lower_bound, recompute_proof proof = {});
  /// No executions are within the budget. A proof replaces that of a lower bound.
  void refute(recompute_proof proof = {});
  /// Ends the search with an error; the first one stays.
  void fail(graph_error e);

  const recompute_facts& facts() const { return facts_; }
  bool fits() const { return facts_.fits(); }
  /// The extra cost of the best executions within the budget; the largest number if there are none.
  std::uint64_t least_cost() const { return fits() ? facts_.extra_cost : ~std::uint64_t{0}; }
  std::uint64_t lower_bound() const { return facts_.lower_bound; }
  /// An extra cost that ends the search: the bound, and the gap of the options.
  std::uint64_t enough() const;
  /// Whether nothing is left to search: executions cost `enough`, there are none, or there is an error.
  bool done() const { return facts_.error || facts_.refuted || facts_.peak_bound > budget() || least_cost() <= enough(); }

  // --- what one policy leaves to the next ---
  std::vector<first_runs> orders;                  ///< of first runs, over the budget
  std::vector<rerun_stages> schedules;             ///< within the budget
  rerun_rows rows;                                 ///< of the kept order, or of a path; empty before they are asked for
  std::vector<std::pair<index_t, double>> prices;  ///< of a byte at `rows`, by their cover

  /// The result, with the best executions in the ids of operators. The incumbent must not be used afterwards.
  recompute_result<op_id> take_result();

 private:
  struct played_executions {
    std::vector<op_id> runs;
    std::vector<storage_load> loads;
    bytes peak = 0;
    std::uint64_t extra_cost = 0;
  };
  std::optional<played_executions> play(std::span<const op_id> executions);
  bool keep(played_executions played, const std::vector<op_id>& first_runs);
  void report() const;
  void fail_policy(std::string message);
  void fail_to_schedule(const std::string& reason);
  void fail_to_refute();
  void check_bound();

  const execution_table& table_;
  const options& options_;
  const search& context_;
  std::vector<op_id> given_;
  bool keep_order_;
  std::uint64_t unit_ = 0;
  recompute_facts facts_;
  std::vector<op_id> executions_;  // without loads
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <limits>
#include <numeric>

#include <memsched/measure/evaluate_executions.hpp>
#include <memsched/recompute/least_peak.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION rerun_incumbent::rerun_incumbent(const execution_table& table, std::vector<op_id> given, bool keep_order,
                                                   const options& o, const search& context)
    : orders{{given}}, table_(table), options_(o), context_(context), given_(std::move(given)), keep_order_(keep_order) {
  const problem& p = graph();
  facts_.budget = o.budget;
  facts_.scope = keep_order ? bound_scope::given_order : bound_scope::any_order;
  facts_.peak_bound = least_peak_with_reruns(p, model(), table.prices());
  for (op_id op : p.ops()) facts_.base_cost += p.cost(op), unit_ = std::gcd(unit_, p.cost(op));
  unit_ = table.prices() ? 1 : std::max<std::uint64_t>(unit_, 1);
  facts_.peak = std::numeric_limits<bytes>::max();
  offer(rerun_stages(given_));
  facts_.given_peak = facts_.peak;
}

MEMSCHED_FUNCTION void rerun_incumbent::fail(graph_error e) {
  if (!facts_.error) facts_.error = std::move(e);
}
MEMSCHED_FUNCTION void rerun_incumbent::fail_policy(std::string message) {
  fail({error_code::bad_policy, std::move(message), {}, {}});
}

MEMSCHED_FUNCTION void rerun_incumbent::report() const {
  if (!options_.on_progress || facts_.error) return;
  options_.on_progress({facts_.peak, facts_.peak_bound, context_.control().stats.states, facts_.found_by, facts_.bound_by,
                        progress::costs{least_cost(), facts_.lower_bound}});
}

/// Nothing, and an error, if the executions are not a schedule.
MEMSCHED_FUNCTION std::optional<rerun_incumbent::played_executions> rerun_incumbent::play(
    std::span<const op_id> executions) {
  auto [runs, loads] = without_loads(table_, executions);
  const auto played = evaluate_executions(graph(), runs, model(), loads, table_.prices());
  if (played) return played_executions{std::move(runs), std::move(loads), played->peak, played->extra_cost};
  fail_to_schedule(played.error().message);
  return std::nullopt;
}

/// Keeps executions that are better than those before. Returns whether they are within the budget.
MEMSCHED_FUNCTION bool rerun_incumbent::keep(played_executions played, const std::vector<op_id>& first_runs) {
  if (keep_order_ && first_runs != given_) {
    fail_to_schedule("first runs do not keep the order");
    return false;
  }
  const bool within = played.peak <= budget();
  if (within && facts_.refuted) fail_to_refute();
  const bool better = within ? played.extra_cost < least_cost() : !fits() && played.peak < facts_.peak;
  if (!better) return within;
  facts_.peak = played.peak, facts_.extra_cost = played.extra_cost;
  facts_.loads = std::move(played.loads), executions_ = std::move(played.runs);
  facts_.found_by = context_.control().source();
  check_bound();
  report();
  return within;
}

MEMSCHED_FUNCTION bool rerun_incumbent::offer(rerun_stages s) {
  auto played = play(s.executions());
  if (!played || !keep(std::move(*played), s.order)) return false;
  schedules.push_back(std::move(s));
  return true;
}

MEMSCHED_FUNCTION bool rerun_incumbent::offer(std::span<const op_id> executions) {
  auto played = play(executions);
  if (!played) return false;
  rerun_stages s = stages_of(table_, executions);
  if (!keep(std::move(*played), s.order)) return false;
  if (std::ranges::equal(s.executions(), executions)) schedules.push_back(std::move(s));
  return true;
}

MEMSCHED_FUNCTION void rerun_incumbent::raise(std::uint64_t lower_bound, recompute_proof proof) {
  const bool first = facts_.proof.cases.empty() && !facts_.proof.weighed;
  if (first || proof.bound > facts_.proof.bound) facts_.proof = std::move(proof);
  if (lower_bound <= facts_.lower_bound) return;
  facts_.lower_bound = lower_bound, facts_.bound_by = context_.control().source();
  check_bound();
  report();
}

MEMSCHED_FUNCTION void rerun_incumbent::refute(recompute_proof proof) {
  if (!proof.cases.empty()) facts_.proof = std::move(proof);
  if (facts_.refuted) return;
  facts_.refuted = true, facts_.bound_by = context_.control().source();
  if (fits()) fail_to_refute();
}
MEMSCHED_FUNCTION void rerun_incumbent::fail_to_schedule(const std::string& reason) {
  fail_policy("the policy " + std::string(context_.control().source()) +
              " answered with what is no schedule of the graph: " + reason);
}
MEMSCHED_FUNCTION void rerun_incumbent::fail_to_refute() {
  fail_policy("the policy " + std::string(facts_.bound_by) +
              " claims that no executions are within the budget, and some are");
}

/// Notes a bound above the cost of executions.
MEMSCHED_FUNCTION void rerun_incumbent::check_bound() {
  if (!fits() || facts_.extra_cost >= facts_.lower_bound) return;
  fail_policy("the policy " + std::string(facts_.bound_by) + " claims that no executions cost less than " +
              std::to_string(facts_.lower_bound) + " more, and some cost " + std::to_string(facts_.extra_cost));
}

MEMSCHED_FUNCTION std::uint64_t rerun_incumbent::enough() const {
  return facts_.lower_bound + static_cast<std::uint64_t>(options_.gap * static_cast<double>(facts_.lower_bound));
}

MEMSCHED_FUNCTION recompute_result<op_id> rerun_incumbent::take_result() {
  recompute_result<op_id> r;
  static_cast<recompute_facts&>(r) = std::move(facts_);
  if (!r.error) r.executions = std::move(executions_);
  return r;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
