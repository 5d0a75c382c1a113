// An order near the one that the caller's graph came in.
#pragma once

#include <cstdint>

#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Moves the inner scheduler's order towards the caller's own (`given_order`), with no higher peak: step by step it runs the
/// first operator of the caller's order that has not run, where that and the rest of the inner order stay within the peak;
/// else the next of the inner order. A gain below `least_gain` is no reason to move anything: the caller's order stands.
///
/// The bound is the inner one; the inner scheduler gets nine tenths of the time. Each look at an operator that runs early costs the operators that it overtakes; all looks
/// together are limited to `looks_per_node` for each node, and where that is used up the rest keeps the inner order.
struct stay_close {
  bytes least_gain = 1;
  std::uint64_t looks_per_node = 256;

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <utility>
#include <vector>

#include <memsched/graph/list_schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Whether v may run now, before the remaining nodes of `rest` in front of it. Behind v's own place nothing changes.
inline bool fits_early(retractable_walk& w, node_id v, const std::vector<node_id>& rest, std::size_t next,
                       const std::vector<bool>& ran, delta peak, std::uint64_t& looks) {
  std::vector<node_id> tried;
  const auto step = [&](node_id u) {
    tried.push_back(u);
    const delta before = w.level();
    return before + w.fire(u, [](node_id) {}).peak <= peak;
  };
  bool good = step(v);
  for (; good && rest[next] != v; ++next) {
    if (looks == 0) good = false;
    else if (--looks; !ran[rest[next]]) good = step(rest[next]);
  }
  while (!tried.empty()) w.take_back(tried.back()), tried.pop_back();
  return good;
}

/// Keeps the rest of the order once `go_on()` is false.
inline std::vector<node_id> order_near(const schedule_graph& g, const std::vector<node_id>& given, std::vector<node_id> rest,
                                       delta peak, std::uint64_t looks, function_ref<bool()> go_on) {
  std::vector<node_id> order;
  order.reserve(rest.size());
  std::vector<bool> ran(g.active, false);
  retractable_walk w(g);
  std::size_t next_given = 0, next = 0;  // in `given`, and in `rest`, from which nodes that ran early are not removed
  const auto run = [&](node_id v) {
    w.fire(v, [](node_id) {});
    ran[v] = true;
    order.push_back(v);
  };
  while (order.size() < rest.size()) {
    while (ran[rest[next]]) ++next;
    while (ran[given[next_given]]) ++next_given;
    const node_id wanted = given[next_given];
    const bool early = wanted != rest[next] && looks > 0 && go_on() && w.ready(wanted) &&
                       fits_early(w, wanted, rest, next, ran, peak, looks);
    run(early ? wanted : rest[next]);
  }
  return order;
}

}  // namespace detail

MEMSCHED_FUNCTION solution stay_close::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  constexpr double inner_share = 0.9;  // of the time
  solution s = context.with_share(inner_share, [&] { return inner(g, context); });
  if (s.error || g.active == 0) return s;
  std::vector<node_id> given = given_order(g);
  const bytes peak = peak_of(g, s.order), given_peak = peak_of(g, given);
  if (given_peak <= peak || given_peak - peak < least_gain) s.order = std::move(given);
  else {
    const auto go_on = [&] { return !context.over(); };
    s.order = detail::order_near(g, given, s.order, static_cast<delta>(peak), looks_per_node * g.active, go_on);
  }
  return s;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
