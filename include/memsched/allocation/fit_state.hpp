// A state of the exact search for offsets, and its consequences that need no choice; with proofs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <memsched/allocation/fit_rules.hpp>
#include <memsched/allocation/packing.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// A state of the search for one packing and one capacity, and the rules that need no choice.
///
/// **State.** f(s), the floor of section s: below it all is decided. m(i), the least offset of an unplaced item i: the
/// largest floor over its sections, rounded up to its alignment; its offset if fixed. A section is *supported* if its
/// floor is 0 or the top of a placed item, else there is at least a unit of empty room beneath its floor. Looked for is a
/// **stable** plan: one of which no item that is not fixed can be moved down into empty room. Of the plans that fit, one
/// with the least sum of offsets is stable, so that there is a stable one if there is any; in it an item that is not
/// fixed lies at 0 or rests on another that it meets, at the first multiple of its alignment above that one's top.
///
/// A **valley** is a maximal run of sections of one floor h whose neighbours, the walls, are higher or are crossed by no
/// unplaced item. All of the following holds for any valley, and for items whose size drops.
///
/// **A3 No support.** In a valley without a supported section nothing lies at h: it would rest on nothing. Let i be the
/// lowest of the items inside the valley, at o > h. The item that it rests on is lower, so that it is placed or crosses a
/// wall: the valley may be raised to the least of the lower wall and the fixed offsets and the next multiples of A2. If
/// an item inside, not fixed, fits into the room so made (from its first multiple at or above h), it could be moved down: no
/// stable plan. Section marks stay true under raises if a section raised to a level that is a fixed offset, or a multiple of
/// the alignment above 1, of an unplaced item over it counts as supported: that item may lie there without touching what it
/// rests on.
///
/// **A4 Section bound.** The unplaced items of a section are jobs on one machine with release m(i): it takes until t + the
/// sizes of those with m(i) >= t, for every t. If t + the sizes of all suffice, t says nothing: only later releases are
/// looked at. And f(s) may be raised to min m(i).
class fit_state {
 public:
  fit_state(const packing& p, bytes capacity, fit_rules rules)
      : p_(p),
        rules_(rules),
        n_(static_cast<index_t>(p.items.size())),
        floor_(p.sections),
        rem_(p.sections),
        supported_(p.sections, 1),
        dirty_mark_(p.sections),
        least_(n_),
        offset_(n_, -1),
        cap_(n_),
        failures_(p.sections) {
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

  /// Per section, the number of failed states with the section in their part; for choosing other orders.
  const std::vector<std::uint64_t>& failures() const { return failures_; }

 protected:
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
    index_t a, b;          ///< sections
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
  /// Notes that an unplaced item must lie at h or above. Returns false if it cannot.
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
    const units safe = top_ - rem_[s];  // a release up to here leaves time for all
    if (floor_[s] > safe) return false;
    if (!rules_.section_bound) return true;
    units low = no_wall, high = 0, late = 0;
    jobs_.clear();
    for (const index_t i : p_.in_section[s]) {
      const units release = least_[i];
      if (offset_[i] >= 0) continue;
      low = std::min(low, release);
      if (release <= safe) continue;
      const units size = p_.items[i].drops.empty() ? p_.items[i].size : p_.size_in(i, s);
      high = std::max(high, release), late += size;
      jobs_.emplace_back(release, size);
    }
    if (low > floor_[s]) raise(s, low);
    if (low > safe) return false;
    if (high + late <= top_) return true;
    std::sort(jobs_.begin(), jobs_.end());
    for (units sum = 0; !jobs_.empty(); jobs_.pop_back()) {
      sum += jobs_.back().second;
      if (jobs_.back().first + sum > top_) return false;
    }
    return true;
  }

  /// Applies A3 and A4 until nothing changes. Returns false if nothing fits.
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

  /// Calls f(p, q, lower wall) for each valley [p, q) of sections [a, b); stops if f says false.
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

  const packing& p_;
  fit_rules rules_;
  index_t n_;
  units top_ = 0;                   ///< the highest cap
  bool possible_ = true;            ///< every item alone fits
  bool even_ = true;                ///< A7 applies
  std::vector<units> floor_, rem_;  ///< per section: floor, and bytes unplaced
  std::vector<char> supported_, dirty_mark_;
  std::vector<units> least_, offset_, cap_;  ///< per item; offset -1 while unplaced
  std::vector<std::uint64_t> failures_;
  std::vector<index_t> dirty_;
  std::vector<index_t> pool_;  ///< items of the parts on the way, each by first section

 private:
  std::vector<old_floor> floors_;
  std::vector<std::pair<index_t, units>> leasts_;
  std::vector<index_t> placed_;
  std::vector<std::pair<units, units>> jobs_;  // release and size
  std::vector<part> raised_;
};

}  // namespace detail

}  // namespace MEMSCHED_ABI
}  // namespace memsched
