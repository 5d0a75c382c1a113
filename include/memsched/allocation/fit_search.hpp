// The exact search for offsets within a capacity, from the ground up; its rules with their proofs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <memsched/allocation/fit_state.hpp>
#include <memsched/allocation/key_set.hpp>
#include <memsched/search/search.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

/// The rule that picks the valley, and the section in it, on which the search branches.
enum class valley_choice : unsigned char {
  options_then_slack,   ///< fewest options; of equals the least slack
  options_then_lowest,  ///< fewest options; of equals the lowest floor, then the least slack
  lowest,               ///< the lowest floor; of equals the least slack
};

namespace detail {

enum class fit_answer : unsigned char { fits, never, stopped };

/// The search for one packing and one capacity. Its states and valleys, and rules A3 and A4, are those of `fit_state`.
///
/// **A1 Branching.** Let x be a section of a valley. Either an unplaced item over x lies at h: then its sections are in the
/// valley (elsewhere f > h), and placing it raises f to its tops with nothing lost beneath. Or none does: x is *wasted*.
///
/// **A2 Waste.** A wasted x may be raised to the least of both walls; h + the least size of each unplaced item j in
/// the valley that is not over x; and, of each unplaced item over x in the valley, its fixed offset, or the first multiple
/// above h of an alignment that h is no multiple of. For let i be the lowest item above x, at o > h. If it crosses a wall, o
/// is at least the wall. If it is fixed, o is listed. Else it rests on some k, o the first multiple of its alignment above
/// the top of k. If k is placed, its top in the valley is at most h: then o is listed, as the first multiple above h (were h
/// a multiple, i would rest at h or below). If k is unplaced and crosses a wall, its top is above the wall. Else k is in the
/// valley and not over x, where i is the lowest: o >= h + least size of k.
///
/// **A5 Parts.** If no unplaced item crosses from one section to the next, both sides are independent.
///
/// **A6 Failed states.** The conclusions of the rules about a part depend on its unplaced items, its floors and its marks,
/// all of which are in the key. A part that failed does so for every choice of valleys and orders, as long as the capacity
/// stands.
///
/// **A7 Everywhere.** In a part of one floor h an item over all sections may be placed at h: all others lie wholly below
/// or above it, and those below can change places with it. The items of the part must not be fixed, nor have alignments that
/// are not void, nor different distances between their caps and the capacity. The rest is a question of its own above a
/// supported floor.
///
/// **A8 Twins.** Of equal unplaced items only the first is tried at a place: exchange them.
class fit_search : private fit_state {
 public:
  fit_search(const packing& p, bytes capacity, fit_rules rules)
      : fit_state(p, capacity, rules), in_valley_(p.sections), count_(p.sections + 1) {}

  /// Looks at no more than `nodes`; items are tried by ascending `rank`.
  fit_answer run(std::span<const index_t> rank, valley_choice choice, std::uint64_t nodes, search& context) {
    if (!possible_) return fit_answer::never;
    rank_ = rank, choice_ = choice, left_ = nodes, context_ = &context;
    pool_.clear();
    for (index_t i = 0; i < n_; ++i) pool_.push_back(i);
    const mark start = here();
    fit_answer answer = fit_answer::never;
    for (index_t s = 0; s < p_.sections; ++s) soil(s);
    if (settle(0, n_, 0, p_.sections)) answer = solve_parts(0, n_, 0, p_.sections);
    if (answer == fit_answer::fits) best_ = offset_;
    undo(start);
    context.control().stats.memory = std::max<std::uint64_t>(context.control().stats.memory, failed_.bytes_held());
    return answer;
  }

  /// Offsets of the items after `fits`, in units.
  const std::vector<units>& offsets() const { return best_; }
  /// Whether a run ended since it would have taken too much stack: then others will.
  bool too_deep() const { return too_deep_; }
  using fit_state::failures;

 private:
  key_set::key key_of(const part& v) const {
    std::uint64_t x = 0x243f6a8885a308d3, y = 0x13198a2e03707344;
    const auto mix = [&](std::uint64_t value) {
      x = (x ^ value) * 0x9e3779b97f4a7c15;
      x ^= x >> 29;
      y = (y + value) * 0xd6e8feb86659fd93;
      y ^= y >> 32;
    };
    for (index_t s = v.a; s < v.b; ++s)
      mix(static_cast<std::uint64_t>(floor_[s]) << 1 | static_cast<std::uint64_t>(supported_[s]));
    for (std::size_t k = v.from; k < v.to; ++k) mix(pool_[k] + (std::uint64_t{1} << 40));
    return {x ^ x >> 32, y ^ y >> 29};
  }

  /// Solves the unplaced buffers of pool_[from, to), a settled part.
  fit_answer solve_parts(std::size_t from, std::size_t to, index_t a, index_t b) {
    const std::size_t base = pool_.size();
    for (std::size_t k = from; k < to; ++k)
      if (offset_[pool_[k]] < 0) pool_.push_back(pool_[k]);
    const std::size_t end = pool_.size();
    fit_answer answer = fit_answer::fits;
    if (base < end && !rules_.parts) {
      answer = solve({base, end, a, b, 0});
    } else if (base < end) {
      std::vector<part> parts;
      for (std::size_t k = base; k < end; ++k) {
        const auto& item = p_.items[pool_[k]];
        if (parts.empty() || item.first >= parts.back().b) parts.push_back({k, k, item.first, item.last, no_wall});
        parts.back().to = k + 1;
        parts.back().b = std::max(parts.back().b, item.last);
      }
      if (parts.size() > 1) {
        for (part& v : parts)
          for (index_t s = v.a; s < v.b; ++s) v.slack = std::min(v.slack, top_ - floor_[s] - rem_[s]);
        std::stable_sort(parts.begin(), parts.end(), [](const part& v, const part& w) { return v.slack < w.slack; });
      }
      for (const part& v : parts)
        if (answer = solve(v); answer != fit_answer::fits) break;
    }
    pool_.resize(base);
    return answer;
  }

  /// Goes on with a part after a change; takes it back if that does not fit.
  template <class Change>
  fit_answer attempt(const part& v, Change&& change) {
    const mark before = here();
    fit_answer answer = fit_answer::never;
    if (change() && settle(v.from, v.to, v.a, v.b)) answer = solve_parts(v.from, v.to, v.a, v.b);
    if (answer != fit_answer::fits) undo(before);
    return answer;
  }

  fit_answer solve(const part& v) {
    too_deep_ |= depth_ >= max_depth;
    if (left_ == 0 || too_deep_) return fit_answer::stopped;
    --left_;
    if (!context_->count_state()) return left_ = 0, fit_answer::stopped;
    key_set::key key{};
    if (rules_.failed_states) {
      key = key_of(v);
      if (failed_.contains(key)) return fit_answer::never;
    }
    ++depth_;
    const fit_answer answer = branch(v);
    --depth_;
    if (answer != fit_answer::never) return answer;
    for (index_t s = v.a; s < v.b; ++s) ++failures_[s];
    if (rules_.failed_states) failed_.insert(key, context_->opts().memory_limit);
    return answer;
  }

  /// A7: an item over the whole part, which has one floor; none if there is none.
  index_t everywhere(const part& v) const {
    if (!rules_.everywhere || !even_) return none;
    for (index_t s = v.a; s < v.b; ++s)
      if (wall(s) != floor_[v.a]) return none;
    for (std::size_t k = v.from; k < v.to; ++k) {
      const auto& item = p_.items[pool_[k]];
      if (item.first == v.a && item.last == v.b && item.drops.empty()) return pool_[k];
    }
    return none;
  }

  bool twin_waits(index_t i) const {
    const index_t other = p_.items[i].twin;
    return rules_.twins && other != none && offset_[other] < 0;
  }
  /// Whether an unplaced item may lie at the floor of the valley [p, q).
  bool is_candidate(index_t i, index_t p, index_t q) const {
    const auto& item = p_.items[i];
    return item.first >= p && item.last <= q && least_[i] == floor_[p] && !twin_waits(i);
  }

  fit_answer branch(const part& v) {
    if (const index_t i = everywhere(v); i != none) return attempt(v, [&] { return place(i, floor_[v.a], v.from, v.to); });
    const auto [section, p, q] = choose(v);
    const index_t x = section;  // lambdas may not capture a binding
    if (x == none) return fit_answer::never;
    std::vector<index_t> candidates;
    for (std::size_t k = v.from; k < v.to && p_.items[pool_[k]].first <= x; ++k)
      if (p_.items[pool_[k]].last > x && is_candidate(pool_[k], p, q)) candidates.push_back(pool_[k]);
    std::sort(candidates.begin(), candidates.end(), [&](index_t i, index_t j) { return rank_[i] < rank_[j]; });
    const units h = floor_[x];
    for (const index_t i : candidates) {
      const auto answer = attempt(v, [&] { return place(i, h, v.from, v.to); });
      if (answer != fit_answer::never) return answer;
    }
    const units level = waste_level(v, x, p, q);
    if (level >= no_wall || level + rem_[x] > top_) return fit_answer::never;
    return attempt(v, [&] {
      raise(x, level);
      return lift_over(v.from, v.to, x, x + 1, level, true);
    });
  }

  units waste_level(const part& v, index_t x, index_t p, index_t q) const {
    const units h = floor_[x];
    if (!rules_.waste_bound) return h + 1;
    units level = std::min(p > v.a ? wall(p - 1) : no_wall, q < v.b ? wall(q) : no_wall);
    for (std::size_t k = v.from; k < v.to; ++k) {
      const auto& item = p_.items[pool_[k]];
      if (item.first >= q) break;
      if (item.first >= p && item.last <= q && (x < item.first || x >= item.last)) level = std::min(level, h + item.least);
    }
    return special_level(v.from, v.to, p, q, x, level);
  }

  struct chosen {
    index_t section, from, to;
  };
  /// The section to branch on, and its valley. The part is not empty, so that it has a valley with a section to branch on.
  chosen choose(const part& v) {
    for (index_t s = v.a; s < v.b; ++s) in_valley_[s] = none, count_[s] = 0;
    count_[v.b] = 0;
    valleys_.clear();
    for_each_valley(v.a, v.b, [&](index_t p, index_t q, units) {
      for (index_t s = p; s < q; ++s) in_valley_[s] = static_cast<index_t>(valleys_.size());
      valleys_.emplace_back(p, q);
      return true;
    });
    for (std::size_t k = v.from; k < v.to; ++k) {
      const index_t i = pool_[k], w = in_valley_[p_.items[i].first];
      if (w == none || !is_candidate(i, valleys_[w].first, valleys_[w].second)) continue;
      ++count_[p_.items[i].first], --count_[p_.items[i].last];
    }
    chosen best{none, 0, 0};
    std::array<units, 3> least{};
    units open = 0;
    for (index_t s = v.a; s < v.b; ++s) {
      open += count_[s];
      if (in_valley_[s] == none || (rules_.unsupported && supported_[s] == 0)) continue;
      const units slack = top_ - floor_[s] - rem_[s], options = open + (slack > 0 ? 1 : 0);
      const std::array<units, 3> key = choice_ == valley_choice::lowest ? std::array{floor_[s], slack, options}
                                       : choice_ == valley_choice::options_then_lowest
                                           ? std::array{options, floor_[s], slack}
                                           : std::array{options, slack, floor_[s]};
      if (best.section == none || key < least) {
        best = {s, valleys_[in_valley_[s]].first, valleys_[in_valley_[s]].second};
        least = key;
      }
    }
    return best;
  }

  static constexpr int max_depth = 5000;

  std::vector<units> best_;
  std::vector<index_t> in_valley_;
  std::vector<units> count_;
  std::vector<std::pair<index_t, index_t>> valleys_;
  key_set failed_;
  std::span<const index_t> rank_;
  valley_choice choice_{};
  std::uint64_t left_ = 0;
  int depth_ = 0;
  bool too_deep_ = false;
  search* context_ = nullptr;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
