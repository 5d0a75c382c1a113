// What the search for a rewritten network is asked, and what it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
  bool whole_integer_sums = false;  ///< a sum of integers stays in one operator, as model files need
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

}  // namespace memsched
