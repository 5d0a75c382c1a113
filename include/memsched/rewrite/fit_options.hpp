// Options and answers of the search for a rewritten network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <memsched/graph/error.hpp>
#include <memsched/graph/problem.hpp>
#include <memsched/network/disagreement.hpp>
#include <memsched/network/network.hpp>
#include <memsched/rewrite/runtime.hpp>
#include <memsched/search/policy.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// A network in a model file.
struct written_network {
  problem graph;                     ///< the graph that a reader of such files finds
  std::vector<std::size_t> part_of;  ///< per operator of the graph: the position of the operator that it belongs to
};

/// Returns the form that a network has in a model file when its operators run in this order. An error if the file cannot hold
/// it.
using network_form = std::function<result<written_network>(const network&, std::span<const op_id> order)>;

/// Options of the search.
struct fit_options {
  bytes budget = 0;                   ///< it ends at a network within this; 0: it looks for the smallest peak
  std::uint64_t max_extra_macs = 0;   ///< multiply-accumulates that it may spend beyond those of the given network
  runtime profile = runtime::parts;   ///< abilities of the kernels that will run the network
  bool whole_integer_sums = false;    ///< a sum of integers stays in one operator, as model files need
  bool streamed_input = false;        ///< inputs come part by part, and need no room before they are wanted
  exactness exact = exactness::bits;  ///< reals: partial sums in float32 may come in another order
  coordinate most_blocks = 0;         ///< of a tensor; 0: single rows
  network_form form{};  ///< all costs are those of the network in this form, with slices, joins and pads that the
                        ///< file needs; empty: of the network itself
};

/// The cost of one network of the search.
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

/// The answer of `fit`. If `error` is set, nothing else is.
struct [[nodiscard]] fitted {
  network net;                      ///< rewritten; its operators' and tensors' origins are those of the given one
  std::vector<op_id> order;         ///< of net's operators
  std::vector<op_id> form_order{};  ///< of the operators that `form` makes of net in that order; empty if there is none
  fit_point before, after;          ///< of the given network as it is; of net, in its form
  /// Of the given network's operators, after those of `stream_inputs` if its input comes part by part; with `before.peak`.
  std::vector<op_id> given_order{};
  std::vector<fit_step> steps;
  std::vector<fit_point> front;  ///< networks seen that no other beats in peak, multiply-accumulates and operators
  stop_reason stopped = stop_reason::finished;
  std::optional<graph_error> error{};

  /// Whether there is no error.
  explicit operator bool() const noexcept { return !error; }
  bool fits(const fit_options& f) const noexcept { return !error && (f.budget == 0 || after.peak <= f.budget); }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
