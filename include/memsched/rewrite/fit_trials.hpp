// The common parts of the searches behind `fit`: networks tried, their best orders, and their costs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/base/linkage.hpp>
#include <memsched/graph/lower.hpp>
#include <memsched/measure/evaluate.hpp>
#include <memsched/network/check.hpp>
#include <memsched/network/windows.hpp>
#include <memsched/rewrite/edit.hpp>
#include <memsched/rewrite/fit_options.hpp>
#include <memsched/rewrite/stream_inputs.hpp>
#include <memsched/rewrite/waves.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

/// A network that was tried, with the best order found.
struct fit_trial {
  network net;
  std::vector<op_id> order;
  fit_point cost;                       ///< in its form, if one is asked for
  std::vector<tensor_id> live_at_peak;  ///< live at any step that reaches the peak, ascending
  std::size_t peak_step = 0;            ///< the first step of the order that reaches the peak
  fit_point own{};                      ///< the cost of the network as it is
  std::vector<op_id> form_order{};      ///< of the operators of its form
};

class fit_trials {
 public:
  fit_trials(const network& net, inner_scheduler policy, const fit_options& f, const options& o)
      : first_(net), policy_(policy), f_(f), o_(o), start_(std::chrono::steady_clock::now()) {}

 protected:
  bool met() const { return out_.error || (f_.budget != 0 && best_.cost.peak <= f_.budget); }
  bool for_whole() const { return f_.profile == runtime::whole; }
  /// Whether sums of floats may come in another order, or there are none.
  bool any_order() const { return f_.exact == exactness::reals || is_quantized(first_); }
  network streamed(network net) const { return f_.streamed_input ? stream_inputs(std::move(net)) : net; }
  /// Whether a network is one that the caller can run and pay for.
  bool is_allowed(const network& net) const {
    return macs(net) - std::min(macs(net), out_.before.macs) <= f_.max_extra_macs &&
           (!for_whole() || not_whole(net).empty()) && !(f_.whole_integer_sums && splits_integer_sum(net));
  }

  // Measuring.

  double seconds_left() const {
    if (!o_.has_time_limit()) return 80;  // an eighth of it for each network
    return std::chrono::duration<double>(o_.time_left(start_)).count();
  }
  bool is_half_time_over() const { return o_.has_time_limit() && o_.time_left(start_) < o_.time_limit / 2; }
  bool out_of_time() {
    if (o_.stop.stop_requested()) out_.stopped = stop_reason::cancelled;
    else if (seconds_left() <= 0) out_.stopped = stop_reason::time_limit;
    return out_.stopped != stop_reason::finished;
  }

  /// The best order of a network under the scheduler, and its cost; nothing and `error` if it is at fault, nothing and
  /// `formless_` if it has no such form as is asked for. With a budget, the search may end at it.
  std::optional<fit_trial> measure(network net, bytes budget = no_limit, double share = 0.125) {
    if (net.operations.size() > first_.operations.size()) start_in_waves(net, budget, share);
    return schedule(std::move(net), budget, share, 0);
  }
  /// Likewise from the network's own order, where `floor` is a bound of this network that is known.
  std::optional<fit_trial> schedule(network net, bytes budget, double share, bytes floor) {
    const auto low = lower(net);
    if (!low) return out_.error = low.error(), std::nullopt;
    const problem& p = low->problem;
    const std::optional<ordered> found = best_order(p, f_.form ? no_limit : budget, share, floor);
    if (!found) return std::nullopt;
    fit_trial trial{std::move(net), {}, found->cost(p), {}};
    for (const op_id v : found->order) trial.order.push_back(low->ops[v]);
    trial.cost.macs = macs(trial.net);
    trial.own = trial.cost;
    std::vector<std::size_t> highest = steps_at_peak(found->e);
    if (f_.form) {
      const result<written_network> formed = f_.form(trial.net, trial.order);
      if (!formed) return formless_ = formed.error(), std::nullopt;
      std::optional<ordered> there = best_order(formed->graph, budget, share, 0);
      if (!there) return std::nullopt;
      trial.cost = there->cost(formed->graph);
      trial.cost.macs = trial.own.macs;
      highest.clear();
      for (const std::size_t i : steps_at_peak(there->e)) highest.push_back(formed->part_of[there->order[i]]);
      trial.form_order = std::move(there->order);
    }
    mark_peak(trial, p, found->order, highest);
    return trial;
  }
  /// An order of a problem's operators, and its cost.
  struct ordered {
    std::vector<op_id> order;
    evaluation e;
    bytes lower_bound = 0;
    fit_point cost(const problem& p) const { return {e.peak, std::min(lower_bound, e.peak), 0, p.ops().size()}; }
  };
  /// The better one of the scheduler's order and the given one.
  std::optional<ordered> best_order(const problem& p, bytes budget, double share, bytes floor) {
    const memory_model model = o_.model();
    const schedule_graph g = make_schedule_graph(p, model);
    options limits = o_;
    limits.budget = budget;
    const auto time = std::chrono::duration<double>(seconds_left() * share);
    const bool by_work = !o_.has_time_limit() && o_.state_limit != no_limit;  // then it is deterministic
    if (!by_work) limits.time_limit = std::chrono::duration_cast<std::chrono::nanoseconds>(time);
    search context(std::move(limits));
    solution s = context.ask(context.asked().from(floor), [&] { return policy_(g, context); });
    if (s.error) return out_.error = std::move(s.error), std::nullopt;
    std::vector<op_id> given(p.ops().size());
    std::iota(given.begin(), given.end(), op_id{0});
    evaluation e = evaluate(p, s.order, model).value(), as_given = evaluate(p, given, model).value();
    if (as_given.peak < e.peak) e = std::move(as_given), s.order = std::move(given);
    return ordered{std::move(s.order), std::move(e), std::max(floor, s.lower_bound)};
  }
  static std::vector<std::size_t> steps_at_peak(const evaluation& e) {
    std::vector<std::size_t> steps;
    for (std::size_t i = 0; i < e.during.size(); ++i)
      if (e.during[i] == e.peak) steps.push_back(i);
    return steps;
  }
  /// Stores in a trial the first of these steps, and the tensors live at any of them.
  void mark_peak(fit_trial& trial, const problem& p, const std::vector<op_id>& order, std::vector<std::size_t> steps) const {
    if (steps.empty()) return;
    trial.peak_step = steps.front();
    std::sort(steps.begin(), steps.end());
    const auto handles = tensors_of(trial.net);
    referee play(p, o_.model());
    std::vector<bool> live(trial.net.tensors.size(), false);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (std::binary_search(steps.begin(), steps.end(), i))
        for (const tensor_id t : play.live_tensors(order[i])) live[handles[t]] = true;
      play.play(order[i]);
    }
    for (tensor_id t = 0; t < live.size(); ++t)
      if (live[t]) trial.live_at_peak.push_back(t);
  }

  /// Brings the operators of a network in parts into an order in waves if that is better than their own. Schedulers
  /// start from it.
  void start_in_waves(network& net, bytes budget, double share) {
    const auto low = lower(net);
    if (!low) return;
    const problem& p = low->problem;
    const std::size_t n = p.ops().size();
    std::vector<op_id> given(n);
    std::iota(given.begin(), given.end(), op_id{0});
    const bytes as_given = evaluate(p, given, o_.model()).value().peak;
    const auto by_work = static_cast<std::size_t>(std::min(most_wave_steps / n, o_.state_limit));
    const auto tries = std::min(by_work, static_cast<std::size_t>(most_waves * share));
    const wave_order found = order_in_waves(net, p, o_.model(), delays_, tries, budget == no_limit ? 0 : budget);
    if (found.peak < as_given) net = reordered(std::move(net), found.order);
  }
  static constexpr double most_waves = 20'000;                  ///< orders tried, for all of the time
  static constexpr std::uint64_t most_wave_steps = 16'000'000;  ///< operators of the orders tried for a network

  void note(const fit_point& p) { out_.front.push_back(p); }

  /// Spends the remaining time on the order of the best network, and on its bound, in rounds. Each starts from the best
  /// order and the best bound so far, with more time than the one before: a scheduler does something else with a short time
  /// than with a long one, and from a better order it finds other ones.
  void use_time_left() {
    if (!o_.has_time_limit()) return;
    for (const double share : {0.03, 0.1, 0.3, 0.9}) {
      if (met() || best_.cost.peak == best_.cost.lower_bound || out_of_time()) return;
      const bytes budget = f_.budget == 0 ? no_limit : f_.budget;
      // A bound of the form says nothing of the network, nor of its form in another order.
      auto trial = schedule(reordered(best_.net, best_.order), budget, share, f_.form ? 0 : best_.cost.lower_bound);
      if (!trial) return;
      note(trial->cost);
      const auto rank = [](const fit_point& c) { return std::pair(c.peak, no_limit - c.lower_bound); };
      const bool better = !f_.form || rank(trial->cost) < rank(best_.cost);  // as it is, it started from the best order
      out_.steps.push_back({"order", "in the time that is left", best_.cost.peak, trial->cost, better});
      if (better) best_ = std::move(*trial);
    }
  }

  /// Measures a network; makes it the best if its peak is smaller, or no larger and `ties`. In a form, a tie must
  /// spare operators, too. Returns whether it did.
  bool try_network(network net, std::string rule, std::string site, bool ties = false, double share = 0.125) {
    if (!is_allowed(net)) return false;
    std::optional<fit_trial> trial = measure(std::move(net), no_limit, share);
    return trial && take(std::move(*trial), std::move(rule), std::move(site), ties);
  }
  /// Likewise for a network in the order of another one; and, if that leaves a gap, for the same network as it lists its
  /// operators, row after row, which schedulers recognize.
  bool try_either(network follows, network rows, std::string rule, std::string site, double share) {
    if (!is_allowed(follows)) return false;
    std::optional<fit_trial> trial = measure(std::move(follows), no_limit, share);
    if (!trial) return false;
    if (trial->cost.lower_bound < trial->cost.peak && !out_of_time())
      if (auto second = schedule(std::move(rows), no_limit, share, 0); second && second->cost.peak < trial->cost.peak)
        trial = std::move(second);
    return !out_.error && take(std::move(*trial), std::move(rule), std::move(site), false);
  }
  bool take(fit_trial trial, std::string rule, std::string site, bool ties) {
    note(trial.cost);
    const bool spares = !f_.form || trial.cost.operators < best_.cost.operators;
    const bool better = trial.cost.peak < best_.cost.peak || (ties && spares && trial.cost.peak == best_.cost.peak);
    out_.steps.push_back({std::move(rule), std::move(site), best_.cost.peak, trial.cost, better});
    if (better) best_ = std::move(trial);
    return better;
  }

  /// Leaves the points that no other beats.
  void front() {
    std::vector<fit_point> all = std::move(out_.front), kept;
    std::sort(all.begin(), all.end(), [](const fit_point& a, const fit_point& b) {
      return std::pair(a.peak, std::pair(a.macs, a.operators)) < std::pair(b.peak, std::pair(b.macs, b.operators));
    });
    for (const fit_point& p : all)
      if (std::none_of(kept.begin(), kept.end(),
                       [&](const fit_point& q) { return q.macs <= p.macs && q.operators <= p.operators; }))
        kept.push_back(p);
    out_.front = std::move(kept);
  }

  const network& first_;
  inner_scheduler policy_;
  fit_options f_;
  options o_;
  std::chrono::steady_clock::time_point start_;
  fitted out_;
  fit_trial best_;
  std::optional<graph_error> formless_;  ///< why a network that was tried has no such form as is asked for
  wave_delays delays_;                   ///< of the networks measured so far
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
