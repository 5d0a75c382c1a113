// Proofs that an arena is the smallest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <memsched/base/buffer.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/proof/packing_proof.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The most that a packing proof may take.
struct packing_limits {
  std::uint64_t nodes = 100'000;  ///< of each question of the search for a conflict
  std::uint64_t cases = 20'000;   ///< pairs that are branched on
};

namespace detail {
/// The proof that buffers of a conflict do not fit below `arena` bytes; nothing if a limit is met.
MEMSCHED_FUNCTION std::optional<packing_proof> certify_conflict(std::span<const buffer> buffers, bytes arena,
                                                                std::vector<index_t> conflict, search& context,
                                                                const packing_limits& limits);
}  // namespace detail

/// A packing proof that buffers need an arena of at least `arena` bytes, which some planner claims; nothing if a limit is
/// met, or that is not so. `check_packing` has accepted it. Asks `go_on` before each case.
MEMSCHED_FUNCTION std::optional<packing_proof> certify_packing(std::span<const buffer> buffers, bytes arena, search& context,
                                                               const packing_limits& limits = {});

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <memsched/allocation/conflict.hpp>
#include <memsched/allocation/first_fit.hpp>
#include <memsched/base/function_ref.hpp>
#include <memsched/proof/check_packing.hpp>
#include <memsched/proof/packing_ranges.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Writes the steps of a packing proof: it branches over which of two buffers is below.
class packing_prover {
 public:
  packing_prover(std::uint64_t cases, function_ref<bool()> go_on) : left_(cases), go_on_(go_on) {}

  /// Adds steps that refute these ranges of offsets. Returns false if a limit is met, or nothing refutes them.
  bool prove(packing_ranges known, std::size_t depth = 0) {
    if (!known.follow()) return true;
    if (auto sum = find_sum(known)) return steps_.push_back(std::move(*sum)), true;
    if (left_ == 0 || depth >= deepest || !go_on_()) return left_ = 0, false;
    --left_;
    const auto pair = choose(known);
    if (!pair) return false;  // every pair is in order: the least offsets are a plan
    const auto [a, b] = *pair;
    const std::size_t here = steps_.size();
    steps_.push_back({false, 0, {static_cast<index_t>(a), static_cast<index_t>(b)}});
    for (const bool second : {false, true}) {
      const std::size_t start = steps_.size();
      packing_ranges one = known;
      one.put_below(second ? b : a, second ? a : b);
      if (!prove(std::move(one), depth + 1)) return false;
      // A refutation of a case may refute the ranges without it.
      packing_checker all(std::span<const proof::packing_step>(steps_).subspan(start));
      if (!all.refutes(known)) continue;
      steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(here), steps_.begin() + static_cast<std::ptrdiff_t>(start));
      steps_.resize(here + all.used());
      return true;
    }
    return true;
  }

  std::vector<proof::packing_step>& steps() { return steps_; }

 private:
  static constexpr std::size_t deepest = 500;

  /// A sum that is too much, at any moment.
  static std::optional<proof::packing_step> find_sum(const packing_ranges& known) {
    for (std::size_t k = 0; k < known.size(); ++k) {
      const std::int64_t at = known[k].lower;
      std::vector<std::size_t> live;
      for (std::size_t i = 0; i < known.size(); ++i)
        if (known[i].lower <= at && at < known[i].upper) live.push_back(i);
      const auto top = [&](std::size_t i) { return known.most(i) + static_cast<std::int64_t>(known[i].size_at(at)); };
      for (const std::size_t highest : live) {
        std::vector<std::size_t> within;
        for (const std::size_t i : live)
          if (top(i) <= top(highest)) within.push_back(i);
        std::sort(within.begin(), within.end(),
                  [&](std::size_t i, std::size_t j) { return std::pair(known.least(i), i) > std::pair(known.least(j), j); });
        bytes grid = 0, sum = 0, spared = 0;
        for (const std::size_t i : within) grid = std::gcd(grid, known.grid_of(i));
        grid = std::max<bytes>(grid, 1);
        for (std::size_t n = 0; n < within.size(); ++n) {
          const bytes size = known[within[n]].size_at(at), rounded = round_up(size, grid);
          sum += rounded, spared = std::max(spared, rounded - size);
          const std::int64_t room = top(highest) - known.least(within[n]);
          if (room >= 0 && sum - spared <= static_cast<bytes>(room)) continue;
          within.resize(n + 1);
          std::sort(within.begin(), within.end());
          if (!known.too_much(at, within)) break;  // their own grid may be another
          return proof::packing_step{true, at, {within.begin(), within.end()}};
        }
      }
    }
    return std::nullopt;
  }

  /// The pair to branch on: one with the least slack, which is the room that its two orders leave together; nothing if
  /// all are in order.
  static std::optional<std::pair<std::size_t, std::size_t>> choose(const packing_ranges& known) {
    std::optional<std::pair<std::size_t, std::size_t>> best;
    std::int64_t least = 0;
    for (std::size_t a = 0; a < known.size(); ++a)
      for (std::size_t b = a + 1; b < known.size(); ++b) {
        if (!known.meet(a, b) || known.below(a, b) || known.below(b, a)) continue;
        const std::int64_t ab = known.most(b) - known.least(a) - known.height(a, b);
        const std::int64_t ba = known.most(a) - known.least(b) - known.height(b, a);
        if (!best || ab + ba < least) best = std::pair(a, b), least = ab + ba;
      }
    return best;
  }

  std::uint64_t left_;
  function_ref<bool()> go_on_;
  std::vector<proof::packing_step> steps_;
};

/// The proof that one moment or one fixed buffer gives, if it does. O(n log n).
inline std::optional<packing_proof> certify_simply(std::span<const buffer> buffers, bytes arena) {
  for (index_t i = 0; i < buffers.size(); ++i) {
    const buffer& b = buffers[i];
    if (b.offset != no_offset && !b.empty() && b.offset + b.size >= arena) return packing_proof{arena, {i}, {}};
  }
  if (simple_bound(buffers) < arena) return std::nullopt;
  bytes live = 0, most = 0;
  std::vector<std::int64_t> times;  // where something starts, those of a new largest load last
  for (const level_change& change : moments(buffers)) {
    live = live - change.before + change.after;
    if (!change.rises) continue;
    if (live >= most || times.size() < 2) times.push_back(change.at), most = std::max(most, live);
  }
  for (std::size_t tried = 0; tried < std::min<std::size_t>(times.size(), 64); ++tried) {
    const std::int64_t at = times[times.size() - 1 - tried];
    packing_proof proof{.arena = arena};
    for (index_t i = 0; i < buffers.size(); ++i)
      if (!buffers[i].empty() && buffers[i].lower <= at && at < buffers[i].upper) proof.buffers.push_back(i);
    proof.steps.push_back({true, at, proof.buffers});
    if (check_packing(buffers, proof).empty()) return proof;
  }
  return std::nullopt;
}

MEMSCHED_FUNCTION std::optional<packing_proof> certify_conflict(std::span<const buffer> buffers, bytes arena,
                                                                std::vector<index_t> conflict, search& context,
                                                                const packing_limits& limits) {
  if (conflict.size() > packing_checker::most) return std::nullopt;
  packing_proof proof{.arena = arena, .buffers = std::move(conflict)};
  std::vector<const buffer*> chosen;
  for (const index_t i : proof.buffers) chosen.push_back(&buffers[i]);
  packing_ranges known(chosen, arena - 1);
  known.list_pairs();
  const auto go_on = [&] { return context.keep_going(); };
  packing_prover prover(limits.cases, go_on);
  if (!prover.prove(std::move(known))) return std::nullopt;
  proof.steps = std::move(prover.steps());
  for (proof::packing_step& s : proof.steps)
    for (index_t& b : s.buffers) b = proof.buffers[b];
  if (!check_packing(buffers, proof).empty()) return std::nullopt;
  return proof;
}

}  // namespace detail

MEMSCHED_FUNCTION std::optional<packing_proof> certify_packing(std::span<const buffer> buffers, bytes arena, search& context,
                                                               const packing_limits& limits) {
  if (arena == 0) return packing_proof{};
  if (auto simple = detail::certify_simply(buffers, arena)) return simple;
  auto conflict = find_conflict(buffers, arena - 1, context, limits.nodes).buffers;
  if (conflict.empty()) return std::nullopt;
  return detail::certify_conflict(buffers, arena, std::move(conflict), context, limits);
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
