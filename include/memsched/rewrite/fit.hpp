// The search for a rewritten network that needs less memory than any order of the given one.
#pragma once

#include <memsched/base/linkage.hpp>
#include <memsched/rewrite/fit_options.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {
MEMSCHED_FUNCTION fitted fit_network(const network& net, inner_scheduler policy, const fit_options& f, const options& o);
}  // namespace detail

/// A network that computes the same as `net` with a smaller peak under this scheduler, by the referee's measure of its
/// orders. A rule stays if the peak falls; those that spare operators (R3, R7, R0), if it does not rise.
///
/// First rules for whole tensors: pads go into their readers (R7), concatenations go (R3, R0), or move after channel-wise
/// operators (R2). At the peak, convolutions of several parts become partial sums (R1), and the operators between an
/// expansion and a projection come in slices of channels (R4). Of these, rules that change the order of sums are for
/// integers and `exactness::reals`; functions that are linear in a pixel change places with resizes and means (R8) for reals
/// only.
///
/// For `runtime::parts`, tensors are then cut into row blocks (R5), and means and dense layers follow block by block (R9).
/// With a budget, only tensors live at a step of the peak are cut, finer and finer, until the budget holds, and then coarser
/// again if it still does; without, every tensor is cut into 2, 4, 8, ... blocks. Cheap operators are copied for each
/// reader of a tensor that waits at the peak (R10). If multiply-accumulates may be spent, regions around the peak run in
/// stripes with overlaps (R6), and are cut again. For `runtime::whole`, stripes are all there is of this, at no more than
/// `max_extra_macs`.
///
/// If a `form` is given, peaks, bounds and operators are those of the graph that it makes of a network: a step without gain
/// there is not kept, and a network that it cannot hold is not tried further. A given network that it cannot hold is an
/// error, before the search.
///
/// `o` limits the whole: each network gets a small part of the time that is left, 10 s if there is no limit of time or
/// states, and the best one all of the rest, for its order and its bound. The bound is one for the orders of the network
/// that is the answer: another way to cut may need less. Row blocks start from orders in waves (rewrite/waves.hpp).
/// A limit on states is for each network, and alone makes the search deterministic. A first network that is not a network, one
/// that is not of whole operators if the runtime is, and a scheduler's answer that is not an order, are `error`.
template <scheduler S>
fitted fit(const network& net, const S& policy, const fit_options& f = {}, const options& o = {}) {
  const auto inner = [&policy](const schedule_graph& g, search& context) { return detail::checked(policy, g, context); };
  return detail::fit_network(net, inner, f, o);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <memsched/rewrite/fit_search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace detail {

MEMSCHED_FUNCTION fitted fit_network(const network& net, inner_scheduler policy, const fit_options& f, const options& o) {
  return fit_run(net, policy, f, o).run();
}

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
