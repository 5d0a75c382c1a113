// Scheduling by integer programming (Zhong et al.).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <memsched/bounds/cut_bound.hpp>
#include <memsched/bounds/destructive_search.hpp>
#include <memsched/ilp/formulation.hpp>
#include <memsched/ilp/nested_sets.hpp>
#include <memsched/schedulers/best_heuristic.hpp>
#include <memsched/structure/post_order.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Gives integer programs of the graph to a solver. It starts from the best heuristic order, which is the cut-off, and
/// from the bound of minimum cuts; if they meet, no solver is asked. A program of more than `most_rows` rows is not
/// built: the answer is then the best order so far, and the search gives up (`stop_reason::gave_up`). A solver that is
/// missing or fails is an error (solver_failed).
///
/// A solver proves within its tolerances. Its bound is lowered by as much as those may amount to, and lifted to
/// the next peak that the sizes allow: if those lie too close to each other, a proof may end just below the peak.
template <milp_solver Solver, formulation Formulation = nested_sets>
struct ilp {
  Solver solver{};
  Formulation formulate{};
  bool warm = true;     ///< heuristics and minimum cuts first; else post-order is the start and there is no floor
  bool probing = true;  ///< climb from the bound that probing proves, with the edges that it derives; not if !warm
  std::size_t most_rows = 1'000'000;

  solution operator()(const schedule_graph& g, search& context) const {
    solution s = warm ? best_heuristic{}(g, context) : solution{structure::post_order(g)};
    const bytes peak = peak_of(g, s.order);
    s.lower_bound = g.base;
    if (warm) {
      const auto go_on = [&] { return context.control().count_cut(); };
      s.lower_bound = bounds::best_cut_bound(g, s.order, std::max(context.asked().target, g.base), go_on).bound;
    }
    s.lower_bound = std::min(s.lower_bound, peak);
    if (s.lower_bound == peak || !context.keep_going()) return s;
    if (warm && probing) climb(g, context, s, peak);
    else ask(g, context, s, {s.lower_bound, peak});
    lift(g, context, s);
    return s;
  }

 private:
  /// Lifts the bound to a peak that the sizes allow, unless it may be the floor, below which there may be orders.
  static void lift(const schedule_graph& g, const search& context, solution& s) {
    if (s.lower_bound > context.asked().target) s.lower_bound = bounds::next_possible_peak(g, s.lower_bound);
    s.lower_bound = std::min(s.lower_bound, peak_of(g, s.order));
  }

  /// Asks for orders up to the bound that probing settles and, while there are none, up to higher peaks, until just below
  /// `peak`, that of s. The lower a peak, the more precedence it forces and the smaller is the program; an order that the
  /// solver proves best among those up to one peak is best of all.
  void climb(const schedule_graph& g, search& context, solution& s, bytes peak) const {
    const auto go_on = bounds::at_each_cut([&] { return context.control().count_cut(); });
    bounds::destructive_search settled(g, s.lower_bound);
    settled.run(peak, go_on);
    s.lower_bound = settled.bound();
    lift(g, context, s);
    bytes target = s.lower_bound;
    for (bytes step = (peak - target) / 16 + 1; target < peak && !context.stopped(); step *= 2) {
      bounds::prober forced(g);
      const auto outcome = forced.run(target, go_on);
      if (outcome == bounds::prober::outcome::stopped) return;
      if (outcome == bounds::prober::outcome::refuted)
        s.lower_bound = std::max(s.lower_bound, std::min(forced.next(), peak));
      else if (ask(bounds::with_edges(g, forced.edges()), context, s, {s.lower_bound, target}) != milp_status::infeasible)
        return;
      lift(g, context, s);
      target = target == peak - 1 ? peak : std::min(std::max(s.lower_bound, target) + step, peak - 1);
    }
  }

  /// Looks for an order with a peak in the range; s gets it if it is better, and the bound that is proven. g may have
  /// more edges than the graph of s, those that all such orders keep.
  milp_status ask(const schedule_graph& g, search& context, solution& s, peak_range range) const {
    const auto program = formulate(g, range, most_rows);
    if (!program) return context.control().give_up(), milp_status::limit;
    const bytes peak = peak_of(g, s.order);
    milp_request request;
    if (peak <= range.ceiling) request.start = program->solution_of(s.order);
    request.cutoff = static_cast<double>(range.ceiling / program->unit);
    request.seconds = std::chrono::duration<double>(context.control().time_left()).count();
    const std::uint64_t states = context.opts().state_limit;
    if (states != no_limit) request.nodes = states - std::min(states, context.control().stats.states);
    request.threads = context.opts().threads;
    request.stop = context.opts().stop;

    const milp_answer answer = solver(program->model, request);
    context.control().stats.nodes = std::max<std::uint64_t>(context.control().stats.nodes, g.active);
    context.control().stats.states += answer.nodes;
    if (answer.status == milp_status::failed) {
      s.error = graph_error{error_code::solver_failed, "the solver gave no answer: " + answer.message, {}, {}};
      return answer.status;
    }
    if (answer.status == milp_status::limit) context.count_state(), context.keep_going();
    if (!answer.x.empty())
      if (auto order = program->order_of(answer.x); peak_of(g, order) < peak) s.order = std::move(order);
    const double proven = answer.status == milp_status::infeasible ? request.cutoff + 1 : answer.bound;
    s.lower_bound = std::min(std::max(s.lower_bound, bound_of(*program, proven)), peak_of(g, s.order));
    return answer.status;
  }

  /// The solver's bound in bytes, less its tolerances.
  static bytes bound_of(const schedule_program& p, double bound) {
    double largest = 0;  // error of a row if each variable is off by its tolerance
    for (Eigen::Index c = 0; c < p.model.matrix.outerSize(); ++c)
      for (Eigen::SparseMatrix<double>::InnerIterator it(p.model.matrix, c); it; ++it)
        largest = std::max(largest, std::abs(it.value()));
    constexpr double tolerance = 1e-6;
    const double units = std::ceil(bound - tolerance * std::max(1.0, 10 * largest));
    return units <= 0 || !std::isfinite(units) ? 0 : static_cast<bytes>(units) * p.unit;
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
