// An order near the one that the caller's graph came in.
#pragma once

#include <cstdint>

#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Moves the inner scheduler's order towards the caller's own (`given_order`), with no higher peak: step by step it runs the
/// first operator of the caller's order that has not run, if that and the rest of the inner order stay within the peak;
/// else the next of the inner order. A gain below `least_gain` is no reason to move anything: the caller's order stands.
/// If `enough` bytes are there, a peak of up to that is as good as any: the caller's order stands if it fits, and if
/// the inner one does, the answer may take that much for fewer moves. Operators that still stand aside from a longest sequence
/// of the caller's order go back to their places, one by one, if the peak stays.
///
/// The bound is the inner one; the inner scheduler gets nine tenths of the time. Each look at an operator that runs early
/// costs the operators that it overtakes, and each that goes back all of them; all looks together are limited to
/// `looks_per_node` for each node, and if that is used up, the rest stays.
struct stay_close {
  bytes least_gain = 1;
  bytes enough = 0;
  std::uint64_t looks_per_node = 256;

  solution operator()(const schedule_graph& g, search& context, inner_scheduler inner) const;
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <memsched/base/increasing.hpp>
#include <memsched/structure/list_schedule.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Whether v may run now, before the remaining nodes of `rest` in front of it. After v's own place nothing changes.
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

/// The nodes of a longest sequence that has the same order in both.
inline std::vector<bool> in_common(const std::vector<node_id>& given, const std::vector<node_id>& order) {
  std::vector<std::size_t> place(given.size()), places;
  for (std::size_t i = 0; i < given.size(); ++i) place[given[i]] = i;
  for (node_id v : order) places.push_back(place[v]);
  std::vector<bool> common(given.size(), false);
  for (std::size_t i : base::longest_increasing(places)) common[order[i]] = true;
  return common;
}

/// Whether an order of all nodes respects every edge, within a peak.
inline bool fits(const schedule_graph& g, const std::vector<node_id>& order, delta peak) {
  order_walk w(g);
  for (node_id v : order) {
    if (!w.ready(v)) return false;
    w.fire(v);
    if (w.peak() > peak) return false;
  }
  return true;
}

/// Puts nodes back, each after the last one before it in the given order that stays, if that fits.
inline std::vector<node_id> put_back(const schedule_graph& g, const std::vector<node_id>& given, std::vector<node_id> order,
                                     delta peak, std::uint64_t looks, function_ref<bool()> go_on) {
  std::vector<bool> stays = in_common(given, order);
  std::vector<node_id> tried;
  const node_id* before = nullptr;
  for (const node_id& v : given) {
    if (!stays[v]) {
      if (looks < order.size() || !go_on()) break;
      looks -= order.size();
      tried = order;
      tried.erase(std::find(tried.begin(), tried.end(), v));
      tried.insert(before ? std::next(std::find(tried.begin(), tried.end(), *before)) : tried.begin(), v);
      if ((stays[v] = fits(g, tried, peak))) order.swap(tried);
    }
    if (stays[v]) before = &v;
  }
  return order;
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
    bool early = wanted != rest[next] && looks > 0 && w.ready(wanted);
    if (early && !go_on()) early = false, looks = 0;
    early = early && fits_early(w, wanted, rest, next, ran, peak, looks);
    run(early ? wanted : rest[next]);
  }
  return put_back(g, given, std::move(order), peak, looks, go_on);
}

}  // namespace detail

MEMSCHED_FUNCTION solution stay_close::operator()(const schedule_graph& g, search& context, inner_scheduler inner) const {
  constexpr double inner_share = 0.9;  // of the time
  solution s = context.control().with_share(inner_share, [&] { return inner(g, context); });
  if (s.error || g.active == 0) return s;
  std::vector<node_id> given = structure::given_order(g);
  const bytes peak = std::max(peak_of(g, s.order), enough), given_peak = peak_of(g, given);
  if (given_peak <= peak || given_peak - peak < least_gain) s.order = std::move(given);
  else {
    const auto go_on = [&] { return !context.control().over(); };
    s.order = detail::order_near(g, given, s.order, static_cast<delta>(peak), looks_per_node * g.active, go_on);
  }
  return s;
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
