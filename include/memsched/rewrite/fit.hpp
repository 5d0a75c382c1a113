// The search for a rewritten network that needs less memory than any order of the given one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <memsched/graph/error.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/network/network.hpp>
#include <memsched/rewrite/runtime.hpp>
#include <memsched/search/policy.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// What the search may do.
struct fit_options {
  bytes budget = 0;              ///< it ends at a network within this; 0: it looks for the smallest peak
  std::uint64_t max_extra_macs = 0;  ///< multiply-accumulates that it may spend beyond those of the given network
  runtime profile = runtime::parts;  ///< what the kernels can do that the network is for
  bool streamed_input = false;   ///< inputs come part by part, and need no room before they are wanted
  exactness exact = exactness::bits;  ///< reals: partial sums in float32 may come in another order
  coordinate most_blocks = 0;    ///< of a tensor; 0: single rows
};

/// What one network of the search costs.
struct fit_point {
  bytes peak = 0, lower_bound = 0;  ///< of its best order found; no order of it has less than the bound
  std::uint64_t macs = 0;           ///< multiply-accumulates
  std::size_t operators = 0;
  bool operator==(const fit_point&) const = default;
};

/// A step of the search: a rewrite that was tried.
struct fit_step {
  std::string rule, site;
  bytes peak_before = 0;
  fit_point after;
  bool kept = false;
};

/// The answer of `fit`. Where `error` is set, nothing else is.
struct fitted {
  network net;                     ///< rewritten; its operators' and tensors' origins are those of the given one
  std::vector<op_id> order;        ///< of net's operators
  fit_point before, after;
  std::vector<fit_step> steps;
  std::vector<fit_point> front;    ///< networks seen that no other beats in peak, multiply-accumulates and operators
  stop_reason stopped = stop_reason::finished;
  std::optional<graph_error> error{};
  bool fits(const fit_options& f) const { return !error && (f.budget == 0 || after.peak <= f.budget); }
};

namespace detail {
fitted fit_network(const network& net, inner_scheduler policy, const fit_options& f, const options& o);
}  // namespace detail

/// A network that computes what `net` does with a smaller peak under this scheduler, whose orders the referee measures. A
/// rule stays where the peak falls; those that spare operators (R3, R7, R0), where it does not rise.
///
/// First rules for whole tensors: pads go into their readers (R7), concatenations go (R3, R0), or move behind channel-wise
/// operators (R2). At the peak, convolutions of several parts become partial sums (R1), and what lies between an expansion
/// and a projection comes in slices of channels (R4). Of these, what changes the order of sums is for integers and
/// `exactness::reals`; so are convolutions before resizes (R8), which are for reals only.
///
/// For `runtime::parts`, tensors are then cut into row blocks (R5), and means and dense layers follow block by block (R9).
/// With a budget, only what is live at a step of the peak is cut, finer and finer, until the budget holds, and then coarser
/// again where it still does; without, every tensor is cut into 2, 4, 8, ... blocks. Cheap operators are copied for each
/// reader of a tensor that waits at the peak (R10). Where multiply-accumulates may be spent, regions around the peak run in
/// stripes with overlaps (R6), and are cut again. For `runtime::whole`, stripes are all there is of this, at no more than
/// `max_extra_macs`.
///
/// `o` limits the whole: each network gets a part of the time that is left, 10 s where there is no limit of time or states.
/// A limit on states is for each network, and alone makes the search deterministic. A first network that is none, one
/// that is not of whole operators where the runtime is, and a scheduler whose answer is no order, are `error`.
template <scheduler S>
fitted fit(const network& net, const S& policy, const fit_options& f = {}, const options& o = {}) {
  const auto inner = [&policy](const schedule_graph& g, search& context) { return checked(policy, g, context); };
  return detail::fit_network(net, inner, f, o);
}

}  // namespace memsched

#include <memsched/rewrite/fit_search.hpp>
