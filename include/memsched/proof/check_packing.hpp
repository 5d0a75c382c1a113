// The check of a packing proof, which shares no code with planners.
#pragma once

#include <span>
#include <string>

#include <memsched/base/buffer.hpp>
#include <memsched/base/linkage.hpp>
#include <memsched/proof/packing_proof.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// Checks that a packing proof shows that these buffers, which are without fault (see check_buffers), need an arena of at least
/// `proof.arena` bytes. Returns the reason if it does not, else an empty string. O(n^2) for each step and round of
/// consequences, of n buffers that the proof names; O(n) if its only step is a sum.
MEMSCHED_FUNCTION std::string check_packing(std::span<const buffer> buffers, const packing_proof& proof);

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#if MEMSCHED_DEFINED_HERE

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <memsched/proof/packing_ranges.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// Goes through the steps of a packing proof. Buffers of steps are places in the list of those that the proof names.
class packing_checker {
 public:
  static constexpr std::size_t most = 512;  ///< buffers of a proof by pairs

  explicit packing_checker(std::span<const proof::packing_step> steps) : steps_(steps) {}

  /// Whether the steps from the next on refute these ranges of offsets; else `why` names the fault.
  bool refutes(packing_ranges known, std::size_t depth = 0) {
    if (!known.follow()) return true;
    const std::size_t here = next_++;
    if (here >= steps_.size()) return fault(here, "is missing: a case is not refuted");
    if (depth > deepest) return fault(here, "pairs are nested too deeply");
    const proof::packing_step& s = steps_[here];
    if (s.is_sum) return sum(here, known);
    if (s.buffers.size() != 2 || !known.meet(s.buffers[0], s.buffers[1]))
      return fault(here, "must name two buffers that meet");
    for (const bool second : {false, true}) {
      packing_ranges one = known;
      one.put_below(s.buffers[second ? 1 : 0], s.buffers[second ? 0 : 1]);
      if (!refutes(std::move(one), depth + 1)) return false;
    }
    return true;
  }

  /// Whether the next step is a sum that is too much by itself, and the last one.
  bool ends_by_sum(const packing_ranges& known) { return steps_.size() == 1 && steps_[0].is_sum && sum(0, known); }

  std::size_t used() const { return next_; }
  const std::string& why() const { return why_; }

 private:
  static constexpr std::size_t deepest = 1000;

  bool fault(std::size_t step, const std::string& message) {
    why_ = "steps[" + std::to_string(step) + "]: " + message;
    return false;
  }
  bool sum(std::size_t here, const packing_ranges& known) {
    const proof::packing_step& s = steps_[here];
    std::vector<std::size_t> chosen(s.buffers.begin(), s.buffers.end());
    if (chosen.empty()) return fault(here, "is a sum of nothing");
    if (std::adjacent_find(chosen.begin(), chosen.end(), std::greater_equal<>()) != chosen.end())
      return fault(here, "a sum's buffers must be ascending");
    for (const std::size_t i : chosen)
      if (known[i].lower > s.at || known[i].upper <= s.at)
        return fault(here, "names a buffer that is not live at that moment");
    return known.too_much(s.at, chosen) || fault(here, "the sum is not too much");
  }

  std::span<const proof::packing_step> steps_;
  std::size_t next_ = 0;
  std::string why_;
};

}  // namespace detail

MEMSCHED_FUNCTION std::string check_packing(std::span<const buffer> buffers, const packing_proof& proof) {
  if (proof.arena == 0) return proof.steps.empty() ? "" : "has steps, but nothing to prove";
  if (proof.arena > base::max_total) return "arena: above 2^61 bytes";
  std::vector<const buffer*> chosen;
  for (std::size_t k = 0; k < proof.buffers.size(); ++k) {
    const index_t i = proof.buffers[k];
    if (i >= buffers.size() || (k > 0 && i <= proof.buffers[k - 1]))
      return "buffers[" + std::to_string(k) + "]: must be numbers of buffers, ascending";
    if (buffers[i].empty()) return "buffers[" + std::to_string(k) + "]: is empty";
    chosen.push_back(&buffers[i]);
  }
  std::vector<proof::packing_step> steps = proof.steps;
  for (std::size_t k = 0; k < steps.size(); ++k)
    for (index_t& b : steps[k].buffers) {
      const auto at = std::lower_bound(proof.buffers.begin(), proof.buffers.end(), b);
      if (at == proof.buffers.end() || *at != b) return "steps[" + std::to_string(k) + "]: must name buffers of the proof";
      b = static_cast<index_t>(at - proof.buffers.begin());
    }
  detail::packing_checker checker(steps);
  detail::packing_ranges known(chosen, proof.arena - 1);
  if (checker.ends_by_sum(known)) return {};
  if (chosen.size() > detail::packing_checker::most) return "buffers: more than a proof by pairs may name";
  known.list_pairs();
  if (!checker.refutes(std::move(known))) return checker.why();
  return checker.used() == steps.size() ? "" : "steps: the proof ends before the last";
}

}  // namespace MEMSCHED_ABI
}  // namespace memsched

#endif
