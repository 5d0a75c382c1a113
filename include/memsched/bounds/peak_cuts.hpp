// Bounds by cuts over stretches of an order around its highest positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <memsched/base/backbone.hpp>
#include <memsched/base/crew.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/bounds/windowed_cut.hpp>
#include <memsched/structure/line.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

/// Minimum cuts (`windowed_cut`) for the nodes in the highest positions of a line, highest first, in groups, so that threads
/// may share them; they change no answer. The line and the backbone must outlive it, and the line must not change.
class peak_cuts {
 public:
  peak_cuts(const order_line& l, const backbone& bone, helpers who)
      : line_(l), live_(l), who_(who), cuts_(threads_of(who.team), windowed_cut(l, live_, bone)) {
    if (cuts_.size() == 1) who_.team = nullptr;
  }
  peak_cuts(const peak_cuts&) = delete;
  peak_cuts& operator=(const peak_cuts&) = delete;

  /// Cuts for the highest position of each stretch, then for the highest of all, 1,000 times two to the effort; of each kind
  /// up to a position that is no higher than `known()`, the best bound, or until 128 times two to the effort in a row did not
  /// raise it. Asks `go_on` before each cut. `raises(bound, visits)` takes its bound and returns whether that is better.
  /// Returns false once `go_on` does.
  bool run(unsigned effort, function_ref<bytes()> known, function_ref<bool()> go_on,
           function_ref<bool(bytes, std::uint64_t)> raises);

 private:
  bool is_above(std::size_t i, bytes bound) const { return static_cast<bytes>(line_.height(i)) > bound; }

  bool cut(const std::vector<index_t>& positions, unsigned effort, function_ref<bytes()> known, function_ref<bool()> go_on,
           function_ref<bool(bytes, std::uint64_t)> raises);
  bytes bound_around(windowed_cut& cut, std::size_t i, bytes least) const;

  const order_line& line_;
  live_index live_;
  helpers who_;
  std::vector<windowed_cut> cuts_;  // of each thread
};

}  // namespace bounds
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <utility>

namespace memsched {
inline namespace MEMSCHED_ABI {
namespace bounds {

MEMSCHED_FUNCTION bool peak_cuts::run(unsigned effort, function_ref<bytes()> known, function_ref<bool()> go_on,
                                      function_ref<bool(bytes, std::uint64_t)> raises) {
  if (!cut(line_.heights(), effort, known, go_on, raises)) return false;
  std::vector<index_t> high;
  for (index_t i = 0; i < line_.size(); ++i)
    if (is_above(i, known()) && !line_.graph().is_release(line_.at(i))) high.push_back(i);
  const auto most = static_cast<std::ptrdiff_t>(std::min(high.size(), std::size_t{1000} << effort));
  std::partial_sort(high.begin(), high.begin() + most, high.end(),
                    [&](index_t a, index_t b) { return std::pair(-line_.height(a), a) < std::pair(-line_.height(b), b); });
  high.resize(static_cast<std::size_t>(most));
  return cut(high, effort, known, go_on, raises);
}

MEMSCHED_FUNCTION bool peak_cuts::cut(const std::vector<index_t>& positions, unsigned effort, function_ref<bytes()> known,
                                      function_ref<bool()> go_on, function_ref<bool(bytes, std::uint64_t)> raises) {
  constexpr std::size_t group = 32;
  const std::size_t patience = std::size_t{128} << effort;
  bool more = true, high = true;
  std::size_t in_vain = 0;
  for (std::size_t first = 0, end = 0; more && high && in_vain < patience && first < positions.size(); first = end) {
    end = std::min(positions.size(), first + group);
    const auto ask = [&, least = known()](std::size_t k, std::size_t member) {
      const std::uint64_t before = cuts_[member].work();
      const bytes bound = bound_around(cuts_[member], positions[first + k], least);
      return std::pair(bound, cuts_[member].work() - before);
    };
    const auto use = [&](std::size_t k, auto&& asked) {
      high = is_above(positions[first + k], known());
      more = !high || go_on();
      if (!high || !more) return false;
      const auto [bound, visits] = asked();
      in_vain = raises(bound, visits) ? 0 : in_vain + 1;
      return true;
    };
    ask_ahead(who_, end - first, ask, use);
  }
  return more;
}

/// The bound by cuts of the node in position i, in wider stretches while their slack may hide one above `least`.
MEMSCHED_FUNCTION bytes peak_cuts::bound_around(windowed_cut& cut, std::size_t i, bytes least) const {
  bytes bound = 0;
  if (line_.graph().is_release(line_.at(i))) return bound;
  for (std::size_t reach = 300;; reach *= 2) {
    const auto [a, b] = line_.around(i, reach);
    const auto r = cut.at(line_.at(i), a, b);
    bound = std::max(bound, r.bound);
    const bytes slack = r.slack_before + r.slack_behind;
    if (slack == 0 || r.bound + slack <= std::max(bound, least) || reach >= 2400 || (a == 0 && b == line_.size()))
      return bound;
  }
}

}  // namespace bounds
}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
