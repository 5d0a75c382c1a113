// Schedules of synchronous dataflow: schedule(graph, scheduler, request, limits).
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <memsched/base/type_name.hpp>
#include <memsched/graph/task_graph.hpp>
#include <memsched/sdf/bounds.hpp>
#include <memsched/sdf/compress.hpp>
#include <memsched/sdf/fold.hpp>
#include <memsched/sdf/regroup.hpp>
#include <memsched/sdf/replay.hpp>
#include <memsched/sdf/separate.hpp>
#include <memsched/sdf/single_appearance.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace sdf {

/// The schedules that are asked for.
enum class form : unsigned char {
  any,     ///< the smallest peak
  single,  ///< nested loops with each actor once
  flat,    ///< all firings of an actor in a row
};

/// The memory that is to be small; both are reported.
enum class memory : unsigned char {
  shared,    ///< one for all channels
  separate,  ///< one for each channel
};

struct options {
  bytes iterations = 1;
  bytes most_firings = bytes{1} << 22;  ///< that may become nodes; beyond, firings are grouped and nothing may be proven
  sdf::form form = sdf::form::any;
  sdf::memory memory = sdf::memory::shared;
};

/// A schedule of `what.iterations` iterations from the initial tokens back to them. If `error` is set, nothing else is.
struct [[nodiscard]] schedule_result {
  loops schedule;
  bytes peak = 0;            ///< bytes if all channels share one memory, by the referee
  bytes lower_bound = 0;     ///< no schedule (for `form::flat`: no flat one) of as many iterations has a smaller peak
  std::vector<bytes> fills;  ///< per channel: the most tokens at once
  bytes separate = 0;        ///< bytes if each channel has memory for its largest fill
  bytes separate_bound = 0;  ///< no schedule takes less of those
  memsched::options limits;  ///< as requested
  sdf::options what;
  bytes left = 0;  ///< firings that a scheduler was asked to order; 0 or 1: the rules of `compress` solved it
  stop_reason stopped = stop_reason::finished;
  statistics stats;
  std::optional<graph_error> error;

  /// Bytes of the memory that was to be small, and their bound.
  bytes cost() const noexcept { return what.memory == memory::shared ? peak : separate; }
  bytes bound() const noexcept { return what.memory == memory::shared ? lower_bound : separate_bound; }
  bool optimal() const noexcept { return cost() == bound(); }
  bool fits() const noexcept { return cost() <= limits.budget; }

  /// Whether there is no error.
  explicit operator bool() const noexcept { return !error; }
  /// Returns the result itself. Throws bad_graph if there is an error; without exceptions prints it and aborts.
  const schedule_result& value() const& {
    if (error) memsched::detail::abort_with(*error);
    return *this;
  }
  schedule_result value() && {
    if (error) memsched::detail::abort_with(*error);
    return std::move(*this);
  }
};

namespace detail {

class front_door {
 public:
  front_door(const graph& g, inner_scheduler policy, std::string_view name, bool keep_order, const options& what,
             const memsched::options& limits)
      : g_(g), policy_(policy), name_(name), keep_order_(keep_order), rule_(limits.default_firing), context_(limits) {
    r_.what = what;
    r_.limits = limits;
  }

  schedule_result run() {
    if (auto e = solve()) return failed(std::move(*e));
    const auto judged = replay(g_, r_.schedule, rule_);
    if (!judged) return failed(judged.error());
    r_.peak = judged->peak;
    r_.fills = judged->fills;
    r_.separate = judged->separate;
    r_.separate_bound = std::max(r_.separate_bound, separate_bound(g_, rule_));
    r_.lower_bound = std::max(r_.lower_bound, shared_bound(g_, rule_));
    r_.stopped = context_.control().reason();
    r_.stats = context_.control().stats;
    if (r_.lower_bound > r_.peak)
      return failed({error_code::bad_policy,
                     "the scheduler " + std::string(name_) + " claims that no schedule has a peak below " +
                         std::to_string(r_.lower_bound) + " bytes, and one has " + std::to_string(r_.peak),
                     {},
                     {}});
    return std::move(r_);
  }

 private:
  schedule_result failed(graph_error e) {
    r_.error = std::move(e);
    return std::move(r_);
  }

  /// Finds a schedule and a bound; an error if there is none.
  std::optional<graph_error> solve() {
    auto all = costs(g_, rule_, r_.what.iterations);
    if (!all) return all.error();
    if (r_.what.memory == memory::separate) {
      if (r_.what.form != form::any)
        return graph_error{
            error_code::bad_input, "separate buffers are made small for any form of schedule, not for one form", {}, {}};
      if (all->firings() > r_.what.most_firings)
        return graph_error{
            error_code::too_large, "too many firings to try separate buffers: " + std::to_string(all->firings()), {}, {}};
      auto found = least_buffers(g_, rule_, context_, r_.what.iterations);
      r_.schedule = std::move(found.schedule);
      r_.separate_bound = found.lower_bound;
      return std::nullopt;
    }
    if (r_.what.form == form::flat) {
      auto f = flat(*all, [&](index_t a) { return g_.actor_name(a); });
      if (!f) return f.error();
      return order(*f);
    }
    if (auto e = order(*all)) return e;
    if (r_.what.form == form::single) return nest(*all);
    return std::nullopt;
  }

  /// Compresses, has the rest ordered and makes loops of that.
  std::optional<graph_error> order(const composite_graph& all) {
    composite_graph rest = compress(all);
    const bytes most = std::max<bytes>(r_.what.most_firings, rest.actors.size());
    const bool whole = rest.firings() <= most;
    if (!whole) rest = compress(regroup(rest, most));
    r_.left = rest.firings();
    std::vector<node_id> nodes(static_cast<std::size_t>(std::min<bytes>(r_.left, 1)), 0);
    if (r_.left > 1) {
      auto expanded = expand(rest, most);
      if (!expanded) return expanded.error();
      auto g = make_schedule_graph(std::move(*expanded));
      if (!g) return g.error();
      solution s = policy_(*g, context_);
      if (s.error) return s.error;
      nodes = std::move(s.order);
      if (whole) r_.lower_bound = s.lower_bound;
    } else if (whole) {
      r_.lower_bound = rest.base + (rest.actors.empty() ? 0 : static_cast<bytes>(rest.actors[0].cost.peak));
    }
    const std::vector<index_t> actor = actors_of_nodes(rest);
    std::vector<index_t> sequence;
    std::vector<loops> bodies;
    delta level = 0, peak = 0;
    for (node_id v : nodes) {
      const node_cost c = rest.actors[actor[v]].cost;
      sequence.push_back(actor[v]);
      peak = std::max(peak, level + c.peak);
      level += c.impact;
    }
    for (const composite& a : rest.actors) bodies.push_back(a.body);
    r_.schedule = fold(sequence, bodies);
    if (rest.actors.size() > 1 && !keep_order_) take_nest(rest, sequence, rest.base + static_cast<bytes>(peak));
    return std::nullopt;
  }
  /// Takes the nest with each composite once if its peak is no larger.
  void take_nest(const composite_graph& rest, const std::vector<index_t>& sequence, bytes peak) {
    constexpr std::uint64_t little_work = std::uint64_t{1} << 22;
    loops plain;
    for (index_t a : sequence) plain.fire(a);
    const std::vector<index_t> order = first_appearances(plain, rest.actors.size());
    if (order.size() < rest.actors.size()) return;
    const auto nest = single_appearance(rest, order, little_work);
    if (nest && nest->peak <= peak) r_.schedule = nest->schedule;
  }

  /// The best nest with each actor once, in the order in which they first appear in the best schedule.
  std::optional<graph_error> nest(const composite_graph& all) {
    if (r_.schedule.appearances() == g_.actors()) return std::nullopt;
    const std::vector<index_t> order = first_appearances(r_.schedule, g_.actors());
    auto nest = single_appearance(all, order);
    if (!nest) return nest.error();
    r_.schedule = std::move(nest->schedule);
    return std::nullopt;
  }

  const graph& g_;
  inner_scheduler policy_;
  std::string_view name_;
  bool keep_order_;  // the policy's order stands even if a nest is as good
  firing rule_;
  search context_;
  schedule_result r_;
};

}  // namespace detail

/// A schedule with a small memory, and how far it is from the best: the rules of `compress` first, then the scheduler orders
/// the firings that are left, which become loops. If a nest with each actor once is as good, it is that.
///
/// Claims are of whole iterations, which return to the initial tokens. If no reachable level is below that at the start
/// (no initial tokens, for instance) no run that fires each actor as often has a smaller peak; else an infinite run may.
/// Errors: `overflow` for too many iterations, `bad_input` for a form together with separate memory, `cycle` if a form is
/// asked for that no schedule has, `too_large`, errors of the scheduler, and `bad_policy` if its answer is not an order or
/// contradicts itself.
template <scheduler S>
schedule_result schedule(const graph& g, const S& policy, const options& what = {}, const memsched::options& limits = {}) {
  const auto checked_policy = [&policy](const schedule_graph& s, search& context) {
    return memsched::detail::checked(policy, s, context);
  };
  return detail::front_door(g, checked_policy, base::type_name<S>(), memsched::detail::baseline<S>, what, limits).run();
}

}  // namespace sdf
}  // namespace MEMSCHED_ABI
}  // namespace memsched
