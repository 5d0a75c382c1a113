// Does it fit? A search over offsets from the ground up, exact; its rules with their proofs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <memsched/allocation/packing.hpp>
#include <memsched/base/random.hpp>
#include <memsched/search/search.hpp>

namespace memsched::inline MEMSCHED_ABI {

/// The rules of the exact search that may be left out, for measurements and tests; it is exact with any of them.
struct fit_rules {
  bool waste_bound = true;    ///< A2
  bool unsupported = true;    ///< A3
  bool section_bound = true;  ///< A4
  bool parts = true;          ///< A5
  bool failed_states = true;  ///< A6
  bool everywhere = true;     ///< A7
  bool twins = true;          ///< A8
};

/// Which section of which valley the search branches on.
enum class valley_choice : unsigned char {
  options_then_slack,   ///< fewest options; of equals the least slack
  options_then_lowest,  ///< fewest options; of equals the lowest floor, then the least slack
  lowest,               ///< the lowest floor; of equals the least slack
};

namespace detail {

/// A set of 128-bit keys: where a proof rests on a key, 64 bits of one would collide too soon.
class key_set {
 public:
  using key = std::array<std::uint64_t, 2>;
  key_set() : slots_(1024, key{0, 0}) {}

  std::size_t bytes_held() const { return slots_.size() * sizeof(key); }
  bool contains(const key& k) const { return slots_[find(k)] == k; }
  /// Leaves the set as it is where it would take more than `most` bytes.
  void insert(const key& k, std::uint64_t most) {
    if (4 * count_ >= 3 * slots_.size() && !grow(most)) return;
    key& slot = slots_[find(k)];
    if (slot != k) slot = k, ++count_;
  }

 private:
  std::size_t find(const key& k) const {
    std::size_t at = static_cast<std::size_t>(k[0]) & (slots_.size() - 1);
    while (slots_[at] != key{0, 0} && slots_[at] != k) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  bool grow(std::uint64_t most) {
    if (2 * bytes_held() > most) return false;
    std::vector<key> old(2 * slots_.size(), key{0, 0});
    old.swap(slots_);
    for (const key& k : old)
      if (k != key{0, 0}) slots_[find(k)] = k;
    return true;
  }
  std::vector<key> slots_;  ///< {0, 0}: empty; the key of no state, but for a chance of 2^-128
  std::size_t count_ = 0;
};

enum class fit_answer : unsigned char { fits, never, stopped };

/// The search for one packing and one capacity.
///
/// **State.** f(s), the floor of section s: below it all is decided. m(i), the least offset of an unplaced item i: the
/// largest floor over its sections, rounded up to its alignment; its offset if fixed. A section is *supported* where its
/// floor is 0 or the top of a placed item, else there is at least a unit of empty room beneath its floor. Looked for is a
/// **stable** plan: one of which no item that is not fixed can be moved down into empty room. Of the plans that fit, one
/// with the least sum of offsets is stable, so that there is a stable one where there is any; in it an item that is not
/// fixed lies at 0 or rests on another that it meets, at the first multiple of its alignment above that one's top.
///
/// A **valley** is a maximal run of sections of one floor h whose neighbours, the walls, are higher or are crossed by no
/// unplaced item. All of the following holds for any valley, and for items whose size drops.
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
/// **A3 No support.** In a valley without a supported section nothing lies at h: it would rest on nothing. Let i be the
/// lowest of the items inside the valley, at o > h. What it rests on is lower, so that it is placed or crosses a wall: the
/// valley may be raised to the least of the lower wall and the fixed offsets and the next multiples of A2. Where an item
/// inside, not fixed, fits into the room so made (from its first multiple at or above h), it could be moved down: no stable
/// plan. Section marks stay true under raises if a section raised to a level that is a fixed offset, or a multiple of the
/// alignment above 1, of an unplaced item over it counts as supported: that item may lie there without touching what it
/// rests on.
///
/// **A4 Section bound.** The unplaced items of a section are jobs on one machine with release m(i): it takes until t + the
/// sizes of those with m(i) >= t, for every t. And f(s) may be raised to min m(i).
///
/// **A5 Parts.** Where no unplaced item crosses from one section to the next, both sides are independent.
///
/// **A6 Failed states.** What the rules say of a part depends on its unplaced items, its floors and its marks, all of which
/// are in the key. A part that failed does so for every choice of valleys and orders, as long as the capacity stands.
///
/// **A7 Everywhere.** In a part of one floor h an item over all sections may be placed at h: all others lie wholly below
/// or above it, and those below can change places with it. The items of the part must not be fixed, nor have alignments that
/// are not void, nor different distances between their caps and the capacity. The rest is a question of its own above a
/// supported floor.
///
/// **A8 Twins.** Of equal unplaced items only the first is tried at a place: exchange them.
class fit_search {
 public:
  fit_search(const packing& p, bytes capacity, fit_rules rules)
      : p_(p), rules_(rules), n_(static_cast<index_t>(p.items.size())), floor_(p.sections), rem_(p.sections),
        supported_(p.sections, 1), dirty_mark_(p.sections), least_(n_), offset_(n_, -1), cap_(n_), in_valley_(p.sections),
        count_(p.sections + 1), failures_(p.sections) {
    possible_ = true;
    even_ = p.plain;
    for (index_t i = 0; i < n_; ++i) {
      cap_[i] = p.cap(i, capacity);
      top_ = std::max(top_, cap_[i]);
      even_ &= cap_[i] == cap_[0];
      least_[i] = std::max<units>(p.items[i].fixed, 0);
      possible_ &= cap_[i] >= least_[i] + p.items[i].size;
      for (index_t s = p.items[i].first; s < p.items[i].last; ++s) rem_[s] += p.size_in(i, s);
    }
    for (index_t s = 0; s < p.sections; ++s) soil(s);
  }

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
    context.stats.memory = std::max<std::uint64_t>(context.stats.memory, failed_.bytes_held());
    return answer;
  }

  /// Offsets of the items after `fits`, in units.
  const std::vector<units>& offsets() const { return best_; }
  /// Whether a run ended since it would have taken too much stack: then others will.
  bool too_deep() const { return too_deep_; }
  /// How often a state with this section in its part failed; for choosing other orders.
  const std::vector<std::uint64_t>& failures() const { return failures_; }

 private:
  struct mark {
    std::size_t floors, leasts, placed;
  };
  struct old_floor {
    index_t section;
    char supported;
    units floor;
  };
  struct part {
    std::size_t from, to;  ///< in the pool
    index_t a, b;            ///< sections
    units slack;
  };

  mark here() const { return {floors_.size(), leasts_.size(), placed_.size()}; }
  void undo(const mark& m) {
    while (floors_.size() > m.floors) {
      const old_floor& o = floors_.back();
      floor_[o.section] = o.floor, supported_[o.section] = o.supported;
      floors_.pop_back();
    }
    while (leasts_.size() > m.leasts) least_[leasts_.back().first] = leasts_.back().second, leasts_.pop_back();
    while (placed_.size() > m.placed) {
      const index_t i = placed_.back();
      offset_[i] = -1;
      for (index_t s = p_.items[i].first; s < p_.items[i].last; ++s) rem_[s] += p_.size_in(i, s);
      placed_.pop_back();
    }
    for (const index_t s : dirty_) dirty_mark_[s] = 0;
    dirty_.clear();
  }
  void soil(index_t s) {
    if (dirty_mark_[s] == 0) dirty_mark_[s] = 1, dirty_.push_back(s);
  }
  /// The floor of a section as its neighbours see it.
  units wall(index_t s) const { return rem_[s] == 0 ? no_wall : floor_[s]; }
  units aligned(index_t i, units h) const {
    const units a = p_.items[i].alignment;
    return a == 1 ? h : (h + a - 1) / a * a;
  }

  void set_floor(index_t s, units h, bool support) {
    floors_.push_back({s, supported_[s], floor_[s]});
    floor_[s] = h, supported_[s] = support ? 1 : 0;
    soil(s);
  }
  /// Raises the floor of a section above which nothing was placed; see A3 for the mark.
  void raise(index_t s, units h) {
    bool support = false;
    if (!p_.plain)
      for (const index_t i : p_.in_section[s]) {
        const auto& item = p_.items[i];
        support |= offset_[i] < 0 && (item.fixed == h || (item.fixed < 0 && item.alignment > 1 && h % item.alignment == 0));
      }
    set_floor(s, h, support);
  }
  /// Notes that an unplaced item must lie at h or above. False where it cannot.
  bool lift(index_t i, units h) {
    const auto& item = p_.items[i];
    if (h <= least_[i]) return true;
    if (item.fixed >= 0) return false;
    h = aligned(i, h);
    leasts_.emplace_back(i, least_[i]);
    least_[i] = h;
    for (index_t s = item.first; s < item.last; ++s) soil(s);
    return h + item.size <= cap_[i];
  }
  /// Lifts the unplaced items of pool_[from, to) over the floors of [a, b), which have just been raised.
  bool lift_over(std::size_t from, std::size_t to, index_t a, index_t b, units h, bool flat) {
    for (std::size_t k = from; k < to; ++k) {
      const index_t j = pool_[k];
      const auto& item = p_.items[j];
      if (item.first >= b) break;  // the pool is in order of first sections
      if (item.last <= a || offset_[j] >= 0) continue;
      units level = h;
      if (!flat) {
        level = 0;
        for (index_t s = std::max(a, item.first); s < std::min(b, item.last); ++s) level = std::max(level, floor_[s]);
      }
      if (!lift(j, level)) return false;
    }
    return true;
  }

  bool place(index_t i, units h, std::size_t from, std::size_t to) {
    const auto& item = p_.items[i];
    offset_[i] = h;
    placed_.push_back(i);
    for (index_t s = item.first; s < item.last; ++s) {
      const units size = item.drops.empty() ? item.size : p_.size_in(i, s);
      rem_[s] -= size;
      set_floor(s, h + size, true);
    }
    return lift_over(from, to, item.first, item.last, h + item.size, item.drops.empty());
  }

  /// A4 for one section.
  bool settle_section(index_t s) {
    if (rem_[s] == 0) return true;
    units low = no_wall, high = 0;
    jobs_.clear();
    for (const index_t i : p_.in_section[s]) {
      if (offset_[i] >= 0) continue;
      low = std::min(low, least_[i]), high = std::max(high, least_[i]);
      jobs_.push_back(i);
    }
    if (floor_[s] + rem_[s] > top_) return false;
    if (!rules_.section_bound) return true;
    if (low > floor_[s]) raise(s, low);
    if (high + rem_[s] <= top_) return true;
    if (low + rem_[s] > top_) return false;
    std::sort(jobs_.begin(), jobs_.end(), [&](index_t i, index_t j) { return least_[i] > least_[j]; });
    units sum = 0;
    for (const index_t i : jobs_) {
      sum += p_.items[i].drops.empty() ? p_.items[i].size : p_.size_in(i, s);
      if (least_[i] + sum > top_) return false;
    }
    return true;
  }

  /// Applies A3 and A4 until nothing changes. False where nothing fits.
  bool settle(std::size_t from, std::size_t to, index_t a, index_t b) {
    for (;;) {
      while (!dirty_.empty()) {
        const index_t s = dirty_.back();
        dirty_.pop_back();
        dirty_mark_[s] = 0;
        if (!settle_section(s)) return ++failures_[s], false;
      }
      if (!rules_.unsupported) return true;
      if (!raise_unsupported(from, to, a, b)) return false;
      if (dirty_.empty()) return true;
    }
  }

  /// Calls f(p, q, lower wall) for each valley [p, q) of sections [a, b); stops where f says false.
  template <class F>
  bool for_each_valley(index_t a, index_t b, F&& f) const {
    units before = no_wall;
    for (index_t p = a; p < b;) {
      const units h = wall(p);
      index_t q = p + 1;
      while (q < b && wall(q) == h) ++q;
      const units after = q < b ? wall(q) : no_wall;
      if (h < before && h < after && h < no_wall && !f(p, q, std::min(before, after))) return false;
      before = h;
      p = q;
    }
    return true;
  }

  /// Levels of A2 that alignments and fixed offsets of unplaced items inside [p, q) over `x` set (over any section: none).
  units special_level(std::size_t from, std::size_t to, index_t p, index_t q, index_t x, units level) const {
    if (p_.plain) return level;
    const units h = floor_[p];
    for (std::size_t k = from; k < to; ++k) {
      const index_t i = pool_[k];
      const auto& item = p_.items[i];
      if (offset_[i] >= 0 || item.first < p || item.last > q || (x != none && (x < item.first || x >= item.last))) continue;
      const units at = item.fixed >= 0 ? item.fixed : aligned(i, h);
      if (at > h) level = std::min(level, at);
    }
    return level;
  }

  /// A3 for all valleys of [a, b).
  bool raise_unsupported(std::size_t from, std::size_t to, index_t a, index_t b) {
    bool fine = true;
    raised_.clear();
    for_each_valley(a, b, [&](index_t p, index_t q, units lower_wall) {
      for (index_t s = p; s < q; ++s)
        if (supported_[s] != 0) return true;
      raised_.push_back({from, to, p, q, lower_wall});
      return true;
    });
    for (const part& v : raised_) {
      const units h = floor_[v.a], level = special_level(from, to, v.a, v.b, none, v.slack);
      if (level >= no_wall) return false;
      for (std::size_t k = from; k < to; ++k) {
        const index_t i = pool_[k];
        const auto& item = p_.items[i];
        if (item.first >= v.b) break;
        if (offset_[i] >= 0 || item.first < v.a || item.last > v.b || item.fixed >= 0) continue;
        if (aligned(i, h) + item.size <= level) return false;
      }
      for (index_t s = v.a; s < v.b; ++s) raise(s, level);
      fine &= lift_over(from, to, v.a, v.b, level, true);
      if (!fine) return false;
    }
    return true;
  }

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

  /// Solves what is unplaced of pool_[from, to), which is settled.
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

  /// Goes on with a part behind a change; takes it back where that does not fit.
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

  /// A7: an item over the whole part, which has one floor; none where there is none.
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
    if (const index_t i = everywhere(v); i != none)
      return attempt(v, [&] { return place(i, floor_[v.a], v.from, v.to); });
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

  const packing& p_;
  fit_rules rules_;
  index_t n_;
  units top_ = 0;          ///< the highest cap
  bool possible_ = true;   ///< every item alone fits
  bool even_ = true;       ///< A7 applies
  std::vector<units> floor_, rem_;  ///< per section: floor, and bytes unplaced
  std::vector<char> supported_, dirty_mark_;
  std::vector<units> least_, offset_, cap_;  ///< per item; offset -1 while unplaced
  std::vector<units> best_;
  std::vector<index_t> in_valley_;
  std::vector<units> count_;
  std::vector<std::pair<index_t, index_t>> valleys_;
  std::vector<std::uint64_t> failures_;
  std::vector<old_floor> floors_;
  std::vector<std::pair<index_t, units>> leasts_;
  std::vector<index_t> placed_, dirty_, jobs_;
  std::vector<index_t> pool_;  ///< items of the parts on the way, each by first section
  std::vector<part> raised_;
  key_set failed_;
  std::span<const index_t> rank_;
  valley_choice choice_{};
  std::uint64_t left_ = 0;
  int depth_ = 0;
  bool too_deep_ = false;
  search* context_ = nullptr;
};

}  // namespace detail

}  // namespace memsched
