// Rewrites of a network that were tried, for those who only look.
#pragma once

#include <cstddef>
#include <memsched/base/bytes.hpp>
#include <memsched/search/options.hpp>
#include <string>
#include <vector>

#include "load.hpp"

namespace cli {

/// A rewrite that was tried on the network as it was then. Peaks are those of the best orders found; bytes.
struct tried_rewrite {
  std::string rule, site;
  memsched::bytes peak_before = 0, peak = 0;
  std::size_t operators = 0;
  bool kept = false;
};

/// What the search for a smaller network found; nothing but `reason` where the graph does not say what its operators
/// compute.
struct rewrite_trial {
  std::string reason;
  memsched::bytes before = 0, after = 0;
  std::size_t operators_before = 0, operators = 0;
  std::vector<tried_rewrite> steps{};
  memsched::stop_reason stopped = memsched::stop_reason::finished;
};

/// Looks for a network with the smallest peak, within the limits.
rewrite_trial try_rewrites(const std::string& path, const reading&, const memsched::options& limits);

}  // namespace cli
