// The gap cover in numbers: rows over the budget, gaps at these, and the value of prices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <memsched/base/int128.hpp>
#include <memsched/proof/recompute_proof.hpp>
#include <memsched/recompute/rows.hpp>

namespace memsched {
inline namespace MEMSCHED_ABI {

namespace detail {

/// The rows and gaps of a cover, and the value of prices: as doubles to find good ones, and exactly to prove with.
class priced_cover {
 public:
  enum state : unsigned char { open, one, zero };  ///< of a gap: undecided, absent, present

  struct open_gap {
    index_t gap;              // in the rows; behind them, a tail
    std::size_t first, last;  // in `rows`, last excluded
    bytes size;
    std::uint64_t cost;
  };
  /// The value of prices for some answers, and the best answers to open gaps.
  struct valuation {
    double value = 0;
    std::vector<double> covered;  ///< bytes that are absent, per row
    std::vector<double> reduced;  ///< per gap: the cost of an answer beyond the best; below 0 where that is `absent`
  };
  /// The same exactly, scaled.
  struct exact_valuation {
    int128 value = 0;
    std::vector<int128> reduced;
    std::vector<proof::recompute_share> shares;  ///< that prove it, where rows have needs
  };

  priced_cover(const rerun_rows& r, bytes budget, std::uint64_t u) : source(r), unit(u) {
    gather(budget);
    wanted = excess;
    choose_scale();
  }
  virtual bool has_needs() const { return false; }
  /// The place of a gap of the cover among those of a proof: tails stand behind gaps, by storage.
  index_t place_in_proof(std::size_t gap) const {
    const index_t g = gaps[gap].gap, tails_from = static_cast<index_t>(source.gaps.size());
    return g < tails_from ? g : tails_from + source.tails[g - tails_from].storage;
  }
  virtual ~priced_cover() = default;
  priced_cover(const priced_cover&) = delete;
  priced_cover& operator=(const priced_cover&) = delete;

  /// O(rows + gaps).
  virtual void price(const std::vector<double>& p, const std::vector<state>& fixed, valuation& v) {
    const std::size_t n = rows.size();
    prefix_.resize(n + 1);
    prefix_[0] = 0;
    v.value = 0;
    for (std::size_t k = 0; k < n; ++k) {
      prefix_[k + 1] = prefix_[k] + p[k];
      v.value += p[k] * static_cast<double>(wanted[k]);
    }
    v.covered.assign(n + 1, 0);
    v.reduced.resize(gaps.size());
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      const auto& g = gaps[i];
      const double size = static_cast<double>(g.size);
      const double reduced = static_cast<double>(g.cost) - size * (prefix_[g.last] - prefix_[g.first]);
      v.reduced[i] = reduced;
      if (fixed[i] == zero || (fixed[i] == open && reduced >= 0)) continue;
      v.value += reduced;
      v.covered[g.first] += size;
      v.covered[g.last] -= size;
    }
    for (std::size_t k = 1; k < n; ++k) v.covered[k] += v.covered[k - 1];
  }

  virtual exact_valuation exact(const std::vector<std::uint64_t>& p, const std::vector<state>& fixed) {
    exact_valuation v;
    std::vector<int128> prefix(rows.size() + 1, 0);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      prefix[k + 1] = prefix[k] + static_cast<int128>(p[k]);
      v.value += static_cast<int128>(p[k]) * static_cast<int128>(wanted[k]);
    }
    v.reduced.resize(gaps.size());
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      const auto& g = gaps[i];
      const int128 reduced =
          (static_cast<int128>(g.cost) << scale) - static_cast<int128>(g.size) * (prefix[g.last] - prefix[g.first]);
      v.reduced[i] = reduced;
      if (fixed[i] == one || (fixed[i] == open && reduced < 0)) v.value += reduced;
    }
    return v;
  }

  /// Prices as multiples of 2^-scale.
  virtual std::vector<std::uint64_t> scaled(const std::vector<double>& p) const {
    std::vector<std::uint64_t> s(p.size());
    for (std::size_t k = 0; k < p.size(); ++k)
      s[k] = static_cast<std::uint64_t>(std::llround(std::min(std::ldexp(p[k], static_cast<int>(scale)), 0x1p46)));
    return s;
  }
  std::vector<double> unscaled(const std::vector<std::uint64_t>& s) const {
    std::vector<double> p(s.size());
    for (std::size_t k = 0; k < p.size(); ++k) p[k] = std::ldexp(static_cast<double>(s[k]), -static_cast<int>(scale));
    return p;
  }

  double unscaled(int128 value) const { return static_cast<double>(value) * std::ldexp(1.0, -static_cast<int>(scale)); }

  /// Rounds a scaled value up to a multiple of the unit of costs.
  std::uint64_t round_up(int128 value) const {
    if (value <= 0) return 0;
    const int128 step = static_cast<int128>(unit) << scale;
    return static_cast<std::uint64_t>((value + step - 1) / step) * unit;
  }

  const rerun_rows& source;
  std::uint64_t unit;
  std::vector<index_t> rows;
  std::vector<bytes> excess;  ///< per row, over the budget
  std::vector<bytes> wanted;  ///< per row, the bytes that a price asks to be absent
  std::vector<open_gap> gaps;
  unsigned scale = 0;
  // Steps towards good prices, for the first node of a search and for others.
  int first_steps = 40000, later_steps = 60;
  int first_patience = 40;  ///< steps without gain before steps get shorter, for the first node

 private:
  /// Rows over the budget, and gaps at these.
  void gather(bytes budget) {
    const std::size_t n = source.rows.size();
    std::vector<delta> level(n + 1, 0);
    for (const rerun_gap& g : source.gaps) {
      level[g.first] += static_cast<delta>(g.size);
      level[g.last + 1] -= static_cast<delta>(g.size);
    }
    delta live = 0;
    std::vector<index_t> place(n + 1, 0);
    for (index_t k = 0; k < n; ++k) {
      live += level[k];
      const delta over = live + static_cast<delta>(source.fixed[k]) - static_cast<delta>(std::min(budget, max_total));
      place[k] = static_cast<index_t>(rows.size());
      if (over <= 0) continue;
      rows.push_back(k);
      excess.push_back(static_cast<bytes>(over));
    }
    place[n] = static_cast<index_t>(rows.size());
    for (index_t i = 0; i < source.gaps.size(); ++i) {
      const rerun_gap& g = source.gaps[i];
      const index_t first = place[g.first], last = place[g.last + 1];
      if (g.closed || g.size == 0 || first == last) continue;
      gaps.push_back({i, first, last, g.size, g.cost});
    }
  }

  /// Prices are at most the cost of one byte, of the dearest gap; they get some 40 bits.
  void choose_scale() {
    double most = 0;
    for (const auto& g : gaps) most = std::max(most, static_cast<double>(g.cost) / static_cast<double>(g.size));
    scale = 0;
    while (scale < 100 && std::ldexp(most, static_cast<int>(scale) + 1) < 0x1p40) ++scale;
    if (most == 0) scale = 0;
  }

  std::vector<double> prefix_;
};

}  // namespace detail
}  // namespace MEMSCHED_ABI
}  // namespace memsched
