// Plans of arenas, the concept of a planner, and the referee of plans, which shares nothing with planners.
#pragma once

#include <algorithm>
#include <concepts>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <memsched/allocation/buffers.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/search/search.hpp>
#include <memsched/search/verdict.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The offset of each buffer, and bounds of the smallest arena. Bytes. If `error` is set, no other member is.
struct [[nodiscard]] arena_plan {
  std::vector<bytes> offset;  ///< of each buffer; 0 for an empty one that is not fixed
  bytes size = 0;             ///< of the arena: the largest offset + size
  bytes lower_bound = 0;      ///< no arena for these buffers is smaller
  bytes capacity = no_limit;  ///< that was asked for
  stop_reason stopped = stop_reason::finished;
  statistics stats{};  ///< `states`: nodes of exact searches
  std::vector<index_t>
      conflict{};  ///< if lower_bound exceeds the load: buffers that need that much by themselves (see conflict.hpp)
  std::optional<graph_error> error{};

  memsched::verdict verdict() const noexcept {
    if (error) return memsched::verdict::failed;
    if (lower_bound > capacity) return memsched::verdict::infeasible;
    return size == lower_bound ? memsched::verdict::optimal : memsched::verdict::feasible;
  }
  bool fits() const noexcept { return !error && size <= capacity; }
  /// Whether there is no error.
  explicit operator bool() const noexcept { return !error; }
  /// Returns the plan itself. Throws bad_graph if there is an error; without exceptions prints it and aborts.
  const arena_plan& value() const& {
    if (error) detail::abort_with(*error);
    return *this;
  }
  arena_plan value() && {
    if (error) detail::abort_with(*error);
    return std::move(*this);
  }
};

/// A function from buffers without fault to a plan. It always answers with a valid plan, limits or not; with a capacity, it
/// may end once a plan is within it or a bound above it.
template <class P>
concept planner = requires(const P& p, std::span<const buffer> buffers, bytes capacity, search& context) {
  { p(buffers, capacity, context) } -> std::same_as<arena_plan>;
};

/// Any planner.
using any_planner = base::function_ref<arena_plan(std::span<const buffer>, bytes, search&)>;

/// The arena that offsets need: the largest offset + size of a buffer that is not empty. O(n).
inline bytes arena_of(std::span<const buffer> buffers, std::span<const bytes> offset) {
  bytes most = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i].empty()) most = std::max(most, offset[i] + buffers[i].size);
  return most;
}

/// Two buffers that meet in time and in offsets, the smaller index first; none twice if there are none. It sweeps over
/// time and keeps the live buffers by offset: O(n log n).
MEMSCHED_FUNCTION std::pair<index_t, index_t> find_clash(std::span<const buffer> buffers, std::span<const bytes> offset);

/// Checks that offsets are a plan of these buffers within an arena of `size` bytes. Returns the reason if they are not, else an
/// empty message. O(n log n).
MEMSCHED_FUNCTION graph_error check_plan(std::span<const buffer> buffers, std::span<const bytes> offset, bytes size);

/// Checks that no two fixed buffers meet in time and in offsets. Returns an error that names two that do, else an empty
/// message. O(n log n).
MEMSCHED_FUNCTION graph_error check_fixed(std::span<const buffer> buffers);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <map>
#include <string>
#include <tuple>

namespace memsched {
inline namespace MEMSCHED_ABI {

MEMSCHED_FUNCTION std::pair<index_t, index_t> find_clash(std::span<const buffer> buffers, std::span<const bytes> offset) {
  struct event {
    std::int64_t at;
    int kind;  // 0: ends, 1: drops, 2: starts
    index_t buffer;
    bytes size;
  };
  std::vector<event> events;
  for (index_t i = 0; i < buffers.size(); ++i) {
    const buffer& b = buffers[i];
    if (b.size == 0 || b.lower >= b.upper) continue;
    events.push_back({b.lower, 2, i, b.size});
    for (const size_drop& d : b.drops) events.push_back({d.at, 1, i, d.size});
    events.push_back({b.upper, 0, i, 0});
  }
  std::sort(events.begin(), events.end(), [](const event& a, const event& b) {
    return std::tie(a.at, a.kind, a.buffer) < std::tie(b.at, b.kind, b.buffer);
  });
  std::map<bytes, std::pair<bytes, index_t>> live;  // offset -> end, buffer
  for (const event& e : events) {
    const bytes from = offset[e.buffer], to = from + e.size;
    if (e.kind == 0) {
      live.erase(from);
    } else if (e.kind == 1) {
      live[from].first = to;
    } else {
      const auto [at, fresh] = live.try_emplace(from, to, e.buffer);
      const auto above = std::next(at);
      index_t other = none;
      if (!fresh) other = at->second.second;
      else if (at != live.begin() && std::prev(at)->second.first > from) other = std::prev(at)->second.second;
      else if (above != live.end() && above->first < to) other = above->second.second;
      if (other != none) return {std::min(other, e.buffer), std::max(other, e.buffer)};
    }
  }
  return {none, none};
}

MEMSCHED_FUNCTION graph_error check_plan(std::span<const buffer> buffers, std::span<const bytes> offset, bytes size) {
  const auto fault = [](const std::string& message) { return graph_error{error_code::bad_input, message, {}, {}}; };
  const auto name = [](std::size_t i) { return "buffer " + std::to_string(i); };
  if (offset.size() != buffers.size())
    return fault("there are " + std::to_string(offset.size()) + " offsets for " + std::to_string(buffers.size()) +
                 " buffers");
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const buffer& b = buffers[i];
    if (b.offset != no_offset && offset[i] != b.offset) return fault(name(i) + " is fixed elsewhere");
    if (b.size == 0 || b.lower >= b.upper) continue;
    if (offset[i] % b.alignment != 0) return fault(name(i) + " is not aligned");
    if (offset[i] > size || b.size > size - offset[i]) return fault(name(i) + " ends above the arena");
  }
  const auto [a, b] = find_clash(buffers, offset);
  return a == none ? graph_error{} : fault(name(a) + " and " + name(b) + " meet in time and in offsets");
}

MEMSCHED_FUNCTION graph_error check_fixed(std::span<const buffer> buffers) {
  std::vector<buffer> fixed;
  std::vector<bytes> offset;
  std::vector<index_t> where;
  for (index_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].offset == no_offset) continue;
    fixed.push_back(buffers[i]);
    offset.push_back(buffers[i].offset);
    where.push_back(i);
  }
  const auto [a, b] = find_clash(fixed, offset);
  if (a == none) return {};
  return {
      error_code::bad_input,
      "buffers " + std::to_string(where[a]) + " and " + std::to_string(where[b]) + " meet and are fixed across each other",
      {},
      {}};
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
