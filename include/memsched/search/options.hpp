// Options of a search, and the progress that it reports.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>

#include <memsched/base/bytes.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/graph/schedule_graph.hpp>
#include <memsched/model/firing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The reason why a search ended.
enum class stop_reason : unsigned char {
  finished,  ///< by itself
  gave_up,   ///< by itself, with a gap: the graph is too large for the policy, or no more effort of its kind would help
  time_limit,
  state_limit,
  memory_limit,
  cancelled,  ///< by the stop token
};

constexpr const char* to_string(stop_reason r) noexcept {
  switch (r) {
    case stop_reason::time_limit: return "time_limit";
    case stop_reason::state_limit: return "state_limit";
    case stop_reason::memory_limit: return "memory_limit";
    case stop_reason::cancelled: return "cancelled";
    case stop_reason::gave_up: return "gave_up";
    case stop_reason::finished: break;
  }
  return "finished";
}

inline constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

/// The state of a search; bytes.
struct progress {
  /// The costs of a search by `recompute`.
  struct costs {
    std::uint64_t extra_cost = no_limit;  ///< of the best executions within the budget; `no_limit` before there are any
    std::uint64_t lower_bound = 0;
  };

  bytes peak = 0;  ///< of the best order so far, or of the best executions
  bytes lower_bound = 0;
  std::uint64_t states = 0;
  std::string_view order_by{}, bound_by{};  ///< source of that order and that bound: a stage of `automatic`, or a policy
  std::optional<costs> cost{};              ///< of `recompute` alone; then the sources are those of its costs
};

struct certificate;

/// Options and limits of a search. A search that meets a limit returns its best order and its bound.
///
/// With a budget, the search ends as soon as a peak is within it or the bound is above it. With a gap, it ends at a peak of
/// at most (1 + gap) times the bound.
struct options {
  /// Limits of a certificate.
  struct certificate_limits {
    std::size_t probed = 8192;                ///< nodes of a graph that is probed; of larger ones, windows are
    std::size_t sets = std::size_t{1} << 20;  ///< of a family
    bytes size = no_limit;                    ///< of its JSON text (formats/certificate.hpp)
    bytes memory = 1_GiB;                     ///< of the sets of a family, while it is looked for and while it is checked
  };
  /// Makes certificates: `certify` (certify/certify.hpp).
  using certificate_maker = certificate(const schedule_graph& g, std::span<const node_id> order, bytes bound,
                                        base::function_ref<bool()> go_on, const certificate_limits& limits);

  bytes budget = no_limit;                                                ///< the available memory
  double gap = 0;                                                         ///< relative; 0 asks for the best order
  std::chrono::nanoseconds time_limit = std::chrono::nanoseconds::max();  ///< the one limit that is not deterministic
  std::uint64_t state_limit = no_limit;                                   ///< states over the whole search
  /// Limit of the tables of a search; bytes. The graph and the working set of its compression come on top: some hundred
  /// bytes for each operator, tensor and edge.
  bytes memory_limit = 2_GiB;
  std::stop_token stop{};                              ///< cancels from another thread
  firing default_firing = firing::pbc;                 ///< for operators without a rule
  bool in_place = true;                                ///< whether overwritten inputs save memory
  unsigned threads = 1;                                ///< at most; the answer does not depend on it
  std::function<void(const progress&)> on_progress{};  ///< called now and then, by the calling thread
  /// Set to `certify` for a proof of the bound beside the result; takes at most the time limit once more.
  certificate_maker* certify = nullptr;
  bytes alignment =
      1;  ///< of every offset in an arena; for `plan` and `plan_jointly`, where the budget is the arena's capacity

  memory_model model() const noexcept { return {default_firing, in_place}; }
  bool has_time_limit() const noexcept { return time_limit != time_limit.max(); }
  /// The rest of the time limit since `start`, at least 0. Without a limit, the largest duration.
  std::chrono::nanoseconds time_left(std::chrono::steady_clock::time_point start) const {
    if (!has_time_limit()) return time_limit;
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
    return took < time_limit ? time_limit - took : std::chrono::nanoseconds(0);
  }
};

}  // namespace MEMSCHED_ABI
}  // namespace memsched
